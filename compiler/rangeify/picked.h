// A value at the one iteration that conditions leave: a sum over r of (r == i ? t[r] : 0) reads t[i].
#pragma once

#include <optional>
#include <span>

#include "compiler/rangeify/one_range.h"

namespace kiln::compiler {

struct Picked {
  Id gate;           // bool: there is such an iteration
  Id value = no_id;  // meaningful where the gate holds; loads are closed elsewhere, so no index leaves its tensor
};

// nullopt: the conditions do not say r == i, or a loop would have to be repeated for it. Loads are closed where `assumed` does
// not hold.
std::optional<Picked> picked(Graph& g, Simplifier& simplify, OneRange& range, std::span<const Clause> when,
                             std::optional<Id> value, Id assumed = no_id);

}  // namespace kiln::compiler
