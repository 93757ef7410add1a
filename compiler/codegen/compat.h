// Hides everything that differs between LLVM versions (19 and later).
#pragma once

#include <memory>
#include <string>

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace kiln::compiler {

// The machine for a triple; null and a message in `error` if LLVM was built without it.
std::unique_ptr<llvm::TargetMachine> create_target_machine(const std::string& triple, const std::string& cpu,
                                                           const std::string& features, const llvm::TargetOptions& options,
                                                           std::string& error);

void set_triple(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace kiln::compiler
