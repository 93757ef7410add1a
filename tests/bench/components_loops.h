// The loops that components.cpp compares with.
#pragma once

#include <cstdint>

void normalised_by_hand(const float* x, float* y, std::int64_t n);
void scaled_by_hand(const float* x, const float* s, float* y, std::int64_t n);
void complex_by_hand(const float* a, const float* b, float* y, std::int64_t n);
void turned_by_hand(const float* x, const float* m, float* y, std::int64_t n);
void products_by_hand(const float* a, const float* b, float* y, std::int64_t n);
void density_by_hand(const float* x, float* y, std::int64_t n);
