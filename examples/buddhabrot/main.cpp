// buddhabrot OUT_DIR: 512 x 512 pixels, 2 frames of 8 starts per pixel.
#include <buddhabrot_kernels/paths.h>

#include <algorithm>
#include <cmath>

#include "../common/example.h"

namespace {
constexpr std::int64_t n = 512;

image picture(kiln::context& with) {
  constexpr auto any = kiln::dynamic_extent;
  std::vector<std::int32_t> counts(n * n * 3);
  for (std::uint32_t frame = 0; frame < 2; ++frame)
    check(buddhabrot_kernels::paths(frame, 1000, kiln::view<std::int32_t, any, any, 3>(counts.data(), n, n), with));
  image img{n, n, std::vector<std::uint8_t>(n * n * 3)};
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<std::int32_t> sorted;
    for (std::size_t i = c; i < counts.size(); i += 3) sorted.push_back(counts[i]);
    const auto bright = sorted.begin() + n * n * 995 / 1000;  // half a percent of the pixels are white
    std::nth_element(sorted.begin(), bright, sorted.end());
    for (std::size_t i = c; i < counts.size(); i += 3)
      img.rgb[i] = static_cast<std::uint8_t>(
          255 * std::sqrt(std::min(1.0, static_cast<double>(counts[i]) / static_cast<double>(std::max(*bright, 1)))));
  }
  return img;
}
}  // namespace

int main(int argc, char** argv) { return example("buddhabrot", argc, argv, picture); }
