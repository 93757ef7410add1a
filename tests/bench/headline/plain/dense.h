// Rows of products and of a softmax, for the plain loops of networks.
#pragma once

#include <cmath>
#include <cstdint>

namespace kiln::headline {

// y += x w for one row; the rows of w are `pitch` apart.
inline void add_product(const float* x, const float* w, float* __restrict y, std::int64_t k, std::int64_t n,
                        std::int64_t pitch) {
  for (std::int64_t l = 0; l < k; ++l)
    for (std::int64_t j = 0; j < n; ++j) y[j] += x[l] * w[l * pitch + j];
}

inline void softmax(float* x, std::int64_t n) {
  float most = x[0], sum = 0;
  for (std::int64_t j = 1; j < n; ++j) most = x[j] > most ? x[j] : most;
  for (std::int64_t j = 0; j < n; ++j) x[j] = std::exp(x[j] - most);
  for (std::int64_t j = 0; j < n; ++j) sum += x[j];
  for (std::int64_t j = 0; j < n; ++j) x[j] /= sum;
}

}  // namespace kiln::headline
