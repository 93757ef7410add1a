// Formulas, stencils and statistics as Kiln programs.
#pragma once

#include <kiln/dsl.h>

#include "tests/bench/headline/programs/windows.h"

using namespace kiln;

template <class D, auto N>
struct black_scholes : program<black_scholes<D, N>> {
  in<D, N> s, k, t;
  out<D, N> call, put;
  static constexpr auto normal(auto const& x) { return 0.5 * (1 + erf(x * 0.70710678)); }
  constexpr void body() {
    auto price = s + 2, strike = k + 2, years = t + 1.5;
    auto root = 0.3 * sqrt(years);
    auto d1 = (log(price / strike) + 0.065 * years) / root;
    auto d2 = d1 - root;
    auto paid = strike * exp(-0.02 * years);
    call = price * normal(d1) - paid * normal(d2);
    put = paid * normal(-d2) - price * normal(-d1);
  }
};
template <class D, auto L, auto H, auto W>
struct heat : program<heat<D, L, H, W>> {
  in<D, L, H, W> x;
  out<D, L, H, W> y;
  constexpr void body() {
    y = x + 0.1 * (before<0>(x) + after<0>(x) + before<1>(x) + after<1>(x) + before<2>(x) + after<2>(x) - 6 * x);
  }
};
// A filter of 7 taps along both axes.
template <class D, auto H, auto W>
struct blur : program<blur<D, H, W>> {
  in<D, H, W> x;
  out<D, H, W> y;
  template <int Axis>
  static constexpr auto filtered(auto const& x) {
    auto p = pad<Axis, 3, 3, pad_mode::edge>(x);
    return 0.05 * (slice<Axis, 0, -6>(p) + slice<Axis, 6, none>(p)) + 0.1 * (slice<Axis, 1, -5>(p) + slice<Axis, 5, -1>(p)) +
           0.2 * (slice<Axis, 2, -4>(p) + slice<Axis, 4, -2>(p)) + 0.3 * x;
  }
  constexpr void body() { y = filtered<1>(filtered<0>(x)); }
};
template <class D, auto H, auto W>
struct rgb_to_yuv : program<rgb_to_yuv<D, H, W>> {
  in<D, H, W, 3> x;
  out<D, H, W> luma, cb, cr;
  constexpr void body() {
    auto c = cast<i32>(x);
    auto r = squeeze<2>(slice<2, 0, 1>(c)), g = squeeze<2>(slice<2, 1, 2>(c)), b = squeeze<2>(slice<2, 2, 3>(c));
    luma = cast<u8>(((66 * r + 129 * g + 25 * b + 128) >> 8) + 16);
    cb = cast<u8>(((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128);
    cr = cast<u8>(((112 * r - 94 * g - 18 * b + 128) >> 8) + 128);
  }
};
template <class D, auto M, auto N>
struct moments : program<moments<D, M, N>> {
  in<D, M, N> x;
  out<D, N> average, variance;
  constexpr void body() {
    auto m = mean<0>(x, keepdims);
    average = squeeze<0>(m);
    variance = mean<0>((x - m) * (x - m));
  }
};
template <class D, auto M, auto N>
struct softmax_columns : program<softmax_columns<D, M, N>> {
  in<D, M, N> x;
  out<D, M, N> y;
  constexpr void body() { y = softmax<0>(x); }
};
template <class D, auto M, auto N, auto K>
struct cosine : program<cosine<D, M, N, K>> {
  in<D, M, K> a;
  in<D, N, K> b;
  out<D, M, N> y;
  static constexpr auto length(auto const& x) { return sqrt(sum<1>(x * x, keepdims)); }
  constexpr void body() { y = matmul(a, transpose(b)) / (length(a) * transpose(length(b))); }
};
template <class D, auto M, auto N>
struct matvec_t : program<matvec_t<D, M, N>> {
  in<D, M, N> a;
  in<D, M> x;
  out<D, N> y;
  constexpr void body() { y = matmul(transpose(a), x); }
};
