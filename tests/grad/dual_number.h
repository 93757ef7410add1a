// Numbers a + b e1 + c e2 + d e1 e2 + .. with e1 * e1 = e2 * e2 = 0. The coefficient of e1 is a derivative, that of e1 e2 a
// second derivative. A number without a part is different from one whose part is 0: 0 * inf is never made for a missing part.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>

namespace grad_test {

class Dual {
 public:
  static constexpr std::size_t most = 16;  // four generators

  Dual(double v = 0) { c_[0] = v; }  // NOLINT(google-explicit-constructor)
  // part * e, where e is a generator.
  static Dual infinitesimal(const Dual& part, std::size_t generator) {
    Dual r;
    const std::size_t half = std::size_t{1} << generator;
    if (2 * half > most) throw std::logic_error("derivatives are nested too deeply");
    if (part.n_ > half) throw std::logic_error("a part with a later generator");
    r.n_ = 2 * half;
    for (std::size_t i = 0; i < part.n_; ++i) r.c_[half + i] = part.c_[i];
    return r;
  }
  double value() const { return c_[0]; }
  Dual with_value(double v) const {
    Dual r = *this;
    r.c_[0] = v;
    return r;
  }
  std::size_t size() const { return n_; }
  bool has(std::size_t generator) const { return n_ > std::size_t{1} << generator; }

  // x = lower + upper * e, where e is the last generator of `size` coefficients.
  Dual lower(std::size_t size) const {
    Dual r = *this;
    if (r.n_ == size) r.n_ = size / 2;
    for (std::size_t i = r.n_; i < most; ++i) r.c_[i] = 0;
    return r;
  }
  Dual upper(std::size_t size) const {
    Dual r;
    if (n_ < size) return r;
    r.n_ = size / 2;
    for (std::size_t i = 0; i < r.n_; ++i) r.c_[i] = c_[size / 2 + i];
    return r;
  }
  // The coefficient of a generator after which there is none.
  Dual part(std::size_t generator) const { return upper(std::size_t{2} << generator); }

  friend Dual operator+(const Dual& a, const Dual& b) {
    Dual r;
    r.n_ = a.n_ > b.n_ ? a.n_ : b.n_;
    for (std::size_t i = 0; i < r.n_; ++i) r.c_[i] = i >= a.n_ ? b.c_[i] : i >= b.n_ ? a.c_[i] : a.c_[i] + b.c_[i];
    return r;
  }
  friend Dual operator-(const Dual& a) {
    Dual r = a;
    for (std::size_t i = 0; i < r.n_; ++i) r.c_[i] = -r.c_[i];
    return r;
  }
  friend Dual operator-(const Dual& a, const Dual& b) { return a + -b; }
  friend Dual operator*(const Dual& a, const Dual& b) {
    Dual r;
    r.n_ = a.n_ > b.n_ ? a.n_ : b.n_;
    for (std::size_t m = 0; m < r.n_; ++m) {
      double sum = 0;
      for (std::size_t k = 0; k <= m; ++k)
        if ((k & m) == k && k < a.n_ && (m ^ k) < b.n_) sum += a.c_[k] * b.c_[m ^ k];
      r.c_[m] = sum;
    }
    return r;
  }

 private:
  std::array<double, most> c_{};
  std::size_t n_ = 1;
};

// f(x): value is f on plain numbers, slope is its derivative on dual numbers.
template <class F, class D>
Dual smooth(const Dual& x, F value, D slope) {
  if (x.size() == 1) return value(x.value());
  const std::size_t n = x.size();
  std::size_t generator = 0;
  while (std::size_t{2} << generator < n) ++generator;
  const Dual low = x.lower(n), change = x.upper(n) * slope(low);
  return smooth(low, value, slope) + Dual::infinitesimal(change, generator);
}
// f(x, y), of which `along_x` and `along_y` are the partial derivatives.
template <class F, class X, class Y>
Dual smooth(const Dual& x, const Dual& y, F value, X along_x, Y along_y) {
  const std::size_t n = x.size() > y.size() ? x.size() : y.size();
  if (n == 1) return value(x.value(), y.value());
  std::size_t generator = 0;
  while (std::size_t{2} << generator < n) ++generator;
  const Dual a = x.lower(n), b = y.lower(n);
  Dual r = smooth(a, b, value, along_x, along_y);
  if (x.size() == n) r = r + Dual::infinitesimal(x.upper(n) * along_x(a, b), generator);
  if (y.size() == n) r = r + Dual::infinitesimal(y.upper(n) * along_y(a, b), generator);
  return r;
}

inline Dual inverse(const Dual& x) {
  return smooth(x, [](double v) { return 1 / v; }, [](const Dual& v) { return -(inverse(v) * inverse(v)); });
}
inline Dual divide(const Dual& a, const Dual& b) {
  return smooth(
      a, b, [](double x, double y) { return x / y; }, [](const Dual&, const Dual& y) { return inverse(y); },
      [](const Dual& x, const Dual& y) { return -(divide(x, y) * inverse(y)); });
}
inline Dual exp(const Dual& x) {
  return smooth(x, [](double v) { return std::exp(v); }, [](const Dual& v) { return exp(v); });
}
inline Dual log(const Dual& x) {
  return smooth(x, [](double v) { return std::log(v); }, [](const Dual& v) { return inverse(v); });
}
inline Dual sqrt(const Dual& x) {
  return smooth(x, [](double v) { return std::sqrt(v); }, [](const Dual& v) { return 0.5 * inverse(sqrt(v)); });
}
inline Dual cos(const Dual& x);
inline Dual sin(const Dual& x) {
  return smooth(x, [](double v) { return std::sin(v); }, [](const Dual& v) { return cos(v); });
}
inline Dual cos(const Dual& x) {
  return smooth(x, [](double v) { return std::cos(v); }, [](const Dual& v) { return -sin(v); });
}
inline Dual tanh(const Dual& x) {
  return smooth(x, [](double v) { return std::tanh(v); }, [](const Dual& v) { return 1.0 - tanh(v) * tanh(v); });
}
inline Dual tan(const Dual& x) {
  return smooth(x, [](double v) { return std::tan(v); }, [](const Dual& v) { return 1.0 + tan(v) * tan(v); });
}
inline Dual erf(const Dual& x) {
  return smooth(x, [](double v) { return std::erf(v); }, [](const Dual& v) { return 1.1283791670955125739 * exp(-(v * v)); });
}
inline Dual expm1(const Dual& x) {
  return smooth(x, [](double v) { return std::expm1(v); }, [](const Dual& v) { return exp(v); });
}
inline Dual log1p(const Dual& x) {
  return smooth(x, [](double v) { return std::log1p(v); }, [](const Dual& v) { return inverse(1.0 + v); });
}
inline Dual exp2(const Dual& x) {
  return smooth(x, [](double v) { return std::exp2(v); }, [](const Dual& v) { return 0.69314718055994530942 * exp2(v); });
}
inline Dual log2(const Dual& x) {
  return smooth(x, [](double v) { return std::log2(v); }, [](const Dual& v) { return 1.4426950408889634074 * inverse(v); });
}
// At a == 0 and at b == 0 as docs/reference/derivatives.md defines it.
inline Dual pow(const Dual& a, const Dual& b) {
  return smooth(
      a, b, [](double x, double y) { return std::pow(x, y); },
      [](const Dual& x, const Dual& y) { return y.value() == 0 && x.value() == 0 ? Dual(0) : y * pow(x, y - 1.0); },
      [](const Dual& x, const Dual& y) { return x.value() == 0 && y.value() >= 0 ? Dual(0) : pow(x, y) * log(x); });
}

}  // namespace grad_test
