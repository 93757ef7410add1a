// The cost of a program call over the bare loop: 3 arguments, 8 elements, all checks. The budget is 5 ns on the reference
// machine. Machines differ, so the test only requires that the generated checks are faster than the general ones.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "compiler/ir/text.h"
#include "tests/run/compiled.h"

using namespace kiln::compiler;

namespace {

constexpr int calls = 2000, rounds = 200;

[[gnu::noinline]] void axpy(float a, const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

// The shortest of many short rounds, so that other programs on the machine do not count.
template <class F>
double nanoseconds(F&& f) {
  double best = 1e9;
  for (int r = 0; r < rounds; ++r) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) f();
    const std::chrono::duration<double, std::nano> t = std::chrono::steady_clock::now() - start;
    best = std::min(best, t.count() / calls);
  }
  return best;
}

}  // namespace

int main() {
  Graph g;
  const Program p = read_program(g,
                                 "program axpy\nin f32 [] a\nin f32 [N] x\ninout f32 [N] y\n%0 = param a\n%1 = param x\n"
                                 "%2 = param y\n%3 = mul %0, %1\n%4 = add %3, %2\nstore y, %4\n",
                                 "axpy.kiln");
  const testing::CompiledProgram compiled(g, p);
  float a = 0.5f, x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {};
  const std::int64_t n = 8;
  const kiln_tensor args[] = {
      {&a, nullptr, nullptr, KILN_F32, 0}, {x, &n, nullptr, KILN_F32, 1}, {y, &n, nullptr, KILN_F32, 1}};
  const double entry = nanoseconds([&] {
    if (compiled.call(args, nullptr).code != KILN_OK) std::abort();
  });
  const double interpreted = nanoseconds([&] {
    if (kiln_call(compiled.description(), args, 3, nullptr).code != KILN_OK) std::abort();
  });
  const double loop = nanoseconds([&] {
    axpy(a, x, y, n);
    asm volatile("" ::: "memory");
  });
  std::printf("axpy of 8 f32: entry %.1f ns, kiln_call %.1f ns, loop %.1f ns; a call costs %.1f ns (budget 5)\n", entry,
              interpreted, loop, entry - loop);
  return entry < interpreted ? 0 : 1;
}
