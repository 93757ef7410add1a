#include "compiler/math/expand_math.h"

#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "compiler/math/emit.h"

namespace kiln::compiler {
namespace {

Id expanded(Graph& g, Op op, std::span<const Id> operands) {
  const Value x{&g, operands[0]};
  switch (op) {
    case Op::EXP: return expand_exp(x).id;
    case Op::EXP2: return expand_exp2(x).id;
    case Op::EXPM1: return expand_expm1(x).id;
    case Op::LOG: return expand_log(x).id;
    case Op::LOG2: return expand_log2(x).id;
    case Op::LOG10: return expand_log10(x).id;
    case Op::CBRT: return expand_cbrt(x).id;
    case Op::SIGMOID: return expand_sigmoid(x).id;
    case Op::LOG1P: return expand_log1p(x).id;
    case Op::SIN: return expand_sin(x).id;
    case Op::COS: return expand_cos(x).id;
    case Op::TAN: return expand_tan(x).id;
    case Op::ASIN: return expand_asin(x).id;
    case Op::ACOS: return expand_acos(x).id;
    case Op::ATAN: return expand_atan(x).id;
    case Op::SINH: return expand_sinh(x).id;
    case Op::COSH: return expand_cosh(x).id;
    case Op::ASINH: return expand_asinh(x).id;
    case Op::ACOSH: return expand_acosh(x).id;
    case Op::ATANH: return expand_atanh(x).id;
    case Op::TANH: return expand_tanh(x).id;
    case Op::ERF: return expand_erf(x).id;
    case Op::SCALE: return expand_scale(x, {&g, operands[1]}).id;
    case Op::POW: return expand_pow(x, {&g, operands[1]}).id;
    case Op::ATAN2: return expand_atan2(x, {&g, operands[1]}).id;
    case Op::FMOD: return expand_fmod(x, {&g, operands[1]}).id;
    case Op::RSQRT: return (real(x, 1) / sqrt(x)).id;
    default: throw std::logic_error("expand_math: not a transcendental");
  }
}

}  // namespace

// The expansion is made in a graph of its own and then copied in a fixed order. The C++ compiler chooses the order in which the
// terms of an expression are evaluated, so it would choose the order of new nodes too.
Id expand_math(Graph& g, Op op, DType d, std::span<const Id> operands) {
  Graph apart;
  std::vector<Id> places;
  for (std::size_t i = 0; i < operands.size(); ++i) places.push_back(apart.make(Op::BUFFER, d, {}, {i}));
  const Id root = expanded(apart, op, places);
  std::unordered_map<Id, Id> now;
  std::vector<Id> src;
  for (const Id id : apart.in_order(root)) {
    if (apart.op(id) == Op::BUFFER) {
      now[id] = operands[apart.slot(id)];
      continue;
    }
    src.clear();
    for (const Id s : apart.src(id)) src.push_back(now.at(s));
    now[id] = g.make(apart.op(id), apart.dtype(id), src, apart.args(id));
  }
  return now.at(root);
}

Symmetry symmetry(Op op) {
  switch (op) {
    case Op::SIN:
    case Op::TAN:
    case Op::ASIN:
    case Op::ATAN:
    case Op::SINH:
    case Op::TANH:
    case Op::ASINH:
    case Op::ATANH:
    case Op::ERF:
    case Op::CBRT: return Symmetry::odd;
    case Op::COS:
    case Op::COSH: return Symmetry::even;
    default: return Symmetry::none;
  }
}

}  // namespace kiln::compiler
