#include "compiler/lower/decompose_half.h"

#include <vector>

#include "compiler/lower/rewrite.h"

namespace kiln::compiler {
namespace {

bool is_half(DType d) { return d == DType::f16 || d == DType::bf16; }

Id sign_bits(Graph& g, Op op, DType d, Id x) {
  const Id u = g.make(Op::BITCAST, DType::u16, {x});
  const Id changed = op == Op::NEG ? g.make(Op::XOR, DType::u16, {u, g.constant(DType::u16, 0x8000)})
                                   : g.make(Op::AND, DType::u16, {u, g.constant(DType::u16, 0x7fff)});
  return g.make(Op::BITCAST, d, {changed});
}

}  // namespace

Id decompose_half(Graph& g, Id sink) {
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    const Op op = g.op(id);
    if (!is_elementwise(op) || op == Op::CAST || op == Op::BITCAST || op == Op::WHERE) return no_id;
    const DType d = g.dtype(x[0]);
    if (!is_half(d)) return no_id;
    if (op == Op::NEG || op == Op::ABS) return sign_bits(g, op, d, x[0]);
    if (op == Op::MIN || op == Op::MAX) return no_id;  // exact on the narrow type: they select an operand
    std::vector<Id> wide;
    for (const Id s : x) wide.push_back(g.make(Op::CAST, DType::f32, {s}));
    if (is_comparison(op)) return g.make(op, DType::boolean, wide);
    return g.make(Op::CAST, d, {g.make(op, DType::f32, wide)});
  });
}

}  // namespace kiln::compiler
