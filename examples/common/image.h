// 8-bit RGB images in PNG files. Rows are from top to bottom, and channels are the last axis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct image {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> rgb;  // height x width x 3
};

// Reads any PNG as 8-bit RGB (drops alpha, rounds 16 bits down). Throws std::runtime_error with the file's name.
image read_png(const std::string& path);
void write_png(const std::string& path, const image& img);
