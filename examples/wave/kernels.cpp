// A wave in a medium with a sine force (sine-Gordon): one step, one kernel, two outputs. Borders repeat the edge.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

struct step : program<step> {
  in<f32, N, M> u, v;
  out<f32, N, M> next_u, next_v;
  constexpr void body() {
    for (auto [i, j] : kernel(N, M)) {
      auto here = u(i, j);
      auto laplacian = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * here;
      auto speed = v(i, j) + 0.2f * (laplacian - 0.1f * sin(6.28318531f * here));
      next_v(i, j) = speed;
      next_u(i, j) = here + 0.2f * speed;
    }
  }
};

static const programs<step> exported;
