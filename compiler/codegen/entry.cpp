#include "compiler/codegen/entry.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_map>
#include <vector>

#include "compiler/codegen/elementwise.h"
#include "compiler/codegen/fast_path.h"
#include "compiler/codegen/float_environment.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/nth.h"
#include "kiln/call.h"
#include "kiln/program.h"

namespace kiln::compiler {
namespace {

using llvm::Value;

// succeed() and declare_entry() rely on this order of the members.
static_assert(offsetof(kiln_status, code) == 0 && offsetof(kiln_status, param) == 4 && offsetof(kiln_status, axis) == 8 &&
              offsetof(kiln_status, symbol) == 12 && offsetof(kiln_status, expected) == 16 &&
              offsetof(kiln_status, got) == 24 && sizeof(kiln_status) == 32 && KILN_OK == 0);
// check_form() compares rank and dtype with one load.
static_assert(offsetof(kiln_tensor, rank) == offsetof(kiln_tensor, dtype) + 4);

class FastEntry {
 public:
  FastEntry(llvm::Function* entry, llvm::BasicBlock* slow, const Graph& g, const Schedule& schedule, const Facts& facts)
      : entry_(entry), slow_(slow), g_(g), schedule_(schedule), facts_(facts), b_(entry->getContext()) {}

  void emit(std::span<const LoweredKernel> lowered, std::span<llvm::Function* const> kernels) {
    b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "entry", entry_, slow_));
    Value* environment = save_float_environment(b_);
    require(b_.CreateICmpEQ(entry_->getArg(2), b_.getInt32(static_cast<unsigned>(params().size()))));
    require(b_.CreateIsNotNull(entry_->getArg(1)));
    branch("arguments");
    for (std::size_t i = 0; i < params().size(); ++i) check_form(i);
    branch("extents");
    bind_symbols();
    check_sizes();
    bind_strides();
    check_aliasing();
    check_work(lowered);
    branch("run");
    find_workspace();
    set_default_float_environment(b_, environment);
    run(lowered, kernels);
    restore_float_environment(b_, environment);
    release_workspace();
    succeed();
  }

 private:
  const std::vector<Parameter>& params() const { return schedule_.program.params; }

  void require(Value* condition) { all_ = all_ == nullptr ? condition : b_.CreateAnd(all_, condition); }

  void require_zero(Value* word) { nonzero_ = nonzero_ == nullptr ? word : b_.CreateOr(nonzero_, word); }

  // Branches to the slow path unless all required conditions hold.
  void branch(const char* name) {
    if (nonzero_ != nullptr) require(b_.CreateIsNull(nonzero_));
    nonzero_ = nullptr;
    llvm::BasicBlock* next = llvm::BasicBlock::Create(b_.getContext(), name, entry_, slow_);
    if (all_ == nullptr)
      b_.CreateBr(next);
    else
      b_.CreateCondBr(all_, next, slow_);
    all_ = nullptr;
    b_.SetInsertPoint(next);
  }

  Value* member(llvm::Type* type, Value* base, std::uint64_t offset) {
    return b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset));
  }

  void check_form(std::size_t i) {
    const Parameter& p = params()[i];
    Value* tensor = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), entry_->getArg(1), i * sizeof(kiln_tensor));
    data_.push_back(member(b_.getPtrTy(), tensor, offsetof(kiln_tensor, data)));
    extents_.push_back(member(b_.getPtrTy(), tensor, offsetof(kiln_tensor, extents)));
    Value* address = b_.CreatePtrToInt(data_.back(), b_.getInt64Ty());
    addresses_.push_back(address);
    require(b_.CreateIsNotNull(data_.back()));
    if (!p.extents.empty()) require(b_.CreateIsNotNull(extents_.back()));
    strides_.push_back(member(b_.getPtrTy(), tensor, offsetof(kiln_tensor, strides)));
    if (p.free_strides > 0)
      require(b_.CreateIsNotNull(strides_.back()));
    else
      require_zero(b_.CreatePtrToInt(strides_.back(), b_.getInt64Ty()));
    require_zero(b_.CreateXor(member(b_.getInt64Ty(), tensor, offsetof(kiln_tensor, dtype)), b_.getInt64(dtype_and_rank(p))));
    if (bytes(p.dtype) > 1) require_zero(b_.CreateAnd(address, b_.getInt64(static_cast<std::uint64_t>(bytes(p.dtype) - 1))));
  }

  std::uint64_t dtype_and_rank(const Parameter& p) const {
    const auto dtype = static_cast<std::uint64_t>(p.dtype), rank = static_cast<std::uint64_t>(p.extents.size());
    return entry_->getParent()->getDataLayout().isLittleEndian() ? rank << 32 | dtype : dtype << 32 | rank;
  }

  Value* extent(std::size_t param, std::size_t axis) { return member(b_.getInt64Ty(), extents_[param], 8 * axis); }

  // The first extent that is only a symbol gives the symbol its value.
  void bind_symbols() {
    for (std::size_t i = 0; i < params().size(); ++i)
      for (std::size_t a = 0; a < params()[i].extents.size(); ++a)
        if (const Id e = params()[i].extents[a]; g_.op(e) == Op::SYM && !values_.contains(e)) values_[e] = extent(i, a);
    for (const Symbol& s : extents_of(schedule_.program)) {
      Value* v = symbol(s);
      const SymFact f = facts_.of(s.name);
      const auto low = static_cast<std::uint64_t>(f.min), span = static_cast<std::uint64_t>(f.max - f.min);
      require(b_.CreateICmpULE(b_.CreateSub(v, b_.getInt64(low)), b_.getInt64(span)));
      if (f.multiple_of > 1) require(b_.CreateIsNull(b_.CreateURem(v, b_.getInt64(static_cast<std::uint64_t>(f.multiple_of)))));
    }
  }

  Value* symbol(const Symbol& s) {
    if (s.kind == Symbol::Kind::stride) return stride_values_.at(s.name);
    for (const auto& [id, v] : values_)
      if (g_.op(id) == Op::SYM && g_.name(id) == s.name) return v;
    throw std::logic_error("codegen: symbol without an extent");
  }

  Value* value_of(Id expression) { return emit_expression(b_, g_, expression, values_); }

  void check_sizes() {
    for (std::size_t i = 0; i < params().size(); ++i) {
      Value* size = b_.getInt64(static_cast<std::uint64_t>(bytes(params()[i].dtype)));
      for (std::size_t a = 0; a < params()[i].extents.size(); ++a) {
        Value* expected = value_of(params()[i].extents[a]);
        require(b_.CreateICmpEQ(extent(i, a), expected));
        require(b_.CreateICmpSGE(expected, b_.getInt64(0)));
        size = b_.CreateMul(size, expected);
      }
      sizes_.push_back(size);
    }
  }

  // The fast path accepts an output only if its strides decrease from axis to axis, which implies that its rows do not overlap.
  // kiln_call checks all other orders of strides.
  void bind_strides() {
    for (std::size_t i = 0; i < params().size(); ++i)
      if (params()[i].free_strides > 0) bind_strides(i);
  }
  void bind_strides(std::size_t i) {
    const Parameter& p = params()[i];
    Value *const zero = b_.getInt64(0), *const one = b_.getInt64(1);
    Value *dense = one, *low = zero, *high = zero;  // low, high: lowest and highest element, relative to [0, 0, ..]
    for (std::size_t a = p.extents.size(); a-- > 0;) {
      Value *const n = value_of(p.extents[a]), *const single = b_.CreateICmpSLE(n, one);
      Value *const given = member(b_.getInt64Ty(), strides_[i], 8 * a), *stride = dense;
      if (std::cmp_less(a, p.free_strides)) {
        stride = b_.CreateSelect(single, zero, given);
        stride_values_[stride_name(p, a)] = stride;
        require(b_.CreateICmpULE(b_.CreateAdd(stride, b_.getInt64(fast_stride)), b_.getInt64(2 * fast_stride)));
        if (p.direction != Direction::in) require_any(single, b_.CreateICmpSGT(stride, high));
      } else {
        require_any(single, b_.CreateICmpEQ(given, dense));
        dense = b_.CreateMul(dense, n);
      }
      Value* const reach = b_.CreateMul(stride, b_.CreateSub(n, one));
      Value* const down = b_.CreateICmpSLT(reach, zero);
      Value *const lower = b_.CreateAdd(low, reach), *const higher = b_.CreateAdd(high, reach);
      low = b_.CreateSelect(down, lower, low);
      high = b_.CreateSelect(down, high, higher);
    }
    place(i, low, b_.CreateAdd(b_.CreateSub(high, low), one));
  }

  void require_any(Value* a, Value* b) { require(b_.CreateOr(a, b)); }

  // Sets the byte range of an argument: `elements` elements from element `low` on. The range must not wrap around the address
  // space.
  void place(std::size_t i, Value* low, Value* elements) {
    Value* const element = b_.getInt64(static_cast<std::uint64_t>(bytes(params()[i].dtype)));
    Value* const begin = b_.CreateAdd(addresses_[i], b_.CreateMul(low, element));
    Value* const size = b_.CreateMul(elements, element);
    require(b_.CreateICmpULE(begin, addresses_[i]));
    require(b_.CreateICmpULE(begin, b_.CreateAdd(begin, size)));
    sizes_[i] = b_.CreateSelect(b_.CreateIsNull(sizes_[i]), sizes_[i], size);
    addresses_[i] = begin;
  }

  void check_aliasing() {
    const auto apart = [&](std::size_t i, std::size_t j) {  // whether i ends before j begins
      return b_.CreateICmpULE(b_.CreateAdd(addresses_[i], sizes_[i]), addresses_[j]);
    };
    for (std::size_t i = 0; i < params().size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (params()[i].direction != Direction::in || params()[j].direction != Direction::in) {
          Value* other = apart(j, i);
          require(b_.CreateOr(apart(i, j), other));
        }
  }

  // The fast path runs kernels on this thread. With an executor it runs only work that kiln_call would not share among threads.
  void check_work(std::span<const LoweredKernel> lowered) {
    if (std::ranges::none_of(lowered, &LoweredKernel::parallel)) return;
    branch("executor");
    llvm::BasicBlock* run = block("run");
    Value* context = entry_->getArg(3);
    leave(b_.CreateIsNull(context), run);
    leave(b_.CreateIsNull(member(b_.getPtrTy(), context, offsetof(kiln_context, executor))), run);
    const std::unordered_map<Id, Value*> known = values_;
    Value* little = b_.getTrue();
    for (const LoweredKernel& l : lowered)
      if (l.parallel) little = b_.CreateAnd(little, b_.CreateICmpSLT(value_of(l.work), b_.getInt64(KILN_LEAST_SHARED_WORK)));
    b_.CreateCondBr(little, run, slow_);
    b_.SetInsertPoint(run);
    values_ = known;
  }

  void leave(Value* condition, llvm::BasicBlock* to) {
    llvm::BasicBlock* next = llvm::BasicBlock::Create(b_.getContext(), "else", entry_, to);
    b_.CreateCondBr(condition, to, next);
    b_.SetInsertPoint(next);
  }

  // The workspace of the context if it is large enough, else memory of its allocator, as in kiln_call. A workspace that
  // kiln_call would refuse is left to kiln_call.
  void find_workspace() {
    if (schedule_.workspace_bytes == no_id) return;
    need_ = value_of(schedule_.workspace_bytes);
    if (llvm::isa<llvm::ConstantInt>(need_) && llvm::cast<llvm::ConstantInt>(need_)->isZero()) return;
    Value *const context = entry_->getArg(3), *const null = llvm::ConstantPointerNull::get(b_.getPtrTy());
    llvm::BasicBlock *const without = b_.GetInsertBlock(), *const found = block("workspace"), *const check = block("check");
    llvm::BasicBlock* const none = block("need");
    b_.CreateCondBr(b_.CreateICmpSGT(need_, b_.getInt64(0)), none, found);
    b_.SetInsertPoint(none);
    go_on(b_.CreateIsNotNull(context), slow_);
    Value* const given = member(b_.getPtrTy(), context, offsetof(kiln_context, workspace));
    Value* const bytes = member(b_.getInt64Ty(), context, offsetof(kiln_context, workspace_bytes));
    Value* const fits = b_.CreateICmpSGE(bytes, need_);
    llvm::BasicBlock *const has_own = b_.GetInsertBlock(), *const allocate = block("allocate");
    b_.CreateCondBr(b_.CreateAnd(b_.CreateIsNotNull(given), fits), check, allocate);
    b_.SetInsertPoint(allocate);
    Value* const allocator = member(b_.getPtrTy(), context, offsetof(kiln_context, allocate));
    go_on(b_.CreateIsNotNull(allocator), slow_);
    Value* const user = member(b_.getPtrTy(), context, offsetof(kiln_context, user));
    llvm::Type *const pointer = b_.getPtrTy(), *const count = b_.getInt64Ty();
    auto* const type = llvm::FunctionType::get(pointer, {pointer, count, count}, false);
    Value* const made = b_.CreateCall(type, allocator, {user, need_, b_.getInt64(KILN_WORKSPACE_ALIGNMENT)});
    go_on(b_.CreateIsNotNull(made), slow_);
    llvm::BasicBlock* const allocated = b_.GetInsertBlock();
    b_.CreateBr(check);
    b_.SetInsertPoint(check);
    llvm::PHINode *const here = b_.CreatePHI(b_.getPtrTy(), 2), *const own = b_.CreatePHI(b_.getPtrTy(), 2);
    here->addIncoming(given, has_own);
    here->addIncoming(made, allocated);
    own->addIncoming(null, has_own);
    own->addIncoming(made, allocated);
    Value* const valid = is_valid_workspace(here);
    llvm::BasicBlock *const refuse = block("refuse"), *const checked = b_.GetInsertBlock();
    b_.CreateCondBr(valid, found, refuse);
    b_.SetInsertPoint(refuse);
    own_ = own;
    release_workspace();
    b_.CreateBr(slow_);
    b_.SetInsertPoint(found);
    workspace_ = join({{null, without}, {here, checked}});
    own_ = join({{null, without}, {own, checked}});
  }

  Value* join(std::initializer_list<std::pair<Value*, llvm::BasicBlock*>> values) {
    llvm::PHINode* phi = b_.CreatePHI(b_.getPtrTy(), static_cast<unsigned>(values.size()));
    for (const auto& [value, from] : values) phi->addIncoming(value, from);
    return phi;
  }

  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, entry_, slow_); }

  // Branches to a new block if the condition holds, else to `otherwise`. The next instructions belong to the new block.
  void go_on(Value* condition, llvm::BasicBlock* otherwise) {
    llvm::BasicBlock* next = block("next");
    b_.CreateCondBr(condition, next, otherwise);
    b_.SetInsertPoint(next);
  }

  // Aligned, and apart from all arguments.
  Value* is_valid_workspace(Value* workspace) {
    Value* const begin = b_.CreatePtrToInt(workspace, b_.getInt64Ty());
    Value* const end = b_.CreateAdd(begin, need_);
    Value* valid = b_.CreateIsNull(b_.CreateAnd(begin, b_.getInt64(KILN_WORKSPACE_ALIGNMENT - 1)));
    for (std::size_t i = 0; i < params().size(); ++i) {
      Value* const before = b_.CreateICmpULE(end, addresses_[i]);
      Value* const behind = b_.CreateICmpULE(b_.CreateAdd(addresses_[i], sizes_[i]), begin);
      valid = b_.CreateAnd(valid, b_.CreateOr(before, behind));
    }
    return valid;
  }

  // Gives memory of the allocator back.
  void release_workspace() {
    if (own_ == nullptr) return;
    llvm::BasicBlock *const has = block("has"), *const call = block("release"), *const done = block("done");
    b_.CreateCondBr(b_.CreateIsNull(own_), done, has);
    b_.SetInsertPoint(has);
    Value* const context = entry_->getArg(3);
    Value* const release = member(b_.getPtrTy(), context, offsetof(kiln_context, release));
    b_.CreateCondBr(b_.CreateIsNull(release), done, call);
    b_.SetInsertPoint(call);
    Value* const user = member(b_.getPtrTy(), context, offsetof(kiln_context, user));
    llvm::Type *const pointer = b_.getPtrTy(), *const count = b_.getInt64Ty(), *const none = b_.getVoidTy();
    auto* const type = llvm::FunctionType::get(none, {pointer, pointer, count}, false);
    b_.CreateCall(type, release, {user, own_, need_});
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
  }

  llvm::AllocaInst* array(llvm::Type* type, std::size_t n) {
    llvm::IRBuilder<> first(&entry_->getEntryBlock(), entry_->getEntryBlock().begin());
    return first.CreateAlloca(llvm::ArrayType::get(type, n));
  }

  Value* symbols_array() {
    const std::vector<Symbol>& symbols = schedule_.program.symbols;
    if (symbols.empty()) return llvm::ConstantPointerNull::get(b_.getPtrTy());
    llvm::AllocaInst* at = array(b_.getInt64Ty(), symbols.size());
    for (std::size_t s = 0; s < symbols.size(); ++s) {
      Value* place = b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), at, s);
      b_.CreateStore(symbol(symbols[s]), place);
    }
    return at;
  }

  // Without a workspace, temporaries have no elements.
  Value* address(const Buffer& b) {
    if (b.param < 0 && workspace_ == nullptr) return llvm::ConstantPointerNull::get(b_.getPtrTy());
    if (b.param < 0) return b_.CreateGEP(b_.getInt8Ty(), workspace_, value_of(b.offset));
    Value* data = nth(data_, b.param);
    return b.offset == no_id ? data : b_.CreateGEP(b_.getInt8Ty(), data, value_of(b.offset));
  }

  // One test leaves out all kernels of a version that the call does not run.
  void run(std::span<const LoweredKernel> lowered, std::span<llvm::Function* const> kernels) {
    Value* symbols = symbols_array();
    for (std::size_t first = 0; first < lowered.size();) {
      const KernelGroup group = kernel_group(g_, facts_, lowered, first);
      llvm::BasicBlock* const after = group.condition == no_id ? nullptr : block("behind");
      std::unordered_map<Id, Value*> known;
      if (after != nullptr) {
        Value* const runs = value_of(group.condition);
        known = values_;
        go_on(b_.CreateIsNotNull(runs), after);
      }
      for (; first < group.end; ++first) run(first, lowered[first], kernels[first], symbols);
      if (after == nullptr) continue;
      b_.CreateBr(after);
      b_.SetInsertPoint(after);
      values_ = std::move(known);
    }
  }

  void run(std::size_t number, const LoweredKernel& lowered, llvm::Function* kernel, Value* symbols) {
    Value* const trips = value_of(lowered.trip_count);
    const std::vector<int>& used = schedule_.kernels[number].buffers;
    llvm::AllocaInst* buffers = array(b_.getPtrTy(), std::max<std::size_t>(used.size(), 1));
    for (std::size_t i = 0; i < used.size(); ++i) {
      Value* place = b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), buffers, i);
      b_.CreateStore(address(nth(schedule_.buffers, used[i])), place);
    }
    llvm::BasicBlock *const body = block("kernel"), *const after = block("next");
    b_.CreateCondBr(b_.CreateICmpSGT(trips, b_.getInt64(0)), body, after);
    b_.SetInsertPoint(body);
    b_.CreateCall(kernel, {buffers, symbols, b_.getInt64(0), trips});
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
  }

  // kiln_status: OK, no parameter, axis or symbol.
  void succeed() {
    const std::int32_t fields[] = {0, -1, -1, -1};
    for (std::size_t i = 0; i < 4; ++i)
      b_.CreateStore(b_.getInt32(static_cast<std::uint32_t>(fields[i])),
                     b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), entry_->getArg(0), i));
    for (std::size_t i = 2; i < 4; ++i)
      b_.CreateStore(b_.getInt64(0), b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), entry_->getArg(0), i));
    b_.CreateRetVoid();
  }

  llvm::Function* entry_;
  llvm::BasicBlock* slow_;
  const Graph& g_;
  const Schedule& schedule_;
  const Facts& facts_;
  LlvmBuilder b_;
  Value *need_ = nullptr, *workspace_ = nullptr;            // bytes of the workspace; its address, or null
  Value* own_ = nullptr;                                    // the same if it comes from the allocator, else null
  Value *all_ = nullptr, *nonzero_ = nullptr;               // required at the next branch: a condition; bits that must be zero
  std::vector<Value*> data_, extents_, addresses_, sizes_;  // by parameter
  std::vector<Value*> strides_;                             // by parameter: its array of strides
  std::unordered_map<Id, Value*> values_;                   // by index expression
  std::map<std::string, Value*> stride_values_;             // by symbol
};

}  // namespace

llvm::Function* declare_entry(llvm::Module& module, std::initializer_list<llvm::Type*> before, const std::string& name) {
  llvm::LLVMContext& c = module.getContext();
  llvm::Type *i32 = llvm::Type::getInt32Ty(c), *i64 = llvm::Type::getInt64Ty(c), *ptr = llvm::PointerType::getUnqual(c);
  std::vector<llvm::Type*> types{ptr};
  types.insert(types.end(), before);
  types.insert(types.end(), {ptr, i32, ptr});
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(c), types, false);
  auto* f = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  // kiln_status is 32 bytes, so C returns it through a pointer.
  f->addParamAttr(0, llvm::Attribute::getWithStructRetType(c, llvm::StructType::get(c, {i32, i32, i32, i32, i64, i64})));
  f->addParamAttr(0, llvm::Attribute::getWithAlignment(c, llvm::Align(8)));
  f->addParamAttr(0, llvm::Attribute::NoAlias);
  return f;
}

llvm::Function* declare_kiln_call(llvm::Module& module) {
  if (llvm::Function* f = module.getFunction("kiln_call")) return f;
  return declare_entry(module, {llvm::PointerType::getUnqual(module.getContext())}, "kiln_call");
}

void emit_kiln_call(llvm::Function& entry, llvm::BasicBlock* at, llvm::Value* description) {
  llvm::Function* call = declare_kiln_call(*entry.getParent());
  llvm::IRBuilder<> b(at);
  llvm::CallInst* result =
      b.CreateCall(call, {entry.getArg(0), description, entry.getArg(1), entry.getArg(2), entry.getArg(3)});
  result->setAttributes(call->getAttributes());
  result->setTailCall();
  b.CreateRetVoid();
}

void emit_entry(llvm::Function& entry, llvm::GlobalVariable* description, const CodegenVariant& v,
                std::span<llvm::Function* const> kernels) {
  llvm::BasicBlock* slow = llvm::BasicBlock::Create(entry.getContext(), "slow", &entry);
  if (const auto facts = fast_path_facts(v.graph, v.schedule, v.lowered); facts && has_float_environment(*entry.getParent()))
    FastEntry(&entry, slow, v.graph, v.schedule, *facts).emit(v.lowered, kernels);
  emit_kiln_call(entry, slow, description);
}

}  // namespace kiln::compiler
