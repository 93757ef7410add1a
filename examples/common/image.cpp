#include "image.h"

#include <png.h>

#include <cstring>
#include <stdexcept>

namespace {
png_image header() {
  png_image h;
  std::memset(&h, 0, sizeof h);
  h.version = PNG_IMAGE_VERSION;
  return h;
}
[[noreturn]] void fail(const std::string& path, const png_image& h) { throw std::runtime_error(path + ": " + h.message); }
}  // namespace

image read_png(const std::string& path) {
  png_image h = header();
  if (!png_image_begin_read_from_file(&h, path.c_str())) fail(path, h);
  h.format = PNG_FORMAT_RGB;
  image img{h.height, h.width, std::vector<std::uint8_t>(PNG_IMAGE_SIZE(h))};
  const png_color background{0, 0, 0};
  if (!png_image_finish_read(&h, &background, img.rgb.data(), 0, nullptr)) fail(path, h);
  return img;
}

void write_png(const std::string& path, const image& img) {
  png_image h = header();
  h.width = static_cast<png_uint_32>(img.width);
  h.height = static_cast<png_uint_32>(img.height);
  h.format = PNG_FORMAT_RGB;
  if (!png_image_write_to_file(&h, path.c_str(), 0, img.rgb.data(), 0, nullptr)) fail(path, h);
}
