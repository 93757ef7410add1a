// Convolutions, pools and stencils as Kiln programs.
#pragma once

#include <kiln/dsl.h>

using namespace kiln;

template <class D, auto B, auto C, auto H, auto W, auto O, int R, int Stride, int Padding, int Groups>
struct convolution : program<convolution<D, B, C, H, W, O, R, Stride, Padding, Groups>> {
  in<D, B, C, H, W> x;
  in<D, O, C / Groups, R, R> w;
  out<D, B, O, (H + 2 * Padding - R) / Stride + 1, (W + 2 * Padding - R) / Stride + 1> y;
  constexpr void body() { y = conv2d<kiln::dsl::conv{.stride = Stride, .padding = Padding, .groups = Groups}>(x, w); }
};
template <class D, auto C, auto H, auto W>
struct max_pool : program<max_pool<D, C, H, W>> {
  in<D, 1, C, H, W> x;
  out<D, 1, C, (H - 1) / 2 + 1, (W - 1) / 2 + 1> y;
  constexpr void body() { y = max_pool2d<kiln::dsl::pool{.kernel = 3, .stride = 2, .padding = 1}>(x); }
};

// Beyond a border are the values of the border.
template <int Axis>
constexpr auto before(auto const& x) {
  return slice<Axis, none, -1>(pad<Axis, 1, 0, pad_mode::edge>(x));
}
template <int Axis>
constexpr auto after(auto const& x) {
  return slice<Axis, 1, none>(pad<Axis, 0, 1, pad_mode::edge>(x));
}
constexpr auto smoothed(auto const& x) {
  auto t = 0.25 * (before<0>(x) + after<0>(x)) + 0.5 * x;
  return 0.25 * (before<1>(t) + after<1>(t)) + 0.5 * t;
}

template <class D, auto H, auto W>
struct jacobi : program<jacobi<D, H, W>> {
  in<D, H, W> x;
  out<D, H, W> y;
  constexpr void body() { y = 0.25 * ((before<0>(x) + after<0>(x)) + (before<1>(x) + after<1>(x))); }
};
template <class D, auto H, auto W>
struct gauss : program<gauss<D, H, W>> {
  in<D, H, W, 3> x;
  out<D, H, W, 3> y;
  constexpr void body() { y = smoothed(x); }
};
template <class D, auto H, auto W>
struct unsharp : program<unsharp<D, H, W>> {
  in<D, H, W, 3> x;
  out<D, H, W, 3> y;
  constexpr void body() { y = clamp(x + 1.5 * (x - smoothed(x)), 0, 1); }
};
