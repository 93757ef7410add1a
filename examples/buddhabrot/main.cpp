// buddhabrot OUT_DIR: 512 x 512 pixels, 4 frames with 8 starts per pixel.
#include <buddhabrot_kernels/paths.h>

#include <algorithm>
#include <cmath>

#include "../common/example.h"

namespace {
constexpr std::int64_t n = 512;

image picture(kiln::context& with) {
  constexpr auto any = kiln::dynamic_extent;
  std::vector<std::int32_t> counts(n * n * 3);
  for (std::uint32_t frame = 0; frame < 4; ++frame)
    check(buddhabrot_kernels::paths(frame, 1000, kiln::view<std::int32_t, any, any, 3>(counts.data(), n, n), with));
  image img{n, n, std::vector<std::uint8_t>(n * n * 3)};
  for (std::size_t c = 0; c < 3; ++c) {  // 70% of the pixels exceed `dark`, one in a thousand exceeds `bright`
    std::vector<std::int32_t> sorted;
    for (std::size_t i = c; i < counts.size(); i += 3) sorted.push_back(counts[i]);
    const auto at = [&](std::size_t thousandth) {
      const auto place = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() * thousandth / 1000);
      std::nth_element(sorted.begin(), place, sorted.end());
      return static_cast<double>(*place);
    };
    const double dark = at(300), bright = std::max(at(999), dark + 1);
    for (std::size_t i = c; i < counts.size(); i += 3)
      img.rgb[i] = static_cast<std::uint8_t>(255 * std::pow(std::clamp((counts[i] - dark) / (bright - dark), 0.0, 1.0), 0.6));
  }
  return img;
}
}  // namespace

int main(int argc, char** argv) { return example("buddhabrot", argc, argv, picture); }
