// Code that the applications of the gallery share: arguments, errors, pictures of fields, frames in one picture.
#pragma once

#include <kiln/pool.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.h"
#include "image.h"

// The main() of an example: `NAME OUT_DIR` runs `picture` and writes OUT_DIR/NAME.png.
inline int example(const char* name, int argc, char** argv, const std::function<image(kiln::context&)>& picture) try {
  if (argc != 2) return std::fprintf(stderr, "usage: %s OUT_DIR\n", name), 64;
  kiln::pool pool;
  kiln::context with;
  with.executor(pool.executor());
  const auto start = std::chrono::steady_clock::now();
  const image img = picture(with);
  const std::chrono::duration<double> t = std::chrono::steady_clock::now() - start;
  const std::string path = std::string(argv[1]) + "/" + name + ".png";
  write_png(path, img);
  std::printf("%-12s %8.2f s   %s\n", name, t.count(), path.c_str());
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s: %s\n", name, e.what());
  return 1;
}

// A picture of a field: blue below zero, red above, white at zero. |v| >= limit has full colour.
image signed_colours(const std::vector<float>& v, std::int64_t h, std::int64_t w, float limit);
// A picture of several frames of one size on black, with `columns` frames in a row.
image joined(const std::vector<image>& frames, std::int64_t columns);
