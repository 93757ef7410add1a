#include "compiler/lower/estimate_work.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <vector>

#include "compiler/lower/index_vector.h"
#include "compiler/lower/loop_counts.h"
#include "compiler/lower/rewrite.h"
#include "compiler/target/operation_cost.h"

namespace kiln::compiler {
namespace {

using Ranges = std::vector<Id>;  // ascending

std::int64_t cost(const Graph& g, Id id) { return g.dtype(id) == DType::index ? 0 : operation_cost(g.op(id)).work; }

Ranges united(const Ranges& a, const Ranges& b) {
  Ranges out;
  std::ranges::set_union(a, b, std::back_inserter(out));
  return out;
}

// Ends from open_end on belong to loops that data or a condition ends. Such a loop counts as typical_iterations iterations.
constexpr std::int64_t open_end = std::int64_t{1} << 30, typical_iterations = 64;

// The end of a loop as an index expression over symbols. If it depends on the RANGE of another loop, that RANGE counts as 0.
Id rough_end(Graph& g, Id range) {
  const Id end = g.end(range);
  if (g.is_const(end) && g.value(end) >= open_end) return g.index(typical_iterations);
  return rewrite(g, end, [&](Id id, std::span<const Id>) { return g.op(id) == Op::RANGE ? g.index(0) : no_id; });
}

}  // namespace

Id estimate_work(Graph& g, Id sink) {
  std::unordered_map<Id, const Ranges*> of;  // by node: its ranges, a key of `cost_of`, whose keys keep their addresses
  std::map<Ranges, std::int64_t> cost_of;
  const auto intern = [&](Ranges r) { return &cost_of.try_emplace(std::move(r), 0).first->first; };
  for (const Id id : g.reachable(sink)) {
    const Ranges* mine = intern(g.op(id) == Op::RANGE ? Ranges{id} : Ranges{});
    for (const Id s : g.src(id))
      if (of.at(s) != mine && !of.at(s)->empty()) mine = mine->empty() ? of.at(s) : intern(united(*mine, *of.at(s)));
    if (g.op(id) == Op::REDUCE || g.op(id) == Op::FOR) {
      cost_of[*mine] += 1;
      Ranges rest = *mine;
      for (const Id s : g.src(id))
        if (g.op(s) == Op::RANGE) std::erase(rest, s);
      mine = intern(std::move(rest));
    }
    cost_of[*mine] += cost(g, id);
    of[id] = mine;
  }
  Id total = g.index(1);
  for (const auto& [ranges, count] : cost_of) {
    Id product = g.index(count);
    for (const Id r : ranges) product = mul_index(g, rough_end(g, r), product);
    total = add_index(g, total, product);
  }
  return total;
}

Id work_in_time(Graph& g, Id work, double time) {
  constexpr double most = 1e18, steps = 8;  // a factor between 1 / steps and steps is a multiple of 1 / steps
  const auto whole = [&](double v) { return g.index(static_cast<std::int64_t>(std::clamp(v + 0.5, 1.0, most))); };
  if (g.is_const(work)) return whole(time);
  const double of_one = time / std::max(1.0, static_cast<double>(typical_value(g, work).value_or(1)));
  if (of_one >= steps) return mul_index(g, work, whole(of_one));
  if (of_one <= 1 / steps) return index_binary(g, Op::FLOORDIV, work, whole(std::min(most, 1 / of_one)));
  const Id scaled = mul_index(g, work, whole(of_one * steps));
  return index_binary(g, Op::FLOORDIV, scaled, whole(steps));
}

}  // namespace kiln::compiler
