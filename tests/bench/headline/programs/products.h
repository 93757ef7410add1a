// Products as Kiln programs.
#pragma once

#include <kiln/dsl.h>

using namespace kiln;

// The type that products of D are summed in.
template <class D>
struct wider {
  using type = D;
};
template <>
struct wider<bf16> {
  using type = f32;
};
template <>
struct wider<i8> {
  using type = f32;
};
template <class D>
using wide = typename wider<D>::type;

template <class D, auto M, auto K, auto N>
struct product : program<product<D, M, K, N>> {
  in<D, M, K> a;
  in<D, K, N> b;
  out<wide<D>, M, N> c;
  constexpr void body() { c = matmul<wide<D>>(a, b); }
};
template <class D, auto M, auto K, auto N>
struct product_u8_i8 : program<product_u8_i8<D, M, K, N>> {
  in<D, M, K> a;
  in<i8, K, N> b;
  out<i32, M, N> c;
  constexpr void body() { c = matmul<i32>(a, b); }
};
template <class D, auto M, auto K, auto N>
struct product_at_b : program<product_at_b<D, M, K, N>> {
  in<D, K, M> a;
  in<D, K, N> b;
  out<D, M, N> c;
  constexpr void body() { c = matmul(transpose(a), b); }
};
template <class D, auto M, auto K, auto N>
struct product_a_bt : program<product_a_bt<D, M, K, N>> {
  in<D, M, K> a;
  in<D, N, K> b;
  out<D, M, N> c;
  constexpr void body() { c = matmul(a, transpose(b)); }
};
template <class D, auto M, auto K, auto N>
struct product_at_bt : program<product_at_bt<D, M, K, N>> {
  in<D, K, M> a;
  in<D, N, K> b;
  out<D, M, N> c;
  constexpr void body() { c = matmul(transpose(a), transpose(b)); }
};
template <class D, auto B, auto M, auto K, auto N>
struct batched : program<batched<D, B, M, K, N>> {
  in<D, B, M, K> a;
  in<D, B, K, N> b;
  out<D, B, M, N> c;
  constexpr void body() { c = matmul(a, b); }
};

constexpr auto gelu_by_tanh(auto const& x) { return 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * (x * x * x)))); }

template <class D, auto M, auto K, auto N>
struct dense_relu : program<dense_relu<D, M, K, N>> {
  in<D, M, K> a;
  in<D, K, N> b;
  in<D, N> bias;
  out<D, M, N> c;
  constexpr void body() { c = relu(matmul(a, b) + bias); }
};
template <class D, auto M, auto K, auto N>
struct dense_gelu : program<dense_gelu<D, M, K, N>> {
  in<D, M, K> a;
  in<D, K, N> b;
  in<D, N> bias;
  out<D, M, N> c;
  constexpr void body() { c = gelu_by_tanh(matmul(a, b) + bias); }
};

template <class D, auto M, auto K>
struct matvec : program<matvec<D, M, K>> {
  in<D, M, K> a;
  in<wide<D>, K> x;
  out<wide<D>, M> y;
  constexpr void body() { y = matmul<wide<D>>(a, x); }
};
