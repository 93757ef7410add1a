// Runs captured programs with derivatives: through the importer and the interpreter, and as compiled objects.
#pragma once

#include <memory>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/ir/program.h"
#include "tests/grad/record_duals.h"
#include "tests/run/compiled.h"

namespace grad_test {

class Program {
 public:
  explicit Program(const kiln::dsl::record::program& p);
  // The parameters' values after the program, by name. Outputs need no arguments.
  Tensors interpret(const Tensors& in, const Symbols& symbols = {});
  Tensors operator()(const Tensors& in, const Symbols& symbols = {}, int workers = 1);
  // The same by both, and by three threads. The test fails unless all bits are equal.
  Tensors run(const Tensors& in, const Symbols& symbols = {});
  // Also compares each output with its value by dual numbers: |difference| <= tolerance * max(1, |value|).
  Tensors check(const Tensors& in, const Symbols& symbols = {}, double tolerance = 1e-10);
  int kernels();

 private:
  std::vector<kiln::compiler::Array> arguments(const Tensors& in, const Symbols& symbols) const;
  Tensors tensors(const std::vector<kiln::compiler::Array>& in, const std::vector<kiln::compiler::Array>& out) const;
  const kiln::compiler::testing::CompiledProgram& object();

  const kiln::dsl::record::program& record_;
  kiln::compiler::Graph graph_;
  kiln::compiler::Program program_;
  std::unique_ptr<kiln::compiler::testing::CompiledProgram> object_;
};

// The error that the compiler reports; "": none.
std::string error_of(const kiln::dsl::record::program& p);

void expect_near(const Tensor& got, const std::vector<double>& wanted, double tolerance, const std::string& what);
double norm(const Tensor& t);

}  // namespace grad_test
