// A program at tensor level: parameters, symbols, checks of data, and the graph that computes the results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/nth.h"
#include "kiln/program.h"

namespace kiln::compiler {

// state: an internal tensor that the program's segments read and write (see Segment); never an argument of a call.
enum class Direction : std::uint8_t { in = KILN_IN, out = KILN_OUT, inout = KILN_INOUT, state };

struct Parameter {
  std::string name;
  Direction direction = Direction::in;
  DType dtype = DType::f32;
  std::vector<Id> extents;  // index values: constants or polynomials of SYMs; rank = size()
  SourceLoc loc;
  int free_strides = 0;  // number of leading axes with strides of the caller; the other axes are dense
  bool operator==(const Parameter&) const = default;
};

// The number of the parameter that a PARAM reads. Its buffer has the same number.
inline int parameter_of(const Graph& g, Id param) { return narrow<int>(g.slot(param)); }

// A symbolic extent with its declared facts, which the entry check ensures and passes may trust. Other kinds of symbols are
// strides, and numbers that the runtime sets while the program runs.
struct Symbol {
  enum class Kind : std::uint8_t {
    extent,   // extent of an argument
    stride,   // stride of an argument's axis, in elements; any sign
    counter,  // counter of a HostLoop
    element,  // element of `buffer`, an i64 tensor of one element, read before a kernel or loop that uses the symbol
    count,    // number of iterations that a HostLoop has made since it began
  };
  std::string name;
  std::int64_t min = 0;
  std::int64_t max = (std::int64_t{1} << 40);
  std::int64_t multiple_of = 1;
  Kind kind = Kind::extent;
  int buffer = -1;                 // for `element`: index into Schedule::buffers, or of the parameter before there are buffers
  std::string min_needed_at = {};  // "kernels.cpp:12": the operation that raised `min` above the declared minimum
  SourceLoc loc = {};              // the declaration in a text
  bool operator==(const Symbol&) const = default;
};

// A condition on data that the program itself states. A call fails with the first check that does not hold.
struct DataCheck {
  std::string text;
  SourceLoc loc;
  bool operator==(const DataCheck&) const = default;
};
// A program with checks has one more parameter after its arguments, of this name: an inout i32 with the least number of a
// failed check, or no_check. The runtime owns the parameter; it is not an argument of a call.
inline constexpr const char* check_parameter = "kiln_check";
inline constexpr std::int32_t no_check = KILN_NO_CHECK;

// A program at tensor level. sink = SINK(STORE(PARAM, value)...), one STORE for each out or inout parameter that is assigned. A
// PARAM node is the value at entry (a snapshot), so reads of an inout see its old value in any order of kernels.
struct Program {
  std::string name;
  std::vector<Parameter> params;
  std::vector<Symbol> symbols;  // extents in order of first use in params, then strides, then symbols that the run sets
  Id sink = no_id;
  std::vector<DataCheck> checks;

  bool is_argument(const Parameter& p) const {
    return p.direction != Direction::state && (checks.empty() || p.name != check_parameter);
  }
  bool operator==(const Program&) const = default;
};

}  // namespace kiln::compiler
