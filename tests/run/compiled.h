// Compiles tensor programs to objects, loads them and calls them through the C entry, as an application does.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/ir/program.h"
#include "kiln/kiln.h"
#include "tests/run/loaded_object.h"

namespace kiln::compiler::testing {

// A program as a loaded object. Throws std::runtime_error if it cannot be loaded, Diagnostic if the program is rejected.
class CompiledProgram {
 public:
  CompiledProgram(Graph& g, const Program& p, const std::vector<std::string>& variants = {"x86-64-v3"});
  CompiledProgram(const Program& p, const std::string& object);  // its symbols begin with t_

  // arguments: as for interpret(), one per parameter; `out` ones need no data. workers > 1 uses the thread pool. Parameters
  // with strides of the caller have another layout in each call (layouts.h), and bytes between elements are watched. Outputs
  // are filled with 0xa5 before the call, so that an unwritten element shows. Returns arrays like interpret().
  std::vector<Array> operator()(std::span<const Array> arguments, int workers = 1) const;
  std::string message(std::span<const Array> arguments, int workers = 1) const;  // text of the call's status
  kiln_status call(std::span<const kiln_tensor> args, const kiln_context* context) const;
  const kiln_program_desc* description() const { return description_; }
  void force(const std::string& variant);  // for later calls; throws std::runtime_error

 private:
  kiln_status run(std::vector<Array>& data, int workers) const;
  using Entry = kiln_status (*)(const kiln_tensor*, std::int32_t, const kiln_context*);
  Program program_;
  mutable std::uint64_t calls_ = 0;
  LoadedObject object_;
  Entry entry_;
  const kiln_program_desc* description_;
};

// "" if the arrays are equal bit for bit, where any NaN equals any NaN. Otherwise the first difference in words.
std::string difference(const Array& a, const Array& b);

}  // namespace kiln::compiler::testing
