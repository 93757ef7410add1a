#include "example.h"

#include <algorithm>
#include <cmath>

image signed_colours(const std::vector<float>& v, std::int64_t h, std::int64_t w, float limit) {
  image img{h, w, {}};
  for (const float x : v) {
    const float t = std::clamp(x / limit, -1.0f, 1.0f), fade = 255.0f * (1.0f - std::fabs(t));
    const auto faded = static_cast<std::uint8_t>(fade);
    img.rgb.insert(img.rgb.end(), {t >= 0 ? std::uint8_t{255} : faded, faded, t <= 0 ? std::uint8_t{255} : faded});
  }
  return img;
}

image joined(const std::vector<image>& frames, std::int64_t columns) {
  constexpr std::int64_t gap = 4;
  const std::int64_t h = frames[0].height, w = frames[0].width, count = static_cast<std::int64_t>(frames.size());
  const std::int64_t rows = (count + columns - 1) / columns;
  image all{rows * (h + gap) - gap, columns * (w + gap) - gap, {}};
  all.rgb.resize(static_cast<std::size_t>(all.height * all.width * 3));
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t y = 0; y < h; ++y) {
      const auto from = frames[static_cast<std::size_t>(k)].rgb.begin() + y * w * 3;
      std::copy(from, from + w * 3,
                all.rgb.begin() + ((k / columns * (h + gap) + y) * all.width + k % columns * (w + gap)) * 3);
    }
  return all;
}
