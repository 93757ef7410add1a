#include "compiler/codegen/memory.h"

#include <stdexcept>

#include <llvm/IR/MDBuilder.h>

namespace kiln::compiler {
namespace {

using llvm::Value;

bool is_contiguous(const Graph& g, Id index) { return g.op(index) == Op::RAMP && g.arg(index, 0) == 1 && g.lanes(index) > 1; }

std::size_t slot_of(const Graph& g, Id node) { return static_cast<std::size_t>(g.arg(g.src(node, 0), 0)); }

DType element(const Graph& g, Id node) { return g.dtype(g.src(node, 0)); }

int access_lanes(const Graph& g, Id node) { return g.op(node) == Op::LOAD ? g.lanes(node) : g.lanes(g.src(node, 2)); }

llvm::Align alignment(const Graph& g, Id node) { return llvm::Align(static_cast<std::uint64_t>(bytes(element(g, node)))); }

Value* to_memory(Builder& b, Value* v, DType d) {
  return d == DType::boolean ? b.CreateZExt(v, memory_type(b.getContext(), d, lane_count(v))) : v;
}

Value* from_memory(Builder& b, Value* v, DType d) {
  return d == DType::boolean ? b.CreateICmpNE(v, int_like(v->getType(), 0)) : v;
}

// Read-only parameters may overlap each other; everything else is kept apart by the runtime's checks and the memory plan.
bool is_shared_input(const Schedule& schedule, int buffer) {
  const int param = schedule.buffers[static_cast<std::size_t>(buffer)].param;
  return param >= 0 && schedule.program.params[static_cast<std::size_t>(param)].direction == Direction::in;
}

}  // namespace

std::vector<Id> access_operands(const Graph& g, Id node) {
  const std::span<const Id> src = g.src(node);
  std::vector<Id> operands(src.begin() + 1, src.end());
  if (is_contiguous(g, operands[0])) operands[0] = g.src(operands[0], 0);
  return operands;
}

Memory::Memory(Builder& b, const Graph& g, const Schedule& schedule, const Kernel& kernel, std::span<const Id> nodes,
               Value* buffers)
    : b_(b), g_(g), pointers_(kernel.buffers.size()) {
  make_scopes(schedule, kernel);
  llvm::Type* pointer = b.getPtrTy();
  for (const Id id : nodes) {
    if (g.op(id) != Op::BUFFER) continue;
    const auto slot = static_cast<std::size_t>(g.arg(id, 0));
    if (slot >= pointers_.size()) throw std::logic_error("codegen: BUFFER slot out of range");
    if (pointers_[slot] != nullptr) continue;
    llvm::LoadInst* load = b.CreateLoad(pointer, b.CreateConstInBoundsGEP1_64(pointer, buffers, slot));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
    pointers_[slot] = load;
  }
}

void Memory::make_scopes(const Schedule& schedule, const Kernel& kernel) {
  llvm::MDBuilder md(b_.getContext());
  llvm::MDNode* domain = md.createAnonymousAliasScopeDomain(kernel.name);
  const std::size_t n = kernel.buffers.size();
  std::vector<llvm::Metadata*> scopes;
  for (std::size_t i = 0; i < n; ++i) scopes.push_back(md.createAnonymousAliasScope(domain, kernel.name));
  for (std::size_t i = 0; i < n; ++i) {
    alias_scope_.push_back(llvm::MDNode::get(b_.getContext(), {scopes[i]}));
    std::vector<llvm::Metadata*> others;
    for (std::size_t j = 0; j < n; ++j) {
      const int x = kernel.buffers[i], y = kernel.buffers[j];
      if (x != y && !(is_shared_input(schedule, x) && is_shared_input(schedule, y))) others.push_back(scopes[j]);
    }
    no_alias_.push_back(others.empty() ? nullptr : llvm::MDNode::get(b_.getContext(), others));
  }
}

void Memory::annotate(llvm::Instruction* access, Id node) {
  const std::size_t slot = slot_of(g_, node);
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, alias_scope_[slot]);
  if (no_alias_[slot] != nullptr) access->setMetadata(llvm::LLVMContext::MD_noalias, no_alias_[slot]);
}

Value* Memory::address(Id node, Value* index) {
  return b_.CreateGEP(memory_type(b_.getContext(), element(g_, node), 1), pointers_[slot_of(g_, node)], index);
}

Value* Memory::mask(Value* gate, int lanes) {
  return lane_count(gate) == lanes ? gate : b_.CreateVectorSplat(static_cast<unsigned>(lanes), gate);
}

Value* Memory::load(Id node, std::span<Value* const> x) {
  const DType d = element(g_, node);
  const int lanes = access_lanes(g_, node);
  llvm::Type* type = memory_type(b_.getContext(), d, lanes);
  Value* gate = x.size() == 3 ? x[2] : nullptr;
  if (lanes == 1 && gate != nullptr) return gated_scalar_load(node, x[0], x[1], gate);
  Value* alt = gate == nullptr ? nullptr : to_memory(b_, lane_count(x[1]) == lanes ? x[1] : mask(x[1], lanes), d);
  llvm::Instruction* access = nullptr;
  if (lane_count(x[0]) > 1)
    access = b_.CreateMaskedGather(type, address(node, x[0]), alignment(g_, node), gate == nullptr ? nullptr : mask(gate, lanes), alt);
  else if (lanes > 1 && !is_contiguous(g_, g_.src(node, 1)))
    throw std::logic_error("codegen: vector LOAD at a scalar index");
  else if (gate != nullptr)
    access = b_.CreateMaskedLoad(type, address(node, x[0]), alignment(g_, node), mask(gate, lanes), alt);
  else
    access = b_.CreateAlignedLoad(type, address(node, x[0]), alignment(g_, node));
  annotate(access, node);
  return from_memory(b_, access, d);
}

void Memory::store(Id node, std::span<Value* const> x) {
  const int lanes = access_lanes(g_, node);
  Value* gate = x.size() == 3 ? x[2] : nullptr;
  if (lanes == 1 && gate != nullptr) return gated_scalar_store(node, x[0], x[1], gate);
  Value* value = to_memory(b_, x[1], element(g_, node));
  llvm::Instruction* access = nullptr;
  if (lane_count(x[0]) > 1)
    access = b_.CreateMaskedScatter(value, address(node, x[0]), alignment(g_, node), gate == nullptr ? nullptr : mask(gate, lanes));
  else if (lanes > 1 && !is_contiguous(g_, g_.src(node, 1)))
    throw std::logic_error("codegen: vector STORE at a scalar index");
  else if (gate != nullptr)
    access = b_.CreateMaskedStore(value, address(node, x[0]), alignment(g_, node), mask(gate, lanes));
  else
    access = b_.CreateAlignedStore(value, address(node, x[0]), alignment(g_, node));
  annotate(access, node);
}

Value* Memory::gated_scalar_load(Id node, Value* index, Value* alt, Value* gate) {
  const DType d = element(g_, node);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* read = llvm::BasicBlock::Create(b_.getContext(), "read", before->getParent());
  llvm::BasicBlock* after = llvm::BasicBlock::Create(b_.getContext(), "after", before->getParent());
  b_.CreateCondBr(gate, read, after);
  b_.SetInsertPoint(read);
  llvm::LoadInst* access = b_.CreateAlignedLoad(memory_type(b_.getContext(), d, 1), address(node, index), alignment(g_, node));
  annotate(access, node);
  Value* loaded = from_memory(b_, access, d);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  llvm::PHINode* result = b_.CreatePHI(loaded->getType(), 2);
  result->addIncoming(alt, before);
  result->addIncoming(loaded, read);
  return result;
}

void Memory::gated_scalar_store(Id node, Value* index, Value* value, Value* gate) {
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  llvm::BasicBlock* write = llvm::BasicBlock::Create(b_.getContext(), "write", function);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(b_.getContext(), "after", function);
  b_.CreateCondBr(gate, write, after);
  b_.SetInsertPoint(write);
  annotate(b_.CreateAlignedStore(to_memory(b_, value, element(g_, node)), address(node, index), alignment(g_, node)), node);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

}  // namespace kiln::compiler
