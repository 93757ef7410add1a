#include "compiler/lower/idle_loops.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/scopes.h"
#include "compiler/lower/lane_extremes.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t fewest_iterations = 8;  // of a loop that is worth a test
constexpr std::size_t most_conditions = 32;    // of the results of one loop

// A condition that a result is needed under: its value is `wanted` in some lane.
struct Need {
  Id condition;
  bool wanted;
  bool operator==(const Need&) const = default;
};

// One scalar condition that holds if a vector's condition holds in some lane. It may hold otherwise too.
class SomeLane {
 public:
  SomeLane(Graph& g, const Facts& facts) : g_(g), extremes_(g, facts) {}

  // nullopt: the condition is not about positions.
  std::optional<Id> operator()(Need n) {
    const Op op = g_.op(n.condition);
    if (op == Op::NOT) return (*this)({g_.operand(n.condition), !n.wanted});
    if (op == Op::BROADCAST) return (*this)({g_.operand(n.condition), n.wanted});
    if (op == Op::AND || op == Op::OR) return both(n, (op == Op::AND) == n.wanted ? Op::AND : Op::OR);
    if (op != Op::LT && op != Op::LE) return std::nullopt;
    const auto [a, b] = g_.operands<2>(n.condition);
    const Id low = n.wanted ? a : b, high = n.wanted ? b : a;  // some lane of `low` is below some lane of `high`
    const auto below = extremes_.lanes(low), above = below ? extremes_.lanes(high) : std::nullopt;
    if (!above) return std::nullopt;
    return g_.make(n.wanted == (op == Op::LT) ? Op::LT : Op::LE, DType::boolean, {below->least, above->greatest});
  }

 private:
  // A half that is not about positions counts as true.
  std::optional<Id> both(Need n, Op op) {
    const auto [a, b] = g_.operands<2>(n.condition);
    const auto left = (*this)({a, n.wanted}), right = (*this)({b, n.wanted});
    if (left && right) return g_.make(op, DType::boolean, {*left, *right});
    return op == Op::AND ? (left ? left : right) : std::nullopt;
  }

  Graph& g_;
  LaneExtremes extremes_;
};

class IdleLoops {
 public:
  IdleLoops(Graph& g, Id sink, const Facts& facts) : g_(g), sink_(sink), nodes_(g.reachable(sink)), some_(g, facts) {
    for (const Id id : nodes_)
      for (const Id s : g.src(id)) users_[s].push_back(id);
  }

  Id run() {
    std::unordered_map<Id, Id> ends;  // by FOR
    std::unordered_map<Id, std::vector<Id>> inside;
    for (const Id loop : nodes_) {
      if (!may_be_idle(loop)) continue;
      const std::optional<std::vector<Need>> needs = needs_of(loop);
      if (!needs || needs->empty()) continue;
      if (inside.empty()) inside = nodes_by_range(g_, nodes_);
      if (!in_its_loops(loop, *needs, inside)) continue;
      if (const auto needed = any_of(*needs)) ends[loop] = *needed;
    }
    if (ends.empty()) return sink_;
    return rewrite(g_, sink_, [&](Id id, std::span<const Id> x) -> Id {
      const auto it = ends.find(id);
      if (it == ends.end()) return no_id;
      std::vector<Id> src(x.begin(), x.end());
      src[2] = g_.make(Op::WHERE, DType::index, {it->second, src[2], src[1]});
      return g_.with_src(id, src);
    });
  }

 private:
  bool has_effects(Id loop) const { return g_.src(loop).size() != 3 + 2 * loop_parts(g_, loop).init.size(); }

  bool may_be_idle(Id id) const {
    if (g_.op(id) != Op::FOR || has_effects(id)) return false;
    const LoopParts l = loop_parts(g_, id);
    if (l.conditional || l.init.empty()) return false;
    return !g_.is_const(l.begin) || !g_.is_const(l.end) || g_.value(l.end) - g_.value(l.begin) >= fewest_iterations * l.step;
  }

  // The conditions under which something uses a result of the loop. nullopt: something always does.
  std::optional<std::vector<Need>> needs_of(Id loop) const {
    std::vector<Need> out;
    std::vector<Id> open{loop};
    std::unordered_set<Id> seen{loop};
    while (!open.empty()) {
      const Id id = open.back();
      open.pop_back();
      const auto users = users_.find(id);
      if (users == users_.end()) continue;
      for (const Id user : users->second) {
        const std::optional<Need> need = need_of(user, id);
        if (need) {
          if (std::ranges::find(out, *need) == out.end()) out.push_back(*need);
          if (out.size() > most_conditions) return std::nullopt;
          continue;
        }
        if (!passes_on(user)) return std::nullopt;
        if (seen.insert(user).second) open.push_back(user);
      }
    }
    return out;
  }

  // The condition under which `user` uses the value; nullopt: it always does.
  std::optional<Need> need_of(Id user, Id value) const {
    const std::span<const Id> x = g_.src(user);
    const auto is = [&](std::size_t i) { return x[i] == value; };
    if (g_.op(user) == Op::WHERE && !is(0) && is(1) != is(2)) return Need{x[0], is(1)};
    if (g_.op(user) == Op::STORE && x.size() == 4 && is(2) && !is(0) && !is(1) && !is(3)) return Need{x[3], true};
    return std::nullopt;
  }

  // Whether the value only matters for the value of the user.
  bool passes_on(Id user) const {
    const Op op = g_.op(user);
    if (op == Op::FOR) return !has_effects(user);
    return is_elementwise(op) || op == Op::GET || op == Op::CARRY || op == Op::SHUFFLE || op == Op::LANE || op == Op::BROADCAST;
  }

  // Whether the conditions can be tested where the loop stands: they do not depend on loops that the loop is not in. A loop of
  // its own that the loop is in tests them already.
  bool in_its_loops(Id loop, const std::vector<Need>& needs, const std::unordered_map<Id, std::vector<Id>>& inside) const {
    std::vector<Id> conditions;
    for (const Need& n : needs) conditions.push_back(n.condition);
    for (const Id id : g_.reachable(conditions)) {
      const Op op = g_.op(id);
      if (op == Op::LOAD && g_.op(g_.state(id)) != Op::BUFFER) return false;
      if (op == Op::FOR || op == Op::CARRY) return false;
      if (op != Op::RANGE) continue;
      const auto it = inside.find(id);
      if (it == inside.end() || !std::ranges::binary_search(it->second, loop)) return false;
    }
    return true;
  }

  std::optional<Id> any_of(const std::vector<Need>& needs) {
    Id any = no_id;
    for (const Need& n : needs) {
      const std::optional<Id> some = some_(n);
      if (!some) return std::nullopt;
      any = any == no_id ? *some : g_.make(Op::OR, DType::boolean, {any, *some});
    }
    return any;
  }

  Graph& g_;
  const Id sink_;
  const std::vector<Id> nodes_;
  std::unordered_map<Id, std::vector<Id>> users_;
  SomeLane some_;
};

}  // namespace

Id idle_loops(Graph& g, Id sink, const Facts& facts) { return IdleLoops(g, sink, facts).run(); }

}  // namespace kiln::compiler
