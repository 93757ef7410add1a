// Evaluates operations that expand_math defines on arrays, by their expansions.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>

#include "compiler/interp/elementwise.h"
#include "compiler/ir/graph.h"

namespace kiln::compiler {

// The dtype in which an elementwise node computes: that of its operands, for WHERE that of the branches.
inline DType operand_type(const Graph& g, Id node) { return g.dtype(g.src(node, g.op(node) == Op::WHERE ? 1 : 0)); }

class MathEvaluator {
 public:
  // type: dtype of the operands. f16 and bf16 compute in f32 and round once.
  void apply(Op op, DType type, std::span<const Operand> operands, std::byte* out, std::size_t n);

  // The expansion into basic operations. Not for f16 and bf16.
  struct Expansion {
    Graph graph;
    std::vector<Id> inputs;
    std::vector<Id> order;  // ascending, the result last
  };
  const Expansion& expansion(Op op, DType type);

 private:
  void apply_wide(Op op, DType type, std::span<const Operand> operands, std::byte* out, std::size_t n);

  std::map<std::pair<Op, DType>, std::unique_ptr<Expansion>> expansions_;
};

}  // namespace kiln::compiler
