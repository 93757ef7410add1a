// Arrays for tests, from a function that makes elements.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/interp/scalar.h"
#include "compiler/interp/visit.h"

namespace kiln::compiler::testing {

// An array whose elements, in row-major order, are the results of element(), converted to the dtype.
template <class Element>
Array array_of_elements(DType d, std::vector<std::int64_t> extents, Element&& element) {
  Array a{d, std::move(extents), {}};
  a.data.resize(a.elements() * static_cast<std::size_t>(bytes(d)));
  visit_type(d, [&]<class T>() {
    auto* x = reinterpret_cast<T*>(a.data.data());
    for (std::size_t i = 0; i < a.elements(); ++i) x[i] = scalar::convert<T>(element());
  });
  return a;
}

}  // namespace kiln::compiler::testing
