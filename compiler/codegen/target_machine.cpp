#include "compiler/codegen/target_machine.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/codegen/compat.h"
#include "compiler/ir/diagnostic.h"

namespace kiln::compiler {

std::unique_ptr<llvm::TargetMachine> make_target_machine(std::span<const Target> targets) {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // an fma only if the program has one
  options.UnsafeFPMath = false;
  options.FunctionSections = options.DataSections = true;  // so that the linker can drop programs that are not called
  std::string error;
  const std::string& triple = targets.front().triple;
  options.LoopAlignment = 32;  // a short loop in one cache line: else its speed depends on what the linker puts before it
  auto machine = create_target_machine(triple, "", "", options, error);
  if (machine == nullptr)
    throw Diagnostic("E-target", "", "expected a target that LLVM can generate code for, got '" + triple + "'");
  // LLVM only prints a warning for an unknown CPU.
  for (const Target& t : targets)
    if (!machine->getMCSubtargetInfo()->isCPUStringValid(t.cpu))
      throw Diagnostic("E-target", "", "expected a CPU of " + triple + ", got '" + t.cpu + "'");
  return machine;
}

void set_target_attributes(llvm::Function& f, const Target& target) {
  const std::string width = std::to_string(target.vector_bytes * 8);
  f.addFnAttr("target-cpu", target.cpu);
  if (!target.tune.empty()) f.addFnAttr("tune-cpu", target.tune);
  if (!target.features.empty()) f.addFnAttr("target-features", target.features);
  f.addFnAttr("prefer-vector-width", width);
  f.addFnAttr("min-legal-vector-width", width);
}

int vector_bits(const llvm::Function& f) { return static_cast<int>(f.getFnAttributeAsParsedInteger("prefer-vector-width")); }

std::string emit_machine_code(llvm::Module& module, llvm::TargetMachine& machine, MachineOutput output) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  const auto type = output == MachineOutput::object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    throw Diagnostic("E-target", "",
                     "expected a target that can write object files, got '" + machine.getTargetTriple().str() + "'");
  passes.run(module);
  return {bytes.begin(), bytes.end()};
}

}  // namespace kiln::compiler
