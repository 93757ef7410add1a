#include "compiler/lower/loop_counts.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/index_operation.h"
#include "compiler/ir/nth.h"
#include "compiler/lower/access.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t samples = 8;  // iterations of a loop on which bounds depend

bool is_whole(const Graph& g, Id id) { return g.dtype(id) == DType::index || !is_float(g.dtype(id)); }

// The numbers of the iterations that stand for all, each with the number of iterations that it stands for. The last one, which
// may be shorter, stands for itself.
std::vector<std::pair<std::int64_t, double>> sampled(std::int64_t turns, bool matters) {
  std::vector<std::pair<std::int64_t, double>> out;
  if (!matters) return {{turns / 2, static_cast<double>(turns)}};
  const std::int64_t n = std::min(turns, samples);
  for (std::int64_t i = 0; i + 1 < n; ++i)
    out.emplace_back(i * (turns - 1) / (n - 1), static_cast<double>(turns - 1) / static_cast<double>(n - 1));
  out.emplace_back(turns - 1, 1.0);
  return out;
}

using Values = std::vector<std::optional<std::int64_t>>;  // by node

// trip_count: the value of $end.
std::optional<std::int64_t> value_in(const Graph& g, Id id, const Values& values, std::int64_t trip_count) {
  if (g.op(id) == Op::SYM) {
    const std::string_view name = g.name(id);
    return name == "$end" ? trip_count : name.starts_with('$') ? 0 : typical_extent;
  }
  if (!is_whole(g, id) && g.dtype(id) != DType::boolean) return std::nullopt;
  const auto src = g.src(id);
  switch (g.op(id)) {
    case Op::CONST: return g.value(id);
    case Op::RAMP:
    case Op::BROADCAST:
    case Op::BITCAST:
    case Op::CAST: return values[src[0]];
    case Op::LOAD: return values[index_of(g, id)];  // as if tables of indices were in order
    case Op::WHERE: return !values[src[0]] ? values[src[1]] : values[*values[src[0]] != 0 ? src[1] : src[2]];
    case Op::FMA: {
      const auto product =
          values[src[0]] && values[src[1]] ? evaluate_index(Op::MUL, *values[src[0]], *values[src[1]]) : std::nullopt;
      return product && values[src[2]] ? evaluate_index(Op::ADD, *product, *values[src[2]]) : std::nullopt;
    }
    default: break;
  }
  if (src.empty() || src.size() > 2 || !values[src[0]] || !values[src.back()]) return std::nullopt;
  return evaluate_index(g.op(id), *values[src[0]], *values[src.back()]);
}

}  // namespace

std::optional<std::int64_t> typical_value(const Graph& g, Id expression) {
  Values values(std::size_t{expression} + 1);
  for (const Id id : g.reachable(expression)) values[id] = value_in(g, id, values, typical_extent);
  return values[expression];
}

LoopCounts::LoopCounts(const Graph& g, const LoweredKernel& kernel, const Scopes& scopes)
    : g_(g),
      scopes_(scopes),
      counts_(scopes.loops.size()),
      inside_(scopes.loops.size()),
      bounds_(scopes.loops.size()),
      matters_(scopes.loops.size(), false),
      now_(scopes.of.size()) {
  trip_count_ = typical_value(g, kernel.trip_count).value_or(typical_extent);
  for (std::int32_t i = 1; i < count_of(scopes.loops); ++i) {
    const LoopScope& loop = nth(scopes.loops, i);
    const ForParts f = for_parts(g, loop.loop);
    const Id ends[] = {f.begin, f.end};
    nth(bounds_, i) = g.reachable(ends);
    nth(inside_, loop.parent).push_back(i);
    for (const Id id : nth(bounds_, i))
      if (g.op(id) == Op::RANGE) nth(matters_, nth(scopes.loop_of, id)) = true;
  }
  counts_[0] = {1, 1};
  for (const std::int32_t loop : inside_[0]) visit(loop, 1);
  find_indices(kernel);
}

// Counts `times` entries of the loop under the values of the loops around it.
void LoopCounts::visit(std::int32_t loop, double times) {
  const LoopScope& l = nth(scopes_.loops, loop);
  const ForParts f = for_parts(g_, l.loop);
  evaluate(nth(bounds_, loop), now_);
  const auto begin = now_[f.begin], end = now_[f.end];
  std::int64_t turns = typical_iterations;
  if (begin && end && *end < *begin + (std::int64_t{1} << 30))
    turns = std::max<std::int64_t>(0, (*end - *begin + f.step - 1) / f.step);
  if (f.has_condition) turns = std::min(turns, typical_iterations);
  nth(counts_, loop).entries += times;
  nth(counts_, loop).turns += times * static_cast<double>(turns);
  if (turns == 0) return;
  for (const auto& [turn, weight] : sampled(turns, matters_[static_cast<std::size_t>(loop)])) {
    now_[l.range] = begin.value_or(0) + turn * f.step;
    for (const std::int32_t inner : nth(inside_, loop)) visit(inner, times * weight);
  }
}

void LoopCounts::evaluate(std::span<const Id> nodes, Values& values) const {
  for (const Id id : nodes)
    if (g_.op(id) != Op::RANGE) values[id] = value_in(g_, id, values, trip_count_);
}

// The range of the loop in the middle iteration, or one behind it.
void LoopCounts::place(std::int32_t loop, bool behind, Values& values) const {
  const LoopScope& l = nth(scopes_.loops, loop);
  const ForParts f = for_parts(g_, l.loop);
  evaluate(nth(bounds_, loop), values);
  const auto middle = static_cast<std::int64_t>(turns_of_entry(loop) / 2);
  values[l.range] = values[f.begin].value_or(0) + (middle + (behind ? 1 : 0)) * f.step;
}

// Evaluates all indices in the middle iterations, and those in a loop once more with one iteration more of this loop.
void LoopCounts::find_indices(const LoweredKernel& kernel) {
  const std::vector<Id> nodes = g_.reachable(kernel.sink);
  const std::int32_t count = count_of(scopes_.loops);
  std::vector<std::vector<Id>> body(scopes_.loops.size());              // by loop: the nodes in it, ascending
  std::vector<std::vector<std::int32_t>> within(scopes_.loops.size());  // by loop: itself and the loops in it, outer ones first
  for (const Id id : nodes)
    for (std::int32_t loop = nth(scopes_.of, id); loop > 0; loop = nth(scopes_.loops, loop).parent)
      nth(body, loop).push_back(id);
  for (std::int32_t i = 1; i < count; ++i)
    for (std::int32_t loop = i; loop > 0; loop = nth(scopes_.loops, loop).parent) nth(within, loop).push_back(i);
  for (std::int32_t i = 1; i < count; ++i) place(i, false, now_);
  evaluate(nodes, now_);
  next_.assign(scopes_.loops.size(), {});
  Values later = now_;
  for (std::int32_t i = 1; i < count; ++i) {
    for (const std::int32_t inner : nth(within, i)) place(inner, inner == i, later);
    evaluate(nth(body, i), later);
    for (const Id id : nth(body, i))
      if (const auto next = std::exchange(later[id], now_[id]); next != now_[id]) nth(next_, i).emplace(id, next);
    for (const std::int32_t inner : nth(within, i)) {
      const Id range = nth(scopes_.loops, inner).range;
      later[range] = now_[range];
    }
  }
}

double LoopCounts::index(Id access) const { return static_cast<double>(now_[index_of(g_, access)].value_or(0)); }

double LoopCounts::stride(Id access, std::int32_t loop) const {
  const Id index = index_of(g_, access);
  const auto next = nth(next_, loop).find(index);
  if (next == nth(next_, loop).end() || !next->second || !now_[index]) return 0;
  return static_cast<double>(*next->second - *now_[index]);
}

}  // namespace kiln::compiler
