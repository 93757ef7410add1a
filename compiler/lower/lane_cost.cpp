#include "compiler/lower/lane_cost.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/index_operation.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/power_of_two.h"
#include "compiler/ir/scopes.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/interleaved_access.h"
#include "compiler/lower/transpose_loads.h"
#include "compiler/target/operation_cost.h"
#include "compiler/target/unrollable_loops.h"

namespace kiln::compiler {
namespace {

constexpr double typical_extent = 1024;   // iterations of a loop whose bounds are not constants
constexpr double strided_cost = 1.5;      // one lane of an access at constant distances
constexpr double scattered_cost = 3;      // one lane of any other access
constexpr std::int64_t near_stride = 64;  // elements; from this stride on each lane has its own cache line
constexpr int outer_bit = 62;

double own_cost(const Graph& g, Id id) { return g.dtype(id) == DType::index ? 0 : operation_cost(g.op(id)).lane; }

// The end of a loop; of MIN(x, constant), the constant if it is below the typical extent.
double end_of(const Graph& g, Id end) {
  if (g.is_const(end)) return static_cast<double>(g.value(end));
  double least = typical_extent;
  if (g.op(end) == Op::MIN)
    for (const Id bound : g.src(end)) least = g.is_const(bound) ? std::min(least, static_cast<double>(g.value(bound))) : least;
  return least;
}

double iterations_of(const Graph& g, Id loop) {
  const LoopParts l = loop_parts(g, loop);
  const double extent = g.is_const(l.begin) ? end_of(g, l.end) - static_cast<double>(g.value(l.begin)) : typical_extent;
  return std::max(1.0, extent / static_cast<double>(l.step));
}

// Bits for the ranges of the kernel and of inner loops: short ranges first, then inner loops until no bit is left.
class RangeBits {
 public:
  RangeBits(const Graph& g, std::span<const Id> ranges, std::size_t first_short) : g_(g) {
    for (const Id range : ranges.subspan(first_short)) bit_[range] = next_++;
    bit_[ranges[first_short - 1]] = outer_bit;
  }

  std::uint64_t visit(Id id) {
    std::uint64_t mine = 0;
    if (g_.op(id) == Op::RANGE) {
      auto it = bit_.find(id);
      if (it == bit_.end() && next_ < outer_bit) it = bit_.emplace(id, next_++).first;
      mine = it == bit_.end() ? 0 : std::uint64_t{1} << it->second;
    } else {
      for (const Id s : g_.src(id)) mine |= of_.at(s);
    }
    if (g_.op(id) == Op::FOR) {
      const std::uint64_t own = of_.at(g_.range_of(id));
      if (own != 0) iterations_[std::countr_zero(own)] = iterations_of(g_, id);
      mine &= ~own;
    }
    of_[id] = mine;
    return mine;
  }

  std::uint64_t of(Id id) const { return of_.at(id); }

  double iterations(std::uint64_t ranges) const {
    double n = 1;
    for (const auto& [bit, iterations] : iterations_) n *= (ranges >> bit & 1) != 0 ? iterations : 1;
    return n;
  }

 private:
  const Graph& g_;
  int next_ = 0;
  std::unordered_map<Id, int> bit_;
  std::unordered_map<Id, std::uint64_t> of_;
  std::unordered_map<int, double> iterations_;
};

// The nodes that one short iteration needs: a condition on its indices chooses one side of a WHERE. nodes: ascending.
class NeededNodes {
 public:
  NeededNodes(const Graph& g, std::span<const Id> nodes) : g_(g), nodes_(nodes) {}

  std::vector<Id> of(std::span<const Id> stores, const std::unordered_map<Id, std::int64_t>& indices) {
    known_ = indices;
    for (const Id id : nodes_) learn(id);
    std::vector<Id> todo(stores.begin(), stores.end()), needed;
    std::unordered_set<Id> seen;
    while (!todo.empty()) {
      const Id id = todo.back();
      todo.pop_back();
      if (!seen.insert(id).second) continue;
      needed.push_back(id);
      const auto condition = g_.op(id) == Op::WHERE ? known_.find(g_.src(id, 0)) : known_.end();
      if (condition != known_.end())
        todo.push_back(g_.src(id, condition->second != 0 ? 1 : 2));
      else
        todo.insert(todo.end(), g_.src(id).begin(), g_.src(id).end());
    }
    return needed;
  }

 private:
  void learn(Id id) {
    const DType d = g_.dtype(id);
    if (known_.contains(id) || g_.lanes(id) > 1 || (d != DType::index && d != DType::boolean)) return;
    if (g_.is_const(id)) known_[id] = g_.value(id);
    if (!is_binary(g_.op(id))) return;
    const auto a = known_.find(g_.src(id, 0)), b = known_.find(g_.src(id, 1));
    if (a == known_.end() || b == known_.end()) return;
    if (const auto v = evaluate_index(g_.op(id), a->second, b->second)) known_[id] = *v;
  }

  const Graph& g_;
  std::span<const Id> nodes_;
  std::unordered_map<Id, std::int64_t> known_;
};

constexpr int rows_that_share = 8;  // of a register block, which share the loads that are the same in all rows

bool has_width(DType d) { return d != DType::none && d != DType::index && d != DType::boolean; }

int registers_of(const Graph& g, Id value, const Target& target) {
  return has_width(g.dtype(value)) ? std::max(1, g.lanes(value) * bytes(g.dtype(value)) / target.vector_bytes) : 1;
}

// Lanes of a register that a range fills.
int filled_lanes(const Graph& g, Id range, int lanes) {
  const Id end = g.end(range);
  return g.is_const(end) && g.value(end) < lanes ? floor_power_of_two(std::max(1, narrow<int>(g.value(end)))) : lanes;
}

// The lanes of the vectors over a range for each iteration: more than 1 if the last vector is not full.
double lanes_of_iteration(const Graph& g, Id range, std::int64_t lanes) {
  if (!g.is_const(g.end(range))) return 1;
  const std::int64_t n = std::max<std::int64_t>(1, g.value(g.end(range)));
  return static_cast<double>((n + lanes - 1) / lanes * lanes) / static_cast<double>(n);
}

// The cost of an access for one lane. The unit is a contiguous access of one register. accesses: how many of the elements
// between neighbouring lanes are accessed together.
double access_for_lane(const Graph& g, Id access, Id range, std::int64_t accesses, const Target& target) {
  const auto stride = index_stride(g, index_of(g, access), range);
  if (!stride || *stride <= -near_stride || *stride >= near_stride) return scattered_cost;
  const DType d = g.dtype(g.op(access) == Op::STORE ? value_of(g, access) : access);
  const int lanes = filled_lanes(g, range, std::max(1, target.vector_bytes / bytes(d)));
  if (*stride == 1) return 1.0 / lanes;
  if (g.op(access) == Op::LOAD && g.src(access).size() > 2) return strided_cost;  // under a gate, each lane loads for itself
  return std::min(strided_cost, interleaved_cost(*stride, std::min(accesses, *stride), d, lanes));
}

}  // namespace

LaneCost::LaneCost(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, std::size_t first_short,
                   const Target& target) {
  for (const Id r : ranges.subspan(first_short)) extents_.push_back(g.value(g.end(r)));
  RangeBits bits(g, ranges, first_short);
  int widest = 1;
  const std::vector<Id> nodes = g.reachable(stores);
  for (const Id id : nodes) {
    Node& n = nodes_.emplace_back();
    const bool is_access = g.op(id) == Op::LOAD || g.op(id) == Op::STORE;
    const Id value = g.op(id) == Op::STORE ? value_of(g, id) : id;
    n.ranges = bits.visit(id);
    n.cost = own_cost(g, id) * registers_of(g, value, target);
    n.is_operation = n.cost > 0 && !is_access;
    if (n.cost > 0 && has_width(g.dtype(value))) widest = std::max(widest, bytes(g.dtype(value)));
    n.is_load = g.op(id) == Op::LOAD;
    if (is_access && (n.ranges >> outer_bit & 1) != 0) {
      n.outer_lanes = access_for_lane(g, id, ranges[first_short - 1], most_components, target);
      n.outer_lanes_alone = access_for_lane(g, id, ranges[first_short - 1], 1, target);
    }
    if (g.op(id) == Op::FOR)
      for (const Id yield : g.src(id).subspan(3 + g.slot(id)))
        carried_.push_back({registers_of(g, yield, target), bits.of(yield)});
  }
  lanes_ = std::max(1, target.vector_bytes / widest);
  const double outer_lanes = filled_lanes(g, ranges[first_short - 1], static_cast<int>(lanes_));
  const double idle = lanes_of_iteration(g, ranges[first_short - 1], static_cast<std::int64_t>(outer_lanes));
  const std::vector<Id> in_rows = rows_in_lanes(g, stores, ranges[first_short - 1]);
  for (std::size_t i = 0; i < nodes.size(); ++i)  // a tile of as many rows as lanes: one load and its shuffles for each row
    if (std::ranges::find(in_rows, nodes[i]) != in_rows.end())
      nodes_[i].outer_lanes = nodes_[i].outer_lanes_alone =
          idle * static_cast<double>(std::bit_width(static_cast<std::uint64_t>(outer_lanes))) / outer_lanes;
  const Id outer_end = g.end(ranges[first_short - 1]);
  rows_of_block_ = g.is_const(outer_end) ? std::clamp<double>(static_cast<double>(g.value(outer_end)), 1, rows_that_share)
                                         : static_cast<double>(rows_that_share);
  for (Node& n : nodes_) {
    n.iterations = bits.iterations(n.ranges);
    if (n.outer_lanes == 0) n.outer_lanes = n.outer_lanes_alone = idle / outer_lanes;
  }
  count_copies(g, stores, ranges.subspan(first_short));
}

void LaneCost::count_copies(const Graph& g, std::span<const Id> stores, std::span<const Id> short_ranges) {
  const std::vector<Id> nodes = g.reachable(stores);
  NeededNodes needed(g, nodes);
  // By node: one bit for each combination of indices of the ranges that it depends on. All short ranges together have few
  // iterations (max_short_iterations).
  std::vector<std::uint64_t> evaluated(nodes.size(), 0);
  std::vector<std::int64_t> index(extents_.size(), 0);
  const auto advance = [&] {
    for (std::size_t i = index.size(); i-- > 0; index[i] = 0)
      if (++index[i] < extents_[i]) return true;
    return false;
  };
  do {
    std::unordered_map<Id, std::int64_t> indices;
    for (std::size_t i = 0; i < index.size(); ++i) indices[short_ranges[i]] = index[i];
    for (const Id id : needed.of(stores, indices)) {
      const std::size_t n = index_at(nodes, std::ranges::lower_bound(nodes, id));
      std::int64_t own = 0;
      for (std::size_t i = 0; i < index.size(); ++i)
        if ((nodes_[n].ranges >> i & 1) != 0) own = own * extents_[i] + index[i];
      evaluated[n] |= std::uint64_t{1} << own;
    }
  } while (advance());
  for (std::size_t n = 0; n < nodes.size(); ++n) nodes_[n].copies = std::popcount(evaluated[n]);
}

double LaneCost::copies(std::uint64_t ranges) const {
  double n = 1;
  for (std::size_t i = 0; i < extents_.size(); ++i)
    if ((ranges >> i & 1) != 0) n *= static_cast<double>(extents_[i]);
  return n;
}

double LaneCost::lanes_of_last(bool masked) const {
  const std::size_t last = extents_.size() - 1;
  const auto extent = static_cast<std::uint64_t>(extents_[last]);
  const std::uint64_t lanes = std::bit_floor(std::min(extent, static_cast<std::uint64_t>(lanes_)));
  const auto vectors =
      static_cast<double>(extent / lanes + (masked ? std::min<std::uint64_t>(1, extent % lanes) : extent % lanes));
  double sum = 0;
  for (const Node& n : nodes_) {
    const bool wide = (n.ranges >> last & 1) != 0;
    const bool shared = n.is_load && n.iterations > 1 && (n.ranges >> outer_bit & 1) == 0;
    sum += (shared ? 1 / rows_of_block_ : 1) * n.cost * n.iterations * copies(n.ranges & ~(std::uint64_t{1} << last)) *
           (wide ? vectors : 1);
  }
  return sum;
}

double LaneCost::lanes_of_outer() const {
  double sum = 0;
  for (const Node& n : nodes_) sum += n.cost * n.iterations * n.copies * n.outer_lanes;
  return sum;
}

double LaneCost::loops() const {
  const double all = copies(~std::uint64_t{0});
  double sum = 0;
  for (const Node& n : nodes_) sum += n.cost * n.iterations * (n.iterations > 1 ? all : copies(n.ranges));
  return sum;
}

double LaneCost::loops_around() const {
  const double all = copies(~std::uint64_t{0});
  double sum = 0;
  for (const Node& n : nodes_) {
    const bool inside = n.iterations > 1 || (n.ranges >> outer_bit & 1) != 0;
    sum += n.cost * n.iterations * (inside ? all : copies(n.ranges));
  }
  return sum;
}

double LaneCost::lanes_of_outer_alone() const {
  const double all = copies(~std::uint64_t{0});
  double sum = 0;
  for (const Node& n : nodes_) {
    const bool inside = n.iterations > 1 || (n.ranges >> outer_bit & 1) != 0;
    sum += n.cost * n.iterations * n.outer_lanes_alone * (inside ? all : copies(n.ranges));
  }
  return sum;
}

double LaneCost::written_out() const {
  double sum = 0;
  for (const Node& n : nodes_) sum += n.cost * n.iterations * n.copies;
  return sum;
}

int LaneCost::operations() const {
  double sum = 0;
  for (const Node& n : nodes_) sum += n.is_operation ? n.copies : 0;
  return static_cast<int>(sum);
}

int LaneCost::registers() const {
  double sum = 0;
  for (const Carried& c : carried_) sum += c.registers * copies(c.ranges);
  return static_cast<int>(sum);
}

}  // namespace kiln::compiler
