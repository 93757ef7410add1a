// TBB: prefix sums and sums by its parallel algorithms.
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

using range = tbb::blocked_range<std::int64_t>;

void limited(auto const& f) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads()));
  f();
}

job prefix_sum(problem& p) {
  return {[&p] {
    limited([&p] {
      const float* x = p.in[0].f();
      float* y = p.result();
      (void)tbb::parallel_scan(
          range(0, p.e(0)), 0.0f,
          [=](const range& r, float s, bool last) {
            for (std::int64_t i = r.begin(); i < r.end(); ++i) {
              s += x[i];
              if (last) y[i] = s;
            }
            return s;
          },
          [](float a, float b) { return a + b; });
    });
  }};
}
job total(problem& p) {
  return {[&p] {
    limited([&p] {
      const float* x = p.in[0].f();
      *p.result() = tbb::parallel_reduce(
          range(0, p.e(0)), 0.0f,
          [=](const range& r, float s) {
            for (std::int64_t i = r.begin(); i < r.end(); ++i) s += x[i];
            return s;
          },
          [](float a, float b) { return a + b; });
    });
  }};
}

const peers here{{"prefix_sum", "f32", "", prefix_sum}, {"total", "f32", "", total}};

}  // namespace
}  // namespace kiln::headline
