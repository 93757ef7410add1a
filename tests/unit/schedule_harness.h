// Two small evaluators for tests of graph-level passes: of a tensor program, node by node, and of kernels, iteration by
// iteration, with the planned workspace. Every load and store is checked against its buffer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/schedule.h"
#include "compiler/ir/shapes.h"

namespace kiln::compiler::testing {

struct Scalar {
  double f = 0;        // floats; values of narrower types are exactly representable in their type
  std::int64_t i = 0;  // integers, bool, index
};

using Symbols = std::map<std::string, std::int64_t>;
using Data = std::vector<Scalar>;

std::uint64_t bits_of(DType d, const Scalar& s);  // in the low bytes
Scalar scalar_of(DType d, std::uint64_t bits);
Scalar apply(Op op, DType result, DType operand, std::span<const Scalar> x);
Scalar apply(Op op, DType result, DType operand, std::initializer_list<Scalar> x);
bool same(DType d, const Scalar& a, const Scalar& b);

// The value of an index expression over symbols.
std::int64_t index_at(const Graph& g, Id id, const Symbols& symbols);

// From the parameters at entry to the parameters after the program, both by slot.
std::vector<Data> run_program(Graph& g, const Program& p, const Symbols& symbols, const std::vector<Data>& params);
// Before the memory plan, each temporary has memory of its own. backward: iterations and reads happen in reverse order of the
// loops, as threads may run them. unordered: dependencies are not known yet, so an inout parameter has its value at entry.
std::vector<Data> run_schedule(Graph& g, const Schedule& s, const Symbols& symbols, const std::vector<Data>& params,
                               bool backward, bool unordered = false);

// Reduces the values in this order by the rules of docs/reference/numbers.md.
// A scan that takes its elements one by one. d: the type of the elements, f16 and bf16 as f32.
class RunningScan {
 public:
  RunningScan(ReduceKind k, DType d, bool exclusive);
  Scalar next(const Scalar& x);  // the result at this element

 private:
  ReduceKind kind_;
  DType dtype_;
  bool exclusive_;
  std::int64_t count_ = 0;
  std::vector<Scalar> parts_;  // of this group: results of parts of 8, 4, 2 and 1 elements, as far as there are such parts
  std::vector<std::int64_t> sizes_;
  Scalar groups_, blocks_, last_;
};
Scalar reduce_values(ReduceKind k, ReduceOrder order, DType d, const std::vector<Scalar>& x, const std::vector<Scalar>& y);

}  // namespace kiln::compiler::testing
