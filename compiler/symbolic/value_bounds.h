// ValueBounds: the intervals of the integers of a kernel, loaded or computed. For indices and conditions there is Bounds
// (bounds.h).
#pragma once

#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {

// Operations on integers that have the same result in every type that holds the operands and the result; shifts only by less
// than the width.
bool is_exact_arithmetic(Op op);

inline bool fits_i16(Interval i) { return i.min >= -32768 && i.max <= 32767; }

class ValueBounds {
 public:
  ValueBounds(const Graph& g, Bounds& indices) : graph_(g), indices_(indices) {}

  // An interval with all values of an integer node of at most 32 bits. Arithmetic that may wrap has the interval of its type.
  Interval operator()(Id root);

 private:
  Interval derive(Id id);
  Interval reduced(Id id);

  const Graph& graph_;
  Bounds& indices_;
  IdMap<Interval> memo_;
};

}  // namespace kiln::compiler
