// A transform of any power of two, in place.
#pragma once

#include <fft_kernels/transform.h>

#include <cstdint>
#include <vector>

#include "../common/check.h"

// x: pairs of real and imaginary part. sign: -1 forward; 1 inverse, without the division by the number of points.
inline void transform(std::vector<float>& x, float sign, const kiln::context& with = {}) {
  constexpr auto any = kiln::dynamic_extent;
  const auto n = static_cast<std::int64_t>(x.size() / 2);
  std::vector<float> y(x.size());
  check(
      fft_kernels::transform(kiln::view<const float, any, 2>(x.data(), n), sign, kiln::view<float, any, 2>(y.data(), n), with));
  x.swap(y);
}
