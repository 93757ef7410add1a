#include "compiler/lower/vector_terms.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_set>

#include "compiler/ir/power_of_two.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/lower/access.h"
#include "compiler/lower/expand.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/loop_blocks.h"
#include "compiler/target/lane_limits.h"
#include "compiler/target/operation_cost.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t most_terms = 4;           // of one iteration: each lane of each term is one more operation
constexpr int most_of_chain = 8;                // operations on carried values, which every iteration has for itself
constexpr int fewest_of_terms = 8;              // of the terms, in cost units
constexpr int most_of_terms = 400;              // of the terms, so that the vectors fit registers
constexpr std::int64_t most_between_lanes = 4;  // elements between neighbouring lanes of a load
constexpr std::int64_t fewest_turns = 32;       // of a loop of constant length

class Terms {
 public:
  Terms(const Graph& g, Id loop)
      : g_(g), loop_(loop), range_(g.range_of(loop)), nodes_(g.reachable(loop_parts(g, loop).yield)) {
    inside_ = depends_on_range(g, nodes_, range_);
    for (const Id id : nodes_)
      if (is_of_loop(id) || std::ranges::any_of(g.src(id), [&](Id s) { return carried_.contains(s); })) carried_.insert(id);
  }

  // The terms; empty: the loop is another one.
  std::vector<Id> find() {
    const LoopParts l = loop_parts(g_, loop_);
    if (!may_run_in_blocks(g_, loop_) || std::ranges::any_of(l.init, [&](Id v) { return is_state(g_, v); })) return {};
    if (g_.is_const(l.begin) && g_.is_const(l.end) && g_.value(l.end) - g_.value(l.begin) < fewest_turns) return {};
    std::vector<Id> terms;
    int chain = 0, operations = 0;
    for (const Id id : nodes_) {
      if (!inside_.contains(id) || id == range_) continue;
      const Op op = g_.op(id);
      const bool may = is_elementwise(op) || op == Op::LOAD || op == Op::CARRY;
      if (!may || g_.lanes(id) != 1 || (op == Op::LOAD && !is_near(id))) return {};
      if (carried_.contains(id)) {
        chain += is_elementwise(op) ? 1 : 0;
        if (op == Op::LOAD) return {};
        for (const Id s : g_.src(id))
          if (s != range_ && inside_.contains(s) && !carried_.contains(s) && std::ranges::find(terms, s) == terms.end())
            terms.push_back(s);
        continue;
      }
      if (g_.dtype(id) == DType::index) continue;
      operations += operation_cost(op).recompute;
      if (g_.dtype(id) != DType::boolean) widest_ = std::max(widest_, bytes(g_.dtype(id)));
    }
    const bool pays = operations >= fewest_of_terms && operations <= most_of_terms && chain <= most_of_chain;
    const auto is_value = [&](Id t) { return g_.dtype(t) != DType::index && g_.dtype(t) != DType::boolean; };
    const bool are_values = std::ranges::all_of(terms, is_value);
    return pays && are_values && terms.size() <= most_terms ? terms : std::vector<Id>{};
  }

  int widest() const { return widest_; }

 private:
  bool is_of_loop(Id id) const { return g_.op(id) == Op::CARRY && g_.range_of(id) == range_; }
  // Whether a LOAD reads memory that the loop leaves alone, at places that are near each other in neighbouring iterations.
  bool is_near(Id load) const {
    const auto stride = index_stride(g_, index_of(g_, load), range_);
    return !inside_.contains(g_.state(load)) && stride && std::abs(*stride) <= most_between_lanes;
  }

  const Graph& g_;
  Id loop_, range_;
  std::vector<Id> nodes_;
  std::unordered_set<Id> inside_, carried_;  // carried_: depends on carried values
  int widest_ = narrowest_value;
};

// The term t of a sum c + t, or of one under conditions that leave c as it is: then -0 in their place, because c + -0 is c.
// no_id: the next value is another one.
Id term_of_sum(Graph& g, Id next, Id carry) {
  if (g.op(next) == Op::ADD) {
    const auto [a, b] = g.operands<2>(next);
    return a == carry ? b : b == carry ? a : no_id;
  }
  if (g.op(next) != Op::WHERE) return no_id;
  const auto [condition, yes, no] = g.operands<3>(next);
  if (yes != carry && no != carry) return no_id;
  const Id term = term_of_sum(g, yes == carry ? no : yes, carry);
  if (term == no_id) return no_id;
  const DType d = g.dtype(next);
  const Id none = g.constant(d, std::uint64_t{1} << (8 * bytes(d) - 1));  // -0
  return g.make(Op::WHERE, d, {condition, yes == carry ? none : term, yes == carry ? term : none});
}

// The loop with sums under conditions as sums of terms under conditions.
Id with_plain_sums(Graph& g, Id loop) {
  const std::size_t n = loop_parts(g, loop).init.size();
  std::vector<Id> src = g.sources(loop);
  for (const Id id : g.reachable(loop_parts(g, loop).yield)) {
    if (g.op(id) != Op::CARRY || g.range_of(id) != g.range_of(loop) || !is_float(g.dtype(id))) continue;
    Id& next = src[3 + n + g.slot(id)];
    if (g.op(next) != Op::WHERE) continue;
    if (const Id term = term_of_sum(g, next, id); term != no_id) next = g.make(Op::ADD, g.dtype(id), {id, term});
  }
  return g.with_src(loop, src);
}

}  // namespace

Id vector_terms(Graph& g, RangeIds& loops, Id loop, const Target& target) {
  if (!may_run_in_blocks(g, loop)) return no_id;
  loop = with_plain_sums(g, loop);
  Terms found(g, loop);
  const std::vector<Id> terms = found.find();
  if (terms.empty()) return no_id;
  const int width = target.vector_bytes / found.widest();
  const Id old = g.range_of(loop);
  return loop_in_blocks(g, loops, loop, width, [&](Id block) {
    const Copy copies[] = {{{{old, ramp(g, block, 1, width)}}, no_id}};
    const std::vector<Id> vectors = expand(g, loops, terms, copies, Arrays::shared)[0];
    BlockNodes out(static_cast<std::size_t>(width));
    for (std::size_t k = 0; k < out.size(); ++k)
      for (std::size_t t = 0; t < terms.size(); ++t)
        out[k][terms[t]] = g.make(Op::LANE, g.dtype(terms[t]), {vectors[t]}, {static_cast<std::int64_t>(k)});
    return out;
  });
}

}  // namespace kiln::compiler
