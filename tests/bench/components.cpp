// Rows of a few components (points, complex numbers, small matrices), compared with the same loops in plain C++: one thread,
// alternating runs, processor time. Exits with 1 if a bit of a result differs. Exception: the complex product, because gcc 12
// always uses fused operations in it.
#include <kiln/dsl.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <vector>

#include "generator/import.h"
#include "kiln/view.h"
#include "tests/bench/components_loops.h"
#include "tests/run/compiled.h"

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;

struct normalised : program<normalised> {
  in<f32, N, 3> x;
  out<f32, N, 3> y;
  constexpr void body() { y = x / unsqueeze<1>(sqrt(sum<1>(x * x))); }
};
struct scaled : program<scaled> {
  in<f32, N, 3> x;
  in<f32, N> s;
  out<f32, N, 3> y;
  constexpr void body() { y = x * unsqueeze<1>(s); }
};
struct complex_product : program<complex_product> {
  in<f32, N, 2> a, b;
  out<f32, N, 2> y;
  constexpr void body() {
    auto ar = slice<1, 0, 1>(a), ai = slice<1, 1, 2>(a), br = slice<1, 0, 1>(b), bi = slice<1, 1, 2>(b);
    y = concat<1>(ar * br - ai * bi, ar * bi + ai * br);
  }
};
struct turned : program<turned> {
  in<f32, N, 3> x;
  in<f32, 3, 3> m;
  out<f32, N, 3> y;
  constexpr void body() { y = matmul(x, m); }
};
struct products : program<products> {
  in<f32, N, 3, 3> a, b;
  out<f32, N, 3, 3> y;
  constexpr void body() { y = matmul(a, b); }
};
struct density : program<density> {
  in<f32, N, 3> x;
  out<f32, N> y;
  constexpr void body() {
    auto d = unsqueeze<1>(x) - unsqueeze<0>(x);
    auto left = 1.0f - sum<2>(d * d);
    auto near = select(left < 0.0f, 0.0f, left);
    y = sum<0>(near * near * near);
  }
};

using Shape = std::vector<std::int64_t>;

double seconds(int iterations, const std::function<void()>& f) {
  const std::clock_t t = std::clock();
  for (int i = 0; i < iterations; ++i) f();
  return static_cast<double>(std::clock() - t) / CLOCKS_PER_SEC / iterations;
}
double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

std::vector<float> numbers(std::int64_t n, std::uint64_t seed) {
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>((i + seed) * 2654435761u % 10007) * 1e-3f;
  return v;
}

std::int64_t elements(const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t e : shape) n *= e;
  return n;
}

using ByHand = std::function<void(const std::vector<std::vector<float>>&, float*)>;

// The last shape is the shape of the result.
bool compare(const dsl::record::program& p, const std::vector<Shape>& shapes, int iterations, const ByHand& by_hand) {
  compiler::Graph g;
  const compiler::Program program = generator::import_program(g, p);
  const char* cpu = __builtin_cpu_supports("avx512f") != 0 ? "x86-64-v4" : "x86-64-v3";
  const compiler::testing::CompiledProgram ours(g, program, std::vector<std::string>{cpu});
  std::vector<std::vector<float>> data;
  std::vector<kiln_tensor> args;
  for (const Shape& s : shapes) data.push_back(numbers(elements(s), data.size()));
  for (std::size_t i = 0; i < shapes.size(); ++i)
    args.push_back({data[i].data(), shapes[i].data(), nullptr, KILN_F32, static_cast<std::int32_t>(shapes[i].size())});
  std::vector<float> hand(data.back().size());
  const context memory;
  std::vector<double> a, b;
  for (int repeat = 0; repeat < 7; ++repeat) {
    a.push_back(seconds(iterations, [&] { (void)ours.call(args, memory.get()); }));
    b.push_back(seconds(iterations, [&] { by_hand(data, hand.data()); }));
  }
  std::printf("%-18s Kiln %8.2f us   C++ -O3 %8.2f us   %5.2fx\n", p.name, 1e6 * median(a), 1e6 * median(b),
              median(b) / median(a));
  return std::memcmp(hand.data(), data.back().data(), hand.size() * sizeof(float)) == 0;
}

}  // namespace

int main() {
  constexpr std::int64_t n = 20000, few = 4096;
  const Shape point{n, 3}, number{n, 2}, matrix{n, 3, 3};
  (void)compare(ir<complex_product>, {number, number, number}, 200,
                [](const auto& x, float* y) { complex_by_hand(x[0].data(), x[1].data(), y, n); });
  bool same =
      compare(ir<normalised>, {point, point}, 200, [](const auto& x, float* y) { normalised_by_hand(x[0].data(), y, n); });
  same &= compare(ir<scaled>, {point, {n}, point}, 200,
                  [](const auto& x, float* y) { scaled_by_hand(x[0].data(), x[1].data(), y, n); });
  same &= compare(ir<turned>, {point, {3, 3}, point}, 200,
                  [](const auto& x, float* y) { turned_by_hand(x[0].data(), x[1].data(), y, n); });
  same &= compare(ir<products>, {matrix, matrix, matrix}, 100,
                  [](const auto& x, float* y) { products_by_hand(x[0].data(), x[1].data(), y, n); });
  same &= compare(ir<density>, {{few, 3}, {few}}, 3, [](const auto& x, float* y) { density_by_hand(x[0].data(), y, few); });
  return same ? 0 : 1;
}
