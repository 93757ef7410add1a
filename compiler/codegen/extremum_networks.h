// Networks of MIN and MAX of floats: sorting networks, windows, several rows of a reduction.
//
// Before: MIN and MAX of one loop that use each other's values.
// After: each operation in one instruction that is right unless an input of the network is a NaN. The value at an end of the
//   network, which other operations use, is a NaN if one of its inputs is.
//   A network may be a single operation.
// Why: a NaN beats everything and -0 is below +0, so an operation by itself takes three instructions or more, unless no
//   user can tell the zeros apart (zero_signs.h).
// Example: min(max(a, b), c)  ->  ordered(a, b) and ordered(c) ? range.min(range.max(a, b), c) : NaN
//
// With AVX-512 the instruction is vrange, which returns the other operand for a NaN and orders the zeros. With AVX2 it is
// the extremum of integers, to which the bits of the inputs are mapped in the order of the floats. Accumulators that a loop
// carries take no part: the test would make each iteration wait longer.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include <llvm/ADT/STLFunctionalExtras.h>

#include "compiler/codegen/types.h"
#include "compiler/codegen/zero_signs.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/loop_scopes.h"

namespace kiln::compiler {

class ExtremumNetworks {
 public:
  using Values = std::unordered_map<Id, llvm::Value*>;

  // vector_bits: of a register of the target.
  ExtremumNetworks(const Graph& g, const Scopes& scopes, const ZeroSigns& zero_signs, int vector_bits);

  // The inputs that the value of an end depends on; empty: the node is no end of a network.
  std::span<const Id> inputs(Id node) const;
  // The value of an end. input: gives the value of an input. inside: values of members of networks that code in the same
  // scope has computed already.
  llvm::Value* emit(LlvmBuilder& b, Id end, llvm::function_ref<llvm::Value*(Id)> input, Values& inside) const;

 private:
  struct Cone {                       // what an end depends on
    std::vector<Id> inputs, members;  // ascending
  };

  bool may_be_member(Id id) const;
  bool is_inside(Id from, Id user) const;
  std::vector<Id> find_ends(const Scopes& scopes);
  Cone cone_of(Id end) const;
  bool pays(std::span<const Cone> cones) const;
  std::int64_t alone(Id member) const;

  const Graph& g_;
  const std::vector<std::int32_t>& scope_of_;
  const ZeroSigns& zero_signs_;
  const bool has_range_;                   // vrange, else integers
  std::unordered_map<Id, bool> inside_;    // by MIN or MAX that may be in a network: whether only its network uses it
  std::unordered_map<Id, Cone> networks_;  // by end; never iterated
};

}  // namespace kiln::compiler
