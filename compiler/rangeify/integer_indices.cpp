#include "compiler/rangeify/integer_indices.h"

#include <algorithm>
#include <vector>

#include "compiler/rangeify/exact_index.h"
#include "compiler/symbolic/integer_forms.h"

namespace kiln::compiler {

namespace {

// A comparison of index values that holds whenever this comparison of integers does; no_id: none is known.
Id compared(Graph& g, ExactIndex& exact, Id id, std::span<const Id> src) {
  if (!is_comparison(g.op(id)) || !is_int(g.dtype(src[0]))) return no_id;
  const Id a = exact.without_data(src[0]), b = a == no_id ? no_id : exact.without_data(src[1]);
  return b == no_id ? no_id : g.make(g.op(id), DType::boolean, {a, b});
}

// Adds that each parameter has at most exact_limit elements. The entry check ensures it. So i * M + j does not wrap in i64,
// with i < N and j < M, if there is a parameter of N * M elements.
void add_sizes(Graph& g, const Program& p, Facts& facts) {
  for (const Parameter& parameter : p.params) {
    Id elements = g.index(1);
    for (const Id extent : parameter.extents) elements = g.make(Op::MUL, DType::index, {elements, extent});
    if (std::ranges::all_of(parameter.extents, [&](Id extent) { return g.is_const(extent); })) continue;
    facts.nonnegative.push_back(g.make(Op::SUB, DType::index, {g.index(exact_limit), elements}));
  }
}

}  // namespace

void integer_indices(Graph& g, Program& p) {
  Facts facts = facts_of(p);
  const std::vector<Id> order = g.reachable(p.sink);
  const auto is_wide = [&](Id id) { return g.op(id) == Op::MUL && g.dtype(id) == DType::i64; };
  if (std::ranges::any_of(order, is_wide)) add_sizes(g, p, facts);
  const auto is_index_cast = [&](Id id) { return g.op(id) == Op::CAST && g.dtype(id) == DType::index; };
  if (std::ranges::none_of(order, is_index_cast)) return;
  Simplifier simplify(g, facts);
  ExactIndex exact(g, simplify);
  std::vector<Id> done(order.back() + 1, no_id), src;
  for (const Id id : order) {
    src.clear();
    for (const Id s : g.src(id)) src.push_back(done[s]);
    const LocScope of_node(g, g.loc(id));
    const Id index = is_index_cast(id) ? exact(src[0]) : no_id;
    const Id comparison = index == no_id ? compared(g, exact, id, src) : no_id;
    const Id made = index != no_id ? exact.uncut(index) : comparison != no_id ? comparison : g.with_src(id, src);
    const bool is_index = g.dtype(id) == DType::index && g.op(id) != Op::RANGE;  // a kernel keeps its ranges, even of extent 1
    done[id] = is_index && made != id ? simplify(made) : made;
  }
  p.sink = done[p.sink];
}

}  // namespace kiln::compiler
