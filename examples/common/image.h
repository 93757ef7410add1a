// 8-bit RGB images in PNG files, rows top to bottom, channels last.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct image {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> rgb;  // height x width x 3
};

// Any PNG, converted to 8-bit RGB (alpha dropped, 16-bit rounded down). Throws std::runtime_error that names the file.
image read_png(const std::string& path);
void write_png(const std::string& path, const image& img);
