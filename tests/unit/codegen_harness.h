// Builds P-level programs by hand, compiles and loads them, and calls their kernels.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/codegen/codegen.h"
#include "kiln/kiln.h"
#include "tests/run/loaded_object.h"

namespace kiln::compiler::test {

class HandProgram {
 public:
  explicit HandProgram(std::string name) { schedule.program.name = std::move(name); }

  int param(std::string name, DType d, Direction direction, Id extent) {
    const int slot = static_cast<int>(schedule.buffers.size());
    schedule.program.params.push_back({std::move(name), direction, d, {extent}, {}});
    schedule.buffers.push_back({d, extent, slot, no_id});
    return slot;
  }

  Id symbol(const std::string& name) {
    schedule.program.symbols.push_back({name, 0, std::int64_t{1} << 40, 1});
    return g.sym(name);
  }

  // Adds a kernel over all buffers. Slot i is buffer i.
  void kernel(std::initializer_list<Id> effects, Id trip_count, int alignment = 1) {
    Kernel k;
    k.name = schedule.program.name + "_k" + std::to_string(schedule.kernels.size());
    for (std::size_t i = 0; i < schedule.buffers.size(); ++i) k.buffers.push_back(static_cast<int>(i));
    k.sink = g.make(Op::SINK, DType::none, effects);
    lowered.push_back({k.sink, trip_count, trip_count, alignment, true});
    schedule.kernels.push_back(std::move(k));
  }

  Id buffer(int slot) { return g.make(Op::BUFFER, schedule.buffers[static_cast<std::size_t>(slot)].dtype, {}, {slot}); }
  Id range(Id end) { return g.make(Op::RANGE, DType::index, {end}, {next_range++, 0}); }
  Id op(Op o, DType d, std::initializer_list<Id> src, std::initializer_list<std::int64_t> args = {}, int lanes = 1) {
    return g.make(o, d, src, args, {}, lanes);
  }
  Id index_op(Op o, Id a, Id b) { return op(o, DType::index, {a, b}); }
  Id ramp(Id base, int lanes, std::int64_t stride = 1) { return op(Op::RAMP, DType::index, {base}, {stride}, lanes); }

  Id load(int slot, Id index) { return g.make(Op::LOAD, dtype(slot), {buffer(slot), index}, {}, {}, g.lanes(index)); }
  Id load(int slot, Id index, Id alt, Id gate) {
    return g.make(Op::LOAD, dtype(slot), {buffer(slot), index, alt, gate}, {}, {}, g.lanes(index));
  }
  Id store(int slot, Id index, Id value) { return op(Op::STORE, DType::none, {buffer(slot), index, value}); }
  Id store(int slot, Id index, Id value, Id gate) { return op(Op::STORE, DType::none, {buffer(slot), index, value, gate}); }

  Id loop(Id r, Id begin, Id end, std::int64_t step, const std::vector<Id>& init, const std::vector<Id>& yield,
          const std::vector<Id>& effects) {
    std::vector<Id> src{r, begin, end};
    for (const auto* part : {&init, &yield, &effects}) src.insert(src.end(), part->begin(), part->end());
    const std::int64_t args[] = {static_cast<std::int64_t>(init.size()), step};
    return g.make(Op::FOR, DType::none, src, args);
  }
  Id carry(Id r, Id init, int i) { return g.make(Op::CARRY, g.dtype(init), {r, init}, {i}, {}, g.lanes(init)); }
  Id get(Id loop_node, DType d, int i, int lanes = 1) { return op(Op::GET, d, {loop_node}, {i}, lanes); }

  DType dtype(int slot) const { return schedule.buffers[static_cast<std::size_t>(slot)].dtype; }

  Graph g;
  Schedule schedule;
  std::vector<LoweredKernel> lowered;
  std::int64_t next_range = 0;
};

inline CodegenResult compile(HandProgram& p, CodegenOutputs outputs = {}, const Target& target = {}) {
  const CodegenVariant variant{target, p.g, p.schedule, p.lowered};
  return generate({&variant, 1}, "", outputs);
}

// The program's object, loaded into this process.
class Loaded {
 public:
  explicit Loaded(HandProgram& p, const Target& target = {}) : Loaded(compile(p, {}, target).object, p.schedule.program.name) {}
  Loaded(const std::string& bytes, const std::string& name)
      : object(bytes), desc(reinterpret_cast<const kiln_program_desc* (*)()>(object.symbol(name + "_desc"))()) {}

  void run(int kernel, std::vector<void*> buffers, std::vector<std::int64_t> symbols, std::int64_t begin,
           std::int64_t end) const {
    desc->kernels[kernel].fn(buffers.data(), symbols.data(), begin, end);
  }

  const testing::LoadedObject object;
  const kiln_program_desc* desc;
};

}  // namespace kiln::compiler::test
