#include "compiler/rangeify/exact_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/ir/literal.h"

namespace kiln::compiler {
namespace {

struct Accumulator {
  DType type;
  int digits;  // bits of the mantissa
};
Accumulator accumulator_of(DType d) { return d == DType::f64 ? Accumulator{d, 53} : Accumulator{DType::f32, 24}; }

std::uint64_t accumulator_bits(DType d, double x) {
  return d == DType::f64 ? std::bit_cast<std::uint64_t>(x) : std::bit_cast<std::uint32_t>(static_cast<float>(x));
}

int lowest_bit(double x) {  // exponent of the lowest set bit of a finite number that is not 0
  int e = 0;
  const double m = std::frexp(std::fabs(x), &e);
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(m, 53));
  return e - 53 + std::countr_zero(mantissa);
}

}  // namespace

Id exact_sum(Graph& g, DType d, std::span<const Repeated> numbers, std::int64_t most) {
  const Accumulator acc = accumulator_of(d);
  if (numbers.empty()) return g.constant(d, 0);
  double largest = 0;
  int unit = 2000;
  for (const Repeated& n : numbers) {
    const double x = float_value(d, static_cast<std::uint64_t>(g.value(n.constant)));
    if (!std::isfinite(x) || x == 0) return no_id;
    largest = std::max(largest, std::fabs(x));
    unit = std::min(unit, lowest_bit(x));
  }
  // A partial sum is a multiple of 2^unit, and at most (most * largest). So it is exact if the quotient fits the mantissa.
  const double bound = static_cast<double>(most) * largest;
  if (std::ldexp(bound, -unit) > std::ldexp(1.0, acc.digits) || bound > std::ldexp(1.0, acc.type == DType::f64 ? 1000 : 120))
    return no_id;
  Id sum = no_id;
  bool negative = false;
  for (const Repeated& n : numbers) {
    const double x = float_value(d, static_cast<std::uint64_t>(g.value(n.constant)));
    Id v = g.make(Op::CAST, acc.type, {n.count});
    if (x != 1) v = g.make(Op::MUL, acc.type, {v, g.constant(acc.type, accumulator_bits(acc.type, x))});
    sum = sum == no_id ? v : g.make(Op::ADD, acc.type, {sum, v});
    negative = negative || x < 0;
  }
  if (negative) sum = g.make(Op::ADD, acc.type, {sum, g.constant(acc.type, 0)});  // 0 * -x is -0, the empty sum is +0
  return acc.type == d ? sum : g.make(Op::CAST, d, {sum});
}

}  // namespace kiln::compiler
