#include "compiler/ir/region_order.h"

#include <algorithm>
#include <queue>

#include "compiler/ir/scopes.h"
#include "compiler/ir/verify_nodes.h"

namespace kiln::compiler {
namespace {

struct Edge {
  Id before, after;
};

// Successors of every node, by counting sort.
class Successors {
 public:
  Successors(std::size_t nodes, std::span<const Edge> edges) : begin_(nodes + 1, 0), to_(edges.size()) {
    for (const Edge& e : edges) ++begin_[e.before + 1];
    for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    std::vector<std::uint32_t> at(begin_.begin(), begin_.end() - 1);
    for (const Edge& e : edges) to_[at[e.before]++] = e.after;
  }
  std::span<const Id> operator[](Id id) const { return std::span(to_).subspan(begin_[id], begin_[id + 1] - begin_[id]); }

 private:
  std::vector<std::uint32_t> begin_;
  std::vector<Id> to_;
};

class Orderer {
 public:
  Orderer(const Graph& g, std::span<const Id> reached, Regions& r) : g_(g), reached_(reached), r_(r) {}

  void run() {
    uses();
    const Successors users(g_.size(), uses_);
    readers_first(users);
    emit(users, Successors(g_.size(), hazards_));
  }

 private:
  // Collects edges from each source s to its user, as a node of s's region: the user itself, or the scope around it.
  void uses() {
    for (Id id : reached_)
      for (Id s : g_.src(id)) {
        const std::uint32_t region = r_.of[s];
        const bool own = is_scope(g_.op(id)) && r_.owned[id] == region;  // yields and final states
        if (!own) uses_.push_back({s, r_.lifted(id, region)});
      }
  }

  // Collects edges from the other users of a state to its writer. Exception: a state with several writers has no edges, because
  // no writer can change it in place.
  void readers_first(const Successors& users) {
    const auto written = written_states();
    std::vector<Edge> takes;  // state, writer
    std::vector<std::uint8_t> writers(g_.size(), 0);
    const auto take = [&](Id state, Id writer) {
      takes.push_back({state, writer});
      writers[state] = static_cast<std::uint8_t>(std::min(writers[state] + 1, 2));
    };
    for (Id id : reached_) {
      if (is_write(g_.op(id))) take(g_.state(id), id);
      if (g_.op(id) == Op::CARRY && written[id]) take(g_.src(id, 1), r_.list[r_.of[id]].owner);
    }
    for (const auto& [state, writer] : takes) {
      if (r_.of[state] != r_.of[writer] || writers[state] > 1) continue;
      for (Id u : users[state])
        if (u != writer) hazards_.push_back({u, writer});
    }
  }

  // By node: whether a write changes it, directly or through a loop that carries it.
  std::vector<bool> written_states() const {
    std::vector<bool> out(g_.size(), false);
    for (std::size_t i = reached_.size(); i-- > 0;) {
      const Id id = reached_[i];
      if (is_write(g_.op(id))) out[g_.state(id)] = true;
      if (!out[id]) continue;
      if (g_.op(id) == Op::CARRY) out[g_.src(id, 1)] = true;
      if (g_.op(id) == Op::GET && g_.op(g_.scope(id)) == Op::FOR) {
        const LoopParts l = loop_parts(g_, g_.scope(id));
        const auto slot = g_.slot(id);
        out[l.init[slot]] = out[l.yield[slot]] = true;
      }
    }
    return out;
  }

  void emit(const Successors& users, const Successors& writers) {
    std::vector<std::uint32_t> sources(g_.size(), 0), readers(g_.size(), 0);
    for (const Edge& e : uses_) ++sources[e.after];
    for (const Edge& e : hazards_) ++readers[e.after];
    using Queue = std::priority_queue<Id, std::vector<Id>, std::greater<>>;
    Queue ready, waiting;  // waiting: nodes whose sources are done, but not all readers of their state
    std::vector<bool> done(g_.size(), false);
    const auto put = [&](Id id) { (readers[id] == 0 ? ready : waiting).push(id); };
    for (Id id : reached_)
      if (sources[id] == 0) put(id);
    while (!ready.empty() || !waiting.empty()) {
      const bool forced = ready.empty();
      Queue& queue = forced ? waiting : ready;
      const Id id = queue.top();
      queue.pop();
      if (done[id]) continue;
      if (forced && r_.list[r_.of[id]].in_kernel)
        violated(g_, id, "state-order", "every reader of the state it takes to come before it; one needs its result");
      done[id] = true;
      r_.list[r_.of[id]].nodes.push_back(id);
      for (Id u : users[id])
        if (--sources[u] == 0) put(u);
      for (Id w : writers[id])
        if (--readers[w] == 0 && sources[w] == 0) ready.push(w);
    }
  }

  const Graph& g_;
  std::span<const Id> reached_;
  Regions& r_;
  std::vector<Edge> uses_, hazards_;
};

}  // namespace

void order_regions(const Graph& g, std::span<const Id> reached, Regions& r) { Orderer(g, reached, r).run(); }

}  // namespace kiln::compiler
