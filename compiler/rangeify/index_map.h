// IndexMap: the element of a tensor at which a value is needed, as one index expression per axis and a gate.
//
// The value is not used where the gate is false, and nothing may be loaded there. Equal maps share one number (MapId), so a
// chain of elementwise operations passes one number from source to source.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/shapes.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

struct IndexMap {
  std::vector<Id> index;
  Id gate = no_id;  // bool; no_id: always
  bool operator==(const IndexMap&) const = default;
};

using MapId = std::uint32_t;

class IndexMaps {
 public:
  MapId intern(IndexMap m);
  const IndexMap& operator[](MapId id) const { return maps_[id]; }

 private:
  std::deque<IndexMap> maps_;
  std::unordered_multimap<std::uint64_t, MapId> by_hash_;
};

// Computes the index map of an operation's source from the index map of its result.
// Example: a slice with begin b and step s, needed at [i], needs its source at [b + i*s].
class MapRules {
 public:
  MapRules(Graph& g, Shapes& shapes, Simplifier& simplify) : g_(g), shapes_(shapes), simplify_(simplify) {}

  // Every movement operation but CONCAT: the map of source 0.
  IndexMap movement(Id node, const IndexMap& out);
  // UNSHEAR: the condition that the element is in the source; no_id: always true.
  Id unshear_inside(Id node, const IndexMap& out);
  // CONCAT: the map of source k.
  IndexMap concat(Id node, std::size_t k, const IndexMap& out);
  // PAD in constant mode: the condition that the element is in the source; no_id: always true.
  Id pad_inside(Id node, const IndexMap& out);
  // CONCAT: the condition that the element is before the end of source k.
  Id concat_before_end(Id node, std::size_t k, const IndexMap& out);

 private:
  IndexMap reshape(Id node, const IndexMap& out);
  IndexMap expand(Id node, const IndexMap& out);
  IndexMap slice(Id node, const IndexMap& out);
  IndexMap pad(Id node, const IndexMap& out);
  IndexMap shear(Id node, const IndexMap& out);
  IndexMap unshear(Id node, const IndexMap& out);
  Id distance(Id node, const IndexMap& out);
  Id concat_offset(Id node, std::size_t k);
  Id simple(Id expr) { return simplify_(expr); }
  Id condition(Id expr);  // simplified; no_id if it is constant true

  Graph& g_;
  Shapes& shapes_;
  Simplifier& simplify_;
};

// RESHAPE from extents `in` to extents `out`: the index on each `in` axis of the element at `index`. Axes are matched in the
// smallest groups with equal products, so divisions appear only inside a group that really splits.
// Example: from [N, 6] to [N, 2, 3], the element at [n, a, b] is at [n, 3*a + b].
std::vector<Id> reshape_index(Graph& g, Simplifier& simplify, std::span<const Id> in, std::span<const Id> out,
                              std::span<const Id> index);

}  // namespace kiln::compiler
