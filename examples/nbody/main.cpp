// nbody OUT_DIR: six pictures of 2000 bodies in a rotating disc. Each picture shows the last ten of 100 steps.
#include <nbody_kernels/loop_steps_f32.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../common/example.h"

namespace {
constexpr std::int64_t n = 2000, size = 320;

float next_random(std::uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  return static_cast<float>(state >> 8) * 0x1p-24f;
}

struct disc {
  std::vector<float> x = std::vector<float>(3 * n), v = x;

  disc() {
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < n; ++i) {
      const float r = 5 * std::sqrt(next_random(state)), a = 6.2831853f * next_random(state);
      // The disc's mass grows with r squared, so the force inside is about n r / 25.
      const float speed = std::sqrt(static_cast<float>(n) / 25.0f * r);
      x[3 * i] = r * std::cos(a), x[3 * i + 1] = r * std::sin(a), x[3 * i + 2] = 0.3f * (next_random(state) - 0.5f);
      v[3 * i] = -speed * std::sin(a), v[3 * i + 1] = speed * std::cos(a);
    }
  }

  void steps(int count, kiln::context& with) {
    const auto view = [](std::vector<float>& f) { return kiln::view<float, kiln::dynamic_extent, 3>(f.data(), n); };
    check(nbody_kernels::loop_steps_f32(count, view(x), view(v), with));
  }

  void draw(std::vector<float>& light) const {
    for (std::size_t i = 0; i < n; ++i) {
      const auto column = static_cast<std::int64_t>(size / 2 + 22 * x[3 * i]);
      const auto row = static_cast<std::int64_t>(size / 2 + 22 * x[3 * i + 1]);
      if (row >= 0 && row < size && column >= 0 && column < size) light[static_cast<std::size_t>(row * size + column)] += 1;
    }
  }
};

image picture(kiln::context& with) {
  disc d;
  std::vector<image> frames;
  for (int frame = 0; frame < 6; ++frame) {
    std::vector<float> light(size * size);
    d.steps(90, with);
    for (int k = 0; k < 10; ++k) {
      d.steps(1, with);
      d.draw(light);
    }
    image img{size, size, {}};
    for (const float l : light) {
      const float t = 1 - std::exp(-0.35f * l);
      const auto level = [&](float scale) { return static_cast<std::uint8_t>(255 * std::min(1.0f, scale * t)); };
      img.rgb.insert(img.rgb.end(), {level(1.3f), level(1.0f), level(0.8f)});
    }
    frames.push_back(std::move(img));
  }
  return joined(frames, 3);
}
}  // namespace

int main(int argc, char** argv) { return example("nbody", argc, argv, picture); }
