#include "compiler/codegen/float_values.h"

#include "compiler/ir/nth.h"

namespace kiln::compiler {

llvm::APFloat float_of(const Graph& g, Id constant) {
  const DType d = g.dtype(constant);
  const llvm::fltSemantics& semantics = d == DType::f64 ? llvm::APFloat::IEEEdouble() : llvm::APFloat::IEEEsingle();
  return {semantics, llvm::APInt(narrow<unsigned>(bits(d)), static_cast<std::uint64_t>(g.value(constant)))};
}

Id float_constant(const Graph& g, Id id) {
  while (g.op(id) == Op::BROADCAST) id = g.src(id, 0);
  return g.op(id) == Op::CONST ? id : no_id;
}

bool may_be_nan(const Graph& g, Id id) {
  if (g.op(id) == Op::BROADCAST) return may_be_nan(g, g.src(id, 0));
  if (g.op(id) == Op::CONST) return float_of(g, id).isNaN();
  return g.op(id) != Op::CAST || is_float(g.dtype(g.src(id, 0)));
}

}  // namespace kiln::compiler
