// One pass over arrays, as Kiln programs.
#pragma once

#include "tests/bench/headline/programs/products.h"

template <class D, auto N>
struct saxpy : program<saxpy<D, N>> {
  in<D> a;
  in<D, N> x;
  inout<D, N> y;
  constexpr void body() { y = a * x + y; }
};
template <class D, auto N>
struct exponential : program<exponential<D, N>> {
  in<D, N> x;
  out<D, N> y;
  constexpr void body() { y = exp(x); }
};
template <class D, auto N>
struct gelu_tanh : program<gelu_tanh<D, N>> {
  in<D, N> x;
  out<D, N> y;
  constexpr void body() { y = gelu_by_tanh(x); }
};
template <class D, auto N>
struct chain5 : program<chain5<D, N>> {
  in<D, N> a, b, c, d;
  out<D, N> y;
  constexpr void body() { y = max((a * b + c) * d - a, 0); }
};
template <class D, auto N>
struct chain20 : program<chain20<D, N>> {
  in<D, N> x, z;
  out<D, N> y;
  static constexpr auto link(auto const& v, auto const& x, auto const& z) { return max(v * 0.9 + z, x) - 0.1; }
  constexpr void body() { y = link(link(link(link(link(x, x, z), x, z), x, z), x, z), x, z); }
};
