// Gravity among N bodies of mass 1. The same step is written as tensor algebra and as a loop for each body. Two more programs
// make many steps in place, by a loop around either form.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N"> N;

constexpr auto force_as_tensors(auto const& x) {
  auto d = unsqueeze<1>(x) - unsqueeze<0>(x);  // N x N x 3; this tensor is never stored
  auto d2 = sum<2>(d * d) + 1e-4;
  return -sum<1>(d * unsqueeze<2>(1.0f / (d2 * sqrt(d2))));
}

// Calls then(i, axis, force) for each body and axis.
template <class D>
constexpr void force_as_loops(auto const& s, auto const& x, auto const& then) {
  for (auto [i] : s.kernel(N)) {
    auto fx = s.template var<D>(0), fy = s.template var<D>(0), fz = s.template var<D>(0);
    auto xi = x(i, 0), yi = x(i, 1), zi = x(i, 2);
    for (auto j : s.loop(N)) {
      auto dx = xi - x(j, 0), dy = yi - x(j, 1), dz = zi - x(j, 2);
      auto d2 = dx * dx + dy * dy + dz * dz + 1e-4;
      auto inverse = 1.0f / (d2 * sqrt(d2));
      fx -= dx * inverse;
      fy -= dy * inverse;
      fz -= dz * inverse;
    }
    then(i, 0, fx), then(i, 1, fy), then(i, 2, fz);
  }
}

template <class D>
struct tensors : program<tensors<D>> {
  in<D, N, 3> x, v;
  out<D, N, 3> next_x, next_v;
  constexpr void body() {
    auto speed = v + 0.001 * force_as_tensors(x);
    next_v = speed;
    next_x = x + 0.001 * speed;
  }
};

template <class D>
struct loops : program<loops<D>> {
  in<D, N, 3> x, v;
  out<D, N, 3> next_x, next_v;
  constexpr void body() {
    force_as_loops<D>(*this, x, [&](auto const& i, int axis, auto const& force) {
      auto speed = v(i, axis) + 0.001 * force;
      next_v(i, axis) = speed;
      next_x(i, axis) = x(i, axis) + 0.001 * speed;
    });
  }
};

template <class D>
struct tensor_steps : program<tensor_steps<D>> {
  in<i32> count;
  inout<D, N, 3> x, v;
  constexpr void body() {
    for ([[maybe_unused]] auto k : this->loop(count)) {
      v = v + 0.001 * force_as_tensors(x);
      x = x + 0.001 * v;
    }
  }
};

template <class D>
struct loop_steps : program<loop_steps<D>> {
  in<i32> count;
  inout<D, N, 3> x, v;
  constexpr void body() {
    for ([[maybe_unused]] auto k : this->loop(count)) {
      force_as_loops<D>(*this, x, [&](auto const& i, int axis, auto const& force) { v(i, axis) += 0.001 * force; });
      x = x + 0.001 * v;
    }
  }
};

static const programs<tensors<f32>, tensors<f64>, loops<f32>, loops<f64>, tensor_steps<f32>, tensor_steps<f64>, loop_steps<f32>,
                      loop_steps<f64>>
    exported;
