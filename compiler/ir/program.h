// What passes hand on: a program at tensor level, and the same program as kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// state: a tensor of the program's own, which its pieces read and write (see Piece); never an argument of a call.
enum class Direction : std::uint8_t { in, out, inout, state };

struct Parameter {
  std::string name;
  Direction direction = Direction::in;
  DType dtype = DType::f32;
  std::vector<Id> extents;  // index values: constants or polynomials of SYMs; rank = size()
  SourceLoc loc;
  int free_strides = 0;  // that many leading axes have strides of the caller's; the axes behind them are dense
};

// Declared facts of a symbolic extent, checked at entry and trusted after; or a number that the run sets.
struct Symbol {
  enum class Kind : std::uint8_t {
    extent,   // of an argument
    stride,   // of an axis of an argument, in elements; any sign
    turn,     // the position of a HostLoop
    element,  // of `buffer`, an i64 tensor of one element, when a kernel or loop that has the symbol begins
    count,    // of the turns that a HostLoop has made since it last began
  };
  std::string name;
  std::int64_t min = 0;
  std::int64_t max = (std::int64_t{1} << 40);
  std::int64_t multiple_of = 1;
  Kind kind = Kind::extent;
  int buffer = -1;                 // the same number as the state, while that is a parameter
  std::string min_needed_at = {};  // "kernels.cpp:12": the operation that needs `min`, where that is above the declared one
  SourceLoc loc = {};              // where a text declares it
};

// What the program says of its data itself. A call fails with the first, in this order, that does not hold.
struct DataCheck {
  std::string text;
  SourceLoc loc;
};
// The parameter of this name, after all arguments, if the program has checks: an inout i32, the least number of a check that
// failed, or no_check. The runtime holds it; it is no argument of a call.
inline constexpr const char* check_parameter = "kiln_check";
inline constexpr std::int32_t no_check = 0x7fffffff;

// Tensor level. sink = SINK(STORE(PARAM, value)...), one STORE for each out/inout parameter that is assigned; every PARAM
// node is the value at entry (snapshot), so all reads of an inout come before its write, whatever the order of kernels.
struct Program {
  std::string name;
  std::vector<Parameter> params;
  std::vector<Symbol> symbols;  // extents in order of first appearance in params, then strides, then what the run sets
  Id sink = no_id;
  std::vector<DataCheck> checks;

  bool is_argument(const Parameter& p) const {
    return p.direction != Direction::state && (checks.empty() || p.name != check_parameter);
  }
};

// A buffer of the kernel-level program: a parameter, a temporary in the workspace arena, (with a parameter and an offset) a
// view of an input from there on, or a role, which one of several buffers has at a time.
struct Buffer {
  DType dtype = DType::f32;
  Id size = no_id;    // elements, index expression over SYMs
  int param = -1;     // parameter slot, or -1 for a temporary
  Id offset = no_id;  // temporaries: byte offset in the workspace (index expression, multiple of 64); set by the memory plan.
                      // Views: in the parameter
  // Of a temporary that one kernel with phases keeps for a turn at a time: elements of one turn, and those that have storage.
  // Element i belongs to turn i / window.
  Id window = no_id, kept = no_id;
  bool whole = false;  // the program wants it so: its writer and its readers are different kernels
  int after = -1;      // until dependencies: the buffer whose memory goes on as this one, once everything that uses it has run
  // Of a role: it is buffer among[count % among.size()], with the SYM of a loop's count of turns.
  std::vector<int> among = {};
  Id count = no_id;
  bool is_temporary() const { return param < 0 && among.empty(); }
  Id stored() const { return kept != no_id ? kept : size; }  // elements
};

// Chunks of a kernel with windows that may run at the same time; each has a window of its own.
inline constexpr std::int64_t most_chunks = 64;

// One kernel: SINK(END(STORE(BUFFER, linear index, value [, gate]), RANGEs outermost first)...).
// BUFFER args are slots into `buffers`. REDUCE nodes are still values (K form). ENDs with the same LOOP ranges share their
// loops. Where they differ the kernel has phases: they share the outermost range only, its turns; in each turn the phases run
// one after the other, so that a later one may load what an earlier one stored in the same turn.
// One that the program wrote itself (is_own) ends states instead: chains of STORE, ATOMIC and FOR that begin at an ENTRY.
struct Kernel {
  std::string name;  // <program>_k<number>
  Id sink = no_id;
  std::vector<int> buffers;     // kernel slot -> index into Schedule::buffers
  std::vector<int> depends_on;  // kernels that must finish first
  bool is_own = false;          // a KERNEL of the program: its loops stay as they are
  // Of the buffers, those of which it reads what they were before it writes them. Unset: the inout parameters.
  std::optional<std::vector<int>> at_entry = std::nullopt;
  int piece = 0;  // until dependencies: index into Schedule::pieces
  int loop = -1;  // from then on: the innermost HostLoop around it
};

// A loop outside of kernels: runs the kernels of the loop, and the loops in it, for each position.
struct HostLoop {
  int parent = -1;                // the loop around it
  Id turn = no_id;                // SYM of the position; no_id where nobody asks
  Id begin = no_id, end = no_id;  // index expressions, evaluated when the loop begins
  std::int64_t step = 1;
  int condition = -1;  // buffer of one bool: a turn begins only while it is true
  Id count = no_id;    // SYM of the turns made; no_id where nobody asks
};

// Between host_loops and dependencies: what runs in one go, one after the other. A piece reads parameters and states as they
// are when it begins.
struct Piece {
  Id sink = no_id;                 // as a program's, until kernel_split
  std::vector<int> reads, writes;  // parameters, ascending
  int loop = -1;
};

// Whether the ENDs of a kernel have different ranges.
inline bool has_phases(const Graph& g, Id sink) {
  for (const Id end : g.src(sink))
    if (!std::ranges::equal(g.src(end).subspan(1), g.src(g.src(sink, 0)).subspan(1))) return true;
  return false;
}

// What lowering hands to code generation: one kernel at P level.
struct LoweredKernel {
  Id sink = no_id;        // SINK(STORE or FOR ...); the outermost loop runs SYM("$begin")..SYM("$end")
  Id trip_count = no_id;  // iterations of the outermost loop, index expression over the program's symbols
  Id work = no_id;        // rough cost of the whole kernel in scalar operations, index expression
  int alignment = 1;      // chunk bounds are multiples of this
  bool parallel = false;  // false: the loop must run in one call
};

// A program on its way through the passes. Until kernel_split has run it is `program` alone.
struct Schedule {
  Program program;
  std::vector<Buffer> buffers;         // parameters first, in slot order
  std::vector<Kernel> kernels;         // in an order that respects depends_on
  std::vector<HostLoop> loops;         // outer ones first, in the order in which they run
  std::vector<Piece> pieces;           // none: the program is one piece
  Id workspace_bytes = no_id;          // index expression
  std::string after;                   // the last pass that has run; empty before the first, and where nobody said
  std::vector<LoweredKernel> lowered;  // after lowering, one for each kernel, with the same sink as the kernel
};

// Calls f with every node that a schedule names, in a fixed order; some are no_id.
template <class S, class F>
void for_each_node(S& s, F&& f) {
  f(s.program.sink);
  f(s.workspace_bytes);
  for (auto& p : s.program.params)
    for (auto& e : p.extents) f(e);
  for (auto& b : s.buffers) {
    f(b.size);
    f(b.offset);
    f(b.window);
    f(b.kept);
    f(b.count);
  }
  for (auto& l : s.loops) {
    f(l.turn);
    f(l.begin);
    f(l.end);
    f(l.count);
  }
  for (auto& p : s.pieces) f(p.sink);
  for (auto& k : s.kernels) f(k.sink);
  for (auto& l : s.lowered) {
    f(l.sink);
    f(l.trip_count);
    f(l.work);
  }
}

}  // namespace kiln::compiler
