// one_hot: evaluates a value at the only iteration that conditions select.
//
// Example: in the sum over r < N of (r == i ? t[r] : 0), the gate is 0 <= i < N and the value is t[i].
#pragma once

#include <optional>
#include <span>

#include "compiler/rangeify/one_range.h"

namespace kiln::compiler {

struct OneHot {
  Id gate;           // bool: an iteration satisfies the conditions
  Id value = no_id;  // meaningful where the gate holds; elsewhere its loads are gated off, so no index leaves its tensor
};

// nullopt: no condition has the form r == i, or the value contains a reduction that depends on r. Loads are also gated off
// where `assumed` is false.
std::optional<OneHot> one_hot(Graph& g, Simplifier& simplify, OneRange& range, std::span<const Clause> when,
                              std::optional<Id> value, Id assumed = no_id);

}  // namespace kiln::compiler
