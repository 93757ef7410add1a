// Rules for integers of a fixed width, with known intervals and products that must fit. simplify() does not use them.
#include "compiler/index/floor_div.h"
#include "compiler/symbolic/find.h"

namespace kiln::compiler::symbolic {
namespace {

// Multiplier m and shift s with x // d = (x * m) >> s for 0 <= x <= most (Granlund and Montgomery 1994): the smallest shift.
bool find_magic(RewriteContext& c, Id n, Match& m) {
  const auto [x, divisor] = c.g.operands<2>(n);
  const std::int64_t d = is_index(c.g, n) ? index_constant(c.g, divisor).value_or(0) : 0;
  const Interval i = c.bounds(x);
  if (d < 2 || i.min < 0 || i.max == unbounded || i.max < d) return false;
  for (int s = 0; s < 62; ++s) {
    const std::int64_t p = std::int64_t{1} << s, factor = ceil_div(p, d);
    std::int64_t error = 0, product = 0;
    if (__builtin_mul_overflow(factor * d - p, i.max, &error) || error >= p) continue;
    if (__builtin_mul_overflow(i.max, factor, &product) || product > unbounded) return false;
    return m.bind({x, divisor, c.g.index(factor), c.g.index(p), c.g.index(i.max)});
  }
  return false;
}

constexpr Rule concrete_table[] = {
    {"magic-division", "x // d",
     "0 <= x and x <= v and p <= m * d and (m * d - p) * v < p and d > 0 and v * m <= 4611686018427387904", "(x * m) // p",
     find_magic},
};

}  // namespace

std::span<const Rule> concrete_rules() { return concrete_table; }

}  // namespace kiln::compiler::symbolic
