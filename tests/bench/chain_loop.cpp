// The hand-written loops of chain.cpp, compiled with -O3 -march=native and no contraction.
#include <cstdint>

void chain_by_hand(const float* __restrict x, const float* __restrict y, float* __restrict z, std::int64_t begin,
                   std::int64_t end);
void copy_by_hand(const float* __restrict x, const float* __restrict y, float* __restrict z, std::int64_t begin,
                  std::int64_t end);

void chain_by_hand(const float* __restrict x, const float* __restrict y, float* __restrict z, std::int64_t begin,
                   std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    float v = x[i];
    for (int k = 0; k < 5; ++k) v = (v * y[i] + 0.5f - x[i]) * 0.25f;
    z[i] = v;
  }
}

void copy_by_hand(const float* __restrict x, const float* __restrict y, float* __restrict z, std::int64_t begin,
                  std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) z[i] = x[i] + y[i];
}
