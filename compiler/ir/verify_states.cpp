#include "compiler/ir/verify_states.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/ir/verify_nodes.h"

namespace kiln::compiler {
namespace {

constexpr VerifyRule state_table[] = {
    {"KP", "state-loop", "what changes a state is in the loop that the state is in; a FOR hands states of outer ones on"},
    {"KP", "state-order", "every LOAD of a state can come before what changes that state"},
};

// A node that changes a state must come after the LOADs of that state, as if they were its sources. The rule holds if the graph
// of sources with these additional edges has no cycle.
class StateOrder {
 public:
  StateOrder(const Graph& g, std::span<const Id> nodes, const NodeTable<Id>& loop_of)
      : g_(g), nodes_(nodes), loop_of_(loop_of), marks_({}, Mark::none) {
    for (const Id id : nodes)
      if (g.op(id) == Op::LOAD && !names_memory(g, id)) loads_[g.state(id)].push_back(id);
  }

  void check() {
    for (const Id id : nodes_) {
      const Op op = g_.op(id);
      if (op == Op::STORE || op == Op::ATOMIC) change(id, g_.state(id));
      if (op == Op::FOR)
        for (const Id init : loop_parts(g_, id).init)
          if (g_.dtype(init) == DType::none) change(id, init);
    }
    if (!before_.empty()) find_cycles();
  }

 private:
  void change(Id writer, Id state) {
    if (!is_memory(g_, state) && loop_of_[state] != loop_of_[writer])
      violated(g_, writer, "state-loop", "a state of its own loop, got %" + std::to_string(state));
    const auto loads = loads_.find(state);
    if (loads == loads_.end()) return;
    for (const Id load : loads->second) {
      const Id first = around(load, loop_of_[writer]);
      if (first == writer) fail(writer, load);
      if (first != no_id) before_[writer].push_back(first);
    }
  }

  // The node or the FOR around it that is directly in `loop`; no_id: the node is not inside `loop`.
  Id around(Id id, Id loop) const {
    while (loop_of_[id] != loop) {
      id = loop_of_[id];
      if (id == no_id) return no_id;
    }
    return id;
  }

  [[noreturn]] void fail(Id writer, Id load) const {
    violated(
        g_, load, "state-order",
        "a state that node %" + std::to_string(writer) + " has not changed before, got %" + std::to_string(g_.state(load)));
  }

  enum class Mark : char { none, open, done };

  // Searches for cycles, depth first from every writer.
  void find_cycles() {
    marks_ = NodeTable(nodes_, Mark::none);
    std::vector<Id> writers;
    for (const auto& [writer, before] : before_) writers.push_back(writer);
    std::ranges::sort(writers);
    for (const Id w : writers) walk(w);
  }

  void walk(Id root) {
    std::vector<Id> path{root};
    while (!path.empty()) {
      const Id id = path.back();
      Mark& mark = marks_[id];
      if (mark != Mark::none) {
        mark = Mark::done;
        path.pop_back();
        continue;
      }
      mark = Mark::open;
      for (const Id s : g_.src(id)) push(path, id, s);
      if (const auto it = before_.find(id); it != before_.end())
        for (const Id s : it->second) push(path, id, s);
    }
  }

  void push(std::vector<Id>& path, Id user, Id id) const {
    if (marks_[id] == Mark::none) path.push_back(id);
    if (marks_[id] == Mark::open)
      violated(g_, user, "state-order",
               "loads of a state before what changes it, got node %" + std::to_string(id) + " before itself");
  }

  const Graph& g_;
  std::span<const Id> nodes_;
  const NodeTable<Id>& loop_of_;
  std::unordered_map<Id, std::vector<Id>> loads_;   // by state, except memory itself
  std::unordered_map<Id, std::vector<Id>> before_;  // by writer of a state: the LOADs of the state, or loops around them
  NodeTable<Mark> marks_;
};

}  // namespace

std::span<const VerifyRule> state_rules() { return state_table; }

void verify_states(const Graph& g, std::span<const Id> nodes, const NodeTable<Id>& loop_of) {
  StateOrder(g, nodes, loop_of).check();
}

}  // namespace kiln::compiler
