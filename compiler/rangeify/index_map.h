// Index maps: at which element of a tensor a value is wanted. A map is one index expression per axis and a gate, a condition
// outside of which the value is not used and nothing may be loaded. Maps are interned, so an elementwise chain hands one number
// on.
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

// How one tensor operation turns the element wanted of its result into the element wanted of its source.
class MapRules {
 public:
  MapRules(Graph& g, Shapes& shapes, Simplifier& simplify) : g_(g), shapes_(shapes), simplify_(simplify) {}

  // RESHAPE, EXPAND, PERMUTE, SLICE, PAD: the map of source 0.
  IndexMap movement(Id node, const IndexMap& out);
  // CONCAT: the map of source k.
  IndexMap concat(Id node, std::size_t k, const IndexMap& out);
  // PAD in constant mode: where the source is visible; no_id: everywhere.
  Id pad_inside(Id node, const IndexMap& out);
  // CONCAT: whether the element lies before the end of source k.
  Id concat_before_end(Id node, std::size_t k, const IndexMap& out);

 private:
  IndexMap reshape(Id node, const IndexMap& out);
  IndexMap expand(Id node, const IndexMap& out);
  IndexMap slice(Id node, const IndexMap& out);
  IndexMap pad(Id node, const IndexMap& out);
  Id concat_offset(Id node, std::size_t k);
  Id simple(Id expr) { return simplify_(expr); }
  Id condition(Id expr);  // simplified; no_id when true

  Graph& g_;
  Shapes& shapes_;
  Simplifier& simplify_;
};

// Index of each `in` axis for the element at `index` of a tensor with extents `out` (equal number of elements, row-major).
// Axes are matched in the smallest groups with equal products, so division appears only inside a group that really splits.
std::vector<Id> reshape_index(Graph& g, Simplifier& simplify, std::span<const Id> in, std::span<const Id> out,
                              std::span<const Id> index);

}  // namespace kiln::compiler
