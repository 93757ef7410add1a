// Permutations and changes of the type as Kiln programs.
#pragma once

#include <kiln/dsl.h>

using namespace kiln;

template <class D, auto M, auto N>
struct transposed : program<transposed<D, M, N>> {
  in<D, M, N> x;
  out<D, N, M> y;
  constexpr void body() { y = transpose(x); }
};
template <class D, auto A, auto B, auto C, auto E>
struct permuted_0231 : program<permuted_0231<D, A, B, C, E>> {
  in<D, A, B, C, E> x;
  out<D, A, C, E, B> y;
  constexpr void body() { y = permute<0, 2, 3, 1>(x); }
};
template <class D, auto A, auto B, auto C>
struct permuted_021 : program<permuted_021<D, A, B, C>> {
  in<D, A, B, C> x;
  out<D, A, C, B> y;
  constexpr void body() { y = permute<0, 2, 1>(x); }
};
template <class D, auto A, auto B, auto C>
struct permuted_210 : program<permuted_210<D, A, B, C>> {
  in<D, A, B, C> x;
  out<D, C, B, A> y;
  constexpr void body() { y = permute<2, 1, 0>(x); }
};
template <class D, auto A, auto B, auto C>
struct permuted_102 : program<permuted_102<D, A, B, C>> {
  in<D, A, B, C> x;
  out<D, B, A, C> y;
  constexpr void body() { y = permute<1, 0, 2>(x); }
};
template <class D, auto H, auto W>
struct grey : program<grey<D, H, W>> {
  in<D, H, W, 3> x;
  out<D, H, W> y;
  constexpr void body() {
    auto v = cast<u16>(x);
    auto c = [&](auto const& part) { return squeeze<2>(part); };
    y = cast<u8>((c(slice<2, 0, 1>(v)) * 77 + c(slice<2, 1, 2>(v)) * 150 + c(slice<2, 2, 3>(v)) * 29 + 128) >> 8);
  }
};
template <class D, auto H, auto W>
struct planar : program<planar<D, H, W>> {
  in<D, H, W, 3> x;
  out<D, 3, H, W> y;
  constexpr void body() { y = permute<2, 0, 1>(x); }
};
template <class D, auto M, auto N>
struct quantised : program<quantised<D, M, N>> {
  in<D, M, N> x;
  out<i8, M, N> q;
  out<f32, M> scale;
  constexpr void body() {
    auto most = max<1>(abs(x));
    q = cast<i8>(round(x * unsqueeze<1>(127.0 / most)));
    scale = most / 127.0;
  }
};
template <class D, auto M, auto N>
struct restored : program<restored<D, M, N>> {
  in<D, M, N> q;
  in<f32, M> scale;
  out<f32, M, N> x;
  constexpr void body() { x = cast<f32>(q) * unsqueeze<1>(scale); }
};
