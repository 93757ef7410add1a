#include "compiler/math/expand.h"

#include <stdexcept>

#include "compiler/math/emit.h"

namespace kiln::compiler {

Id expand_math(Graph& g, Op op, DType, std::span<const Id> operands) {
  const Value x{&g, operands[0]};
  switch (op) {
    case Op::EXP: return expand_exp(x).id;
    case Op::EXP2: return expand_exp2(x).id;
    case Op::LOG: return expand_log(x).id;
    case Op::LOG2: return expand_log2(x).id;
    case Op::SIN: return expand_sin(x).id;
    case Op::COS: return expand_cos(x).id;
    case Op::TAN: return expand_tan(x).id;
    case Op::TANH: return expand_tanh(x).id;
    case Op::ERF: return expand_erf(x).id;
    case Op::POW: return expand_pow(x, {&g, operands[1]}).id;
    case Op::RSQRT: return (real(x, 1) / sqrt(x)).id;
    default: throw std::logic_error("expand_math: not a transcendental");
  }
}

}  // namespace kiln::compiler
