#include "compiler/lower/linear_index.h"

#include <algorithm>
#include <array>
#include <vector>

#include "compiler/lower/index_vector.h"

namespace kiln::compiler {
namespace {

// What the MIN or MAX keeps within bounds that are the same in all iterations; no_id: it is no such clamp.
Id clamped(const Graph& g, Id id) {
  if (g.op(id) != Op::MIN && g.op(id) != Op::MAX) return no_id;
  const auto moves = [&](Id x) {
    return std::ranges::any_of(g.reachable(std::vector{x}), [&](Id n) { return g.op(n) == Op::RANGE; });
  };
  const auto [a, b] = g.operands<2>(id);
  return moves(a) == moves(b) ? no_id : moves(a) ? a : b;
}

}  // namespace

LinearIndex linear_index(const Graph& g, Id index, bool within_clamps) {
  LinearIndex out;
  struct Part {
    Id id;
    std::int64_t factor;
  };
  std::vector<Part> open{{index, 1}};
  while (!open.empty()) {
    const auto [id, factor] = open.back();
    open.pop_back();
    std::int64_t product = 0, sum = 0;
    const Op op = g.op(id);
    const auto [a, b] = is_binary(op) ? g.operands<2>(id) : std::array{no_id, no_id};
    std::int64_t negated = 0;
    if (const Id inside = within_clamps ? clamped(g, id) : no_id; inside != no_id)
      open.push_back({inside, factor});
    else if (op == Op::ADD || (op == Op::SUB && !__builtin_sub_overflow(0, factor, &negated))) {
      open.push_back({a, factor});
      open.push_back({b, op == Op::SUB ? negated : factor});
    } else if (op == Op::MUL && g.is_const(b) && !__builtin_mul_overflow(factor, g.value(b), &product)) {
      open.push_back({a, product});
    } else if (g.is_const(id) && !__builtin_mul_overflow(factor, g.value(id), &product) &&
               !__builtin_add_overflow(out.constant, product, &sum)) {
      out.constant = sum;
    } else if (!__builtin_add_overflow(out.terms[id], factor, &sum)) {
      out.terms[id] = sum;
    } else {
      return {{{index, 1}}, 0};
    }
  }
  std::erase_if(out.terms, [](const auto& term) { return term.second == 0; });
  return out;
}

Id make_index(Graph& g, const LinearIndex& linear) {
  Id sum = g.index(0);
  for (const auto& [id, factor] : linear.terms) sum = add_index(g, sum, mul_index(g, id, g.index(factor)));
  return add_index(g, sum, g.index(linear.constant));
}

}  // namespace kiln::compiler
