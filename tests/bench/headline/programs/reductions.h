// Reductions as Kiln programs.
#pragma once

#include <kiln/dsl.h>

using namespace kiln;

template <class D, auto N>
struct total : program<total<D, N>> {
  in<D, N> x;
  out<D> y;
  constexpr void body() { y = sum(x); }
};
template <class D, auto N>
struct lowest : program<lowest<D, N>> {
  in<D, N> x;
  out<D> y;
  constexpr void body() { y = min(x); }
};
template <class D, auto N>
struct argmax_all : program<argmax_all<D, N>> {
  in<D, N> x;
  out<i64> y;
  constexpr void body() { y = argmax(x); }
};
template <class D, auto N>
struct prefix_sum : program<prefix_sum<D, N>> {
  in<D, N> x;
  out<D, N> y;
  constexpr void body() { y = cumsum(x); }
};
template <class D, auto N>
struct dot_product : program<dot_product<D, N>> {
  in<D, N> a, b;
  out<D> y;
  constexpr void body() { y = dot(a, b); }
};
template <class D, auto M, auto N>
struct softmax_rows : program<softmax_rows<D, M, N>> {
  in<D, M, N> x;
  out<D, M, N> y;
  constexpr void body() { y = softmax<1>(x); }
};
template <class D, auto M, auto N>
struct layer_norm_rows : program<layer_norm_rows<D, M, N>> {
  in<D, M, N> x;
  in<D, N> scale, shift;
  out<D, M, N> y;
  constexpr void body() { y = layer_norm<1>(x, scale, shift); }
};
template <class D, auto M, auto N>
struct sum_columns : program<sum_columns<D, M, N>> {
  in<D, M, N> x;
  out<D, N> y;
  constexpr void body() { y = sum<0>(x); }
};
template <class D, auto M, auto N>
struct max_columns : program<max_columns<D, M, N>> {
  in<D, M, N> x;
  out<D, N> y;
  constexpr void body() { y = max<0>(x); }
};
template <class D, auto M, auto N>
struct argmin_rows : program<argmin_rows<D, M, N>> {
  in<D, M, N> x;
  out<i64, M> y;
  constexpr void body() { y = argmin<1>(x); }
};
template <class D, auto M, auto K>
struct distances : program<distances<D, M, K>> {
  in<D, M, K> x;
  out<D, M, M> y;
  constexpr void body() {
    auto d = unsqueeze<1>(x) - unsqueeze<0>(x);
    y = sqrt(sum<2>(d * d));
  }
};
