#include "compiler/schedule/pack_operands.h"

#include <algorithm>
#include <limits>
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
  Id value;  // a LOAD, or a word of DOT2
  Id r;
  Id column;                   // the innermost LOOP range; no_id: the value does not depend on it
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

  // The kernel that copies words of DOT2; nullopt: all words are packed.
  std::optional<Kernel> pack_words() {
    if (loops_.empty()) return std::nullopt;
    for (const Id id : g_.reachable(kernel_.sink)) {
      if (g_.op(id) != Op::REDUCE || g_.op(g_.src(id, 0)) != Op::DOT2 || g_.src(id).size() != 2) continue;
      const Id r = g_.src(id, 1);
      for (const Id word : g_.sources(g_.src(id, 0)))
        if (const std::vector<Id> nodes = g_.reachable(word); g_.op(word) != Op::LOAD && varies_only_over(g_, nodes, loops_, r))
          return packed(over(word, r, nodes, false));
    }
    return std::nullopt;
  }

  // The kernel that copies the operand; nullopt: nothing to pack.
  std::optional<Kernel> pack_operand() {
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
    return over(load, r, used, constant_of(split_at(*index, column).factor) == 1);
  }

  // used: the ranges on which the value depends, and perhaps other nodes.
  Operand over(Id value, Id r, std::span<const Id> used, bool contiguous) const {
    const Id column = is_among(used, loops_.back()) ? loops_.back() : no_id;
    Operand o{value, r, column, {}, contiguous, column == no_id ? 1 : constant_extent(column), 0};
    o.size = o.columns * constant_extent(r);
    for (const Id loop : loops_) {
      if (loop == column || !is_among(used, loop)) continue;
      o.outer.push_back(loop);
      if (__builtin_mul_overflow(o.size, constant_extent(loop), &o.size)) o.size = std::numeric_limits<std::int64_t>::max();
    }
    const std::int64_t size = bytes(g_.dtype(value)), panel = panel_bytes / std::max<std::int64_t>(4, size);
    const bool large = o.size > fits_in_cache / size && o.columns >= fewest_panels * panel;
    if (large && (o.columns % panel == 0 || may_store_twice())) o.panel = panel;
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

  bool worth_it(const Operand& o) {
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
    std::vector<Id> ranges;
    Id column;  // of the operand
  };

  // fresh: the column has a range of its own. A panel has one in any case, and the last panel ends at the last column.
  Layout layout(const Operand& o, std::vector<Id> outer, Id r, bool fresh) {
    Layout l{std::move(outer), o.column};
    if (o.panel != 0) {
      const Id panel = range(panels(o)), lane = range(g_.index(o.panel)), begin = index_mul(g_, panel, g_.index(o.panel));
      const Id first = o.columns % o.panel == 0 ? begin : index_min(g_, begin, g_.index(o.columns - o.panel));
      l.ranges.insert(l.ranges.end(), {panel, r, lane});
      l.column = index_add(g_, first, lane);
      return l;
    }
    l.ranges.push_back(r);
    if (o.column == no_id) return l;
    if (fresh) l.column = range(g_.end(o.column));
    l.ranges.push_back(l.column);
    return l;
  }

  Id panels(const Operand& o) { return g_.index((o.columns + o.panel - 1) / o.panel); }

  Id packed_index(const Layout& l) {
    Id at = g_.index(0);
    for (const Id r : l.ranges) at = index_add(g_, index_mul(g_, at, g_.end(r)), r);
    return at;
  }

  std::string extents_text(const Operand& o) const {
    std::string text = index_text_or_id(g_, g_.end(o.r));
    const Id other = o.column != no_id ? o.column : o.outer.empty() ? no_id : o.outer.back();
    return other == no_id ? text : text + " x " + index_text_or_id(g_, g_.end(other));
  }

  Kernel packed(const Operand& o) {
    g_.set_loc(g_.loc(o.value));
    remark(g_, o.value, remarks::packed, [&] {
      return "copies the " + extents_text(o) + " operand of the reduction once, in the order in which the reduction reads it";
    });
    const int buffer = count_of(s_.buffers);
    Kernel made = copy(o, buffer);
    Id size = g_.index(1);
    for (const Id r : g_.sources(g_.src(made.sink, 0), 1)) size = index_mul(g_, size, g_.end(r));
    s_.buffers.push_back({.dtype = g_.dtype(o.value), .size = size, .whole = g_.op(o.value) != Op::LOAD});
    kernel_.buffers.push_back(buffer);
    read_packed(o, g_.make(Op::BUFFER, g_.dtype(o.value), {}, {std::ssize(kernel_.buffers) - 1}));
    return made;
  }

  void read_packed(const Operand& o, Id buffer) {
    const Layout l = layout(o, o.outer, o.r, false);
    std::vector<Id> loops = loops_;
    std::unordered_map<Id, Id> map;
    if (o.panel != 0) {
      map[o.column] = l.column;
      loops.pop_back();
      loops.push_back(l.ranges[o.outer.size()]);
      loops.push_back(l.ranges.back());
    }
    map[o.value] = g_.make(Op::LOAD, g_.dtype(o.value), {buffer, packed_index(l)});
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

  // The kernel that stores the operand in the buffer `to`.
  Kernel copy(const Operand& o, int to) {
    Kernel k;
    k.buffers = {to};
    const DType d = g_.dtype(o.value);
    std::unordered_map<Id, Id> map;
    for (const Id id : g_.reachable(o.value)) {
      if (g_.op(id) != Op::BUFFER) continue;
      k.buffers.push_back(nth(kernel_.buffers, g_.slot(id)));
      map[id] = g_.make(Op::BUFFER, g_.dtype(id), {}, {std::ssize(k.buffers) - 1});
    }
    std::vector<Id> outer;
    for (const Id loop : o.outer) outer.push_back(map[loop] = range(g_.end(loop)));
    const Id r = map[o.r] = range(g_.end(o.r));
    const Layout l = layout(o, std::move(outer), r, true);
    if (o.column != no_id) map[o.column] = l.column;
    Simplifier simplify(g_, facts_);
    const Id value = simplify(substitute(g_, o.value, map));
    const Id target = g_.make(Op::BUFFER, d, {}, {0});
    std::vector<Id> end = {g_.make(Op::STORE, DType::none, {target, packed_index(l), value})};
    const bool in_panels = o.panel != 0;  // its loops are r, panel, lane: whole rows of the operand are read
    std::vector<Id> loops = l.ranges;
    if (in_panels) std::swap(nth(loops, o.outer.size()), nth(loops, o.outer.size() + 1));
    end.insert(end.end(), loops.begin(), loops.end());
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
    while (std::optional<Kernel> copy = Packing(g, s, k, facts).pack_words()) made.push_back(std::move(*copy));
    if (std::optional<Kernel> copy = Packing(g, s, k, facts).pack_operand()) made.push_back(std::move(*copy));
  });
}

}  // namespace kiln::compiler
