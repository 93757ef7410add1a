#include "compiler/codegen/memory.h"

#include <algorithm>
#include <stdexcept>

#include <llvm/IR/MDBuilder.h>

#include "compiler/codegen/element_access.h"
#include "compiler/codegen/emit_either.h"
#include "compiler/codegen/target_machine.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/state.h"
#include "compiler/lower/access.h"

namespace kiln::compiler {
namespace {

using llvm::Value;

constexpr int narrowest_gather = 4;  // bytes: no instruction gathers smaller elements
constexpr int most_branches = 200;   // gathers with a branch in one kernel; limits the time to compile it

// The elements of a LOCAL in all lanes.
std::int64_t elements_of(const Graph& g, Id local) {
  std::int64_t n = g.lanes(local);
  for (const Id e : g.src(local).subspan(1)) n *= g.value(e);
  return n;
}

Value* to_memory(LlvmBuilder& b, Value* v, DType d) {
  return d == DType::boolean ? b.CreateZExt(v, memory_type(b.getContext(), d, lane_count(v))) : v;
}

Value* from_memory(LlvmBuilder& b, Value* v, DType d) {
  return d == DType::boolean ? b.CreateICmpNE(v, int_like(v->getType(), 0)) : v;
}

}  // namespace

std::vector<Id> access_operands(const Graph& g, Id node) {
  const std::span<const Id> src = g.src(node);
  std::vector<Id> operands(src.begin() + 1, src.end());
  const Access access = access_of(g, node);
  if (access == Access::even) {
    const auto [first, steps] = g.operands<2>(operands[0]);
    operands[0] = g.operand(first);
    operands.push_back(g.operand(g.src(steps, 0)));
  } else if (access != Access::scalar && access != Access::scattered) {
    operands[0] = g.operand(operands[0]);
  }
  return operands;
}

Memory::Memory(LlvmBuilder& b, const Graph& g, const Kernel& kernel, std::span<const Id> nodes, Value* buffers)
    : b_(b), g_(g), pointers_(kernel.buffers.size()) {
  make_scopes(kernel, nodes);
  note_loads(kernel, nodes);
  llvm::Type* pointer = b.getPtrTy();
  for (const Id id : nodes) {
    if (g.op(id) == Op::LOCAL) {
      llvm::AllocaInst* array = b.CreateAlloca(memory_type(b.getContext(), g.dtype(id), 1),
                                               b.getInt64(static_cast<std::uint64_t>(elements_of(g, id))));
      array->setAlignment(llvm::Align(64));
      locals_.emplace(id, array);
    }
    if (g.op(id) != Op::BUFFER) continue;
    const auto slot = g.slot(id);
    if (slot >= pointers_.size()) throw std::logic_error("codegen: BUFFER slot out of range");
    if (pointers_[slot] != nullptr) continue;
    llvm::LoadInst* load = b.CreateLoad(pointer, b.CreateConstInBoundsGEP1_64(pointer, buffers, slot));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
    pointers_[slot] = load;
  }
}

void Memory::note_loads(const Kernel& kernel, std::span<const Id> nodes) {
  loaded_.resize(kernel.buffers.size());
  for (const Id id : nodes) {
    if (g_.op(id) != Op::LOAD || g_.op(memory_at(g_, id)) != Op::BUFFER) continue;
    for (std::size_t i = 0; i < loaded_.size(); ++i)
      if (kernel.buffers[i] == nth(kernel.buffers, g_.slot(memory_at(g_, id)))) loaded_[i] = true;
  }
}

bool Memory::is_loaded(Id store) const {
  const Id memory = memory_at(g_, store);
  return g_.op(memory) == Op::BUFFER && loaded_.at(g_.slot(memory));
}

Value* Memory::misalignment(std::size_t slot) {
  return b_.CreateAnd(b_.CreatePtrToInt(pointers_.at(slot), b_.getInt64Ty()), 63);
}

// A buffer that the kernel stores overlaps no other buffer: the runtime's checks of arguments and the memory plan ensure it.
// Buffers that it only loads may overlap.
void Memory::make_scopes(const Kernel& kernel, std::span<const Id> nodes) {
  std::vector<bool> stored(kernel.buffers.size(), false);
  for (const Id id : nodes) {
    if (g_.op(id) != Op::STORE && g_.op(id) != Op::ATOMIC) continue;
    const Id memory = memory_at(g_, id);
    if (g_.op(memory) == Op::BUFFER && g_.slot(memory) < stored.size()) stored[g_.slot(memory)] = true;
  }
  const auto is_stored = [&](auto buffer) {
    for (std::size_t i = 0; i < stored.size(); ++i)
      if (stored[i] && kernel.buffers[i] == buffer) return true;
    return false;
  };
  llvm::MDBuilder md(b_.getContext());
  llvm::MDNode* domain = md.createAnonymousAliasScopeDomain(kernel.name);
  const std::size_t n = kernel.buffers.size();
  std::vector<llvm::Metadata*> scopes;
  for (std::size_t i = 0; i < n; ++i) scopes.push_back(md.createAnonymousAliasScope(domain, kernel.name));
  for (std::size_t i = 0; i < n; ++i) {
    alias_scope_.push_back(llvm::MDNode::get(b_.getContext(), {scopes[i]}));
    if (!is_stored(kernel.buffers[i])) unchanged_.push_back(alias_scope_[i]);
    std::vector<llvm::Metadata*> others;
    for (std::size_t j = 0; j < n; ++j)
      if (kernel.buffers[i] != kernel.buffers[j] && (stored[i] || stored[j])) others.push_back(scopes[j]);
    no_alias_.push_back(others.empty() ? nullptr : llvm::MDNode::get(b_.getContext(), others));
  }
}

void Memory::annotate(llvm::Instruction* access, Id node) {
  const Id memory = memory_at(g_, node);
  if (g_.op(memory) == Op::LOCAL) return;
  const auto slot = g_.slot(memory);
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, alias_scope_[slot]);
  if (no_alias_[slot] != nullptr) access->setMetadata(llvm::LLVMContext::MD_noalias, no_alias_[slot]);
}

Value* Memory::address(Id node, Value* index) {
  return b_.CreateGEP(memory_type(b_.getContext(), element(g_, node), 1), base(memory_at(g_, node)), index);
}

Value* Memory::base(Id memory) {
  if (g_.op(memory) == Op::LOCAL) return locals_.at(memory);
  return nth(pointers_, g_.slot(memory));
}

void Memory::clear(Id local) {
  const std::int64_t size = elements_of(g_, local) * bytes(g_.dtype(local));
  // Inline, because objects may call only functions of the runtime.
  b_.CreateMemSetInline(base(local), llvm::Align(64), b_.getInt8(0), b_.getInt64(static_cast<std::uint64_t>(size)));
}

Value* Memory::lane_in_memory(Value* v, int i) {
  if (lane_count(v) == 1) return v;
  if (auto* cast = llvm::dyn_cast<llvm::CastInst>(v); cast != nullptr && cast->isIntegerCast())
    return b_.CreateCast(cast->getOpcode(), lane_in_memory(cast->getOperand(0), i), cast->getType()->getScalarType());
  auto* load = llvm::dyn_cast<llvm::LoadInst>(v);
  llvm::Type* type = v->getType()->getScalarType();
  if (load == nullptr || type->getScalarSizeInBits() % 8 != 0) return b_.CreateExtractElement(v, static_cast<std::uint64_t>(i));
  LlvmBuilder::InsertPointGuard here(b_);
  const llvm::MDNode* scope = load->getMetadata(llvm::LLVMContext::MD_alias_scope);
  const bool may_change = scope == nullptr || std::ranges::find(unchanged_, scope) == unchanged_.end();
  if (may_change) b_.SetInsertPoint(load->getParent(), std::next(load->getIterator()));  // it may be the last one so far
  Value* at = b_.CreateGEP(type, load->getPointerOperand(), b_.getInt64(static_cast<std::uint64_t>(i)));
  llvm::LoadInst* lane = b_.CreateAlignedLoad(type, at, llvm::Align(type->getScalarSizeInBits() / 8));
  lane->copyMetadata(*load);
  return lane;
}

Value* Memory::lanes_of(Value* v, int lanes) {
  return lane_count(v) == lanes ? v : b_.CreateVectorSplat(static_cast<unsigned>(lanes), v);
}

Value* Memory::load(Id node, std::span<Value* const> x) {
  const DType d = element(g_, node);
  const int lanes = access_lanes(g_, node);
  const Access how = access_of(g_, node);
  const auto even_at = [&, distance = x.back()](int i) { return even_address(node, x[0], distance, i); };
  if (how == Access::even) x = x.first(x.size() - 1);
  Value* gate = x.size() == 3 ? x[2] : nullptr;
  if (how == Access::scalar && lanes > 1) throw std::logic_error("codegen: vector LOAD at a scalar index");
  if (gate != nullptr && is_fixed_gate(node)) return load_or_zeros(node, x);
  if (how == Access::scalar && gate != nullptr) return gated_load(node, x[0], x[1], gate);
  if (how == Access::contiguous && gate != nullptr && is_branch(node)) return gated_load(node, x[0], x[1], one_lane_of(gate));
  if (how == Access::strided) return from_memory(b_, strided_load(node, x[0]), d);
  llvm::Type* type = memory_type(b_.getContext(), d, how == Access::same ? 1 : lanes);
  Value* alt = gate == nullptr ? nullptr : to_memory(b_, lanes_of(x[1], lanes), d);
  Value* mask = gate == nullptr ? nullptr : lanes_of(gate, lanes);
  if (how == Access::even) return from_memory(b_, load_each(node, even_at, type, mask, alt), d);
  if (how == Access::same && mask != nullptr) return from_memory(b_, load_same(node, x[0], type, mask, alt), d);
  Value* at = address(node, x[0]);
  const bool may_stand_in_a_row = how == Access::scattered && g_.op(index_of(g_, node)) != Op::RAMP;
  if (may_stand_in_a_row && branches_ < most_branches) return from_memory(b_, gather(node, x[0], type, mask, alt), d);
  llvm::Instruction* access = nullptr;
  if (how == Access::scattered)
    access = b_.CreateMaskedGather(type, at, alignment(g_, node), mask, alt);
  else if (gate != nullptr)
    access = b_.CreateMaskedLoad(type, at, alignment(g_, node), mask, alt);
  else
    access = b_.CreateAlignedLoad(type, at, alignment(g_, node));
  annotate(access, node);
  return lanes_of(from_memory(b_, access, d), lanes);
}

// Whether the LOAD gives 0 under a condition that is the same in the whole kernel, such as an extent of 0.
bool Memory::is_fixed_gate(Id node) const {
  const Id alt = g_.src(node, 2);
  const bool is_zero = g_.is_const(alt) && g_.value(alt) == 0 && g_.dtype(alt) == element(g_, node);
  const Access how = access_of(g_, node);
  if (!is_zero || how == Access::strided || how == Access::even || g_.op(memory_at(g_, node)) != Op::BUFFER) return false;
  const Id gate[] = {g_.src(node, 3)};
  const std::vector<Id> nodes = g_.reachable(gate);
  return std::ranges::all_of(nodes, [&](Id id) {
    const Op op = g_.op(id);
    return op == Op::SYM || op == Op::CONST || op == Op::BROADCAST || op == Op::CAST || is_elementwise(op);
  });
}

// Whether the index is MAX(MIN(i, n - 1), 0) and the gate 0 < n: then the index is 0 where the gate is false.
bool Memory::is_first_without_gate(Id node) const {
  const auto is = [&](Id id, std::int64_t v) { return g_.is_const(id) && g_.value(id) == v; };
  const Id gate = g_.src(node, 3), index = index_of(g_, node);
  if (g_.op(gate) != Op::LT || !is(g_.src(gate, 0), 0) || g_.op(index) != Op::MAX) return false;
  const Id n = g_.src(gate, 1);
  const auto is_last = [&](Id id) {
    return g_.op(id) == Op::ADD &&
           ((g_.src(id, 0) == n && is(g_.src(id, 1), -1)) || (g_.src(id, 1) == n && is(g_.src(id, 0), -1)));
  };
  for (std::size_t i = 0; i < 2; ++i) {
    const Id inner = g_.src(index, i);
    if (is(g_.src(index, 1 - i), 0) && g_.op(inner) == Op::MIN && std::ranges::any_of(g_.src(inner), is_last)) return true;
  }
  return false;
}

// Loads from an array of zeros where the condition does not hold: no branch and no mask.
Value* Memory::load_or_zeros(Id node, std::span<Value* const> x) {
  Value* gate = one_lane_of(x[2]);
  Value* const zeros = zeros_of(node);
  const Id memory = memory_at(g_, node);
  Value* const kept = base(memory);
  Value*& place = nth(pointers_, g_.slot(memory));
  place = b_.CreateSelect(gate, kept, zeros);
  Value* const first = llvm::Constant::getNullValue(x[0]->getType());
  Value* const at[] = {is_first_without_gate(node) ? x[0] : b_.CreateSelect(gate, x[0], first)};
  Value* const loaded = load(node, at);
  place = kept;
  return loaded;
}

// Tests at run time whether the addresses are contiguous, as in smooth fields. Then one vector load suffices.
Value* Memory::gather(Id node, Value* index, llvm::Type* type, Value* mask, Value* alt) {
  ++branches_;
  const int lanes = access_lanes(g_, node);
  Value* first = b_.CreateExtractElement(index, std::uint64_t{0});
  std::vector<llvm::Constant*> steps;
  for (int i = 0; i < lanes; ++i) steps.push_back(llvm::ConstantInt::get(first->getType(), static_cast<std::uint64_t>(i)));
  Value* row = b_.CreateAdd(lanes_of(first, lanes), llvm::ConstantVector::get(steps));
  Value* in_row = b_.CreateICmpEQ(index, row);
  if (mask != nullptr) in_row = b_.CreateOr(in_row, b_.CreateNot(mask));
  const auto annotated = [&](llvm::Instruction* load) -> Value* {
    annotate(load, node);
    return load;
  };
  const auto together = [&] {
    Value* near = address(node, first);
    if (mask == nullptr) return annotated(b_.CreateAlignedLoad(type, near, alignment(g_, node)));
    return annotated(b_.CreateMaskedLoad(type, near, alignment(g_, node), mask, alt));
  };
  const auto apart = [&] {
    const bool has_instruction = bytes(element(g_, node)) >= narrowest_gather && (mask == nullptr || has_masks());
    if (!has_instruction)
      return load_each(node, [&](int i) { return address(node, lane_in_memory(index, i)); }, type, mask, alt);
    return annotated(b_.CreateMaskedGather(type, address(node, index), alignment(g_, node), mask, alt));
  };
  return emit_either(b_, b_.CreateAndReduce(in_row), together, apart);
}

// Stores to an array of the kernel in all lanes, the old elements where the mask is false: later loads would wait for a masked
// store. The place may be outside of the array if no lane is active.
llvm::StoreInst* Memory::blended_store(Id node, Value* index, Value* value, Value* mask) {
  const auto size = static_cast<std::uint64_t>(elements_of(g_, memory_at(g_, node)));
  Value* inside = b_.CreateICmpULT(index, llvm::ConstantInt::get(index->getType(), size));
  Value* at = address(node, b_.CreateSelect(inside, index, llvm::Constant::getNullValue(index->getType())));
  Value* old = b_.CreateAlignedLoad(value->getType(), at, alignment(g_, node));
  return b_.CreateAlignedStore(b_.CreateSelect(mask, value, old), at, alignment(g_, node));
}

void Memory::store(Id node, std::span<Value* const> x) {
  const int lanes = access_lanes(g_, node);
  const Access how = access_of(g_, node);
  const auto even_at = [&, distance = x.back()](int i) { return even_address(node, x[0], distance, i); };
  if (how == Access::even) x = x.first(x.size() - 1);
  Value* gate = x.size() == 3 ? x[2] : nullptr;
  if (how == Access::scalar && lanes > 1) throw std::logic_error("codegen: vector STORE at a scalar index");
  if (how == Access::scalar && gate != nullptr) return gated_scalar_store(node, x[0], x[1], gate);
  Value* value = to_memory(b_, x[1], element(g_, node));
  if (how == Access::strided) return strided_store(node, x[0], value);
  Value* mask = gate == nullptr ? nullptr : lanes_of(gate, lanes);
  if (how == Access::even) return store_each(node, even_at, value, mask);
  if (how == Access::scattered && !has_masks())
    return store_each(node, [&](int i) { return address(node, lane_in_memory(x[0], i)); }, value, mask);
  Value* at = address(node, x[0]);
  llvm::Instruction* access = nullptr;
  if (how == Access::scattered)
    access = b_.CreateMaskedScatter(value, at, alignment(g_, node), mask);
  else if (gate != nullptr && g_.op(memory_at(g_, node)) == Op::LOCAL)
    access = blended_store(node, x[0], value, mask);
  else if (const int first = gate == nullptr || has_masks() ? 0 : first_lanes(mask); 2 * first > lanes)
    return store_first(node, at, value, first);
  else if (Value* number = gate == nullptr || !is_loaded(node) ? nullptr : number_of_first(mask); number != nullptr)
    return store_in_parts(node, at, value, number);
  else if (gate != nullptr)
    access = b_.CreateMaskedStore(value, at, alignment(g_, node), mask);
  else
    access = b_.CreateAlignedStore(value, at, alignment(g_, node));
  annotate(access, node);
  if (!g_.args(node).empty()) pass_caches(*llvm::cast<llvm::StoreInst>(access));
}

void Memory::pass_caches(llvm::StoreInst& store) {
  const int size = vector_bits(*store.getFunction()) / 8;
  store.setAlignment(llvm::Align(static_cast<std::uint64_t>(size)));
  llvm::LLVMContext& context = store.getContext();
  store.setMetadata(llvm::LLVMContext::MD_nontemporal,
                    llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(b_.getInt32(1))));
}

namespace {

llvm::AtomicRMWInst::BinOp instruction_of(AtomicKind kind, bool is_signed) {
  using I = llvm::AtomicRMWInst;
  switch (kind) {
    case AtomicKind::add: return I::Add;
    case AtomicKind::min: return is_signed ? I::Min : I::UMin;
    case AtomicKind::max: return is_signed ? I::Max : I::UMax;
    case AtomicKind::bit_and: return I::And;
    case AtomicKind::bit_or: return I::Or;
    case AtomicKind::bit_xor: return I::Xor;
    default: throw std::logic_error("codegen: an atomic operation that lowering should have replaced");
  }
}

// The value that the operation stores.
Value* changed(LlvmBuilder& b, llvm::AtomicRMWInst::BinOp operation, Value* old, Value* operand) {
  using I = llvm::AtomicRMWInst;
  switch (operation) {
    case I::Add: return b.CreateAdd(old, operand);
    case I::Min: return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, old, operand);
    case I::UMin: return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, old, operand);
    case I::Max: return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, old, operand);
    case I::UMax: return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, old, operand);
    case I::And: return b.CreateAnd(old, operand);
    case I::Or: return b.CreateOr(old, operand);
    default: return b.CreateXor(old, operand);
  }
}

}  // namespace

void Memory::atomic(Id node, std::span<Value* const> x, Value* alone) {
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, function); };
  llvm::BasicBlock *const shared = block("shared"), *const own = block("own"), *const after = block("after");
  b_.CreateCondBr(alone, own, shared);
  for (llvm::BasicBlock* const way : {shared, own}) {
    b_.SetInsertPoint(way);
    change_each_lane(node, x, way == shared);
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
}

// One lane after the other, because several lanes may change one element.
void Memory::change_each_lane(Id node, std::span<Value* const> x, bool indivisible) {
  const DType d = element(g_, node);
  const auto operation = instruction_of(g_.atomic_kind(node), is_signed_int(d));
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  const int lanes = lane_count(x[0]);
  for (int i = 0; i < lanes; ++i) {
    const auto lane = [&](Value* v) { return lane_in_memory(v, i); };
    llvm::BasicBlock* change = llvm::BasicBlock::Create(b_.getContext(), "change", function);
    llvm::BasicBlock* after = llvm::BasicBlock::Create(b_.getContext(), "after", function);
    b_.CreateCondBr(lane(x[0]), change, after);
    b_.SetInsertPoint(change);
    Value* operand = lane(x[1]);
    Value* at = address(node, lane(x[2]));
    if (indivisible) {
      annotate(b_.CreateAtomicRMW(operation, at, operand, alignment(g_, node), llvm::AtomicOrdering::Monotonic), node);
    } else {
      llvm::LoadInst* old = b_.CreateAlignedLoad(operand->getType(), at, alignment(g_, node));
      annotate(old, node);
      annotate(b_.CreateAlignedStore(changed(b_, operation, old, operand), at, alignment(g_, node)), node);
    }
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
  }
}

// Whether a load of contiguous lanes under a condition that is the same in all lanes has a branch: the target would load one
// lane after the other under a mask.
bool Memory::is_branch(Id node) const {
  const int register_bits = vector_bits(*b_.GetInsertBlock()->getParent()), width = bytes(element(g_, node));
  const bool has_masks = register_bits >= 512 || (register_bits >= 256 && width >= 4);
  const Id gate = g_.src(node, 3);
  return !has_masks && (g_.lanes(gate) == 1 || g_.op(gate) == Op::BROADCAST);
}

Value* Memory::one_lane_of(Value* v) { return lane_count(v) == 1 ? v : b_.CreateExtractElement(v, std::uint64_t{0}); }

Value* Memory::gated_load(Id node, Value* index, Value* alt, Value* gate) {
  const DType d = element(g_, node);
  const int lanes = access_lanes(g_, node);
  alt = lanes_of(alt, lanes);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* read = llvm::BasicBlock::Create(b_.getContext(), "read", before->getParent());
  llvm::BasicBlock* after = llvm::BasicBlock::Create(b_.getContext(), "after", before->getParent());
  b_.CreateCondBr(gate, read, after);
  b_.SetInsertPoint(read);
  llvm::LoadInst* access =
      b_.CreateAlignedLoad(memory_type(b_.getContext(), d, lanes), address(node, index), alignment(g_, node));
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
