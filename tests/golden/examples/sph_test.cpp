// Particles and spheres of examples/sph: forces compared with the table that tests/reference/sph.cpp computes in f64, pictures
// by pixel.
#include <gtest/gtest.h>
#include <kiln/pool.h>
#include <sph_kernels/spheres.h>
#include <sph_kernels/step.h>
#include <sph_kernels/steps.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "examples/common/check.h"

namespace {

constexpr auto any = kiln::dynamic_extent;
using points_in = kiln::view<const float, any, 3>;
using points_out = kiln::view<float, any, 3>;

struct particles {
  static constexpr std::int64_t n = 64;
  std::vector<float> x = std::vector<float>(3 * n), v = x, next_x = x, next_v = x, force = x, rho = std::vector<float>(n);
  particles() {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        const auto a = static_cast<double>(i), b = static_cast<double>(k);
        x[3 * i + k] = static_cast<float>(0.5 * std::sin(1.7 * a + 2.3 * b + 0.1 * a * b));
        v[3 * i + k] = static_cast<float>(0.1 * std::cos(0.9 * a + 1.1 * b));
      }
  }
  void step() {
    check(sph_kernels::step(points_in(x.data(), n), points_in(v.data(), n), 0.3f, 2, 20, 1, 1.5f, 1e-4f,
                            points_out(next_x.data(), n), points_out(next_v.data(), n), points_out(force.data(), n), rho));
    x.swap(next_x);
    v.swap(next_v);
  }
  void steps(int count) {
    const auto view = [](std::vector<float>& f) { return points_out(f.data(), n); };
    check(sph_kernels::steps(count, 0.3f, 2, 20, 1, 1.5f, 1e-4f, view(x), view(v), view(force), rho));
  }
};

double total(const std::vector<float>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0, [](double s, float e) { return s + static_cast<double>(e); });
}

void near(float value, double expected, double relative) {
  EXPECT_NEAR(static_cast<double>(value), expected, std::fabs(expected) * relative);
}

// Forces of pairs are opposite, so a sum in one direction changes only by the rounding of forces up to 2000.
void check_sums(const std::vector<float>& each, const std::vector<float>& before, double tolerance) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double sum = 0;
    for (std::size_t i = axis; i < each.size(); i += 3) sum += static_cast<double>(each[i]) - static_cast<double>(before[i]);
    EXPECT_NEAR(sum, 0, tolerance) << axis;
  }
}

struct AfterSteps {
  int steps;
  double density, sum_of_densities;
  double force[3], x[3];  // of the first particle
  double energy;          // kinetic, of all particles
};

constexpr AfterSteps reference[] = {
#include "tests/reference/sph.inc"
};

void check_first_step(const particles& p) {
  const AfterSteps& r = reference[0];
  ASSERT_EQ(r.steps, 1);
  near(p.rho[0], r.density, 3e-7);
  EXPECT_NEAR(total(p.rho), r.sum_of_densities, 3e-7 * 281);
  near(p.force[0], r.force[0], 3e-6);
  near(p.force[1], r.force[1], 1e-6);
  near(p.force[2], r.force[2], 1e-6);
  check_sums(p.force, std::vector<float>(p.force.size()), 0.01);
}

void check_tenth_step(const particles& p, const std::vector<float>& start_v) {
  const AfterSteps& r = reference[1];
  ASSERT_EQ(r.steps, 10);
  near(p.rho[0], r.density, 3e-7);
  EXPECT_NEAR(total(p.rho), r.sum_of_densities, 3e-7 * 281);
  EXPECT_NEAR(static_cast<double>(p.x[0]), r.x[0], 1e-9);
  near(p.x[1], r.x[1], 3e-7);
  near(p.x[2], r.x[2], 3e-7);
  double energy = 0;
  for (const float s : p.v) energy += 0.5 * static_cast<double>(s) * static_cast<double>(s);
  EXPECT_NEAR(energy, r.energy, 3e-7 * 197);
  check_sums(p.v, start_v, 1e-5);
}

TEST(Sph, Golden) {
  particles p;
  const std::vector<float> start_v = p.v;
  p.step();
  check_first_step(p);
  for (int k = 1; k < 10; ++k) p.step();
  check_tenth_step(p, start_v);
}

// All steps in one program give the same bits.
TEST(Sph, GoldenInOneCall) {
  particles one, all;
  const std::vector<float> start_v = all.v;
  for (int k = 0; k < 10; ++k) one.step();
  all.steps(1);
  check_first_step(all);
  all.steps(9);
  check_tenth_step(all, start_v);
  EXPECT_EQ(all.x, one.x);
  EXPECT_EQ(all.v, one.v);
  EXPECT_EQ(all.force, one.force);
}

constexpr std::int64_t h = 60, w = 80;
constexpr float camera[4][3] = {{0, 0, -2}, {0, 1, 0}, {1, 0, 0}, {0, 0, 1}};

struct drawing {
  std::vector<std::uint32_t> ids = std::vector<std::uint32_t>(h * w);
  std::vector<float> canvas = std::vector<float>(h * w * 3);
  drawing(const std::vector<float>& x, float radius, const kiln::context& with) {
    check(sph_kernels::spheres(points_in(x.data(), static_cast<std::int64_t>(x.size() / 3)), camera, radius,
                               kiln::view<std::uint32_t, any, any>(ids.data(), h, w),
                               kiln::view<float, any, any, 3>(canvas.data(), h, w), with));
  }
};

// The particle that each pixel shows; -1: none.
std::vector<int> seen(const std::vector<float>& x, float radius, const kiln::context& with = {}) {
  const drawing d(x, radius, with);
  std::vector<int> out;
  for (std::size_t i = 0; i < d.ids.size(); ++i) {
    out.push_back(static_cast<int>(d.ids[i] & 0xffff) - 1);
    const float light = d.canvas[3 * i] + d.canvas[3 * i + 1] + d.canvas[3 * i + 2];  // below 0 at the rim
    EXPECT_TRUE(std::isfinite(light) && (light != 0) == (out.back() >= 0)) << i << " " << light;
  }
  return out;
}

// The nearest sphere on the ray through a pixel; -1: none.
struct hit {
  int id = -1;
  double distance = 1e9, inside = 0, shade = 0;
};
hit by_hand(const std::vector<float>& x, double radius, std::int64_t i, std::int64_t j) {
  constexpr double tiny = 1e-5;  // added to a vector's length before a division by it
  double ray[3] = {(static_cast<double>(j) - w / 2.0) / h, (static_cast<double>(i) - h / 2.0) / h, 1};
  const double size = std::hypot(ray[0], ray[1], ray[2]) + tiny;
  for (double& r : ray) r /= size;
  hit nearest;
  for (std::size_t p = 0; p < x.size() / 3; ++p) {
    double oc[3], b = 0, off = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      oc[k] = static_cast<double>(camera[0][k]) - static_cast<double>(x[3 * p + k]);
      b += oc[k] * ray[k];
    }
    for (std::size_t k = 0; k < 3; ++k) off += (oc[k] - b * ray[k]) * (oc[k] - b * ray[k]);
    const double inside = radius * radius - off, t = -b - std::sqrt(std::max(inside, 0.0));
    if (inside <= 0 || t <= 0 || t >= nearest.distance) continue;
    const double normal[3] = {-oc[0] - t * ray[0], -oc[1] - t * ray[1], -oc[2] - t * ray[2]};
    nearest = {static_cast<int>(p), t, inside, normal[2] / (std::hypot(normal[0], normal[1], normal[2]) + tiny)};
  }
  return nearest;
}

TEST(Spheres, NearestWins) {
  const std::vector<float> x = {0.05f, 0, 0.3f, -0.05f, 0.02f, 0, 0.1f, 0.1f, 0.6f};
  const auto ids = seen(x, 0.2f);
  int covered = 0, different = 0;
  for (std::int64_t i = 0; i < h; ++i)
    for (std::int64_t j = 0; j < w; ++j) {
      const int expected = by_hand(x, 0.2, i, j).id, got = ids[static_cast<std::size_t>(i * w + j)];
      covered += expected >= 0;
      different += expected != got;
    }
  EXPECT_GT(covered, 100);
  EXPECT_EQ(different, 0);
}

// Two spheres that overlap: each pixel's inverse depth, number and colour.
TEST(Spheres, DepthAndColour) {
  const std::vector<float> x = {0.05f, 0, 0.3f, -0.05f, 0.02f, 0};
  const drawing d(x, 0.2f, {});
  int of_each[2] = {};
  for (std::int64_t i = 0; i < h; ++i)
    for (std::int64_t j = 0; j < w; ++j) {
      const hit expected = by_hand(x, 0.2, i, j);
      const auto pixel = static_cast<std::size_t>(i * w + j);
      if (expected.id < 0) {
        EXPECT_EQ(d.ids[pixel], 0u);
        continue;
      }
      ++of_each[expected.id];
      EXPECT_EQ(d.ids[pixel] & 0xffff, static_cast<std::uint32_t>(expected.id + 1));
      if (expected.inside < 0.001) continue;  // at the rim the root has few correct digits
      EXPECT_NEAR(d.ids[pixel] >> 16, std::floor(32767 * (1 / expected.distance - 0.1) / 9.9), 1);
      for (std::size_t c = 0; c < 3; ++c)
        EXPECT_NEAR(static_cast<double>(d.canvas[3 * pixel + c]),
                    (0.5 + 0.5 * std::cos(0.1 * expected.id + 2.0 * static_cast<double>(c))) * expected.shade, 1e-5);
    }
  EXPECT_GT(of_each[0], 10);
  EXPECT_GT(of_each[1], 100);
}

// Spheres partly outside of the picture, wholly outside, and behind the camera.
TEST(Spheres, Borders) {
  const std::vector<float> x = {1.3f, 0, 0, 4, 0, 0, 0, 0, -3, 0, 0.97f, 0};
  const auto ids = seen(x, 0.2f);
  for (std::int64_t i = 0; i < h; ++i)
    for (std::int64_t j = 0; j < w; ++j)
      EXPECT_EQ(ids[static_cast<std::size_t>(i * w + j)], by_hand(x, 0.2, i, j).id) << i << " " << j;
}

TEST(Spheres, OrderDoesNotMatter) {
  std::vector<float> x;
  for (int i = 0; i < 300; ++i)
    for (int k = 0; k < 3; ++k) x.push_back(0.7f * std::sin(static_cast<float>(i * (k + 2)) * 1.3f));
  kiln::pool pool(3);
  kiln::context threads;
  threads.executor(pool.executor());
  EXPECT_EQ(seen(x, 0.1f), seen(x, 0.1f, threads));
}

}  // namespace
