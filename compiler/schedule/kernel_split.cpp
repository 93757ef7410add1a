#include "compiler/schedule/kernel_split.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "compiler/rangeify/index_expr.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

std::vector<Id> range_ends(const Graph& g, Id node) {  // of STAGE and END: sources after the first are RANGEs
  std::vector<Id> ends;
  for (Id r : g.src(node).subspan(1)) ends.push_back(g.src(r, 0));
  return ends;
}

// A store to make: into buffer number `buffer`, over the ranges of `nest` (a STAGE or an END).
struct Target {
  int buffer;
  Id nest;
  Id value;
};

// Rewrites the values of one kernel: stages and parameters become loads, ranges and buffers get kernel-local numbers.
class KernelWriter {
 public:
  KernelWriter(Graph& g, Schedule& s, const std::unordered_map<Id, int>& buffer_of, Simplifier& simplify)
      : g_(g), schedule_(s), buffer_of_(buffer_of), simplify_(simplify) {}

  Kernel write(const std::vector<Target>& targets) {
    std::vector<Id> roots;
    for (const Target& t : targets) {
      slot(t.buffer);
      roots.push_back(t.value);
    }
    const std::vector<Id> ranges(g_.src(targets.front().nest).begin() + 1, g_.src(targets.front().nest).end());
    for (Id r : ranges) {
      loops_.push_back(numbered(r, RangeKind::loop));
      done_[r] = loops_.back();
    }
    for (Id id : inside(roots)) rewrite(id);
    std::vector<Id> ends;
    for (const Target& t : targets) ends.push_back(end(t));
    kernel_.sink = g_.make(Op::SINK, DType::none, ends);
    return std::move(kernel_);
  }

 private:
  int slot(int buffer) {
    const auto at = std::ranges::find(kernel_.buffers, buffer);
    const auto n = static_cast<int>(at - kernel_.buffers.begin());
    if (at == kernel_.buffers.end()) kernel_.buffers.push_back(buffer);
    return n;
  }
  Id buffer_node(int buffer) {
    return g_.make(Op::BUFFER, schedule_.buffers[static_cast<std::size_t>(buffer)].dtype, {}, {slot(buffer)});
  }
  Id numbered(Id range, RangeKind kind) {
    return g_.make(Op::RANGE, DType::index, {g_.src(range, 0)}, {next_range_++, static_cast<std::int64_t>(kind)});
  }

  // Ascending nodes of this kernel: not below other stages, parameters' extents, or the ends of ranges.
  std::vector<Id> inside(std::vector<Id> todo) const {
    std::unordered_set<Id> seen(todo.begin(), todo.end());
    while (!todo.empty()) {
      const Id id = todo.back();
      todo.pop_back();
      const bool access = g_.op(id) == Op::INDEX;
      if (g_.op(id) == Op::RANGE) continue;
      for (Id s : g_.src(id).subspan(access ? 1 : 0))
        if (seen.insert(s).second) todo.push_back(s);
    }
    std::vector<Id> order(seen.begin(), seen.end());
    std::ranges::sort(order);
    return order;
  }

  void rewrite(Id id) {
    if (done_.contains(id)) return;
    g_.set_loc(g_.loc(id));
    if (g_.op(id) == Op::INDEX) {
      done_[id] = load(id);
    } else if (g_.op(id) == Op::RANGE) {
      done_[id] = numbered(id, RangeKind::reduce);
    } else {
      std::vector<Id> src(g_.src(id).begin(), g_.src(id).end());
      for (Id& s : src) s = done_.at(s);
      done_[id] = g_.with_src(id, src);
    }
  }

  Id load(Id access) {
    const Id tensor = g_.src(access, 0);
    const std::vector<Id> extents =
        g_.op(tensor) == Op::PARAM ? std::vector<Id>(g_.src(tensor).begin(), g_.src(tensor).end()) : range_ends(g_, tensor);
    std::vector<Id> index(g_.src(access).begin() + 1, g_.src(access).end());
    for (Id& i : index) i = done_.at(i);
    Id gate = no_id;
    if (!index.empty() && g_.op(index[0]) == Op::WHERE && g_.op(g_.src(index[0], 2)) == Op::INVALID) {
      gate = g_.src(index[0], 0);
      index[0] = g_.src(index[0], 1);
    }
    const Id linear = simplify_(row_major(g_, index, extents));
    const Id buffer = buffer_node(buffer_of_.at(tensor));
    const DType d = g_.dtype(access);
    if (gate == no_id) return g_.make(Op::LOAD, d, {buffer, linear});
    return g_.make(Op::LOAD, d, {buffer, linear, g_.constant(d, 0), gate});
  }

  Id end(const Target& t) {
    const std::vector<Id> extents = range_ends(g_, t.nest);
    const Id linear = simplify_(row_major(g_, loops_, extents));
    std::vector<Id> src{g_.make(Op::STORE, DType::none, {buffer_node(t.buffer), linear, done_.at(t.value)})};
    src.insert(src.end(), loops_.begin(), loops_.end());
    return g_.make(Op::END, DType::none, src);
  }

  Graph& g_;
  Schedule& schedule_;
  const std::unordered_map<Id, int>& buffer_of_;
  Simplifier& simplify_;
  Kernel kernel_;
  std::vector<Id> loops_;
  std::unordered_map<Id, Id> done_;
  std::int64_t next_range_ = 0;
};

class Splitter {
 public:
  Splitter(Graph& g, Schedule& s) : g_(g), s_(s), facts_(facts_of(s.program)), simplify_(g, facts_) {}

  void run() {
    for (const Parameter& p : s_.program.params)
      s_.buffers.push_back({p.dtype, index_product(g_, p.extents), static_cast<int>(s_.buffers.size()), no_id});
    const Id roots[] = {s_.program.sink};
    for (Id id : g_.reachable(roots)) {
      if (g_.op(id) == Op::PARAM) buffer_of_[id] = static_cast<int>(g_.arg(id, 0));
      if (g_.op(id) == Op::STAGE) stages_.push_back(id);
    }
    const std::vector<Id> ends(g_.src(s_.program.sink).begin(), g_.src(s_.program.sink).end());
    std::vector<Id> kept;
    for (Id end : ends)
      if (!lives_in_parameter(end)) kept.push_back(end);
    for (Id stage : stages_) {
      if (!buffer_of_.contains(stage)) {
        buffer_of_[stage] = static_cast<int>(s_.buffers.size());
        s_.buffers.push_back({g_.dtype(stage), index_product(g_, range_ends(g_, stage)), -1, no_id});
      }
    }
    for (Id stage : stages_) add({{buffer_of_[stage], stage, g_.src(stage, 0)}});
    add_groups(kept);
  }

 private:
  // END(STORE(PARAM out, INDEX(STAGE, its own ranges))): the stage can be computed in place.
  bool lives_in_parameter(Id end) {
    const Id store = g_.src(end, 0), param = g_.src(store, 0), read = g_.src(store, 1);
    if (s_.program.params[static_cast<std::size_t>(g_.arg(param, 0))].direction != Direction::out) return false;
    if (g_.op(read) != Op::INDEX || g_.op(g_.src(read, 0)) != Op::STAGE || buffer_of_.contains(g_.src(read, 0))) return false;
    // The whole stage, not a part of it or a broadcast of it, in its order: its axes may be others.
    const std::vector<Id> index(g_.src(read).begin() + 1, g_.src(read).end()),
        ranges(g_.src(end).begin() + 1, g_.src(end).end());
    const std::vector<Id> stage = range_ends(g_, g_.src(read, 0)), whole = range_ends(g_, end);
    if (index_product(g_, stage) != index_product(g_, whole)) return false;
    if (simplify_(row_major(g_, index, stage)) != simplify_(row_major(g_, ranges, whole))) return false;
    buffer_of_[g_.src(read, 0)] = static_cast<int>(g_.arg(param, 0));
    return true;
  }

  void add_groups(const std::vector<Id>& ends) {
    for (std::size_t i = 0; i < ends.size();) {
      std::vector<Target> targets;
      std::size_t j = i;
      for (; j < ends.size() && same_ranges(ends[i], ends[j]); ++j) {
        const Id store = g_.src(ends[j], 0);
        targets.push_back({static_cast<int>(g_.arg(g_.src(store, 0), 0)), ends[j], g_.src(store, 1)});
      }
      add(targets);
      i = j;
    }
  }

  bool same_ranges(Id a, Id b) const { return a == b || std::ranges::equal(g_.src(a).subspan(1), g_.src(b).subspan(1)); }

  void add(const std::vector<Target>& targets) {
    Kernel k = KernelWriter(g_, s_, buffer_of_, simplify_).write(targets);
    k.name = s_.program.name + "_k" + std::to_string(s_.kernels.size());
    s_.kernels.push_back(std::move(k));
  }

  Graph& g_;
  Schedule& s_;
  const Facts facts_;
  Simplifier simplify_;
  std::unordered_map<Id, int> buffer_of_;
  std::vector<Id> stages_;
};

}  // namespace

void kernel_split(Graph& g, Schedule& s) {
  const SourceLoc saved = g.loc();
  Splitter(g, s).run();
  g.set_loc(saved);
}

}  // namespace kiln::compiler
