// The members of Memory that load and store one lane after the other.
#include <numeric>

#include <llvm/Analysis/VectorUtils.h>

#include "compiler/codegen/element_access.h"
#include "compiler/codegen/emit_either.h"
#include "compiler/codegen/memory.h"
#include "compiler/codegen/target_machine.h"

namespace kiln::compiler {

using llvm::Value;

// An array of zeros, as long as the elements of all lanes.
Value* Memory::zeros_of(Id node) {
  const std::uint64_t size = static_cast<std::uint64_t>(access_lanes(g_, node) * bytes(element(g_, node)));
  llvm::Module& module = *b_.GetInsertBlock()->getModule();
  llvm::Type* type = llvm::ArrayType::get(b_.getInt8Ty(), size);
  const std::string name = "zeros." + std::to_string(size);
  llvm::GlobalVariable* zeros = module.getNamedGlobal(name);
  if (zeros == nullptr) {
    zeros = new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::PrivateLinkage, llvm::Constant::getNullValue(type),
                                     name);
    zeros->setAlignment(llvm::Align(64));
  }
  return zeros;
}

// Whether the target has registers for masks, and instructions that gather and scatter under them.
bool Memory::has_masks() const { return vector_bits(*b_.GetInsertBlock()->getParent()) >= 512; }

// The number of active lanes if a constant mask has the first ones active; else 0.
int Memory::first_lanes(const Value* mask) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  const int lanes = lane_count(mask);
  int first = 0;
  for (int i = 0; constant != nullptr && i < lanes; ++i) {
    const auto* lane = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(static_cast<unsigned>(i)));
    if (lane == nullptr || (lane->isOne() && first < i)) return 0;
    if (lane->isOne()) ++first;
  }
  return first;
}

// Stores the first lanes, more than half of the vector: two halves that overlap. A masked store takes longer.
void Memory::store_first(Id node, Value* at, Value* value, int first) {
  const int half = lane_count(value) / 2;
  for (const int begin : {0, first - half}) {
    std::vector<int> lanes(static_cast<std::size_t>(half));
    std::iota(lanes.begin(), lanes.end(), begin);
    Value* place = b_.CreateConstGEP1_64(value->getType()->getScalarType(), at, static_cast<std::uint64_t>(begin));
    annotate(b_.CreateAlignedStore(b_.CreateShuffleVector(value, lanes), place, alignment(g_, node)), node);
  }
}

// The scalar n of a mask `lane < n`, as lane_mask() makes it; nullptr: another mask.
Value* Memory::number_of_first(Value* mask) {
  auto* const compare = llvm::dyn_cast<llvm::ICmpInst>(mask);
  if (compare == nullptr || compare->getPredicate() != llvm::CmpInst::ICMP_SLT) return nullptr;
  const auto* lanes = llvm::dyn_cast<llvm::Constant>(compare->getOperand(0));
  for (int i = 0; lanes != nullptr && i < lane_count(mask); ++i) {
    const auto* lane = llvm::dyn_cast_or_null<llvm::ConstantInt>(lanes->getAggregateElement(static_cast<unsigned>(i)));
    if (lane == nullptr || lane->getSExtValue() != i) return nullptr;
  }
  return lanes == nullptr ? nullptr : llvm::getSplatValue(compare->getOperand(1));
}

// Stores the first lanes in parts of half the vector, a quarter.. and one lane, each part if its bit of the number is set. A
// load of any element that a masked store might change, also of one behind its active lanes, waits until that store is in the
// cache. So in a kernel that changes a matrix in place, the begin of each row would wait for the end of the row before it.
void Memory::store_in_parts(Id node, Value* at, Value* value, Value* number) {
  llvm::Type* const type = value->getType()->getScalarType();
  // A gate of the program, such as j < i, may have a number that is negative or greater than the number of lanes.
  Value* const positive = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, number, int_like(number->getType(), 0));
  Value* const left = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, positive, int_like(number->getType(), lane_count(value)));
  for (int part = lane_count(value); part >= 1; part /= 2) {
    const int lanes = lane_count(value);
    const auto half = [&](int begin) {
      std::vector<int> chosen(static_cast<std::size_t>(part));
      std::iota(chosen.begin(), chosen.end(), begin);
      return part < lanes ? b_.CreateShuffleVector(value, chosen) : value;
    };
    Value* const low = half(0);
    Value* const bit = b_.CreateAnd(left, int_like(number->getType(), part));
    Value* const is_set = b_.CreateICmpNE(bit, int_like(number->getType(), 0));
    value = emit_either(
        b_, is_set,
        [&] {
          annotate(b_.CreateAlignedStore(low, at, alignment(g_, node)), node);
          return half(part);
        },
        [&] { return low; });
    at = b_.CreateSelect(is_set, b_.CreateConstGEP1_64(type, at, static_cast<std::uint64_t>(part)), at);
  }
}

// The address of lane i. Four lanes share one sum, because an address may have a multiple of the distance.
Value* Memory::even_address(Id node, Value* first, Value* distance, int i) {
  llvm::Type* const wide = b_.getInt64Ty();
  llvm::Type* const type = memory_type(b_.getContext(), element(g_, node), 1);
  Value* const step = b_.CreateSExt(distance, wide);
  const auto steps = [&](int n) { return b_.CreateMul(step, llvm::ConstantInt::get(wide, static_cast<std::uint64_t>(n))); };
  Value* const begin = address(node, first);
  Value* const group = b_.CreateGEP(type, begin, steps(i / 4 * 4));
  return i % 4 == 0 ? group : b_.CreateGEP(type, group, steps(i % 4));
}

// The place if lane i is active, else another one. No branch: it would often be mispredicted. So LLVM is told, and the lane is
// a bit of one integer.
Value* Memory::place_or(Value* mask, int i, Value* place, Value* other) {
  Value* active = llvm::getSplatValue(mask);
  if (active == nullptr) {
    Value* const bits = b_.CreateBitCast(mask, b_.getIntNTy(static_cast<unsigned>(lane_count(mask))));
    active = b_.CreateTrunc(b_.CreateLShr(bits, static_cast<std::uint64_t>(i)), b_.getInt1Ty());
  }
  Value* const selected = b_.CreateSelect(active, place, other);
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(selected))
    select->setMetadata(llvm::LLVMContext::MD_unpredictable, llvm::MDNode::get(b_.getContext(), {}));
  return selected;
}

// Inactive lanes load a zero of an array of zeros.
Value* Memory::load_each(Id node, llvm::function_ref<Value*(int)> at, llvm::Type* type, Value* mask, Value* alt) {
  Value* result = llvm::PoisonValue::get(type);
  for (int i = 0; i < access_lanes(g_, node); ++i) {
    Value* place = at(i);
    if (mask != nullptr) place = place_or(mask, i, place, zeros_of(node));
    llvm::LoadInst* access = b_.CreateAlignedLoad(type->getScalarType(), place, alignment(g_, node));
    annotate(access, node);
    result = b_.CreateInsertElement(result, access, static_cast<std::uint64_t>(i));
  }
  const auto* constant = llvm::dyn_cast_if_present<llvm::Constant>(alt);
  return mask == nullptr || (constant != nullptr && constant->isNullValue()) ? result : b_.CreateSelect(mask, result, alt);
}

// Loads one element for all active lanes. If none is active, it loads from an array of zeros.
Value* Memory::load_same(Id node, Value* index, llvm::Type* type, Value* mask, Value* alt) {
  Value* const splat = llvm::getSplatValue(mask);
  Value* const some = splat != nullptr ? splat : b_.CreateOrReduce(mask);
  Value* const at = address(node, index);
  Value* const place = b_.CreateSelect(some, at, zeros_of(node));
  llvm::LoadInst* const access = b_.CreateAlignedLoad(type, place, alignment(g_, node));
  annotate(access, node);
  return b_.CreateSelect(mask, lanes_of(access, lane_count(mask)), alt);
}

// Inactive lanes store to a place that nothing loads.
void Memory::store_each(Id node, llvm::function_ref<Value*(int)> at, Value* value, Value* mask) {
  for (int i = 0; i < lane_count(value); ++i) {
    Value* place = at(i);
    if (mask != nullptr) place = place_or(mask, i, place, nowhere());
    Value* const element = b_.CreateExtractElement(value, static_cast<std::uint64_t>(i));
    annotate(b_.CreateAlignedStore(element, place, alignment(g_, node)), node);
  }
}

Value* Memory::nowhere() {
  if (nowhere_ == nullptr) {
    LlvmBuilder::InsertPointGuard here(b_);
    llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
    b_.SetInsertPoint(&entry, entry.begin());
    nowhere_ = b_.CreateAlloca(b_.getInt64Ty());
  }
  return nowhere_;
}

// Loads element by element: constant distances from one address cost less than a gather with a vector of addresses.
Value* Memory::strided_load(Id node, Value* index) {
  const int lanes = access_lanes(g_, node);
  llvm::Type* type = memory_type(b_.getContext(), element(g_, node), 1);
  Value* base = address(node, index);
  Value* result = llvm::PoisonValue::get(with_lanes(type, lanes));
  for (int i = 0; i < lanes; ++i) {
    Value* at = b_.CreateGEP(type, base, b_.getInt64(static_cast<std::uint64_t>(g_.stride(index_of(g_, node)) * i)));
    llvm::LoadInst* access = b_.CreateAlignedLoad(type, at, alignment(g_, node));
    annotate(access, node);
    result = b_.CreateInsertElement(result, access, static_cast<std::uint64_t>(i));
  }
  return result;
}

void Memory::strided_store(Id node, Value* index, Value* value) {
  llvm::Type* type = memory_type(b_.getContext(), element(g_, node), 1);
  Value* base = address(node, index);
  for (int i = 0; i < access_lanes(g_, node); ++i) {
    Value* at = b_.CreateGEP(type, base, b_.getInt64(static_cast<std::uint64_t>(g_.stride(index_of(g_, node)) * i)));
    annotate(b_.CreateAlignedStore(b_.CreateExtractElement(value, static_cast<std::uint64_t>(i)), at, alignment(g_, node)),
             node);
  }
}

}  // namespace kiln::compiler
