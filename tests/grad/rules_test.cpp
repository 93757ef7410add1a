// Rules of differentiate on small programs: edge cases, windows, kinds of nodes, errors.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/autodiff/differentiate.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/pipeline/run_passes.h"
#include "tests/unit/interp_harness.h"

namespace kiln::compiler::testing {
namespace {

using Values = std::vector<double>;

// The output g of a program of f64 lines about %0 = x, which defines %9: the gradient of the sum of %9 by x.
std::string gradient_text(std::size_t n, const std::string& lines, bool scalar_result = false) {
  const std::string extent = std::to_string(n);
  return "program t\nin f64 [" + extent + "] x\nout f64 [" + extent + "] g\n%0 = param x\n" + lines +
         (scalar_result ? "%90 = stage %9\n" : "%90 = reduce %9, sum, axes [0]\n") +
         "%91 = const f64 1\n%92 = gradient %90, %91, %0\nstore g, %92\n";
}
Values gradient(const Values& x, const std::string& lines, bool scalar_result = false) {
  const auto n = static_cast<std::int64_t>(x.size());
  const std::vector<Array> out =
      run_text(gradient_text(x.size(), lines, scalar_result), {array<double>({n}, x), Array::zeros(DType::f64, {n})});
  return values<double>(out[1]);
}

// The error of the pass on a program; empty: none.
std::string error_of(const std::string& text) {
  Graph g;
  Program p = read_program(g, text, "f");
  try {
    differentiate(g, p);
  } catch (const Diagnostic& d) {
    EXPECT_EQ(d.id(), "E-grad");
    return d.what();
  }
  return {};
}

int count(const Graph& g, Id sink, Op op) {
  int n = 0;
  for (const Id id : g.reachable(sink)) n += g.op(id) == op ? 1 : 0;
  return n;
}
int contractions(const Graph& g, Id sink) {
  int n = 0;
  for (const Id id : g.reachable(sink)) n += g.op(id) == Op::REDUCE && g.reduce_kind(id) == ReduceKind::fma ? 1 : 0;
  return n;
}

}  // namespace

TEST(Grad, Ties) {
  const std::string zero = "%1 = const f64 0\n%2 = const f64 1\n";
  EXPECT_EQ(gradient({0, -0.0, 1, -1}, zero + "%9 = max %0, %1\n"), (Values{0, 0, 1, 0}));
  EXPECT_EQ(gradient({0, 3, -2}, "%9 = abs %0\n"), (Values{0, 1, -1}));
  EXPECT_EQ(gradient({0, 0.5, 1, 2, -1}, zero + "%3 = max %0, %1\n%9 = min %3, %2\n"), (Values{0, 1, 0, 0, 0}));
  // max(x, -x) at 0, where both are equal: half to each.
  EXPECT_EQ(gradient({0, 2}, "%1 = neg %0\n%9 = max %0, %1\n"), (Values{0, 1}));
  const std::string pair = "%1 = slice [1] %0, begin [0]\n%2 = slice [1] %0, begin [1]\n";
  EXPECT_EQ(gradient({-0.0, 0.0}, pair + "%9 = max %1, %2\n"), (Values{0.5, 0.5}));
  EXPECT_EQ(gradient({4, 4}, pair + "%9 = min %1, %2\n"), (Values{0.5, 0.5}));
  EXPECT_EQ(gradient({1, 3, 3, 2}, "%9 = reduce %0, max, axes [0]\n", true), (Values{0, 1, 0, 0}));
  EXPECT_EQ(gradient({0, 0, 0, 0}, "%1 = reshape [2, 2] %0\n%9 = reduce %1, max, axes [0, 1]\n", true), (Values{1, 0, 0, 0}));
}

TEST(Grad, ProductsWithZeros) {
  const std::string prod = "%9 = reduce %0, prod, axes [0]\n";
  EXPECT_EQ(gradient({2, 0, 3}, prod, true), (Values{0, 6, 0}));
  EXPECT_EQ(gradient({0, 0, 3}, prod, true), (Values{0, 0, 0}));
  EXPECT_EQ(gradient({2, 5, 3}, prod, true), (Values{15, 6, 10}));
  EXPECT_EQ(gradient({7}, prod, true), (Values{1}));
  EXPECT_EQ(gradient({}, prod, true), (Values{}));
  Values one(20, 1), two(20, 1), expected(20, 0);  // too long to be written out
  one[3] = 0;
  one[7] = 5;
  expected[3] = 5;
  EXPECT_EQ(gradient(one, prod, true), expected);
  two[3] = two[4] = 0;
  EXPECT_EQ(gradient(two, prod, true), Values(20, 0));
}

TEST(Grad, PowerAtZero) {
  const auto by_base = [](double a, const std::string& b) {
    return gradient({a}, "%1 = const f64 " + b + "\n%9 = pow %0, %1\n")[0];
  };
  EXPECT_EQ(by_base(0, "2"), 0);
  EXPECT_EQ(by_base(0, "1"), 1);
  EXPECT_EQ(by_base(0, "0"), 0);
  EXPECT_EQ(by_base(0, "0.5"), INFINITY);
  EXPECT_EQ(by_base(-2, "3"), 12);
  const auto by_exponent = [](const std::string& a, double b) {
    return gradient({b}, "%1 = const f64 " + a + "\n%9 = pow %1, %0\n")[0];
  };
  EXPECT_EQ(by_exponent("0", 2), 0);
  EXPECT_NEAR(by_exponent("2", 3), 5.545177444479562, 1e-12);
  EXPECT_TRUE(std::isnan(by_exponent("-2", 3)));
  EXPECT_EQ(gradient({0, 4}, "%9 = sqrt %0\n"), (Values{INFINITY, 0.25}));
  // The derivative by the base still depends on an exponent of 0.
  EXPECT_EQ(gradient({0},
                     "%1 = const f64 2\n%2 = reshape [1] %1\n%3 = mark %2, independent, id 1\n%4 = pow %3, %0\n"
                     "%5 = reduce %4, sum, axes [0]\n%6 = const f64 1\n%9 = gradient %5, %6, %3\n"),
            (Values{0.5}));
}

TEST(Grad, SelectDoesNotPoison) {
  const std::string positive = "%1 = const f64 0\n%2 = lt %1, %0\n";
  const Values g = gradient({-1, 0, 2}, positive + "%3 = log %0\n%4 = mul %3, %0\n%9 = where %2, %4, %1\n");
  EXPECT_EQ(g[0], 0);
  EXPECT_EQ(g[1], 0);
  EXPECT_NEAR(g[2], 1.6931471805599454, 1e-15);
  EXPECT_EQ(gradient({0, 4}, positive + "%3 = sqrt %0\n%9 = where %2, %3, %1\n"), (Values{0, 0.25}));
  // Nested selects, and one root that two selects use.
  EXPECT_EQ(
      gradient({-4, 0, 4},
               positive + "%3 = sqrt %0\n%4 = const f64 1\n%5 = lt %4, %0\n%6 = where %5, %3, %0\n%9 = where %2, %6, %1\n"),
      (Values{0, 0, 0.25}));
  EXPECT_EQ(gradient({-4, 4},
                     positive + "%3 = sqrt %0\n%4 = const f64 1\n%5 = lt %4, %0\n%6 = where %2, %3, %1\n%7 = where %5, %3, %1\n"
                                "%9 = add %6, %7\n"),
            (Values{0, 0.5}));
  // What leaves a branch into a sum is masked first.
  const Values s =
      gradient({-1, 1}, positive + "%3 = reduce %0, sum, axes [0]\n%4 = add %0, %3\n%5 = sqrt %4\n%9 = where %2, %5, %1\n");
  EXPECT_EQ(s, (Values{0.5, 1}));
}

TEST(Grad, BranchOfASelectByAValueInIt) {
  // x is inside the branch itself: its derivative is 0 where the branch is not taken.
  const std::string text =
      "program t\nin f64 [2] x\nout f64 [2] g\n%0 = param x\n%1 = neg %0\n%2 = const f64 0\n%3 = lt %2, %1\n%4 = log %1\n%5 = "
      "where %3, %4, %2\n"
      "%6 = const f64 1\n%7 = reduce %5, sum, axes [0]\n%8 = gradient %7, %6, %1\nstore g, %8\n";
  const std::vector<Array> out = run_text(text, {array<double>({2}, {-2, 3}), Array::zeros(DType::f64, {2})});
  EXPECT_EQ(values<double>(out[1]), (Values{0.5, 0}));
}

TEST(Grad, EqualValuesAreOne) {
  EXPECT_EQ(gradient({3}, "%9 = fdiv %0, %0\n"), (Values{0}));
  EXPECT_EQ(gradient({3}, "%9 = mul %0, %0\n"), (Values{6}));
}

TEST(Grad, PadModes) {
  const auto padded = [](const std::string& mode) {
    return gradient({1, 2, 3}, "%1 = const f64 0\n%9 = pad [7] %0, %1, before [2], mode " + mode + "\n");
  };
  EXPECT_EQ(padded("constant"), (Values{1, 1, 1}));
  EXPECT_EQ(padded("edge"), (Values{3, 1, 3}));
  EXPECT_EQ(padded("reflect"), (Values{2, 3, 2}));
  EXPECT_EQ(padded("wrap"), (Values{2, 3, 2}));
  EXPECT_EQ(gradient({5}, "%1 = const f64 2\n%2 = reshape [] %0\n%3 = expand [3] %0\n%9 = pad [7] %3, %2, before [2]\n"),
            (Values{7}));
}

TEST(Grad, Scans) {
  const std::string weights = "%1 = iota i32 [4]\n%2 = cast f64 %1\n%4 = mul %2, %2\n";  // 0 1 4 9
  const auto weighted = [&](const std::string& scan) {
    return gradient({5, 1, 2, 8}, weights + "%3 = scan %0, " + scan + "\n%9 = mul %3, %4\n");
  };
  EXPECT_EQ(weighted("sum, axis 0"), (Values{14, 14, 13, 9}));
  EXPECT_EQ(weighted("sum, axis 0, exclusive"), (Values{14, 13, 9, 0}));
  EXPECT_EQ(weighted("sum, axis 0, reversed"), (Values{0, 1, 5, 14}));
  EXPECT_EQ(weighted("sum, axis 0, exclusive, reversed"), (Values{0, 0, 1, 5}));
  EXPECT_EQ(weighted("prod, axis 0"), (Values{153, 765, 380, 90}));
  EXPECT_EQ(weighted("prod, axis 0, exclusive"), (Values{23, 110, 45, 0}));
  EXPECT_EQ(weighted("max, axis 0"), (Values{5, 0, 0, 9}));
  EXPECT_EQ(weighted("max, axis 0, exclusive"), (Values{14, 0, 0, 0}));
  EXPECT_EQ(weighted("min, axis 0, reversed"), (Values{0, 1, 4, 9}));
  EXPECT_EQ(weighted("min, axis 0, exclusive, reversed"), (Values{0, 0, 1, 4}));
  // The first of equal elements; the first element even if it is the identity; NaN.
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(gradient({1, 1, 0, 1}, "%9 = scan %0, max, axis 0\n"), (Values{4, 0, 0, 0}));
  EXPECT_EQ(gradient({-inf, -inf, 2}, "%9 = scan %0, max, axis 0\n"), (Values{2, 0, 1}));
  EXPECT_EQ(gradient({1, nan, 7, nan}, "%9 = scan %0, max, axis 0\n"), (Values{1, 3, 0, 0}));
}

// A running product of more elements than are written out, with no, one and two of them 0; forward mode gives the same.
TEST(Grad, LongRunningProducts) {
  const std::string text =
      "program t\nin f64 [20] x\nin f64 [20] v\nout f64 [20] g\nout f64 [20] d\nout f64 [20] p\n%0 = param x\n%1 = param v\n"
      "%2 = scan %0, prod, axis 0\n%3 = gradient %2, %1, %0\n%4 = tangent %2, %0, %1\n"
      "%5 = reduce %0, prod, axes [0]\n%6 = const f64 1\n%7 = gradient %5, %6, %0\n%8 = gradient %7, %1, %0\n"
      "store g, %3\nstore d, %4\nstore p, %8\n";
  for (const std::vector<std::size_t>& zeros : {std::vector<std::size_t>{}, {6}, {6, 11}, {0, 19, 3}}) {
    Values x(20), v(20);
    for (std::size_t i = 0; i < 20; ++i) x[i] = 0.7 + 0.05 * static_cast<double>(i), v[i] = 1.0 - 0.1 * static_cast<double>(i);
    for (const std::size_t z : zeros) x[z] = 0;
    const Array out = Array::zeros(DType::f64, {20});
    const std::vector<Array> r = run_text(text, {array<double>({20}, x), array<double>({20}, v), out, out, out});
    const Values g = values<double>(r[2]), d = values<double>(r[3]), p = values<double>(r[4]);
    const auto without = [&](std::size_t end, std::size_t a, std::size_t b) {
      double product = 1;
      for (std::size_t i = 0; i < end; ++i) product *= i == a || i == b ? 1 : x[i];
      return product;
    };
    for (std::size_t k = 0; k < 20; ++k) {
      double adjoint = 0, tangent = 0, second = 0;
      for (std::size_t i = k; i < 20; ++i) adjoint += v[i] * without(i + 1, k, k);
      for (std::size_t i = 0; i <= k; ++i) tangent += v[i] * without(k + 1, i, i);
      for (std::size_t i = 0; i < 20; ++i) second += i == k ? 0 : v[i] * without(20, i, k);
      EXPECT_NEAR(g[k], adjoint, 1e-12) << k;
      EXPECT_NEAR(d[k], tangent, 1e-12) << k;
      EXPECT_NEAR(p[k], second, 1e-12) << k;
    }
  }
}

// Positions whose own elements differ are work items of their own; only indices from data alone are added one after another.
TEST(Grad, AffineScattersAreGone) {
  const auto scattered = [](const std::string& lines) {
    Graph g;
    Program p = read_program(g, gradient_text(6, lines), "f");
    differentiate(g, p);
    return count(g, p.sink, Op::ATOMIC);
  };
  const std::string line = "%1 = iota i32 [3]\n%2 = const i32 2\n%3 = const i32 5\n%4 = mul %1, %2\n",
                    data = "%1 = cast i32 %0\n";
  EXPECT_EQ(scattered(line + "%9 = gather %0, %1\n"), 0);
  EXPECT_EQ(scattered(line + "%5 = sub %3, %4\n%9 = gather %0, %5\n"), 0);
  EXPECT_EQ(scattered(line + "%5 = add %4, %2\n%9 = gather %0, %5\n"), 1);  // 6 is outside
  EXPECT_EQ(scattered(data + "%9 = gather %0, %1\n"), 1);
  const std::string table = "%10 = reshape [2, 3] %0\n%11 = iota i64 [2]\n%12 = slice [2] %0, begin [0]\n%13 = cast i64 %12\n";
  EXPECT_EQ(scattered(table + "%9 = gather %10, %11, %13\n"), 0);
  EXPECT_EQ(gradient({1, 2, 3, 4, 5, 6}, line + "%5 = sub %3, %4\n%6 = gather %0, %5\n%9 = mul %6, %6\n"),
            (Values{0, 4, 0, 8, 0, 12}));
  const std::string moved = "%1 = iota i64 [2]\n%2 = const i64 1\n%3 = add %1, %2\n%4 = const i64 2\n%5 = mul %3, %4\n";
  EXPECT_EQ(gradient({1, 2, 3, 4, 5, 6}, moved + "%6 = gather %0, %5\n%9 = mul %6, %6\n"), (Values{0, 0, 6, 0, 10, 0}));
}

TEST(Grad, IndexModes) {
  const std::string weighted = "%4 = iota f64 [4]\n%5 = exp2 %4\n%9 = mul %3, %5\n";
  const auto read = [&](const std::string& index) {
    return gradient({1, 2, 3}, "%1 = iota i64 [4]\n%2 = const i64 [] 0\n" + index + weighted);
  };
  // 0, 0, 5, -1 of n = 3, clamped.
  const std::string places =
      "%10 = const i64 2\n%11 = const i64 3\n%12 = eq %1, %10\n%13 = eq %1, %11\n%14 = const i64 5\n%15 = const i64 -1\n"
      "%16 = where %12, %14, %2\n%17 = where %13, %15, %16\n";
  EXPECT_EQ(read(places + "%3 = gather %0, %17\n"), (Values{11, 0, 4}));
  EXPECT_EQ(read(places + "%18 = floormod %17, %11\n%3 = gather %0, %18\n"), (Values{3, 0, 12}));
}

TEST(Grad, ElementsAndUpdates) {
  const std::string lines =
      "%1 = index %0, (1)\n%2 = const bool %T\n%3 = mul %1, %1\n%4 = mul %0, %0\n%5 = update %4, %2, %3, (2)\n%6 = iota f64 "
      "[3]\n%9 = mul %5, %6\n";
  const auto text = [&](const char* gate) {
    std::string t = lines;
    t.replace(t.find("%T"), 2, gate);
    return t;
  };
  // sum of 1 * x1^2 + 2 * (x1^2 if the gate is true, else x2^2)
  EXPECT_EQ(gradient({5, 2, 7}, text("true")), (Values{0, 12, 0}));
  EXPECT_EQ(gradient({5, 2, 7}, text("false")), (Values{0, 4, 28}));
  const auto tangent = [&](const char* gate) {
    const std::string p =
        "program t\nin f64 [3] x\nout f64 [3] t\n%0 = param x\n" + text(gate) + "%10 = tangent %9, %0, %0\nstore t, %10\n";
    return values<double>(run_text(p, {array<double>({3}, {5, 2, 7}), Array::zeros(DType::f64, {3})})[1]);
  };
  EXPECT_EQ(tangent("true"), (Values{0, 8, 16}));
  EXPECT_EQ(tangent("false"), (Values{0, 8, 196}));
}

TEST(Grad, MarksAndCustomRules) {
  EXPECT_EQ(gradient({3}, "%1 = mark %0, stop, id 1\n%9 = mul %0, %1\n"), (Values{3}));
  EXPECT_EQ(gradient({2.6}, "%1 = round %0\n%9 = straight %1, %0\n"), (Values{1}));
  // grad(y, p) with p = independent(x), y = p * p + x: 6 at 3.
  const std::string text =
      "program t\nin f64 x\nout f64 g\nout f64 h\n%0 = param x\n%1 = mark %0, independent, id 1\n%2 = mul %1, %1\n%3 = add %2, "
      "%0\n"
      "%4 = const f64 1\n%5 = gradient %3, %4, %1\n%6 = gradient %3, %4, %0\nstore g, %5\nstore h, %6\n";
  const std::vector<Array> out =
      run_text(text, {array<double>({}, {3}), Array::zeros(DType::f64, {}), Array::zeros(DType::f64, {})});
  EXPECT_EQ(values<double>(out[1]), (Values{6}));
  EXPECT_EQ(values<double>(out[2]), (Values{7}));
  // A custom derivative replaces the own one: 10 times the cotangent. Its tangent is the transpose.
  const std::string rule =
      "%1 = exp %0\n%2 = cotangent f64 [2] id 4\n%3 = const f64 10\n%4 = mul %2, %3\n%5 = custom %1, %0, %4, id 4\n";
  EXPECT_EQ(gradient({1, 2}, rule + "%6 = const f64 3\n%9 = mul %5, %6\n"), (Values{30, 30}));
  const std::string forward =
      "program t\nin f64 [2] x\nout f64 [2] t\n%0 = param x\n" + rule + "%7 = tangent %5, %0, %0\nstore t, %7\n";
  const std::vector<Array> along = run_text(forward, {array<double>({2}, {1, 2}), Array::zeros(DType::f64, {2})});
  EXPECT_EQ(values<double>(along[1]), (Values{10, 20}));
}

TEST(Grad, CustomRuleOfTwoValues) {
  const std::string text =
      "program t\nin f64 x\nin f64 w\nout f64 g\nout f64 h\nout f64 d\n%0 = param x\n%1 = param w\n%2 = mul %0, %1\n%3 = "
      "cotangent f64 [] id 2\n"
      "%4 = const f64 5\n%5 = mul %3, %4\n%6 = neg %3\n%7 = custom %2, %0, %1, %5, %6, id 2\n%8 = const f64 1\n%9 = gradient "
      "%7, %8, %0\n"
      "%10 = gradient %7, %8, %1\n%11 = tangent %7, %0, %8, %1, %4\nstore g, %9\nstore h, %10\nstore d, %11\n";
  const Array zero = Array::zeros(DType::f64, {});
  const std::vector<Array> out = run_text(text, {array<double>({}, {3}), array<double>({}, {4}), zero, zero, zero});
  EXPECT_EQ(values<double>(out[2]), (Values{5}));
  EXPECT_EQ(values<double>(out[3]), (Values{-1}));
  EXPECT_EQ(values<double>(out[4]), (Values{0}));  // 5 * 1 - 1 * 5
}

TEST(Grad, CheckpointSameBits) {
  const std::string f = "%1 = exp %0\n%2 = sin %1\n%5 = mul %2, %1\n";
  const std::string again =
      "%10 = mark %0, again, id 1\n%11 = exp %10\n%12 = sin %11\n%13 = mul %12, %11\n%14 = cotangent f64 [2] id 1\n"
      "%15 = gradient %13, %14, %10\n%9 = custom %5, %0, %15, id 1\n";
  const Values x{0.3, 1.1};
  EXPECT_EQ(gradient(x, f + again), gradient(x, f + "%9 = stage %5\n"));
  Graph g;
  Program p = read_program(g, gradient_text(2, f + again), "t");
  differentiate(g, p);
  EXPECT_EQ(count(g, p.sink, Op::STAGE), 1);
  EXPECT_EQ(count(g, p.sink, Op::EXP), 1);  // of the copy: the value itself is not stored
}

TEST(Grad, OrderOfContributions) {
  // Later user first: 3 users whose contributions 1e16, 1, -1e16 do not commute in sums. (c0 + c1) + c2.
  const std::string users =
      "%1 = const f64 1e16\n%2 = const f64 1\n%3 = const f64 -1e16\n%4 = mul %0, %3\n%5 = mul %0, %2\n%6 = mul %0, %1\n"
      "%7 = add %4, %5\n%9 = add %7, %6\n";
  EXPECT_EQ(gradient({1}, users), (Values{(1e16 + 1) - 1e16}));
}

// Slices of one axis that do not overlap: one concat with zeros in the gaps, which keeps a -0. Others are added.
TEST(Grad, DisjointSlicesAreOneConcat) {
  const auto adds_and_concats = [](const std::string& text) {
    Graph g;
    Program p = read_program(g, text, "t");
    differentiate(g, p);
    return std::pair(count(g, p.sink, Op::ADD), count(g, p.sink, Op::CONCAT));
  };
  const auto slices = [](int second, int third) {
    return "%1 = slice [2] %0, begin [" + std::to_string(second) +
           "]\n%2 = slice [2] %0, begin [1]\n%3 = slice [1] %0, begin [" + std::to_string(third) +
           "]\n%4 = const f64 -0\n%5 = mul %1, %4\n%6 = reduce %5, sum, axes [0]\n"
           "%7 = mul %2, %2\n%8 = reduce %7, sum, axes [0]\n%10 = reduce %3, sum, axes [0]\n%11 = sub %6, %8\n%9 = sub %11, "
           "%10\n";
  };
  const std::string apart = slices(4, 7), overlapping = slices(2, 7);
  EXPECT_EQ(adds_and_concats(gradient_text(9, apart, true)), std::pair(1, 1));  // the two operands of a mul are added
  EXPECT_EQ(adds_and_concats(gradient_text(9, overlapping, true)), std::pair(3, 0));
  const Values x = {1, 2, 3, 4, 5, 6, 7, 8, 9}, g = gradient(x, apart, true);
  EXPECT_EQ(g, (Values{0, -4, -6, 0, 0, 0, 0, -1, 0}));
  EXPECT_TRUE(std::signbit(g[4]) && std::signbit(g[5]) && !std::signbit(g[6]));
  EXPECT_EQ(gradient(x, overlapping, true), (Values{0, -4, -6, 0, 0, 0, 0, -1, 0}));
}

// Parts of symbolic extents join where each begins at the end of another one.
TEST(Grad, PartsOfSymbolicExtentsAreOneConcat) {
  const std::string text =
      "program t\nsymbol N min 1 max 100\nin f64 [2*N] x\nout f64 [2*N] g\n%0 = param x\n%1 = slice [N] %0, begin [0]\n"
      "%2 = slice [N] %0, begin [N]\n%3 = mul %1, %2\n%4 = reduce %3, sum, axes [0]\n%5 = const f64 1\n%6 = gradient %4, %5, "
      "%0\n"
      "store g, %6\n";
  Graph g;
  Program p = read_program(g, text, "t");
  differentiate(g, p);
  EXPECT_EQ(count(g, p.sink, Op::CONCAT), 1);
  EXPECT_EQ(count(g, p.sink, Op::PAD), 0);
}

TEST(Grad, HalfAccumulates) {
  // Each term of 0.0004 is lost in f16 beside 1, the sum of three is not.
  std::string text =
      "program t\nin f16 [1] x\nout f64 [1] g\n%0 = param x\n%1 = const f16 1\n%2 = const f16 0.0004\n%10 = mul %0, %1\n";
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    text += "%" + std::to_string(20 + i) + " = mark %0, again, id " + n + "\n";
  }
  text +=
      "%30 = mul %20, %2\n%31 = mul %21, %2\n%32 = mul %22, %2\n%33 = add %30, %31\n%34 = add %33, %32\n%35 = add %34, %10\n";
  text += "%40 = expand [1] %35\n%41 = gradient %40, %40, %0\n%42 = cast f64 %41\nstore g, %42\n";
  const Array one = array<std::uint16_t>({1}, {0x3c00}, DType::f16);
  const double g = values<double>(run_text(text, {one, Array::zeros(DType::f64, {1})})[1])[0];
  EXPECT_GT(g, 1.0009);
}

TEST(Grad, InsideAKernelTurn) {
  // The gradient of sin(a * b) by a in each work item.
  const std::string text =
      "program t\nsymbol N min 1 max 100\nin f64 [N] x\nout f64 [N] y\n%0 = param x\n%1 = param y\n%2 = range (N), id 0\n"
      "%3 = carry %2, %1, slot 0\n%4 = index %0, %2\n%5 = mul %4, %4\n%6 = sin %5\n%7 = const f64 1\n%8 = gradient %6, %7, %4\n"
      "%9 = const bool true\n%10 = update %3, %9, %8, %2\n%11 = kernel %2, %1, %10\n%12 = get %11, slot 0\nstore y, %12\n";
  const std::vector<Array> out = run_text(text, {array<double>({3}, {0.5, 1, 2}), Array::zeros(DType::f64, {3})});
  const Values g = values<double>(out[1]);
  for (std::size_t i = 0; i < 3; ++i) {
    const double x = std::vector{0.5, 1.0, 2.0}[i];
    EXPECT_NEAR(g[i], std::cos(x * x) * 2 * x, 1e-14);
  }
}

TEST(Grad, MatmulIsTwoMatmuls) {
  const std::string text =
      "program mm\nsymbol M min 1 max 100\nin f32 [M, 5] a\nin f32 [5, 3] b\nin f32 [M, 3] c\nout f32 [M, 5] ga\nout f32 [5, "
      "3] gb\n"
      "%0 = param a\n%1 = param b\n%2 = param c\n%3 = reshape [M, 1, 5] %0\n%4 = expand [M, 3, 5] %3\n%5 = permute %1, axes "
      "[1, 0]\n"
      "%6 = reshape [1, 3, 5] %5\n%7 = expand [M, 3, 5] %6\n%8 = reduce %4, %7, fma, axes [2]\n%9 = gradient %8, %2, %0\n"
      "%10 = gradient %8, %2, %1\nstore ga, %9\nstore gb, %10\n";
  Graph g;
  const Program p = read_program(g, text, "t");
  Program plain = p;
  differentiate(g, plain);
  EXPECT_EQ(contractions(g, plain.sink), 2);
  EXPECT_EQ(count(g, plain.sink, Op::MUL), 0);
  EXPECT_EQ(count(g, plain.sink, Op::KERNEL), 0);
  const Scheduled s = run_passes(g, p, {.last = "kernel_split"});
  EXPECT_EQ(s.schedule.kernels.size(), 2U);
}

TEST(Grad, Errors) {
  const std::string x = "program p\nin f32 [4] x\nin f32 [4] w\nout f32 [4] g\n%0 = param x\n%1 = param w\n";
  const std::string store = "store g, %9\n";
  EXPECT_NE(error_of(x + "%2 = exp %0\n%9 = gradient %2, %0, %1\n" + store).find("to depend on `param`"), std::string::npos);
  EXPECT_NE(
      error_of(x + "%2 = floor %1\n%3 = cast i32 %2\n%4 = cast f32 %3\n%9 = gradient %4, %0, %1\n" + store).find("no path"),
      std::string::npos);
  EXPECT_EQ(error_of(x + "%2 = exp %0\n%9 = gradient %2, %0, %1, or_zero\n" + store), "");
  EXPECT_NE(
      error_of(x + "%2 = bitcast i32 %0\n%3 = not %2\n%4 = bitcast f32 %3\n%9 = gradient %4, %0, %0\n" + store).find("bits"),
      std::string::npos);
  EXPECT_NE(
      error_of(x + "%2 = bitcast i32 %0\n%3 = not %2\n%4 = bitcast f32 %3\n%9 = tangent %4, %0, %0\n" + store).find("bits"),
      std::string::npos);
  EXPECT_NE(
      error_of(x + "%2 = cotangent f32 [4] id 1\n%9 = add %2, %0\n%10 = gradient %0, %0, %0\n%11 = add %9, %10\nstore g, %11\n")
          .find("got one outside"),
      std::string::npos);
}

// All turns of a loop with a break are computed for its derivative. Behind the end, x[k] may be outside of x.
TEST(Grad, LoopThatEndsWithReadsByTurn) {
  const std::string error = error_of(R"(program p
in f64 [N] x
out f64 [N] g
%0 = param x
%1 = const bool true
%2 = range (100), id 1
%3 = const f64 0
%4 = carry %2, %1, slot 0
%5 = carry %2, %3, slot 1
%6 = index %0, %2
%7 = fma %6, %6, %5
%8 = add %2, (1)
%9 = lt %8, (N)
%10 = for %2, (0), (100), %1, %3, %9, %7, while
%11 = get %10, slot 1
%12 = const f64 1
%13 = gradient %11, %12, %0
store g, %13
)");
  EXPECT_NE(error.find("got `for` or condition"), std::string::npos) << error;
}

// The turns of three loops of 100 are too many operations together.
TEST(Grad, NestOfManyTurns) {
  const std::string error = error_of(R"(program p
in f64 x
out f64 g
%0 = param x
%1 = range (100), id 1
%2 = carry %1, %0, slot 0
%3 = range (100), id 2
%4 = carry %3, %2, slot 0
%5 = range (100), id 3
%6 = carry %5, %4, slot 0
%7 = sin %6
%8 = for %5, (0), (100), %4, %7
%9 = get %8, slot 0
%10 = for %3, (0), (100), %2, %9
%11 = get %10, slot 0
%12 = for %1, (0), (100), %0, %11
%13 = get %12, slot 0
%14 = const f64 1
%15 = gradient %13, %14, %0
store g, %15
)");
  EXPECT_NE(error.find("got `for`"), std::string::npos) << error;
}

}  // namespace kiln::compiler::testing
