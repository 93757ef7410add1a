#include "compiler/schedule/pack_operands.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/range_ids.h"
#include "compiler/ir/remark.h"
#include "compiler/schedule/each_kernel.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t panel_bytes = 64;            // bytes of one row of a panel: a cache line
constexpr std::int64_t fits_in_cache = 256 * 1024;  // bytes up to which an operand is read in place
constexpr std::int64_t fewest_panels = 16;          // iterations of the parallel loop
constexpr std::int64_t fewest_walks = 32;           // passes over the operand that pay for the copy

// load = b[r*row + column + constant]
struct Operand {
  Id load, r, column;
  std::int64_t rows, columns, row, constant;
};

class Packing {
 public:
  Packing(Graph& g, Schedule& s, Kernel& k, const Facts& facts)
      : g_(g), s_(s), kernel_(k), facts_(facts), bounds_(g, facts), loops_(g.sources(g.src(k.sink, 0), 1)), ids_(g, k.sink) {}

  // The kernel that copies the operand; nullopt: nothing to pack.
  std::optional<Kernel> run() {
    for (const Id id : g_.reachable(kernel_.sink)) {
      if (g_.op(id) != Op::REDUCE || static_cast<ReduceKind>(g_.arg(id, 0)) != ReduceKind::fma || g_.src(id).size() != 3)
        continue;
      for (std::size_t i = 0; i < 2 && !found_; ++i) found_ = operand(g_.src(id, i), g_.src(id, 2));
    }
    if (!found_) return std::nullopt;
    return packed(*found_);
  }

 private:
  std::optional<std::int64_t> extent(Id range) const { return index_value(g_, g_.src(range, 0)); }

  std::optional<Operand> operand(Id load, Id r) {
    if (g_.op(load) != Op::LOAD || g_.src(load).size() != 2 || loops_.size() < 2) return std::nullopt;
    symbolic::Linear index;
    if (!symbolic::collect(g_, g_.src(load, 1), index) || index.leaves.size() != 2) return std::nullopt;
    if (index.leaves[0].first != r) std::swap(index.leaves[0], index.leaves[1]);
    const auto [column, stride] = index.leaves[1];
    if (index.leaves[0].first != r || stride != 1 || column != loops_.back()) return std::nullopt;
    const auto rows = extent(r), columns = extent(column);
    if (!rows || !columns) return std::nullopt;
    const Operand o{load, r, column, *rows, *columns, index.leaves[0].second, index.constant};
    return worth_it(o) ? std::optional(o) : std::nullopt;
  }

  std::int64_t panel(const Operand& o) const { return panel_bytes / bytes(g_.dtype(o.load)); }

  bool worth_it(const Operand& o) {
    const std::int64_t size = bytes(g_.dtype(o.load)), width = panel(o);
    if (o.columns % width != 0 || o.columns / width < fewest_panels || o.rows <= fits_in_cache / size / o.columns) return false;
    std::int64_t walks = 1;
    for (const Id loop : loops_)
      if (loop != o.column) walks *= std::min(fewest_walks, bounds_(g_.src(loop, 0)).min);
    return walks >= fewest_walks;
  }

  Id range(std::int64_t end) { return ids_.range(g_, g_.index(end), RangeKind::loop); }

  // The position of element (panel, row, lane) in the packed operand.
  Id packed_index(const Operand& o, Id which, Id row, Id lane) {
    const Id panels = index_mul(g_, which, g_.index(o.rows * panel(o)));
    return index_add(g_, index_add(g_, panels, index_mul(g_, row, g_.index(panel(o)))), lane);
  }
  Id column(const Operand& o, Id which, Id lane) { return index_add(g_, index_mul(g_, which, g_.index(panel(o))), lane); }

  Kernel packed(const Operand& o) {
    g_.set_loc(g_.loc(o.load));
    remark(g_, o.load, remarks::packed, [&] {
      return "copies the " + std::to_string(o.rows) + " x " + std::to_string(o.columns) +
             " operand of the product once, in the order in which the product reads it";
    });
    const auto buffer = static_cast<int>(s_.buffers.size());
    const DType d = g_.dtype(o.load);
    s_.buffers.push_back({d, g_.index(o.rows * o.columns), -1, no_id});
    const int source = nth(kernel_.buffers, g_.arg(g_.src(o.load, 0), 0));
    kernel_.buffers.push_back(buffer);
    read_panels(o, g_.make(Op::BUFFER, d, {}, {static_cast<std::int64_t>(kernel_.buffers.size()) - 1}));
    return copy(o, buffer, source);
  }

  void read_panels(const Operand& o, Id buffer) {
    const Id which = range(o.columns / panel(o)), lane = range(panel(o));
    const Id load = g_.make(Op::LOAD, g_.dtype(o.load), {buffer, packed_index(o, which, o.r, lane)});
    const std::unordered_map<Id, Id> map = {{o.load, load}, {o.column, column(o, which, lane)}};
    Simplifier simplify(g_, facts_);
    std::vector<Id> ends;
    const std::vector<Id> old = g_.sources(kernel_.sink);
    for (const Id end : old) {
      std::vector<Id> src = {simplify(substitute(g_, g_.src(end, 0), map)), which};
      src.insert(src.end(), loops_.begin(), loops_.end() - 1);
      src.push_back(lane);
      ends.push_back(g_.with_src(end, src));
    }
    kernel_.sink = g_.with_src(kernel_.sink, ends);
  }

  Kernel copy(const Operand& o, int to, int from) {
    Kernel k;
    k.buffers = {to, from};
    const DType d = g_.dtype(o.load);
    const Id which = range(o.columns / panel(o)), row = range(o.rows), lane = range(panel(o));
    const Id from_row = index_mul(g_, row, g_.index(o.row)), in_row = column(o, which, lane);
    const Id at = index_add(g_, from_row, index_add(g_, in_row, g_.index(o.constant)));
    const Id value = g_.make(Op::LOAD, d, {g_.make(Op::BUFFER, d, {}, {1}), at});
    const Id target = g_.make(Op::BUFFER, d, {}, {0});
    const Id store = g_.make(Op::STORE, DType::none, {target, packed_index(o, which, row, lane), value});
    k.sink = g_.make(Op::SINK, DType::none, {g_.make(Op::END, DType::none, {store, which, row, lane})});
    return k;
  }

  Graph& g_;
  Schedule& s_;
  Kernel& kernel_;
  const Facts& facts_;
  Bounds bounds_;
  std::vector<Id> loops_;
  RangeIds ids_;
  std::optional<Operand> found_;
};

}  // namespace

void pack_operands(Graph& g, Schedule& s) {
  insert_kernels(g, s, [&](Kernel& k, const Facts& facts, std::vector<Kernel>& made) {
    if (std::optional<Kernel> copy = Packing(g, s, k, facts).run()) made.push_back(std::move(*copy));
  });
}

}  // namespace kiln::compiler
