#include "compiler/rangeify/range_assignment.h"

#include "compiler/rangeify/demand.h"
#include "compiler/rangeify/gather_index.h"
#include "compiler/rangeify/kernel_over.h"
#include "compiler/rangeify/scan_kernels.h"
#include "compiler/rangeify/stage_copy.h"

namespace kiln::compiler {
namespace {

// Builds the scalar value of every evaluation, sources before readers.
class ValueBuilder {
 public:
  ValueBuilder(Graph& g, DemandWalk& walk) : g_(g), walk_(walk), values_(walk.nodes().size()) {}

  void build() {
    for (std::size_t i = 0; i < walk_.nodes().size(); ++i) {
      const NodeDemand& d = walk_.nodes()[i];
      slot_of_.emplace(d.node, i);
      g_.set_loc(g_.loc(d.node));
      if (g_.op(d.node) == Op::KERNEL) {
        storage_[d.node] = kernel(d);
      } else if (d.staged) {
        const bool is_hint = g_.op(d.node) == Op::STAGE;
        const Id whole = value(d.node, d.whole);
        const Id kept = is_hint ? stage(whole, d.stage_ranges, {0}) : stage(whole, d.stage_ranges);
        storage_[d.node] = kept;
        for (const Evaluation& e : d.uses) values_[i].push_back(element(kept, e.map));
      } else {
        for (const Evaluation& e : d.uses) values_[i].push_back(value(d.node, e));
      }
    }
  }

  Id at(Id node, std::uint32_t use) const { return values_[slot_of_.at(node)][use]; }

 private:
  Id stage(Id value, const std::vector<Id>& ranges, std::initializer_list<Arg> name = {}) {
    std::vector<Id> src{value};
    src.insert(src.end(), ranges.begin(), ranges.end());
    return g_.make(Op::STAGE, g_.dtype(value), src, name);
  }

  // The parameter, STAGE or result of a KERNEL that contains the elements of a tensor.
  Id storage(Id tensor) {
    if (g_.op(tensor) == Op::PARAM) return tensor;
    if (g_.op(tensor) == Op::GET) return g_.with_src(tensor, std::vector<Id>{storage_.at(g_.scope(tensor))});
    return storage_.at(tensor);
  }

  Id kernel(const NodeDemand& d) {
    std::vector<Id> init(kernel_parts(g_, d.node).init.begin(), kernel_parts(g_, d.node).init.end());
    for (std::size_t i = 0; i < init.size(); ++i) {
      // The name gives each state its own STAGE: equal STAGEs without ranges would be one node.
      const std::int64_t number = g_.range_number(kernel_parts(g_, d.node).ranges[0]);
      const std::vector<Id>& ranges = d.states[i].ranges;
      const Id value = at(init[i], d.states[i].use);
      init[i] = ranges.empty() ? stage(value, ranges, {number, i}) : stage(value, ranges);
    }
    const KernelBody body = walk_.body_of(d.node);
    return kernel_over(g_, d.node, body, init, [&](Id tensor) { return storage(tensor); });
  }

  Id element(Id tensor, MapId m) { return access_of_tensor(g_, tensor, {walk_.map(m).index, walk_.map(m).gate}); }

  Id value(Id node, const Evaluation& e) {
    const IndexMap& map = walk_.map(e.map);
    const std::vector<std::size_t> data = data_sources(g_, node);
    std::vector<Id> src = g_.sources(node);
    for (std::size_t i = 0; i < data.size(); ++i) src[data[i]] = at(src[data[i]], e.source_use[i]);
    switch (g_.op(node)) {
      case Op::CONST: return node;
      case Op::PARAM:
      case Op::GET: return element(storage(node), e.map);
      case Op::IOTA: return g_.make(Op::CAST, g_.dtype(node), {map.index[0]});
      case Op::RESHAPE:
      case Op::EXPAND:
      case Op::PERMUTE:
      case Op::SHEAR:
      case Op::SLICE: return src[0];
      case Op::UNSHEAR: return unshear(node, src[0], map);
      case Op::PAD: return pad(node, src, map);
      case Op::CONCAT: return concat(node, src, map);
      case Op::REDUCE: return reduce(node, src, e);
      case Op::GATHER: return gather(node, src, map);
      case Op::STAGE: return src[0];
      default: return g_.with_src(node, src);
    }
  }

  Id pad(Id node, const std::vector<Id>& src, const IndexMap& map) {
    if (g_.pad_mode(node) != PadMode::constant) return src[0];
    const Id inside = walk_.rules().pad_inside(node, map);
    return inside == no_id ? src[0] : g_.make(Op::WHERE, g_.dtype(node), {inside, src[0], src[1]});
  }

  Id unshear(Id node, Id x, const IndexMap& map) {
    const Id inside = walk_.rules().unshear_inside(node, map);
    return inside == no_id ? x : g_.make(Op::WHERE, g_.dtype(node), {inside, x, g_.constant(g_.dtype(node), 0)});
  }

  Id concat(Id node, const std::vector<Id>& src, const IndexMap& map) {
    Id v = src.back();
    for (std::size_t k = src.size() - 1; k-- > 0;)
      v = g_.make(Op::WHERE, g_.dtype(node), {walk_.rules().concat_before_end(node, k, map), src[k], v});
    return v;
  }

  Id gather(Id node, const std::vector<Id>& src, const IndexMap& map) {
    const std::vector<Id> extents = walk_.shapes().of(g_.data(node));
    const GatherIndex i = gather_index(g_, walk_.simplify(), extents, std::span(src).subspan(1), map);
    const Id read = access_of_tensor(g_, storage(g_.data(node)), {i.at.index, i.at.gate});
    if (i.there == no_id) return read;
    return g_.make(Op::WHERE, g_.dtype(node), {i.there, read, g_.constant(g_.dtype(node), 0)});
  }

  Id reduce(Id node, std::vector<Id> src, const Evaluation& e) {
    const ReduceKind kind = g_.reduce_kind(node);
    const int last = walk_.shapes().rank(g_.data(node)) - 1;
    const bool foldable =
        kind == ReduceKind::sum || kind == ReduceKind::prod || kind == ReduceKind::max || kind == ReduceKind::min;
    const bool over_last = e.reduce_ranges.size() == 1 && g_.arg(node, 1) == last;
    const bool striped = kind == ReduceKind::dot || (foldable && over_last);
    src.insert(src.end(), e.reduce_ranges.begin(), e.reduce_ranges.end());
    return g_.make(Op::REDUCE, g_.dtype(node), src, {kind, striped ? ReduceOrder::striped : ReduceOrder::sequential});
  }

  Graph& g_;
  DemandWalk& walk_;
  std::vector<std::vector<Id>> values_;
  std::unordered_map<Id, std::size_t> slot_of_;
  std::unordered_map<Id, Id> storage_;  // by node: STAGE of a staged value, KERNEL over storage
};

}  // namespace

void range_assignment(Graph& g, Program& p) {
  const LocScope restored(g);
  scan_kernels(g, p);
  DemandWalk walk(g, p);
  walk.run();
  ValueBuilder builder(g, walk);
  builder.build();
  std::vector<Id> effects;
  for (const StoreGroup& group : walk.groups()) {
    // A new RANGE separates groups of scalars, because stores with equal RANGEs share a kernel.
    const std::vector<Id> ranges = group.ranges.empty() ? walk.loop_ranges({g.index(1)}) : group.ranges;
    for (std::size_t i = 0; i < group.stores.size(); ++i) {
      const Id store = group.stores[i];
      g.set_loc(g.loc(store));
      const Id value = builder.at(stored_value(g, store), group.uses[i]);
      std::vector<Id> src{g.make(Op::STORE, DType::none, {g.state(store), value})};
      src.insert(src.end(), ranges.begin(), ranges.end());
      effects.push_back(g.make(Op::END, DType::none, src));
    }
  }
  p.sink = g.make(Op::SINK, DType::none, effects);
}

}  // namespace kiln::compiler
