// Two small evaluators for tests of the graph-level passes: one of the tensor program, node by node, one of kernels, iteration
// by iteration with the planned workspace. Types: bool, i32, i64, f32, f64. Every load and store is checked against its buffer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/shapes.h"

namespace kiln::compiler::testing {

struct Scalar {
  double f = 0;        // floats; f32 values are kept exactly representable
  std::int64_t i = 0;  // integers, bool, index
};

using Symbols = std::map<std::string, std::int64_t>;
using Data = std::vector<Scalar>;

Scalar apply(Op op, DType result, DType operand, const std::vector<Scalar>& x);
bool same(DType d, const Scalar& a, const Scalar& b);

// Value of an index expression over symbols.
std::int64_t index_at(const Graph& g, Id id, const Symbols& symbols);

// Parameters by slot at entry -> parameters after.
std::vector<Data> run_program(Graph& g, const Program& p, const Symbols& symbols, const std::vector<Data>& params);
// `backward`: iterations and reads happen in the opposite order of loops, as threads may run them.
std::vector<Data> run_schedule(Graph& g, const Schedule& s, const Symbols& symbols, const std::vector<Data>& params,
                               bool backward);

// Reduces values in the given order by the rules of docs/reference/numbers.md.
Scalar reduce_values(ReduceKind k, ReduceOrder order, DType d, const std::vector<Scalar>& x, const std::vector<Scalar>& y);

}  // namespace kiln::compiler::testing
