#include "compiler/symbolic/known_bits.h"

#include <algorithm>
#include <bit>

namespace kiln::compiler::symbolic {
namespace {

struct Bits {
  std::uint64_t zero = 0, one = 0;
  std::uint64_t known() const { return zero | one; }
};

constexpr std::uint64_t low_mask(int n) { return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; }

// Low bits are known from the residue, high bits from the common prefix of the interval's ends.
Bits bits_of(const Known& k) {
  const auto constant = [](std::int64_t v) { return Bits{~static_cast<std::uint64_t>(v), static_cast<std::uint64_t>(v)}; };
  if (k.residue.stride == 0) return constant(k.residue.offset);
  const std::uint64_t offset = static_cast<std::uint64_t>(k.residue.offset);
  std::uint64_t known = low_mask(std::countr_zero(static_cast<std::uint64_t>(k.residue.stride)));
  Bits b{~offset & known, offset & known};
  const Interval i = k.interval;
  if (i.min == -unbounded && i.max == unbounded) return b;
  if (i.min == -unbounded || i.max == unbounded) {  // only the sign is known
    const std::uint64_t sign = std::uint64_t{1} << 63;
    if (i.min >= 0) b.zero |= sign;
    if (i.max < 0) b.one |= sign;
    return b;
  }
  const std::uint64_t lo = static_cast<std::uint64_t>(i.min), hi = static_cast<std::uint64_t>(i.max);
  known = ~low_mask(64 - std::countl_zero(lo ^ hi));
  b.zero |= ~lo & known;
  b.one |= lo & known;
  return b;
}

// If the sign is known, the bounds follow: unknown bits are between all zero and all one.
Known known_of(Bits b) {
  const std::uint64_t sign = std::uint64_t{1} << 63;
  const int low = std::countr_one(b.known());
  Known k{anything, no_residue};
  const auto least = static_cast<std::int64_t>(b.one), greatest = static_cast<std::int64_t>(~b.zero);
  if (low >= 64) return known_constant(least);
  if (low > 0 && low < 62) k.residue = {std::int64_t{1} << low, least & ((std::int64_t{1} << low) - 1)};
  if ((b.known() & sign) == 0) return k;
  k.interval.min = std::clamp(least, -unbounded, unbounded);
  k.interval.max = std::clamp(greatest, -unbounded, unbounded);
  return k;
}

// A value may have more than 64 bits, so its highest known bit gives the sign but no bound of its size.
Known of_any_size(Known k) {
  if (k.interval.max >= 0) k.interval.max = unbounded;
  if (k.interval.min < 0) k.interval.min = -unbounded;
  return k;
}

bool is_bounded(const Known& k) { return k.interval.min > -unbounded && k.interval.max < unbounded; }

Bits combined(Op op, Bits x, Bits y) {
  if (op == Op::XOR) return {(x.zero & y.zero) | (x.one & y.one), (x.zero & y.one) | (x.one & y.zero)};
  if (op == Op::AND) return {x.zero | y.zero, x.one & y.one};
  return {x.zero & y.zero, x.one | y.one};
}

}  // namespace

Known bitwise(Op op, const Known& a, const Known& b) {
  Known k = known_of(combined(op, bits_of(a), bits_of(b)));
  if (!is_bounded(a) || !is_bounded(b)) k = of_any_size(k);
  if (op == Op::XOR) return k;
  if (op == Op::AND) {  // at most an operand that is not negative
    if (a.interval.min >= 0) k = intersected(k, {0, a.interval.max});
    if (b.interval.min >= 0) k = intersected(k, {0, b.interval.max});
  } else if (a.interval.min >= 0 && b.interval.min >= 0) {
    k = intersected(k, {std::max(a.interval.min, b.interval.min), unbounded});
  }
  return k;
}

}  // namespace kiln::compiler::symbolic
