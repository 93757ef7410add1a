// Rules: the operands through which each operation carries a derivative, and what the rules of one program share.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/autodiff/emit.h"
#include "compiler/ir/range_ids.h"

namespace kiln::compiler::autodiff {

// A sum of the elements of `values` at the places that integer tensors name, as in the adjoint of a GATHER: `values` has the
// shape of the GATHER's result.
struct Scatter {
  Id values;
  std::vector<Id> index;
};

// A view of windows: element (k, o) of two axes is element o * stride + k * dilation of an axis of `source`. The windows have
// axis k in the place of this axis, and o behind it.
struct Windows {
  Id source;
  std::size_t axis;
  std::int64_t stride, dilation;
  std::vector<Id> inside;  // the nodes between the source and the view
};

struct Edge {
  static constexpr std::size_t of_windows = static_cast<std::size_t>(-1);
  std::size_t place;  // of the operand; of_windows: the source of the windows
  Id from;
};

struct Rules {
  Rules(Graph& g, Id root);

  Emit e;
  RangeIds ranges;
  std::unordered_map<Id, Scatter> scatters;  // by the GET of the kernel that makes the sum
  // Scopes that forward mode has built again, and the new ones, which compute the old results too.
  std::vector<std::pair<Id, Id>> rebuilt;
  bool is_inner = false;  // whether another derivative is taken of the one that is made now

  // The operands that carry a derivative to the node. An operation without a rule lists its operands too, so that a path
  // through it is an error and not a wrong 0. Integers carry one only from the bits of a float.
  std::vector<Edge> edges(Id node) const;
  std::optional<Windows> windows(Id node);

  // The sum of s.values at s.index, of the shape and type of x: 0 elsewhere. Each element adds its terms in row-major order.
  Id scatter(const Scatter& s, Id x);

  // Whether a KERNEL owns the RANGE; whether a KERNEL owns it or is around its loop.
  bool is_of_kernel(Id range) const { return of_kernels_.contains(e.g.range_number(range)); }
  bool is_in_kernel(Id range) const { return in_kernels_.contains(e.g.range_number(range)); }
  Id fresh(Id range, Id end);  // another RANGE, for a copy of the scope

  std::int64_t new_local();   // a number that no LOCAL has
  std::int64_t new_custom();  // a number that no CUSTOM has

  std::string at(Id node) const;  // "`exp` at f.cpp:3:4"

 private:
  Id new_range(Id end, bool of_kernel);

  std::int64_t next_number(Op op, std::int64_t& next);

  std::int64_t next_local_ = -1, next_custom_ = -1;
  std::unordered_set<std::int64_t> of_kernels_, in_kernels_;  // by number of RANGE
};

// The nodes between some x and y.
class Path {
 public:
  // Windows: whether an edge may go from the source of windows to their view.
  Path(Rules& rules, Id y, std::span<const Id> xs, bool windows);

  const std::vector<Id>& nodes() const { return nodes_; }                    // sources before users; x and y included
  const std::vector<Edge>& edges(Id node) const { return edges_.at(node); }  // from nodes that depend on an x
  bool contains(Id node) const { return edges_.contains(node); }

 private:
  std::vector<Id> nodes_;
  std::unordered_map<Id, std::vector<Edge>> edges_;
};

[[noreturn]] void fail_derivative(const Graph& g, Id derivative, const std::string& text);  // E-grad

}  // namespace kiln::compiler::autodiff
