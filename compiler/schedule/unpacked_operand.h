// An operand of a product that pack_operands copies in each call, although a call may have few rows: product_versions gives
// such calls a version that reads the operand where it is.
#pragma once

#include <optional>
#include <span>

#include "compiler/schedule/dependencies.h"
#include "compiler/schedule/packed_operand.h"

namespace kiln::compiler {

struct Unpacked {
  std::size_t copy;  // the kernel that copies the operand
  Kernel kernel;     // k, but it reads the source of the copy
};

// k: number of a kernel that reads operand o. accesses: of each kernel of s. nullopt: the operand is no plain copy that k alone
// reads.
std::optional<Unpacked> unpacked(Graph& g, const Schedule& s, std::span<const KernelAccess> accesses, std::size_t k,
                                 const Operand& o);

}  // namespace kiln::compiler
