// Kernels with control flow, compared with the same loops in plain C++: Mandelbrot 1024 x 1024 with 256 iterations, and a step
// of 4096 bodies, as tensors and as loops.
#include "tests/bench/control.h"

#include <kiln/dsl.h>

#include <vector>

#include "tests/bench/speed.h"

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

void report(const char* name, const std::function<void()>& ours, const std::function<void()>& by_hand, double asked) {
  std::vector<double> a, b;
  for (int repeat = 0; repeat < 5; ++repeat) {
    a.push_back(bench::seconds(ours));
    b.push_back(bench::seconds(by_hand));
  }
  bench::print_line(name, bench::median(a), "C++ -O3", bench::median(b), asked);
}

bool escapes() {
  constexpr std::int64_t size = 1024;
  float x0 = -2, y0 = -1.25f, dx = 2.5f / size;
  int limit = 256;
  std::vector<int> ours(size * size), hand(size * size);
  const compiler::testing::CompiledProgram p = bench::compiled(ir<mandelbrot>);
  const std::vector<std::int64_t> shape{size, size}, none;
  const kiln_tensor args[] = {bench::argument(&x0, KILN_F32, none), bench::argument(&y0, KILN_F32, none),
                              bench::argument(&dx, KILN_F32, none), bench::argument(&limit, KILN_I32, none),
                              bench::argument(ours.data(), KILN_I32, shape)};
  report(
      "Mandelbrot, 1024 x 1024, 256 iterations", [&] { (void)p.call(args, nullptr); },
      [&] { mandelbrot_by_hand(x0, y0, dx, limit, hand.data(), size, size); }, 0.5 * bench::lanes());
  return ours == hand;
}

// A step in one form of examples/nbody, where bodies are N x 3. The loop by hand uses structures of arrays.
bool bodies(const char* line, std::string_view form, void (*by_hand)(float*, float*, std::int64_t)) {
  constexpr std::int64_t n = 4096;
  std::vector<float> x(3 * n), v(3 * n), next_x(3 * n), next_v(3 * n), hand_x(3 * n), hand_v(3 * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      hand_x[k * n + i] = x[3 * i + k] = static_cast<float>((i * (k + 7) * 2654435761u) % 10007) * 1e-3f;
  const std::vector<float> start = hand_x;
  const compiler::testing::CompiledProgram p = bench::compiled(form);
  const std::vector<std::int64_t> shape{n, 3};
  const kiln_tensor args[] = {bench::argument(x.data(), KILN_F32, shape), bench::argument(v.data(), KILN_F32, shape),
                              bench::argument(next_x.data(), KILN_F32, shape), bench::argument(next_v.data(), KILN_F32, shape)};
  const kiln::context memory;
  report(
      line, [&] { (void)p.call(args, memory.get()); },
      [&] {
        hand_x = start;
        hand_v.assign(3 * n, 0);
        by_hand(hand_x.data(), hand_v.data(), n);
      },
      1);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      if (next_x[3 * i + k] != hand_x[k * n + i] || next_v[3 * i + k] != hand_v[k * n + i]) return false;
  return true;
}

}  // namespace

int main() {
  bench::print_head();
  const bool pixels = escapes(), tensors = bodies("N-body, 4096, tensors", "tensors_f32", bodies_by_hand_as_tensors),
             loops = bodies("N-body, 4096, loops", "loops_f32", bodies_by_hand);
  return bench::result(pixels && tensors && loops);
}
