// Rules for shifts and bitwise operations on index values, as 64-bit two's complement.
#include <bit>

#include "compiler/symbolic/find.h"

namespace kiln::compiler::symbolic {
namespace {

// Finds a constant operand `mask` and the other operand x.
bool find_masked(RewriteContext& c, Id n, Id& x, std::int64_t& mask) {
  if (!is_index(c.g, n)) return false;
  const auto [a, b] = c.g.operands<2>(n);
  for (const auto& [value, constant] : {std::pair(a, b), std::pair(b, a)}) {
    const auto k = index_constant(c.g, constant);
    if (!k) continue;
    x = value;
    mask = *k;
    return true;
  }
  return false;
}

bool find_low_mask(RewriteContext& c, Id n, Match& m) {
  Id x = no_id;
  std::int64_t mask = 0;
  return find_masked(c, n, x, mask) && mask > 0 && mask < unbounded && (mask & (mask + 1)) == 0 &&
         m.bind({x, c.g.index(mask), c.g.index(std::popcount(static_cast<std::uint64_t>(mask)))});
}

// (x & mask) // p, where the mask clears only bits below p.
bool find_masked_div(RewriteContext& c, Id n, Match& m) {
  const auto [a, divisor] = c.g.operands<2>(n);
  const auto p = is_index(c.g, n) ? index_constant(c.g, divisor) : std::nullopt;
  Id x = no_id;
  std::int64_t mask = 0;
  if (!p || *p <= 0 || (*p & (*p - 1)) != 0 || c.g.op(a) != Op::AND || !find_masked(c, a, x, mask)) return false;
  return m.bind({x, c.g.index(mask), c.g.index(std::countr_zero(static_cast<std::uint64_t>(*p)))});
}

// Finds shifts by a constant. 1 << k with another k is no factor that sums can use.
bool find_shift(RewriteContext& c, Id n, Match& m) {
  const auto [x, k] = c.g.operands<2>(n);
  return is_index(c.g, n) && index_constant(c.g, k) && m.bind({x, k});
}

constexpr Rule bit_table[] = {
    {"shl-product", "x << k", "0 <= k and k < 62", "x * (1 << k)", find_shift},
    {"shr-quotient", "x >> k", "0 <= k and k < 62", "x // (1 << k)", find_shift},
    {"and-0", "x & 0", "", "0"},
    {"and-ones", "x & -1", "", "x"},
    {"and-same", "x & x", "", "x"},
    {"or-0", "x | 0", "", "x"},
    {"or-ones", "x | -1", "", "-1"},
    {"or-same", "x | x", "", "x"},
    {"xor-0", "x ^ 0", "", "x"},
    {"xor-ones", "x ^ -1", "", "-1 - x"},
    {"xor-same", "x ^ x", "", "0"},
    {"xor-twice", "(x ^ y) ^ y", "", "x"},
    {"and-low-mask", "x & m", "m + 1 == 1 << k and 0 <= k and k < 62", "x % (1 << k)", find_low_mask},
    {"div-of-mask", "(x & m) // (1 << k)", "(m | ((1 << k) - 1)) == -1 and 0 <= k and k < 62", "x // (1 << k)",
     find_masked_div},
};

}  // namespace

std::span<const Rule> bit_rules() { return bit_table; }

}  // namespace kiln::compiler::symbolic
