// What control.cpp compares with.
#pragma once

#include <cstdint>

void mandelbrot_by_hand(float x0, float y0, float dx, int limit, int* image, std::int64_t h, std::int64_t w);
// Structure of arrays.
void forces_by_hand(const float* x, const float* y, const float* z, float* ax, float* ay, float* az, std::int64_t n);
