// An N-body step and two small networks as Kiln programs.
#pragma once

#include <kiln/dsl.h>

using namespace kiln;

template <class D, auto N>
struct nbody : program<nbody<D, N>> {
  in<D, N> x, y, z;
  out<D, N> ax, ay, az;
  constexpr void body() {
    for (auto [i] : this->kernel(N)) {
      auto fx = this->template var<D>(0), fy = this->template var<D>(0), fz = this->template var<D>(0);
      auto xi = x(i), yi = y(i), zi = z(i);
      for (auto j : this->loop(N)) {
        auto dx = x(j) - xi, dy = y(j) - yi, dz = z(j) - zi;
        auto d2 = dx * dx + dy * dy + dz * dz + 1e-3;
        auto inverse = 1.0f / (d2 * sqrt(d2));
        fx += dx * inverse;
        fy += dy * inverse;
        fz += dz * inverse;
      }
      ax(i) = fx;
      ay(i) = fy;
      az(i) = fz;
    }
  }
};
template <class D, auto B, auto H, auto S, auto E>
struct attention : program<attention<D, B, H, S, E>> {
  in<D, B, H, S, E> q, k, v;
  out<D, B, H, S, E> y;
  constexpr void body() { y = matmul(softmax<3>(matmul(q, transpose(k)) * 0.125), v); }
};
template <class D, auto B, auto I, auto H1, auto H2, auto O>
struct mlp : program<mlp<D, B, I, H1, H2, O>> {
  in<D, B, I> x;
  in<D, I, H1> w1;
  in<D, H1> b1;
  in<D, H1, H2> w2;
  in<D, H2> b2;
  in<D, H2, O> w3;
  in<D, O> b3;
  out<D, B, O> y;
  constexpr void body() {
    auto h = relu(matmul(relu(matmul(x, w1) + b1), w2) + b2);
    y = matmul(h, w3) + b3;
  }
};
