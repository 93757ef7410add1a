// The demo's computations as plain C++ loops, as one writes them without Kiln. The table compares with them. Images have rows x
// columns x 3 floats; borders repeat the nearest pixel.
#pragma once

#include <cstdint>

namespace plain {

void zone_plate(float* out, std::int64_t h, std::int64_t w);
void srgb_to_linear(const std::uint8_t* in, float* out, std::int64_t n);
void linear_to_srgb(const float* in, std::uint8_t* out, std::int64_t n);
void gaussian_blur(const float* in, float* tmp, float* out, std::int64_t h, std::int64_t w);
void unsharp_mask(const float* in, float* tmp, float* blurred, float* out, std::int64_t h, std::int64_t w);
void sobel(const float* in, float* grey, float* out, std::int64_t h, std::int64_t w);
void half_size(const float* in, float* out, std::int64_t h, std::int64_t w);  // out is h x w, in is 2h x 2w
void local_contrast(const float* in, float* grey, float* tmp, float* out, std::int64_t h, std::int64_t w);
void network(const float* x, const float* w1, const float* b1, const float* w2, const float* b2, float* hidden, float* y,
             std::int64_t m);

}  // namespace plain
