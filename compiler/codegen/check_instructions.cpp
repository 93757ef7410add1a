#include "compiler/codegen/check_instructions.h"

#include <string>
#include <vector>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/index_poly.h"

namespace kiln::compiler {
void check_instructions(const Graph& g, std::span<const LoweredKernel> lowered, const Target& target) {
  if (target.has_fma) return;
  std::vector<Id> sinks;
  for (const LoweredKernel& l : lowered) sinks.push_back(l.sink);
  for (const Id id : g.reachable(sinks))
    if (g.op(id) == Op::FMA && is_float(g.dtype(id)))
      throw Diagnostic("E-target", where(g, g.loc(id)),
                       "expected a variant whose CPU has fma, of which this operation consists, got " + target.name);
}

}  // namespace kiln::compiler
