// fft OUT_DIR [PICTURE.png]: shows a picture (by default discs in fine noise), its spectrum, and the picture without high
// frequencies: with a Gaussian filter by loops of kernels, and with a filter sin(x) / x by workgroups.
#include <fft_kernels/low_pass.h>
#include <fft_kernels/low_pass_in_workgroups.h>

#include <algorithm>

#include "../common/example.h"

namespace {
constexpr auto any = kiln::dynamic_extent;
constexpr std::int64_t square = 1024;

struct grey {
  std::int64_t h = 512, w = 512;
  std::vector<float> v;
};

grey noisy_discs() {
  grey g;
  std::uint32_t state = 3;
  for (int i = 0; i < g.h; ++i)
    for (int j = 0; j < g.w; ++j) {
      const auto inside = [&](int row, int column, int r) {
        return (i - row) * (i - row) + (j - column) * (j - column) < r * r;
      };
      state = state * 1664525u + 1013904223u;
      const float noise = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
      const bool hole = inside(230, 150, 15);
      g.v.push_back((inside(200, 180, 120) && !hole ? 0.8f : inside(340, 360, 80) ? 0.5f : 0.15f) + 0.5f * noise);
    }
  return g;
}

// Reads a picture. Of a large picture it keeps the 1024 x 1024 pixels in the middle.
grey read(const std::string& path) {
  const image img = read_png(path);
  grey g{std::min(img.height, square), std::min(img.width, square), {}};
  const std::int64_t top = (img.height - g.h) / 2, left = (img.width - g.w) / 2;
  for (std::int64_t i = 0; i < g.h; ++i)
    for (std::int64_t j = 0; j < g.w; ++j) {
      const std::uint8_t* rgb = &img.rgb[static_cast<std::size_t>(((top + i) * img.width + left + j) * 3)];
      g.v.push_back(static_cast<float>(rgb[0] + rgb[1] + rgb[2]) / 765.0f);
    }
  return g;
}

image drawn(const grey& g) {
  image img{g.h, g.w, {}};
  for (const float x : g.v) img.rgb.insert(img.rgb.end(), 3, static_cast<std::uint8_t>(255 * std::clamp(x, 0.0f, 1.0f)));
  return img;
}

image picture(const grey& input, kiln::context& with) {
  std::vector<float> spectrum(square * square), a(2 * square * square), b(a), w(2 * square);
  const kiln::view<const float, any, any> from(input.v.data(), input.h, input.w);
  const kiln::view<float, square, square> lines(spectrum.data());
  const kiln::view<float, square, square, 2> first(a.data()), second(b.data());
  grey gauss = input, sinc = input, middle = input;
  const auto view = [](grey& g) { return kiln::view<float, any, any>(g.v.data(), g.h, g.w); };
  check(fft_kernels::low_pass(from, false, 30, lines, view(gauss), first, second, with));
  check(fft_kernels::low_pass_in_workgroups(from, true, 30, lines, view(sinc), first, second,
                                            kiln::view<float, 2, square>(w.data()), with));
  for (std::int64_t i = 0; i < input.h; ++i)
    for (std::int64_t j = 0; j < input.w; ++j)
      middle.v[static_cast<std::size_t>(i * input.w + j)] =
          lines((square - input.h) / 2 + i, (square - input.w) / 2 + j) / 14.0f;
  return joined({drawn(input), drawn(middle), drawn(gauss), drawn(sinc)}, 2);
}
}  // namespace

int main(int argc, char** argv) {
  const char* photo = argc == 3 ? argv[2] : nullptr;
  return example("fft", photo != nullptr ? 2 : argc, argv,
                 [&](kiln::context& with) { return picture(photo != nullptr ? read(photo) : noisy_discs(), with); });
}
