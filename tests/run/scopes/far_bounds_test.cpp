// Loops whose i64 bounds and steps are near the ends of i64. Bounds and steps count as at most 2^61 away from 0.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <limits>

#include "tests/run/scopes/run_scopes.h"

namespace far_bounds_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;

// The sum of the counters of the first three iterations, and their number.
struct far_bounds : program<far_bounds> {
  in<i64, N> begin, end, step;
  out<i64, N> sum;
  out<i32, N> number;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto iterations = var(0);
      auto counters = var(cast<i64>(i - i));
      for (auto k : loop(begin(i), end(i), step(i))) {
        break_if(iterations == 3);
        counters += k;
        iterations += 1;
      }
      sum(i) = counters;
      number(i) = iterations;
    }
  }
};

TEST(Scopes, FarBounds) {
  using L = std::numeric_limits<std::int64_t>;
  constexpr std::int64_t far = std::int64_t{1} << 61;
  const std::int64_t values[] = {L::min(), L::min() + 1, -far - 1, -far,    -far + 1,     -1,      0,
                                 1,        far - 1,      far,      far + 1, L::max() - 1, L::max()};
  std::vector<std::int64_t> begins, ends, steps, sums;
  std::vector<int> numbers;
  for (const std::int64_t b : values)
    for (const std::int64_t e : values)
      for (const std::int64_t s : values) {
        begins.push_back(b), ends.push_back(e), steps.push_back(s);
        const std::int64_t end = std::clamp(e, -far, far), step = std::clamp(s, -far, far);
        std::uint64_t sum = 0;
        int iterations = 0;
        for (std::int64_t k = std::clamp(b, -far, far); iterations < 3 && (step > 0 ? k < end : step < 0 && k > end); k += step)
          sum += static_cast<std::uint64_t>(k), ++iterations;
        sums.push_back(static_cast<std::int64_t>(sum)), numbers.push_back(iterations);
      }
  const auto n = static_cast<std::int64_t>(begins.size());
  const auto r =
      scopes::run(ir<far_bounds>, {scopes::tensor({n}, begins), scopes::tensor({n}, ends), scopes::tensor({n}, steps),
                                   scopes::output<std::int64_t>({n}), scopes::output<int>({n})});
  EXPECT_EQ(scopes::values<std::int64_t>(r["sum"]), sums);
  EXPECT_EQ(scopes::values<int>(r["number"]), numbers);
}

}  // namespace

}  // namespace far_bounds_test
