#include "compiler/lower/phases.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/lower/index_vector.h"
#include "compiler/lower/loop_nest.h"

namespace kiln::compiler {
namespace {

std::span<const Id> ranges_of(const Graph& g, Id effect) {
  return g.op(effect) == Op::END ? g.src(effect).subspan(1) : std::span<const Id>();
}

class Phases {
 public:
  Phases(Graph& g, Lowering& k) : g_(g), k_(k), turn_(tile_range(g, k.phases)) {}

  Id lower() {
    LoweredKernel& out = k_.out;
    out.parallel = turn_ != no_id;
    std::vector<Id> effects;
    for (std::size_t i = 0; i < k_.phases.size(); ++i) {
      const std::vector<Id> nest = nest_of(k_.phases[i], k_.plans[i]);
      effects.insert(effects.end(), nest.begin(), nest.end());
    }
    const Id turns = turn_ == no_id ? g_.index(1) : g_.src(turn_, 0);
    out.trip_count = has_windows() ? index_binary(g_, Op::MIN, turns, g_.index(most_chunks)) : turns;
    return g_.make(Op::SINK, DType::none, {turn_loop(effects, turns, out.trip_count)});
  }

 private:
  bool has_windows() const {
    return std::ranges::any_of(k_.windows, [](Id w) { return w != no_id; });
  }

  std::vector<Id> nest_of(Id phase, std::span<const LoopPlan> plan) {
    std::vector<Id> stores;
    for (const Id effect : g_.src(phase)) stores.push_back(g_.op(effect) == Op::END ? g_.src(effect, 0) : effect);
    if (turn_ != no_id && std::ranges::any_of(stores, [&](Id s) { return index_stride(g_, g_.src(s, 1), turn_) == 0; }))
      k_.out.parallel = false;
    return inner_nest(g_, *k_.loops, stores, plan, k_.facts);
  }

  Id turn_loop(std::span<const Id> effects, Id turns, Id chunks) {
    const Id begin = g_.sym("$begin"), end = g_.sym("$end");
    const Id range = k_.loops->range(g_, turn_ == no_id ? end : turns, RangeKind::thread);
    const Id place = sub_index(g_, begin, turn_ == no_id ? g_.index(0) : range);  // the chunk's number minus the tile's
    const Id all = g_.make(Op::SINK, DType::none, effects);
    const Id inner = rewrite(g_, all, [&](Id id, std::span<const Id> x) {
      if (id == turn_) return range;
      const bool access = g_.op(id) == Op::LOAD || g_.op(id) == Op::STORE;
      const Id window = access ? k_.windows[static_cast<std::size_t>(g_.arg(x[0], 0))] : no_id;
      if (window == no_id) return no_id;
      std::vector<Id> src(x.begin(), x.end());
      src[1] = add_index(g_, src[1], mul_index(g_, place, window));
      return g_.with_src(id, src);
    });
    const auto first_turn = [&](Id chunk) {
      return chunks == turns ? chunk : index_binary(g_, Op::FLOORDIV, mul_index(g_, chunk, turns), chunks);
    };
    std::vector<Id> src = {range, first_turn(begin), first_turn(end)};
    src.insert(src.end(), g_.src(inner).begin(), g_.src(inner).end());
    return g_.make(Op::FOR, DType::none, src, std::vector<std::int64_t>{0, 1});
  }

  Graph& g_;
  Lowering& k_;
  const Id turn_;
};

}  // namespace

std::vector<Id> phases_of(Graph& g, Id sink) {
  std::vector<Id> out;
  const std::vector<Id> effects = g.sources(sink);
  for (std::size_t i = 0; i < effects.size();) {
    std::size_t end = i;
    while (end < effects.size() && std::ranges::equal(ranges_of(g, effects[i]), ranges_of(g, effects[end]))) ++end;
    out.push_back(g.make(Op::SINK, DType::none, std::span<const Id>(effects).subspan(i, end - i)));
    i = end;
  }
  return out.empty() ? std::vector<Id>{sink} : out;
}

Id joined(Graph& g, std::span<const Id> phases) {
  std::vector<Id> effects;
  for (const Id phase : phases) effects.insert(effects.end(), g.src(phase).begin(), g.src(phase).end());
  return g.make(Op::SINK, DType::none, effects);
}

std::vector<Id> windows_of(const Schedule& schedule, const Kernel& kernel) {
  std::vector<Id> out;
  for (const int b : kernel.buffers) out.push_back(schedule.buffers[static_cast<std::size_t>(b)].window);
  return out;
}

Id tile_range(const Graph& g, std::span<const Id> phases) {
  const auto first = ranges_of(g, g.src(phases[0], 0));
  const Id range = first.empty() ? no_id : first[0];
  const auto shares = [&](Id phase) {
    const auto loops = ranges_of(g, g.src(phase, 0));
    return !loops.empty() && loops[0] == range;
  };
  return range != no_id && g.op(range) == Op::RANGE && std::ranges::all_of(phases, shares) ? range : no_id;
}

Id in_tiles(Graph& g, Lowering& k) { return Phases(g, k).lower(); }

}  // namespace kiln::compiler
