// Loops and conditions (import_scopes.h).
#include <algorithm>
#include <limits>

#include "compiler/ir/index_bounds.h"
#include "compiler/ir/index_poly.h"
#include "generator/import_scopes.h"

namespace kiln::generator {

using namespace compiler;
using record::op;

namespace {

constexpr std::int64_t endless = std::int64_t{1} << 62;
constexpr int worth_a_branch = 16;

// An upper bound of the number of iterations of a loop with an i32 counter, so that passes know that the counter fits.
std::int64_t most_iterations(const Graph& g, DType counter, Id begin, std::optional<std::int64_t> step) {
  const auto first = index_value(g, begin);
  if (counter != DType::i32 || !first || !step || *step == 0) return endless;
  using Limits = std::numeric_limits<std::int32_t>;
  const std::int64_t way = *step > 0 ? Limits::max() - *first : *first - Limits::min(), size = *step > 0 ? *step : -*step;
  return std::max<std::int64_t>(0, (way + size - 1) / size);
}

}  // namespace

// Opens a loop with one iteration where the mask holds, and no iteration elsewhere.
void ScopeImporter::open_single(Id mask, const Contents& inside) {
  enter(op::when);
  Scope& s = scopes_.back();
  s.is_single = true;
  s.end = g_.index(1);
  s.going = mask;
  s.ranges.push_back(build_.range(s.end, ids_++));
  entered_ = both(entered_, mask);
  cond_ = live_ = no_id;
  std::int64_t slot = 1;
  if (inside.leaves) {  // a break of the loop around reaches that loop as a carried value
    Scope& around = *loop_around();
    s.exits = {around.broken == no_id ? g_.constant(DType::boolean, 0) : around.broken, g_.constant(DType::boolean, 0)};
    around.broken = build_.carry(s.ranges[0], s.exits[0], slot);
    slot = 3;
  }
  carry(inside.changed, slot);
  if (!inside.derives) return;
  // The values at the begin of the only iteration are the values before the loop. A derivative must see that: they may be the
  // values on which a result of outside depends.
  for (const Changed& c : s.changed)
    if (!in_kernel() || !is_memory(c)) bound(c) = c.before;
}

// Opens a loop of at most one iteration for the rest of a scope after a break, unless the rest costs little.
void ScopeImporter::open_rest(int position) {
  if (in_kernel() || live_ == no_id) return;
  const Contents inside = contents(position + 1, 1);
  if (!inside.works) return;
  open_single(active(), inside);
  scopes_.back().is_rest = true;
}
void ScopeImporter::close_rest() {
  while (scopes_.back().is_rest) close_loop();
}

void ScopeImporter::open_loop(int position, std::span<const Id> src) {
  const record::node& n = in_.nodes[position];
  const Contents inside = contents(position);
  const Id mask = active();
  enter(op::loop);
  Scope& s = scopes_.back();
  std::size_t used = 0;
  s.begin = limit(n, 0, src, used);
  const Id end = limit(n, 1, src, used);
  s.step = limit(n, 2, src, used);
  if (n.d == KILN_I32) cap_symbols(s.begin), cap_symbols(end);
  // The number of iterations is ceil((end - begin) / step), or 0 if the step is 0.
  const Id one = g_.index(1), zero = g_.index(0);
  const auto step = index_value(g_, s.step);
  const Id up = index_sub(g_, s.step, one), down = index_add(g_, s.step, one);
  const Id round = step ? (*step > 0 ? up : down)
                        : g_.make(Op::WHERE, DType::index, {g_.make(Op::LT, DType::boolean, {zero, s.step}), up, down});
  s.end = n.imm == 1 ? g_.index(endless) : index_floordiv(g_, index_add(g_, index_sub(g_, end, s.begin), round), s.step);
  const bool is_static = n.imm == 0 && is_symbolic(s.end);
  if (is_static && !proves_nonnegative(g_, s.end, facts_)) s.end = index_max(g_, s.end, zero);
  const Id most = n.imm == 1  ? g_.index(endless)
                  : is_static ? s.end
                              : g_.index(most_iterations(g_, ir_dtype(n.d), s.begin, step));
  s.ranges.push_back(build_.range(most, ids_++));

  const Id not_empty = never_empty(s.end, no_id) ? no_id : g_.make(Op::LT, DType::boolean, {zero, s.end});
  entered_ = both(both(entered_, mask), not_empty);
  cond_ = live_ = no_id;
  if (inside.breaks || mask != no_id) s.going = mask_or_true(mask);
  carry(inside.changed, s.going == no_id ? 0 : 1);
}

void ScopeImporter::close_loop() {
  const Id live = live_;
  const Scope s = leave();
  cond_ = s.cond, live_ = s.live, entered_ = s.entered;
  if (s.changed.empty() && s.exits.empty()) return;
  const bool is_while = s.going != no_id;
  std::vector<Id> before, after;
  if (is_while) {
    before.push_back(s.going);
    after.push_back(s.broken == no_id ? build_.carry(s.ranges[0], s.going, 0) : negated(s.broken));
  }
  if (!s.exits.empty()) {
    before.insert(before.end(), s.exits.begin(), s.exits.end());
    after.push_back(loop_around()->broken);
    after.push_back(live == no_id ? s.exits[1] : negated(live));
  }
  for (const Changed& c : s.changed) before.push_back(c.before), after.push_back(bound(c));
  const Id loop = build_.loop(s.ranges[0], g_.index(0), s.end, before, after, 1, is_while);
  std::int64_t number = is_while ? 1 : 0;
  if (!s.exits.empty()) {
    loop_around()->broken = build_.get(loop, number++);
    live_ = both(live_, negated(build_.get(loop, number++)));
  }
  for (const Changed& c : s.changed) bound(c) = build_.get(loop, number++);
}

// where: the mask of the scope inside the scope around, without the scope's own condition; no_id: everywhere.
void ScopeImporter::open_when(int position, Id condition, Id where) {
  const Id mask = both(where, condition), rest = condition == no_id ? no_id : both(where, negated(condition));
  const Contents inside = contents(position);
  if (in_kernel() ? inside.operations >= worth_a_branch && is_shared(mask) : inside.works) {
    open_single(mask_or_true(both(active(), mask)), inside);
  } else {
    enter(op::when);
    cond_ = both(cond_, mask);
  }
  scopes_.back().rest = rest;
}
void ScopeImporter::close_when(int position) {
  close_rest();
  rest_ = scopes_.back().rest;
  if (scopes_.back().is_single)
    close_loop();
  else
    cond_ = leave().cond;
  open_rest(position);
}

ScopeImporter::Scope* ScopeImporter::loop_around() {
  return &*std::ranges::find(scopes_.rbegin(), scopes_.rend(), op::loop, &Scope::kind);
}

void ScopeImporter::leave_iteration(int position, Id condition, bool ends_loop) {
  const Id here = mask_or_true(both(active(), condition));
  live_ = both(live_, negated(here));
  if (Scope& s = *loop_around(); ends_loop) s.broken = s.broken == no_id ? here : build_.elementwise(Op::OR, {s.broken, here});
  open_rest(position);
}

}  // namespace kiln::generator
