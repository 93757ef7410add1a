#include "compiler/codegen/dispatch.h"

#include <cstddef>

#include <llvm/IR/IRBuilder.h>

#include "compiler/codegen/entry.h"
#include "kiln/program.h"

namespace kiln::compiler {
namespace {

using llvm::Value;

class Dispatch {
 public:
  Dispatch(llvm::Module& module, Constants& constants, std::span<llvm::GlobalVariable* const> programs, const std::string& name)
      : module_(module), name_(name), ptr_(llvm::PointerType::getUnqual(module.getContext())) {
    selected_ =
        new llvm::GlobalVariable(module, ptr_, false, llvm::GlobalValue::InternalLinkage, constants.null(), name + ".selected");
    using Row = kiln_variants;
    table_ = constants.global(constants.row<Row>({{&Row::abi_version, KILN_ABI_VERSION},
                                                  {&Row::n, programs.size()},
                                                  {&Row::list, constants.array({programs.begin(), programs.end()})},
                                                  {&Row::selected, selected_}}));
    select_ = llvm::Function::Create(llvm::FunctionType::get(ptr_, {ptr_}, false), llvm::GlobalValue::ExternalLinkage,
                                     "kiln_selected_variant", module);
    select_->addFnAttr(llvm::Attribute::NoUnwind);
  }

  void emit() {
    emit_call();
    emit_description();
    llvm::IRBuilder<> b(block(*getter("_variants"), ""));
    b.CreateRet(table_);
  }

 private:
  llvm::Function* getter(const char* suffix) {
    auto* f = llvm::Function::Create(llvm::FunctionType::get(ptr_, false), llvm::GlobalValue::ExternalLinkage, name_ + suffix,
                                     module_);
    f->addFnAttr(llvm::Attribute::NoUnwind);
    return f;
  }

  llvm::BasicBlock* block(llvm::Function& f, const char* name) {
    return llvm::BasicBlock::Create(module_.getContext(), name, &f);
  }

  // Begins the function: loads the selection, and branches.
  Value* branch_on_selection(llvm::Function& f, llvm::BasicBlock* selected, llvm::BasicBlock* first) {
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(module_.getContext(), "entry", &f, selected));
    llvm::LoadInst* program = b.CreateLoad(ptr_, selected_);
    program->setAtomic(llvm::AtomicOrdering::Monotonic);
    b.CreateCondBr(b.CreateIsNotNull(program), selected, first);
    return program;
  }

  void emit_call() {
    llvm::Function& f = *declare_entry(module_, {}, name_);
    llvm::BasicBlock *selected = block(f, "selected"), *first = block(f, "first");
    Value* program = branch_on_selection(f, selected, first);
    llvm::IRBuilder<> b(selected);
    Value* entry = b.CreateLoad(ptr_, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), program, offsetof(kiln_program_desc, entry)));
    llvm::CallInst* call = b.CreateCall(f.getFunctionType(), entry, {f.getArg(0), f.getArg(1), f.getArg(2), f.getArg(3)});
    call->setAttributes(f.getAttributes());
    call->setTailCallKind(llvm::CallInst::TCK_MustTail);
    b.CreateRetVoid();
    b.SetInsertPoint(first);
    emit_kiln_call(f, first, b.CreateCall(select_, {table_}));
  }

  void emit_description() {
    llvm::Function& f = *getter("_desc");
    llvm::BasicBlock *selected = block(f, "selected"), *first = block(f, "first");
    Value* program = branch_on_selection(f, selected, first);
    llvm::IRBuilder<> b(selected);
    b.CreateRet(program);
    b.SetInsertPoint(first);
    llvm::CallInst* call = b.CreateCall(select_, {table_});
    call->setTailCall();
    b.CreateRet(call);
  }

  llvm::Module& module_;
  const std::string& name_;
  llvm::PointerType* ptr_;
  llvm::GlobalVariable *selected_, *table_;
  llvm::Function* select_;
};

}  // namespace

void emit_dispatch(llvm::Module& module, Constants& constants, std::span<llvm::GlobalVariable* const> programs,
                   const std::string& name) {
  Dispatch(module, constants, programs, name).emit();
}

}  // namespace kiln::compiler
