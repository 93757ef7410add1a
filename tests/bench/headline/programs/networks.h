// Parts of networks, and their training, as Kiln programs.
#pragma once

#include <kiln/dsl.h>

#include <limits>

using namespace kiln;

// One new token: a row of queries for each head, and the keys and values of all tokens before.
template <class D, auto H, auto S, auto E>
struct decode : program<decode<D, H, S, E>> {
  in<D, H, 1, E> q;
  in<D, H, S, E> k, v;
  out<D, H, 1, E> y;
  constexpr void body() { y = matmul(softmax<2>(matmul(q, transpose(k)) * 0.125), v); }
};
template <class D, auto H, auto S, auto E>
struct causal_attention : program<causal_attention<D, H, S, E>> {
  in<D, H, S, E> q, k, v;
  out<D, H, S, E> y;
  constexpr void body() {
    auto score = matmul(q, transpose(k)) * 0.125;
    y = matmul(softmax<2>(select(iota<2>(score) <= iota<1>(score), score, -std::numeric_limits<float>::infinity())), v);
  }
};
// The gates r, z and n beside each other in the weights.
template <class D, auto B, auto I, auto H>
struct gru_cell : program<gru_cell<D, B, I, H>> {
  in<D, B, I> x;
  in<D, B, H> h;
  in<D, I, 3 * H> w;
  in<D, H, 3 * H> u;
  in<D, 3 * H> b;
  out<D, B, H> y;
  constexpr void body() {
    auto a = matmul(x, w) + b;
    auto c = matmul(h, u);
    auto r = sigmoid(slice<1, 0, H>(a) + slice<1, 0, H>(c));
    auto z = sigmoid(slice<1, H, 2 * H>(a) + slice<1, H, 2 * H>(c));
    auto n = tanh(slice<1, 2 * H, 3 * H>(a) + r * slice<1, 2 * H, 3 * H>(c));
    y = (1 - z) * n + z * h;
  }
};
template <class D, auto M, auto N>
struct cross_entropy : program<cross_entropy<D, M, N>> {
  in<D, M, N> x;
  in<i32, M> label;
  out<D> y;
  constexpr void body() { y = -mean(sum<1>(select(iota<1>(x) == unsqueeze<1>(label), log_softmax<1>(x), 0))); }
};
template <class D, auto M, auto N>
struct rms_norm : program<rms_norm<D, M, N>> {
  in<D, M, N> x;
  in<D, N> scale;
  out<D, M, N> y;
  constexpr void body() { y = x * rsqrt(mean<1>(x * x, keepdims) + 1e-5) * scale; }
};
template <class D, auto M, auto K, auto N>
struct swiglu : program<swiglu<D, M, K, N>> {
  in<D, M, K> x;
  in<D, K, N> w, v;
  out<D, M, N> y;
  constexpr void body() { y = silu(matmul(x, w)) * matmul(x, v); }
};
template <class D, auto N>
struct adam : program<adam<D, N>> {
  in<D, N> g;
  inout<D, N> w, m, v;
  constexpr void body() {
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * abs(v) + 0.001 * (g * g);
    w -= 0.001 * m / (sqrt(v) + 1e-8);
  }
};
// The gradient of a logistic regression.
template <class D, auto M, auto N>
struct logistic : program<logistic<D, M, N>> {
  in<D, M, N> x;
  in<D, M> t;
  in<D, N> w;
  out<D, N> y;
  constexpr void body() { y = matmul(sigmoid(matmul(x, w)) - t, x); }
};
