#include "compiler/codegen/optimise.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

namespace kiln::compiler {
namespace {

// Instructions. LLVM's machine scheduler is quadratic in the uses of one register within a block, so a huge function is
// selected and scheduled in source order (optnone); registers are allocated as ever.
constexpr std::size_t large_function = 20'000;
constexpr std::size_t huge_function = 40'000;
// Basic blocks: LLVM's hoisting from a machine loop walks all of the loop's blocks again and again.
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

// A masked gather or scatter becomes a branch and a block for each lane.
std::size_t block_estimate(const llvm::Function& f) {
  std::size_t n = f.size();
  for (const llvm::Instruction& i : llvm::instructions(f)) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    if (call == nullptr) continue;
    const auto kind = call->getIntrinsicID();
    if (kind != llvm::Intrinsic::masked_gather && kind != llvm::Intrinsic::masked_scatter) continue;
    const llvm::Value* pointers = call->getArgOperand(kind == llvm::Intrinsic::masked_gather ? 0 : 1);
    n += 2 * llvm::cast<llvm::FixedVectorType>(pointers->getType())->getNumElements();
  }
  return n;
}

llvm::FunctionPassManager linear_pipeline() {
  llvm::FunctionPassManager f;
  f.addPass(llvm::EarlyCSEPass(false));
  return f;
}

}  // namespace

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
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
    passes.run(f, functions);
    if (size > huge_function || block_estimate(f) > many_blocks) {
      f.addFnAttr(llvm::Attribute::OptimizeNone);
      f.addFnAttr(llvm::Attribute::NoInline);
    }
  }
}

}  // namespace kiln::compiler
