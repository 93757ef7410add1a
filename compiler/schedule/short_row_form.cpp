#include "compiler/schedule/short_row_form.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/index_poly.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/prove.h"

namespace kiln::compiler {

// Whether the kernel has the form that short_rows.h describes.
bool ShortRowForm::find() {
  row = g_.src(g_.src(k_.sink, 0)).size() > 1 ? g_.src(g_.src(k_.sink, 0), 1) : no_id;
  if (row == no_id || g_.op(row) != Op::RANGE) return false;
  if (const auto n = index_value(g_, g_.end(row)); n && *n < rows_of_tile) return false;
  for (const Id end : g_.src(k_.sink))
    if (g_.src(end).size() < 2 || g_.src(end, 1) != row) return false;
  for (const Id id : g_.reachable(k_.sink))
    if (!note(id)) return false;
  if (is_large() || !may_store_twice()) return false;
  if (!reduces_short_rows() || limits.empty() || never_short()) return false;
  std::vector<Id> call = {g_.end(row)};
  for (const auto& [n, around] : limits) call.push_back(n);
  return are_of_the_call(g_, s_.program, call);
}

// Whether the version would be much more code than the kernel: it repeats the operations of a reduction for each of 32 stripes.
bool ShortRowForm::is_large() const {
  constexpr int most_reductions = 4, most_operations = 128, of_math = 16, of_half = 8;
  int reductions = 0, operations = 0;
  for (const Id id : g_.reachable(k_.sink)) {
    if (g_.op(id) == Op::REDUCE) ++reductions;
    if (!is_elementwise(g_.op(id)) || g_.dtype(id) == DType::index) continue;
    const bool is_half = g_.dtype(id) == DType::f16 || g_.dtype(id) == DType::bf16;
    operations += (is_math(g_.op(id)) ? of_math : 1) * (is_half ? of_half : 1);
  }
  return reductions > most_reductions || operations > most_operations;
}

// The most elements of a short row or loop.
std::int64_t ShortRowForm::most(Id n) const {
  const auto at = limits.find(n);
  return at == limits.end() ? index_value(g_, n).value() : at->second.most;
}

bool ShortRowForm::note(Id id) {
  switch (g_.op(id)) {
    case Op::RANGE: return id == row || limit(g_.end(id), {0, longest_loop});
    case Op::REDUCE: return g_.reduce_kind(id) != ReduceKind::fma;
    case Op::LOAD:
    case Op::STORE: return note_access(id);
    case Op::DOT2: return false;
    case Op::FLOORDIV:
    case Op::FLOORMOD: return g_.is_const(g_.src(id, 1)) || !std::ranges::binary_search(g_.reachable(id), row);
    default: return true;
  }
}

// Constant numbers of elements are no limits.
bool ShortRowForm::limit(Id n, Limits here) {
  if (index_value(g_, n)) return true;
  const std::optional<Poly> p = symbolic::sum_of(g_, n);
  if (!p || (p->size() > 1 && std::ranges::any_of(*p, [](const Monomial& m) { return m.atoms.size() > 1; }))) return false;
  Limits& all = limits.emplace(n, here).first->second;
  all = {std::max(all.least, here.least), std::min(all.most, here.most)};
  return true;
}

bool ShortRowForm::note_access(Id id) {
  if (g_.op(g_.state(id)) != Op::BUFFER) return false;
  const bool is_load = g_.op(id) == Op::LOAD;
  const int buffer = buffer_of(id);
  (is_load ? loads_ : stores_).insert(buffer);
  const bool is_local = nth(s_.buffers, buffer).tile != no_id;
  const Id index = g_.src(id, 1);
  const std::optional<Poly> p = symbolic::sum_of(g_, index);
  if (!p) return false;
  const SplitAt at = split_at(*p, row);
  if (at.square) return false;
  if (std::ranges::any_of(at.rest, [&](const Monomial& m) { return uses_row(m); }))
    return is_load && !is_local && is_of_row(index);
  if (!is_load && (at.factor.empty() || g_.src(id).size() > 3)) return false;
  if (!is_local && (at.factor.empty() || constant_of(at.factor) == 1)) return true;
  return note_row(id, buffer, index_from(g_, normalise_poly(g_, at.factor)));
}

bool ShortRowForm::note_row(Id id, int buffer, Id size) {
  const Buffer& b = nth(s_.buffers, buffer);
  if (b.tile != no_id && b.tile != size) return false;
  const auto n = index_value(g_, size);
  const std::int64_t least = b.tile == no_id ? elements_of_block : 0;
  if ((n && (*n > longest_row || *n < least)) || !limit(size, {least, longest_row})) return false;
  if (b.tile == no_id && !holds_rows(b, size)) return false;
  const Id zero = g_.index(0), rest = simplify_(substitute(g_, g_.src(id, 1), {{row, zero}}));
  Facts known = facts_;
  if (g_.src(id).size() > 3) assume(g_, known, g_.src(id, 3));
  if (!prove_ge0(g_, rest, known) || !prove_lt(g_, rest, size, known)) return false;
  accesses[id] = {buffer, size, rest};
  return true;
}

// Whether the buffer has whole rows for all iterations: copies take whole rows. The kernel may need less, if its loads have
// gates or skip the end of each row.
bool ShortRowForm::holds_rows(const Buffer& b, Id size) const {
  const Id all = index_mul(g_, g_.end(row), size);
  return prove_ge0(g_, index_sub(g_, b.size, all), facts_);
}

// Whether short rows are too few for a tile, as in a square matrix.
bool ShortRowForm::never_short() {
  return std::ranges::any_of(limits, [&](const auto& limit) {
    const Id more = simplify_(index_sub(g_, g_.end(row), limit.first));
    return simplify_.bounds()(more).max < rows_of_tile - limit.second.most;
  });
}

// Whether the index of a load that is no sum has one value for each row.
bool ShortRowForm::is_of_row(Id index) const {
  return std::ranges::none_of(g_.reachable(index), [&](Id id) { return g_.op(id) == Op::RANGE && id != row; });
}

// Whether rows may be computed twice, and another version may come before or after this one.
bool ShortRowForm::may_store_twice() const {
  return std::ranges::none_of(stores_, [&](int b) { return loads_.contains(b) && nth(s_.buffers, b).tile == no_id; });
}

// Whether some REDUCE has lanes along a symbolic part of rows.
bool ShortRowForm::reduces_short_rows() const {
  for (const Id id : g_.reachable(k_.sink)) {
    if (g_.op(id) != Op::REDUCE) continue;
    const std::size_t values = operands_of(g_.reduce_kind(id));
    if (g_.src(id).size() != values + 1) continue;
    const Id r = g_.src(id, values);
    if (g_.op(r) != Op::RANGE || g_.is_const(g_.end(r))) continue;
    for (const Id load : g_.reachable(g_.src(id).first(values)))
      if (accesses.contains(load) && distance_along(g_, g_.src(load, 1), r) == std::int64_t{1}) return true;
  }
  return false;
}

}  // namespace kiln::compiler
