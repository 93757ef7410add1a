// SegmentWriter: writes the values of one segment of a program with host loops.
//
// A value of another segment is read from its parameter or state, or built again if that is cheap. All other values are built
// from their operands.
// Loop counters and integers from data are symbols here. A scalar outside of kernels that depends on an element of a tensor
// becomes a kernel with one work item.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/schedule/host_times.h"

namespace kiln::compiler {

// Data that all segments of a program share.
class SegmentContext {
 public:
  SegmentContext(Graph& graph, const Program& p, const HostTimes& when) : g(graph), program(p), times(when) { find_light(); }

  Graph& g;
  const Program& program;
  const HostTimes& times;
  std::unordered_map<Id, Id> symbols;  // host loop's RANGE, or data-dependent part of an index -> SYM
  std::function<Id(Id)> stored;        // the PARAM whose buffer has the value; no_id: no buffer
  std::function<Id(Id)> from_before;   // the PARAM of the state in which an earlier segment stores the value
  std::int64_t next_range = 0;         // the next unused RANGE id

  // Whether n is a scalar outside of kernels that depends on elements of tensors. Kernels that use it compute it in place.
  bool is_lone(Id n) const { return lone_[n]; }
  // Whether a value is cheaper to compute again than to store.
  bool is_light(Id n) const { return light_[n]; }
  Id symbolic(Id expression) { return substitute(g, expression, symbols); }

 private:
  void find_light();
  bool uses_data(Id index) const;

  std::vector<bool> light_, lone_;
};

class SegmentWriter {
 public:
  SegmentWriter(SegmentContext& c, std::uint32_t region, std::uint32_t time) : c_(c), g_(c.g), region_(region), time_(time) {}

  Id value(Id n) { return build(n, false); }
  // An index value, as an i64 tensor of rank 0.
  Id number(Id index);

 private:
  // A node, and whether it is built raw. A lone scalar can be built in two ways. Raw, it is arithmetic that its user repeats.
  // Otherwise it is the result of a kernel with one work item.
  using Key = std::uint64_t;
  static Key key(Id n, bool raw) { return std::uint64_t{n} << 1 | (raw ? 1 : 0); }

  Id build(Id n, bool raw);
  Id leaf(Id n);
  bool in_kernel(Id n) const { return !c_.times.is_host(n); }
  std::vector<Key> needs(Id n, bool raw) const;
  Key source(Id user, Id s) const;
  Id make(Id n, bool raw);
  Id alone(Id scalar);

  SegmentContext& c_;
  Graph& g_;
  std::uint32_t region_, time_;
  std::unordered_map<Key, Id> done_;
};

}  // namespace kiln::compiler
