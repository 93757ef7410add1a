#include "compiler/interp/interpret.h"

#include "compiler/autodiff/differentiate.h"
#include "compiler/interp/compile_steps.h"
#include "compiler/interp/run_steps.h"

namespace kiln::compiler {

std::vector<Array> interpret(Graph& g, const Program& given, std::span<const Array> arguments) {
  Program p = given;
  differentiate(g, p);
  const auto symbols = bind_symbols(g, p, arguments);
  MathEvaluator math;
  const StepProgram steps = compile_steps(g, p.sink, symbols, math);
  WholeEvaluator whole(g, p, arguments, symbols);
  auto stored = StepRunner(g, steps, whole).run();
  std::vector<Array> out(p.params.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (p.params[i].direction == Direction::in) continue;
    if (const auto it = stored.find(i); it != stored.end())
      out[i] = std::move(it->second);
    else
      out[i] = arguments[i];
  }
  return out;
}

}  // namespace kiln::compiler
