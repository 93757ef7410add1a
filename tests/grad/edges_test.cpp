// Derivatives at kinks and special values, and second derivatives in closed form.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include "tests/grad/run.h"

namespace edges_test {

using namespace kiln;
using grad_test::expect_near;
using grad_test::Tensors;

namespace {

inline constexpr dim<"N"> N;
constexpr double inf = INFINITY;

// Elementwise operations at several points at once.
struct kinks : program<kinks> {
  in<f64, N> x, a, b;
  out<f64, N> relu_, abs_, sign_, clamp_, most_a, most_b, root, guarded, logs, quotient, square;
  constexpr void body() {
    relu_ = grad(sum(relu(x)), x);
    abs_ = grad(sum(abs(x)), x);
    sign_ = unused_is_zero(grad(sum(sign(x)), x));
    clamp_ = grad(sum(clamp(x, 0, 1)), x);
    auto [da, db] = grad(sum(max(a, b)), a, b);
    most_a = da;
    most_b = db;
    root = grad(sum(sqrt(a)), a);
    guarded = grad(sum(select(a > 0, sqrt(a), 0)), a);
    logs = grad(sum(select(x > 0, log(x) * x, 0)), x);
    quotient = grad(sum(b / b), b);
    square = grad(sum(x * x), x);
  }
};
TEST(GradEdges, Kinks) {
  const Tensors in{{"x", {{5}, {-1, 0, 1, 2, 3}}}, {"a", {{5}, {0, 0, 2, 3, 1}}}, {"b", {{5}, {-0.0, 1, 2, 3, 4}}}};
  const Tensors r = grad_test::Program(ir<kinks>).run(in, {{"N", 5}});
  expect_near(r.at("relu_"), {0, 0, 1, 1, 1}, 0, "relu");
  expect_near(r.at("abs_"), {-1, 0, 1, 1, 1}, 0, "abs");
  expect_near(r.at("sign_"), {0, 0, 0, 0, 0}, 0, "sign");
  expect_near(r.at("clamp_"), {0, 0, 0, 0, 0}, 0, "clamp");
  expect_near(r.at("most_a"), {.5, 0, .5, .5, 0}, 0, "max(a, b) by a");
  expect_near(r.at("most_b"), {.5, 1, .5, .5, 1}, 0, "max(a, b) by b");
  expect_near(r.at("root"), {inf, inf, .5 / std::sqrt(2.0), .5 / std::sqrt(3.0), .5}, 1e-15, "sqrt");
  expect_near(r.at("guarded"), {0, 0, .5 / std::sqrt(2.0), .5 / std::sqrt(3.0), .5}, 1e-15, "guarded sqrt");
  expect_near(r.at("logs"), {0, 0, 1, 1.6931471805599454, 1 + std::log(3.0)}, 1e-15, "x log x");
  EXPECT_EQ(r.at("quotient").v[3], 0);
  EXPECT_EQ(r.at("square").v[4], 6);
}

struct powers : program<powers> {
  in<f64, N> a, b;
  out<f64, N> by_a, by_b, cubes, roots;
  constexpr void body() {
    auto [da, db] = grad(sum(pow(a, b)), a, b);
    by_a = da;
    by_b = db;
    cubes = grad(sum(pow(a, 3)), a);
    roots = grad(sum(pow(b, 0.5)), b);
  }
};
TEST(GradEdges, PowerAtZero) {
  const Tensors in{{"a", {{6}, {0, 0, 0, 0, -2, 2}}}, {"b", {{6}, {2, 1, 0, .5, 3, 3}}}};
  const Tensors r = grad_test::Program(ir<powers>).run(in, {{"N", 6}});
  expect_near(r.at("by_a"), {0, 1, 0, inf, 12, 12}, 1e-15, "pow by a");
  const auto& by_b = r.at("by_b").v;
  EXPECT_EQ(by_b[0], 0);
  EXPECT_TRUE(std::isnan(by_b[4]));
  EXPECT_NEAR(by_b[5], 5.545177444479562, 1e-14);
  expect_near(r.at("cubes"), {0, 0, 0, 0, 12, 12}, 1e-15, "cubes");
  EXPECT_NEAR(r.at("roots").v[0], .5 / std::sqrt(2.0), 1e-15);
}

// Reductions, windows and indices.
struct places : program<places> {
  in<f64, 4> m;
  in<f64, 3> p, q, r, x;
  in<f64, 0> none;
  in<i32, 4> at;
  in<f64, 4> w;
  in<f64, 1, 1, 4, 4> image;
  in<f64, 2> scores, zeros;
  out<f64, 4> first;
  out<f64, 3> prod_p, prod_q, prod_r, clamped, wrapped, mirrored, outside, edge, reflect, periodic;
  out<f64, 0> of_nothing;
  out<f64, 1, 1, 4, 4> pooled;
  out<f64, 2> entropy, length;
  out<f64> value;
  constexpr void body() {
    first = grad(max(m), m);
    prod_p = grad(prod(p), p);
    prod_q = grad(prod(q), q);
    prod_r = grad(prod(r), r);
    of_nothing = grad(prod(none), none);
    clamped = grad(sum(x(at) * w), x);
    wrapped = grad(sum(x.template at<mode::wrap>(at) * w), x);
    mirrored = grad(sum(x.template at<mode::mirror>(at) * w), x);
    auto y = sum(x.template at<mode::constant>(at, 1.0) * w);
    outside = grad(y, x);
    value = y;
    edge = grad(sum(pad<0, 2, 2, pad_mode::edge>(x)), x);
    reflect = grad(sum(pad<0, 2, 2, pad_mode::reflect>(x)), x);
    periodic = grad(sum(pad<0, 2, 2, pad_mode::wrap>(x)), x);
    constexpr dsl::pool halves{.kernel = 2};
    pooled = grad(sum(max_pool2d<halves>(image)), image);
    entropy = grad(-log_softmax(scores)(1), scores);
    auto squares = sum(zeros * zeros);
    length = grad(select(squares > 0, sqrt(squares), 0), zeros);
  }
};
TEST(GradEdges, Places) {
  const Tensors in{{"m", {{4}, {1, 3, 3, 2}}},   {"p", {{3}, {2, 0, 3}}},    {"q", {{3}, {0, 0, 3}}},
                   {"r", {{3}, {2, 5, 3}}},      {"x", {{3}, {0, 0, 0}}},    {"none", {{0}, {}}},
                   {"at", {{4}, {0, 0, 5, -1}}}, {"w", {{4}, {1, 2, 4, 8}}}, {"image", {{1, 1, 4, 4}, std::vector<double>(16)}},
                   {"scores", {{2}, {1000, 0}}}, {"zeros", {{2}, {0, 0}}}};
  const Tensors r = grad_test::Program(ir<places>).run(in);
  expect_near(r.at("first"), {0, 1, 0, 0}, 0, "max");
  expect_near(r.at("prod_p"), {0, 6, 0}, 0, "prod");
  expect_near(r.at("prod_q"), {0, 0, 0}, 0, "prod");
  expect_near(r.at("prod_r"), {15, 6, 10}, 0, "prod");
  expect_near(r.at("clamped"), {11, 0, 4}, 0, "clamp");
  expect_near(r.at("wrapped"), {3, 0, 12}, 0, "wrap");
  expect_near(r.at("mirrored"), {15, 0, 0}, 0, "mirror");
  expect_near(r.at("outside"), {3, 0, 0}, 0, "constant");
  EXPECT_EQ(r.at("value").v[0], 12);
  expect_near(r.at("edge"), {3, 1, 3}, 0, "edge");
  expect_near(r.at("reflect"), {2, 3, 2}, 0, "reflect");
  expect_near(r.at("periodic"), {2, 3, 2}, 0, "wrap");
  expect_near(r.at("pooled"), {1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0}, 0, "pool");
  expect_near(r.at("entropy"), {1, -1}, 0, "softmax and cross entropy");
  expect_near(r.at("length"), {0, 0}, 0, "length");
}

struct second_order : program<second_order> {
  in<f64> x, y, t;
  in<f64, 2> v;
  in<f64, 4> z, direction, a5;
  out<f64, 2> hv;
  out<f64, 4> slope, curvature;
  out<f64> d1, d2, d3;
  constexpr void body() {
    auto f = x * x * x * y;
    auto [fx, fy] = grad(f, x, y);
    auto vx = v(0);
    auto vy = v(1);
    auto hx = jvp(fx, wrt(x, vx), wrt(y, vy));
    auto hy = jvp(fy, wrt(x, vx), wrt(y, vy));
    hv = stack<0>(hx, hy);
    auto low = slice<0, 0, 3>(z);
    auto high = slice<0, 1, 4>(z);
    auto d = high - low * low;
    auto rosenbrock = sum(100 * d * d + (1 - low) * (1 - low));
    slope = grad(rosenbrock, z);
    curvature = hvp(rosenbrock, z, direction);
    auto s = tanh(t);
    auto s1 = grad(s, t);
    auto s2 = grad(s1, t);
    d1 = s1;
    d2 = s2;
    d3 = grad(s2, t);
  }
};
TEST(GradEdges, SecondOrder) {
  const Tensors in{{"x", {{}, {1.3}}},
                   {"y", {{}, {-.7}}},
                   {"t", {{}, {.4}}},
                   {"v", {{2}, {1, 2}}},
                   {"z", {{4}, {-1.2, 1, .7, -.3}}},
                   {"direction", {{4}, {1, -1, 2, .5}}},
                   {"a5", {{4}, {0, 0, 0, 0}}}};
  const Tensors r = grad_test::Program(ir<second_order>).run(in);
  expect_near(r.at("hv"), {4.68, 5.07}, 1e-13, "Hessian of x^3 y");
  expect_near(r.at("slope"), {-215.6, 32, 160.6, -158}, 1e-13, "Rosenbrock");
  expect_near(r.at("curvature"), {850, -1442, 2080, -460}, 1e-13, "Rosenbrock");
  EXPECT_NEAR(r.at("d1").v[0], 0.855638786081178, 1e-14);
  EXPECT_NEAR(r.at("d2").v[0], -0.650198137673728, 1e-14);
  EXPECT_NEAR(r.at("d3").v[0], -0.970151249154117, 1e-14);
}

// log psi of helium: -2 r1 - 2 r2 + r12 / (2 (1 + 0.35 r12)), of two electrons at three places.
struct helium : program<helium> {
  in<f64, N, 2, 3> x;
  out<f64, N> bend, squares;
  constexpr void body() {
    auto length = [](auto const& v) { return sqrt(sum<1>(v * v)); };
    auto first = reshape<N, 3>(slice<1, 0, 1>(x));
    auto second = reshape<N, 3>(slice<1, 1, 2>(x));
    auto r1 = length(first);
    auto r2 = length(second);
    auto apart = length(first - second);
    auto psi = apart / (2 * (1 + 0.35 * apart)) - 2 * r1 - 2 * r2;
    bend = laplacian(psi, x);
    auto g = grad(sum(psi), x);
    squares = sum<1, 2>(g * g);
  }
};
TEST(GradEdges, LaplacianOfHelium) {
  const Tensors in{{"x", {{3, 2, 3}, {.3, .2, -.1, -.4, .5, .6, 1, 0, 0, 0, 1, 0, .05, .1, .2, .9, -.8, .7}}}};
  const Tensors r = grad_test::Program(ir<helium>).check(in, {{"N", 3}});
  expect_near(r.at("bend"), {-14.483688827216, -7.576733957080, -19.855053684024}, 1e-12, "Laplacian");
  expect_near(r.at("squares"), {6.522929939302, 6.834556024633, 7.350614245893}, 1e-12, "squared gradient");
}

// A running sum by tensors, and a bilinear read by four elements.
struct interpolated : program<interpolated> {
  in<f64, 5> x, a;
  in<f64, 4, 5> t;
  in<f64, 2> place;
  out<f64, 5> da;
  out<f64, 4, 5> dt;
  out<f64, 2> dp;
  out<f64> v;
  constexpr void body() {
    auto rows = expand<5, 5>(x);
    auto sums = sum<1>(select(iota<1>(rows) <= iota<0>(rows), rows, 0));
    da = grad(sum(a * sums), x);
    auto y = place(0);
    auto z = place(1);
    auto i = cast<i32>(floor(y));
    auto k = cast<i32>(floor(z));
    auto f = y - floor(y);
    auto g = z - floor(z);
    auto top = lerp(t(i, k), t(i, k + 1), g);
    auto bottom = lerp(t(i + 1, k), t(i + 1, k + 1), g);
    auto value = lerp(top, bottom, f);
    auto [gt, gp] = grad(value * value, t, place);
    v = value;
    dt = gt;
    dp = gp;
  }
};
TEST(GradEdges, RunningSumAndBilinear) {
  Tensors in{{"x", {{5}, {1, 2, 3, 4, 5}}}, {"a", {{5}, {1, -2, 3, .5, 4}}}, {"place", {{2}, {1.25, 2.75}}}};
  in["t"] = dsl_test::make({4, 5});
  dsl_test::each({4, 5}, [&](const dsl_test::Shape& at) { in["t"].at(at) = static_cast<double>(at[0] * at[0] + 3 * at[1]); });
  const Tensors r = grad_test::Program(ir<interpolated>).run(in);
  expect_near(r.at("da"), {6.5, 5.5, 7.5, 4.5, 4}, 0, "running sum");
  EXPECT_EQ(r.at("v").v[0], 10);
  std::vector<double> corners(20);
  corners[7] = 3.75, corners[8] = 11.25, corners[12] = 1.25, corners[13] = 3.75;
  expect_near(r.at("dt"), corners, 1e-14, "bilinear by the table");
  expect_near(r.at("dp"), {60, 60}, 1e-14, "bilinear by the place");
}

// Second derivatives by values that move another value. A product takes such movements apart, but not the x of a derivative.
struct by_moved_values : program<by_moved_values> {
  in<f64, N, 3> points, v;
  in<f64, 3, 2> w, dw;
  in<f64, 6> line, along;
  out<f64, N, 3> bent;
  out<f64, 2, 3> turned;
  out<f64, 2, 3> shaped;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto p = points(i);
      auto square = dot(p, p);
      bent(i) = hvp(square * square, p, v(i));
    }
    auto t = transpose(w);
    auto m = matmul(t, w);
    turned = hvp(sum(m * m), t, transpose(dw));
    auto s = reshape<2, 3>(line);
    auto n = matmul(s, transpose(s));
    shaped = hvp(sum(n * n), s, reshape<2, 3>(along));
  }
};
TEST(GradEdges, SecondByMovedValues) {
  const Tensors in{{"points", {{2, 3}, {1, 2, 3, -1, .5, 2}}}, {"v", {{2, 3}, {1, -1, 2, .5, 1, 0}}},
                   {"w", {{3, 2}, {1, 2, -1, .5, 3, 1}}},      {"dw", {{3, 2}, {1, 0, -1, 2, .5, 1}}},
                   {"line", {{6}, {1, 2, -1, .5, 3, 1}}},      {"along", {{6}, {1, 0, -1, 2, .5, 1}}}};
  const Tensors r = grad_test::Program(ir<by_moved_values>).check(in, {{"N", 2}});
  for (std::size_t i = 0; i < 2; ++i) {
    double squares = 0, product = 0;
    for (std::size_t k = 3 * i; k < 3 * i + 3; ++k) {
      squares += in.at("points").v[k] * in.at("points").v[k];
      product += in.at("points").v[k] * in.at("v").v[k];
    }
    for (std::size_t k = 3 * i; k < 3 * i + 3; ++k)
      EXPECT_NEAR(r.at("bent").v[k], 4 * squares * in.at("v").v[k] + 8 * product * in.at("points").v[k], 1e-12);
  }
}

// Derivatives by elements that the work item has written, of values of other such elements, and second ones.
struct by_own_elements : program<by_own_elements> {
  in<f64, N, 2> x;
  in<i32, N> k;
  inout<f64, N> y;
  out<f64, N> below, above, mixed, first, second, both;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto p = x(i, 0), r = x(i, 1);
      auto one = p * 0.0 + 1.0;
      auto a = local<f64, 3>();
      a(k(i)) = p * r;
      a(1) += sin(p);
      a(2) = a(k(i)) * r;
      auto q = a(2);
      below(i) = grad(q * q * p, q);
      auto z = a(1) * 3.0;
      above(i) = unused_is_zero(grad(z * q * p, z));
      auto g = grad(q * q * q * p, p);
      mixed(i) = jvp(g * q, q, one);
      y(i) = p * 2.0;
      auto w = y(i);
      auto h = grad(w * w * p, p);
      first(i) = h;
      second(i) = grad(h + w * r, w);
      both(i) = grad(grad(w * q * q, q), w);
    }
  }
};
TEST(GradEdges, ByOwnElements) {
  const Tensors in{{"x", {{3, 2}, {.5, 2, -1, .3, .7, -.4}}}, {"k", {{3}, {0, 1, 2}}}, {"y", {{3}, {1, 2, 3}}}};
  const Tensors r = grad_test::Program(ir<by_own_elements>).check(in, {{"N", 3}});
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(r.at("second").v[i], 8 * in.at("x").v[2 * i] + in.at("x").v[2 * i + 1], 1e-14) << i;
}

// Running products with zeros. A running product over a short constant extent is differentiated as a chain of multiplications.
struct running_products : program<running_products> {
  in<f64, N> x, v, c;
  in<f64, 7> y, w, d;
  out<f64, N> bent, along;
  out<f64, 7> bent_short, along_short;
  constexpr auto product(auto const& a, auto const& b) const {
    return sum(cumprod(a) * b) + sum(cumprod(a, exclusive, reverse) * b * b);
  }
  constexpr void body() {
    bent = hvp(product(x, c), x, v);
    bent_short = hvp(product(y, d), y, w);
    along = jvp(jvp(cumprod(x, reverse), x, v), x, c);
    along_short = jvp(jvp(cumprod(y, reverse), y, w), y, d);
  }
};
TEST(GradEdges, RunningProductsWithZeros) {
  grad_test::Program program(ir<running_products>);
  const grad_test::Tensor v{{7}, {1, -2, .5, 3, 1, .25, -1}}, c{{7}, {2, 1, -1, .5, 3, -2, 1}};
  for (const std::vector<double>& zeros : std::vector<std::vector<double>>{{}, {3}, {0}, {6}, {1, 4}, {0, 1}, {2, 3, 5}}) {
    grad_test::Tensor x{{7}, {.5, -1, 2, 1.5, .75, -.5, 2}};
    for (const double z : zeros) x.v[static_cast<std::size_t>(z)] = 0;
    const Tensors r = program.run({{"x", x}, {"v", v}, {"c", c}, {"y", x}, {"w", v}, {"d", c}}, {{"N", 7}});
    expect_near(r.at("bent"), r.at("bent_short").v, 1e-13, "of a sum");
    expect_near(r.at("along"), r.at("along_short").v, 1e-13, "of the products");
  }
}

}  // namespace

}  // namespace edges_test
