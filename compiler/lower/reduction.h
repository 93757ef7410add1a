// One REDUCE as reduce_lowering takes it apart, and what its values load.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// Whether the result depends on the order in which the values of this type are reduced.
inline bool order_matters(ReduceKind kind, DType acc) {
  return is_float(acc) && (kind == ReduceKind::sum || kind == ReduceKind::prod || kind == ReduceKind::dot);
}

struct Reduction {
  ReduceKind kind;
  ReduceOrder order;
  std::vector<Id> values, ranges;
  DType acc;                    // accumulator type
  std::vector<Id> around;       // ranges of the reductions that repeat it
  std::vector<Id> stores = {};  // STOREs over the range, which its loop makes (stores_in_reductions.h)

  bool is_arg() const { return kind == ReduceKind::argmax || kind == ReduceKind::argmin; }
  bool order_matters() const { return compiler::order_matters(kind, acc); }
};

// Whether some LOAD of the values is contiguous in the range.
bool contiguous_over(const Graph& g, std::span<const Id> values, Id range);

// The number of LOADs that neighbouring iterations of the range make more than `most` elements apart. With 1: the LOADs that
// are not contiguous if the range becomes lanes.
std::int64_t loads_apart(const Graph& g, std::span<const Id> values, Id range, std::int64_t most = 1);

// The factors of the elements that a sum of products adds; empty: the sum adds other elements.
std::vector<Id> factors(const Graph& g, const Reduction& r);

inline bool is_paired(const Graph& g, const Reduction& r) { return g.op(r.values[0]) == Op::DOT2; }

}  // namespace kiln::compiler
