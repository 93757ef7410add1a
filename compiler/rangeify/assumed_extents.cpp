#include "compiler/rangeify/assumed_extents.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "compiler/ir/scopes.h"
#include "compiler/rangeify/collapse.h"
#include "compiler/rangeify/index_expr.h"
#include "compiler/symbolic/known.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t most_nodes = 500;
constexpr std::int64_t most_exact_ones = std::int64_t{1} << 24;  // largest count of ones in f32

struct Assumption {
  Id condition;  // bool, over symbols
  Id broken;     // index value: 0 if the condition holds, else at least 1
};

// The casts of index values to integers under the REDUCE; nullopt: too many nodes, or a range that has an assumption already.
std::optional<std::vector<Id>> index_casts(const Graph& g, Id reduce) {
  std::vector<Id> todo{reduce}, casts;
  std::unordered_set<Id> seen{reduce};
  while (!todo.empty()) {
    const Id id = todo.back();
    todo.pop_back();
    if (seen.size() > most_nodes || (g.op(id) == Op::RANGE && g.op(g.end(id)) == Op::MIN)) return std::nullopt;
    if (g.op(id) == Op::RANGE || is_storage(g, id)) continue;
    if (g.op(id) == Op::CAST && g.dtype(g.operand(id)) == DType::index && is_int(g.dtype(id))) casts.push_back(id);
    for (const Id s : g.src(id))
      if (seen.insert(s).second) todo.push_back(s);
  }
  std::ranges::sort(casts);
  return casts;
}

class Assuming {
 public:
  Assuming(Graph& g, const Facts& facts) : g_(g), facts_(facts), bounds_(g, facts) {}

  // Assumes that the casts of ranges fit their types. Adds nothing for casts that always fit.
  void indices_fit(const std::vector<Id>& casts) {
    for (const Id cast : casts) {
      const Id index = g_.operand(cast);
      const std::int64_t largest = symbolic::known_dtype(g_.dtype(cast)).interval.max;
      if (g_.op(index) == Op::RANGE && largest != unbounded) at_most(g_.end(index), largest + 1);
    }
  }

  void at_most(Id end, std::int64_t limit) {
    if (g_.is_const(end) || bounds_(end).max <= limit) return;
    const Id condition = index_less_equal(g_, end, g_.index(limit));
    const Id broken = g_.make(Op::FLOORDIV, DType::index, {end, g_.index(limit + 1)});
    if (!all_)
      all_ = {condition, broken};
    else if (all_->broken != broken)
      all_ = {both(g_, all_->condition, condition), g_.make(Op::ADD, DType::index, {all_->broken, broken})};
  }

  Id collapsed_else_loop(Id reduce, Id r) {
    const Id end = g_.end(r);
    const std::int64_t most = bounds_(end).max;
    if (!all_ || most == unbounded) return reduce;
    Facts assumed = facts_;
    assume(g_, assumed, all_->condition);
    Simplifier simplify(g_, assumed);
    const Id closed = collapsed(g_, simplify, reduce, all_->condition);
    if (closed == reduce) return reduce;
    const Id whole =
        g_.make(Op::MUL, DType::index, {g_.make(Op::MIN, DType::index, {all_->broken, g_.index(1)}), g_.index(most)});
    const Id rest = g_.make(Op::MIN, DType::index, {end, whole});  // 0 if the assumption holds, else the end
    const Id again = g_.range(rest, g_.range_number(r), g_.range_kind(r));
    return g_.make(Op::WHERE, g_.dtype(reduce), {all_->condition, closed, substitute(g_, reduce, {{r, again}})});
  }

 private:
  Graph& g_;
  const Facts& facts_;
  Bounds bounds_;
  std::optional<Assumption> all_;
};

}  // namespace

Id collapsed_by_assumption(Graph& g, const Facts& facts, Id reduce) {
  const auto casts = index_casts(g, reduce);
  if (!casts) return reduce;
  const Id r = *std::ranges::find_if(g.src(reduce), [&](Id s) { return g.op(s) == Op::RANGE; });
  Assuming a(g, facts);
  a.indices_fit(*casts);
  const Id now = a.collapsed_else_loop(reduce, r);
  if (now != reduce || g.reduce_kind(reduce) != ReduceKind::sum) return now;
  a.at_most(g.end(r), is_float(g.dtype(reduce)) ? most_exact_ones : longest_progression);
  return a.collapsed_else_loop(reduce, r);
}

}  // namespace kiln::compiler
