// A program as kernels over buffers: the data that passes exchange after host_loops, up to the lowered kernels.
//
// It is in ir/, below the passes of schedule/ and lower/ that make it, because the verifier and the text form check, write and
// read every form of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/program.h"

namespace kiln::compiler {

// A buffer of the kernel-level program. One of: a parameter; a temporary in the workspace; a view, which is a part of an input
// (a parameter and an offset); a rotating buffer, which is one of several buffers at a time.
struct Buffer {
  DType dtype = DType::f32;
  Id size = no_id;  // elements, index expression over SYMs
  int param = -1;   // parameter slot, or -1 for a temporary
  // Temporary: byte offset in the workspace (index expression, multiple of 64), set by memory_plan. View: byte offset in the
  // parameter.
  Id offset = no_id;
  // For a tile buffer (a temporary that a kernel with tile steps stores one tile at a time): elements of one tile, and elements
  // that have storage. Element i belongs to tile i / tile.
  Id tile = no_id, tile_storage = no_id;
  bool whole = false;  // stays stored (a `stage` of the program, words of DOT2): writer and readers stay apart
  int after = -1;      // until dependencies: the buffer whose memory this one takes over, after all its users have run
  // For a rotating buffer: it is buffer among[count % among.size()]. count: the SYM of a loop's number of iterations.
  std::vector<int> among = {};
  Id count = no_id;
  bool is_temporary() const { return param < 0 && among.empty(); }
  Id stored() const { return tile_storage != no_id ? tile_storage : size; }  // elements with storage
  bool operator==(const Buffer&) const = default;
};

// Most chunks of a kernel with tile buffers. Chunks may run at the same time, so each has its own tile buffers.
inline constexpr std::int64_t most_chunks = 64;

// One kernel: SINK(END(STORE(BUFFER, linear index, value [, gate]), RANGEs outermost first)...). Args of BUFFER are slots in
// `buffers`. REDUCE nodes are values (K form). ENDs with the same LOOP ranges share their loops.
//
// ENDs with different ranges are the tile steps of a fused kernel. Tile steps share only the outermost range, which counts
// tiles. For each tile the tile steps run one after the other, so a tile step may load elements that an earlier tile step
// stored for the same tile.
//
// In a kernel that the program wrote (is_explicit) the first source of an END is a state: a chain of STORE, ATOMIC and FOR
// that begins at an ENTRY.
struct Kernel {
  std::string name;  // <program>_k<number>
  Id sink = no_id;
  std::vector<int> buffers;             // by kernel slot: index into Schedule::buffers
  std::vector<std::size_t> depends_on;  // kernels that must finish first
  bool is_explicit = false;             // the program wrote it as a KERNEL: its loops stay as they are
  // Buffers whose values on entry the kernel reads before it writes them. Not set: the inout parameters among `buffers`.
  std::optional<std::vector<int>> at_entry = std::nullopt;
  int segment = 0;  // until dependencies: index into Schedule::segments
  int loop = -1;    // after dependencies: the innermost HostLoop around it
  bool operator==(const Kernel&) const = default;
};

// A loop outside of kernels. Each iteration runs the kernels of the loop and the loops inside it.
struct HostLoop {
  int parent = -1;                // the loop around it; -1: none
  Id counter = no_id;             // SYM of the counter; no_id: not used
  Id begin = no_id, end = no_id;  // index expressions, evaluated when the loop begins
  std::int64_t step = 1;
  int condition = -1;  // buffer of one bool, tested before each iteration; -1: no condition
  Id count = no_id;    // SYM of the number of iterations made; no_id: not used
  bool operator==(const HostLoop&) const = default;
};

// A part of the program without host loops, between host_loops and dependencies. Segments run one after the other. A segment
// reads parameters and states as they are when it begins.
struct Segment {
  Id sink = no_id;                 // like Program::sink, until kernel_split
  std::vector<int> reads, writes;  // parameters, ascending
  int loop = -1;
  bool operator==(const Segment&) const = default;
};

// Whether the ENDs of a kernel have different ranges.
inline bool has_tile_steps(const Graph& g, Id sink) {
  for (const Id end : g.src(sink))
    if (!std::ranges::equal(g.src(end).subspan(1), g.src(g.src(sink).front()).subspan(1))) return true;
  return false;
}

// SYMs of a lowered kernel, which are no symbols of the program. $begin, $end: the chunk of the outermost loop that a call
// of the kernel's function runs. $misaligned<slot>: the address of the slot's buffer modulo 64.
inline constexpr std::string_view misaligned_prefix = "$misaligned";
inline std::string misalignment_of(std::size_t slot) { return std::string(misaligned_prefix) + std::to_string(slot); }

// One kernel at P level: the result of lowering, the input of code generation.
struct LoweredKernel {
  Id sink = no_id;        // SINK(STORE or FOR ...); the outermost loop runs SYM("$begin")..SYM("$end")
  Id trip_count = no_id;  // iterations of the outermost loop, index expression over the program's symbols
  Id work = no_id;        // rough time of the whole kernel on one core in nanoseconds, index expression
  int alignment = 1;      // chunk bounds are multiples of this
  bool parallel = false;  // false: the loop runs as one chunk
  bool operator==(const LoweredKernel&) const = default;
};

// The state of a program between passes. Before kernel_split it has no buffers and no kernels.
struct Schedule {
  Program program;
  std::vector<Buffer> buffers;         // parameters first, in slot order
  std::vector<Kernel> kernels;         // in an order that respects depends_on
  std::vector<HostLoop> loops;         // outer before inner, in the order in which they run
  std::vector<Segment> segments;       // empty: the program is one segment
  Id workspace_bytes = no_id;          // index expression
  std::string after;                   // the last pass that has run; empty: none, or unknown
  std::vector<LoweredKernel> lowered;  // after lowering: one for each kernel, with the kernel's sink
  bool operator==(const Schedule&) const = default;
};

// Calls f with every node that a schedule names, in a fixed order. Some are no_id.
template <class S, class F>
void for_each_node(S& s, F&& f) {
  f(s.program.sink);
  f(s.workspace_bytes);
  for (auto& p : s.program.params)
    for (auto& e : p.extents) f(e);
  for (auto& b : s.buffers) {
    f(b.size);
    f(b.offset);
    f(b.tile);
    f(b.tile_storage);
    f(b.count);
  }
  for (auto& l : s.loops) {
    f(l.counter);
    f(l.begin);
    f(l.end);
    f(l.count);
  }
  for (auto& p : s.segments) f(p.sink);
  for (auto& k : s.kernels) f(k.sink);
  for (auto& l : s.lowered) {
    f(l.sink);
    f(l.trip_count);
    f(l.work);
  }
}

}  // namespace kiln::compiler
