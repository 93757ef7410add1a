// Kernels with control flow beside the same loops in plain C++, one thread, interleaved, in processor time: Mandelbrot 1024 x
// 1024 with 256 iterations, and a step of 4096 bodies, as tensors and as loops. Ends with 1 when the results differ.
#include "tests/bench/control.h"

#include <kiln/dsl.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <vector>

#include "compiler/interp/array.h"
#include "generator/import.h"
#include "generator/registry.h"
#include "kiln/view.h"
#include "tests/run/compiled.h"

using namespace kiln;

namespace {

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

// A step of a form of examples/nbody, whose bodies are N x 3; by hand they are structures of arrays.
bool bodies(const char* name, const record::program& form) {
  constexpr std::int64_t n = 4096;
  std::vector<float> x(3 * n), v(3 * n), next_x(3 * n), next_v(3 * n), hand_x(3 * n), hand_v(3 * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      hand_x[k * n + i] = x[3 * i + k] = static_cast<float>((i * (k + 7) * 2654435761u) % 10007) * 1e-3f;
  const std::vector<float> start = hand_x;
  const compiler::testing::CompiledProgram p = compiled(form);
  const std::vector<std::int64_t> shape{n, 3};
  const kiln_tensor args[] = {argument(x.data(), KILN_F32, shape), argument(v.data(), KILN_F32, shape),
                              argument(next_x.data(), KILN_F32, shape), argument(next_v.data(), KILN_F32, shape)};
  const kiln::context memory;
  report(
      name, [&] { (void)p.call(args, memory.get()); },
      [&] {
        hand_x = start;
        hand_v.assign(3 * n, 0);
        bodies_by_hand(hand_x.data(), hand_v.data(), n);
      });
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      if (next_x[3 * i + k] != hand_x[k * n + i] || next_v[3 * i + k] != hand_v[k * n + i]) return false;
  return true;
}

}  // namespace

int main() {
  bool same = mandelbrots();
  for (const record::program* p : generator::registered_programs())
    if (std::string_view name = p->name; name == "tensors_f32")
      same &= bodies("N-body 4096, tensors", *p);
    else if (name == "loops_f32")
      same &= bodies("N-body 4096, loops", *p);
  return same ? 0 : 1;
}
