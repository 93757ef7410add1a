// First and second derivatives of the functions of the DSL, against the dual-number evaluator. Each loss is a sum of results
// times numbers, so that every element of a result counts differently.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include "tests/grad/run.h"
#include "tests/grad/threefry.h"

namespace library_test {

using namespace kiln;
using grad_test::around_zero;
using grad_test::Program;
using grad_test::Tensors;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

struct functions : program<functions> {
  in<f64, N> x, c, direction;  // x in (0.1, 1)
  out<f64> l;
  out<f64, N> first, second;
  constexpr void body() {
    auto y = x - 0.55;
    auto a = exp(y) + exp2(y) * expm1(y) + log(x) * log2(x) + log1p(x);
    auto b = sqrt(x) * rsqrt(x + 1) + sin(y) * cos(y) + tan(y) * tanh(y) + erf(y);
    auto d = abs(y) * sign(y) + floor(y) * y + round(x) * x + trunc(x) + ceil(x);
    auto e = pow(x, 3) + pow(x, y) + pow(2.0, y) + min(x, 0.5) * max(y, 0.1) + max(x, y) + fma(x, y, a) + lerp(x, y, b);
    auto f = gelu(y) + sigmoid(y) * silu(y) + relu(y) + clamp(y, -0.2, 0.3) + select(y > 0, x * y, y / x);
    auto loss = sum((a * b + d) * c + e * f);
    l = loss;
    auto g = grad(loss, x);
    first = g;
    second = jvp(g, x, direction);
  }
};
TEST(GradLibrary, Elementwise) {
  Program program(ir<functions>);
  for (const std::int64_t n : {0, 1, 7}) {
    Tensors in{
        {"x", grad_test::uniform({1, 2}, {n})}, {"c", around_zero({1, 3}, {n})}, {"direction", around_zero({1, 4}, {n})}};
    for (double& v : in["x"].v) v = .1 + .9 * v;
    program.check(in, {{"N", n}});
  }
}

struct moved : program<moved> {
  in<f64, N, 6> x, c, direction;
  in<f64, 2, 3> w;
  out<f64> l;
  out<f64, N, 6> first, second;
  out<f64, 2, 3> dw;
  constexpr void body() {
    auto y = x * x;
    auto a = sum(roll<0, 2>(y) * flip<0, 1>(c) + roll<1, -4>(x));
    auto b = sum(slice<1, 1, none, 2>(y) * slice<1, 0, 3>(c)) + sum(slice<1, -1, 1, -2>(y) * slice<1, 0, 2>(c));
    auto p = pad<1, 2, 2, pad_mode::reflect>(y) + pad<1, 3, 1, pad_mode::wrap>(x);
    auto q = pad<1, 0, 4, pad_mode::edge>(x) + pad<1, 1, 3>(y);
    auto d = sum(slice<1, 2, 8>(p * q) * c) + sum(p * p);
    auto [left, right] = split<1, 2>(y);
    auto joined = concat<0>(left, right * 2);
    auto e = sum(stack<1>(left, right) * reshape<N, 2, 3>(c)) + sum(joined * joined);
    auto f = sum(repeat<0, 2>(left) * tile<2, 1>(right)) + sum(transpose(left) * transpose(right));
    auto g = sum(reshape<N, 2, 3>(y) * w);
    auto loss = a + b + d + e + f + g;
    l = loss;
    auto [gx, gw] = grad(loss, x, w);
    first = gx;
    dw = gw;
    second = jvp(gx, x, direction);
  }
};
TEST(GradLibrary, Movement) {
  Program program(ir<moved>);
  for (const std::int64_t n : {0, 1, 3})
    program.check({{"x", around_zero({2, 1}, {n, 6})},
                   {"c", around_zero({2, 2}, {n, 6})},
                   {"direction", around_zero({2, 3}, {n, 6})},
                   {"w", around_zero({2, 4}, {2, 3})}},
                  {{"N", n}});
}

struct reduced : program<reduced> {
  in<f64, 2, 3, 4> x, direction;
  in<f64, 2, 3> c;
  in<f64, 4> w;
  in<f64, 4, 5> m;
  in<f64, 5, 2> k;
  out<f64> l;
  out<f64, 2, 3, 4> first, second;
  out<f64, 4> dw, second_w;
  out<f64, 4, 5> dm;
  out<f64, 5, 2> dk;
  constexpr void body() {
    auto a = sum(sum<2>(x) * c) + sum(prod<2>(x) * c) + sum(max<2>(x) * min<2>(x)) + sum(max<0, 2>(concat<0>(x, x)));
    auto b = sum(mean<2>(x) * c) + sum(softmax<1>(x) * x) + sum(log_softmax(x) * w) + sum(layer_norm(x, w, w));
    auto p = matmul(matmul(x, m), k);
    auto d = sum(p * p) + sum(matmul(x, w) * c) + dot(w, w) + sum(matmul(w, m)) + mse(x, w);
    auto loss = a + b + d;
    l = loss;
    auto [gx, gw, gm, gk] = grad(loss, x, w, m, k);
    first = gx;
    dw = gw;
    dm = gm;
    dk = gk;
    second = jvp(gx, x, direction);
    second_w = jvp(gw, x, direction);
  }
};
TEST(GradLibrary, ReductionsAndProducts) {
  Program program(ir<reduced>);
  program.check({{"x", around_zero({3, 1}, {2, 3, 4})},
                 {"direction", around_zero({3, 2}, {2, 3, 4})},
                 {"c", around_zero({3, 3}, {2, 3})},
                 {"w", around_zero({3, 4}, {4})},
                 {"m", around_zero({3, 5}, {4, 5})},
                 {"k", around_zero({3, 6}, {5, 2})}},
                {}, 1e-9);
}

// Symbolic height and width, as images of any size have them.
struct windows : program<windows> {
  in<f64, 1, 2, N, M> x, direction;
  in<f64, 2, 2, 3, 3> w;
  in<f64, 2> bias;
  out<f64> l;
  out<f64, 1, 2, N, M> first, second;
  out<f64, 2, 2, 3, 3> dw;
  out<f64, 2> db;
  constexpr void body() {
    constexpr dsl::conv same{.padding = 1};
    constexpr dsl::conv strided{.stride = {2, 1}, .padding = 2, .dilation = 2};
    constexpr dsl::pool overlapping{.kernel = 3, .stride = 2, .padding = 1};
    auto y = tanh(conv2d<same>(x, w, bias));
    auto z = conv2d<strided>(y, w);
    auto loss = sum(z * z) + sum(max_pool2d<overlapping>(y)) + sum(avg_pool2d<overlapping>(y * y));
    l = loss;
    auto [gx, gw, gb] = grad(loss, x, w, bias);
    first = gx;
    dw = gw;
    db = gb;
    second = jvp(gx, x, direction);
  }
};
TEST(GradLibrary, Windows) {
  Program program(ir<windows>);
  program.check({{"x", around_zero({4, 1}, {1, 2, 4, 3})},
                 {"direction", around_zero({4, 2}, {1, 2, 4, 3})},
                 {"w", around_zero({4, 3}, {2, 2, 3, 3})},
                 {"bias", around_zero({4, 4}, {2})}},
                {{"N", 4}, {"M", 3}}, 1e-9);
}

struct gathered : program<gathered> {
  in<f64, N, 3> x;
  in<i32, 4> at;
  in<i32> row;
  in<f64, 4, 3> c;
  out<f64> l;
  out<f64, N, 3> first, second;
  constexpr void body() {
    auto rows = x(at);
    auto one = x(row);
    auto elements = x(at, at % 3);
    auto outside = x.template at<mode::constant>(at, 0.5);
    auto wrapped = x.template at<mode::wrap>(at);
    auto loss = sum(rows * rows * c) + sum(one * one) + sum(elements * elements * elements) + sum(outside * wrapped * c);
    l = loss;
    auto g = grad(loss, x);
    first = g;
    second = jvp(g, x, x);
  }
};
TEST(GradLibrary, Gather) {
  Program program(ir<gathered>);
  program.check({{"x", around_zero({5, 1}, {4, 3})},
                 {"at", {{4}, {3, 0, 5, -1}}},
                 {"row", {{}, {2}}},
                 {"c", around_zero({5, 2}, {4, 3})}},
                {{"N", 4}});
}

}  // namespace

}  // namespace library_test
