// A program in the form that the interpreter runs: a flat list of steps for each region of the graph. A value of rank 0 is
// stored in a slot of 8 bytes, any other value in a slot with an array. A write changes its array in place if no other slot
// shares the array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/ir/graph.h"

namespace kiln::compiler {

struct ScalarSlot {
  alignas(8) std::byte bytes[8] = {};  // the element in the form of Array::data; index values as i64
};

struct Place {
  std::uint32_t slot = 0;
  bool array = false;
};

// A use of a value. last: no later node of its region uses the value, so the user may reuse the array.
struct Use {
  Place place;
  bool last = false;
};

struct Source {
  Place place;
  DType dtype = DType::none;
};

struct Access {  // access to one element
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
  std::optional<std::size_t> promised;  // number of the memory if some write to it is promised to be unique
  bool of_kernel = true;                // whether that memory belongs to the kernel; false: an array of the workgroup
};

struct Scope {                  // FOR, KERNEL
  std::uint32_t body = 0;       // block
  std::vector<Use> init, next;  // carried values: at entry, and at the end of an iteration
  std::vector<Place> carried;
  std::vector<std::uint32_t> ranges, ends;  // scalar slots; a FOR has one of each
  bool parallel = false;                    // carried values must be assigned at once, because one is the next value of another
  std::uint32_t begin = 0;                  // FOR: scalar slot
  std::int64_t step = 1;
  bool kernel = false, conditional = false;
  bool workgroup = false;  // a FOR over work items of a workgroup
};

struct Step {
  enum class Kind : std::uint8_t { scalar, read, write, fresh, scope, whole, store };
  Kind kind = Kind::scalar;
  Op op = Op::CONST;                              // scalar
  DType dtype = DType::none, type = DType::none;  // scalar: dtypes of the result and of the operands
  std::uint8_t operands = 0;
  Place out;
  std::uint32_t in[3] = {};             // scalar: slots
  std::uint32_t detail = 0;             // index into accesses, writes or scopes; whole, fresh, store: the node
  Use tensor;                           // read, store
  std::vector<Source> sources;          // whole
  std::vector<std::uint32_t> released;  // array slots that are dead after this step
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
  std::uint32_t arrays = 0;         // number of array slots
  std::size_t promised = 0;         // number of memories with writes that are promised to be unique
};

}  // namespace kiln::compiler
