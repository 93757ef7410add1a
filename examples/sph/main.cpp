// sph OUT_DIR: two balls of particles collide and become one.
#include <sph_kernels/spheres.h>
#include <sph_kernels/steps.h>

#include <algorithm>
#include <cmath>

#include "../common/example.h"

namespace {
constexpr std::int64_t n = 1500, height = 240, width = 320;
constexpr auto any = kiln::dynamic_extent;
using points_in = kiln::view<const float, any, 3>;
using points_out = kiln::view<float, any, 3>;

struct normal_numbers {
  std::uint32_t state = 7;
  double uniform() {
    state = state * 1664525u + 1013904223u;
    return (static_cast<double>(state >> 8) + 0.5) * 0x1p-24;
  }
  float operator()() {
    return static_cast<float>(std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()));
  }
};

struct balls {
  std::vector<float> x = std::vector<float>(3 * n), v = x, force = x, rho = std::vector<float>(n);
  balls() {
    normal_numbers normal;
    for (std::size_t i = 0; i < n; ++i) {
      const float side = i < n / 2 ? 1.0f : -1.0f;
      for (std::size_t k = 0; k < 3; ++k) x[3 * i + k] = 0.2f * normal();
      x[3 * i] += side;
      v[3 * i + 1] = 8 * side;
    }
  }
  void steps(int count, kiln::context& with) {
    const auto view = [](std::vector<float>& f) { return points_out(f.data(), n); };
    check(sph_kernels::steps(count, 0.1f, 20, 20, 1, 1.5f, 5e-4f, view(x), view(v), view(force), rho, with));
  }
  image draw(kiln::context& with) const {
    const float camera[4][3] = {{0, 0, -3}, {0, 1, 0}, {1, 0, 0}, {0, 0, 1}};
    std::vector<std::uint32_t> ids(height * width);
    std::vector<float> canvas(height * width * 3);
    check(sph_kernels::spheres(points_in(x.data(), n), camera, 0.04f,
                               kiln::view<std::uint32_t, any, any>(ids.data(), height, width),
                               kiln::view<float, any, any, 3>(canvas.data(), height, width), with));
    image img{height, width, {}};
    for (const float c : canvas) img.rgb.push_back(static_cast<std::uint8_t>(255 * std::clamp(c, 0.0f, 1.0f)));
    return img;
  }
};

image picture(kiln::context& with) {
  balls b;
  std::vector<image> frames;
  for (int frame = 0; frame < 6; ++frame) {
    b.steps(frame == 0 ? 1 : 60, with);
    frames.push_back(b.draw(with));
  }
  return joined(frames, 3);
}
}  // namespace

int main(int argc, char** argv) { return example("sph", argc, argv, picture); }
