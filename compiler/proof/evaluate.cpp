#include "compiler/proof/evaluate.h"

#include <algorithm>
#include <vector>

namespace kiln::compiler {
namespace {

using Wide = __int128;

Wide floored(Wide a, Wide b) {
  if (b == 0) return 0;
  const Wide q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

std::optional<Wide> product(Wide a, Wide b) {
  Wide v = 0;
  return __builtin_mul_overflow(a, b, &v) ? std::nullopt : std::optional(v);
}

std::optional<Wide> apply(Op op, Wide a, Wide b) {
  Wide v = 0;
  switch (op) {
    case Op::ADD: return __builtin_add_overflow(a, b, &v) ? std::nullopt : std::optional(v);
    case Op::SUB: return __builtin_sub_overflow(a, b, &v) ? std::nullopt : std::optional(v);
    case Op::MUL: return product(a, b);
    case Op::FLOORDIV: return floored(a, b);
    case Op::FLOORMOD: return b == 0 ? 0 : a - floored(a, b) * b;
    case Op::CDIV: return b == 0 ? 0 : a / b;
    case Op::CMOD: return b == 0 ? 0 : a % b;
    case Op::MIN: return std::min(a, b);
    case Op::MAX: return std::max(a, b);
    case Op::LT: return a < b ? 1 : 0;
    case Op::LE: return a <= b ? 1 : 0;
    case Op::EQ: return a == b ? 1 : 0;
    case Op::NE: return a != b ? 1 : 0;
    case Op::AND: return a & b;
    case Op::OR: return a | b;
    case Op::XOR: return a ^ b;
    case Op::SHL: return b < 0 || b > 64 ? std::nullopt : product(a, Wide{1} << b);
    case Op::SHR: return b < 0 ? std::nullopt : std::optional(a >> std::min<Wide>(b, 127));
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<Wide> evaluate_exactly(const Graph& g, Id root, const Point& point) {
  const Id roots[] = {root};
  std::vector<Wide> values(root + 1);
  for (Id id : g.reachable(roots)) {
    const auto at = [&](std::size_t i) { return values[g.src(id, i)]; };
    std::optional<Wide> v;
    switch (g.op(id)) {
      case Op::CONST: v = g.arg(id, 0); break;
      case Op::SYM: v = point.at(id); break;
      case Op::NEG: v = -at(0); break;
      case Op::ABS: v = at(0) < 0 ? -at(0) : at(0); break;
      case Op::NOT: v = at(0) == 0 ? 1 : 0; break;
      case Op::WHERE: v = at(0) != 0 ? at(1) : at(2); break;
      default: v = g.src(id).size() == 2 ? apply(g.op(id), at(0), at(1)) : std::nullopt;
    }
    if (!v) return std::nullopt;
    values[id] = *v;
  }
  return values[root];
}

}  // namespace kiln::compiler
