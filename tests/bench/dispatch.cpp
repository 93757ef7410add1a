// The cost of an iteration of a host loop in addition to the work in it: kernels over 8 floats, in loops of many iterations,
// one thread. Prints nanoseconds for each kernel of an iteration. Exits with 1 if a kernel costs a microsecond or more.
#include <kiln/dsl.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "generator/import.h"
#include "tests/run/compiled.h"

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;

template <int kernels>
struct iterations : program<iterations<kernels>> {
  in<i32> count;
  inout<f32, N> x;
  constexpr void body() {
    for ([[maybe_unused]] auto t : this->loop(count))
      for (int k = 0; k < kernels; ++k)
        for (auto [i] : this->kernel(N)) x(i) += 1.0f;
  }
};

constexpr double most_nanoseconds = 1000;

template <int kernels>
bool measure() {
  using namespace kiln::compiler;
  Graph g;
  const Program p = kiln::generator::import_program(g, ir<iterations<kernels>>);
  const kiln::compiler::testing::CompiledProgram compiled(g, p);
  std::int32_t count = 100'000;
  std::vector<float> x(8);
  std::int64_t extent = 8, stride = 1;
  alignas(64) char workspace[4096];
  const kiln_tensor args[] = {{&count, nullptr, nullptr, KILN_I32, 0}, {x.data(), &extent, &stride, KILN_F32, 1}};
  kiln_context context{};
  context.workspace = workspace;
  context.workspace_bytes = sizeof workspace;
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    const auto start = std::chrono::steady_clock::now();
    if (compiled.call(args, &context).code != KILN_OK) return false;
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / count);
  }
  std::printf("%d kernels in an iteration: %.1f ns an iteration, %.1f ns a kernel\n", kernels, best, best / kernels);
  return best / kernels < most_nanoseconds;
}

}  // namespace

int main() { return measure<1>() && measure<2>() && measure<8>() ? 0 : 1; }
