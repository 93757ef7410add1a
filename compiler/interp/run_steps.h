// Runs the steps of a program.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "compiler/interp/promises.h"
#include "compiler/interp/steps.h"
#include "compiler/interp/whole.h"

namespace kiln::compiler {

class StepRunner {
 public:
  StepRunner(const Graph& g, const StepProgram& steps, WholeEvaluator& whole);

  // Runs the root region. Returns the values of STOREs by the parameter's slot. Throws E-bounds for an index outside of its
  // axis, E-race for a store that breaks its promise of being unique.
  std::map<std::size_t, Array> run();

 private:
  using Handle = std::shared_ptr<Array>;

  void block(const Block& b);
  void scalar(const Step& s);
  void read(const Step& s);
  void write(const Write& w);
  void fresh(const Step& s);
  void whole(const Step& s);
  void store(const Step& s);
  void loop(const Scope& s);
  void kernel(const Scope& s);
  void enter(const Scope& s);
  void next_iteration(const Scope& s);

  std::int64_t integer(std::uint32_t slot) const;
  void set_integer(std::uint32_t slot, std::int64_t v);
  bool truth(std::uint32_t slot) const { return scalars_[slot].bytes[0] != std::byte{0}; }
  void assign(Place to, Use from);
  std::size_t offset(const Access& a, const Array& x) const;  // in elements
  void keep_promise(const Write& w, std::size_t element);
  void combine(const Write& w, std::byte* element);

  const Graph& g_;
  const StepProgram& steps_;
  WholeEvaluator& whole_;
  std::vector<ScalarSlot> scalars_;
  std::vector<Handle> arrays_;
  std::vector<ScalarSlot> next_scalars_;  // carried values at the end of an iteration
  std::vector<Handle> next_arrays_;
  std::map<std::size_t, Array> stored_;
  Promises of_kernel_, of_workgroup_;
  int workgroup_axes_ = 0;  // number of running loops over work items of a workgroup
};

}  // namespace kiln::compiler
