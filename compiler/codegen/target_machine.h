// The LLVM target machine of an object, the function attributes for a Target, and the emission of machine code.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/target/target.h"

namespace kiln::compiler {

// The machine for any CPU of the targets' triple. Functions without target attributes are code for it. Throws Diagnostic
// E-target if LLVM cannot generate code for a target.
std::unique_ptr<llvm::TargetMachine> make_target_machine(std::span<const Target> targets);

void set_target_attributes(llvm::Function& f, const Target& target);
// The size of a vector register of the function's target; 0: the function has no target attributes.
int vector_bits(const llvm::Function& f);

enum class MachineOutput { object, assembly };
std::string emit_machine_code(llvm::Module& module, llvm::TargetMachine& machine, MachineOutput output);  // consumes the module

}  // namespace kiln::compiler
