#include "compiler/codegen/float_environment.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

#include "kiln/program.h"

namespace kiln::compiler {
namespace {

llvm::AllocaInst* slot(LlvmBuilder& b) {
  llvm::BasicBlock& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
  return llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(b.getInt32Ty());
}

void load_mxcsr(LlvmBuilder& b, llvm::Value* from) { b.CreateIntrinsic(llvm::Intrinsic::x86_sse_ldmxcsr, {}, {from}); }

}  // namespace

bool has_float_environment(const llvm::Module& module) { return llvm::Triple(module.getTargetTriple()).isX86(); }

llvm::Value* save_float_environment(LlvmBuilder& b) {
  llvm::Value* saved = slot(b);
  b.CreateIntrinsic(llvm::Intrinsic::x86_sse_stmxcsr, {}, {saved});
  return saved;
}

void set_default_float_environment(LlvmBuilder& b, llvm::Value* saved) {
  llvm::Value* value = slot(b);
  llvm::Value* flags = b.CreateAnd(b.CreateLoad(b.getInt32Ty(), saved), KILN_MXCSR_STATUS);
  b.CreateStore(b.CreateOr(flags, KILN_MXCSR), value);
  load_mxcsr(b, value);
}

void restore_float_environment(LlvmBuilder& b, llvm::Value* saved) { load_mxcsr(b, saved); }

}  // namespace kiln::compiler
