// Emits LOAD and STORE: scalar, contiguous vector, gather and scatter, each also with a gate. A lane whose gate is false does
// not touch memory.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/Metadata.h>

#include "compiler/codegen/types.h"
#include "compiler/ir/schedule.h"

namespace kiln::compiler {

// The sources of a LOAD or STORE that must be evaluated, in the order for Memory: index, then the others. If one scalar
// determines all addresses (contiguous, strided, same: access.h), that scalar replaces the index. Of even accesses the first
// index does, and the distance between lanes is the last operand.
std::vector<Id> access_operands(const Graph& g, Id node);

class Memory {
 public:
  // buffers: the kernel's argument, an array with one pointer for each kernel slot. Loads the used pointers at the builder's
  // position.
  Memory(LlvmBuilder& b, const Graph& g, const Kernel& kernel, std::span<const Id> nodes, llvm::Value* buffers);

  // x: values of access_operands(node). A gated access or a gather may branch; then the builder continues in another
  // block.
  llvm::Value* load(Id node, std::span<llvm::Value* const> x);
  void store(Id node, std::span<llvm::Value* const> x);
  // x: gate, value, index. Requires integers and an unused old value. alone: whether no other thread runs the kernel; plain
  // loads and stores then have the same effect in a tenth of the time.
  void atomic(Id node, std::span<llvm::Value* const> x, llvm::Value* alone);
  // The address of the slot's buffer modulo 64, in bytes.
  llvm::Value* misalignment(std::size_t slot);
  // Sets all elements of a LOCAL to zero.
  void clear(Id local);

 private:
  llvm::Value* strided_load(Id node, llvm::Value* index);
  llvm::Value* gather(Id node, llvm::Value* index, llvm::Type* type, llvm::Value* mask, llvm::Value* alt);
  llvm::Value* even_address(Id node, llvm::Value* first, llvm::Value* distance, int i);
  llvm::Value* load_each(Id node, llvm::function_ref<llvm::Value*(int)> at, llvm::Type* type, llvm::Value* mask,
                         llvm::Value* alt);
  llvm::Value* load_same(Id node, llvm::Value* index, llvm::Type* type, llvm::Value* mask, llvm::Value* alt);
  void store_each(Id node, llvm::function_ref<llvm::Value*(int)> at, llvm::Value* value, llvm::Value* mask);
  llvm::Value* place_or(llvm::Value* mask, int i, llvm::Value* place, llvm::Value* other);
  llvm::Value* zeros_of(Id node);
  llvm::Value* nowhere();
  bool has_masks() const;
  static int first_lanes(const llvm::Value* mask);
  void store_first(Id node, llvm::Value* at, llvm::Value* value, int first);
  static llvm::Value* number_of_first(llvm::Value* mask);
  void store_in_parts(Id node, llvm::Value* at, llvm::Value* value, llvm::Value* number);
  void strided_store(Id node, llvm::Value* index, llvm::Value* value);
  llvm::Value* address(Id node, llvm::Value* index);
  llvm::Value* base(Id memory);
  void annotate(llvm::Instruction* access, Id node);
  void pass_caches(llvm::StoreInst& store);
  llvm::StoreInst* blended_store(Id node, llvm::Value* index, llvm::Value* value, llvm::Value* mask);
  bool is_branch(Id node) const;
  bool is_fixed_gate(Id node) const;
  bool is_first_without_gate(Id node) const;
  llvm::Value* load_or_zeros(Id node, std::span<llvm::Value* const> x);
  llvm::Value* one_lane_of(llvm::Value* v);
  llvm::Value* gated_load(Id node, llvm::Value* index, llvm::Value* alt, llvm::Value* gate);
  void gated_scalar_store(Id node, llvm::Value* index, llvm::Value* value, llvm::Value* gate);
  void change_each_lane(Id node, std::span<llvm::Value* const> x, bool indivisible);
  // Lane i of a vector. If the vector was loaded, the lane is loaded again: that takes less time than to move it from a vector
  // register to the register of an address.
  llvm::Value* lane_in_memory(llvm::Value* v, int i);
  llvm::Value* lanes_of(llvm::Value* v, int lanes);  // copies a scalar to all lanes
  void make_scopes(const Kernel& kernel, std::span<const Id> nodes);
  void note_loads(const Kernel& kernel, std::span<const Id> nodes);
  // Whether the kernel also loads elements of the buffer that the STORE changes.
  bool is_loaded(Id store) const;

  LlvmBuilder& b_;
  const Graph& g_;
  std::vector<llvm::Value*> pointers_;  // by kernel slot
  std::unordered_map<Id, llvm::AllocaInst*> locals_;
  llvm::Value* nowhere_ = nullptr;                     // 8 bytes that nothing loads
  int branches_ = 0;                                   // gathers that have a branch
  std::vector<bool> loaded_;                           // by kernel slot: whether the kernel loads elements of the buffer
  std::vector<llvm::MDNode*> alias_scope_, no_alias_;  // by kernel slot
  std::vector<llvm::MDNode*> unchanged_;               // the alias scopes of buffers that the kernel does not store
};

}  // namespace kiln::compiler
