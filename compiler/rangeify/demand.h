// The walk from outputs to inputs that range assignment and staging share: for every tensor node, at which index maps it is
// wanted. Nodes are visited in descending id, so all readers of a node are known when its own turn comes; then the staging
// model decides whether the node gets a buffer (it restarts with fresh LOOP ranges) or is recomputed at each map.
#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/rangeify/index_map.h"
#include "compiler/rangeify/kernel_body.h"
#include "compiler/rangeify/staging.h"

namespace kiln::compiler {

using ContextId = std::uint32_t;

// One evaluation of a node: where, inside which loops, and what it needs of its data sources.
struct Evaluation {
  MapId map = 0;
  ContextId context = 0;
  std::vector<Id> reduce_ranges;          // of a REDUCE
  std::vector<std::uint32_t> source_use;  // per data source: number of the demand in the source's list
};

// The storage that a KERNEL of the program updates begins as a copy of a tensor.
struct StateCopy {
  std::vector<Id> ranges;
  std::uint32_t use = 0;  // number of the demand in the tensor's list
};

struct NodeDemand {
  Id node = no_id;
  std::vector<Evaluation> uses;  // one per index map, in order of first demand
  bool staged = false;
  bool stored = false;            // read by a KERNEL of the program or by GATHER: staged whatever it costs
  std::vector<Id> stage_ranges;   // staged: LOOP ranges, one per axis
  Evaluation whole;               // staged: the evaluation over them
  std::vector<StateCopy> states;  // of a KERNEL
};

// Sources of a tensor node that carry data (not extents, offsets or index scalars), as positions in src().
std::vector<std::size_t> data_sources(const Graph& g, Id node);

struct StoreGroup {
  std::vector<Id> stores;  // tensor-level STOREs that share their loops
  std::vector<Id> ranges;
  std::vector<std::uint32_t> uses;  // per store: number of the demand in its value's list
};

class DemandWalk {
 public:
  DemandWalk(Graph& g, const Program& p);

  // Fills nodes() for everything under the sink; groups are the kernels that write parameters.
  void run();

  std::vector<NodeDemand>& nodes() { return nodes_; }  // ascending node ids
  const NodeDemand& of(Id node) const { return nodes_[slot_[node]]; }
  const std::vector<StoreGroup>& groups() const { return groups_; }
  const IndexMap& map(MapId m) const { return maps_[m]; }
  std::vector<Id> loop_ranges(const std::vector<Id>& extents);  // fresh
  KernelBody body_of(Id kernel) const { return kernel_body(g_, inside_, kernel); }
  MapRules& rules() { return rules_; }
  Shapes& shapes() { return shapes_; }
  Simplifier& simplify() { return simplify_; }

 private:
  void form_groups();
  bool leads_to(Id low, Id high) const;
  bool may_join(const StoreGroup& group, Id store) const;
  std::vector<bool> depends_on(Id node) const;
  MapId map_over(const std::vector<Id>& ranges);
  ContextId new_context(std::vector<Id> ranges);
  std::uint32_t want(Id node, IndexMap map, ContextId context);
  void evaluate(Id node, Evaluation& e);
  void list_nodes();
  void decide(NodeDemand& d);
  void want_states(NodeDemand& kernel);
  std::size_t hoisted_depth(const Evaluation& e);
  ValueUse use_of(const NodeDemand& d);
  struct MapFacts {
    std::vector<Id> ranges;      // used
    std::size_t operations = 0;  // written out
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
  std::vector<Id> order_;            // ascending
  std::vector<bool> inside_;         // by node: in the body of a KERNEL
  std::vector<std::uint32_t> slot_;  // node -> position in nodes_
  std::vector<NodeDemand> nodes_;
  std::vector<std::vector<Id>> contexts_;
  std::unordered_map<std::uint64_t, std::uint32_t> use_of_map_;  // (slot, map) -> number in uses
  std::unordered_map<MapId, MapFacts> map_facts_;
  std::vector<StoreGroup> groups_;
  std::int64_t next_range_ = 0;
};

}  // namespace kiln::compiler
