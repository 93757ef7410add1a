#include "compiler/schedule/pack_operands.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/range_ids.h"
#include "compiler/ir/remark.h"
#include "compiler/schedule/each_kernel.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/simplify.h"
#include "compiler/target/lane_limits.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t panel_bytes = 256;           // bytes of one row of a panel: four cache lines
constexpr std::int64_t fewest_panels = 4;           // with fewer, rows are as near to each other as they are in a panel
constexpr std::int64_t fits_in_cache = 256 * 1024;  // bytes up to which a contiguous operand is read in place
constexpr std::int64_t walks_for_panels = 32;       // passes over a contiguous operand that pay for the copy
constexpr std::int64_t walks_for_rows = 8;          // passes over an operand that is not contiguous

struct Operand {
  Id load;
  Id r, column;
  std::vector<Id> outer;       // the other LOOP ranges that the index depends on, outermost first
  bool contiguous;             // neighbours in the column are neighbours in memory
  std::int64_t columns, size;  // size: all elements; 0: not constant
  std::int64_t panel = 0;      // columns of a panel; 0: the layout is rows
};

bool is_among(std::span<const Id> ids, Id id) { return std::ranges::find(ids, id) != ids.end(); }

class Packing {
 public:
  Packing(Graph& g, Schedule& s, Kernel& k, const Facts& facts)
      : g_(g), s_(s), kernel_(k), facts_(facts), bounds_(g, facts), loops_(loop_ranges_of(g, k)), ids_(g, k.sink) {}

  // The kernel that copies the operand; nullopt: nothing to pack.
  std::optional<Kernel> run() {
    if (loops_.size() < 2) return std::nullopt;
    for (const Id id : g_.reachable(kernel_.sink)) {
      if (g_.op(id) != Op::REDUCE) continue;
      const std::size_t values = operands_of(g_.reduce_kind(id));
      if (g_.src(id).size() != values + 1 || g_.op(g_.src(id, values)) != Op::RANGE) continue;
      if (g_.reduce_kind(id) != ReduceKind::fma && !lanes_but_for_one_load(id)) continue;
      for (const Id load : g_.reachable(g_.src(id).first(values)))
        if (g_.op(load) == Op::LOAD && g_.src(load).size() == 2)
          if (std::optional<Operand> o = operand(load, g_.src(id, values)); o && worth_it(*o)) return packed(*o);
    }
    return std::nullopt;
  }

 private:
  std::int64_t constant_extent(Id range) const { return index_value(g_, g_.end(range)).value_or(0); }

  // nullopt: the index is no polynomial of r, LOOP ranges and symbols, or lacks r or the innermost range.
  std::optional<Operand> operand(Id load, Id r) const {
    const std::optional<Poly> index = symbolic::sum_of(g_, g_.src(load, 1));
    if (!index) return std::nullopt;
    std::vector<Id> used;
    for (const Monomial& m : *index)
      for (const Id atom : m.atoms) {
        if (g_.op(atom) == Op::SYM) continue;
        if (atom != r && !is_among(loops_, atom)) return std::nullopt;
        used.push_back(atom);
      }
    const Id column = loops_.back();
    if (!is_among(used, r) || !is_among(used, column)) return std::nullopt;
    Operand o{load, r, column, {}, constant_of(split_at(*index, column).factor) == 1, constant_extent(column), 0};
    o.size = o.columns * constant_extent(r);
    for (const Id loop : loops_) {
      if (loop == column || !is_among(used, loop)) continue;
      o.outer.push_back(loop);
      if (__builtin_mul_overflow(o.size, constant_extent(loop), &o.size)) return std::nullopt;
    }
    return o;
  }

  // The distance in memory of neighbours in the column; nullopt: it is no constant.
  std::optional<std::int64_t> distance(Id index) const {
    const std::vector<Id> nodes = g_.reachable(index);
    if (!std::ranges::binary_search(nodes, loops_.back())) return 0;
    const std::optional<Poly> p = symbolic::sum_of(g_, index);
    if (!p) return std::nullopt;
    const SplitAt split = split_at(*p, loops_.back());
    const bool once = std::ranges::none_of(split.rest, [&](const Monomial& m) {
      const std::vector<Id> below = g_.reachable(m.atoms);
      return std::ranges::binary_search(below, loops_.back());
    });
    return once && !split.square ? constant_of(split.factor) : std::nullopt;
  }

  // Whether the reduction can have lanes of the innermost range when one load is packed, and no other load moves against it.
  // reduce_lowering then chooses these lanes.
  bool lanes_but_for_one_load(Id reduce) const {
    const Id columns = loops_.back();
    if (const std::int64_t n = constant_extent(columns); n != 0 && n < fewest_columns) return false;
    for (const Id end : g_.src(kernel_.sink))
      if (distance(g_.src(g_.store(end), 1)) != std::int64_t{1}) return false;
    int operations = 0, loads = 0;
    for (const Id id : g_.reachable(g_.src(reduce).first(operands_of(g_.reduce_kind(reduce))))) {
      if (g_.op(id) == Op::REDUCE || is_math(g_.op(id))) return false;
      if (is_elementwise(g_.op(id)) && g_.op(id) != Op::CAST && g_.dtype(id) != DType::index) ++operations;
      if (g_.op(id) != Op::LOAD) continue;
      const std::optional<std::int64_t> d = distance(g_.src(id, 1));
      if (d != std::int64_t{0} && d != std::int64_t{1}) ++loads;
    }
    const bool has_copies = g_.reduce_order(reduce) == ReduceOrder::striped && is_float(g_.dtype(reduce));
    return loads == 1 && (!has_copies || operations <= most_of_columns);
  }

  bool worth_it(Operand& o) {
    const std::int64_t panel = panel_bytes / std::max(4, bytes(g_.dtype(o.load)));
    const bool large = o.size > fits_in_cache / bytes(g_.dtype(o.load)) && o.columns >= fewest_panels * panel;
    if (large && (o.columns % panel == 0 || may_store_twice())) o.panel = panel;
    if (o.contiguous && o.panel == 0) return false;
    const std::int64_t enough = o.contiguous ? walks_for_panels : walks_for_rows;
    std::int64_t walks = 1;
    for (const Id loop : loops_) {
      if (loop == o.column || is_among(o.outer, loop)) continue;
      const Interval extent = bounds_(g_.end(loop));
      // An unknown extent may be 1. A contiguous operand then stays; without the copy, the other is gathered in any case.
      walks *= std::clamp<std::int64_t>(o.contiguous ? extent.min : extent.max, 0, enough);
    }
    return walks >= enough;
  }

  // Whether an element may be stored twice: the kernel loads nothing that it stores.
  bool may_store_twice() const {
    std::vector<Id> stored;
    for (const Id end : g_.src(kernel_.sink)) stored.push_back(g_.src(g_.store(end), 0));
    const std::vector<Id> nodes = g_.reachable(kernel_.sink);
    return std::ranges::none_of(nodes, [&](Id id) { return g_.op(id) == Op::LOAD && is_among(stored, g_.state(id)); });
  }

  Id range(Id end) { return ids_.range(g_, end, RangeKind::loop); }

  // The ranges of the packed operand, outermost first: `outer`, then (r, column), or (panel, r, lane).
  struct Layout {
    std::vector<Id> outer;
    Id r, column, panel = no_id;
  };

  // The column of the operand. The last panel ends at the last column.
  Id column_of(const Operand& o, const Layout& l) {
    if (o.panel == 0) return l.column;
    const Id begin = index_mul(g_, l.panel, g_.index(o.panel));
    return index_add(g_, o.columns % o.panel == 0 ? begin : index_min(g_, begin, g_.index(o.columns - o.panel)), l.column);
  }

  Id panels(const Operand& o) { return g_.index((o.columns + o.panel - 1) / o.panel); }

  Id packed_index(const Layout& l) {
    Id at = g_.index(0);
    const auto inside = [&](Id r) { at = index_add(g_, index_mul(g_, at, g_.end(r)), r); };
    std::ranges::for_each(l.outer, inside);
    if (l.panel != no_id) inside(l.panel);
    inside(l.r);
    inside(l.column);
    return at;
  }

  Kernel packed(const Operand& o) {
    g_.set_loc(g_.loc(o.load));
    remark(g_, o.load, remarks::packed, [&] {
      return "copies the " + index_text_or_id(g_, g_.end(o.r)) + " x " + index_text_or_id(g_, g_.end(o.column)) +
             " operand of the reduction once, in the order in which the reduction reads it";
    });
    const int buffer = count_of(s_.buffers);
    const DType d = g_.dtype(o.load);
    const Id columns = o.panel == 0 ? g_.end(o.column) : g_.index((o.columns + o.panel - 1) / o.panel * o.panel);
    Id size = index_mul(g_, g_.end(o.r), columns);
    for (const Id loop : o.outer) size = index_mul(g_, size, g_.end(loop));
    s_.buffers.push_back({d, size, -1, no_id});
    const int source = nth(kernel_.buffers, g_.slot(g_.state(o.load)));
    Kernel made = copy(o, buffer, source);
    kernel_.buffers.push_back(buffer);
    read_packed(o, g_.make(Op::BUFFER, d, {}, {std::ssize(kernel_.buffers) - 1}));
    return made;
  }

  void read_packed(const Operand& o, Id buffer) {
    Layout l{o.outer, o.r, o.column};
    std::vector<Id> loops(loops_.begin(), loops_.end() - 1);
    std::unordered_map<Id, Id> map;
    if (o.panel != 0) {
      l.panel = range(panels(o));
      l.column = range(g_.index(o.panel));
      map[o.column] = column_of(o, l);
      loops.push_back(l.panel);
    }
    loops.push_back(l.column);
    map[o.load] = g_.make(Op::LOAD, g_.dtype(o.load), {buffer, packed_index(l)});
    Simplifier simplify(g_, facts_);
    std::vector<Id> ends;
    const std::vector<Id> old = g_.sources(kernel_.sink);
    for (const Id end : old) {
      std::vector<Id> src = {simplify(substitute(g_, g_.store(end), map))};
      src.insert(src.end(), loops.begin(), loops.end());
      ends.push_back(g_.with_src(end, src));
    }
    kernel_.sink = g_.with_src(kernel_.sink, ends);
  }

  Kernel copy(const Operand& o, int to, int from) {
    Kernel k;
    k.buffers = {to, from};
    const DType d = g_.dtype(o.load);
    Layout l;
    std::unordered_map<Id, Id> map;
    for (const Id loop : o.outer) l.outer.push_back(map[loop] = range(g_.end(loop)));
    l.r = map[o.r] = range(g_.end(o.r));
    if (o.panel != 0) l.panel = range(panels(o));
    l.column = range(o.panel == 0 ? g_.end(o.column) : g_.index(o.panel));
    map[o.column] = column_of(o, l);
    Simplifier simplify(g_, facts_);
    const Id from_index = simplify(substitute(g_, g_.src(o.load, 1), map));
    const Id value = g_.make(Op::LOAD, d, {g_.make(Op::BUFFER, d, {}, {1}), from_index});
    const Id target = g_.make(Op::BUFFER, d, {}, {0});
    std::vector<Id> end = {g_.make(Op::STORE, DType::none, {target, packed_index(l), value})};
    end.insert(end.end(), l.outer.begin(), l.outer.end());
    end.push_back(l.r);
    if (o.panel != 0) end.push_back(l.panel);
    end.push_back(l.column);
    k.sink = g_.make(Op::SINK, DType::none, {g_.make(Op::END, DType::none, end)});
    return k;
  }

  Graph& g_;
  Schedule& s_;
  Kernel& kernel_;
  const Facts& facts_;
  Bounds bounds_;
  std::vector<Id> loops_;
  RangeIds ids_;
};

}  // namespace

void pack_operands(Graph& g, Schedule& s) {
  insert_kernels(g, s, [&](Kernel& k, const Facts& facts, std::vector<Kernel>& made) {
    if (std::optional<Kernel> copy = Packing(g, s, k, facts).run()) made.push_back(std::move(*copy));
  });
}

}  // namespace kiln::compiler
