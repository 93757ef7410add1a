#include "compiler/codegen/zero_signs.h"

#include <ranges>
#include <tuple>

#include "compiler/codegen/float_values.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {

bool is_nonzero_constant(const Graph& g, Id id) {
  const Id c = float_constant(g, id);
  const DType d = g.dtype(id);
  return c != no_id && (d == DType::f32 || d == DType::f64) && !float_of(g, c).isZero();
}

// Whether a change of the operand from one zero to the other changes the result at most in the same way.
bool passes_zeros(Op op, std::size_t operand) {
  switch (op) {
    case Op::ADD:
    case Op::SUB:
    case Op::MUL:
    case Op::FMA:
    case Op::NEG:
    case Op::MIN:
    case Op::MAX:
    case Op::SQRT:
    case Op::BROADCAST:
    case Op::SHUFFLE:
    case Op::LANE: return true;
    case Op::FDIV: return operand == 0;
    case Op::WHERE: return operand > 0;
    default: return false;
  }
}

}  // namespace

ZeroSigns::ZeroSigns(const Graph& g, const Scopes& scopes)
    : g_(g), scopes_(scopes), unseen_(scopes.of.size(), true), extrema_(scopes.of.size()) {
  for (const Id user : scopes.nodes | std::views::reverse) {
    const auto src = g.src(user);
    for (std::size_t i = 0; i < src.size(); ++i) {
      const bool passes = passes_zeros(g.op(user), i) && unseen_[user];
      if (!passes && !hides(user, i)) unseen_[nth(src, i)] = false;
    }
    if ((g.op(user) == Op::MIN || g.op(user) == Op::MAX) && unseen_[user])
      for (const Id s : src) ++extrema_[s];
  }
}

bool ZeroSigns::hides(Id user, std::size_t operand) const {
  switch (g_.op(user)) {
    case Op::ADD:
    case Op::SUB: return is_nonzero_constant(g_, g_.src(user, 1 - operand));
    case Op::FMA: return operand < 2 && is_nonzero_constant(g_, g_.src(user, 2));
    case Op::LT:
    case Op::LE:
    case Op::EQ:
    case Op::NE:
    case Op::ABS: return true;
    case Op::CAST: return !is_float(g_.dtype(user));
    default: return false;
  }
}

std::size_t ZeroSigns::tested(Id extremum) const {
  const auto [x, y] = g_.operands<2>(extremum);
  if (may_be_nan(g_, x) != may_be_nan(g_, y)) return may_be_nan(g_, x) ? 1 : 0;
  const auto depth = [&](Id id) { return nth(scopes_.loops, scopes_.of[id]).depth; };
  return std::tuple(depth(x), -extrema_[x], x) <= std::tuple(depth(y), -extrema_[y], y) ? 0 : 1;
}

}  // namespace kiln::compiler
