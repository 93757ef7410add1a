// The loops that workgroups.cpp compares with.
#pragma once

#include <cstdint>

// `rows` transforms of 1024 points. w: cosines and sines as in examples/fft/workgroups.cpp.
void transforms_by_hand(const float* x, float sign, const float* w, float* y, std::int64_t rows);
void transpose_by_hand(const float* x, float* y, std::int64_t n);  // n x n, n a multiple of 16
// Prefix sums of each 256 elements, in 8 steps. Each step adds an element at twice the distance.
void sums_by_hand(const int* x, int* y, std::int64_t n);
void halvings_by_hand(const float* x, float* y, std::int64_t n);  // pairwise sum of each 256 elements
