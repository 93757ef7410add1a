// Known facts of one value (an interval, and a congruence value == offset (mod stride)), and the facts that operations derive
// from them. min > max means that there is no value, because a branch or loop is never entered; then every statement holds.
#pragma once

#include <cstdint>
#include <span>

#include "compiler/index/interval.h"
#include "compiler/ir/dtype.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

// stride 0: the value is `offset`. stride 1: no congruence is known. Otherwise 0 <= offset < stride.
struct Congruence {
  std::int64_t stride, offset;
  bool operator==(const Congruence&) const = default;
};

namespace symbolic {

struct Known {
  Interval interval;
  Congruence residue;
  bool empty() const { return interval.min > interval.max; }
};

inline constexpr Congruence no_residue{1, 0};
inline constexpr Interval either_truth{0, 1};
inline constexpr Known no_value{{1, 0}, no_residue};

Known known_constant(std::int64_t v);
Known known_interval(Interval i);
Known known_condition(Interval i);
Known known_dtype(DType d);  // any value of the type
Known narrowed(Known k);     // moves the interval's ends to values of the residue class
Known intersected(Known k, Interval i);
// The facts of an operation on index or bool values. condition: the result is bool. Any other operation gives `anything`.
Known known_result(Op op, bool condition, std::span<const Known> src);

}  // namespace symbolic
}  // namespace kiln::compiler
