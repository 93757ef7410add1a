#include "compiler/codegen/codegen.h"

#include <algorithm>
#include <exception>
#include <map>
#include <stdexcept>
#include <tuple>

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Support/thread.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/codegen/check_instructions.h"
#include "compiler/codegen/compat.h"
#include "compiler/codegen/descriptor.h"
#include "compiler/codegen/dispatch.h"
#include "compiler/codegen/entry.h"
#include "compiler/codegen/half_conversions.h"
#include "compiler/codegen/kernel.h"
#include "compiler/codegen/llvm_options.h"
#include "compiler/codegen/llvm_passes.h"
#include "compiler/codegen/target_machine.h"
#include "compiler/ir/compact.h"
#include "compiler/ir/entry_values.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {

// Some LLVM passes recurse along chains of instructions, so LLVM runs on a thread whose stack suffices for the longest accepted
// chain. Unused pages cost nothing.
constexpr unsigned stack_bytes = 512u << 20;

llvm::Function* declare_kernel(llvm::Module& module, const std::string& name) {
  llvm::LLVMContext& c = module.getContext();
  llvm::Type* ptr = llvm::PointerType::getUnqual(c);
  llvm::Type* i64 = llvm::Type::getInt64Ty(c);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(c), {ptr, ptr, i64, i64}, false);
  auto* f = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  const char* const names[] = {"buffers", "symbols", "begin", "end"};
  for (unsigned i = 0; i < 4; ++i) f->getArg(i)->setName(names[i]);
  return f;
}

void check(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(module, &stream)) throw std::logic_error("codegen: invalid LLVM IR: " + text);
}

std::string emit_copy(const llvm::Module& module, llvm::TargetMachine& machine, MachineOutput output) {
  return emit_machine_code(*llvm::CloneModule(module), machine, output);
}

// By kernel of the schedule: its function.
std::vector<llvm::Function*> emit_kernels(llvm::Module& module, const CodegenVariant& v, const std::string& symbol_prefix) {
  const SymbolIndex symbols(v.schedule.program.symbols);
  const std::vector<std::size_t> first = kernel_functions(v.graph, v.schedule, v.lowered);
  std::vector<llvm::Function*> kernels;
  for (std::size_t i = 0; i < v.lowered.size(); ++i) {
    const Kernel& kernel = v.schedule.kernels[i];
    if (first[i] < i) {
      kernels.push_back(kernels[first[i]]);
      continue;
    }
    kernels.push_back(declare_kernel(module, symbol_prefix + kernel.name + "." + v.target.name));
    Schedule alone;  // a graph of this kernel only: tables by node then have its size, not the program's
    alone.program.sink = v.lowered[i].sink;
    Id& trip_count = alone.workspace_bytes = v.lowered[i].trip_count;  // in this member, so that compact() keeps the node
    const Graph own = compact(v.graph, alone);
    set_target_attributes(*kernels.back(), v.target);  // emit_kernel() reads the attributes
    // Registers that LLVM stores on the stack are then aligned. A store across the end of a page is slow.
    kernels.back()->addFnAttr(llvm::Attribute::getWithStackAlignment(
        module.getContext(), llvm::Align(static_cast<std::uint64_t>(v.target.vector_bytes))));
    emit_kernel(*kernels.back(), own, symbols, kernel, entry_slots(v.schedule, kernel), alone.program.sink, trip_count);
    if (!v.target.has_half) expand_half_conversions(*kernels.back());
  }
  return kernels;
}

void emit_program(llvm::Module& module, std::span<const CodegenVariant> variants, const std::string& symbol_prefix) {
  const std::string name = symbol_prefix + variants.front().schedule.program.name;
  Constants constants(module);
  llvm::Constant* workspace = emit_workspace(constants, variants);
  std::vector<llvm::GlobalVariable*> programs;
  for (const CodegenVariant& v : variants) {
    const std::vector<llvm::Function*> kernels = emit_kernels(module, v, symbol_prefix);
    llvm::Function* entry = declare_entry(module, {}, name + "." + v.target.name);
    entry->setLinkage(llvm::GlobalValue::InternalLinkage);
    programs.push_back(emit_description(constants, v, kernels, entry, workspace));
    emit_entry(*entry, programs.back(), v, kernels);
    set_target_attributes(*entry, v.target);
  }
  emit_dispatch(module, constants, programs, name);
}

CodegenResult compile(std::span<const CodegenVariant> variants, const std::string& symbol_prefix, CodegenOutputs outputs) {
  llvm::LLVMContext context;
  context.setDiscardValueNames(!outputs.llvm_ir);
  std::vector<Target> targets;
  for (const CodegenVariant& v : variants) {
    check_instructions(v.graph, v.lowered, v.target);
    targets.push_back(v.target);
  }
  const std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(targets);
  llvm::Module module(variants.front().schedule.program.name, context);
  set_triple(module, *machine);
  module.setPICLevel(llvm::PICLevel::BigPIC);
  // An application keeps Intel's control-flow protection only if every object in it says that it supports it.
  if (machine->getTargetTriple().isX86())
    for (const char* const feature : {"cf-protection-branch", "cf-protection-return"})
      module.addModuleFlag(llvm::Module::Min, feature, 1);
  emit_program(module, variants, symbol_prefix);
  check(module);
  CodegenResult result;
  if (!outputs.llvm_ir && !outputs.assembly && !outputs.object) return result;
  const bool has_symbols = !variants.front().schedule.program.symbols.empty();
  set_llvm_options(has_symbols);
  run_llvm_passes(module, *machine, has_symbols);

  if (outputs.llvm_ir) llvm::raw_string_ostream(result.llvm_ir) << module;
  if (outputs.assembly) result.assembly = emit_copy(module, *machine, MachineOutput::assembly);
  if (outputs.object) result.object = emit_machine_code(module, *machine, MachineOutput::object);
  return result;
}

}  // namespace

std::vector<std::size_t> kernel_functions(const Graph& g, const Schedule& schedule, std::span<const LoweredKernel> lowered) {
  std::map<std::tuple<Id, Id, std::vector<std::size_t>, std::vector<bool>>, std::size_t> first;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < lowered.size(); ++i) {
    const std::vector<int>& buffers = schedule.kernels[i].buffers;
    // By slot: the first slot with the same buffer. It is part of the key, because code assumes that other slots do not
    // overlap.
    std::vector<std::size_t> equal_slots;
    for (const int b : buffers) equal_slots.push_back(index_at(buffers, std::ranges::find(buffers, b)));
    std::vector<bool> at_entry = entry_slots(schedule, schedule.kernels[i]);
    const Id trip_count = has_atomics(g, lowered[i].sink) ? lowered[i].trip_count : no_id;
    out.push_back(
        first.try_emplace({lowered[i].sink, trip_count, std::move(equal_slots), std::move(at_entry)}, i).first->second);
  }
  return out;
}

CodegenResult generate(std::span<const CodegenVariant> variants, const std::string& symbol_prefix, CodegenOutputs outputs) {
  for (const CodegenVariant& v : variants)
    if (v.lowered.size() != v.schedule.kernels.size())
      throw std::logic_error("codegen: one lowered kernel per kernel expected");
  CodegenResult result;
  std::exception_ptr failure;
  llvm::thread worker(std::optional<unsigned>(stack_bytes), [&] {
    try {
      result = compile(variants, symbol_prefix, outputs);
    } catch (...) {
      failure = std::current_exception();
    }
  });
  worker.join();
  if (failure != nullptr) std::rethrow_exception(failure);
  return result;
}

}  // namespace kiln::compiler
