// A transform of any power of two, in place.
#pragma once

#include <fft_kernels/reorder.h>
#include <fft_kernels/stage.h>

#include <cstdint>
#include <vector>

#include "../common/check.h"

// x: pairs of real and imaginary parts. sign: -1 forward, 1 inverse, which divides by nothing.
inline void transform(std::vector<float>& x, float sign, const kiln::context& with = {}) {
  constexpr auto any = kiln::dynamic_extent;
  const auto n = static_cast<std::int64_t>(x.size() / 2);
  std::uint32_t bits = 0;
  while (std::int64_t{1} << bits < n) ++bits;
  std::vector<float> y(x.size());
  const kiln::view<float, any, 2> out(y.data(), n);
  check(fft_kernels::reorder(kiln::view<const float, any, 2>(x.data(), n), 32 - bits, out, with));
  for (std::int32_t half = 1; half < n; half *= 2) check(fft_kernels::stage(half, sign, out, with));
  x.swap(y);
}
