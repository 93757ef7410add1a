// What reductions and scans repeat: the operation on two values, and the value that it starts from.
#pragma once

#include <cstddef>
#include <limits>

#include "compiler/interp/array.h"
#include "compiler/interp/scalar.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

template <class C>
C identity(ReduceKind k) {
  using L = std::numeric_limits<C>;
  switch (k) {
    case ReduceKind::prod:
    case ReduceKind::all: return C(1);
    case ReduceKind::max: return L::has_infinity ? -L::infinity() : L::lowest();
    case ReduceKind::min: return L::has_infinity ? L::infinity() : L::max();
    default: return C(0);
  }
}

template <class C>
C combine(ReduceKind k, C a, C b) {
  switch (k) {
    case ReduceKind::sum: return scalar::add<C>(a, b);
    case ReduceKind::prod: return scalar::mul<C>(a, b);
    case ReduceKind::max: return scalar::max(a, b);
    case ReduceKind::min: return scalar::min(a, b);
    case ReduceKind::any: return C((a != 0) | (b != 0));
    default: return C((a != 0) & (b != 0));
  }
}

// The elements around and inside of an axis: element k of the axis is at (outer * axis + k) * inner.
struct Split {
  std::size_t outer = 1, axis = 1, inner = 1;
};

inline Split split_at(const Array& x, std::size_t axis) {
  return {x.elements(0, axis), x.extent(axis), x.elements(axis + 1, x.extents.size())};
}

// The kind for elements that are 0 or 1: for bools max equals any, and min equals all.
inline ReduceKind kind_of_bools(ReduceKind k) {
  return k == ReduceKind::max ? ReduceKind::any : k == ReduceKind::min ? ReduceKind::all : k;
}

}  // namespace kiln::compiler
