// sort OUT_DIR: shows a bitonic sort of 500 keys, with eight rows for each step. A radix sort must give the same result.
#include <cmath>

#include "../common/example.h"
#include "buffers.h"

namespace {
constexpr std::int64_t n = 500, height = 8;

void draw(const std::vector<float>& keys, image& img) {
  for (std::int64_t y = 0; y < height; ++y)
    for (const float k : keys) {
      const auto channel = [&](float phase) {
        return static_cast<std::uint8_t>(127.5f - 127.5f * std::cos(6.2831853f * (0.8f * k + phase)));
      };
      img.rgb.insert(img.rgb.end(), {channel(0.0f), channel(0.2f), channel(0.4f)});
    }
  img.height += height;
}

image picture(kiln::context& with) {
  std::vector<float> keys;
  std::vector<std::int32_t> values;
  for (std::int32_t i = 0; i < n; ++i) keys.push_back(static_cast<float>(i * 787 % n) / n), values.push_back(i);
  const std::vector<float> start = keys;
  std::vector<float> radix_keys = keys;
  std::vector<std::int32_t> radix_values = values;
  image img{0, n, {}};
  draw(keys, img);
  for (std::int32_t steps = 1; steps <= 45; ++steps) {
    std::vector<float> part = start;
    for (std::int32_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = i;
    check(sort_kernels::bitonic(steps, part, values, with));
    draw(part, img);
    keys = part;
  }
  radix_buffers<float> buffers(keys.size());
  radix_sort(radix_keys, radix_values, buffers, with);
  if (keys != radix_keys || values != radix_values) throw std::runtime_error("the two sorts differ");
  return img;
}
}  // namespace

int main(int argc, char** argv) { return example("sort", argc, argv, picture); }
