#include "compiler/schedule/split_columns.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/range_ids.h"
#include "compiler/rangeify/index_expr.h"
#include "compiler/schedule/each_kernel.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/schedule/packed_operand.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t lanes = 16;                 // of the widest vectors
constexpr std::int64_t most_of_rest = 4;           // columns: more of them take as long as a vector
constexpr std::int64_t most_columns = 256;         // of more, the last vector is a small part
constexpr std::int64_t fewest_column_lanes = 64;   // rows: they are the lanes of the last columns
constexpr std::int64_t fewest_terms = 64;          // of a sum: fewer take less time than three more kernels
constexpr std::int64_t fewest_products = 1 << 16;  // of a column

class ColumnSplitter {
 public:
  ColumnSplitter(Graph& g, Schedule& s, Kernel& k, Simplifier& simplify)
      : g_(g), s_(s), kernel_(k), simplify_(simplify), ids_(g, k.sink) {}

  void run(std::vector<Kernel>& made) {
    if (!find()) return;
    const LocScope of_sum(g_, g_.loc(reduce_));
    const std::int64_t all = g_.value(g_.end(column_)), rest = all % lanes;
    const Id last = ids_.range(g_, g_.index(rest), RangeKind::loop), at = index_add(g_, last, g_.index(all - rest));
    made.push_back(copied(last, at));
    made.push_back(summed(last));
    made.push_back(first_columns(all - rest));
    // This kernel stores the last columns.
    const Id sums = slot_of(sums_), sum_at = place(last, row_);
    const Id sum = g_.make(Op::LOAD, DType::f32, {sums, sum_at});
    kernel_.sink = changed(kernel_.sink, {{reduce_, sum}, {column_, at}}, last);
  }

 private:
  bool find() {
    if (g_.src(kernel_.sink).size() != 1 || !may_store_twice(g_, kernel_) || !is_free(stored_buffer())) return false;
    std::vector<Id> loops;
    for (const Id r : loop_ranges_of(g_, kernel_))
      if (!g_.is_index_const(g_.end(r), 1)) loops.push_back(r);
    if (loops.size() != 2 || !g_.is_const(g_.end(loops[0])) || !g_.is_const(g_.end(loops[1]))) return false;
    row_ = loops[0];
    column_ = loops[1];
    const std::int64_t columns = g_.value(g_.end(column_)), rest = columns % lanes;
    if (columns < lanes || columns > most_columns || rest == 0 || rest > most_of_rest) return false;
    if (g_.value(g_.end(row_)) < fewest_column_lanes) return false;
    for (const Id id : g_.reachable(kernel_.sink)) {
      if (g_.op(id) != Op::REDUCE) continue;
      if (reduce_ != no_id) return false;
      reduce_ = id;
    }
    return reduce_ != no_id && g_.reduce_kind(reduce_) == ReduceKind::fma && g_.dtype(reduce_) == DType::f32 && has_operands();
  }

  // Finds the two operands, and the terms: the ranges of the REDUCE.
  bool has_operands() {
    const std::size_t operands = operands_of(ReduceKind::fma);
    for (const Id s : g_.sources(reduce_, operands)) {
      if (g_.op(s) != Op::RANGE || !g_.is_const(g_.end(s)) || g_.value(g_.end(s)) < 1) return false;
      if (g_.value(g_.end(s)) > 1)
        terms_.push_back(s);
      else
        single_[s] = g_.index(0);
    }
    for (const Id s : g_.src(reduce_).first(operands)) {
      if (g_.op(s) != Op::LOAD || g_.dtype(s) != DType::f32 || g_.src(s).size() != 2) return false;
      const std::vector<Id> below = g_.reachable(s);
      const bool of_row = std::ranges::binary_search(below, row_), of_column = std::ranges::binary_search(below, column_);
      if (of_row == of_column) return false;
      (of_row ? left_ : right_) = s;
    }
    if (left_ == no_id || right_ == no_id || distance_along(g_, index_of(right_), column_) != 1) return false;
    for (auto r = terms_.rbegin(); r != terms_.rend(); ++r) {
      if (distance_along(g_, index_of(left_), *r) != length_) return false;
      length_ *= g_.value(g_.end(*r));
    }
    return length_ >= fewest_terms && length_ * g_.value(g_.end(row_)) >= fewest_products;
  }

  // Stores the right operand's last columns: p[terms, last].
  Kernel copied(Id last, Id at) {
    operand_ = new_buffer(index_mul(g_, g_.index(length_), g_.end(last)));
    std::unordered_map<Id, Id> as_loops = single_;
    as_loops[column_] = at;
    std::vector<Id> ranges, extents;
    for (const Id r : terms_) {
      extents.push_back(g_.end(r));
      ranges.push_back(as_loops[r] = ids_.range(g_, g_.end(r), RangeKind::loop));
    }
    extents.push_back(g_.end(last));
    ranges.push_back(last);
    const Id index = simplify_(row_major(g_, ranges, extents)), value = simplify_(substitute(g_, right_, as_loops));
    return stored(operand_, index, value, ranges);
  }

  // Stores the sums of the last columns: q[last, row].
  Kernel summed(Id last) {
    sums_ = new_buffer(index_mul(g_, g_.end(last), g_.end(row_)));
    const Id term = ids_.range(g_, g_.index(length_), RangeKind::reduce);
    std::unordered_map<Id, Id> in_one = single_;
    in_one[terms_.back()] = term;
    for (std::size_t i = 0; i + 1 < terms_.size(); ++i) in_one[terms_[i]] = g_.index(0);
    const Id left = simplify_(substitute(g_, left_, in_one));
    const Id at = index_add(g_, index_mul(g_, term, g_.end(last)), last);
    const Id operand = slot_of(operand_), operand_at = simplify_(at);
    const Id right = g_.make(Op::LOAD, DType::f32, {operand, operand_at});
    const bool left_first = g_.src(reduce_, 0) == left_;
    const std::vector<Id> sources{left_first ? left : right, left_first ? right : left, term};
    const Id sum = g_.with_src(reduce_, sources), to = place(last, row_);
    return stored(sums_, to, sum, {last, row_});
  }

  Kernel first_columns(std::int64_t columns) {
    const Id column = ids_.range(g_, g_.index(columns), RangeKind::loop);
    Kernel k;
    k.buffers = kernel_.buffers;
    k.sink = changed(kernel_.sink, {{column_, column}}, column);
    return k;
  }

  // The kernel with these values; a new range takes the place of the columns' range.
  Id changed(Id sink, const std::unordered_map<Id, Id>& values, Id columns) {
    Kernel k = kernel_;
    k.sink = sink;
    rewrite_kernel(g_, k, {values, {{column_, {columns}}}});
    simplify_uses(g_, k, simplify_);
    return k.sink;
  }

  Id index_of(Id load) const { return g_.src(load, 1); }
  Id place(Id last, Id row) { return simplify_(index_add(g_, index_mul(g_, last, g_.end(row)), row)); }

  int stored_buffer() const { return nth(kernel_.buffers, g_.slot(g_.state(g_.store(g_.src(kernel_.sink, 0))))); }

  // Whether no kernel needs what was in the buffer before.
  bool is_free(int buffer) const {
    const Buffer& b = nth(s_.buffers, buffer);
    return b.after < 0 && (b.param < 0 || nth(s_.program.params, b.param).direction == Direction::out);
  }

  int new_buffer(Id size) {
    s_.buffers.push_back({DType::f32, size, -1, no_id});
    kernel_.buffers.push_back(count_of(s_.buffers) - 1);
    return count_of(kernel_.buffers) - 1;
  }
  Id slot_of(int buffer) { return g_.make(Op::BUFFER, DType::f32, {}, {buffer}); }

  Kernel stored(int buffer, Id index, Id value, const std::vector<Id>& ranges) {
    Kernel k;
    k.buffers = kernel_.buffers;
    k.sink = sink_of_store(g_, slot_of(buffer), index, value, ranges);
    return k;
  }

  Graph& g_;
  Schedule& s_;
  Kernel& kernel_;
  Simplifier& simplify_;
  RangeIds ids_;
  Id row_ = no_id, column_ = no_id, reduce_ = no_id, left_ = no_id, right_ = no_id;
  std::vector<Id> terms_;              // ranges of the REDUCE with several iterations
  std::unordered_map<Id, Id> single_;  // its other ranges, which are 0
  std::int64_t length_ = 1;            // terms of a sum
  int operand_ = -1, sums_ = -1;       // places in the kernel's buffers
};

}  // namespace

void split_columns(Graph& g, Schedule& s) {
  const Facts facts = facts_of(s.program);
  Simplifier simplify(g, facts);
  insert_kernels(g, s, [&](Kernel& k, const Facts&, std::vector<Kernel>& made) {
    if (!k.is_explicit && !has_tile_steps(g, k.sink)) ColumnSplitter(g, s, k, simplify).run(made);
  });
}

}  // namespace kiln::compiler
