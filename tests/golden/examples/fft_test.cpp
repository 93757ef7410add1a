// The transforms of examples/fft, compared with the defining sum in f64.
#include <fft_kernels/low_pass.h>
#include <fft_kernels/low_pass_in_workgroups.h>
#include <fft_kernels/transform_3d.h>
#include <fft_kernels/transforms.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

#include "examples/fft/transform.h"

namespace {

using complex = std::complex<double>;

std::vector<complex> discrete_fourier_transform(const std::vector<float>& x) {
  const std::size_t n = x.size() / 2;
  std::vector<complex> root(n), y(n);
  for (std::size_t k = 0; k < n; ++k)
    root[k] = std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t t = 0; t < n; ++t)
      y[k] += complex(static_cast<double>(x[2 * t]), static_cast<double>(x[2 * t + 1])) * root[k * t % n];
  return y;
}

double energy(const std::vector<float>& x) {
  double e = 0;
  for (const float v : x) e += static_cast<double>(v) * static_cast<double>(v);
  return e;
}

std::vector<float> signal(std::size_t n) {
  std::vector<float> x(2 * n);
  for (std::size_t t = 0; t < n; ++t) {
    const double s = static_cast<double>(t) / static_cast<double>(n), turn = 2 * std::numbers::pi;
    x[2 * t] = static_cast<float>(std::sin(turn * 10 * s) + std::cos(turn * 20 * s) +
                                  std::sin(turn * 200 * s * s + std::numbers::pi / 4));
    if (n < 1024) x[2 * t + 1] = static_cast<float>(std::cos(static_cast<double>(t * t)));
  }
  return x;
}

TEST(Fft, EqualsTheSum) {
  for (const std::size_t n : {2u, 4u, 16u, 128u, 1024u, 4096u}) {
    const std::vector<float> x = signal(n);
    std::vector<float> y = x;
    transform(y, -1);
    const auto expected = discrete_fourier_transform(x);
    double difference = 0, size = 0;
    for (std::size_t k = 0; k < n; ++k) {
      difference += std::norm(complex(static_cast<double>(y[2 * k]), static_cast<double>(y[2 * k + 1])) - expected[k]);
      size += std::norm(expected[k]);
    }
    const double stages = std::log2(static_cast<double>(n));
    EXPECT_LT(std::sqrt(difference / size), 1e-6 * stages) << n;
    EXPECT_NEAR(energy(y) / (energy(x) * static_cast<double>(n)), 1, 1e-6 * stages) << n;  // Parseval
    transform(y, 1);
    for (std::size_t t = 0; t < x.size(); ++t) ASSERT_NEAR(y[t] / static_cast<float>(n), x[t], 1e-5f) << n;
  }
}

// Three transforms of 1024 points, each by one workgroup.
TEST(Fft, GroupsEqualTheSum) {
  constexpr std::int64_t n = 1024, rows = 3;
  constexpr auto any = kiln::dynamic_extent;
  std::vector<float> x, w(2 * n);
  for (int row = 0; row < rows; ++row)
    for (const float v : signal(n)) x.push_back(v * static_cast<float>(row + 1));
  std::vector<float> y(x.size()), z(x.size());
  const auto run = [&](std::vector<float>& from, float sign, std::vector<float>& to) {
    check(fft_kernels::transforms(kiln::view<const float, any, n, 2>(from.data(), rows), sign,
                                  kiln::view<float, any, n, 2>(to.data(), rows), kiln::view<float, 2, n>(w.data())));
  };
  run(x, -1, y);
  run(y, 1, z);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto of_row = [&](const std::vector<float>& v) {
      return std::vector<float>(v.begin() + static_cast<std::ptrdiff_t>(row * 2 * n),
                                v.begin() + static_cast<std::ptrdiff_t>((row + 1) * 2 * n));
    };
    const auto got = of_row(y);
    const auto expected = discrete_fourier_transform(of_row(x));
    double difference = 0, size = 0;
    for (std::size_t k = 0; k < n; ++k) {
      difference += std::norm(complex(static_cast<double>(got[2 * k]), static_cast<double>(got[2 * k + 1])) - expected[k]);
      size += std::norm(expected[k]);
    }
    EXPECT_LT(std::sqrt(difference / size), 1e-6 * 10) << row;
    EXPECT_NEAR(energy(got) / (energy(of_row(x)) * n), 1, 1e-6 * 10) << row;  // Parseval
  }
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(z[i] / n, x[i], 1e-5f) << i;
}

// A transform along three axes equals three sums, one along each axis.
TEST(Fft, AllAxesEqualTheSum) {
  constexpr auto any = kiln::dynamic_extent;
  constexpr std::size_t n = 8, m = 2, k = 32, all = n * m * k;
  std::vector<float> x(2 * all), y(x.size()), z(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(std::sin(static_cast<double>(i * i % 1009)));
  const auto run = [&](std::vector<float>& from, float sign, std::vector<float>& to) {
    check(fft_kernels::transform_3d(kiln::view<const float, any, any, any, 2>(from.data(), n, m, k), sign,
                                    kiln::view<float, any, any, any, 2>(to.data(), n, m, k)));
  };
  run(x, -1, y);
  run(y, 1, z);
  std::vector<float> expected = x;
  for (const auto& [extent, stride] : {std::pair{n, m * k}, std::pair{m, k}, std::pair{k, std::size_t{1}}})
    for (std::size_t first = 0; first < all; ++first) {
      if (first / stride % extent != 0) continue;
      std::vector<float> line;
      for (std::size_t e = 0; e < extent; ++e)
        for (std::size_t c : {0u, 1u}) line.push_back(expected[2 * (first + e * stride) + c]);
      const auto sums = discrete_fourier_transform(line);
      for (std::size_t e = 0; e < extent; ++e) {
        expected[2 * (first + e * stride)] = static_cast<float>(sums[e].real());
        expected[2 * (first + e * stride) + 1] = static_cast<float>(sums[e].imag());
      }
    }
  std::vector<float> difference;
  for (std::size_t i = 0; i < y.size(); ++i) difference.push_back(y[i] - expected[i]);
  EXPECT_LT(std::sqrt(energy(difference) / energy(expected)), 1e-6 * 9);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(z[i] / static_cast<float>(all), x[i], 1e-5f) << i;
}

// The filtered picture, by loops of kernels or by workgroups.
struct filtered_picture {
  static constexpr std::int64_t square = 1024;
  std::vector<float> spectrum = std::vector<float>(square * square), v;
  filtered_picture(const std::vector<float>& picture, std::int64_t h, std::int64_t w, bool sinc, double cutoff,
                   bool in_workgroups)
      : v(picture.size()) {
    constexpr auto any = kiln::dynamic_extent;
    std::vector<float> a(2 * square * square), b(a), factors(2 * square);
    const kiln::view<const float, any, any> from(picture.data(), h, w);
    const kiln::view<float, any, any> to(v.data(), h, w);
    const kiln::view<float, square, square> lines(spectrum.data());
    const kiln::view<float, square, square, 2> first(a.data()), second(b.data());
    const auto c = static_cast<float>(cutoff);
    if (in_workgroups)
      check(fft_kernels::low_pass_in_workgroups(from, sinc, c, lines, to, first, second,
                                                kiln::view<float, 2, square>(factors.data())));
    else
      check(fft_kernels::low_pass(from, sinc, c, lines, to, first, second));
  }
};

double factor(int p, int q, bool sinc, double cutoff) {
  const double f = std::hypot(p, q), angle = f / cutoff;
  return !sinc ? std::exp(-angle * angle / 2) : f == 0 ? 1 : std::sin(angle) / angle;
}

class LowPass : public testing::TestWithParam<bool> {};

// A wave in both axes comes out multiplied by the filter's factor, and the spectrum has its lines.
TEST_P(LowPass, Cosines) {
  constexpr std::int64_t n = 1024;
  std::vector<double> root(n);
  for (std::size_t k = 0; k < n; ++k) root[k] = std::cos(2 * std::numbers::pi * static_cast<double>(k) / n);
  const auto wave = [&](std::int64_t i, std::int64_t j, int p, int q) {
    return root[static_cast<std::size_t>((i * p + j * q) & (n - 1))];
  };
  std::vector<float> x;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) x.push_back(static_cast<float>(0.5 + wave(i, j, 3, 5) + wave(i, j, -30, 17)));
  for (const bool sinc : {false, true}) {
    const double cutoff = 10;
    const filtered_picture y(x, n, n, sinc, cutoff, GetParam());
    const double near = factor(3, 5, sinc, cutoff), far = factor(30, 17, sinc, cutoff);
    double worst = 0;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const double expected = 0.5 + near * wave(i, j, 3, 5) + far * wave(i, j, -30, 17);
        worst = std::max(worst, std::fabs(static_cast<double>(y.v[static_cast<std::size_t>(i * n + j)]) - expected));
      }
    EXPECT_LT(worst, 1e-5);
    const auto line = [&](std::int64_t p, std::int64_t q) {
      return y.spectrum[static_cast<std::size_t>((p + n / 2) * n + q + n / 2)];
    };
    for (const float of_wave : {line(0, 0), line(3, 5), line(30, -17)}) EXPECT_NEAR(of_wave, 19.0f, 1e-3f);
    EXPECT_LT(line(4, 5), 0.5f);
  }
}

// One bright pixel of a smaller picture, which is padded with 0, becomes the transform of the filter.
TEST_P(LowPass, APixelOfASmallPicture) {
  constexpr std::int64_t n = 1024, h = 70, w = 90, row = 20, column = 60;
  std::vector<float> x(h * w);
  x[row * w + column] = 1;
  for (const bool sinc : {false, true})
    for (const double cutoff : {2.0, 25.0}) {
      const filtered_picture y(x, h, w, sinc, cutoff, GetParam());
      const auto sum = [&](std::int64_t i, std::int64_t j) {
        double s = 0;
        for (int p = -n / 2; p < n / 2; ++p)
          for (int q = -n / 2; q < n / 2; ++q) {
            const double f = factor(p, q, sinc, cutoff);
            if (std::fabs(f) < 1e-18) continue;
            s += f * std::cos(2 * std::numbers::pi * static_cast<double>(p * (i - row) + q * (j - column)) / n);
          }
        return s / (n * n);
      };
      const double peak = sum(row, column);
      for (const auto& [i, j] : {std::pair{20, 60}, {0, 0}, {69, 89}, {22, 57}})
        EXPECT_NEAR(static_cast<double>(y.v[static_cast<std::size_t>(i * w + j)]), sum(i, j), 1e-6 * 20 * peak)
            << sinc << " " << cutoff << " " << i << " " << j;
    }
}

INSTANTIATE_TEST_SUITE_P(Fft, LowPass, testing::Bool(),
                         [](const auto& by_workgroups) { return by_workgroups.param ? "ByWorkgroups" : "ByLoops"; });

}  // namespace
