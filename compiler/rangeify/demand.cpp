#include "compiler/rangeify/demand.h"

#include "compiler/ir/nth.h"
#include "compiler/ir/reduce_identity.h"
#include "compiler/ir/remark.h"

#include <algorithm>

namespace kiln::compiler {

std::vector<std::size_t> data_sources(const Graph& g, Id node) {
  const Op op = g.op(node);
  std::size_t n = 0;
  if (is_elementwise(op) || op == Op::CONCAT || op == Op::REDUCE || op == Op::STAGE)
    n = g.src(node).size();
  else if (op == Op::PAD)
    n = g.pad_mode(node) == PadMode::constant ? 2 : 1;
  else if (is_movement(op))
    n = 1;
  std::vector<std::size_t> out;
  if (op == Op::GATHER)  // source 0, the tensor, is read from storage
    for (std::size_t i = 1; i < g.src(node).size(); ++i) out.push_back(i);
  for (std::size_t i = 0; i < n; ++i)
    if (g.dtype(g.src(node, i)) != DType::index) out.push_back(i);
  return out;
}

// False for parameters and for results of KERNELs, which have storage already.
static bool may_be_stored(Op op) { return op != Op::PARAM && op != Op::GET; }

// Movement operations only rename the elements of their source. If a buffer pays off, the source gets it.
static bool may_stage(Op op) {
  return may_be_stored(op) && op != Op::CONST && op != Op::RESHAPE && op != Op::PERMUTE && op != Op::EXPAND && op != Op::PAD &&
         op != Op::SHEAR;
}

DemandWalk::DemandWalk(Graph& g, const Program& p)
    : g_(g), program_(p), shapes_(g), facts_(facts_of(p)), simplify_(g, facts_), rules_(g, shapes_, simplify_), model_(g, p) {}

std::vector<Id> DemandWalk::loop_ranges(const std::vector<Id>& extents) {
  std::vector<Id> ranges;
  for (Id e : extents) ranges.push_back(g_.range(e, next_range_++, RangeKind::loop));
  return ranges;
}

MapId DemandWalk::map_over(const std::vector<Id>& ranges) {
  IndexMap m;
  for (Id r : ranges) m.index.push_back(g_.is_index_const(g_.end(r), 1) ? g_.index(0) : r);
  return maps_.intern(std::move(m));
}

ContextId DemandWalk::new_context(std::vector<Id> ranges) {
  contexts_.push_back(std::move(ranges));
  return static_cast<ContextId>(contexts_.size() - 1);
}

std::uint32_t DemandWalk::want(Id node, IndexMap map, ContextId context) {
  if (map.index.size() != shapes_(node).size()) map.index.clear();  // a scalar operand of an elementwise operation
  const MapId m = maps_.intern(std::move(map));
  NodeDemand& d = nodes_[slot_[node]];
  const std::uint64_t key = std::uint64_t{slot_[node]} << 32 | m;
  const auto [it, fresh] = use_of_map_.emplace(key, static_cast<std::uint32_t>(d.uses.size()));
  if (fresh) {
    d.uses.push_back({m, context, {}, {}});
  } else if (Evaluation& e = d.uses[it->second]; contexts_[e.context].size() < contexts_[context].size()) {
    e.context = context;  // the deepest reader determines how often the value would be computed again
  }
  return it->second;
}

void DemandWalk::evaluate(Id node, Evaluation& e) {
  const IndexMap out = maps_[e.map];
  const Op op = g_.op(node);
  ContextId context = e.context;
  IndexMap in = out;
  if (op == Op::REDUCE) {
    const std::vector<Id> extents = shapes_.of(g_.data(node));
    std::vector<Id> nest = contexts_[context];
    nest.resize(hoisted_depth(e));
    for (std::size_t a = 1; a < g_.args(node).size(); ++a) {
      const std::size_t axis = g_.slot(node, a);
      const Id r = g_.range(extents[axis], next_range_++, RangeKind::reduce);
      e.reduce_ranges.push_back(r);
      nest.push_back(r);
      in.index.insert(in.index.begin() + static_cast<std::ptrdiff_t>(axis), r);
    }
    context = new_context(std::move(nest));
  } else if (is_movement(op) && op != Op::CONCAT) {
    in = rules_.movement(node, out);
  } else if (op == Op::GATHER) {  // the axes of the index tensors come first
    const Id x = g_.data(node);
    in.index.resize(out.index.size() + g_.src(node).size() - 1 - shapes_.of(x).size());
    if (may_be_stored(g_.op(x))) nodes_[slot_[x]].stored = true;
  }
  for (std::size_t i : data_sources(g_, node)) {
    const Id s = g_.src(node, i);
    if (op == Op::CONCAT)
      e.source_use.push_back(want(s, rules_.concat(node, i, out), context));
    else if (op == Op::PAD && i == 1)
      e.source_use.push_back(want(s, {{}, out.gate}, context));
    else
      e.source_use.push_back(want(s, in, context));
  }
}

const DemandWalk::MapFacts& DemandWalk::facts_of_map(MapId m) {
  const auto [it, fresh] = map_facts_.try_emplace(m);
  if (!fresh) return it->second;
  std::vector<Id> roots = maps_[m].index;
  if (maps_[m].gate != no_id) roots.push_back(maps_[m].gate);
  const std::vector<Id> nodes = g_.reachable(roots);
  it->second.operations = nodes.size();
  it->second.divides = divides_index(g_, maps_[m].index);
  it->second.divides_last = it->second.divides && divides_index(g_, std::span(maps_[m].index).last(1));
  it->second.steps_last = !maps_[m].index.empty() && has_steps(g_, std::span(maps_[m].index).last(1));
  for (const Id id : nodes)
    if (g_.op(id) == Op::RANGE) it->second.ranges.push_back(id);
  return it->second;
}

// The number of loops around an evaluation after hoisting it out of the inner loops that it does not use. Nothing is hoisted
// out of the outermost loop, because chunks of that loop run on different threads.
std::size_t DemandWalk::hoisted_depth(const Evaluation& e) {
  const std::vector<Id>& loops = contexts_[e.context];
  const std::vector<Id>& used = facts_of_map(e.map).ranges;
  std::size_t depth = loops.size();
  while (depth > 0 && std::ranges::find(used, loops[depth - 1]) == used.end()) --depth;
  const auto outermost = std::ranges::find_if(loops, [&](Id r) { return !g_.is_index_const(g_.end(r), 1); });
  return std::max(depth, outermost == loops.end() ? 0 : index_at(loops, outermost) + 1);
}

// Whether the node casts to larger elements. The source takes less memory.
bool DemandWalk::widens(Id node) const {
  return g_.op(node) == Op::CAST && may_stage(g_.op(g_.src(node, 0))) &&
         bytes(g_.dtype(node)) > bytes(g_.dtype(g_.src(node, 0)));
}

// Whether the place of an element of the node is found by comparisons or divisions.
bool DemandWalk::selects(Id node, MapId m) {
  const Op op = g_.op(node);
  if (op == Op::CONCAT) return true;
  if (op == Op::PAD) return g_.pad_mode(node) != PadMode::constant;
  return op == Op::RESHAPE && !facts_of_map(m).divides && divides_index(g_, rules_.movement(node, maps_[m]).index);
}

ValueUse DemandWalk::use_of(const NodeDemand& d) {
  ValueUse u;
  u.maps = d.uses.size();
  const std::vector<Id> extents = shapes_.of(d.node);
  u.elements = model_.elements(extents);
  u.is_symbolic = model_.is_symbolic(extents);
  u.bytes = bytes(g_.dtype(d.node));
  u.is_partial = model_.is_partial(d.node);
  const bool is_merged = u.is_partial && is_orderless(g_.reduce_kind(d.node), g_.dtype(d.node));  // by simplify_ranges
  for (const Evaluation& e : d.uses) {
    u.index_operations = std::max(u.index_operations, facts_of_map(e.map).operations);
    const std::size_t depth = hoisted_depth(e);
    const std::vector<Id>& ranges = facts_of_map(e.map).ranges;
    u.hoisted += model_.evaluations(model_.cost(d.node), std::span(contexts_[e.context]).first(depth), ranges);
    u.in_reduction = u.in_reduction || (!is_merged && has_reduce_range(g_, ranges));
    u.splits_columns = u.splits_columns || facts_of_map(e.map).divides_last;
    u.is_strided = u.is_strided || facts_of_map(e.map).steps_last;
    u.selects = u.selects || selects(d.node, e.map);
    u.is_hoisted = u.is_hoisted || depth < contexts_[e.context].size();
  }
  return u;
}

// Lists the values outside the bodies of KERNELs, and the KERNELs.
void DemandWalk::list_nodes() {
  const std::vector<Id> all = g_.reachable(program_.sink);
  inside_ = inside_regions(g_, all);
  for (Id id : all) {
    if (g_.op(id) == Op::RANGE) next_range_ = std::max(next_range_, g_.range_number(id) + 1);
    const bool kernel = g_.op(id) == Op::KERNEL;
    if (kernel || (g_.dtype(id) != DType::index && g_.dtype(id) != DType::none && !inside_[id])) order_.push_back(id);
  }
  slot_.assign(program_.sink + 1, 0);
  nodes_.resize(order_.size());
  for (std::uint32_t i = 0; i < order_.size(); ++i) {
    slot_[order_[i]] = i;
    nodes_[i].node = order_[i];
    if (g_.op(order_[i]) != Op::KERNEL) model_.count_reader(order_[i]);
  }
}

void DemandWalk::want_states(NodeDemand& kernel) {
  const std::vector<Id> init(kernel_parts(g_, kernel.node).init.begin(), kernel_parts(g_, kernel.node).init.end());
  for (const Id tensor : init) {
    StateCopy& copy = kernel.states.emplace_back();
    copy.ranges = loop_ranges(shapes_.of(tensor));
    const auto context = new_context(copy.ranges);
    copy.use = want(tensor, maps_[map_over(copy.ranges)], context);
  }
  for (const Id tensor : body_of(kernel.node).outside)
    if (may_be_stored(g_.op(tensor))) nodes_[slot_[tensor]].stored = true;
}

bool DemandWalk::needs_storage(const NodeDemand& d) {
  using Stored = StagingModel::Stored;
  const ValueUse use = use_of(d);
  const bool may = may_stage(g_.op(d.node)) && !widens(d.node);
  if (!may && !use.selects) return false;
  const Stored why = StagingModel::needs_storage(model_.cost(d.node), use);
  return why == Stored::selection || (may && why != Stored::no);
}

void DemandWalk::decide(NodeDemand& d) {
  const Op op = g_.op(d.node);
  if (op == Op::KERNEL) return want_states(d);
  if (d.uses.empty() && !d.stored) return;  // a PARAM that is only written
  if (d.stored || op == Op::STAGE || needs_storage(d)) {
    d.staged = true;
    d.stage_ranges = loop_ranges(shapes_.of(d.node));
    d.whole.map = map_over(d.stage_ranges);
    d.whole.context = new_context(d.stage_ranges);
    evaluate(d.node, d.whole);
  } else {
    for (Evaluation& e : d.uses) evaluate(d.node, e);
    if (may_stage(op) && d.uses.size() > 1 && model_.is_read_twice(d.node))
      remark(g_, d.node, remarks::recomputed, [&] {
        return "computed again at each of " + std::to_string(d.uses.size()) +
               " places that it is read at: " + StagingModel::text_of(StagingModel::Stored::no, model_.cost(d.node), use_of(d));
      });
  }
}

void DemandWalk::run() {
  list_nodes();
  for (Id id : order_)
    if (g_.op(id) != Op::KERNEL) model_.add(id, shapes_);
  form_groups();
  for (StoreGroup& group : groups_) {
    const ContextId context = new_context(group.ranges);
    for (Id store : group.stores) group.uses.push_back(want(stored_value(g_, store), maps_[map_over(group.ranges)], context));
  }
  for (std::size_t i = nodes_.size(); i-- > 0;) decide(nodes_[i]);
}

}  // namespace kiln::compiler
