#include "tests/unit/math_accuracy.h"

#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

#include "compiler/interp/math.h"
#include "tests/unit/math_inputs.h"

namespace kiln::tests {
namespace {

using compiler::DType;
using compiler::Op;

enum class Inputs { sample, every };

struct Number {
  mpfr_t v;
  Number() { mpfr_init2(v, 128); }
  ~Number() { mpfr_clear(v); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
};

// 1 / (1 + exp(-x)). The exponent of MPFR is large enough for every x.
void sigmoid(mpfr_t r, const mpfr_t x) {
  mpfr_neg(r, x, MPFR_RNDN);
  mpfr_exp(r, r, MPFR_RNDN);
  mpfr_add_ui(r, r, 1, MPFR_RNDN);
  mpfr_ui_div(r, 1, r, MPFR_RNDN);
}

void reference(Op op, mpfr_t r, const mpfr_t x, const mpfr_t y) {
  switch (op) {
    case Op::EXP: mpfr_exp(r, x, MPFR_RNDN); break;
    case Op::EXP2: mpfr_exp2(r, x, MPFR_RNDN); break;
    case Op::EXPM1: mpfr_expm1(r, x, MPFR_RNDN); break;
    case Op::LOG: mpfr_log(r, x, MPFR_RNDN); break;
    case Op::LOG2: mpfr_log2(r, x, MPFR_RNDN); break;
    case Op::LOG1P: mpfr_log1p(r, x, MPFR_RNDN); break;
    case Op::LOG10: mpfr_log10(r, x, MPFR_RNDN); break;
    case Op::CBRT: mpfr_cbrt(r, x, MPFR_RNDN); break;
    case Op::ASIN: mpfr_asin(r, x, MPFR_RNDN); break;
    case Op::ACOS: mpfr_acos(r, x, MPFR_RNDN); break;
    case Op::ATAN: mpfr_atan(r, x, MPFR_RNDN); break;
    case Op::SINH: mpfr_sinh(r, x, MPFR_RNDN); break;
    case Op::COSH: mpfr_cosh(r, x, MPFR_RNDN); break;
    case Op::ASINH: mpfr_asinh(r, x, MPFR_RNDN); break;
    case Op::ACOSH: mpfr_acosh(r, x, MPFR_RNDN); break;
    case Op::ATANH: mpfr_atanh(r, x, MPFR_RNDN); break;
    case Op::SIGMOID: sigmoid(r, x); break;
    case Op::ATAN2: mpfr_atan2(r, x, y, MPFR_RNDN); break;
    case Op::FMOD: mpfr_fmod(r, x, y, MPFR_RNDN); break;
    case Op::SIN: mpfr_sin(r, x, MPFR_RNDN); break;
    case Op::COS: mpfr_cos(r, x, MPFR_RNDN); break;
    case Op::TAN: mpfr_tan(r, x, MPFR_RNDN); break;
    case Op::TANH: mpfr_tanh(r, x, MPFR_RNDN); break;
    case Op::ERF: mpfr_erf(r, x, MPFR_RNDN); break;
    case Op::RSQRT: mpfr_rec_sqrt(r, x, MPFR_RNDN); break;
    case Op::POW: mpfr_pow(r, x, y, MPFR_RNDN); break;
    default: throw std::logic_error("no function of MPFR for " + std::string(compiler::name(op)));
  }
}

// The C library's function on f64: for a result of f32 its error hardly counts. NaN: there is none.
double reference_double(Op op, double x) {
  switch (op) {
    case Op::EXP: return std::exp(x);
    case Op::EXP2: return std::exp2(x);
    case Op::EXPM1: return std::expm1(x);
    case Op::LOG: return std::log(x);
    case Op::LOG2: return std::log2(x);
    case Op::LOG1P: return std::log1p(x);
    case Op::LOG10: return std::log10(x);
    case Op::CBRT: return std::cbrt(x);
    case Op::ASIN: return std::asin(x);
    case Op::ACOS: return std::acos(x);
    case Op::ATAN: return std::atan(x);
    case Op::SINH: return std::sinh(x);
    case Op::COSH: return std::cosh(x);
    case Op::ASINH: return std::asinh(x);
    case Op::ACOSH: return std::acosh(x);
    case Op::ATANH: return std::atanh(x);
    case Op::SIGMOID: return 1 / (1 + std::exp(-x));
    case Op::SIN: return std::sin(x);
    case Op::COS: return std::cos(x);
    case Op::TAN: return std::tan(x);
    case Op::TANH: return std::tanh(x);
    case Op::ERF: return std::erf(x);
    case Op::RSQRT: return 1 / std::sqrt(x);
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

template <class T>
class Worker {
  using L = std::numeric_limits<T>;

 public:
  Worker(Op op, DType d, Inputs inputs) : op_(op), d_(d), inputs_(inputs) {}

  void run(std::size_t begin, std::size_t end) {
    constexpr std::size_t block = 4096;
    std::vector<T> x(block), y(block), got(block);
    for (std::size_t at = begin; at < end; at += block) {
      const std::size_t n = std::min(block, end - at);
      for (std::size_t i = 0; i < n; ++i) {
        if (inputs_ == Inputs::every)
          x[i] = from_bits<T>(std::uint64_t{at + i} << 32);
        else
          sample_input(op_, at + i, x[i], y[i]);
      }
      const compiler::Operand operands[] = {{reinterpret_cast<const std::byte*>(x.data()), false},
                                            {reinterpret_cast<const std::byte*>(y.data()), false}};
      evaluator_.apply(op_, d_, {operands, static_cast<std::size_t>(compiler::arity(op_))},
                       reinterpret_cast<std::byte*>(got.data()), n);
      for (std::size_t i = 0; i < n; ++i) check(x[i], y[i], got[i]);
    }
    mpfr_free_cache();
  }

  Accuracy result;

 private:
  // Whether the error is clearly below the largest one so far. MPFR decides all other cases, so it determines the result.
  bool clearly_smaller(T x, T got) const {
    if (!std::is_same_v<T, float>) return false;
    const double r = reference_double(op_, static_cast<double>(x)), magnitude = std::fabs(r);
    if (!(magnitude >= 0x1p-126 && magnitude < 0x1p127 && std::fabs(got) < 0x1p127)) return false;
    const double unit =
        std::bit_cast<double>((std::bit_cast<std::uint64_t>(magnitude) >> 52 << 52) - (std::uint64_t{23} << 52));
    return std::fabs(static_cast<double>(got) - r) < (result.ulp - 1e-4) * unit;
  }

  void check(T x, T y, T got) {
    if (clearly_smaller(x, got)) return;
    mpfr_set_d(x_.v, static_cast<double>(x), MPFR_RNDN);
    mpfr_set_d(y_.v, static_cast<double>(y), MPFR_RNDN);
    reference(op_, r_.v, x_.v, y_.v);
    const bool nan = mpfr_nan_p(r_.v) != 0;
    if (nan || std::isnan(got) || mpfr_inf_p(r_.v) != 0) return special(nan, x, y, got);
    // Infinity counts as the next power of two above the largest number.
    if (std::isinf(got))
      mpfr_set_si_2exp(e_.v, got > 0 ? 1 : -1, L::max_exponent, MPFR_RNDN);
    else
      mpfr_set_d(e_.v, static_cast<double>(got), MPFR_RNDN);
    if (overflows(r_.v)) {
      if (!std::isinf(got)) mismatch(x, y, got);
      if (mpfr_signbit(r_.v) != std::signbit(got)) mismatch(x, y, got);
      return;
    }
    mpfr_sub(e_.v, e_.v, r_.v, MPFR_RNDN);
    const long exponent = mpfr_zero_p(r_.v) != 0 ? L::min_exponent : std::max<long>(mpfr_get_exp(r_.v), L::min_exponent);
    mpfr_mul_2si(e_.v, e_.v, L::digits - exponent, MPFR_RNDN);
    const double ulp = std::fabs(mpfr_get_d(e_.v, MPFR_RNDN));
    if (ulp > result.ulp)
      result.ulp = ulp, result.x = static_cast<double>(x), result.y = static_cast<double>(y),
      result.got = static_cast<double>(got);
    if (mpfr_signbit(r_.v) != std::signbit(got)) mismatch(x, y, got);
  }

  // Whether |r| is at or above the value from which rounding to nearest gives infinity.
  static bool overflows(const mpfr_t r) { return mpfr_zero_p(r) == 0 && mpfr_get_exp(r) > L::max_exponent; }

  void special(bool nan, T x, T y, T got) {
    const bool same = nan ? std::isnan(got) : std::isinf(got) && std::signbit(got) == (mpfr_signbit(r_.v) != 0);
    if (!same) mismatch(x, y, got);
  }
  void mismatch(T x, T y, T got) {
    ++result.wrong_specials;
    result.special_x = static_cast<double>(x), result.special_y = static_cast<double>(y),
    result.special_got = static_cast<double>(got);
  }

  Op op_;
  DType d_;
  Inputs inputs_;
  compiler::MathEvaluator evaluator_;
  Number x_, y_, r_, e_;
};

template <class T>
Accuracy measure_as(Op op, DType d, Inputs inputs, std::size_t count, unsigned threads) {
  std::vector<Accuracy> parts(threads);
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < threads; ++t)
    pool.emplace_back([&, t] {
      Worker<T> w(op, d, inputs);
      w.run(count * t / threads, count * (t + 1) / threads);
      parts[t] = w.result;
    });
  for (std::thread& t : pool) t.join();
  Accuracy all;
  for (const Accuracy& p : parts) {
    const std::size_t wrong = all.wrong_specials + p.wrong_specials;
    if (p.ulp > all.ulp || (p.wrong_specials != 0 && all.wrong_specials == 0)) {
      const Accuracy& worse = p.ulp > all.ulp ? p : all;
      const Accuracy& odd = p.wrong_specials != 0 ? p : all;
      all = {worse.ulp, worse.x, worse.y, worse.got, wrong, odd.special_x, odd.special_y, odd.special_got};
    }
    all.wrong_specials = wrong;
  }
  return all;
}

}  // namespace

std::vector<Op> transcendentals() {
  std::vector<Op> ops;
#define KILN_X(e, t, l, a) \
  if (is_math(Op::e)) ops.push_back(Op::e);
  KILN_OPS(KILN_X)
#undef KILN_X
  return ops;
}

Accuracy measure(Op op, DType d, std::size_t count, unsigned threads) {
  return d == DType::f32 ? measure_as<float>(op, d, Inputs::sample, count, threads)
                         : measure_as<double>(op, d, Inputs::sample, count, threads);
}

Accuracy measure_every_float(Op op, unsigned threads) {
  return measure_as<float>(op, DType::f32, Inputs::every, every_float, threads);
}

}  // namespace kiln::tests
