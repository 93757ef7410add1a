// DemandWalk: finds the index maps at which each tensor value is needed, and chooses the values that get a buffer.
//
// The walk goes from the stores to the parameters, in descending node id, so it knows all readers of a node when it visits the
// node. Then the cost model of staging.h decides: a staged node is computed once, over LOOP ranges of its own. Any other node
// is computed again at each of its index maps. range_assignment builds the scalar graph from the result.
#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/ir/kernel_body.h"
#include "compiler/rangeify/index_map.h"
#include "compiler/rangeify/staging.h"

namespace kiln::compiler {

using ContextId = std::uint32_t;

// One evaluation of a node: its index map, the loops around it, and its demands on its data sources.
struct Evaluation {
  MapId map = 0;
  ContextId context = 0;
  std::vector<Id> reduce_ranges;          // of a REDUCE: its new ranges
  std::vector<std::uint32_t> source_use;  // by data source: index into the source's `uses`
};

// One state of a KERNEL of the program: a buffer that begins as a copy of a tensor.
struct StateCopy {
  std::vector<Id> ranges;  // LOOP ranges of the copy, one per axis
  std::uint32_t use = 0;   // index into the `uses` of the tensor
};

struct NodeDemand {
  Id node = no_id;
  std::vector<Evaluation> uses;   // one per index map, in order of first demand
  bool staged = false;            // computed once, into a buffer
  bool stored = false;            // read by a KERNEL of the program or by a GATHER: staged at any cost
  std::vector<Id> stage_ranges;   // if staged: LOOP ranges, one per axis
  Evaluation whole;               // if staged: the evaluation over stage_ranges
  std::vector<StateCopy> states;  // of a KERNEL, one per initial tensor
};

// The sources of a tensor node that carry data (no extents, offsets or index scalars), as indices into src(). The tensor of a
// GATHER is not among them: a GATHER reads it from storage.
std::vector<std::size_t> data_sources(const Graph& g, Id node);

// The value that a tensor-level STORE gives to its parameter.
inline Id stored_value(const Graph& g, Id store) {
  const auto [param, value] = g.operands<2>(store);
  return value;
}

// Tensor-level STOREs that become one kernel.
struct StoreGroup {
  std::vector<Id> stores;
  std::vector<Id> ranges;           // LOOP ranges that the stores share, one per axis
  std::vector<std::uint32_t> uses;  // by store: index into the `uses` of its value
  bool alone = false;               // only stores of values from the same reductions may join
};

class DemandWalk {
 public:
  DemandWalk(Graph& g, const Program& p);

  // Fills nodes() with the values that the sink reaches, and groups() with the sink's stores.
  void run();

  std::vector<NodeDemand>& nodes() { return nodes_; }  // in ascending order of their ids
  const NodeDemand& of(Id node) const { return nodes_[slot_[node]]; }
  const std::vector<StoreGroup>& groups() const { return groups_; }
  const IndexMap& map(MapId m) const { return maps_[m]; }
  std::vector<Id> loop_ranges(const std::vector<Id>& extents);  // new LOOP ranges, one per extent
  KernelBody body_of(Id kernel) const { return kernel_body(g_, inside_, kernel); }
  MapRules& rules() { return rules_; }
  Shapes& shapes() { return shapes_; }
  Simplifier& simplify() { return simplify_; }

 private:
  void form_groups();
  bool leads_to(Id low, Id high) const;
  bool may_join(const StoreGroup& group, Id store, bool alone) const;
  std::vector<Id> reductions_of(Id value) const;
  bool share_reductions(Id a, Id b) const;
  std::vector<bool> reads_elsewhere(Id tensor) const;
  MapId map_over(const std::vector<Id>& ranges);
  ContextId new_context(std::vector<Id> ranges);
  std::uint32_t want(Id node, IndexMap map, ContextId context);
  void evaluate(Id node, Evaluation& e);
  void list_nodes();
  void decide(NodeDemand& d);
  void want_states(NodeDemand& kernel);
  std::size_t hoisted_depth(const Evaluation& e);
  bool widens(Id node) const;
  bool selects(Id node, MapId m);
  ValueUse use_of(const NodeDemand& d);
  bool needs_storage(const NodeDemand& d);
  struct MapFacts {
    std::vector<Id> ranges;      // RANGEs in the map's expressions
    std::size_t operations = 0;  // number of nodes of the map's expressions
    bool divides = false;        // whether an index divides
    bool divides_last = false;   // whether the index on the last axis does
    bool steps_last = false;     // whether the index on the last axis has steps of 2 or more
  };
  const MapFacts& facts_of_map(MapId m);

  Graph& g_;
  const Program& program_;
  Shapes shapes_;
  const Facts facts_;
  Simplifier simplify_;
  IndexMaps maps_;
  MapRules rules_;
  StagingModel model_;
  std::vector<Id> order_;            // values outside of kernel bodies, and KERNELs; ascending
  std::vector<bool> inside_;         // by node: whether it is in the body of a KERNEL
  std::vector<std::uint32_t> slot_;  // by node: index into nodes_
  std::vector<NodeDemand> nodes_;
  std::vector<std::vector<Id>> contexts_;                        // by ContextId: loops, outermost first
  std::unordered_map<std::uint64_t, std::uint32_t> use_of_map_;  // by slot and map: index into `uses`
  std::unordered_map<MapId, MapFacts> map_facts_;
  std::vector<StoreGroup> groups_;
  std::int64_t next_range_ = 0;
};

}  // namespace kiln::compiler
