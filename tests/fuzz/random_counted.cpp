// Makers of reductions over indices: counts, prefixes, bands, masks and selections along a new axis. The conditions are
// solvable for a compiler, or near misses (arithmetic that wraps, bounds from memory, negated and nested choices).
#include <algorithm>

#include "tests/fuzz/random_program.h"

namespace kiln::compiler::testing {
namespace {

// Values over x's axes and one more axis at the end, which is reduced.
class Counted {
 public:
  Counted(ProgramState& s, Id x) : s_(s), x_(x), shape_(s.b.shape_of(x)), n_(s.extent()) {
    static constexpr DType types[] = {DType::i32, DType::i32, DType::i64, DType::i8, DType::u8, DType::u32, DType::i16};
    position_ = s.draw.of(types);
  }

  Id make() {
    std::vector<Id> whole = shape_;
    whole.push_back(n_);
    if (shape_.size() > 3 || s_.elements(whole) > s_.most_elements * 20) return x_;
    static constexpr ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::sum, ReduceKind::sum, ReduceKind::sum, ReduceKind::any,
                                           ReduceKind::all, ReduceKind::max, ReduceKind::min, ReduceKind::prod};
    const ReduceKind kind = s_.draw.of(kinds);
    const bool truth = kind == ReduceKind::any || kind == ReduceKind::all;
    const DType d = s_.g.dtype(x_) == DType::boolean ? DType::i32 : s_.draw.one_in(3) ? s_.g.dtype(x_) : s_.draw.of(sums_);
    const Id v = s_.b.broadcast_to(truth ? condition(3) : value(d, 3), whole);
    const std::int64_t axes[] = {static_cast<std::int64_t>(shape_.size())};
    return s_.b.reduce(kind, v, axes);
  }

 private:
  Id along(std::size_t axis, DType d) {  // indices of an axis, which broadcast over all axes
    std::vector<Id> e(shape_.size() + 1, s_.g.index(1));
    e[axis] = axis < shape_.size() ? shape_[axis] : n_;
    return s_.b.reshape(s_.b.iota(d, e[axis]), e);
  }
  Id last() { return along(shape_.size(), position_); }
  Id outside(DType d) {  // a value that does not depend on the reduced axis
    std::vector<Id> e = shape_;
    e.push_back(s_.g.index(1));
    if (s_.draw.one_in(3)) return s_.b.reshape(s_.as(x_, d), e);
    if (!shape_.empty() && s_.draw.one_in(2))
      return along(static_cast<std::size_t>(s_.draw.below(static_cast<int>(shape_.size()))), d);
    return s_.number(d, s_.draw.between(is_unsigned_int(d) ? 0 : -3, 12));
  }
  Id inside(DType d) {  // an element for each index of the reduced axis, from a value that fits
    for (int attempt = 0; attempt < 4; ++attempt) {
      const Id y = s_.any();
      const std::vector<Id> shape = s_.b.shape_of(y);
      if (shape.size() == 1 && shape[0] == n_) return s_.as(y, d);
    }
    return s_.draw.one_in(2) ? s_.as(last(), d) : s_.b.elementwise(Op::MUL, {s_.as(last(), d), outside(d)});
  }

  Id side(Id v) {
    if (s_.draw.one_in(3)) {
      const Op op = s_.draw.one_in(2) ? Op::ADD : Op::SUB;
      v = s_.b.elementwise(op, {v, outside(position_)});
    }
    if (s_.draw.one_in(4)) v = s_.b.elementwise(Op::MUL, {v, s_.number(position_, s_.draw.between(1, 4))});
    return v;
  }
  Id condition(int depth) {
    if (depth > 0 && s_.draw.one_in(3)) {
      const Op op = s_.draw.one_in(2) ? Op::AND : Op::OR;
      return s_.b.elementwise(op, {condition(depth - 1), condition(depth - 1)});
    }
    if (depth > 0 && s_.draw.one_in(5)) return s_.b.elementwise(Op::NOT, {condition(depth - 1)});
    static constexpr Op ops[] = {Op::LT, Op::LE, Op::LT, Op::LE, Op::EQ, Op::EQ, Op::NE};
    const Op op = s_.draw.of(ops);
    if (s_.draw.one_in(8)) return s_.b.elementwise(op, {outside(position_), outside(position_)});
    const Id r = side(last()), y = side(outside(position_));
    return s_.draw.one_in(2) ? s_.b.elementwise(op, {r, y}) : s_.b.elementwise(op, {y, r});
  }

  Id value(DType d, int depth) {
    const int kind = s_.draw.below(depth > 0 ? 10 : 3);
    if (kind == 0) return s_.special(d);
    if (kind == 1) return outside(d);
    if (kind == 2) return inside(d);
    if (kind < 6) {
      const Id a = value(d, depth - 1), b = s_.draw.below(4) != 0 ? s_.number(d, 0) : value(d, depth - 1);
      const Id c = condition(2);
      return s_.draw.one_in(3) ? s_.b.elementwise(Op::WHERE, {c, b, a}) : s_.b.elementwise(Op::WHERE, {c, a, b});
    }
    if (kind == 6) return s_.as(condition(2), d);
    if (kind == 7) return s_.b.elementwise(Op::MUL, {value(d, depth - 1), s_.as(condition(2), d)});
    static constexpr Op ops[] = {Op::ADD, Op::SUB, Op::MUL};
    const Op op = s_.draw.of(ops);
    return s_.b.elementwise(op, {value(d, depth - 1), value(d, depth - 1)});
  }

  static constexpr DType sums_[] = {DType::i32, DType::i64, DType::f32, DType::f32,
                                    DType::u8,  DType::i8,  DType::f16, DType::f64};
  ProgramState& s_;
  Id x_;
  std::vector<Id> shape_;
  Id n_;
  DType position_;
};

Id counted(ProgramState& s, Id x) { return Counted(s, x).make(); }

}  // namespace

std::vector<WeightedMaker> counting_makers() { return {{counted, 4}}; }

}  // namespace kiln::compiler::testing
