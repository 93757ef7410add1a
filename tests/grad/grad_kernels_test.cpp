// Reverse mode through kernels without loops and through writes of several elements, against dual numbers over the records of
// each program.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include "tests/grad/run.h"
#include "tests/grad/threefry.h"

namespace grad_kernels_test {

using namespace kiln;
using grad_test::around_zero;
using grad_test::Program;
using grad_test::Tensor;
using grad_test::Tensors;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;
inline constexpr dim<"H"> H;
inline constexpr dim<"W"> W;

// Sums and last values at places that data decide, some of which are equal or outside.
struct places : program<places> {
  in<f64, N> x;
  in<f64, N, 2> rows;
  in<i32, N> k, l;
  in<f64, 5, 2> table;
  out<f64, N> sums, wrapped, skipped, last, second;
  out<f64, N, 2> by_rows, by_last_rows;
  out<f64, 5, 2> by_table;
  constexpr void body() {
    auto t = var<f64, 5>(1);
    t(k) += x * x;
    t.at<mode::wrap>(l) -= x;
    auto a = sum(t * t);
    sums = grad(a, x);
    auto u = var<f64, 5>(1);
    u.at<mode::wrap>(k) += x * x * x;
    auto b = sum(u * u);
    wrapped = grad(b, x);
    second = grad(sum(wrapped * x), x);
    auto v = var<f64, 5>(2);
    v.at<mode::skip>(k) = x * x;
    v(l) = 3 * x;
    auto c = sum(v * v * v);
    skipped = grad(c, x);
    auto w = var(table);
    w(l) += rows * rows;
    w(k) = rows;
    w(2) += rows(1);
    auto d = sum(w * w * w);
    auto [p, q] = grad(d, rows, table);
    by_rows = p;
    by_table = q;
    auto z = var(table);
    z(k, 1) = x * x;
    last = grad(sum(z * z * z), x);
    auto s = var(table);
    s(k) = rows * unsqueeze<1>(x);
    by_last_rows = grad(sum(s * s), rows);
  }
};
TEST(GradKernels, Places) {
  Program p(ir<places>);
  for (const std::int64_t n : {0, 2, 6}) {
    const std::vector<double> k = {1, 3, 1, -1, 4, 9}, l = {2, 2, 0, 1, 2, 4};
    const Tensors in = {{"x", around_zero({31, 1}, {n}, 1)},
                        {"rows", around_zero({31, 2}, {n, 2}, 1)},
                        {"k", {{n}, {k.begin(), k.begin() + n}}},
                        {"l", {{n}, {l.begin(), l.begin() + n}}},
                        {"table", around_zero({31, 3}, {5, 2}, 1)}};
    if (n > 0)
      p.check(in, {{"N", n}});
    else
      p.run(in, {{"N", n}});
  }
}

// Parts at a place that is known at run time, at the ends too.
struct blocks : program<blocks> {
  in<f64, 4> x;
  in<f64, 2, 3> block;
  in<i32> k;
  in<f64, N, M> t;
  out<f64, 4> part, added;
  out<f64, 2, 3> by_block;
  out<f64, N, M> by_t;
  constexpr void body() {
    auto u = var<f64, 7>(1);
    u(range<4>(k)) = x * x;
    part = grad(sum(u * u * u), x);
    u.at<mode::skip>(range<4>(k + 1)) += x;
    added = grad(sum(u * u), x);
    auto s = var(t);
    s.at<mode::skip>(range<2>(k), range<3>(1)) = block * block;
    s(range<2>(0), 1) += block(1, range<2>(k));
    auto [a, b] = grad(sum(s * s), block, t);
    by_block = a;
    by_t = b;
  }
};
TEST(GradKernels, Blocks) {
  Program p(ir<blocks>);
  for (const double k : {0.0, 2.0, 5.0, -1.0})
    p.check({{"x", around_zero({32, 1}, {4}, 1)},
             {"block", around_zero({32, 2}, {2, 3}, 1)},
             {"k", {{}, {k}}},
             {"t", around_zero({32, 3}, {4, 5}, 1)}},
            {{"N", 4}, {"M", 5}});
}

// Kernels that write every element, under conditions, across the axes, several elements or tensors, and sums by atomics.
struct kernels : program<kernels> {
  in<f64, H, W> x, w;
  in<i32, H, W> bin;
  in<f64, W, H> start;
  out<f64, H, W> ring, second, across, some, pair, counted, all, twice, in_order, by_w;
  out<f64, W, H> by_start;
  constexpr void body() {
    auto u = var<f64, H, W>();
    for (auto [i, j] : kernel(H, W))
      u(i, j) =
          x(i, j) * x.at<mode::wrap>(i, j + 1) + w(i - 1, j) * x.at<mode::mirror>(i + 2, j) + exp(x(i, j)) * cast<f64>(i - j);
    ring = grad(sum(u * u), x);
    second = grad(sum(ring * ring), x);
    auto v = var(start);
    for (auto [i, j] : kernel(H, W)) v(j, i) = v(j, i) * x(i, j) + stop_gradient(x(i, j)) * w(i, j);
    auto [a, b, c] = grad(sum(v * v), x, w, start);
    across = a;
    by_w = b;
    by_start = c;
    auto s = var(x);
    for (auto [i, j] : kernel(H, W))
      if (auto positive = when(x(i, j) > 0.0)) s(i, j) = x(i, j) * w(i, j);
    some = grad(sum(s * s), x);
    auto even = var<f64, H, 2 * W>();
    auto other = var(w);
    for (auto [i, j] : kernel(H, W)) {
      auto p = x(i, j);
      even(i, 2 * j) = p * p;
      even(i, 2 * j + 1) = p + w(i, j);
      other(i, j) = other(i, j) * sin(p);
    }
    for (auto [i, j] : kernel(H, W)) other(i, j).atomic_add(x(i, j) * x(i, j));
    pair = grad(sum(even * even * even) + sum(other * other), x);
    auto h = var<f64, 4>(1);
    for (auto [i, j] : kernel(H, W)) h(bin(i, j)).atomic_add(x(i, j) * x(i, j));
    counted = grad(sum(h * h * h), x);
    auto total = var(0.5);
    for (auto [i, j] : kernel(H, W)) total().atomic_add(x(i, j) * w(i, j));
    all = grad(total * total, x);
    auto t = var(x);
    for (auto [i, j] : kernel(H, W)) {
      if (auto positive = when(w(i, j) > 0.0)) t(i, j) += w(i, j);
      if (auto negative = otherwise()) t(i, j) *= w(i, j);
      t(i, j) *= t(i, j);
    }
    twice = grad(sum(t * t), w);
    auto f = var<f64, 5>(1);
    for (auto o : once())
      for (auto k : loop(1, 5)) f(k) = f(k - 1) * total + 1.0;
    in_order = grad(sum(f * f), x);
  }
};
TEST(GradKernels, Kernels) {
  Program p(ir<kernels>);
  for (const auto& [h, w] : {std::array<std::int64_t, 2>{3, 4}, {1, 1}, {0, 3}, {5, 2}}) {
    std::vector<double> bin(static_cast<std::size_t>(h * w));
    for (std::size_t i = 0; i < bin.size(); ++i) bin[i] = static_cast<double>(i * i % 5);
    p.check({{"x", around_zero({33, 1}, {h, w}, 1)},
             {"w", around_zero({33, 2}, {h, w}, 1)},
             {"bin", {{h, w}, bin}},
             {"start", around_zero({33, 3}, {w, h}, 1)}},
            {{"H", h}, {"W", w}});
  }
}

// A kernel in each turn of a loop; a direction of a gradient.
struct turns : program<turns> {
  in<f64, N> x, v;
  in<i32, N> k;
  in<f64, N, N> m;
  inout<f64, N> w;
  out<f64, N> bend, by_written;
  out<f64, N, N> by_m;
  constexpr void body() {
    for (auto t : loop(3)) {
      auto u = var<f64, N>();
      for (auto [i] : kernel(N)) u(i) = w(i) * x(i) + w(i + 1);
      u(k) += w * cast<f64>(t);
      w -= 0.1 * grad(sum(u * u), w);
    }
    auto y = var(x);
    y(k) = x * x * x;
    y(k) += x * x;
    bend = hvp(sum(y * y), x, v);
    auto r = var(x);
    r(0) = 0.5;  // an element of a tensor outside of the kernel, which is the x of the derivative
    auto z = var<f64, N>();
    for (auto [i] : kernel(N)) z(i) = r(i) * r(i);
    by_written = grad(sum(z * z), r);
    auto diagonal = var<f64, N>();
    for (auto [i] : kernel(N)) diagonal(i) = m(i, i) * m(i, i) * x(i);
    by_m = grad(sum(diagonal), m);
  }
};
TEST(GradKernels, Turns) {
  Program(ir<turns>).check({{"x", around_zero({34, 1}, {4}, 1)},
                            {"v", around_zero({34, 2}, {4}, 1)},
                            {"k", {{4}, {2, 0, 2, 3}}},
                            {"m", around_zero({34, 4}, {4, 4}, 1)},
                            {"w", around_zero({34, 3}, {4}, 1)}},
                           {{"N", 4}}, 1e-9);
}

// Loops with a constant number of turns: around tensors and kernels, with an end by data, inside of kernels; conditions.
struct loops : program<loops> {
  in<f64, N> x;
  in<f64, 3, N> steps;
  in<f64, N, N> w;
  out<f64, N> by_x, by_end, by_break, by_condition, windows, inside, smooth, second;
  out<f64, N, N> by_w;
  out<f64, 3, N> by_steps;
  constexpr void body() {
    auto h = var(x);
    for (auto t : loop(3)) h = tanh(matmul(w, h) + steps(t)) * cast<f64>(t + 1);
    auto [a, b, c] = grad(sum(h * h), x, w, steps);
    by_x = a;
    by_w = b;
    by_steps = c;
    second = grad(sum(a * a), x);
    auto u = var(x);
    auto total = var<f64>(0);
    for (auto t : loop(5, -1, -2)) {
      u = u * u * 0.5 + x;
      total += sum(u) * cast<f64>(t);
      break_if(total > 9.0);
    }
    by_end = grad(total * total, x);
    auto power = var(x);
    for (auto t : loop(5)) {
      power *= x;
      break_if(t == 1);
    }
    by_break = grad(sum(power), x);
    auto v = var(x);
    if (auto positive = when(sum(x) > 0)) {
      v = x * x;
      if (auto large = when(x(0) > 0.5)) v(1) = v(0) * 3;
    }
    if (auto small = otherwise(sum(x) < -1)) v += 2 * x;
    if (auto other = otherwise()) v = sin(x);
    by_condition = grad(sum(v * v), x);
    auto s = var<f64, N>();
    for (auto [i] : kernel(N)) {
      auto e = var(0.0);
      for (auto k : loop(-2, 3)) e += x.at<mode::mirror>(i + k) * x(i) * cast<f64>(k * k);
      s(i) = e * e;
    }
    windows = grad(sum(s * s), x);
    auto y = var(x);
    for (auto t : loop(3)) {
      auto old = y + 0.0;
      for (auto [i] : kernel(N)) y(i) = 0.5 * old(i) * old(i + 1) + x(i);
    }
    smooth = grad(sum(y * y), x);
    for (auto [i] : kernel(N)) {
      auto p = x(i);
      auto q = var(1.0);
      for (auto k : loop(4)) q = q * p + cast<f64>(k);
      inside(i) = grad(q * q, p);
    }
  }
};
TEST(GradKernels, Loops) {
  Program p(ir<loops>);
  for (const double shift : {0.0, 0.4, -0.5}) {
    Tensor x = around_zero({35, 1}, {4}, 1);
    for (double& v : x.v) v += shift;
    p.check({{"x", x}, {"steps", around_zero({35, 2}, {3, 4}, 1)}, {"w", around_zero({35, 3}, {4, 4}, 1)}}, {{"N", 4}}, 1e-9);
  }
}

// A convolution that a kernel computes. Its gradients are the same as those of conv2d.
struct window_of_weights : program<window_of_weights> {
  in<f64, H, W> x;
  in<f64, 5, 5> k;
  out<f64, H, W> by_x, conv_by_x;
  out<f64, 5, 5> by_k, conv_by_k;
  constexpr void body() {
    auto y = var<f64, H, W>();
    for (auto [i, j] : kernel(H, W)) {
      auto s = var(0.0);
      for (auto a : loop(5))
        for (auto b : loop(5)) s += x(i + a - 2, j + b - 2) * k(a, b);
      y(i, j) = s;
    }
    auto [a, b] = grad(sum(y * y), x, k);
    by_x = a;
    by_k = b;
    auto wide = pad<1, 2, 2, pad_mode::edge>(pad<0, 2, 2, pad_mode::edge>(x));
    auto z = conv2d(unsqueeze<0, 1>(wide), unsqueeze<0, 1>(k));
    auto [c, d] = grad(sum(z * z), x, k);
    conv_by_x = c;
    conv_by_k = d;
  }
};
TEST(GradKernels, WindowOfWeights) {
  const Tensors r =
      Program(ir<window_of_weights>)
          .interpret({{"x", around_zero({36, 1}, {6, 7}, 1)}, {"k", around_zero({36, 2}, {5, 5}, 1)}}, {{"H", 6}, {"W", 7}});
  grad_test::expect_near(r.at("by_x"), r.at("conv_by_x").v, 1e-11, "by_x");
  grad_test::expect_near(r.at("by_k"), r.at("conv_by_k").v, 1e-11, "by_k");
}

// A value of one element whose derivative is that of another tensor's elements.
struct straight : program<straight> {
  in<f64, N> x, w;
  out<f64, N> g;
  constexpr void body() {
    auto y = var<f64, N>();
    for (auto [i] : kernel(N)) y(i) = straight_through(x(0), w(i)) * w(i);
    g = grad(sum(y), w);
  }
};
TEST(GradKernels, StraightThrough) {
  const Tensors r = Program(ir<straight>).run({{"x", {{3}, {2, 3, 4}}}, {"w", {{3}, {5, 6, 7}}}}, {{"N", 3}});
  grad_test::expect_near(r.at("g"), {7, 8, 9}, 0, "g");
}

struct halves : program<halves> {
  in<f16, 4> x;
  in<i32, 4> k;
  out<f16, 4> g, last;
  constexpr void body() {
    auto h = var(x);
    for (auto [i] : kernel(4)) h(i) = x(i) * x(i - 1);
    g = grad(sum(h * h), x);
    auto t = var(x);
    t(k) = x * x;
    last = grad(sum(t), x);
  }
};
TEST(GradKernels, Halves) {
  const Tensors r = Program(ir<halves>).run({{"x", {{4}, {1, 0.5, -2, 0.25}}}, {"k", {{4}, {0, 3, 3, 0}}}});
  grad_test::expect_near(r.at("g"), {4.5, 5, -1.25, 2}, 0, "g");
  grad_test::expect_near(r.at("last"), {0, 1, -3, 0.5}, 0, "last");
}

}  // namespace

}  // namespace grad_kernels_test
