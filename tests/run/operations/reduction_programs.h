// Reductions, matrix products, windows and library functions as a user writes them. References: reduction_reference.cpp.
#pragma once

#include "tests/run/operations/tags.h"

using namespace kiln::dsl;

template <class D, class E>
struct sums : program<sums<D, E>> {
  in<D, E::N, 3, E::M> x;
  in<D, E::L> line;
  out<D, 3, E::M> sum0, prod0;
  out<D, E::N, 3> sum2, prod2;
  out<D, E::N> sum12;
  out<D, 3> prod02;
  out<D> sum_all, prod_all, sum_line, prod_line;
  out<D, 1, 3, 1> sum_kept;
  out<D, E::N, 1, E::M> prod_kept;
  out<D, E::N, 3, E::M> cumsum0, cumsum1, cumsum2, cumprod2;
  out<D, E::L> cumsum_line;
  constexpr void body() {
    sum0 = sum<0>(x);
    sum2 = sum<-1>(x);
    sum12 = sum<1, 2>(x);
    sum_all = sum(x);
    sum_line = sum<0>(line);
    sum_kept = sum<0, 2>(x, keepdims);
    prod0 = prod<0>(x);
    prod2 = prod<2>(x);
    prod02 = prod<0, -1>(x);
    prod_all = prod(x);
    prod_line = prod(line);
    prod_kept = prod<1>(x, keepdims);
    cumsum0 = cumsum<0>(x, reverse);
    cumsum1 = cumsum<1>(x, exclusive);
    cumsum2 = cumsum<-1>(x);
    cumprod2 = cumprod<2>(x, exclusive, reverse);
    cumsum_line = cumsum(line);
  }
};

template <class D, class E>
struct extremes : program<extremes<D, E>> {
  in<D, E::N, 3, E::M> x;
  in<D, E::L> line;
  out<D, 3, E::M> max0, min0;
  out<D, E::N> max12, min12;
  out<D> max_all, min_all, max_line;
  out<D, 1, 3, 1> max_kept, min_kept;
  out<i64, 3, E::M> argmax0, argmin0;
  out<i64, E::N, 3> argmax2, argmin2;
  out<i64, 3> argmax02, argmin02;
  out<i64> argmax_all, argmin_all, argmin_line;
  out<i64, E::N, 1, E::M> argmax_kept, argmin_kept;
  out<D, E::N, 3, E::M> cummax0, cummin2;
  constexpr void body() {
    max0 = max<0>(x);
    max12 = max<1, 2>(x);
    max_all = max(x);
    max_line = max<-1>(line);
    max_kept = max<0, 2>(x, keepdims);
    min0 = min<0>(x);
    min12 = min<1, 2>(x);
    min_all = min(x);
    min_kept = min<0, 2>(x, keepdims);
    argmax0 = argmax<0>(x);
    argmax2 = argmax<2>(x);
    argmax02 = argmax<0, 2>(x);
    argmax_all = argmax(x);
    argmax_kept = argmax<1>(x, keepdims);
    argmin0 = argmin<0>(x);
    argmin2 = argmin<-1>(x);
    argmin02 = argmin<0, 2>(x);
    argmin_all = argmin(x);
    argmin_line = argmin(line);
    argmin_kept = argmin<1>(x, keepdims);
    cummax0 = cummax<0>(x);
    cummin2 = cummin<-1>(x, reverse, exclusive);
  }
};

template <class D, class E>
struct quantifiers : program<quantifiers<D, E>> {
  in<D, E::N, 3, E::M> x;
  out<D, 3, E::M> any0, all0;
  out<D, E::N> any12, all12;
  out<D> any_all, all_all;
  out<D, 1, 3, 1> any_kept, all_kept;
  constexpr void body() {
    any0 = any<0>(x);
    any12 = any<1, 2>(x);
    any_all = any(x);
    any_kept = any<0, 2>(x, keepdims);
    all0 = all<0>(x);
    all12 = all<1, 2>(x);
    all_all = all(x);
    all_kept = all<0, 2>(x, keepdims);
  }
};

template <class D, class E>
struct means : program<means<D, E>> {
  in<D, E::N, 3, E::M> x, y;
  out<D, 3, E::M> mean0;
  out<D, E::N, 3> mean2;
  out<D, E::N> mean12;
  out<D> mean_all, error;
  out<D, 1, 3, 1> mean_kept;
  constexpr void body() {
    mean0 = mean<0>(x);
    mean2 = mean<-1>(x);
    mean12 = mean<1, 2>(x);
    mean_all = mean(x);
    mean_kept = mean<0, 2>(x, keepdims);
    error = mse(x, y);
  }
};

template <class D, class E>
struct contractions : program<contractions<D, E>> {
  in<D, E::N, E::K> a;
  in<D, E::K, E::M> b;
  in<D, E::K> u, v;
  in<D, 2, 1, E::N, E::K> left;
  in<D, 3, E::K, E::M> right;
  in<D, 3, E::N, E::K> batch;
  out<D, E::N, E::M> product;
  out<D, E::N> by_vector;
  out<D, 3, E::N> batch_by_vector;
  out<D, E::M> vector_by;
  out<D> vectors, inner;
  out<D, 3, E::N, E::M> batched, one_left;
  out<D, 2, 3, E::N, E::M> both_batches;
  constexpr void body() {
    product = matmul(a, b);
    by_vector = matmul(a, v);
    batch_by_vector = matmul(batch, v);
    vector_by = matmul(u, b);
    vectors = matmul(u, v);
    inner = dot(u, v);
    batched = matmul(batch, right);
    one_left = matmul(a, right);
    both_batches = matmul(left, right);
  }
};

template <class D, class E>
struct convolutions : program<convolutions<D, E>> {
  in<D, E::B, 4, E::H, E::W> x;
  in<D, 6, 4, 3, 3> w;
  in<D, 6, 2, 2, 3> grouped;
  in<D, 6> bias;
  out<D, E::B, 6, E::H - 2, E::W - 2> plain, with_bias;
  out<D, E::B, 6, (E::H - 1) / 2 + 1, (E::W - 1) / 2 + 1> strided;
  out<D, E::B, 6, E::H - 2, E::W - 2> dilated;
  out<D, E::B, 6, E::H - 1, E::W - 2> groups;
  constexpr void body() {
    plain = conv2d(x, w);
    with_bias = conv2d(x, w, bias);
    strided = conv2d<conv{.stride = 2, .padding = 1}>(x, w);
    dilated = conv2d<conv{.padding = 1, .dilation = 2}>(x, w);
    groups = conv2d<conv{.groups = 2}>(x, grouped);
  }
};

template <class D, class E>
struct maxpools : program<maxpools<D, E>> {
  in<D, E::B, 2, E::H, E::W> x;
  out<D, E::B, 2, E::H / 2, E::W / 2> halves;
  out<D, E::B, 2, (E::H - 1) / 2 + 1, (E::W - 1) / 2 + 1> overlapping;
  out<D, E::B, 2, E::H - 2, E::W - 2> dilated;
  constexpr void body() {
    halves = max_pool2d<pool{.kernel = 2}>(x);
    overlapping = max_pool2d<pool{.kernel = 3, .stride = 2, .padding = 1}>(x);
    dilated = max_pool2d<pool{.kernel = 2, .stride = 1, .dilation = 2}>(x);
  }
};

template <class D, class E>
struct averagepools : program<averagepools<D, E>> {
  in<D, E::B, 2, E::H, E::W> x;
  out<D, E::B, 2, E::H / 2, E::W / 2> halves;
  out<D, E::B, 2, (E::H - 1) / 2 + 1, (E::W - 1) / 2 + 1> overlapping;
  out<D, E::B, 2, E::H - 2, E::W - 2> dilated;
  constexpr void body() {
    halves = avg_pool2d<pool{.kernel = 2}>(x);
    overlapping = avg_pool2d<pool{.kernel = 3, .stride = 2, .padding = 1}>(x);
    dilated = avg_pool2d<pool{.kernel = 2, .stride = 1, .dilation = 2}>(x);
  }
};

template <class D, class E>
struct normalized : program<normalized<D, E>> {
  in<D, E::N, E::M> x;
  in<D, E::M> gamma, beta;
  out<D, E::N, E::M> soft, log_soft, layer, affine, wide_eps;
  out<D, E::M, E::N> soft_first, log_first, layer_first;
  constexpr void body() {
    soft = softmax(x);
    log_soft = log_softmax(x);
    layer = layer_norm(x);
    affine = layer_norm(x, gamma, beta);
    wide_eps = layer_norm<1>(x, 0.5);
    soft_first = softmax<0>(transpose(x));
    log_first = log_softmax<0>(transpose(x));
    layer_first = layer_norm<0>(transpose(x));
  }
};
