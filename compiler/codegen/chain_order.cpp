#include "compiler/codegen/chain_order.h"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/state.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t shortest_chain = 8, most_chains = 8, most_nodes = 4096;
constexpr std::size_t most_addresses = 12;   // so that few of them are on the stack
constexpr std::ptrdiff_t steps_of_load = 2;  // most steps of a chain for each load
constexpr std::ptrdiff_t least_shared = 3;   // of so many loads of a chain, at least one is of the chains before

class ChainOrder {
 public:
  ChainOrder(const Graph& g, const Scopes& scopes, std::int32_t scope) : g_(g), scopes_(scopes), scope_(scope) {}

  std::vector<Id> run(std::span<const Id> effects) {
    for (const Id e : effects) {
      const std::vector<Id> own = nodes_of_store(e);
      std::vector<Id> path = longest_path(own);
      const auto loads = std::ranges::count_if(own, [&](Id id) { return g_.op(id) == Op::LOAD; });
      if (path.size() < shortest_chain || steps_of_load * loads < std::ssize(path)) {
        finish_group();
        order_.push_back(e);
        continue;
      }
      if (stores_.size() == most_chains || !shares_loads(own) || reads_stored(own)) finish_group();
      for (const Id id : own)
        if (g_.op(id) == Op::LOAD) loads_.insert(id);
      stores_.push_back(e);
      chains_.push_back(std::move(path));
    }
    finish_group();
    return std::move(order_);
  }

 private:
  // What a STORE's value depends on in this scope. Empty: it is no plain store, or the order of its loads matters.
  std::vector<Id> nodes_of_store(Id e) const {
    if (g_.op(e) != Op::STORE || !names_memory(g_, e)) return {};
    std::vector<Id> own = nodes_of(g_.src(e, 2));
    const auto may_be_stored = [&](Id id) {
      return g_.op(id) == Op::LOAD && (!names_memory(g_, id) || g_.state(id) == g_.state(e));
    };
    return own.size() > most_nodes || std::ranges::any_of(own, may_be_stored) ? std::vector<Id>{} : own;
  }

  bool shares_loads(std::span<const Id> nodes) const {
    std::ptrdiff_t all = 0, shared = 0;
    for (const Id id : nodes)
      if (g_.op(id) == Op::LOAD) ++all, shared += loads_.contains(id) ? 1 : 0;
    return least_shared * shared >= all;
  }

  // Whether a load reads what a STORE of the group stores.
  bool reads_stored(std::span<const Id> nodes) const {
    return std::ranges::any_of(nodes, [&](Id id) {
      const auto is_same = [&](Id store) { return g_.state(store) == g_.state(id); };
      return g_.op(id) == Op::LOAD && std::ranges::any_of(stores_, is_same);
    });
  }

  // The terms of an access's address that are no constants, and the memory. Addresses with the same terms share registers.
  std::vector<Id> terms_of_address(Id access) const {
    std::vector<Id> terms{g_.state(access)}, todo{g_.src(access, 1)};
    while (!todo.empty()) {
      const Id id = todo.back();
      todo.pop_back();
      const Op op = g_.op(id);
      if (g_.is_const(id)) continue;
      if (op == Op::RAMP || (op == Op::SUB && g_.is_const(g_.src(id, 1))))
        todo.push_back(g_.src(id, 0));
      else if (op == Op::ADD)
        todo.insert(todo.end(), g_.src(id).begin(), g_.src(id).end());
      else
        terms.push_back(id);
    }
    std::ranges::sort(terms);
    return terms;
  }

  // By turns, all addresses are in use at the same time.
  bool addresses_fit_registers() const {
    std::set<std::vector<Id>> addresses;
    for (const Id load : loads_) addresses.insert(terms_of_address(load));
    for (const Id store : stores_) addresses.insert(terms_of_address(store));
    return addresses.size() <= most_addresses;
  }

  // The steps of the chains by turns, then their stores.
  void finish_group() {
    if (stores_.size() > 1 && addresses_fit_registers()) by_turns();
    order_.insert(order_.end(), stores_.begin(), stores_.end());
    stores_.clear();
    chains_.clear();
    loads_.clear();
  }

  bool is_here(Id id) const { return scopes_.of[id] == scope_ && !g_.src(id).empty(); }

  // The nodes of this scope that a value depends on, and it: ascending.
  std::vector<Id> nodes_of(Id value) const {
    std::vector<Id> todo{value}, out;
    std::unordered_set<Id> seen{value};
    while (!todo.empty()) {
      const Id id = todo.back();
      todo.pop_back();
      if (!is_here(id) || done_.contains(id)) continue;
      out.push_back(id);
      for (const Id s : g_.src(id))
        if (seen.insert(s).second) todo.push_back(s);
    }
    std::ranges::sort(out);
    return out;
  }

  // Minima and maxima are not, because networks of them are emitted as a whole (extremum_networks.h).
  bool is_step(Id id) const {
    const Op op = g_.op(id);
    return is_elementwise(op) && is_float(g_.dtype(id)) && op != Op::MIN && op != Op::MAX;
  }

  // From the leaves to the value, which is the last of the nodes.
  std::vector<Id> longest_path(std::span<const Id> nodes) const {
    if (nodes.empty()) return {};
    std::unordered_map<Id, std::pair<int, Id>> depth;  // and the source on the path
    for (const Id id : nodes) {
      std::pair<int, Id> best{0, no_id};
      for (const Id s : g_.src(id))
        if (const auto at = depth.find(s); at != depth.end()) best = std::max(best, {at->second.first, s});
      depth[id] = {best.first + (g_.dtype(id) == DType::index ? 0 : 1), best.second};
    }
    std::vector<Id> path;
    for (Id id = nodes.back(); id != no_id; id = depth.at(id).second)
      if (is_step(id)) path.push_back(id);
    std::ranges::reverse(path);
    return path;
  }

  void by_turns() {
    std::vector<std::size_t> at(chains_.size(), 0);
    while (true) {
      std::size_t best = chains_.size();
      std::ptrdiff_t fewest = std::numeric_limits<std::ptrdiff_t>::max();
      for (std::size_t c = 0; c < chains_.size() && fewest > 0; ++c) {
        if (at[c] == chains_[c].size()) continue;
        const std::ptrdiff_t loads =
            std::ranges::count(nodes_of(chains_[c][at[c]]), Op::LOAD, [&](Id id) { return g_.op(id); });
        if (loads < fewest) fewest = loads, best = c;
      }
      if (best == chains_.size()) return;
      const Id step = chains_[best][at[best]++];
      for (const Id id : nodes_of(step)) done_.insert(id);
      order_.push_back(step);
    }
  }

  const Graph& g_;
  const Scopes& scopes_;
  std::int32_t scope_;
  std::vector<Id> order_;
  std::vector<Id> stores_;               // of the group
  std::vector<std::vector<Id>> chains_;  // by store
  std::unordered_set<Id> loads_;         // of the group; their order does not matter
  std::unordered_set<Id> done_;          // nodes that the steps so far compute
};

}  // namespace

std::vector<Id> chain_order(const Graph& g, const Scopes& scopes, std::span<const Id> effects, std::int32_t scope) {
  return ChainOrder(g, scopes, scope).run(effects);
}

}  // namespace kiln::compiler
