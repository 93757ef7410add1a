#include "compiler/index/interval.h"

#include "compiler/index/floor_div.h"

namespace kiln::compiler {
namespace {

// The quotient at an end of the divisor's interval. An unbounded divisor gives 0 or -1.
std::int64_t div_end(std::int64_t a, std::int64_t b) { return b == unbounded ? (a < 0 ? -1 : 0) : floor_div(a, b); }

// Requires b.min >= 1.
Interval div_positive(Interval a, Interval b) {
  Interval r{};
  r.min = a.min == -unbounded ? a.min : std::min(floor_div(a.min, b.min), div_end(a.min, b.max));
  r.max = a.max == unbounded ? a.max : std::max(floor_div(a.max, b.min), div_end(a.max, b.max));
  return r;
}

Interval mod_positive(Interval a, Interval b) {
  if (a.min >= 0 && a.max < b.min) return a;
  if (b.single() && a.min != -unbounded && a.max != unbounded && floor_div(a.min, b.min) == floor_div(a.max, b.min))
    return {floor_mod(a.min, b.min), floor_mod(a.max, b.min)};
  Interval r{0, b.max == unbounded ? unbounded : b.max - 1};
  if (a.min >= 0) r.max = std::min(r.max, a.max);
  return r;
}

Interval negate(Interval a) { return {-a.max, -a.min}; }

// The union of the results for the positive and the negative part of b. b == 0 gives 0.
template <class Positive, class Negative>
Interval by_sign(Interval b, Positive positive, Negative negative) {
  bool first = true;
  Interval r{0, 0};
  const auto join = [&](Interval x) {
    r = first ? x : unite(r, x);
    first = false;
  };
  if (b.max >= 1) join(positive(Interval{std::max<std::int64_t>(b.min, 1), b.max}));
  if (b.min <= -1) join(negative(Interval{b.min, std::min<std::int64_t>(b.max, -1)}));
  if (b.min <= 0 && b.max >= 0) join({0, 0});
  return r;
}

}  // namespace

Interval div(Interval a, Interval b) {
  return by_sign(
      b, [&](Interval p) { return div_positive(a, p); }, [&](Interval n) { return div_positive(negate(a), negate(n)); });
}

Interval mod(Interval a, Interval b) {
  return by_sign(
      b, [&](Interval p) { return mod_positive(a, p); },
      [&](Interval n) { return negate(mod_positive(negate(a), negate(n))); });
}

}  // namespace kiln::compiler
