// Exact values of index expressions at points, to find counterexamples and to check the counterexamples of a solver. Proofs
// check the compiler. So this file shares no code with compiler/ir/index_operation.h, and computes with 128 bits.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

using Wide = __int128;

enum class ValueKind : std::uint8_t {
  exact,
  absent,  // no value: a shift by a negative count or by more than 62
  wide     // more than 127 bits, or an operation outside of the language
};

struct ExactValue {
  Wide value = 0;
  ValueKind kind = ValueKind::wide;
};

// Finds the order of evaluation once, for many points.
class Evaluator {
 public:
  // variables: SYM nodes, in the order of a point's values.
  Evaluator(const Graph& g, std::span<const Id> variables, std::span<const Id> roots);
  void at(std::span<const std::int64_t> point);
  const ExactValue& operator[](Id root) const { return values_[root]; }
  bool is_true(Id condition) const { return values_[condition].kind == ValueKind::exact && values_[condition].value != 0; }

 private:
  ExactValue derived(Id id) const;

  const Graph& g_;
  std::vector<Id> variables_, order_;
  std::vector<ExactValue> values_;
};

}  // namespace kiln::compiler
