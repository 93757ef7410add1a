#include "compiler/codegen/llvm_options.h"

#include <llvm/Support/CommandLine.h>

namespace kiln::compiler {
namespace {

void set(const char* name, const char* value) {
  auto& options = llvm::cl::getRegisteredOptions();
  const auto it = options.find(name);
  if (it == options.end()) return;  // another release of LLVM: the code is right, but slower
  it->second->reset();              // LLVM rejects a second occurrence of an option
  it->second->addOccurrence(0, it->first(), value);
}

}  // namespace

void set_llvm_options(bool has_symbols) {
  // LLVM's machine scheduler compares each memory access of a block with all earlier accesses that may alias, back to the last
  // barrier. This option says after how many accesses it makes a barrier. Its default of 1000 costs 2 ms for each store of a
  // long block.
  set("dag-maps-huge-region", "200");
  // Strength reduction gives each row of a tile a pointer that advances. With strides that are no constants, such pointers do
  // not fit the registers: each step of a loop then adds to 30 of them in memory.
  set("disable-lsr", has_symbols ? "true" : "false");
  // Sums of symbolic extents are trees with a branch for each leaf. Sinking moves the additions of a tree behind all of its
  // branches, so that the leaves wait in memory.
  set("disable-machine-sink", has_symbols ? "true" : "false");
}

}  // namespace kiln::compiler
