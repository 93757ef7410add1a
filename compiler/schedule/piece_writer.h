// Writes the values of one piece of a program that has loops outside of kernels: from other pieces comes what lies in a
// parameter or state, everything else is built again from its sources. Positions of loops and integers that data gives are
// symbols here. What needs index arithmetic on data outside of kernels (an element of a tensor) becomes a kernel of
// one position.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/schedule/host_times.h"

namespace kiln::compiler {

// What is the same for all pieces.
class PieceContext {
 public:
  PieceContext(Graph& graph, const Program& p, const HostTimes& when) : g(graph), program(p), times(when) { find_light(); }

  Graph& g;
  const Program& program;
  const HostTimes& times;
  std::unordered_map<Id, Id> symbols;  // position of a loop, part of an index expression -> SYM
  std::function<Id(Id)> stored;        // PARAM of a value that lies in a cell, or no_id
  std::function<Id(Id)> from_before;   // PARAM of a value of an earlier piece, which has to store it
  std::int64_t next_range = 0;

  // A number outside of kernels that kernels compute where they use it.
  bool is_lone(Id n) const { return lone_[n]; }
  // Cheaper to compute again than to keep.
  bool is_light(Id n) const { return light_[n]; }
  Id symbolic(Id expression) { return substitute(g, expression, symbols); }

 private:
  void find_light();
  bool uses_data(Id index) const;

  std::vector<bool> light_, lone_;
};

class PieceWriter {
 public:
  PieceWriter(PieceContext& c, std::uint32_t region, std::uint32_t time) : c_(c), g_(c.g), region_(region), time_(time) {}

  Id value(Id n) { return build(n, false); }
  // An index value as an i64 tensor of rank 0.
  Id number(Id index);

 private:
  using Key = std::uint64_t;
  static Key key(Id n, bool raw) { return std::uint64_t{n} << 1 | (raw ? 1 : 0); }

  Id build(Id n, bool raw);
  Id leaf(Id n);
  bool in_kernel(Id n) const { return !c_.times.is_host(n); }
  std::vector<Key> needs(Id n, bool raw) const;
  Key source(Id user, Id s) const;
  Id make(Id n, bool raw);
  Id alone(Id scalar);

  PieceContext& c_;
  Graph& g_;
  std::uint32_t region_, time_;
  std::unordered_map<Key, Id> done_;
};

}  // namespace kiln::compiler
