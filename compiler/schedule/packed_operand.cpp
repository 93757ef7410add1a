#include "compiler/schedule/packed_operand.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/range_ids.h"
#include "compiler/ir/remark.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/symbolic/linear.h"
#include "compiler/target/lane_limits.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t panel_bytes = 64;

class Packing {
 public:
  Packing(Graph& g, Schedule& s, Kernel& k, const Operand& o, const Facts& facts)
      : g_(g), s_(s), kernel_(k), operand_(o), facts_(facts), ids_(g, k.sink) {}

  Kernel run() {
    g_.set_loc(g_.loc(operand_.value));
    remark(g_, operand_.value, remarks::packed, [&] {
      return "copies the " + extents_text() + " operand of the reduction once, in the order in which the reduction reads it";
    });
    const int buffer = count_of(s_.buffers);
    Kernel made = copy(buffer);
    Id size = g_.index(1);
    for (const Id r : g_.sources(g_.src(made.sink, 0), 1)) size = index_mul(g_, size, g_.end(r));
    const DType d = g_.dtype(operand_.value);
    const bool is_word = g_.op(operand_.value) != Op::LOAD && g_.op(operand_.value) != Op::CAST;
    s_.buffers.push_back({.dtype = d, .size = size, .whole = is_word});
    kernel_.buffers.push_back(buffer);
    read_packed(g_.make(Op::BUFFER, d, {}, {std::ssize(kernel_.buffers) - 1}));
    return made;
  }

 private:
  Id range(Id end) { return ids_.range(g_, end, RangeKind::loop); }

  // The ranges of the packed operand, outermost first: `outer`, then (r, column), or (panel, r, lane).
  struct Layout {
    std::vector<Id> ranges;
    Id column;  // of the operand
  };

  // fresh: the column has a range of its own. A panel has one in any case, and the last panel ends at the last column.
  Layout layout(std::vector<Id> outer, Id r, bool fresh) {
    Layout l{std::move(outer), operand_.column};
    if (operand_.panel != 0) {
      const Id width = g_.index(operand_.panel), columns = g_.end(operand_.column);
      const Id more = index_add(g_, columns, g_.index(operand_.panel - 1));
      const Id panel = range(index_floordiv(g_, more, width)), lane = range(width), begin = index_mul(g_, panel, width);
      const bool divides = g_.is_index_const(index_floormod(g_, columns, width), 0);
      l.ranges.insert(l.ranges.end(), {panel, r, lane});
      l.column = index_add(g_, divides ? begin : index_min(g_, begin, index_sub(g_, columns, width)), lane);
      return l;
    }
    l.ranges.push_back(r);
    if (operand_.column == no_id) return l;
    if (fresh) l.column = range(g_.end(operand_.column));
    l.ranges.push_back(l.column);
    return l;
  }

  Id packed_index(const Layout& l) {
    Id at = g_.index(0);
    for (const Id r : l.ranges) at = index_add(g_, index_mul(g_, at, g_.end(r)), r);
    return at;
  }

  std::string extents_text() const {
    std::string text = index_text_or_id(g_, g_.end(operand_.r));
    const Id other = operand_.column != no_id ? operand_.column : operand_.outer.empty() ? no_id : operand_.outer.back();
    return other == no_id ? text : text + " x " + index_text_or_id(g_, g_.end(other));
  }

  void read_packed(Id buffer) {
    const Layout l = layout(operand_.outer, operand_.r, false);
    std::vector<Id> loops = loop_ranges_of(g_, kernel_);
    std::unordered_map<Id, Id> map;
    if (operand_.panel != 0) {
      map[operand_.column] = l.column;
      loops.pop_back();
      loops.push_back(l.ranges[operand_.outer.size()]);
      loops.push_back(l.ranges.back());
    }
    map[operand_.value] = g_.make(Op::LOAD, g_.dtype(operand_.value), {buffer, packed_index(l)});
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
  Kernel copy(int to) {
    Kernel k;
    k.buffers = {to};
    std::unordered_map<Id, Id> map;
    for (const Id id : g_.reachable(operand_.value)) {
      if (g_.op(id) != Op::BUFFER) continue;
      k.buffers.push_back(nth(kernel_.buffers, g_.slot(id)));
      map[id] = g_.make(Op::BUFFER, g_.dtype(id), {}, {std::ssize(k.buffers) - 1});
    }
    std::vector<Id> outer;
    for (const Id loop : operand_.outer) outer.push_back(map[loop] = range(g_.end(loop)));
    const Id r = map[operand_.r] = range(g_.end(operand_.r));
    const Layout l = layout(std::move(outer), r, true);
    if (operand_.column != no_id) map[operand_.column] = l.column;
    Simplifier simplify(g_, facts_);
    const Id value = simplify(substitute(g_, operand_.value, map));
    const Id target = g_.make(Op::BUFFER, g_.dtype(operand_.value), {}, {0});
    const Id at = packed_index(l);
    const bool in_panels = operand_.panel != 0;  // its loops are r, panel, lane: whole rows of the operand are read
    std::vector<Id> loops = l.ranges;
    if (in_panels) std::swap(nth(loops, operand_.outer.size()), nth(loops, operand_.outer.size() + 1));
    k.sink = sink_of_store(g_, target, at, value, loops);
    return k;
  }

  Graph& g_;
  Schedule& s_;
  Kernel& kernel_;
  const Operand& operand_;
  const Facts& facts_;
  RangeIds ids_;
};

}  // namespace

Operand operand_over(std::span<const Id> loops, Id value, Id r, std::span<const Id> used, bool contiguous) {
  Operand o{value, r, is_among(used, loops.back()) ? loops.back() : no_id, {}, contiguous};
  for (const Id loop : loops)
    if (loop != o.column && is_among(used, loop)) o.outer.push_back(loop);
  return o;
}

namespace {

// The index of the LOAD, if it is a polynomial of r, loops and symbols that has r. used: the ranges in it.
std::optional<Poly> index_over(const Graph& g, std::span<const Id> loops, Id load, Id r, std::vector<Id>& used) {
  const std::optional<Poly> index = symbolic::sum_of(g, g.src(load, 1));
  if (!index) return std::nullopt;
  for (const Monomial& m : *index)
    for (const Id atom : m.atoms) {
      if (g.op(atom) == Op::SYM) continue;
      if (atom != r && !is_among(loops, atom)) return std::nullopt;
      used.push_back(atom);
    }
  return is_among(used, r) ? index : std::nullopt;
}

}  // namespace

std::optional<Operand> operand_of(const Graph& g, std::span<const Id> loops, Id load, Id r) {
  std::vector<Id> used;
  const std::optional<Poly> index = index_over(g, loops, load, r, used);
  const Id column = loops.back();
  if (!index || !is_among(used, column)) return std::nullopt;
  return operand_over(loops, load, r, used, constant_of(split_at(*index, column).factor) == 1);
}

std::optional<Operand> left_operand_of(const Graph& g, std::span<const Id> loops, Id load, Id r) {
  std::vector<Id> used;
  if (!index_over(g, loops, load, r, used) || is_among(used, loops.back())) return std::nullopt;
  return operand_over(loops, load, r, used, true);
}

bool is_transposed(const Graph& g, std::span<const Id> loops, Id load, Id r) {
  const std::optional<Poly> index = symbolic::sum_of(g, g.src(load, 1));
  const auto is_contiguous = [&](Id range) { return index && constant_of(split_at(*index, range).factor) == 1; };
  return !is_contiguous(r) && std::ranges::any_of(loops, is_contiguous);
}

bool lanes_but_for_one_load(const Graph& g, const Kernel& k, Id reduce) {
  const Id column = loop_ranges_of(g, k).back();
  if (const auto n = index_value(g, g.end(column)); n && *n != 0 && *n < fewest_columns) return false;
  for (const Id end : g.src(k.sink))
    if (distance_along(g, g.src(g.store(end), 1), column) != std::int64_t{1}) return false;
  int operations = 0, loads = 0;
  for (const Id id : g.reachable(g.src(reduce).first(operands_of(g.reduce_kind(reduce))))) {
    if (g.op(id) == Op::REDUCE || is_math(g.op(id))) return false;
    if (is_elementwise(g.op(id)) && g.op(id) != Op::CAST && g.dtype(id) != DType::index) ++operations;
    if (g.op(id) != Op::LOAD) continue;
    const std::optional<std::int64_t> d = distance_along(g, g.src(id, 1), column);
    if (d != std::int64_t{0} && d != std::int64_t{1}) ++loads;
  }
  const bool has_copies = g.reduce_order(reduce) == ReduceOrder::striped && is_float(g.dtype(reduce));
  return loads == 1 && (!has_copies || operations <= most_of_columns);
}

std::int64_t panel_of(DType d) { return panel_bytes / std::max<std::int64_t>(4, bytes(d)); }

bool may_store_twice(const Graph& g, const Kernel& k) {
  std::vector<Id> stored;
  for (const Id end : g.src(k.sink)) stored.push_back(g.src(g.store(end), 0));
  const std::vector<Id> nodes = g.reachable(k.sink);
  return std::ranges::none_of(nodes, [&](Id id) { return g.op(id) == Op::LOAD && is_among(stored, g.state(id)); });
}

Kernel pack(Graph& g, Schedule& s, Kernel& kernel, const Operand& o, const Facts& facts) {
  return Packing(g, s, kernel, o, facts).run();
}

}  // namespace kiln::compiler
