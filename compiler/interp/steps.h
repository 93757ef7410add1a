// A program as the interpreter runs it: each region of the graph is compiled once into a flat list of steps. Values of rank 0
// live in slots of 8 bytes, others in slots that hold an array; a write changes its array in place when no other slot holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/ir/graph.h"

namespace kiln::compiler {

struct ScalarSlot {
  alignas(8) std::byte bytes[8] = {};  // the element as in an Array; index values as i64
};

struct Place {
  std::uint32_t slot = 0;
  bool array = false;
};

// A use of a value. `last`: nothing of its region uses the value later, so that an array may be handed on.
struct Use {
  Place place;
  bool last = false;
};

struct Source {
  Place place;
  DType dtype = DType::none;
};

struct Access {  // of one element
  Id node = no_id;
  bool gated = false;
  std::uint32_t gate = 0;            // scalar slot of a bool
  std::vector<std::uint32_t> index;  // scalar slots
};

struct Write {  // UPDATE, ATOMIC
  Access at;
  Use state;
  Place result;
  DType dtype = DType::f32;
  std::uint32_t value = 0, expected = 0, old = 0;  // scalar slots
  bool atomic = false;
  AtomicKind kind = AtomicKind::add;
  bool unique = false;
  int promised = -1;      // number of the memory, where some write of it is unique
  bool of_kernel = true;  // that memory: not an array of the group
};

struct Scope {                  // FOR, KERNEL
  std::uint32_t body = 0;       // block
  std::vector<Use> init, next;  // carried values: at entry, and at the end of a turn
  std::vector<Place> carried;
  std::vector<std::uint32_t> ranges, ends;  // scalar slots; one each for a FOR
  bool parallel = false;                    // some value at the end of a turn is a carried one that has its next value by then
  std::uint32_t begin = 0;                  // FOR: scalar slot
  std::int64_t step = 1;
  bool kernel = false, conditional = false;
  bool group = false;  // FOR: over positions of a group
};

struct Step {
  enum class Kind : std::uint8_t { scalar, read, write, fresh, scope, whole, store };
  Kind kind = Kind::scalar;
  Op op = Op::CONST;                              // scalar
  DType dtype = DType::none, type = DType::none;  // scalar: of the result and of the operands
  std::uint8_t operands = 0;
  Place out;
  std::uint32_t in[3] = {};             // scalar: slots
  std::uint32_t detail = 0;             // place in accesses, writes or scopes; whole, fresh, store: the node
  Use tensor;                           // read, store
  std::vector<Source> sources;          // whole
  std::vector<std::uint32_t> released;  // arrays that nothing uses any more
};

struct Block {
  std::vector<Step> steps;
};

struct StepProgram {
  std::vector<Block> blocks;  // the first is the root region
  std::vector<Access> accesses;
  std::vector<Write> writes;
  std::vector<Scope> scopes;
  std::vector<ScalarSlot> scalars;  // initial contents: constants and symbols
  std::uint32_t arrays = 0;         // slots
  std::size_t promised = 0;         // memories with unique writes
};

}  // namespace kiln::compiler
