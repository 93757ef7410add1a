// The values of the work items of a KERNEL, as tensors over its ranges.
//
// before: %i = range (N); %v = mul (index %x, %i), (index %x, %i + 1)
// after:  x * gather(x, min(iota + 1, N - 1)), of shape [N]
// nullopt where a value depends on a loop, on a local array or on an atomic operation.
#pragma once

#include <optional>
#include <unordered_map>

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

class KernelValues {
 public:
  KernelValues(Emit& e, Id kernel);

  // Whether the extents of the ranges are extents of tensors, and not data.
  bool have_extents() const;
  // A tensor whose shape broadcasts to the extents of the ranges; of index values as i64.
  std::optional<Id> tensor(Id value);
  // The range that an index is, if it has all places of an axis of this extent; a clamp to the axis does nothing then.
  std::optional<std::size_t> whole_range(Id index, Id extent);
  bool is_outside(Id value);  // the same for all work items

  const Extents& extents() const { return extents_; }
  const std::vector<Id>& ranges() const { return ranges_; }

 private:
  bool varies(Id id);
  std::optional<Id> made(Id id);
  std::optional<Id> operand(Id id);
  std::optional<Id> operation(Id id);
  std::optional<Id> read(Id id);
  std::optional<Id> element(Id data, std::span<const Id> index);
  std::optional<Id> after(Id write, std::span<const Id> index, Id before);
  bool is_position(Id integer) const;
  std::optional<Id> whole(Id data, std::span<const Id> index);

  Emit& e_;
  Graph& g_;
  Id kernel_;
  std::vector<Id> ranges_;
  Extents extents_;
  std::unordered_map<Id, bool> varies_;
  std::unordered_map<Id, std::optional<Id>> made_;  // of values that differ between work items
};

}  // namespace kiln::compiler::autodiff
