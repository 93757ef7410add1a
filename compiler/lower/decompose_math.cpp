#include "compiler/lower/decompose_math.h"

#include <vector>

#include "compiler/lower/rewrite.h"
#include "compiler/math/expand_math.h"

namespace kiln::compiler {

Id decompose_math(Graph& g, Id sink, const Target& target) {
  const Id expanded = rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    const Op op = g.op(id);
    const DType d = g.dtype(id);
    if (!is_math(op)) return no_id;
    if (d != DType::f16 && d != DType::bf16) return expand_math(g, op, d, x);
    std::vector<Id> wide;
    for (const Id s : x) wide.push_back(g.make(Op::CAST, DType::f32, {s}));
    return g.make(Op::CAST, d, {expand_math(g, op, DType::f32, wide)});
  });
  if (target.has_scale()) return expanded;
  return rewrite(g, expanded, [&](Id id, std::span<const Id> x) -> Id {
    return g.op(id) == Op::SCALE ? expand_math(g, Op::SCALE, g.dtype(id), x) : no_id;
  });
}

}  // namespace kiln::compiler
