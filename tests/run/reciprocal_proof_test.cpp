// The quotient of two f32 as codegen/reciprocal_division.cpp computes it: with r = 1/d and q = x*r, each rounded, it is
// q + (x - q*d)*r, rounded. This must be x/d for all significands of x and d; exponents change nothing.
//
// Let the significands be in [1, 2), and u = 2^-24, so that floats in [1, 2) have the distance 2u, and those in [1/2, 1) have
// u.
// - r has an error of at most u/2, and x*r one of at most u*x/2. So q is one of the two floats around x/d if x >= d, and also
//   if x times the error of r is at most u/2.
// - Then x - q*d is exact. x/d is never halfway between two floats, since the product of such a number and d has more digits
//   than x: its distance e from there is at least u*u/d if x < d, else 2*u*u/d. q is at most e farther from x/d than half of
//   the distance h of floats. The last sum, before it is rounded, differs from x/d by at most (h/2 + e) times the relative
//   error of r, which is less than e in both cases. So both round to the same float.
// - The remaining pairs are tested here: x < d, and x times the error of r is more than u/2. They are 11% of all pairs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

namespace {

constexpr int significand_bits = 24;
constexpr std::int32_t one = std::int32_t{1} << (significand_bits - 1), two = 2 * one;

constexpr float significand(std::int32_t units) { return static_cast<float>(units) * (1.0f / static_cast<float>(one)); }

// How many x of [begin, end) have another quotient.
[[gnu::always_inline]] inline std::int64_t wrong_quotients_of(std::int32_t begin, std::int32_t end, float d) {
  const float r = 1 / d;
  std::int32_t wrong = 0;
  for (std::int32_t i = begin; i < end; ++i) {
    const float x = significand(i), q = x * r;
    wrong += std::fma(-std::fma(q, d, -x), r, q) != x / d ? 1 : 0;
  }
  return wrong;
}
[[gnu::target("fma,avx512f")]] std::int64_t wrong_quotients_512(std::int32_t begin, std::int32_t end, float d) {
  return wrong_quotients_of(begin, end, d);
}
[[gnu::target("fma,avx2")]] std::int64_t wrong_quotients_256(std::int32_t begin, std::int32_t end, float d) {
  return wrong_quotients_of(begin, end, d);
}
std::int64_t wrong_quotients(std::int32_t begin, std::int32_t end, float d) {
  if (__builtin_cpu_supports("avx512f")) return wrong_quotients_512(begin, end, d);
  if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) return wrong_quotients_256(begin, end, d);
  return wrong_quotients_of(begin, end, d);
}

// The least x for which q may not be one of the two floats around x/d.
std::int32_t first_uncertain(float d) {
  const double error = std::fabs(static_cast<double>(1 / d) - 1 / static_cast<double>(d));
  const double least = std::ldexp(0.5, -significand_bits) / error;
  return least < 2 ? static_cast<std::int32_t>(least * (1 - 1e-6) * one) : two;
}

std::int64_t wrong_quotients_of_part(std::int32_t first, std::int32_t step) {
  std::int64_t wrong = 0;
  for (std::int32_t i = first; i < two; i += step) {
    const float d = significand(i);
    wrong += wrong_quotients(first_uncertain(d), i, d);
  }
  return wrong;
}

// A sample, or with the environment variable KILN_ALL_CASES all divisors: the long test, 37 minutes of one core with AVX-512.
TEST(ReciprocalProof, OfUncertainPairs) {
  const std::int32_t sample = 40'009, step = std::getenv("KILN_ALL_CASES") != nullptr ? 1 : sample;
  const auto workers = static_cast<std::int32_t>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::int64_t> wrong(static_cast<std::size_t>(workers));
  std::vector<std::thread> threads;
  for (std::int32_t k = 0; k < workers; ++k)
    threads.emplace_back(
        [&, k] { wrong[static_cast<std::size_t>(k)] = wrong_quotients_of_part(one + k * step, workers * step); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(std::accumulate(wrong.begin(), wrong.end(), std::int64_t{0}), 0);
}

}  // namespace
