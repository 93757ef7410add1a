// The elements for tests of operations: special values of every dtype, and random ones.
#pragma once

#include <random>
#include <vector>

#include "compiler/interp/array.h"
#include "tests/run/tensor_reference.h"

namespace kiln::compiler::testing {

// Zeros of both signs, denormals, infinities, NaN, the extremes of integers, and ordinary values.
std::vector<Bits> special_values(DType d);

// Floats are near +-1, so that long sums and products stay finite. special: one in 32 is a special value. cancelling: large
// values of both signs absorb small ones, so that the order of a sum shows even after rounding to 16 bits.
enum class Data { plain, special, cancelling };
Bits random_element(DType d, Data data, std::mt19937& random);

Array array_of(const Tensor& t);
Tensor tensor_of(const Array& a);

}  // namespace kiln::compiler::testing
