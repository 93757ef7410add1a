#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tests/run/operations/operations.h"

namespace kiln::compiler::testing {
namespace {

bool right(DType d, const Expected& e, Bits got) {
  if (e.ulps == 0 && e.slack == 0) return got == e.exact || (is_nan(d, got) && is_nan(d, e.exact));
  if (distance_in_ulps(d, got, e.value) <= e.ulps) return true;
  const long double g = real_value(d, got);
  return std::isfinite(g) && std::isfinite(e.value) && std::fabs(g - e.value) <= e.slack;
}

long double shown(DType d, Bits b) { return is_float(d) ? real_value(d, b) : static_cast<long double>(b); }

}  // namespace

Expectation exactly(const Tensor& t) {
  Expectation e{t.dtype, t.extents, {}};
  for (const Bits b : t.elements) e.elements.push_back({b, 0, 0, 0});
  return e;
}

std::string difference(const Expectation& expected, const Tensor& got) {
  if (expected.dtype != got.dtype || expected.extents != got.extents || expected.elements.size() != got.elements.size())
    return "dtype or extents differ";
  for (std::size_t i = 0; i < got.elements.size(); ++i) {
    const Expected& e = expected.elements[i];
    if (right(got.dtype, e, got.elements[i])) continue;
    char text[160];
    const long double want = e.ulps == 0 && e.slack == 0 ? shown(got.dtype, e.exact) : e.value;
    std::snprintf(text, sizeof text, "element %zu: expected %.20Lg, got %.20Lg (allowed %g ulp or %.3Lg)", i, want,
                  shown(got.dtype, got.elements[i]), e.ulps, e.slack);
    return text;
  }
  return "";
}

Bits Point::operator[](const std::string& name) const {
  const Tensor& t = call_[name];
  Extents c(at_.end() - static_cast<std::ptrdiff_t>(t.extents.size()), at_.end());
  for (std::size_t a = 0; a < c.size(); ++a)
    if (t.extents[a] == 1) c[a] = 0;
  return t.at(c);
}

Bits Point::op(Op o, Bits a, Bits b, Bits c) const {
  std::vector<Bits> x{a, b, c};
  x.resize(static_cast<std::size_t>(arity(o)));
  return expected_element(o, type, type, x).exact;
}

Bits Point::literal(long double v) const {
  if (is_float(type)) return real_bits(type, v);
  return expected_element(Op::CAST, DType::i64, type, {static_cast<Bits>(static_cast<std::int64_t>(v))}).exact;
}

Reference each(std::function<Expected(const Point&)> element) {
  return [element = std::move(element)](const Call& c) {
    Expectation e{c.result, c.extents, {}};
    tabulate(c.result, c.extents, [&](const Extents& at) {
      e.elements.push_back(element(Point(c, at)));
      return Bits{0};
    });
    return e;
  };
}

Reference each(Op o, std::vector<std::string> operands) {
  return each([o, operands = std::move(operands)](const Point& p) {
    std::vector<Bits> x;
    for (const auto& name : operands) x.push_back(p[name]);
    return expected_element(o, p.type, p.result, x);
  });
}

long double roundoff(DType d) {
  const int digits = d == DType::f64 ? 53 : d == DType::f32 ? 24 : d == DType::f16 ? 11 : 8;
  return std::ldexp(1.0L, -digits);
}
long double largest(DType d) {
  const int exponent = d == DType::f64 ? 1024 : d == DType::f16 ? 16 : 128;
  return std::ldexp(1 - roundoff(d), exponent);
}
double allowed_ulps(DType d) { return d == DType::f64 ? 4 : d == DType::f32 ? 2 : 1; }

}  // namespace kiln::compiler::testing
