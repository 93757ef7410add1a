// demo OUT_DIR [PHOTO.png]: runs the image programs and the network, writes PNGs, and compares times with plain C++ loops.
#include <demo_kernels/gaussian_blur.h>
#include <demo_kernels/half_size.h>
#include <demo_kernels/linear_to_srgb.h>
#include <demo_kernels/local_contrast.h>
#include <demo_kernels/network.h>
#include <demo_kernels/sobel.h>
#include <demo_kernels/srgb_to_linear.h>
#include <demo_kernels/unsharp_mask.h>
#include <demo_kernels/zone_plate.h>
#include <kiln/pool.h>

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "../common/image.h"
#include "plain.h"
#include "timing.h"

namespace {

using std::int64_t;
constexpr auto any = kiln::dynamic_extent;
using rgb_in = kiln::view<const float, any, any, 3>;
using rgb_out = kiln::view<float, any, any, 3>;
using grey_out = kiln::view<float, any, any>;
using bytes_in = kiln::view<const std::uint8_t, any, any, 3>;
using bytes_out = kiln::view<std::uint8_t, any, any, 3>;

void check(const kiln::status& s) {
  if (!s) throw std::runtime_error(s.message());
}

std::string shape(int64_t h, int64_t w) { return std::to_string(h) + " x " + std::to_string(w); }

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double d = 0;
  for (std::size_t i = 0; i < a.size(); ++i) d = std::max(d, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return d;
}

struct demo {
  std::string folder;
  kiln::pool pool;
  kiln::context with;
  int64_t h = 0, w = 0;
  std::vector<float> linear;  // the picture, h x w x 3
  double worst = 0;           // largest difference between the results of Kiln and of the plain loops

  std::vector<float> buffer(int64_t channels) const { return std::vector<float>(static_cast<std::size_t>(h * w * channels)); }

  void write(const std::string& name, std::vector<float> rgb, int64_t rows, int64_t columns) {
    image img{rows, columns, std::vector<std::uint8_t>(rgb.size())};
    check(demo_kernels::linear_to_srgb(rgb_in(rgb.data(), rows, columns), bytes_out(img.rgb.data(), rows, columns), with));
    write_png(folder + "/" + name + ".png", img);
  }

  void write_grey(const std::string& name, const std::vector<float>& grey) {
    std::vector<float> rgb;
    for (float v : grey) rgb.insert(rgb.end(), 3, v);
    write(name, std::move(rgb), h, w);
  }

  void row_of(const char* name, double values_moved, auto const& ours, auto const& plain, const std::vector<float>& a,
              const std::vector<float>& b) {
    compare({name, shape(h, w), values_moved * 4, 0}, ours, plain);
    const double d = largest_difference(a, b);
    worst = std::max(worst, d);
    if (!(d < 2e-3)) throw std::runtime_error(std::string(name) + ": Kiln and the plain loops differ by " + std::to_string(d));
  }

  void make_chart() {
    h = 1080, w = 1920;
    linear = buffer(3);
    auto other = buffer(3);
    row_of(
        "zone_plate", static_cast<double>(3 * h * w),
        [&] { check(demo_kernels::zone_plate(rgb_out(linear.data(), h, w), with)); },
        [&] { plain::zone_plate(other.data(), h, w); }, linear, other);
  }

  void read_photo(const std::string& path) {
    const image img = read_png(path);
    h = img.height & ~int64_t{1}, w = img.width & ~int64_t{1};  // half_size requires even extents
    std::vector<std::uint8_t> even;
    for (int64_t y = 0; y < h; ++y)
      even.insert(even.end(), img.rgb.begin() + y * img.width * 3, img.rgb.begin() + (y * img.width + w) * 3);
    linear = buffer(3);
    auto other = buffer(3);
    row_of(
        "srgb_to_linear", 3.75 * static_cast<double>(h * w),
        [&] { check(demo_kernels::srgb_to_linear(bytes_in(even.data(), h, w), rgb_out(linear.data(), h, w), with)); },
        [&] { plain::srgb_to_linear(even.data(), other.data(), 3 * h * w); }, linear, other);
  }

  void filters() {
    const rgb_in in(linear.data(), h, w);
    const double n = static_cast<double>(h * w);
    auto out = buffer(3), other = buffer(3), t1 = buffer(3), t2 = buffer(3);
    const rgb_out view(out.data(), h, w);
    row_of(
        "gaussian_blur", 6 * n, [&] { check(demo_kernels::gaussian_blur(in, view, with)); },
        [&] { plain::gaussian_blur(linear.data(), t1.data(), other.data(), h, w); }, out, other);
    write("blur", out, h, w);
    row_of(
        "unsharp_mask", 6 * n, [&] { check(demo_kernels::unsharp_mask(in, view, with)); },
        [&] { plain::unsharp_mask(linear.data(), t1.data(), t2.data(), other.data(), h, w); }, out, other);
    write("unsharp", out, h, w);
    auto grey = buffer(1), other_grey = buffer(1), g1 = buffer(1), g2 = buffer(2);
    const grey_out grey_view(grey.data(), h, w);
    row_of(
        "sobel", 4 * n, [&] { check(demo_kernels::sobel(in, grey_view, with)); },
        [&] { plain::sobel(linear.data(), g1.data(), other_grey.data(), h, w); }, grey, other_grey);
    write_grey("sobel", grey);
    row_of(
        "local_contrast", 4 * n, [&] { check(demo_kernels::local_contrast(in, grey_view, with)); },
        [&] { plain::local_contrast(linear.data(), g1.data(), g2.data(), other_grey.data(), h, w); }, grey, other_grey);
    write_grey("contrast", grey);
    const int64_t hh = h / 2, hw = w / 2;
    std::vector<float> half(static_cast<std::size_t>(hh * hw * 3)), other_half = half;
    row_of(
        "half_size", 3.75 * n, [&] { check(demo_kernels::half_size(in, rgb_out(half.data(), hh, hw), with)); },
        [&] { plain::half_size(linear.data(), other_half.data(), hh, hw); }, half, other_half);
    write("half", half, hh, hw);
  }

  // Classifies 8 x 8 patches with fixed weights. The picture shows the probability of class 0.
  void classify() {
    const int64_t rows = h / 8, columns = w / 8, m = rows * columns;
    const auto fill = [](std::size_t n, float scale) {
      std::vector<float> v(n);
      std::uint32_t state = 12345;
      for (float& x : v) state = state * 1664525u + 1013904223u, x = scale * (static_cast<float>(state >> 8) * 0x1p-24f - 0.5f);
      return v;
    };
    const auto w1 = fill(192 * 64, 0.4f), b1 = fill(64, 0.2f), w2 = fill(64 * 10, 1.0f), b2 = fill(10, 0.2f);
    std::vector<float> patches;
    for (int64_t p = 0; p < m; ++p)
      for (int64_t y = 0; y < 8; ++y) {
        const auto from = linear.begin() + ((p / columns * 8 + y) * w + p % columns * 8) * 3;
        patches.insert(patches.end(), from, from + 24);
      }
    std::vector<float> y(static_cast<std::size_t>(m * 10)), other = y, hidden(static_cast<std::size_t>(m * 64));
    const double flops = 2.0 * static_cast<double>(m) * (192 * 64 + 64 * 10);
    compare(
        {"network", shape(m, 192), 0, flops},
        [&] {
          check(demo_kernels::network(kiln::view<const float, any, 192>(patches.data(), m),
                                      kiln::view<const float, 192, 64>(w1.data()), kiln::view<const float, 64>(b1.data()),
                                      kiln::view<const float, 64, 10>(w2.data()), kiln::view<const float, 10>(b2.data()),
                                      kiln::view<float, any, 10>(y.data(), m), with));
        },
        [&] { plain::network(patches.data(), w1.data(), b1.data(), w2.data(), b2.data(), hidden.data(), other.data(), m); });
    worst = std::max(worst, largest_difference(y, other));
    auto map = buffer(1);
    for (int64_t r = 0; r < h; ++r)
      for (int64_t c = 0; c < w; ++c)
        map[static_cast<std::size_t>(r * w + c)] =
            y[static_cast<std::size_t>((std::min(r / 8, rows - 1) * columns + std::min(c / 8, columns - 1)) * 10)];
    write_grey("network", map);
  }

  void run(const std::string& photo) {
    with.executor(pool.executor());
    std::printf("%d threads for Kiln, one for the plain loops\n", pool.workers());
    print_table_head();
    if (photo.empty())
      make_chart();
    else
      read_photo(photo);
    write("input", linear, h, w);
    filters();
    if (h >= 8 && w >= 8) classify();
    std::printf(
        "largest difference to the plain loops: %.2g\npictures: %s/{input,blur,unsharp,sobel,contrast,half,network}.png\n",
        worst, folder.c_str());
  }
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 3) return std::fprintf(stderr, "usage: demo OUT_DIR [PHOTO.png]\n"), 64;
  demo d;
  d.folder = argv[1];
  d.run(argc == 3 ? argv[2] : "");
} catch (const std::exception& e) {
  std::fprintf(stderr, "demo: %s\n", e.what());
  return 1;
}
