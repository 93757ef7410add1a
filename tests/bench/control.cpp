// Kernels with control flow beside the same loops in plain C++, one thread, interleaved, in processor time: Mandelbrot 1024 x
// 1024 with 256 iterations, and the forces of 4096 bodies. Ends with 1 when the results differ.
#include "tests/bench/control.h"

#include <kiln/dsl.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <vector>

#include "compiler/interp/array.h"
#include "generator/import.h"
#include "kiln/view.h"
#include "tests/run/compiled.h"

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"H"> H;
inline constexpr dim<"W"> W;

struct mandelbrot : program<mandelbrot> {
  in<f32> x0, y0, dx;
  in<i32> limit;
  out<i32, H, W> image;
  constexpr void body() {
    for (auto [y, x] : kernel(H, W)) {
      auto cx = x0 + dx * cast<f32>(x), cy = y0 + dx * cast<f32>(y);
      auto zx = var(0.0f), zy = var(0.0f);
      auto n = var(0);
      for (auto k : loop(limit)) {
        auto x2 = zx * zx, y2 = zy * zy;
        break_if(x2 + y2 > 4.0f);
        zy = 2.0f * zx * zy + cy;
        zx = x2 - y2 + cx;
        n = k + 1;
      }
      image(y, x) = n;
    }
  }
};

struct forces : program<forces> {
  in<f32, N> x, y, z;
  out<f32, N> ax, ay, az;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto sx = var(0.0f), sy = var(0.0f), sz = var(0.0f);
      auto xi = x(i), yi = y(i), zi = z(i);
      for (auto j : loop(N)) {
        auto dx = x(j) - xi, dy = y(j) - yi, dz = z(j) - zi;
        auto d = dx * dx + dy * dy + dz * dz + 1e-4f;
        auto s = 1.0f / (d * sqrt(d));
        sx += dx * s;
        sy += dy * s;
        sz += dz * s;
      }
      ax(i) = sx;
      ay(i) = sy;
      az(i) = sz;
    }
  }
};

double seconds(const std::function<void()>& f) {
  const std::clock_t t = std::clock();
  f();
  return static_cast<double>(std::clock() - t) / CLOCKS_PER_SEC;
}
double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

void report(const char* name, const std::function<void()>& ours, const std::function<void()>& by_hand) {
  std::vector<double> a, b;
  for (int repeat = 0; repeat < 5; ++repeat) {
    a.push_back(seconds(ours));
    b.push_back(seconds(by_hand));
  }
  std::printf("%-28s Kiln %8.2f ms   C++ -O3 %8.2f ms   %5.2fx\n", name, 1e3 * median(a), 1e3 * median(b),
              median(b) / median(a));
}

compiler::testing::CompiledProgram compiled(const record::program& p) {
  compiler::Graph g;
  const compiler::Program program = generator::import_program(g, p);
  return {g, program, __builtin_cpu_supports("avx512f") != 0 ? "x86-64-v4" : "x86-64-v3"};
}

kiln_tensor argument(void* data, kiln_dtype d, const std::vector<std::int64_t>& extents) {
  return {data, extents.data(), nullptr, d, static_cast<std::int32_t>(extents.size())};
}

bool mandelbrots() {
  constexpr std::int64_t size = 1024;
  float x0 = -2, y0 = -1.25f, dx = 2.5f / size;
  int limit = 256;
  std::vector<int> ours(size * size), hand(size * size);
  const compiler::testing::CompiledProgram p = compiled(ir<mandelbrot>);
  const std::vector<std::int64_t> shape{size, size}, none;
  const kiln_tensor args[] = {argument(&x0, KILN_F32, none), argument(&y0, KILN_F32, none), argument(&dx, KILN_F32, none),
                              argument(&limit, KILN_I32, none), argument(ours.data(), KILN_I32, shape)};
  report(
      "mandelbrot 1024^2, 256", [&] { (void)p.call(args, nullptr); },
      [&] { mandelbrot_by_hand(x0, y0, dx, limit, hand.data(), size, size); });
  return ours == hand;
}

bool bodies() {
  constexpr std::int64_t n = 4096;
  std::vector<std::vector<float>> v(9, std::vector<float>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < 3; ++k) v[k][i] = static_cast<float>((i * (k + 7) * 2654435761u) % 10007) * 1e-4f;
  const compiler::testing::CompiledProgram p = compiled(ir<forces>);
  const std::vector<std::int64_t> shape{n};
  std::vector<kiln_tensor> args;
  for (std::size_t k = 0; k < 6; ++k) args.push_back(argument(v[k].data(), KILN_F32, shape));
  report(
      "forces of 4096 bodies", [&] { (void)p.call(args, nullptr); },
      [&] { forces_by_hand(v[0].data(), v[1].data(), v[2].data(), v[6].data(), v[7].data(), v[8].data(), n); });
  return v[3] == v[6] && v[4] == v[7] && v[5] == v[8];
}

}  // namespace

int main() {
  const bool same = mandelbrots();
  return bodies() && same ? 0 : 1;
}
