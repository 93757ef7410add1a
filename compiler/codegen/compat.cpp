#include "compiler/codegen/compat.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Triple.h>

static_assert(LLVM_VERSION_MAJOR >= 19, "Kiln needs LLVM 19 or later");

namespace kiln::compiler {
namespace {

void register_targets() {
  static const bool once = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> create_target_machine(const std::string& triple, const std::string& cpu,
                                                           const std::string& features, const llvm::TargetOptions& options,
                                                           std::string& error) {
  register_targets();
#if LLVM_VERSION_MAJOR >= 22
  const llvm::Triple name(triple);
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(name, error);
#else
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
#endif
  if (target == nullptr) return nullptr;
#if LLVM_VERSION_MAJOR >= 21
  const llvm::Triple machine(triple);
#else
  const std::string& machine = triple;
#endif
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(machine, cpu, features, options, llvm::Reloc::PIC_));
}

void set_triple(llvm::Module& module, const llvm::TargetMachine& machine) {
#if LLVM_VERSION_MAJOR >= 21
  module.setTargetTriple(machine.getTargetTriple());
#else
  module.setTargetTriple(machine.getTargetTriple().str());
#endif
  module.setDataLayout(machine.createDataLayout());
}

}  // namespace kiln::compiler
