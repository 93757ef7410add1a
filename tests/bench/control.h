// The loops that control.cpp compares with.
#pragma once

#include <cstdint>

void mandelbrot_by_hand(float x0, float y0, float dx, int limit, int* image, std::int64_t h, std::int64_t w);
// One step. x and v are 3 x n, n is a multiple of 64. As tensors, a sum of three squares begins with the first and the last.
void bodies_by_hand(float* x, float* v, std::int64_t n);
void bodies_by_hand_as_tensors(float* x, float* v, std::int64_t n);
