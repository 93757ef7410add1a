// What groups.cpp compares with.
#pragma once

#include <cstdint>

// rows transforms of 1024 points; w: cosines and sines, as examples/fft/groups.cpp has them.
void transforms_by_hand(const float* x, float sign, const float* w, float* y, std::int64_t rows);
void transpose_by_hand(const float* x, float* y, std::int64_t n);  // n x n, n a multiple of 16
// Sums up to each element, of 256 elements at a time: in 8 steps, each with an element further away.
void sums_by_hand(const int* x, int* y, std::int64_t n);
void halvings_by_hand(const float* x, float* y, std::int64_t n);  // the sum of each 256, in pairs
