// StagingModel: a cost model that decides which values get a buffer, and which each reader computes again.
//
// The unit of cost is one scalar operation. The cost of a value covers the whole expression under it, as if nothing under it
// were stored. Exception: values that get a buffer in any case count as one load. These are costly values and reductions that a
// broadcast reads, and reductions with several readers of which one is a REDUCE.
// Example: in the matrix product a @ exp(b) each element of exp(b) is needed once for each row of a, so exp(b) gets a buffer.
//
// A reduction inside of another one gets a buffer too, though each of its elements is needed once: only in a loop nest of its
// own does it have lanes and share loads. Example: max<1>(a @ b). Sums over several short axes get one, too, if a row of the
// reader needs them: inside of the row they would be written out without lanes. Example: the means of 14 x 14 planes in a
// normalization.
//
// An operand that a product reads many times gets a buffer even if it is cheap: in the loop of a product each operation costs
// as much as a multiply-add. Exceptions: casts, and operands beside which a temporary tensor of the same size is stored
// already.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/shapes.h"

namespace kiln::compiler {

struct ValueCost {
  double operations = 0;          // operations for one element
  bool contains_reduce = false;   // whether one element needs a reduction
  bool contains_loop = false;     // whether one element needs a reduction of more than max_short_iterations iterations
  bool divides = false;           // whether one element needs a division or a square root
  bool is_computed = false;       // whether one element needs an operation that is no cast
  double code = 0;                // of a scalar value: number of nodes that a copy of it would add
  double loads = 0;               // elements that one element loads
  int reductions = 0;             // number of reductions that one element needs: 0, 1, or 2 for more
  bool has_positions = false;     // whether it is computed from positions
  bool from_positions = false;    // whether a reduction's terms are computed from positions, as in a selection of elements
  bool has_symbolic_row = false;  // whether the length of a reduced row, along the last axis, is a guess
  double terms = 1;               // iterations of nested reductions, for one element
  double most_loaded = 0;         // the greatest number of different elements that it loads of one tensor, for all elements
  double most_stored = 0;         // the greatest number of different elements that it loads of one temporary tensor
};

// The use of a value, summed over all its readers.
struct ValueUse {
  std::size_t maps = 0;              // number of different index maps
  double hoisted = 0;                // number of evaluations, after hoisting out of loops that the value does not depend on
  double elements = 0;               // number of different elements
  double bytes = 4;                  // size of one element
  bool is_symbolic = false;          // whether the number of elements is a guess
  bool in_reduction = false;         // a reader's reduction needs another element in each iteration
  bool is_hoisted = false;           // a reader has loops inside of which the value stays the same
  bool selects = false;              // its elements are found by comparisons or divisions, as in a concatenation or a reshape
  bool splits_columns = false;       // a reader's index on the last axis has a division
  bool is_strided = false;           // a reader's index on the last axis has steps of 2 or more
  bool is_partial = false;           // one axis of a reduction over several axes: another REDUCE of the same kind reads it
  std::size_t index_operations = 0;  // size of the longest index expression of a reader
};

// Whether an index has steps of a constant greater than 1.
bool has_steps(const Graph& g, std::span<const Id> index);
// Whether an index contains a division.
bool divides_index(const Graph& g, std::span<const Id> index);
// Whether one of the RANGEs belongs to a reduction.
bool has_reduce_range(const Graph& g, std::span<const Id> ranges);

class StagingModel {
 public:
  StagingModel(const Graph& g, const Program& p) : g_(g), program_(p) {}

  double extent(Id e);  // typical value of an index expression over symbols
  double elements(const std::vector<Id>& extents);
  bool is_symbolic(const std::vector<Id>& extents) const;
  // Number of evaluations, inside `loops` (outermost first), of a value that depends on the ranges `used`. The iterations of
  // short loops (unrollable_loops.h) share a value that does not depend on them. Exception: a value with a loop of its own,
  // because that loop vectorises by itself.
  double evaluations(const ValueCost& value, std::span<const Id> loops, std::span<const Id> used);
  // Call count_reader for all nodes first. Then call add for all nodes, sources before readers.
  void count_reader(Id node);
  void add(Id node, Shapes& shapes);
  bool is_partial(Id node) const { return node < partial_.size() && partial_[node]; }
  bool is_read_twice(Id node) const { return node < readers_.size() && readers_[node] > 1; }
  // The cost of a scalar value over ranges: each node counts once per iteration of the reductions around it.
  ValueCost cost_of_scalar(Id value);
  ValueCost cost(Id node) const { return node < costs_.size() ? costs_[node] : ValueCost{}; }

  // Why the value gets a buffer; `no`: recompute it wherever it is read.
  enum class Stored : std::uint8_t {
    no,
    many_copies,
    long_index,
    reduction,
    inner_reduction,
    short_reductions,
    selection,
    repeated
  };
  static Stored needs_storage(const ValueCost& cost, const ValueUse& use);
  static std::string text_of(Stored why, const ValueCost& cost, const ValueUse& use);

 private:
  bool surely_stored(Id source, Id reader, Shapes& shapes) const;
  double loaded_elements(Id index);

  const Graph& g_;
  const Program& program_;
  std::vector<ValueCost> costs_;
  std::vector<std::uint8_t> readers_;  // by node: number of readers, 2 for more
  std::vector<bool> read_by_reduce_;   // by node
  std::vector<bool> partial_;          // by node: a REDUCE that one of the same kind reads
  std::vector<double> extents_;        // by index node: extent(node), NaN if not computed yet
};

}  // namespace kiln::compiler
