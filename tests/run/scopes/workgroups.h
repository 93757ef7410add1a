// Inputs for the tests of kernels with workgroups.
#pragma once

#include <kiln/dsl.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/run/scopes/run_scopes.h"

namespace scopes {

inline constexpr kiln::dim<"N"> N;
inline constexpr kiln::dim<"H"> H;
inline constexpr kiln::dim<"W"> W;

inline std::vector<float> numbers(int n) {
  std::vector<float> x;
  for (int i = 0; i < n; ++i) x.push_back(static_cast<float>(i * 37 % 101 - 50) / 8.0f);
  return x;
}
inline std::vector<int> integers(int n) {
  std::vector<int> x;
  for (int i = 0; i < n; ++i) x.push_back(i * 7919 % 1009 - 500);
  return x;
}
inline constexpr std::array sizes = {0, 1, 6, 64, 250, 1000};

// Calls f(first, end) for each workgroup.
template <class F>
void each_workgroup(int n, int size, F&& f) {
  for (int first = 0; first < n; first += size) f(first, std::min(n, first + size));
}

}  // namespace scopes
