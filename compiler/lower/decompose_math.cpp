#include "compiler/lower/decompose_math.h"

#include <vector>

#include "compiler/lower/rewrite.h"
#include "compiler/math/expand_math.h"

namespace kiln::compiler {
namespace {

struct Signed {
  Id x;
  bool minus;
};

// The value is x or -x. Looks through products and quotients, at most `depth` of them on each other.
Signed without_minus(Graph& g, Id id, int depth = 4) {
  const Op op = g.op(id);
  if (op == Op::NEG) {
    const Signed inner = without_minus(g, g.operand(id), depth);
    return {inner.x, !inner.minus};
  }
  if ((op != Op::MUL && op != Op::FDIV) || depth == 0) return {id, false};
  const auto [a, b] = g.operands<2>(id);
  const Signed left = without_minus(g, a, depth - 1);
  const Signed right = without_minus(g, b, depth - 1);
  if (left.x == a && right.x == b) return {id, false};
  return {g.make(op, g.dtype(id), {left.x, right.x}), left.minus != right.minus};
}

Id expanded(Graph& g, Op op, DType d, std::span<const Id> x) {
  if (d != DType::f16 && d != DType::bf16) return expand_math(g, op, d, x);
  std::vector<Id> wide;
  for (const Id s : x) wide.push_back(g.make(Op::CAST, DType::f32, {s}));
  return g.make(Op::CAST, d, {expand_math(g, op, DType::f32, wide)});
}

}  // namespace

Id decompose_math(Graph& g, Id sink, const Target& target) {
  const Id basic = rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    const Op op = g.op(id);
    const DType d = g.dtype(id);
    if (!is_math(op)) return no_id;
    const Symmetry form = symmetry(op);
    if (form == Symmetry::none) return expanded(g, op, d, x);
    const Signed argument = without_minus(g, x[0]);
    const Id value = expanded(g, op, d, {{argument.x}});
    return argument.minus && form == Symmetry::odd ? g.make(Op::NEG, d, {value}) : value;
  });
  if (target.has_scale()) return basic;
  return rewrite(g, basic, [&](Id id, std::span<const Id> x) -> Id {
    return g.op(id) == Op::SCALE ? expand_math(g, Op::SCALE, g.dtype(id), x) : no_id;
  });
}

}  // namespace kiln::compiler
