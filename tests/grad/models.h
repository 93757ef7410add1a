// The networks of the training tests, with their losses and the rules of optimisers.
#pragma once

#include <kiln/dsl.h>

namespace models {

using namespace kiln;

template <class D, int In, int Out>
struct linear {
  inout<D, In, Out> w;
  inout<D, Out> b;
  constexpr auto operator()(Operand auto const& x) const { return matmul(x, w) + b; }
};
// The mean of -log softmax at the labels.
constexpr auto cross_entropy(Operand auto const& logits, Operand auto const& label) {
  auto all = log_softmax(logits);
  auto chosen = select(iota<1>(all) == unsqueeze<1>(label), all, 0);
  return -mean(sum<1>(chosen));
}

enum class rule { sgd, momentum, nesterov, adam, adamw, rmsprop, adagrad, lion };

// One step of an optimiser for one parameter. steps: the number of this step, from 1.
template <rule R>
constexpr void update(auto& w, auto& m, auto& v, Operand auto const& g, Operand auto const& steps, double rate) {
  if constexpr (R == rule::sgd) {
    w -= rate * g;
  } else if constexpr (R == rule::momentum) {
    auto next = 0.9 * m + g;
    m = next;
    w -= rate * next;
  } else if constexpr (R == rule::nesterov) {
    auto next = 0.9 * m + g;
    m = next;
    w -= rate * (g + 0.9 * next);
  } else if constexpr (R == rule::adam || R == rule::adamw) {
    auto mean = 0.9 * m + (1 - 0.9) * g;
    auto square = 0.999 * v + (1 - 0.999) * g * g;
    auto first = 1 - pow(0.9, steps);
    auto second = 1 - pow(0.999, steps);
    m = mean;
    v = square;
    if constexpr (R == rule::adamw) w -= rate * 0.01 * w;
    w -= rate * (mean / first) / (sqrt(square / second) + 1e-8);
  } else if constexpr (R == rule::rmsprop) {
    auto square = 0.99 * v + 0.01 * g * g;
    v = square;
    w -= rate * g / (sqrt(square) + 1e-8);
  } else if constexpr (R == rule::adagrad) {
    auto square = v + g * g;
    v = square;
    w -= rate * g / (sqrt(square) + 1e-10);
  } else {
    auto direction = sign(0.9 * m + 0.1 * g);
    m = 0.99 * m + 0.01 * g;
    w -= rate * direction;
  }
}
template <rule R>
constexpr void update_layer(auto& layer, auto& m, auto& v, auto const& g, Operand auto const& steps, double rate) {
  auto gw = g(layer.w);
  auto gb = g(layer.b);
  update<R>(layer.w, m.w, v.w, gw, steps, rate);
  update<R>(layer.b, m.b, v.b, gb, steps, rate);
}

// 20-16-16-10 with tanh.
struct synthetic_net {
  linear<f64, 20, 16> l0;
  linear<f64, 16, 16> l1;
  linear<f64, 16, 10> l2;
  constexpr auto operator()(Operand auto const& x) const { return l2(tanh(l1(tanh(l0(x))))); }
};
template <rule R>
struct synthetic : program<synthetic<R>> {
  static constexpr double rate = R == rule::adam || R == rule::adamw || R == rule::rmsprop ? 0.01
                                 : R == rule::adagrad                                      ? 0.05
                                 : R == rule::lion                                         ? 0.003
                                                                                           : 0.1;
  synthetic_net model, m, v;
  inout<f64> steps;
  in<f64, 96, 20> x;
  in<i32, 96> label;
  out<f64> loss, squares;
  out<f64, 4> samples;
  constexpr void body() {
    auto l = cross_entropy(model(x), label);
    auto g = grad(l, model);
    auto w0 = g(model.l0.w);
    auto w1 = g(model.l1.w);
    auto w2 = g(model.l2.w);
    auto b0 = g(model.l0.b);
    auto b1 = g(model.l1.b);
    auto b2 = g(model.l2.b);
    loss = l;
    squares = sum(w0 * w0) + sum(w1 * w1) + sum(w2 * w2) + sum(b0 * b0) + sum(b1 * b1) + sum(b2 * b2);
    samples = stack<0>(w0(0, 0), w1(3, 5), w2(15, 9), b0(2));
    steps += 1;
    auto t = steps + 0.0;
    update_layer<R>(model.l0, m.l0, v.l0, g, t, rate);
    update_layer<R>(model.l1, m.l1, v.l1, g, t, rate);
    update_layer<R>(model.l2, m.l2, v.l2, g, t, rate);
  }
};

// Digits of 8 x 8 pixels: 64-32-10 with relu.
template <class D>
struct digits_net {
  linear<D, 64, 32> l0;
  linear<D, 32, 10> l1;
  constexpr auto operator()(Operand auto const& x) const { return l1(relu(l0(x))); }
};
template <class D>
struct digits : program<digits<D>> {
  digits_net<D> model, m, v;
  inout<D> steps;
  in<D, 128, 64> x;
  in<i32, 128> label;
  out<D> loss;
  constexpr void body() {
    auto l = cross_entropy(model(x), label);
    auto g = grad(l, model);
    loss = l;
    steps += 1;
    auto t = steps + 0.0;
    update_layer<rule::adam>(model.l0, m.l0, v.l0, g, t, 0.005);
    update_layer<rule::adam>(model.l1, m.l1, v.l1, g, t, 0.005);
  }
};

template <class D, int In, int Out>
struct convolution {
  inout<D, Out, In, 3, 3> w;
  inout<D, Out> b;
  constexpr auto operator()(Operand auto const& x) const {
    constexpr dsl::conv same{.padding = 1};
    return conv2d<same>(x, w, b);
  }
};
struct digits_cnn_net {
  convolution<f64, 1, 8> c0;
  convolution<f64, 8, 16> c1;
  linear<f64, 64, 32> l0;
  linear<f64, 32, 10> l1;
  constexpr auto operator()(Operand auto const& x) const {
    constexpr dsl::pool halves{.kernel = 2};
    auto first = gelu(max_pool2d<halves>(c0(x)));
    auto second = gelu(max_pool2d<halves>(c1(first)));
    return l1(gelu(l0(reshape<-1, 64>(second))));
  }
};
struct digits_cnn : program<digits_cnn> {
  digits_cnn_net model, m, v;
  inout<f64> steps;
  in<f64, 128, 64> x;
  in<i32, 128> label;
  out<f64> loss;
  constexpr void body() {
    auto l = cross_entropy(model(reshape<128, 1, 8, 8>(x)), label);
    auto g = grad(l, model);
    loss = l;
    steps += 1;
    auto t = steps + 0.0;
    update_layer<rule::adam>(model.c0, m.c0, v.c0, g, t, 0.005);
    update_layer<rule::adam>(model.c1, m.c1, v.c1, g, t, 0.005);
    update_layer<rule::adam>(model.l0, m.l0, v.l0, g, t, 0.005);
    update_layer<rule::adam>(model.l1, m.l1, v.l1, g, t, 0.005);
  }
};
// The gradients of the network alone.
struct digits_cnn_gradients : program<digits_cnn_gradients> {
  digits_cnn_net model;
  in<f64, 128, 64> x;
  in<i32, 128> label;
  out<f64> loss, squares;
  out<f64, 4> samples;
  constexpr void body() {
    auto l = cross_entropy(model(reshape<128, 1, 8, 8>(x)), label);
    auto g = grad(l, model);
    auto c0 = g(model.c0.w);
    auto c1 = g(model.c1.w);
    auto d0 = g(model.l0.w);
    auto d1 = g(model.l1.w);
    auto b0 = g(model.c0.b);
    auto b1 = g(model.c1.b);
    auto e0 = g(model.l0.b);
    auto e1 = g(model.l1.b);
    loss = l;
    auto weights = sum(c0 * c0) + sum(c1 * c1) + sum(d0 * d0) + sum(d1 * d1);
    squares = weights + sum(b0 * b0) + sum(b1 * b1) + sum(e0 * e0) + sum(e1 * e1);
    samples = stack<0>(c0(0, 0, 1, 1), c1(3, 2, 0, 1), b1(5), d0(10, 7));
  }
};

// 784-256-128-10 with Adam, for its number of kernels.
struct mlp_net {
  linear<f32, 784, 256> l0;
  linear<f32, 256, 128> l1;
  linear<f32, 128, 10> l2;
  constexpr auto operator()(Operand auto const& x) const { return l2(relu(l1(relu(l0(x))))); }
};
struct mlp_step : program<mlp_step> {
  mlp_net model, m, v;
  inout<f32> steps;
  in<f32, 128, 784> x;
  in<i32, 128> label;
  out<f32> loss;
  constexpr void body() {
    auto l = cross_entropy(model(x), label);
    auto g = grad(l, model);
    loss = l;
    steps += 1;
    auto t = steps + 0.0f;
    update_layer<rule::adam>(model.l0, m.l0, v.l0, g, t, 0.001);
    update_layer<rule::adam>(model.l1, m.l1, v.l1, g, t, 0.001);
    update_layer<rule::adam>(model.l2, m.l2, v.l2, g, t, 0.001);
  }
};

// One layer with Adam: the loops that make the gradient update the weight and both averages.
struct layer_update : program<layer_update> {
  inout<f32, 784, 256> w, m, v;
  in<f32, 128, 784> x;
  in<f32, 128, 256> c;
  in<f32> steps;
  constexpr void body() {
    auto l = sum(matmul(x, w) * c);
    auto g = grad(l, w);
    update<rule::adam>(w, m, v, g, steps + 0.0f, 0.001);
  }
};

}  // namespace models
