// Derivatives of derivatives, many directions and Laplacians, against known values and each other.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/interp_harness.h"

namespace kiln::compiler::testing {

using Values = std::vector<double>;

TEST(Grad, SecondOrder) {
  const std::string twice =
      "program t\nin f64 x\nout f64 d\nout f64 e\nout f64 f\n%0 = param x\n%1 = tanh %0\n%2 = const f64 1\n%3 = gradient %1, "
      "%2, %0\n"
      "%4 = gradient %3, %2, %0\n%5 = tangent %4, %0, %2\nstore d, %3\nstore e, %4\nstore f, %5\n";
  const Array zero = Array::zeros(DType::f64, {});
  const std::vector<Array> out = run_text(twice, {array<double>({}, {0.4}), zero, zero, zero});
  EXPECT_NEAR(values<double>(out[1])[0], 0.855638786081178, 1e-14);
  EXPECT_NEAR(values<double>(out[2])[0], -0.650198137673728, 1e-14);
  EXPECT_NEAR(values<double>(out[3])[0], -0.970151249154117, 1e-14);
}

TEST(Grad, HvpRosenbrock) {
  const std::string text =
      "program t\nin f64 [4] x\nin f64 [4] v\nout f64 [4] g\nout f64 [4] h\n%0 = param x\n%1 = param v\n"
      "%2 = slice [3] %0, begin [0]\n%3 = slice [3] %0, begin [1]\n%4 = mul %2, %2\n%5 = sub %3, %4\n%6 = mul %5, %5\n"
      "%7 = const f64 100\n%8 = mul %6, %7\n%10 = const f64 1\n%11 = sub %10, %2\n%12 = mul %11, %11\n%13 = add %8, %12\n"
      "%14 = reduce %13, sum, axes [0]\n%15 = gradient %14, %10, %0\n%16 = tangent %15, %0, %1\nstore g, %15\nstore h, %16\n";
  const Array zero = Array::zeros(DType::f64, {4});
  const std::vector<Array> out =
      run_text(text, {array<double>({4}, {-1.2, 1, 0.7, -0.3}), array<double>({4}, {1, -1, 2, 0.5}), zero, zero});
  const Values g = values<double>(out[2]), h = values<double>(out[3]);
  const Values expected_g{-215.6, 32, 160.6, -158}, expected_h{850, -1442, 2080, -460};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(g[i], expected_g[i], 1e-9 * std::abs(expected_g[i]));
    EXPECT_NEAR(h[i], expected_h[i], 1e-9 * std::abs(expected_h[i]));
  }
}

TEST(Grad, LaplacianHelium) {
  const std::string text =
      "program t\nin f64 [3, 2, 3] x\nout f64 [3] l\nout f64 [3, 2, 3] g\n%0 = param x\n%1 = mul %0, %0\n%2 = reduce %1, sum, "
      "axes [2]\n"
      "%3 = sqrt %2\n%4 = reduce %3, sum, axes [1]\n%5 = slice [3, 1, 3] %0, begin [0, 0, 0]\n%6 = slice [3, 1, 3] %0, begin "
      "[0, 1, 0]\n"
      "%7 = sub %5, %6\n%8 = mul %7, %7\n%9 = reduce %8, sum, axes [1, 2]\n%10 = sqrt %9\n%11 = const f64 0.35\n%12 = const "
      "f64 1\n"
      "%13 = fma %10, %11, %12\n%14 = const f64 2\n%15 = mul %13, %14\n%16 = fdiv %10, %15\n%17 = const f64 -2\n%18 = fma %4, "
      "%17, %16\n"
      "%19 = laplacian %18, %0\nstore l, %19\n%22 = reshape [1] %12\n%20 = expand [3] %22\n%21 = gradient %18, %20, %0\nstore "
      "g, %21\n";
  const Array x = array<double>({3, 2, 3}, {0.3, 0.2, -0.1, -0.4, 0.5, 0.6, 1, 0, 0, 0, 1, 0, 0.05, 0.1, 0.2, 0.9, -0.8, 0.7});
  const std::vector<Array> out = run_text(text, {x, Array::zeros(DType::f64, {3}), Array::zeros(DType::f64, {3, 2, 3})});
  const Values l = values<double>(out[1]), g = values<double>(out[2]);
  const double laplacian[] = {-14.483688827, -7.576733957, -19.855053684}, norm[] = {6.522929939, 6.834556025, 7.350614246};
  for (std::size_t w = 0; w < 3; ++w) {
    double squares = 0;
    for (std::size_t k = 0; k < 6; ++k) squares += g[6 * w + k] * g[6 * w + k];
    EXPECT_NEAR(l[w], laplacian[w], 2e-9);
    EXPECT_NEAR(squares, norm[w], 2e-9);
  }
}

TEST(Grad, LaplacianIsTheTrace) {
  // Against tangents of tangents, through a contraction, functions of two operands, a maximum, selects and movement.
  const std::string y =
      "%0 = param x\n%1 = const f64 0.7\n%2 = reshape [3, 1] %0\n%3 = reshape [1, 3] %0\n%4 = expand [3, 3] %2\n%5 = expand "
      "[3, 3] %3\n"
      "%6 = reduce %4, %5, fma, axes [0]\n%7 = sin %6\n%8 = exp %0\n%9 = fdiv %7, %8\n%10 = pow %8, %0\n%11 = mul %9, %10\n"
      "%12 = reduce %11, max, axes [0]\n%13 = reduce %10, sum, axes [0]\n%14 = fma %12, %13, %1\n%15 = tanh %14\n%16 = mul "
      "%15, %14\n";
  std::string text = "program t\nin f64 [3] x\nin f64 [3, 3] e\nout f64 l\nout f64 h\n%90 = param e\n" + y +
                     "%17 = laplacian %16, %0\nstore l, %17\n";
  int next = 20;
  std::string total;
  for (int k = 0; k < 3; ++k) {
    const auto n = [&](int i) { return "%" + std::to_string(next + i); };
    text += n(0) + " = slice [1, 3] %90, begin [" + std::to_string(k) + ", 0]\n" + n(1) + " = reshape [3] " + n(0) + "\n";
    text += n(2) + " = tangent %16, %0, " + n(1) + "\n" + n(3) + " = tangent " + n(2) + ", %0, " + n(1) + "\n";
    if (!total.empty()) text += n(4) + " = add " + total + ", " + n(3) + "\n";
    total = total.empty() ? n(3) : n(4);
    next += 5;
  }
  text += "store h, " + total + "\n";
  const Array zero = Array::zeros(DType::f64, {});
  const std::vector<Array> out =
      run_text(text, {array<double>({3}, {0.3, -0.4, 0.9}), array<double>({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}), zero, zero});
  const double l = values<double>(out[2])[0], h = values<double>(out[3])[0];
  EXPECT_NEAR(l, h, 1e-11 * std::abs(h));
}

TEST(Grad, ManyDirections) {
  // K directions at once give what each direction gives, through every kind of operation.
  const std::string y =
      "%0 = param x\n%1 = param e\n%2 = reshape [3, 2] %0\n%3 = permute %2, axes [1, 0]\n%4 = const f64 2\n"
      "%5 = pad [4, 4] %3, %4, before [1, 0]\n%6 = pad [4, 6] %5, %4, before [0, 1], mode wrap\n"
      "%7 = slice [2, 3] %6, begin [3, 0], step [-2, 2]\n%8 = concat %7, %7, axis 0\n%9 = reduce %8, prod, axes [1]\n"
      "%10 = reduce %8, max, axes [0, 1]\n%11 = iota i64 [5]\n%12 = gather %9, %11\n%13 = reshape [5, 1] %12\n%14 = expand [5, "
      "3] %13\n"
      "%15 = slice [1, 3] %8, begin [0, 0]\n%16 = expand [5, 3] %15\n%17 = reduce %14, %16, fma, axes [1]\n"
      "%18 = reduce %14, %16, dot, axes [1]\n%19 = sub %17, %18\n%20 = mul %17, %10\n%21 = add %19, %20\n%22 = index %0, (4)\n"
      "%23 = mul %21, %22\n%24 = reshape [1, 5] %23\n%25 = expand [2, 5] %24\n%26 = shear [2, 3] %25, axes [0, 1], step [1, "
      "1]\n"
      "%27 = unshear [2, 4] %26, axes [0, 1], step [1, 1]\n%28 = reshape [8] %27\n%29 = stage %28\n";
  std::string text = "program t\nin f64 [6] x\nin f64 [2, 6] e\nout f64 [2, 8] a\nout f64 [8] b\nout f64 [8] c\n" + y +
                     "%30 = tangent %29, %0, %1\nstore a, %30\n";
  for (const std::string k : {"0", "1"})
    text += "%4" + k + " = slice [1, 6] %1, begin [" + k + ", 0]\n%5" + k + " = reshape [6] %4" + k + "\n%6" + k +
            " = tangent %29, %0, %5" + k + "\nstore " + (k == "0" ? "b" : "c") + ", %6" + k + "\n";
  const Array zero = Array::zeros(DType::f64, {8});
  const std::vector<Array> out = run_text(text, {array<double>({6}, {0.3, -0.4, 0.9, 1.5, -2, 0.7}),
                                                 array<double>({2, 6}, {1, 2, -1, 0.5, 3, 1, -2, 0.1, 0.3, 1, 1, 4}),
                                                 Array::zeros(DType::f64, {2, 8}), zero, zero});
  Values both = values<double>(out[3]);
  const Values second = values<double>(out[4]);
  both.insert(both.end(), second.begin(), second.end());
  EXPECT_EQ(values<double>(out[2]), both);
  EXPECT_GT(std::abs(both[1]) + std::abs(both[9]), 0);
}

}  // namespace kiln::compiler::testing
