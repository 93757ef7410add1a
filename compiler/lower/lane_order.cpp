#include "compiler/lower/lane_order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/lower/interleave_shuffles.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {
namespace {

constexpr int deepest = 6;  // loops inside each other that count
constexpr double loop_weight = 8;

using Lanes = std::vector<std::int64_t>;

// An order of the lanes of a vector. lane_at[p]: the iteration at position p. position_of is its inverse.
struct Order {
  Lanes lane_at, position_of;
};

Order order_of(int lanes, int (*lane_at)(int position, int lanes)) {
  Order out{{}, Lanes(static_cast<std::size_t>(lanes))};
  for (int p = 0; p < lanes; ++p) {
    out.lane_at.push_back(lane_at(p, lanes));
    nth(out.position_of, lane_at(p, lanes)) = p;
  }
  return out;
}

// The halves of parts as 0 2 1 3: the order in which shuffles within parts leave every second element.
int half_at(int position, int lanes) {
  const int half = lanes / 4, at = position / half;
  return (at == 1 ? 2 : at == 2 ? 1 : at) * half + position % half;
}
// The order in which the transposition of rows of 4 elements leaves them.
int row_at(int position, int lanes) { return position % 4 * (lanes / 4) + position / 4; }

// A target with registers for masks takes every second element of two registers by one instruction.
std::vector<Order> orders_of(int lanes, const Target& target) {
  std::vector<Order> out;
  if (target.vector_bytes <= part_bytes) return out;
  if (!target.has_mask_registers()) out.push_back(order_of(lanes, half_at));
  if (target.vector_bytes / lanes * 4 == part_bytes) out.push_back(order_of(lanes, row_at));
  return out;
}

Lanes picked(std::span<const std::int64_t> from, const Lanes& lanes) {
  Lanes out;
  for (const std::int64_t lane : lanes) out.push_back(nth(from, lane));
  return out;
}

bool is_identity(std::span<const std::int64_t> from) {
  for (std::size_t i = 0; i < from.size(); ++i)
    if (!std::cmp_equal(from[i], i)) return false;
  return true;
}

// Whether all parts take the same lanes of the same part of at most two vectors: the first half from one vector and the second
// half from another, or in turn.
bool is_in_parts(std::span<const std::int64_t> from, int part) {
  const int lanes = count_of(from);
  const auto vector = [&](int i) { return nth(from, i) / lanes; };
  bool halves = true, turns = true;
  for (int i = 0; i < lanes; ++i) {
    const int begin = i / part * part, in_part = i % part;
    if (nth(from, i) % lanes / part != i / part || nth(from, i) - begin != nth(from, in_part)) return false;
    halves = halves && vector(in_part) == vector(in_part / (part / 2) * (part / 2));
    turns = turns && vector(in_part) == vector(in_part % 2);
  }
  return halves || turns;
}

// Whether the lanes of two vectors alternate, from one half of them. Two such shuffles, one for each half, share instructions.
bool alternates(std::span<const std::int64_t> from) {
  const int lanes = count_of(from);
  for (int i = 0; i < lanes; ++i)
    if (nth(from, i) != nth(from, i % 2) + i / 2) return false;
  return true;
}

// Instructions of a SHUFFLE to vectors of as many lanes.
double instructions_of(std::span<const std::int64_t> from, const Target& target) {
  if (is_identity(from)) return 0;
  const int lanes = count_of(from), part = part_bytes * lanes / target.vector_bytes;
  const bool one = std::ranges::all_of(from, [&](std::int64_t i) { return i / lanes == from[0] / lanes; });
  if (one || target.has_mask_registers() || is_in_parts(from, part)) return 1;
  return alternates(from) || is_in_parts(picked(from, order_of(lanes, half_at).lane_at), part) ? 2 : 3;
}

// Values whose lanes have the same order: elementwise operations, and what loops carry. All users of a LOAD share its order,
// and so do the sources of a SHUFFLE.
class Groups {
 public:
  // block: the lanes of a register. A longer vector has the order in each block. element: bytes of an element.
  Groups(const Graph& g, std::span<const Id> nodes, int block, int element) : g_(g), block_(block), element_(element) {
    for (const Id id : nodes) visit(id);
  }

  bool has(Id id) const { return number_.contains(id); }
  // The group of a member.
  std::size_t of(Id id) { return root(number_.at(id)); }
  // The group of a value that a loop carries. Only if is_value(yield).
  std::size_t of_carried(Id range, std::size_t slot) { return root(slots_.at({range, slot})); }
  bool is_value(Id id) const {
    const DType d = g_.dtype(id);
    return has_blocks(g_.lanes(id)) && !is_state(g_, id) &&
           (d == DType::boolean || (d != DType::index && bytes(d) == element_));
  }

 private:
  void visit(Id id) {
    if (g_.op(id) == Op::FOR) return visit_loop(id);
    if (g_.op(id) == Op::SHUFFLE && !moves_blocks(id)) return visit_shuffle(id);
    if (!is_value(id)) return;
    if (g_.op(id) == Op::CARRY) {
      const std::size_t own = member(id);
      return join(own, carried(g_.operands<2>(id)[0], g_.slot(id)));
    }
    if (g_.op(id) == Op::GET) {
      const std::size_t own = member(id);
      return join(own, carried(g_.range_of(g_.scope(id)), g_.slot(id)));
    }
    if (!is_elementwise(g_.op(id)) && g_.op(id) != Op::SHUFFLE) return;
    if (!std::ranges::all_of(g_.src(id), [&](Id s) { return is_value(s); })) return;
    const std::size_t own = member(id);
    for (const Id s : g_.src(id))
      if (has(s))
        join(own, number_.at(s));
      else if (g_.op(s) == Op::LOAD)
        join(own, read(s));
  }

  bool has_blocks(int lanes) const { return lanes > 1 && lanes % block_ == 0; }
  // Whether a SHUFFLE moves whole blocks, as a part of a longer vector or vectors side by side.
  bool moves_blocks(Id shuffle) const {
    const std::span<const std::int64_t> from = g_.args(shuffle);
    if (!has_blocks(g_.lanes(shuffle)) || !has_blocks(g_.lanes(g_.src(shuffle, 0)))) return false;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto in_block = static_cast<std::int64_t>(i) % block_;
      if (from[i] % block_ != in_block || from[i] - in_block != from[i - static_cast<std::size_t>(in_block)]) return false;
    }
    return true;
  }

  void visit_shuffle(Id id) {
    Id member = no_id;
    for (const Id s : g_.src(id)) {
      if (!has(s)) continue;
      if (member != no_id) join(number_.at(member), number_.at(s));
      member = s;
    }
  }

  void visit_loop(Id loop) {
    const LoopParts l = loop_parts(g_, loop);
    for (std::size_t i = 0; i < l.yield.size(); ++i) {
      if (!is_value(l.yield[i])) continue;
      const std::size_t own = carried(l.range, i);
      for (const Id v : {l.init[i], l.yield[i]})
        if (has(v)) join(own, number_.at(v));
    }
  }

  std::size_t made() {
    parent_.push_back(parent_.size());
    return parent_.back();
  }
  std::size_t member(Id id) { return number_[id] = made(); }
  std::size_t read(Id load) {
    const auto [it, is_new] = loads_.try_emplace(load, parent_.size());
    return is_new ? made() : it->second;
  }
  std::size_t carried(Id range, std::size_t slot) {
    const auto [it, is_new] = slots_.try_emplace({range, slot}, parent_.size());
    return is_new ? made() : it->second;
  }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[root(a)] = root(b); }

  const Graph& g_;
  int block_, element_;
  std::vector<std::size_t> parent_;
  std::unordered_map<Id, std::size_t> number_, loads_;
  std::map<std::pair<Id, std::size_t>, std::size_t> slots_;
};

class LaneOrder {
 public:
  // element: bytes of the elements of the vectors.
  LaneOrder(Graph& g, Id sink, int element, const Order& order, const Target& target)
      : g_(g), order_(order), target_(target), nodes_(g.reachable(sink)), groups_(g, nodes_, count_of(order.lane_at), element) {
    for (const auto& [range, inside] : nodes_by_range(g, nodes_))
      for (const Id id : inside) ++depth_[id];
    for (const Id id : nodes_) count(id);
  }

  Id run(Id sink) {
    if (std::ranges::none_of(cost_, [](const auto& c) { return c.second < 0; })) return sink;
    return rewrite(g_, sink, [&](Id id, std::span<const Id> x) { return rebuilt(id, x); });
  }

 private:
  static constexpr std::size_t none = SIZE_MAX;

  // The group that reads source number i; `none`: a user without a group.
  std::size_t reader(Id id, std::size_t i) {
    if (groups_.has(id)) return groups_.of(id);
    if (g_.op(id) != Op::FOR) return none;
    const LoopParts l = loop_parts(g_, id);
    if (i < 3 || i >= 3 + 2 * l.yield.size()) return none;
    const std::size_t slot = (i - 3) % l.yield.size();
    return groups_.is_value(l.yield[slot]) ? groups_.of_carried(l.range, slot) : none;
  }

  // Adds the instructions that the order costs for the operands of a node. Users of a value share its shuffle.
  void count(Id id) {
    if (g_.op(id) == Op::SHUFFLE && !groups_.has(id)) return count_shuffle(id);
    for (std::size_t i = 0; i < g_.src(id).size(); ++i) {
      const Id s = g_.src(id, i);
      const std::size_t group = reader(id, i);
      if (group != none && groups_.is_value(s) && !groups_.has(s) && counted_.insert({group, s}).second)
        add(group, s, entry_cost(s));
      if (group != none || !groups_.has(s) || g_.op(id) == Op::LANE) continue;
      if (const std::size_t own = groups_.of(s); counted_.insert({own, s}).second) add(own, s, blocks(s));
    }
  }

  void count_shuffle(Id id) {
    const Id member = first_member(id);
    if (member == no_id) return;
    const std::size_t group = groups_.of(member);
    for (const Id s : g_.src(id))
      if (is_whole_shuffle(s) && counted_.insert({group, s}).second) add(group, s, entry_cost(s));
    const Lanes from = ordered_sources(id, [&](Id s) { return groups_.has(s) || is_whole_shuffle(s); });
    const bool is_part = from.size() != order_.lane_at.size();
    add(group, id, is_part ? 1 : instructions_of(from, target_) - instructions_of(g_.args(id), target_));
  }
  Id first_member(Id shuffle) const {
    for (const Id s : g_.src(shuffle))
      if (groups_.has(s)) return s;
    return no_id;
  }

  void add(std::size_t group, Id at, double cost) {
    cost_[group] += cost * std::pow(loop_weight, std::min(depth_[at], deepest));
  }

  double blocks(Id vector) const { return static_cast<double>(g_.lanes(vector)) / count_of(order_.lane_at); }

  double entry_cost(Id s) const {
    if (g_.is_const(s) || g_.op(s) == Op::BROADCAST || g_.op(s) == Op::RAMP) return 0;
    if (!is_whole_shuffle(s)) return blocks(s);
    return instructions_of(picked(g_.args(s), order_.lane_at), target_) - instructions_of(g_.args(s), target_);
  }

  // A SHUFFLE of registers that may bring the lanes into the order, too.
  bool is_whole_shuffle(Id id) const {
    return g_.op(id) == Op::SHUFFLE && !groups_.has(id) && g_.args(id).size() == order_.lane_at.size() &&
           g_.lanes(g_.src(id, 0)) == g_.lanes(id);
  }
  std::int64_t position_of(std::int64_t lane) const {
    const auto block = std::ssize(order_.position_of);
    return lane / block * block + nth(order_.position_of, lane % block);
  }

  // The lanes of a SHUFFLE after the sources with is_ordered(source) have the order.
  template <class F>
  Lanes ordered_sources(Id shuffle, F&& is_ordered) {
    Lanes out;
    const std::span<const Id> sources = g_.src(shuffle);
    const std::int64_t n = g_.lanes(sources[0]);
    for (const std::int64_t from : g_.args(shuffle))
      out.push_back(is_ordered(nth(sources, from / n)) ? position_of(from) : from);
    return out;
  }

  bool pays(std::size_t group) const {
    const auto it = cost_.find(group);
    return it != cost_.end() && it->second < 0;
  }
  bool is_ordered(Id id) { return groups_.has(id) && pays(groups_.of(id)); }

  Id rebuilt(Id id, std::span<const Id> x) {
    const Op op = g_.op(id);
    if (op == Op::SHUFFLE && !groups_.has(id)) return rebuilt_shuffle(id, x);
    if (op == Op::LANE && is_ordered(g_.operand(id)))
      return g_.make(Op::LANE, g_.dtype(id), {x[0]}, {position_of(g_.arg(id, 0))});
    std::vector<Id> s(x.begin(), x.end());
    for (std::size_t i = 0; i < s.size(); ++i) {
      const Id before = g_.src(id, i);
      const std::size_t group = reader(id, i);
      const bool wants = group != none && pays(group) && groups_.is_value(before), has = is_ordered(before);
      if (wants && !has) s[i] = in_order(s[i], order_.lane_at);
      if (has && !wants) s[i] = in_order(s[i], order_.position_of);
    }
    return g_.with_src(id, s);
  }

  // Operands that are shuffles get the order of the members beside them.
  Id rebuilt_shuffle(Id id, std::span<const Id> x) {
    const Id member = first_member(id);
    if (member == no_id || !is_ordered(member)) return no_id;
    std::vector<Id> s(x.begin(), x.end());
    for (std::size_t i = 0; i < s.size(); ++i)
      if (is_whole_shuffle(g_.src(id, i))) s[i] = in_order(s[i], order_.lane_at);
    return shuffle(id, s, ordered_sources(id, [&](Id v) { return groups_.has(v) || is_whole_shuffle(v); }));
  }

  Id shuffle(Id id, std::span<const Id> x, const Lanes& from) {
    if (is_identity(from) && g_.lanes(x[0]) == count_of(from)) return x[0];
    return g_.make(Op::SHUFFLE, g_.dtype(id), x, from, {}, count_of(from));
  }

  // Lane i of each block of the result is lane lanes[i] of the block.
  Id in_order(Id vector, const Lanes& lanes) {
    if (g_.is_const(vector) || g_.op(vector) == Op::BROADCAST) return vector;
    if (is_whole_shuffle(vector)) return shuffle(vector, g_.sources(vector), picked(g_.args(vector), lanes));
    Lanes from;
    for (std::int64_t block = 0; block < g_.lanes(vector); block += std::ssize(lanes))
      for (const std::int64_t lane : lanes) from.push_back(block + lane);
    return shuffle(vector, std::array{vector}, from);
  }

  Graph& g_;
  const Order& order_;
  const Target& target_;
  std::vector<Id> nodes_;
  Groups groups_;
  std::unordered_map<Id, int> depth_;
  std::set<std::pair<std::size_t, Id>> counted_;  // an operand or a result of a group
  std::map<std::size_t, double> cost_;            // by group: instructions that the order costs
};

}  // namespace

Id lane_order(Graph& g, Id sink, const Target& target) {
  for (const int element : {4, 8})
    for (const Order& order : orders_of(target.vector_bytes / element, target))
      sink = LaneOrder(g, sink, element, order, target).run(sink);
  return sink;
}

}  // namespace kiln::compiler
