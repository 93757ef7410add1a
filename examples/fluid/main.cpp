// fluid OUT_DIR: four pictures of ink that a moving source stirs into the fluid.
#include <fluid_kernels/colours.h>

#include <algorithm>
#include <cmath>

#include "../common/example.h"
#include "state.h"

namespace {
image picture(kiln::context& with) {
  constexpr auto any = kiln::dynamic_extent;
  fluid f(256, 512);
  std::vector<float> canvas(f.vx.size() * 3);
  std::vector<image> frames;
  for (int k = 1; k <= 400; ++k) {
    const float t = 0.0157f * static_cast<float>(k);
    const float mouse[] = {256 + 150 * std::cos(t), 128 + 70 * std::sin(2 * t), 0.1f * std::cos(2 * t), -0.1f * std::sin(t),
                           0.1f};
    f.step(mouse, 0.02f, 0.999f, with);
    if (k % 100 != 0) continue;
    const auto in = [&](const std::vector<float>& v) { return kiln::view<const float, any, any>(v.data(), f.n, f.m); };
    check(fluid_kernels::colours(in(f.vx), in(f.vy), in(f.density), 0.0f, 1.5f,
                                 kiln::view<float, any, any, 3>(canvas.data(), f.n, f.m), with));
    image img{f.n, f.m, {}};
    for (const float c : canvas) img.rgb.push_back(static_cast<std::uint8_t>(255 * std::clamp(c, 0.0f, 1.0f)));
    frames.push_back(std::move(img));
  }
  return joined(frames, 2);
}
}  // namespace

int main(int argc, char** argv) { return example("fluid", argc, argv, picture); }
