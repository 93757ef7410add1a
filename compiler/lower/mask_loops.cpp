#include "compiler/lower/mask_loops.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/nth.h"
#include "compiler/ir/remark.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/lower/index_vector.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t endless = std::int64_t{1} << 62;

using Ranges = std::unordered_map<Id, std::vector<Id>>;

// By node: the RANGEs of all FORs around it. A node in the body of a loop is also inside all loops around that loop, even if it
// does not depend on their RANGEs.
Ranges loops_around(const Graph& g, const std::vector<Id>& nodes) {
  std::unordered_map<Id, Id> loops;  // by RANGE
  for (const Id id : nodes)
    if (g.op(id) == Op::FOR) loops[g.range_of(id)] = id;
  Ranges out;
  for (const Id id : nodes) {
    std::vector<Id>& here = out[id];
    if (loops.contains(id)) here.push_back(id);
    for (const Id s : g.src(id))
      for (const Id r : out.at(s))
        if (std::ranges::find(here, r) == here.end()) here.push_back(r);
    if (g.op(id) == Op::FOR) std::erase(here, g.range_of(id));
  }
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {  // visits a loop before its body
    std::vector<Id>& here = out[*it];
    for (const Id r : std::vector<Id>(here)) here.insert(here.end(), out[loops.at(r)].begin(), out[loops.at(r)].end());
    std::ranges::sort(here);
    here.erase(std::ranges::unique(here).begin(), here.end());
  }
  return out;
}

// Nodes whose values differ between the iterations of a range. A carried value differs if its initial or its next value
// differs. If lanes leave a loop at different iterations, its carried values differ, and so do the LOADs in it, because
// inactive lanes load nothing.
class Divergence {
 public:
  Divergence(const Graph& g, const std::vector<Id>& nodes, const Ranges& around, Id range, bool is_inner)
      : g_(g), around_(around), inner_(is_inner ? range : no_id) {
    nodes_.insert(range);
    for (std::size_t before = 0; before != nodes_.size() + loops_.size();) {
      before = nodes_.size() + loops_.size();
      for (const Id id : nodes) visit(id);
    }
  }

  bool contains(Id id) const { return nodes_.contains(id); }
  // Whether lanes may leave the loop of the RANGE at different iterations.
  bool is_apart(Id range) const { return loops_.contains(range); }

 private:
  // Whether lanes may leave a loop around the node at different iterations. The loop of a RANGE counts as around it.
  bool leaves_apart(Id id) const {
    return std::ranges::any_of(around_.at(id), [&](Id r) { return loops_.contains(r); });
  }

  // Whether the LOAD reads an array that each lane has for itself. Its elements count as different, because stores to it are
  // not tracked.
  bool reads_local(Id id) const {
    const Id memory = memory_of(g_, g_.state(id));
    return g_.op(memory) == Op::LOCAL && (inner_ == no_id || std::ranges::binary_search(around_.at(memory), inner_));
  }

  void visit(Id id) {
    bool differs = std::ranges::any_of(g_.src(id), [&](Id s) { return contains(s); }) && !is_state(g_, id);
    if (g_.op(id) == Op::LOAD) differs = differs || reads_local(id) || leaves_apart(id);
    if (g_.op(id) == Op::CARRY) {
      const auto it = next_.find(g_.range_of(id));
      differs = differs || (it != next_.end() && it->second[g_.slot(id)]);
    }
    if (g_.op(id) == Op::FOR) visit_loop(id);
    if (differs) nodes_.insert(id);
  }

  void visit_loop(Id id) {
    const LoopParts l = loop_parts(g_, id);
    std::vector<bool>& c = next_[l.range];
    c.resize(l.init.size());
    const bool bounds = contains(l.begin) || contains(l.end);
    const bool condition = l.conditional && (leaves_apart(id) || contains(l.init[0]) || contains(l.yield[0]));
    const bool apart = bounds || condition;
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = c[i] || contains(l.yield[i]) || (apart && !is_state(g_, l.init[i]));
    if (!apart) return;
    nodes_.insert(id);
    loops_.insert(l.range);
  }

  const Graph& g_;
  const Ranges& around_;
  Id inner_;                                        // the range, if it belongs to a loop in the kernel; else no_id
  std::unordered_set<Id> nodes_, loops_;            // loops_: RANGEs of loops that lanes may leave at different iterations
  std::unordered_map<Id, std::vector<bool>> next_;  // by RANGE of a loop: carried values that differ after the first iteration
};

// How one loop changes.
struct Masked {
  Id loop = no_id;
  bool adds_active = false;        // the active flag is new, so the numbers of carried values grow by one
  bool counts_iterations = false;  // the RANGE counts iterations from 0
  Id condition = no_id;            // a lane runs all iterations or none: the loop's end is WHERE(condition, end, begin)
  Id end = no_id;                  // of all lanes that run iterations
  Id range = no_id, first = no_id, active = no_id, counter = no_id;  // first: the active flag in the first iteration
};

// The loop as it is before its change.
Masked masked_loop(const Graph& g, const Divergence& differs, Id loop, const LoopParts& l) {
  Masked out{.loop = loop, .adds_active = !l.conditional, .counts_iterations = differs.contains(l.begin)};
  if (l.conditional || out.counts_iterations || g.op(l.end) != Op::WHERE) return out;
  const auto [condition, end, begin] = g.operands<3>(l.end);
  if (begin == l.begin && !differs.contains(end)) out.condition = condition, out.end = end;
  return out;
}

class Masking {
 public:
  Masking(Graph& g, RangeIds& loops, Id sink, Id lanes) : g_(g), loops_(loops), sink_(sink) {
    const std::vector<Id> nodes = g.reachable(sink);
    const Ranges around = loops_around(g, nodes);
    const auto is_lane_loop = [&](Id id) { return g.op(id) == Op::FOR && g.range_of(id) == lanes; };
    const bool is_inner = std::ranges::any_of(nodes, is_lane_loop);
    const Divergence differs(g, nodes, around, lanes, is_inner);
    for (const Id id : nodes) {
      if (g.op(id) != Op::FOR || (is_inner && !std::ranges::binary_search(around.at(id), lanes))) continue;
      const LoopParts l = loop_parts(g, id);
      const bool apart = differs.is_apart(l.range);
      explain(id, apart);
      if (apart) masked_[l.range] = masked_loop(g, differs, id, l);
    }
    for (const auto& [id, ranges] : around)
      std::ranges::copy_if(ranges, std::back_inserter(gates_[id]), [&](Id r) { return masked_.contains(r); });
  }

  Id run() {
    if (masked_.empty()) return sink_;
    std::vector<std::pair<Id, bool>> open{{sink_, false}};
    while (!open.empty()) {
      const auto [id, ready] = open.back();
      open.pop_back();
      if (done_.contains(id)) continue;
      if (ready) {
        make(id);
        continue;
      }
      open.emplace_back(id, true);
      for (const Id s : g_.src(id)) open.emplace_back(s, false);
      if (const Masked* m = of_range(id)) {  // the new loop begins with these values, so they must be rebuilt before its RANGE
        for (const Id outer : gates_.at(m->loop)) open.emplace_back(outer, false);
        const LoopParts l = loop_parts(g_, m->loop);
        open.emplace_back(l.begin, false);
        open.emplace_back(l.end, false);
        if (!m->adds_active) open.emplace_back(l.init[0], false);
      }
    }
    return done_.at(sink_);
  }

 private:
  // A `when` is a loop of at most one iteration.
  void explain(Id loop, bool apart) const {
    const bool is_when = g_.is_index_const(g_.end(g_.range_of(loop)), 1);
    if (apart)
      remark(g_, loop, remarks::masked, [&] {
        return is_when ? "the condition differs between lanes: all lanes compute, and those where it holds store"
                       : "lanes leave the loop at different iterations: it runs until the last lane has left";
      });
    else if (is_when)
      remark(g_, loop, remarks::branch,
             [] { return "the condition is the same in all lanes: a branch, so nothing is computed where it does not hold"; });
  }

  const Masked* of_range(Id range) const {
    const auto it = masked_.find(range);
    return it == masked_.end() ? nullptr : &it->second;
  }

  std::vector<Id> done(std::span<const Id> ids) const {
    std::vector<Id> out;
    for (const Id id : ids) out.push_back(done_.at(id));
    return out;
  }
  std::vector<Id> sources(Id id) const { return done(g_.src(id)); }

  void make(Id id) {
    const LocScope of_node(g_, g_.loc(id));
    done_[id] = made(id);
  }

  Id made(Id id) {
    switch (g_.op(id)) {
      case Op::RANGE: return of_range(id) != nullptr ? open_loop(id) : g_.with_src(id, sources(id));
      case Op::CARRY: return carry(id);
      case Op::GET: return get(id);
      case Op::FOR: return masked_.contains(g_.range_of(id)) ? close_loop(id) : g_.with_src(id, sources(id));
      case Op::LOAD:
      case Op::STORE: return access(id);
      case Op::ATOMIC: {
        std::vector<Id> src = sources(id);
        src[1] = with_active(src[1], id);
        return g_.with_src(id, src);
      }
      default: return g_.with_src(id, sources(id));
    }
  }

  Id both(Id a, Id b) { return a == no_id ? b : b == no_id ? a : g_.make(Op::AND, DType::boolean, {a, b}); }

  // The gate AND the active flags of the loops around the node; no_id if there is neither.
  Id with_active(Id gate, Id id) {
    for (const Id r : gates_.at(id)) gate = both(gate, masked_.at(r).active);
    return gate;
  }

  Id open_loop(Id range) {
    Masked& m = masked_.at(range);
    const LoopParts l = loop_parts(g_, m.loop);
    const Id begin = done_.at(l.begin), end = done_.at(l.end), condition = m.adds_active ? no_id : done_.at(l.init[0]);
    m.range = loops_.range(g_, m.counts_iterations ? g_.index(endless) : done_.at(g_.end(range)), RangeKind::loop);
    m.counter = m.counts_iterations ? add_index(g_, begin, m.range) : m.range;
    m.first = m.condition != no_id ? done_.at(m.condition) : both(g_.make(Op::LT, DType::boolean, {begin, end}), condition);
    for (const Id outer : gates_.at(m.loop)) m.first = both(m.first, masked_.at(outer).active);
    m.active = m.condition != no_id ? m.first : g_.make(Op::CARRY, DType::boolean, {m.range, m.first}, {0});
    return m.counter;
  }

  Id carry(Id id) {
    const auto [range, init] = g_.operands<2>(id);
    const Masked* m = of_range(range);
    if (m == nullptr) return g_.with_src(id, sources(id));
    const std::int64_t slot = g_.arg(id, 0);
    if (!m->adds_active && slot == 0) return m->active;
    return g_.make(Op::CARRY, g_.dtype(id), {m->range, done_.at(init)}, {slot + (m->adds_active ? 1 : 0)});
  }

  Id get(Id id) {
    const Id loop = g_.scope(id);
    const Masked* m = of_range(g_.range_of(loop));
    const std::int64_t slot = g_.arg(id, 0) + (m != nullptr && m->adds_active ? 1 : 0);
    const Id out = g_.make(Op::GET, g_.dtype(id), {done_.at(loop)}, {slot}, {}, g_.lanes(id));
    if (m == nullptr || m->condition == no_id || is_state(g_, id)) return out;
    const Id at_first = done_.at(nth(loop_parts(g_, loop).init, g_.arg(id, 0)));
    return g_.make(Op::WHERE, g_.dtype(id), {m->active, out, at_first});
  }

  Id close_loop(Id loop) {
    const Masked& m = masked_.at(g_.range_of(loop));
    const LoopParts old = loop_parts(g_, loop);
    const std::vector<Id> old_init = done(old.init), old_yield = done(old.yield);
    const std::int64_t step = old.step;
    const Id old_begin = done_.at(old.begin), old_end = done_.at(old.end);
    Id goes_on = m.active;
    if (m.condition == no_id)
      goes_on = both(goes_on, g_.make(Op::LT, DType::boolean, {add_index(g_, m.counter, g_.index(step)), old_end}));
    if (!m.adds_active) goes_on = both(goes_on, old_yield[0]);
    std::vector<Id> init{m.first}, yield{goes_on};
    for (std::size_t i = m.adds_active ? 0 : 1; i < old_init.size(); ++i) {
      const Id at_first = old_init[i], next = old_yield[i];
      init.push_back(at_first);
      if (is_state(g_, at_first) || m.condition != no_id) {  // get() selects the results of lanes that run no iteration
        yield.push_back(next);
        continue;
      }
      const Id now = g_.make(Op::CARRY, g_.dtype(at_first), {m.range, at_first}, {std::ssize(init) - 1});
      yield.push_back(next == now ? now : g_.make(Op::WHERE, g_.dtype(at_first), {m.active, next, now}));
    }
    // The FOR ends at the bound of its RANGE, which all lanes share, or at their common end. The condition may end it earlier.
    const Id begin = m.counts_iterations ? g_.index(0) : old_begin;
    std::vector<Id> src{m.range, begin, m.end != no_id ? done_.at(m.end) : g_.end(m.range)};
    src.insert(src.end(), init.begin(), init.end());
    src.insert(src.end(), yield.begin(), yield.end());
    return g_.make(Op::FOR, DType::none, src, std::vector<std::int64_t>{std::ssize(init), step, 1});
  }

  Id access(Id id) {
    std::vector<Id> src = sources(id);
    const Id gate = with_active(src.size() > 3 ? src[3] : no_id, id);
    if (gate == no_id) return g_.with_src(id, src);
    if (src.size() == 2) src.push_back(g_.constant(g_.dtype(id), 0));
    src.resize(4);
    src[3] = gate;
    return g_.with_src(id, src);
  }

  Graph& g_;
  RangeIds& loops_;
  Id sink_;
  std::unordered_map<Id, Masked> masked_;  // by RANGE
  Ranges gates_;                           // by node: RANGEs of the masked loops around it
  std::unordered_map<Id, Id> done_;
};

}  // namespace

Id mask_loops(Graph& g, RangeIds& loops, Id sink, Id lanes) { return Masking(g, loops, sink, lanes).run(); }

}  // namespace kiln::compiler
