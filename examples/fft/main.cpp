// fft OUT_DIR: a picture with fine noise, its spectrum, and the picture behind two low-pass filters; the second one by groups.
#include <fft_kernels/low_pass.h>
#include <fft_kernels/low_pass_in_groups.h>

#include <algorithm>
#include <cmath>

#include "../common/example.h"

namespace {
constexpr std::int64_t n = 256;

image grey(const std::vector<float>& v, float scale) {
  image img{n, n, {}};
  for (const float x : v) img.rgb.insert(img.rgb.end(), 3, static_cast<std::uint8_t>(255 * std::clamp(scale * x, 0.0f, 1.0f)));
  return img;
}

std::vector<float> noisy_discs() {
  std::vector<float> v;
  std::uint32_t state = 3;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const auto inside = [&](int row, int column, int r) {
        return (i - row) * (i - row) + (j - column) * (j - column) < r * r;
      };
      state = state * 1664525u + 1013904223u;
      const float noise = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
      v.push_back((inside(100, 90, 60) ? 0.8f : inside(170, 180, 40) ? 0.5f : 0.15f) + 0.5f * noise);
    }
  return v;
}

image picture(kiln::context& with) {
  const std::vector<float> input = noisy_discs();
  std::vector<float> spectrum(n * n), filtered(n * n), a(2 * n * n), b(2 * n * n);
  std::vector<float> w(2 * n);
  const kiln::view<const float, n, n> from(input.data());
  const kiln::view<float, n, n> lines(spectrum.data()), to(filtered.data());
  const kiln::view<float, n, n, 2> first(a.data()), second(b.data());
  std::vector<image> frames{grey(input, 1)};
  check(fft_kernels::low_pass(from, 24, lines, to, first, second, with));
  frames.push_back(grey(spectrum, 1 / 12.0f));
  frames.push_back(grey(filtered, 1));
  check(fft_kernels::low_pass_in_groups(from, 8, lines, to, first, second, kiln::view<float, 2, n>(w.data()), with));
  frames.push_back(grey(filtered, 1));
  return joined(frames, 4);
}
}  // namespace

int main(int argc, char** argv) { return example("fft", argc, argv, picture); }
