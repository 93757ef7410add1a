// A wave in a medium with a sine force (sine-Gordon). Borders repeat the nearest element. A step is one kernel with two
// outputs. Many steps are a loop of two kernels, in place.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

constexpr auto force(auto const& u, auto const& i, auto const& j) {
  auto here = u(i, j);
  auto laplacian = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * here;
  return laplacian - 0.1f * sin(6.28318531f * here);
}

struct step : program<step> {
  in<f32, N, M> u, v;
  out<f32, N, M> next_u, next_v;
  constexpr void body() {
    for (auto [i, j] : kernel(N, M)) {
      auto here = u(i, j);
      auto speed = v(i, j) + 0.2f * force(u, i, j);
      next_v(i, j) = speed;
      next_u(i, j) = here + 0.2f * speed;
    }
  }
};

struct steps : program<steps> {
  in<i32> count;
  inout<f32, N, M> u, v;
  constexpr void body() {
    for ([[maybe_unused]] auto k : loop(count)) {
      for (auto [i, j] : kernel(N, M)) v(i, j) += 0.2f * force(u, i, j);
      u = u + 0.2f * v;
    }
  }
};

static const programs<step, steps> exported;
