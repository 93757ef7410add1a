// The transforms of examples/fft against the sum that they stand for, in f64.
#include <fft_kernels/low_pass.h>
#include <fft_kernels/low_pass_in_groups.h>
#include <fft_kernels/transforms.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

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

// Three transforms of 1024 points, each by a group of positions.
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

// A cosine along each axis comes through the filter with its factor; the spectrum has its lines.
void check_low_pass(bool in_groups) {
  constexpr std::int64_t n = 256;
  const auto wave = [](std::int64_t i, std::int64_t j, int p, int q) {
    return std::cos(2 * std::numbers::pi * static_cast<double>(i * p + j * q) / static_cast<double>(n));
  };
  std::vector<float> x, spectrum(n * n), filtered(n * n), a(2 * n * n), b(2 * n * n), w(2 * n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) x.push_back(static_cast<float>(0.5 + wave(i, j, 3, 5) + wave(i, j, -30, 17)));
  const double cutoff = 10;
  const kiln::view<const float, n, n> from(x.data());
  const kiln::view<float, n, n> lines(spectrum.data()), to(filtered.data());
  const kiln::view<float, n, n, 2> first(a.data()), second(b.data());
  if (in_groups)
    check(fft_kernels::low_pass_in_groups(from, static_cast<float>(cutoff), lines, to, first, second,
                                          kiln::view<float, 2, n>(w.data())));
  else
    check(fft_kernels::low_pass(from, static_cast<float>(cutoff), lines, to, first, second));
  const auto factor = [&](int p, int q) { return std::exp(-(p * p + q * q) / (2 * cutoff * cutoff)); };
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const double expected = 0.5 + factor(3, 5) * wave(i, j, 3, 5) + factor(30, 17) * wave(i, j, -30, 17);
      ASSERT_NEAR(static_cast<double>(filtered[static_cast<std::size_t>(i * n + j)]), expected, 1e-5);
    }
  const auto line = [&](std::int64_t p, std::int64_t q) { return spectrum[static_cast<std::size_t>((p + 128) * n + q + 128)]; };
  EXPECT_NEAR(line(0, 0), 15.0f, 1e-3f);
  EXPECT_NEAR(line(3, 5), 15.0f, 1e-3f);
  EXPECT_NEAR(line(30, -17), 15.0f, 1e-3f);
  EXPECT_LT(line(4, 5), 0.1f);
}

TEST(Fft, LowPass) { check_low_pass(false); }
TEST(Fft, LowPassInGroups) { check_low_pass(true); }

}  // namespace
