#include "compiler/codegen/emit_either.h"

namespace kiln::compiler {

using llvm::BasicBlock;
using llvm::Value;

Value* emit_either(LlvmBuilder& b, Value* condition, llvm::function_ref<Value*()> on_true,
                   llvm::function_ref<Value*()> on_false, llvm::MDNode* weights) {
  llvm::Function* function = b.GetInsertBlock()->getParent();
  BasicBlock* yes = BasicBlock::Create(b.getContext(), "yes", function);
  BasicBlock* no = BasicBlock::Create(b.getContext(), "no", function);
  BasicBlock* either = BasicBlock::Create(b.getContext(), "either", function);
  b.CreateCondBr(condition, yes, no, weights);
  const auto side = [&](BasicBlock* block, llvm::function_ref<Value*()> emit) {
    b.SetInsertPoint(block);
    Value* value = emit();
    BasicBlock* end = b.GetInsertBlock();
    b.CreateBr(either);
    return std::pair(value, end);
  };
  const auto [one, end_of_one] = side(yes, on_true);
  const auto [other, end_of_other] = side(no, on_false);
  b.SetInsertPoint(either);
  llvm::PHINode* result = b.CreatePHI(one->getType(), 2);
  result->addIncoming(one, end_of_one);
  result->addIncoming(other, end_of_other);
  return result;
}

}  // namespace kiln::compiler
