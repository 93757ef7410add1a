#include "compiler/lower/share_loads.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "compiler/ir/scopes.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/loop_copies.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t most_in_turn = 6;        // copies of a body
constexpr std::int64_t many_iterations = 1000;  // as long as the count is not known
constexpr std::int64_t most_nodes = 400;        // of a body
constexpr std::size_t most_loads = 48;

// A LOAD whose index is linear in the loop's range. Its index in copy `u` is first + u * distance.
struct SharedLoad {
  Id load;
  Poly first, distance;
};

class Loop {
 public:
  Loop(const Graph& g, Id loop, const Target& target) : g_(g), target_(target), parts_(loop_parts(g, loop)) {
    if (parts_.conditional || parts_.init.empty() || g.src(loop).size() != 3 + 2 * parts_.init.size()) return;
    nodes_ = g.reachable(std::vector<Id>(parts_.yield.begin(), parts_.yield.end()));
    inside_ = depends_on_range(g, nodes_, parts_.range);
    look();
  }

  // The number of iterations that are written out; 1: none are. Fewer iterations need fewer registers, so more of them have to
  // save a tenth of the loads.
  std::int64_t copies() const {
    if (loads_.empty() || loads_.size() > most_loads) return 1;
    const std::int64_t own = distinct(1);
    if (own < operations_) return 1;
    const bool is_constant = g_.is_const(parts_.begin) && g_.is_const(parts_.end);
    const std::int64_t count = is_constant ? (g_.value(parts_.end) - g_.value(parts_.begin)) / parts_.step : many_iterations;
    const auto loads_with = [&](std::int64_t n) { return count / n * distinct(n) + count % n * own; };
    std::int64_t best = 1, least = own * count * 17 / 20 * 10 / 9 + 1;
    std::int64_t whole = 1;  // the shuffles of all elements between the lanes are the cheapest
    for (const SharedLoad& l : loads_) whole = std::max(whole, stride_of(l.load));
    for (std::int64_t n = std::max<std::int64_t>(2, whole); n <= std::min(most_in_turn, count); n += whole) {
      const std::int64_t loads = loads_with(n);
      if (loads * 10 > least * 9) continue;
      best = n;
      least = loads;
    }
    return best;
  }

  const LoopParts& parts() const { return parts_; }
  const std::vector<Id>& nodes() const { return nodes_; }
  bool varies(Id id) const { return inside_.contains(id); }
  const std::vector<SharedLoad>& loads() const { return loads_; }

  // Whether the LOADs read the same elements if their indices are the same.
  bool are_alike(Id a, Id b) const {
    const Id i = index_of(g_, a), j = index_of(g_, b);
    return g_.dtype(a) == g_.dtype(b) && g_.lanes(a) == g_.lanes(b) && g_.src(a, 0) == g_.src(b, 0) && g_.op(i) == g_.op(j) &&
           std::ranges::equal(g_.src(a).subspan(2), g_.src(b).subspan(2)) &&
           (g_.op(i) != Op::RAMP || g_.stride(i) == g_.stride(j));
  }

  std::optional<Poly> index_in(const SharedLoad& l, std::int64_t copy) const {
    return symbolic::plus(g_, l.first, l.distance, copy);
  }

 private:
  // The number of LOADs in n iterations, if each element is loaded once. A LOAD of every s-th element takes s contiguous LOADs
  // (interleaved_access), which it shares with the LOADs of the elements between.
  std::int64_t distinct(std::int64_t n) const {
    struct Seen {
      Id load;
      Poly index;
      bool is_first;  // of the LOADs that share contiguous ones
    };
    std::vector<Seen> seen;
    std::int64_t loads = other_loads_ * n;
    for (std::int64_t copy = 0; copy < n; ++copy)
      for (const SharedLoad& l : loads_) {
        const std::int64_t stride = stride_of(l.load);
        const auto index = index_in(l, copy);
        if (!index) return std::numeric_limits<std::int64_t>::max() / many_iterations;
        const auto is_same = [&](const Seen& s) { return s.index == *index && are_alike(s.load, l.load); };
        const auto shares = [&](const Seen& s) {
          const auto behind = symbolic::plus(g_, *index, s.index, -1);
          const auto d = behind ? constant_of(*behind) : std::nullopt;
          return s.is_first && d && *d > 0 && *d < stride && are_alike(s.load, l.load);
        };
        if (std::ranges::any_of(seen, is_same)) continue;
        const bool is_first = stride == 1 || std::ranges::none_of(seen, shares);
        loads += registers(l.load) * (is_first ? stride : 1);
        seen.push_back({l.load, *index, is_first});
      }
    return loads;
  }

  std::int64_t registers(Id id) const {
    return std::max<std::int64_t>(1, std::int64_t{g_.lanes(id)} * bytes(g_.dtype(id)) / target_.vector_bytes);
  }

  // Elements between neighbouring lanes that interleaved_access takes apart; else 1.
  std::int64_t stride_of(Id load) const {
    const Id index = index_of(g_, load);
    if (g_.op(index) != Op::RAMP || g_.stride(index) < 2 || g_.stride(index) > most_in_turn) return 1;
    return g_.stride(index);
  }

  void look() {
    std::int64_t nodes = 0;
    std::vector<SharedLoad> out;
    for (const Id id : nodes_) {
      if (!varies(id)) continue;
      const Op op = g_.op(id);
      if (op == Op::FOR || op == Op::LOCAL || op == Op::ATOMIC || g_.dtype(id) == DType::none) return;
      ++nodes;
      const auto shared = op == Op::LOAD ? shared_load(id) : std::nullopt;
      if (shared)
        out.push_back(*shared);
      else if (op == Op::LOAD)
        other_loads_ += registers(id);
      else if (g_.dtype(id) != DType::index && g_.dtype(id) != DType::boolean && op != Op::CARRY && op != Op::BROADCAST)
        operations_ += registers(id);
    }
    if (nodes <= most_nodes) loads_ = std::move(out);
  }

  std::optional<SharedLoad> shared_load(Id load) const {
    if (varies(g_.src(load, 0))) return std::nullopt;
    if (g_.src(load).size() > 2 && (varies(g_.src(load, 2)) || varies(g_.src(load, 3)))) return std::nullopt;
    const Id index = index_of(g_, load);
    const bool is_scalar = g_.lanes(index) == 1;
    if (!is_scalar && g_.op(index) != Op::RAMP && g_.op(index) != Op::BROADCAST) return std::nullopt;
    const auto sum = symbolic::sum_of(g_, is_scalar ? index : g_.operand(index));
    if (!sum) return std::nullopt;
    SharedLoad out{.load = load, .first = *sum, .distance = {}};
    for (Monomial term : *sum) {
      const auto at = std::ranges::find(term.atoms, parts_.range);
      const bool moves = at != term.atoms.end();
      if (moves) term.atoms.erase(at);
      if (std::ranges::any_of(term.atoms, [&](Id a) { return varies(a); })) return std::nullopt;
      if (moves) out.distance.push_back(std::move(term));
    }
    const auto step = symbolic::scaled(out.distance, parts_.step);
    if (!step || !symbolic::normalise(g_, out.distance = *step)) return std::nullopt;
    return out;
  }

  const Graph& g_;
  const Target& target_;
  LoopParts parts_;
  std::vector<Id> nodes_;
  std::unordered_set<Id> inside_;
  std::vector<SharedLoad> loads_;
  std::int64_t other_loads_ = 0, operations_ = 0;  // registers in one iteration
};

// The body of a loop, several times.
class Copies {
 public:
  Copies(Graph& g, const Loop& loop) : g_(g), loop_(loop), parts_(loop.parts()) {}

  // The FOR over n iterations at a time, up to `end`.
  Id over(RangeIds& loops, std::int64_t n, Id end) {
    const LoopParts l = parts_;
    const std::vector<Id> init(l.init.begin(), l.init.end()), yield(l.yield.begin(), l.yield.end());
    const Id begin = l.begin, own = loops.range(g_, g_.end(l.range), g_.range_kind(l.range));
    std::vector<Id> now;
    for (std::size_t k = 0; k < init.size(); ++k)
      now.push_back(
          g_.make(Op::CARRY, g_.dtype(init[k]), {own, init[k]}, {static_cast<std::int64_t>(k)}, {}, g_.lanes(init[k])));
    for (std::int64_t u = 0; u < n; ++u) now = copy(u, add_index(g_, own, g_.index(u * l.step)), now, yield);
    std::vector<Id> src{own, begin, end};
    src.insert(src.end(), init.begin(), init.end());
    src.insert(src.end(), now.begin(), now.end());
    return g_.make(Op::FOR, DType::none, src, std::vector<std::int64_t>{static_cast<std::int64_t>(init.size()), l.step * n});
  }

 private:
  std::vector<Id> copy(std::int64_t u, Id counter, const std::vector<Id>& carried, const std::vector<Id>& yield) {
    std::unordered_map<Id, Id> done{{parts_.range, counter}};
    const auto copied = [&](Id id) { return done.contains(id) ? done.at(id) : id; };
    std::size_t load = 0;
    for (const Id id : loop_.nodes()) {
      if (!loop_.varies(id) || id == parts_.range) continue;
      const LocScope of_node(g_, g_.loc(id));
      if (g_.op(id) == Op::CARRY && g_.range_of(id) == parts_.range) {
        done[id] = carried[g_.slot(id)];
        continue;
      }
      std::vector<Id> x;
      for (const Id s : g_.src(id)) x.push_back(copied(s));
      const bool is_shared = load < loop_.loads().size() && loop_.loads()[load].load == id;
      done[id] = is_shared ? shared(loop_.loads()[load++], u, x) : g_.with_src(id, x);
    }
    std::vector<Id> out;
    for (const Id y : yield) out.push_back(copied(y));
    return out;
  }

  // The LOAD that has this element already, or a new one.
  Id shared(const SharedLoad& l, std::int64_t u, const std::vector<Id>& x) {
    const Poly index = *loop_.index_in(l, u);
    const auto is_same = [&](const Made& m) { return m.index == index && loop_.are_alike(m.of, l.load); };
    const auto at = std::ranges::find_if(made_, is_same);
    if (at != made_.end()) return at->load;
    return made_.emplace_back(index, l.load, g_.with_src(l.load, x)).load;
  }

  struct Made {
    Poly index;  // with the range of the loop that is copied
    Id of, load;
  };

  Graph& g_;
  const Loop& loop_;
  const LoopParts parts_;
  std::vector<Made> made_;
};

// The FORs that take the place of the loop; no_id: none do.
Id with_shared_loads(Graph& g, RangeIds& loops, Id loop, const Target& target) {
  const Loop body(g, loop, target);
  const std::int64_t n = body.copies();
  if (n == 1) return no_id;
  const Id begin = body.parts().begin, end = body.parts().end;
  const Id all = g.index(n * body.parts().step);
  const Id distance = sub_index(g, end, begin);
  const Id length = index_binary(g, Op::MAX, distance, g.index(0));  // a loop may end before it begins
  const Id whole = mul_index(g, index_binary(g, Op::FLOORDIV, length, all), all);
  const Id middle = add_index(g, begin, whole);
  const Id main = Copies(g, body).over(loops, n, middle);
  if (middle == end) return main;
  const std::vector<Id> results = results_of(g, main);
  return part_of_loop(g, loops, loop, middle, end, results, {});
}

}  // namespace

Id share_loads(Graph& g, RangeIds& loops, Id sink, const Target& target) {
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    if (g.op(id) != Op::FOR) return no_id;
    const Id same = g.with_src(id, std::vector<Id>(x.begin(), x.end()));
    const Id made = with_shared_loads(g, loops, same, target);
    return made == no_id ? same : made;
  });
}

}  // namespace kiln::compiler
