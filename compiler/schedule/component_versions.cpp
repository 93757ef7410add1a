#include "compiler/schedule/component_versions.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <vector>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/shapes.h"
#include "compiler/schedule/kernel_ranges.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t fewest_components = 2, most_components = 8;  // as points, colours, boxes
constexpr std::int64_t fewest_component_rows = 64;
constexpr std::size_t most_version_nodes = 400;  // of a program that the versions repeat

class Components {
 public:
  Components(Graph& g, const Program& p) : g_(g), p_(p), shapes_(g), nodes_(g.reachable(p.sink)) {}

  // The symbol; nullptr: the program has no such rows.
  const Symbol* find() {
    if (nodes_.size() > most_version_nodes || std::ranges::any_of(nodes_, [&](Id id) { return is_scope(g_.op(id)); }))
      return nullptr;
    for (const Parameter& p : p_.params) {
      if (p.extents.size() < 2 || p.free_strides > 0) continue;
      const Id last = p.extents.back();
      const bool has_rows = std::ranges::any_of(p.extents, [&](Id e) { return e != last && is_many(e); });
      if (g_.op(last) == Op::SYM && has_rows && !is_in_sum(last) && works_along_rows(last)) return symbol(last);
    }
    return nullptr;
  }

 private:
  static bool is_scope(Op op) { return op == Op::RANGE || op == Op::KERNEL || op == Op::FOR; }

  const Symbol* symbol(Id sym) const {
    const auto at = std::ranges::find(p_.symbols, g_.name(sym), &Symbol::name);
    return at != p_.symbols.end() && at->kind == Symbol::Kind::extent ? &*at : nullptr;
  }

  // Whether there may be so many rows that a version pays.
  bool is_many(Id extent) const { return !g_.is_const(extent) || g_.value(extent) >= fewest_component_rows; }

  bool is_in_sum(Id sym) const {
    return std::ranges::any_of(nodes_, [&](Id id) {
      if (g_.dtype(id) != DType::index || g_.op(id) == Op::SYM || g_.op(id) == Op::MUL) return false;
      return std::ranges::binary_search(g_.reachable(id), sym);
    });
  }

  // Whether rows are combined with something that is no row, and all reductions and scans are along rows. The rows of an image,
  // whose sums go over its columns too, have many elements.
  bool works_along_rows(Id sym) {
    bool combines = false;
    for (const Id id : nodes_) {
      const Op op = g_.op(id);
      if (op != Op::REDUCE && op != Op::SCAN && op != Op::EXPAND) continue;
      const std::vector<Id> from = shapes_.of(g_.src(id, 0)), to = shapes_.of(id);
      if (op == Op::EXPAND && (from.empty() || to.back() != sym)) continue;
      if (op == Op::EXPAND && from.back() != sym && !g_.is_index_const(from.back(), 1)) continue;
      if (op == Op::EXPAND && makes_pairs(from, to, sym)) return false;
      if (op == Op::REDUCE && std::ranges::count(from, sym) <= std::ranges::count(to, sym)) return false;
      if (op == Op::REDUCE && from.size() > to.size() + 1) return false;
      if (op == Op::SCAN && from.back() != sym) return false;
      // A product counts if it has as many columns as terms: the rows are points, and the other operand is a small matrix.
      if (op == Op::REDUCE && g_.reduce_kind(id) == ReduceKind::fma && std::ranges::find(to, sym) == to.end()) return false;
      combines = true;
    }
    return combines;
  }

  // Whether each of many rows meets each of others, as in a product of two matrices.
  bool makes_pairs(std::span<const Id> from, std::span<const Id> to, Id sym) const {
    const auto is_one = [&](Id extent) { return g_.is_index_const(extent, 1); };
    if (from.back() != sym || std::ranges::all_of(from.first(from.size() - 1), is_one)) return false;
    for (std::size_t a = 0; a < from.size(); ++a)
      if (is_one(from[a]) && !is_one(to[a]) && to[a] != sym) return true;
    return false;
  }

  Graph& g_;
  const Program& p_;
  Shapes shapes_;
  const std::vector<Id> nodes_;
};

class VersionWriter {
 public:
  VersionWriter(Graph& g, Schedule& s) : g_(g), s_(s) {
    std::set<int> reads, writes;
    for (const Id store : g.src(s.program.sink)) {
      writes.insert(parameter_of(g, g.src(store, 0)));
      for (const Id id : g.reachable(g.src(store, 1)))
        if (g.op(id) == Op::PARAM) reads.insert(parameter_of(g, id));
    }
    segment_ = {s.program.sink, {reads.begin(), reads.end()}, {writes.begin(), writes.end()}};
  }

  // A segment for calls in which `times` is 1. In the others it is 0.
  void add(Id sink, Id times) {
    segment_.sink = sink;
    segment_.loop = narrow<int>(std::ssize(s_.loops));
    s_.segments.push_back(segment_);
    s_.loops.push_back({.begin = g_.index(0), .end = times});
  }

 private:
  Graph& g_;
  Schedule& s_;
  Segment segment_;
};

// The value if it is 0 or 1, else the nearer of both.
Id truth(Graph& g, Id value) {
  const Id zero = g.index(0), one = g.index(1);
  return index_max(g, index_min(g, value, one), zero);
}

// 1 if n is `value`, else 0. is_not_in: 1 if n is below `first` or above `last`, else 0.
Id is_equal(Graph& g, Id n, std::int64_t value) {
  const Id below = g.index(value - 1), above = g.index(value + 1);
  const Id from_below = index_sub(g, n, below), from_above = index_sub(g, above, n);
  return truth(g, index_min(g, from_below, from_above));
}
Id is_not_in(Graph& g, Id n, std::int64_t first, std::int64_t last) {
  const Id least = g.index(first), most = g.index(last);
  const Id below = index_sub(g, least, n), above = index_sub(g, n, most);
  return truth(g, index_max(g, below, above));
}

// The graph below the sink for one value of the symbol. Extents stay polynomials in their normal form.
Id with_value(Graph& g, Id sink, Id symbol, std::int64_t value) {
  std::unordered_map<Id, Id> now{{symbol, g.index(value)}}, map = now;
  for (const Id id : g.reachable(sink))
    if (g.dtype(id) == DType::index && id != symbol) {
      const Id here = substitute(g, id, now);
      if (here != id) map[id] = index_from(g, poly_of(g, here));
    }
  return substitute(g, sink, map);
}

}  // namespace

void component_versions(Graph& g, Schedule& s) {
  if (!s.segments.empty()) return;
  const LocScope restored(g);
  const Symbol* symbol = Components(g, s.program).find();
  if (symbol == nullptr) return;
  const std::int64_t first = std::max(fewest_components, symbol->min), last = std::min(most_components, symbol->max);
  if (first > last || symbol->multiple_of != 1) return;
  const Id n = g.sym(symbol->name), sink = s.program.sink;
  VersionWriter writer(g, s);
  for (std::int64_t c = first; c <= last; ++c) {
    const Id times = is_equal(g, n, c);
    writer.add(with_value(g, sink, n, c), times);
  }
  if (symbol->min < first || symbol->max > last) writer.add(sink, is_not_in(g, n, first, last));
  s.program.sink = no_id;
}

}  // namespace kiln::compiler
