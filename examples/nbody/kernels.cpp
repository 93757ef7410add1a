// Gravity among N bodies of mass 1: the same step written as tensor algebra, and as a loop per body.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N"> N;

template <class D>
struct tensors : program<tensors<D>> {
  in<D, N, 3> x, v;
  out<D, N, 3> next_x, next_v;
  constexpr void body() {
    auto d = unsqueeze<1>(x) - unsqueeze<0>(x);  // N x N x 3, never stored
    auto d2 = sum<2>(d * d) + 1e-4;
    auto force = -sum<1>(d * unsqueeze<2>(1.0f / (d2 * sqrt(d2))));
    auto speed = v + 0.001 * force;
    next_v = speed;
    next_x = x + 0.001 * speed;
  }
};

template <class D>
struct loops : program<loops<D>> {
  in<D, N, 3> x, v;
  out<D, N, 3> next_x, next_v;
  constexpr void body() {
    for (auto [i] : this->kernel(N)) {
      auto fx = this->template var<D>(0), fy = this->template var<D>(0), fz = this->template var<D>(0);
      auto xi = x(i, 0), yi = x(i, 1), zi = x(i, 2);
      for (auto j : this->loop(N)) {
        auto dx = xi - x(j, 0), dy = yi - x(j, 1), dz = zi - x(j, 2);
        auto d2 = dx * dx + dy * dy + dz * dz + 1e-4;
        auto s = 1.0f / (d2 * sqrt(d2));
        fx -= dx * s;
        fy -= dy * s;
        fz -= dz * s;
      }
      auto move = [&](auto const& body, int axis, auto const& force) {
        auto speed = v(body, axis) + 0.001 * force;
        next_v(body, axis) = speed;
        next_x(body, axis) = x(body, axis) + 0.001 * speed;
      };
      move(i, 0, fx), move(i, 1, fy), move(i, 2, fz);
    }
  }
};

static const programs<tensors<f32>, tensors<f64>, loops<f32>, loops<f64>> exported;
