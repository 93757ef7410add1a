#include "compiler/schedule/split_chains.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/index_poly.h"
#include "compiler/rangeify/index_expr.h"
#include "compiler/schedule/each_kernel.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/target/operation_cost.h"
#include "compiler/target/unrollable_loops.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t rows_for_lanes = 64;
constexpr std::int64_t most_of_row = 512;  // elements; a longer row takes much more time than the operations behind it

class ChainSplitter {
 public:
  ChainSplitter(Graph& g, Schedule& s, Kernel& k, std::vector<Kernel>& made) : g_(g), s_(s), kernel_(k), made_(made) {
    for (const Id r : loop_ranges_of(g, k))
      if (!g.is_index_const(g.end(r), 1)) rows_.push_back(r);
    for (std::int64_t n = 1; !rows_.empty() && g.is_const(g.end(rows_.back())); rows_.pop_back()) {
      n *= g.value(g.end(rows_.back()));
      if (n > max_short_iterations) break;
      elements_.push_back(rows_.back());
    }
  }

  void run() {
    if (rows_.empty()) return;
    if (elements_.empty()) return split_values();
    bool has_chain = false;
    std::vector<Id> striped;
    for (const Id id : g_.reachable(kernel_.sink)) {
      if (g_.op(id) != Op::REDUCE || !is_long(id)) continue;
      const bool is_of_row = !depends_on_one(id, elements_);
      has_chain = has_chain || (!is_of_row && is_sum_in_order(id));
      if (is_of_row && is_of_each(id) && g_.reduce_order(id) == ReduceOrder::striped && !is_repeated(id)) striped.push_back(id);
    }
    if (!has_chain) return;
    std::unordered_map<Id, Id> map;
    for (const Id reduce : striped) map[reduce] = stored(reduce);
    if (!map.empty()) kernel_.sink = substitute(g_, kernel_.sink, map);
  }

 private:
  // Stores the reductions of short rows if the value of a row takes many operations behind them, as a function does.
  void split_values() {
    const Id rows = g_.end(rows_.back());
    if (g_.is_const(rows) && g_.value(rows) < rows_for_lanes) return;
    std::vector<Id> open = g_.sources(kernel_.sink);
    std::unordered_set<Id> seen;
    std::vector<Id> reductions;
    bool has_function = false;  // such as an exponential
    while (!open.empty()) {
      const Id id = open.back();
      open.pop_back();
      if (g_.dtype(id) == DType::index || !seen.insert(id).second) continue;
      if (g_.op(id) == Op::REDUCE) {
        reductions.push_back(id);
        continue;
      }
      has_function = has_function || operation_cost(g_.op(id)).work > operation_cost(Op::FDIV).work;
      open.insert(open.end(), g_.src(id).begin(), g_.src(id).end());
    }
    const auto is_short_row = [&](Id reduce) {
      return is_of_each(reduce) && g_.reduce_order(reduce) == ReduceOrder::striped && is_long(reduce) &&
             has_at_most(reduce, most_of_row);
    };
    if (!has_function || !std::ranges::all_of(reductions, is_short_row)) return;
    std::ranges::sort(reductions);
    std::unordered_map<Id, Id> map;
    for (const Id reduce : reductions) map[reduce] = stored(reduce);
    kernel_.sink = substitute(g_, kernel_.sink, map);
  }

  std::vector<Id> ranges_of(Id reduce) const {
    std::vector<Id> out;
    for (const Id r : g_.src(reduce).subspan(operands_of(g_.reduce_kind(reduce))))
      if (g_.op(r) == Op::RANGE) out.push_back(r);
    return out;
  }
  bool is_long(Id reduce) const {
    const std::vector<Id> ranges = ranges_of(reduce);
    return std::ranges::any_of(ranges,
                               [&](Id r) { return !g_.is_const(g_.end(r)) || g_.value(g_.end(r)) > max_short_iterations; });
  }
  // Whether the reduction depends on the last one of the ranges over rows. Else it is the same for all of them.
  bool is_of_each(Id reduce) const { return depends_on_one(reduce, std::span(rows_).last(1)); }
  // A symbolic extent may be short, and in long rows one element more for each row costs hardly any time.
  bool has_at_most(Id reduce, std::int64_t most) const {
    std::int64_t n = 1;
    for (const Id r : ranges_of(reduce)) {
      if (!g_.is_const(g_.end(r))) continue;
      if (g_.value(g_.end(r)) > most) return false;
      n *= g_.value(g_.end(r));
    }
    return n <= most;
  }
  bool is_sum_in_order(Id reduce) const {
    const ReduceKind kind = g_.reduce_kind(reduce);
    return (kind == ReduceKind::sum || kind == ReduceKind::prod) && is_float(g_.dtype(reduce)) &&
           g_.reduce_order(reduce) == ReduceOrder::sequential;
  }
  bool depends_on_one(Id id, std::span<const Id> ranges) const {
    const std::vector<Id> below = g_.reachable(id);
    return std::ranges::any_of(ranges, [&](Id r) { return std::ranges::binary_search(below, r); });
  }
  // Whether the reduction depends on a range of one that is around it, and so repeats it.
  bool is_repeated(Id reduce) const {
    std::unordered_set<Id> inside;
    const std::vector<Id> below = g_.reachable(reduce);
    for (const Id id : below)
      if (g_.op(id) == Op::REDUCE)
        for (const Id r : ranges_of(id)) inside.insert(r);
    return std::ranges::any_of(
        below, [&](Id id) { return g_.op(id) == Op::RANGE && g_.range_kind(id) == RangeKind::reduce && !inside.contains(id); });
  }

  // Adds a kernel that stores the value for each row. Returns the LOAD of the row's value.
  Id stored(Id value) {
    const LocScope of_value(g_, g_.loc(value));
    const DType d = g_.dtype(value);
    std::vector<Id> extents;
    for (const Id r : rows_) extents.push_back(g_.end(r));
    const int buffer = count_of(s_.buffers);
    s_.buffers.push_back({d, index_product(g_, extents), -1, no_id});
    const Id place = row_major(g_, rows_, extents);
    Kernel k;
    k.buffers = kernel_.buffers;
    k.buffers.push_back(buffer);
    const Id slot = g_.make(Op::BUFFER, d, {}, {std::ssize(k.buffers) - 1});
    k.sink = sink_of_store(g_, slot, place, value, rows_);
    made_.push_back(std::move(k));
    kernel_.buffers.push_back(buffer);
    const Id loaded = g_.make(Op::BUFFER, d, {}, {std::ssize(kernel_.buffers) - 1});
    return g_.make(Op::LOAD, d, {loaded, place});
  }

  Graph& g_;
  Schedule& s_;
  Kernel& kernel_;
  std::vector<Kernel>& made_;
  std::vector<Id> rows_, elements_;  // the loops of the kernel: outer ones, and short inner ones
};

}  // namespace

void split_chains(Graph& g, Schedule& s) {
  insert_kernels(g, s, [&](Kernel& k, const Facts&, std::vector<Kernel>& made) {
    if (!k.is_explicit && !has_tile_steps(g, k.sink)) ChainSplitter(g, s, k, made).run();
  });
}

}  // namespace kiln::compiler
