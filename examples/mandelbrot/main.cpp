// mandelbrot OUT_DIR: 1024 x 1024 points, up to 256 iterations.
#include <mandelbrot_kernels/colours.h>
#include <mandelbrot_kernels/escape.h>

#include "../common/example.h"

namespace {
constexpr std::int64_t size = 1024;
constexpr auto any = kiln::dynamic_extent;

image picture(kiln::context& with) {
  std::vector<std::int32_t> iterations(size * size);
  image img{size, size, std::vector<std::uint8_t>(size * size * 3)};
  check(mandelbrot_kernels::escape(-2.0f, -1.25f, 2.5f / size, 256,
                                   kiln::view<std::int32_t, any, any>(iterations.data(), size, size), with));
  check(mandelbrot_kernels::colours(kiln::view<const std::int32_t, any, any>(iterations.data(), size, size), 256,
                                    kiln::view<std::uint8_t, any, any, 3>(img.rgb.data(), size, size), with));
  return img;
}
}  // namespace

int main(int argc, char** argv) { return example("mandelbrot", argc, argv, picture); }
