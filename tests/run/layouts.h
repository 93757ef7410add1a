// Arguments that are not dense: gaps between rows, axes in another order, negative strides.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/ir/program.h"

namespace kiln::compiler::testing {

// The program with strides of the caller for its parameters: in turn of all axes but the last, of the first, of all.
Program strided(Program p);

// An array's elements in memory of their own, with one of the layouts that the parameter allows. `seed` selects the layout.
class LaidOut {
 public:
  LaidOut(const Parameter& p, const Array& dense, std::uint64_t seed);

  void* data() { return memory_.data() + first_; }
  const std::int64_t* strides() const { return strides_.data(); }
  // Copies the elements back to the dense array. False: a byte between them has changed.
  bool take_back(Array& dense) const;

 private:
  template <class F>
  void each_element(const Array& dense, F f) const;  // calls f(byte offset in memory, byte offset in the dense array)

  std::size_t element_;
  std::size_t first_ = 0;  // byte offset of element [0, 0, ..]
  std::vector<std::int64_t> strides_;
  std::vector<std::byte> memory_;
};

}  // namespace kiln::compiler::testing
