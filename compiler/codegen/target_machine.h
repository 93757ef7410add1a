// The LLVM target machine of a Target, the function attributes for it, and the emission of machine code.
#pragma once

#include <memory>
#include <string>

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/target/target.h"

namespace kiln::compiler {

// Throws Diagnostic E-target if LLVM cannot generate code for the target.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target& target);

void set_target_attributes(llvm::Function& f, const Target& target);

enum class MachineOutput { object, assembly };
std::string emit_machine_code(llvm::Module& module, llvm::TargetMachine& machine, MachineOutput output);  // consumes the module

}  // namespace kiln::compiler
