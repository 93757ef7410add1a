// Two small evaluators for tests of the graph-level passes: one of the tensor program, node by node, one of kernels, iteration
// by iteration with the planned workspace. Every load and store is checked against its buffer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/shapes.h"

namespace kiln::compiler::testing {

struct Scalar {
  double f = 0;        // floats; those of narrower types are kept exactly representable
  std::int64_t i = 0;  // integers, bool, index
};

using Symbols = std::map<std::string, std::int64_t>;
using Data = std::vector<Scalar>;

std::uint64_t bits_of(DType d, const Scalar& s);  // in the low bytes
Scalar scalar_of(DType d, std::uint64_t bits);
Scalar apply(Op op, DType result, DType operand, const std::vector<Scalar>& x);
bool same(DType d, const Scalar& a, const Scalar& b);

// Value of an index expression over symbols.
std::int64_t index_at(const Graph& g, Id id, const Symbols& symbols);

// Parameters by slot at entry -> parameters after.
std::vector<Data> run_program(Graph& g, const Program& p, const Symbols& symbols, const std::vector<Data>& params);
// Before the memory plan, temporaries stand apart. `backward`: iterations and reads happen in the opposite order of loops, as
// threads may run them. `unordered`: dependencies are not known yet, so an inout parameter is read as it was at entry.
std::vector<Data> run_schedule(Graph& g, const Schedule& s, const Symbols& symbols, const std::vector<Data>& params,
                               bool backward, bool unordered = false);

// Reduces values in the given order by the rules of docs/reference/numbers.md.
Scalar reduce_values(ReduceKind k, ReduceOrder order, DType d, const std::vector<Scalar>& x, const std::vector<Scalar>& y);

}  // namespace kiln::compiler::testing
