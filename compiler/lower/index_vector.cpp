#include "compiler/lower/index_vector.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "compiler/ir/index_operation.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {
namespace {

std::optional<std::int64_t> fold(Op op, std::int64_t a, std::int64_t b) {
  const bool is_sum = op == Op::ADD || op == Op::SUB || op == Op::MUL;
  return is_sum || is_extent_operation(op) ? evaluate_index(op, a, b) : std::nullopt;
}

Id scalar_binary(Graph& g, Op op, Id a, Id b) {
  if ((op == Op::ADD || op == Op::MUL) && g.is_const(a)) std::swap(a, b);  // so that equal sums are one node
  if (g.is_const(a) && g.is_const(b))
    if (const auto r = fold(op, g.value(a), g.value(b))) return g.index(*r);
  if ((op == Op::ADD || op == Op::SUB) && g.is_index_const(b, 0)) return a;
  if ((op == Op::MUL || op == Op::FLOORDIV) && g.is_index_const(b, 1)) return a;
  if (op == Op::MUL && g.is_index_const(b, 0)) return g.index(0);
  if (op == Op::FLOORMOD && g.is_index_const(b, 1)) return g.index(0);
  return g.make(op, DType::index, {a, b});
}

// A vector as base + stride * lane; nullopt: it has no such form.
struct Affine {
  Id base;
  std::int64_t stride;
};
std::optional<Affine> affine(const Graph& g, Id id) {
  if (g.lanes(id) == 1) return Affine{id, 0};
  if (g.op(id) == Op::RAMP) return Affine{g.operand(id), g.stride(id)};
  if (g.op(id) == Op::BROADCAST) return Affine{g.operand(id), 0};
  return std::nullopt;
}

std::optional<Affine> combine(Graph& g, Op op, const Affine& a, const Affine& b) {
  std::optional<std::int64_t> stride;
  if (op == Op::ADD || op == Op::SUB) {
    stride = fold(op, a.stride, b.stride);
  } else if (op == Op::MUL) {
    if (b.stride == 0 && g.is_const(b.base))
      stride = fold(op, a.stride, g.value(b.base));
    else if (a.stride == 0 && g.is_const(a.base))
      stride = fold(op, b.stride, g.value(a.base));
  } else if (a.stride == 0 && b.stride == 0) {
    stride = 0;
  }
  if (!stride) return std::nullopt;
  return Affine{scalar_binary(g, op, a.base, b.base), *stride};
}

}  // namespace

Id widen_lanes(Graph& g, Id value, int lanes) {
  if (g.lanes(value) == lanes) return value;
  if (g.is_const(value)) return g.constant(g.dtype(value), static_cast<std::uint64_t>(g.value(value)), lanes);
  return g.make(Op::BROADCAST, g.dtype(value), {value}, {}, {}, lanes);
}

Id ramp(Graph& g, Id base, std::int64_t stride, int lanes) {
  if (stride == 0) return widen_lanes(g, base, lanes);
  return g.make(Op::RAMP, g.dtype(base), {base}, {stride}, {}, lanes);
}

Id lane_mask(Graph& g, Id position, Id end, int lanes) {
  const Id most = g.index(lanes);
  const Id left = index_binary(g, Op::MIN, sub_index(g, end, position), most);
  const bool is_known = g.is_const(left) && g.value(left) >= 0;
  const Id number =
      is_known ? g.constant(DType::i32, static_cast<std::uint64_t>(g.value(left))) : g.make(Op::CAST, DType::i32, {left});
  const Id narrow = widen_lanes(g, number, lanes);
  return g.make(Op::LT, DType::boolean, {ramp(g, g.constant(DType::i32, 0), 1, lanes), narrow}, {}, {}, lanes);
}

Id index_binary(Graph& g, Op op, Id a, Id b) {
  const int lanes = std::max(g.lanes(a), g.lanes(b));
  if (lanes == 1) return scalar_binary(g, op, a, b);
  const auto x = affine(g, a), y = affine(g, b);
  if (x && y)
    if (const auto r = combine(g, op, *x, *y)) return ramp(g, r->base, r->stride, lanes);
  return g.make(op, DType::index, {widen_lanes(g, a, lanes), widen_lanes(g, b, lanes)}, {}, {}, lanes);
}

Id product_reaches(Graph& g, std::span<const Id> factors, std::int64_t n) {
  const Id most = g.index(n), zero = g.index(0), one = g.index(1);
  Id product = one;
  for (const Id factor : factors) {
    const Id limited = index_binary(g, Op::MIN, index_binary(g, Op::MAX, factor, zero), most);
    product = index_binary(g, Op::MIN, mul_index(g, product, limited), most);
  }
  const Id above = sub_index(g, product, g.index(n - 1));
  return index_binary(g, Op::MIN, one, index_binary(g, Op::MAX, zero, above));
}

std::optional<std::int64_t> index_stride(const Graph& g, Id index, Id range) {
  std::unordered_map<Id, std::optional<std::int64_t>> strides;
  for (const Id id : g.reachable(index)) {
    std::optional<std::int64_t> stride = 0;
    bool depends = id == range;
    for (const Id s : g.src(id)) depends = depends || strides.at(s) != std::optional<std::int64_t>(0);
    if (id == range) {
      stride = 1;
    } else if (depends) {
      stride = std::nullopt;
      const Op op = g.op(id);
      if (op == Op::ADD || op == Op::SUB || op == Op::MUL) {
        const auto [x, y] = g.operands<2>(id);
        const auto a = strides.at(x), b = strides.at(y);
        if (op != Op::MUL && a && b)
          stride = fold(op, *a, *b);
        else if (op == Op::MUL && a && g.is_const(y))
          stride = fold(op, *a, g.value(y));
        else if (op == Op::MUL && b && g.is_const(x))
          stride = fold(op, *b, g.value(x));
      }
    }
    strides[id] = stride;
  }
  return strides.at(index);
}

}  // namespace kiln::compiler
