#include "compiler/schedule/split_reduce.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/range_ids.h"
#include "compiler/ir/reduce_identity.h"
#include "compiler/schedule/each_kernel.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/schedule/reduce_blocks.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t long_reduction = std::int64_t{1} << 18;  // elements; a shorter reduction is faster in one kernel
constexpr std::int64_t fewest_split_rows = 16;

class ReduceSplitter {
 public:
  ReduceSplitter(Graph& g, Schedule& s, Kernel& k, const Facts& facts, std::vector<Kernel>& made)
      : g_(g), s_(s), kernel_(k), made_(made), bounds_(g, facts), ids_(g, k.sink) {}

  void run() {
    if (has_tile_steps(g_, kernel_.sink) || !has_one_iteration()) return;
    std::unordered_map<Id, Id> map;
    for (const Id reduce : outermost())
      if (const Id now = split(reduce); now != reduce) map[reduce] = now;
    if (!map.empty()) kernel_.sink = substitute(g_, kernel_.sink, map);
  }

 private:
  bool has_one_iteration() const {
    return std::ranges::all_of(loop_ranges_of(g_, kernel_), [&](Id r) { return g_.is_index_const(g_.end(r), 1); });
  }

  // The REDUCEs that are not inside of another one, ascending.
  std::vector<Id> outermost() const {
    std::unordered_set<Id> seen;
    std::vector<Id> todo{kernel_.sink}, found;
    while (!todo.empty()) {
      const Id id = todo.back();
      todo.pop_back();
      if (!seen.insert(id).second) continue;
      if (g_.op(id) == Op::REDUCE)
        found.push_back(id);
      else
        todo.insert(todo.end(), g_.src(id).begin(), g_.src(id).end());
    }
    std::ranges::sort(found);
    return found;
  }

  Id split(Id reduce) {
    const std::size_t n = operands_of(g_.reduce_kind(reduce));
    if (g_.src(reduce).size() != n + 1 || g_.op(g_.src(reduce, n)) != Op::RANGE) return reduce;
    g_.set_loc(g_.loc(reduce));
    std::vector<Id> values = g_.sources(reduce);
    const Id r = values.back();
    values.pop_back();
    if (elements(reduce) < long_reduction) return reduce;
    const Inner inner = reductions_in(values, r);
    if (inner == Inner::of_all || (inner == Inner::of_each && n > 1)) return reduce;
    if (inner == Inner::of_each) return bounds_(g_.end(r)).max >= fewest_split_rows ? by_rows(reduce, values[0], r) : reduce;
    const bool striped = g_.reduce_order(reduce) == ReduceOrder::striped;
    return striped && bounds_(g_.end(r)).max >= long_reduction ? by_blocks(reduce, r) : reduce;
  }

  // An upper bound of the elements that a REDUCE reads; saturates.
  std::int64_t elements(Id reduce) {
    Interval n{1, 1};
    for (const Id id : g_.reachable(reduce))
      if (g_.op(id) == Op::RANGE) n = mul(n, {0, std::max<std::int64_t>(1, bounds_(g_.end(id)).max)});
    return n.max;
  }

  // REDUCEs in the values: none, all depend on r, or some do not (a new kernel would compute these again for each r).
  enum class Inner { none, of_each, of_all };
  Inner reductions_in(std::span<const Id> values, Id r) const {
    Inner found = Inner::none;
    std::unordered_set<Id> over{r};
    for (const Id id : g_.reachable(values)) {
      const bool depends = std::ranges::any_of(g_.src(id), [&](Id s) { return over.contains(s); });
      if (depends) over.insert(id);
      if (g_.op(id) == Op::REDUCE && !depends) return Inner::of_all;
      if (g_.op(id) == Op::REDUCE) found = Inner::of_each;
    }
    return found;
  }

  Id range(Id end, RangeKind kind) { return ids_.range(g_, end, kind); }
  Id at(Id value, Id r, Id place) { return substitute(g_, value, {{r, place}}); }

  // Adds a kernel that stores `value` for each iteration of `loop`. Returns the BUFFER for loads of the results.
  Id stored(Id value, Id loop) {
    const DType d = g_.dtype(value);
    const int buffer = count_of(s_.buffers);
    s_.buffers.push_back({d, g_.end(loop), -1, no_id});
    Kernel k;
    k.buffers = kernel_.buffers;
    k.buffers.push_back(buffer);
    const Id slot = g_.make(Op::BUFFER, d, {}, {std::ssize(k.buffers) - 1});
    k.sink = sink_of_store(g_, slot, loop, value, std::span(&loop, 1));
    made_.push_back(std::move(k));
    kernel_.buffers.push_back(buffer);
    return g_.make(Op::BUFFER, d, {}, {std::ssize(kernel_.buffers) - 1});
  }

  Id by_rows(Id reduce, Id value, Id r) {
    const Id row = range(g_.end(r), RangeKind::loop);
    const Id rows = stored(at(value, r, row), row);
    return g_.with_src(reduce, std::vector<Id>{g_.make(Op::LOAD, g_.dtype(value), {rows, r}), r});
  }

  Id by_blocks(Id reduce, Id r) {
    const Id blocks = number_of_blocks(g_, g_.end(r)), block = range(blocks, RangeKind::loop);
    const ReduceBlock here = reduce_block_at(g_, g_.end(r), block);
    const Id inside = range(here.elements, RangeKind::reduce), position = g_.make(Op::ADD, DType::index, {here.first, inside});
    std::vector<Id> src = values_at(g_, reduce, position);
    src.push_back(inside);
    const DType exact = g_.dtype(src[0]);
    const Id results = stored(g_.make(Op::REDUCE, exact, src, g_.args(reduce)), block);
    const Id each = range(blocks, RangeKind::reduce);
    return reduce_of_blocks(g_, reduce, g_.make(Op::LOAD, exact, {results, each}), each);
  }

  Graph& g_;
  Schedule& s_;
  Kernel& kernel_;
  std::vector<Kernel>& made_;
  Bounds bounds_;
  RangeIds ids_;
};

}  // namespace

void split_reduce(Graph& g, Schedule& s) {
  insert_kernels(g, s,
                 [&](Kernel& k, const Facts& facts, std::vector<Kernel>& made) { ReduceSplitter(g, s, k, facts, made).run(); });
}

}  // namespace kiln::compiler
