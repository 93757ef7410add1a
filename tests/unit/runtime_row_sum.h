// The model of the header that the generator would write for the program of runtime_program.h.
#pragma once

#include "kiln/view.h"
#include "runtime_program.h"

namespace test {

inline kiln::status row_sum(kiln::view<const float, kiln::dynamic_extent, 4> x, kiln::view<const float, kiln::dynamic_extent> w,
                            float s, kiln::view<float, kiln::dynamic_extent> y, const kiln::context& kiln_with = {}) {
  const kiln_tensor kiln_args[] = {kiln::tensor_of(x), kiln::tensor_of(w), kiln::tensor_of(s), kiln::tensor_of(y)};
  return {::row_sum(kiln_args, 4, kiln_with.get()), ::row_sum_desc()};
}

}  // namespace test
