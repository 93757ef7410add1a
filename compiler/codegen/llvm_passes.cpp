#include "compiler/codegen/llvm_passes.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/CorrelatedValuePropagation.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/JumpThreading.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Scalar/StraightLineStrengthReduce.h>

#include <vector>

#include "compiler/codegen/rare_clamps.h"

namespace kiln::compiler {
namespace {

// Limits in instructions. LLVM's machine scheduler is quadratic in the uses of one register in a block, so a huge function is
// selected and scheduled in source order (optnone). Register allocation stays the same.
constexpr std::size_t large_function = 20'000;
constexpr std::size_t huge_function = 40'000;
// Limit in basic blocks. LLVM's hoisting from a machine loop visits all blocks of the loop many times.
constexpr std::size_t many_blocks = 4000;

llvm::FunctionPassManager full_pipeline() {
  llvm::FunctionPassManager f;
  f.addPass(llvm::EarlyCSEPass(true));
  f.addPass(llvm::InstCombinePass());
  f.addPass(llvm::SimplifyCFGPass());
  f.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  f.addPass(llvm::EarlyCSEPass(true));
  f.addPass(llvm::InstCombinePass());
  f.addPass(llvm::SimplifyCFGPass());
  return f;
}

// Whether data may end a loop: then its last condition is no comparison of the counter alone.
bool has_loop_until(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
  const llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(f);
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const llvm::BasicBlock* latch = loop->getLoopLatch();
    const auto* end = latch == nullptr ? nullptr : llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
    if (end != nullptr && end->isConditional() && !llvm::isa<llvm::ICmpInst>(end->getCondition())) return true;
  }
  return false;
}

// In a loop that ends by a `break_if`, what follows the break has a branch of its own, and the values of the next iteration
// are selected by its condition. Without these, an iteration does not wait for the comparison of the one before.
void join_breaks(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
  llvm::FunctionPassManager p;
  p.addPass(llvm::JumpThreadingPass());
  p.addPass(llvm::CorrelatedValuePropagationPass());
  p.addPass(llvm::InstCombinePass());
  analyses.invalidate(f, p.run(f, analyses));
}

// A masked gather or scatter becomes a branch and a block for each lane, unless the machine has an instruction for it.
std::size_t block_estimate(const llvm::Function& f, const llvm::TargetTransformInfo& machine) {
  std::size_t n = f.size();
  for (const llvm::Instruction& i : llvm::instructions(f)) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    if (call == nullptr) continue;
    const bool gather = call->getIntrinsicID() == llvm::Intrinsic::masked_gather;
    if (!gather && call->getIntrinsicID() != llvm::Intrinsic::masked_scatter) continue;
    auto* pointers = llvm::cast<llvm::FixedVectorType>(call->getArgOperand(gather ? 0 : 1)->getType());
    auto* type = llvm::cast<llvm::VectorType>(gather ? call->getType() : call->getArgOperand(0)->getType());
    const llvm::Align align(llvm::cast<llvm::ConstantInt>(call->getArgOperand(gather ? 1 : 2))->getZExtValue());
    const bool legal = gather ? machine.isLegalMaskedGather(type, align) && !machine.forceScalarizeMaskedGather(type, align)
                              : machine.isLegalMaskedScatter(type, align) && !machine.forceScalarizeMaskedScatter(type, align);
    if (!legal) n += 2 * pointers->getNumElements();
  }
  return n;
}

llvm::FunctionPassManager linear_pipeline() {
  llvm::FunctionPassManager f;
  f.addPass(llvm::EarlyCSEPass(false));
  return f;
}

// The code of a truth value as a float is a branch, and so is a select between two float constants whose condition is no
// comparison of floats. Branches are slow if data decide them, as in masks. The bits of the constants need no branch: the
// condition is widened to a mask of their difference. InstCombine would undo this.
void select_bits_of_constants(llvm::Function& f) {
  for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(f))) {
    llvm::Type* type = i.getType();
    if (!type->isFloatingPointTy()) continue;
    const llvm::Value *yes = nullptr, *no = nullptr;
    if (llvm::isa<llvm::UIToFPInst>(i) && i.getOperand(0)->getType()->isIntegerTy(1)) {
      yes = llvm::ConstantFP::get(type, 1);
      no = llvm::ConstantFP::get(type, 0);
    } else if (llvm::isa<llvm::SelectInst>(i) && !llvm::isa<llvm::FCmpInst>(i.getOperand(0))) {
      yes = i.getOperand(1);
      no = i.getOperand(2);
    }
    const auto *high = llvm::dyn_cast_or_null<llvm::ConstantFP>(yes), *low = llvm::dyn_cast_or_null<llvm::ConstantFP>(no);
    if (high == nullptr || low == nullptr) continue;
    llvm::IRBuilder<> b(&i);
    const llvm::APInt set = high->getValueAPF().bitcastToAPInt(), clear = low->getValueAPF().bitcastToAPInt();
    llvm::Value* mask = b.CreateSExt(i.getOperand(0), b.getIntNTy(set.getBitWidth()));
    i.replaceAllUsesWith(b.CreateBitCast(b.CreateXor(b.CreateAnd(mask, set ^ clear), b.getInt(clear)), type));
    i.eraseFromParent();
  }
}

// On a machine without mask registers, LLVM passes a vector of truth values with more lanes than a register has bytes from one
// block to the next in a register for each lane: a condition of 64 lanes that a loop reads takes 64 insertions. As bytes, such
// a value stays a vector. InstCombine would undo this.
void carry_truth_as_bytes(llvm::Function& f, unsigned register_bytes) {
  for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(f))) {
    auto* type = llvm::dyn_cast<llvm::FixedVectorType>(i.getType());
    if (type == nullptr || !type->getElementType()->isIntegerTy(1) || type->getNumElements() <= register_bytes) continue;
    std::vector<llvm::Use*> elsewhere;
    for (llvm::Use& use : i.uses()) {
      const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      if (user->getParent() != i.getParent() && !llvm::isa<llvm::PHINode>(user)) elsewhere.push_back(&use);
    }
    if (elsewhere.empty() || llvm::isa<llvm::PHINode>(i)) continue;
    llvm::IRBuilder<> at(i.getNextNode());
    llvm::Value* bytes = at.CreateSExt(&i, llvm::FixedVectorType::get(at.getInt8Ty(), type->getNumElements()));
    for (llvm::Use* use : elsewhere) {
      llvm::IRBuilder<> here(llvm::cast<llvm::Instruction>(use->getUser()));
      use->set(here.CreateICmpSLT(bytes, llvm::Constant::getNullValue(bytes->getType())));
    }
  }
}

}  // namespace

void run_llvm_passes(llvm::Module& module, llvm::TargetMachine& machine, bool has_symbols) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    const std::size_t size = f.getInstructionCount();
    llvm::FunctionPassManager passes = size > large_function ? linear_pipeline() : full_pipeline();
    functions.invalidate(f, passes.run(f, functions));
    if (size <= large_function) {
      if (has_loop_until(f, functions)) join_breaks(f, functions);
      branch_at_rare_clamps(f, functions);
      if (has_symbols) functions.invalidate(f, llvm::StraightLineStrengthReducePass().run(f, functions));
      functions.invalidate(f, llvm::LoopUnrollPass(llvm::LoopUnrollOptions(2, /*OnlyWhenForced=*/true)).run(f, functions));
    }
    select_bits_of_constants(f);
    if (!machine.getMCSubtargetInfo()->checkFeatures("+avx512f"))
      carry_truth_as_bytes(f, machine.getMCSubtargetInfo()->checkFeatures("+avx2") ? 32 : 16);
    if (size > huge_function || block_estimate(f, functions.getResult<llvm::TargetIRAnalysis>(f)) > many_blocks) {
      f.addFnAttr(llvm::Attribute::OptimizeNone);
      f.addFnAttr(llvm::Attribute::NoInline);
    }
  }
}

}  // namespace kiln::compiler
