// Emit: makes the nodes of derivatives, with NumPy's broadcasting. Floats only, unless a function says otherwise.
#pragma once

#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "compiler/ir/builder.h"

namespace kiln::compiler::autodiff {

using Axes = std::vector<std::int64_t>;
using Extents = std::vector<Id>;

class Emit {
 public:
  explicit Emit(Graph& graph) : g(graph), b(graph) { b.trust_bounds(); }

  Graph& g;
  Builder b;
  // The values that derivatives of derivatives are by. No rule puts their operands in their place: the derivative of the result
  // by such a value would miss a part of the result.
  std::unordered_set<Id> origins;

  Extents shape(Id x) { return b.shape_of(x); }
  std::size_t rank(Id x) { return b.shapes()(x).size(); }
  bool is_one(Id extent) const { return g.is_index_const(extent, 1); }

  Id number(DType d, double value);  // rank 0
  Id zeros(DType d, const Extents& shape);
  // The value of a CONST, also behind operations that only move or convert it.
  std::optional<double> constant_of(Id x) const;

  Id neg(Id x) { return b.elementwise(Op::NEG, {x}); }
  Id add(Id x, Id y) { return b.elementwise(Op::ADD, {x, y}); }
  Id sub(Id x, Id y) { return b.elementwise(Op::SUB, {x, y}); }
  Id mul(Id x, Id y) { return b.elementwise(Op::MUL, {x, y}); }
  Id div(Id x, Id y) { return b.elementwise(Op::FDIV, {x, y}); }
  Id fma(Id x, Id y, Id z) { return b.elementwise(Op::FMA, {x, y, z}); }
  Id where(Id c, Id x, Id y) { return b.elementwise(Op::WHERE, {c, x, y}); }
  Id both(Id c, Id d) { return b.elementwise(Op::AND, {c, d}); }
  Id less(Id x, Id y) { return b.elementwise(Op::LT, {x, y}); }
  Id equal(Id x, Id y) { return b.elementwise(Op::EQ, {x, y}); }
  // t * d. A t that is the constant 1 is not multiplied.
  Id times(Id t, Id d);
  // Where c, x, else 0.
  Id masked(Id c, Id x) { return where(c, x, number(g.dtype(x), 0)); }

  // The sum in the order of the list; f16 and bf16 are added in f32 and rounded once.
  Id sum(std::span<const Id> terms);
  Id sum_over(Id x, const Axes& axes) { return axes.empty() ? x : b.reduce(ReduceKind::sum, x, axes); }
  Id sum_all(Id x);

  Id reshape(Id x, const Extents& to);
  Id permute(Id x, const Axes& axes);
  // One axis of x; the other axes stay.
  Id slice_axis(Id x, std::size_t axis, Id begin, std::int64_t step, Id extent);
  Id pad_axis(Id x, std::size_t axis, Id before, Id extent);
  // The transpose of slice_axis: 0 in the elements of an axis of extent n that the slice leaves out.
  Id unslice_axis(Id x, std::size_t axis, Id begin, std::int64_t step, Id n);
  // The axis becomes 1 with its sum, or gets extent n by repeating its only element.
  Id sum_axis(Id x, std::size_t axis);
  Id repeat_axis(Id x, std::size_t axis, Id n);
  // 0, 1, ... along the axis, i64, of a shape that broadcasts to tensors of this rank.
  Id iota_along(std::size_t axis, std::size_t rank, Id extent);
};

inline bool is_half(DType d) { return d == DType::f16 || d == DType::bf16; }

}  // namespace kiln::compiler::autodiff
