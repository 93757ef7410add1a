// Evaluates one node on whole arrays.
#pragma once

#include <map>
#include <span>
#include <string>

#include "compiler/interp/array.h"
#include "compiler/interp/index_value.h"
#include "compiler/interp/math.h"
#include "compiler/ir/program.h"
#include "compiler/ir/shapes.h"

namespace kiln::compiler {

class WholeEvaluator {
 public:
  WholeEvaluator(Graph& g, const Program& p, std::span<const Array> arguments,
                 const std::map<std::string, std::int64_t>& symbols)
      : g_(g), p_(p), arguments_(arguments), index_(g, symbols), shapes_(g) {}

  // The value of a node, from the values of its sources. A source of rank 0 is an array of one element. Index values (for
  // example the offsets of a SLICE) may be missing.
  Array operator()(Id id, std::span<const Array* const> sources);
  Array zeros(DType d, std::vector<std::int64_t> extents) const;
  std::vector<std::int64_t> extents_of(Id id);

 private:
  std::int64_t extent(Id id) { return *index_(id); }
  std::vector<std::int64_t> operands(Id id, std::size_t first, std::size_t n);
  Array parameter(Id id);
  Array iota(Id id);
  Array elementwise(Id id, std::span<const Array* const> sources);
  Array reduce(Id id, std::span<const Array* const> sources);
  Array converted(Array x, DType to) const;
  Array movement(Id id, std::span<const Array* const> sources);
  Array pad(Id id, std::span<const Array* const> sources);

  Graph& g_;
  const Program& p_;
  std::span<const Array> arguments_;
  IndexValues index_;
  Shapes shapes_;
  MathEvaluator math_;
};

}  // namespace kiln::compiler
