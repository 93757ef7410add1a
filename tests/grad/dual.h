// Derivatives by dual numbers: the tangent of each node of a tensor program, from the values that the interpreter computes for
// its operands. Shares nothing with compiler/autodiff, so it is the reference for it. f64 only.
#pragma once

#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/ir/program.h"

namespace kiln::compiler::testing {

// The tangent of each element, and the sum of the absolute values of its terms, which is the scale of its rounding errors.
struct Tangent {
  std::vector<double> value, scale;
};

// An operation without a rule here.
struct NoDual : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Duals {
 public:
  // p: a program without derivatives. The nodes whose tangents may be wanted are those that p's outputs need.
  Duals(Graph& g, const Program& p, const std::vector<Array>& arguments);

  // The tangent of y along a direction for each node in `along`.
  Tangent tangent(Id y, const std::unordered_map<Id, std::vector<double>>& along);
  // Whether each value between y and the nodes in `along` that is not finite, or has no finite tangent, is used only for
  // branches of selects that are not taken. Otherwise an adjoint may be NaN where the tangent is not.
  bool is_contained(Id y, const std::unordered_map<Id, std::vector<double>>& along);
  // Whether a sum or product on the way to y is infinite though its operands are finite. An adjoint is a product of many
  // values, and may overflow where y's tangent is small or 0. It is then NaN.
  bool overflows(Id y) const;
  const Array& value(Id node) const { return values_.at(node); }

 private:
  std::unordered_map<Id, Tangent> tangents(Id y, const std::unordered_map<Id, std::vector<double>>& along) const;
  std::optional<Tangent> of(Id node, const std::unordered_map<Id, Tangent>& known) const;
  Tangent elementwise(Id node, const std::unordered_map<Id, Tangent>& known) const;
  Tangent moved(Id node, const std::unordered_map<Id, Tangent>& known) const;
  Tangent scanned(Id node, const std::unordered_map<Id, Tangent>& known) const;
  std::optional<Tangent> added(Id node, const std::unordered_map<Id, Tangent>& known) const;
  Array with_others(Id get, const std::unordered_map<Id, Array>& tensors) const;
  Tangent reduced(Id node, const std::unordered_map<Id, Tangent>& known) const;
  std::int64_t number(Id index) const;

  Graph& g_;
  Program given_;
  std::vector<Array> arguments_;
  std::unordered_map<Id, Array> values_;
  std::unordered_map<Id, std::int64_t> numbers_;
};

}  // namespace kiln::compiler::testing
