#include "compiler/schedule/host_loops.h"

#include <algorithm>
#include <set>
#include <string>

#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/shapes.h"
#include "compiler/rangeify/integer_indices.h"
#include "compiler/schedule/carried_buffers.h"
#include "compiler/schedule/segment_writer.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t farthest = std::int64_t{1} << 62;  // from 0, for a bound that becomes a fact of a symbol

// A value and the slot of the parameter or state that a segment stores it in.
struct Stored {
  int slot;
  Id value;
};

// A possible segment. It becomes one if it stores something.
struct Draft {
  std::uint32_t region, time;
  int loop;
  std::vector<Stored> stores;
};

class Outliner {
 public:
  Outliner(Graph& g, Schedule& s)
      : g_(g),
        s_(s),
        times_(g, s.program.sink),
        carried_(g, s.program, times_),
        shapes_(g),
        facts_(facts_of(s.program)),
        writer_(g, s.program, times_) {
    for (const Parameter& p : s.program.params) names_.insert(p.name);
    for (const Symbol& y : s.program.symbols) names_.insert(y.name);
    writer_.stored = [this](Id n) { return place_of(n); };
    writer_.from_before = [this](Id n) { return live_out(n); };
  }

  void run() {
    list_drafts();
    make_states();
    make_symbols();
    store_carried_values();
    for (std::size_t u = drafts_.size(); u-- > 0;) write(u);
    describe_loops();
    forget_unused();
    const bool is_one = s_.loops.empty() && s_.segments.size() == 1;
    s_.program.sink = is_one ? s_.segments[0].sink : no_id;
    if (is_one) s_.segments.clear();
  }

  // Whether there is a host loop, or a kernel whose extent depends on data.
  bool has_loops_or_cuts() const {
    return !times_.loops().empty() || std::ranges::any_of(times_.kernels(), [&](Id kernel) { return has_cuts(kernel); });
  }

  bool is_needed() const {
    return has_loops_or_cuts() ||
           std::ranges::any_of(times_.nodes(), [&](Id n) { return times_.is_host(n) && writer_.is_lone(n); });
  }

 private:
  bool has_cuts(Id kernel) const {
    return std::ranges::any_of(scope_ranges(g_, kernel), [&](Id r) { return !times_.cuts_of(g_.end(r)).empty(); });
  }

  // Lists the possible segments in the order in which they run, and the loops in the order in which they begin.
  void list_drafts() {
    struct Frame {
      std::uint32_t region, time;
      int loop;
      std::size_t next;
    };
    std::vector<Frame> open{{0, 0, -1, 0}};
    const std::vector<Id>& loops = times_.loops();
    while (!open.empty()) {
      Frame& f = open.back();
      if (f.next == 0) {
        draft_at_[{f.region, f.time}] = drafts_.size();
        drafts_.push_back({f.region, f.time, f.loop, {}});
      }
      while (f.next < loops.size() && (times_.region(loops[f.next]) != f.region || times_.time(loops[f.next]) != f.time))
        ++f.next;
      if (f.next < loops.size()) {
        const Id loop = loops[f.next++];
        const int number = count_of(ran_);
        ran_.push_back(loop);
        s_.loops.push_back({.parent = f.loop});
        open.push_back({times_.regions().owned[loop], 0, number, 0});
      } else if (f.time < times_.last_segment(f.region)) {
        f = {f.region, f.time + 1, f.loop, 0};
      } else {
        open.pop_back();
      }
    }
  }

  std::string fresh(const std::string& name) {
    for (int& n = next_name_[name];;)
      if (const std::string made = name + "." + std::to_string(n++); names_.insert(made).second) return made;
  }

  int state(const std::string& name, DType d, std::vector<Id> extents, SourceLoc loc) {
    s_.program.params.push_back({fresh(name), Direction::state, d, std::move(extents), loc});
    return count_of(s_.program.params) - 1;
  }

  Id param(int slot) {
    const Parameter& p = nth(s_.program.params, slot);
    return g_.make(Op::PARAM, p.dtype, p.extents, {slot}, p.name);
  }

  void make_states() {
    for (const CarriedBuffer& c : carried_.buffers()) {
      if (c.param >= 0)
        slot_of_carried_.push_back(c.param);
      else
        slot_of_carried_.push_back(state("carried", g_.dtype(c.filled_from), shapes_.of(c.filled_from), g_.loc(c.filled_for)));
    }
  }

  Id place_of(Id n) {
    if (g_.op(n) == Op::PARAM) return n;
    const std::size_t carried = carried_.of(n);
    return carried == carried_.buffers().size() ? no_id : param(slot_of_carried_[carried]);
  }

  // The state for a value of an earlier segment. That segment stores the value.
  Id live_out(Id n) {
    const auto [it, fresh] = live_out_.try_emplace(n, -1);
    if (fresh) {
      it->second = state("live_out", g_.dtype(n), shapes_.of(n), g_.loc(n));
      add_store(times_.region(n), times_.time(n), {it->second, n});
    }
    return param(it->second);
  }

  void add_store(std::uint32_t region, std::uint32_t time, Stored what) {
    drafts_[draft_at_.at({region, time})].stores.push_back(what);
  }

  void make_symbols() {
    for (const Id loop : times_.loops()) {
      const LoopParts parts = loop_parts(g_, loop);
      const Id range = parts.range, begin = parts.begin, end = parts.end;
      for (const Id bound : {begin, end})
        for (const Id c : times_.cuts_of(bound)) read_back(c);
      const Interval from = bounds_of(begin), to = bounds_of(end), below = bounds_of(g_.end(range));
      const std::int64_t most = std::min(to.max, below.max) - 1;
      writer_.symbols[range] = symbol("turn", Symbol::Kind::counter, from.min, std::max(from.min, most), -1);
    }
    for (const Id kernel : times_.kernels())
      for (const Id r : std::vector<Id>(scope_ranges(g_, kernel).begin(), scope_ranges(g_, kernel).end()))
        for (const Id c : times_.cuts_of(g_.end(r))) read_back(c);
  }

  Interval bounds_of(Id expression) {
    const Interval i = Bounds(g_, facts_)(writer_.symbolic(expression));
    return {std::max(i.min, -farthest), std::min(i.max, farthest)};
  }

  Id symbol(const std::string& name, Symbol::Kind kind, std::int64_t min, std::int64_t max, int buffer) {
    s_.program.symbols.push_back({.name = fresh(name), .min = min, .max = max, .kind = kind, .buffer = buffer});
    const Symbol& made = s_.program.symbols.back();
    facts_.syms[made.name] = {made.min, made.max, made.multiple_of};
    return g_.sym(made.name);
  }

  // Gives an integer from data a symbol, and a state that a segment stores the integer in.
  void read_back(Id part) {
    if (writer_.symbols.contains(part)) return;
    const Interval range = bounds_of(part);
    const int slot = state("number", DType::i64, {}, g_.loc(part));
    writer_.symbols[part] = symbol("number", Symbol::Kind::element, range.min, range.max, slot);
    add_store(times_.region(part), times_.time(part), {slot, part});
  }

  void store_carried_values() {
    for (std::size_t carried = 0; carried < carried_.buffers().size(); ++carried) {
      const CarriedBuffer& c = carried_.buffers()[carried];
      if (c.filled_from == no_id) continue;
      const std::uint32_t region = times_.region(c.filled_for), from = times_.region(c.filled_from);
      add_store(region, from == region ? times_.result_time(c.filled_from) : 0, {slot_of_carried_[carried], c.filled_from});
    }
    for (const Id loop : times_.loops()) {
      const LoopParts parts = loop_parts(g_, loop);
      for (std::size_t i = 0; i < parts.yield.size(); ++i) {
        const std::size_t carried = carried_.of(loop, i);
        if (carried_.of(parts.yield[i]) != carried)
          add_store(times_.regions().owned[loop], carried_.store_time(loop, i), {slot_of_carried_[carried], parts.yield[i]});
      }
    }
    for (const Id store : g_.src(s_.program.sink)) {
      const auto [target, value] = g_.operands<2>(store);
      const int slot = parameter_of(g_, target);
      const std::size_t carried = carried_.of(value);
      const bool in_place = carried < carried_.buffers().size() && slot_of_carried_[carried] == slot;
      if (!in_place) add_store(0, times_.last_segment(0), {slot, value});
    }
  }

  void write(std::size_t number) {
    Draft& u = drafts_[number];
    if (u.stores.empty()) return;
    SegmentWriter segment(writer_, u.region, u.time);
    std::vector<Id> stores;
    for (std::size_t i = 0; i < u.stores.size(); ++i) {
      const auto [slot, from] = u.stores[i];
      const Id value = g_.dtype(from) == DType::index ? segment.number(from) : segment.value(from);
      g_.set_loc(g_.loc(from));
      stores.push_back(g_.make(Op::STORE, DType::none, {param(slot), value}));
    }
    sinks_[number] = g_.make(Op::SINK, DType::none, stores);
  }

  // Fills in s_.loops and s_.segments, without loops and segments that store nothing.
  void describe_loops() {
    std::vector<bool> used(ran_.size(), false);
    for (const auto& [draft, sink] : sinks_)
      for (int l = drafts_[draft].loop; l >= 0; l = nth(s_.loops, l).parent) nth(used, l) = true;
    std::vector<int> number(ran_.size(), -1);
    std::vector<HostLoop> loops;
    for (std::size_t i = 0; i < ran_.size(); ++i) {
      if (!used[i]) continue;
      number[i] = count_of(loops);
      const LoopParts parts = loop_parts(g_, ran_[i]);
      const std::int64_t step = parts.step;
      const bool conditional = parts.conditional;
      const Id range = parts.range, begin = parts.begin, end = parts.end;
      HostLoop l;
      if (s_.loops[i].parent >= 0) l.parent = nth(number, s_.loops[i].parent);
      l.counter = writer_.symbols.at(range);
      l.begin = writer_.symbolic(begin);
      l.end = writer_.symbolic(end);
      l.step = step;
      if (conditional) l.condition = slot_of_carried_[carried_.of(ran_[i], 0)];
      loops.push_back(l);
    }
    for (const auto& [draft, sink] : sinks_) {
      const int loop = drafts_[draft].loop;
      s_.segments.push_back(segment(sink, loop < 0 ? -1 : nth(number, loop)));
    }
    s_.loops = std::move(loops);
  }

  Segment segment(Id sink, int loop) const {
    std::set<int> reads, writes;
    std::vector<Id> values;
    for (const Id store : g_.src(sink)) {
      const auto [target, value] = g_.operands<2>(store);
      writes.insert(parameter_of(g_, target));
      values.push_back(value);
    }
    for (const Id n : g_.reachable(values))
      if (g_.op(n) == Op::PARAM) reads.insert(parameter_of(g_, n));
    return {sink, {reads.begin(), reads.end()}, {writes.begin(), writes.end()}, loop};
  }

  // Removes the symbols of loop counters that no expression contains.
  void forget_unused() {
    std::vector<Id> roots;
    for (const Segment& p : s_.segments) roots.push_back(p.sink);
    for (const HostLoop& l : s_.loops) roots.insert(roots.end(), {l.begin, l.end});
    std::set<std::string, std::less<>> used;
    for (const Id n : g_.reachable(roots))
      if (g_.op(n) == Op::SYM) used.emplace(g_.name(n));
    for (HostLoop& l : s_.loops)
      if (!used.contains(g_.name(l.counter))) l.counter = no_id;
    std::erase_if(s_.program.symbols,
                  [&](const Symbol& y) { return y.kind == Symbol::Kind::counter && !used.contains(y.name); });
  }

  Graph& g_;
  Schedule& s_;
  const HostTimes times_;
  const CarriedBuffers carried_;
  Shapes shapes_;
  Facts facts_;  // facts of the program's symbols and of the symbols made so far
  SegmentContext writer_;
  std::set<std::string> names_;
  std::map<std::string, int> next_name_;
  std::vector<Draft> drafts_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> draft_at_;
  std::map<std::size_t, Id> sinks_;   // by draft: the SINK of its stores
  std::vector<Id> ran_;               // by loop: its FOR
  std::vector<int> slot_of_carried_;  // by carried: its parameter or state
  std::map<Id, int> live_out_;        // value of an earlier segment -> its state
};

// A cheap test that rules most programs out: false if the program has no loops, no element reads and no integers from data.
bool may_need(const Graph& g, Id sink) {
  return std::ranges::any_of(g.reachable(sink), [&](Id n) {
    const Op op = g.op(n);
    return op == Op::RANGE || op == Op::INDEX || (op == Op::CAST && g.dtype(n) == DType::index);
  });
}

}  // namespace

void host_loops(Graph& g, Schedule& s) {
  if (!may_need(g, s.program.sink)) return;
  const LocScope restored(g);
  // Bounds and extents that depend only on loop counters and extents become index arithmetic, so no segment has to store them.
  // That changes the graph, so the second Outliner reads it again.
  if (Outliner(g, s).has_loops_or_cuts()) integer_indices(g, s.program);
  if (Outliner outliner(g, s); outliner.is_needed()) outliner.run();
}

}  // namespace kiln::compiler
