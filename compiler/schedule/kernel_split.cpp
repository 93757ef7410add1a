#include "compiler/schedule/kernel_split.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/state.h"
#include "compiler/rangeify/index_expr.h"
#include "compiler/rangeify/kernel_body.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

std::vector<Id> range_ends(const Graph& g, Id node) {  // of STAGE and END: sources after the first are RANGEs
  std::vector<Id> ends;
  for (Id r : g.src(node).subspan(1)) ends.push_back(g.src(r, 0));
  return ends;
}

bool is_storage(const Graph& g, Id tensor) {
  const Op op = g.op(tensor);
  return op == Op::PARAM || op == Op::STAGE || (op == Op::GET && g.op(g.src(tensor, 0)) == Op::KERNEL);
}

// The STAGE whose buffer a KERNEL of the program updates in place.
Id state_stage(const Graph& g, Id kernel, std::int64_t state) {
  return kernel_parts(g, kernel).init[static_cast<std::size_t>(state)];
}

// Extents of a tensor or, inside a KERNEL, of a state of one.
std::vector<Id> extents_of(const Graph& g, Id tensor) {
  for (;;) switch (g.op(tensor)) {
      case Op::STAGE: return range_ends(g, tensor);
      case Op::PARAM: return {g.src(tensor).begin(), g.src(tensor).end()};
      case Op::LOCAL: return {g.src(tensor).begin() + 1, g.src(tensor).end()};
      case Op::CARRY: tensor = g.src(tensor, 1); break;
      case Op::GET: {
        const Id region = g.src(tensor, 0);
        const auto i = static_cast<std::size_t>(g.arg(tensor, 0));
        tensor = g.op(region) == Op::KERNEL ? state_stage(g, region, g.arg(tensor, 0)) : g.src(region, 3 + i);
        break;
      }
      default: tensor = g.src(tensor, 0); break;
    }
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

  // A KERNEL of the program, over the buffers of its states.
  Kernel write_own(Id kernel) {
    kernel_.is_own = true;
    const KernelParts parts = kernel_parts(g_, kernel);
    const std::vector<Id> ranges(parts.ranges.begin(), parts.ranges.end()), init(parts.init.begin(), parts.init.end()),
        final(parts.final.begin(), parts.final.end());
    for (Id r : ranges) {
      loops_.push_back(numbered(r, RangeKind::loop));
      done_[r] = loops_.back();
    }
    for (Id s : init) states_.push_back(entry(buffer_node(buffer_of_.at(s)), loops_));
    entry_ = ranges[0];
    for (Id id : inside(final)) rewrite(id);
    std::vector<Id> ends;
    for (Id f : final) {
      std::vector<Id> src{done_.at(f)};
      src.insert(src.end(), loops_.begin(), loops_.end());
      ends.push_back(g_.make(Op::END, DType::none, src));
    }
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
      const bool access = g_.op(id) == Op::INDEX && is_storage(g_, g_.src(id, 0));
      if (g_.op(id) == Op::RANGE || is_entry(id)) continue;
      for (Id s : g_.src(id).subspan(access ? 1 : 0))
        if (seen.insert(s).second) todo.push_back(s);
    }
    std::vector<Id> order(seen.begin(), seen.end());
    std::ranges::sort(order);
    return order;
  }

  // The state of a KERNEL when an iteration begins.
  bool is_entry(Id id) const { return entry_ != no_id && g_.op(id) == Op::CARRY && g_.src(id, 0) == entry_; }

  void rewrite(Id id) {
    if (done_.contains(id)) return;
    g_.set_loc(g_.loc(id));
    if (is_entry(id)) {
      done_[id] = states_[static_cast<std::size_t>(g_.arg(id, 0))];
    } else if (g_.op(id) == Op::INDEX) {
      done_[id] = load(id);
    } else if (g_.op(id) == Op::UPDATE || g_.op(id) == Op::ATOMIC) {
      done_[id] = update(id);
    } else if (g_.op(id) == Op::RANGE) {
      done_[id] = numbered(id, entry_ == no_id ? RangeKind::reduce : static_cast<RangeKind>(g_.arg(id, 1)));
    } else {
      std::vector<Id> src(g_.src(id).begin(), g_.src(id).end());
      for (Id& s : src) s = done_.at(s);
      done_[id] = other(id, src);
    }
  }

  Id entry(Id memory, std::vector<Id> positions) {
    positions.insert(positions.begin(), memory);
    return g_.make(Op::ENTRY, DType::none, positions);
  }

  Id other(Id id, const std::vector<Id>& src) {
    const Op op = g_.op(id);
    const std::vector<std::int64_t> args(g_.args(id).begin(), g_.args(id).end());
    // An array of the KERNEL's region begins anew at each of its positions.
    if (op == Op::LOCAL) return entry(g_.with_src(id, src), g_.src(id, 0) == entry_ ? loops_ : std::vector<Id>{src[0]});
    if (op == Op::CARRY && is_state(g_, src[1])) return g_.make(op, DType::none, src, args);
    if (op == Op::GET && is_state(g_, g_.src(src[0], 3 + static_cast<std::size_t>(args[0]))))
      return g_.make(op, DType::none, src, args);
    return g_.with_src(id, src);
  }

  // Position of an element; takes the gate of a poisoned first index.
  Id position(Id tensor, std::span<const Id> at, Id& gate) {
    std::vector<Id> index(at.begin(), at.end());
    for (Id& i : index) i = done_.at(i);
    if (!index.empty() && g_.op(index[0]) == Op::WHERE && g_.op(g_.src(index[0], 2)) == Op::INVALID) {
      gate = g_.src(index[0], 0);
      index[0] = g_.src(index[0], 1);
    }
    return simplify_(row_major(g_, index, extents_of(g_, tensor)));
  }

  Id load(Id access) {
    const Id tensor = g_.src(access, 0);
    Id gate = no_id;
    const Id linear = position(tensor, g_.src(access).subspan(1), gate);
    const Id memory = is_storage(g_, tensor) ? buffer_node(buffer_of_.at(tensor)) : done_.at(tensor);
    const DType d = g_.dtype(access);
    if (gate == no_id) return g_.make(Op::LOAD, d, {memory, linear});
    return g_.make(Op::LOAD, d, {memory, linear, g_.constant(d, 0), gate});
  }

  // {state, gate, value [, expected], i...} -> STORE {state, position, value [, gate]}, ATOMIC {state, gate, value [,
  // expected], position}.
  Id update(Id id) {
    const bool atomic = g_.op(id) == Op::ATOMIC;
    const bool compares = atomic && static_cast<AtomicKind>(g_.arg(id, 0)) == AtomicKind::compare_exchange;
    const std::size_t values = compares ? 4 : 3;
    Id poison = no_id;
    const Id linear =
        position(id, std::vector<Id>(g_.src(id).begin() + static_cast<std::ptrdiff_t>(values), g_.src(id).end()), poison);
    const Id state = done_.at(g_.src(id, 0)), value = done_.at(g_.src(id, 2));
    const Id gate = both(g_, always(done_.at(g_.src(id, 1))), poison);
    if (!atomic && gate == no_id) return g_.make(Op::STORE, DType::none, {state, linear, value});
    if (!atomic) return g_.make(Op::STORE, DType::none, {state, linear, value, gate});
    std::vector<Id> src{state, gate == no_id ? g_.constant(DType::boolean, 1) : gate, value};
    if (compares) src.push_back(done_.at(g_.src(id, 3)));
    src.push_back(linear);
    return g_.make(Op::ATOMIC, DType::none, src, std::vector<std::int64_t>(g_.args(id).begin(), g_.args(id).end()));
  }
  Id always(Id gate) const { return g_.is_const(gate) && g_.arg(gate, 0) != 0 ? no_id : gate; }

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
  std::vector<Id> states_;  // of a KERNEL: its buffers
  Id entry_ = no_id;        // its first RANGE
  std::unordered_map<Id, Id> done_;
  std::int64_t next_range_ = 0;
};

class Splitter {
 public:
  Splitter(Graph& g, Schedule& s) : g_(g), s_(s), facts_(facts_of(s.program)), simplify_(g, facts_) {}

  void run() {
    if (s_.buffers.empty())  // else by an earlier piece
      for (const Parameter& p : s_.program.params)
        s_.buffers.push_back({p.dtype, index_product(g_, p.extents), static_cast<int>(s_.buffers.size()), no_id});
    const Id roots[] = {s_.program.sink};
    for (Id id : g_.reachable(roots)) {
      if (g_.op(id) == Op::PARAM) buffer_of_[id] = static_cast<int>(g_.arg(id, 0));
      if (g_.op(id) == Op::STAGE || g_.op(id) == Op::KERNEL) units_.push_back(id);
      if (g_.op(id) == Op::GET && g_.op(g_.src(id, 0)) == Op::KERNEL) results_.push_back(id);
      for (const Id read : g_.src(id))
        if (g_.op(read) == Op::INDEX) ++readers_[g_.src(read, 0)];
    }
    for (Id unit : units_) {
      if (g_.op(unit) == Op::STAGE) take_over(unit);
      if (g_.op(unit) == Op::KERNEL) leave_unfilled(unit);
    }
    const std::vector<Id> ends(g_.src(s_.program.sink).begin(), g_.src(s_.program.sink).end());
    std::vector<Id> kept;
    for (Id end : ends)
      if (!lives_in_parameter(end)) kept.push_back(end);
    for (Id unit : units_)
      if (g_.op(unit) == Op::STAGE) give_buffer(unit);
    for (Id unit : units_)
      if (g_.op(unit) == Op::STAGE && g_.args(unit).size() == 1)
        s_.buffers[static_cast<std::size_t>(buffer_of_.at(storage(unit)))].whole = true;
    for (Id result : results_) buffer_of_[result] = buffer_of_.at(storage(result));
    for (Id unit : units_) {
      if (g_.op(unit) == Op::KERNEL)
        add(KernelWriter(g_, s_, buffer_of_, simplify_).write_own(unit));
      else if (!taken_.contains(unit) && !unfilled_.contains(unit))
        add(KernelWriter(g_, s_, buffer_of_, simplify_).write({{buffer_of_[unit], unit, g_.src(unit, 0)}}));
    }
    add_groups(kept);
  }

 private:
  // The STAGE in whose buffer a tensor lies.
  Id storage(Id tensor) const {
    for (;;) {
      if (g_.op(tensor) == Op::GET) tensor = state_stage(g_, g_.src(tensor, 0), g_.arg(tensor, 0));
      const auto it = taken_.find(tensor);
      if (it == taken_.end()) return tensor;
      tensor = it->second;
    }
  }

  // INDEX(tensor, exactly these ranges)?
  bool is_whole(Id read, std::span<const Id> ranges) const {
    if (g_.op(read) != Op::INDEX || g_.src(read).size() != ranges.size() + 1) return false;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const Id at = g_.src(read, i + 1);
      if (at != ranges[i] && !(g_.is_index_const(at, 0) && g_.is_index_const(g_.src(ranges[i], 0), 1))) return false;
    }
    return true;
  }

  // A copy of a tensor that nobody else reads lies where the tensor does: a KERNEL updates it in place.
  void take_over(Id stage) {
    const Id read = g_.src(stage, 0);
    if (!is_whole(read, g_.src(stage).subspan(1))) return;
    const Id tensor = g_.src(read, 0);
    if (g_.op(tensor) != Op::PARAM && readers_[tensor] == 1 && extents_of(g_, tensor) == range_ends(g_, stage))
      taken_[stage] = tensor;
  }

  // Storage of which a KERNEL writes every element, and reads none before, needs no contents.
  void leave_unfilled(Id kernel) {
    const KernelParts parts = kernel_parts(g_, kernel);
    for (std::size_t i = 0; i < parts.final.size(); ++i) {
      const Id write = parts.final[i];
      if (g_.op(write) != Op::UPDATE || g_.op(g_.src(write, 0)) != Op::CARRY || taken_.contains(parts.init[i])) continue;
      const WriteParts w = write_parts(g_, write);
      const bool always = g_.is_const(w.gate) && g_.arg(w.gate, 0) != 0, read = readers_.contains(w.state);
      if (always && !read && std::ranges::equal(w.index, parts.ranges) &&
          range_ends(g_, parts.init[i]) == ends_of(parts.ranges))
        unfilled_.insert(parts.init[i]);
    }
  }
  std::vector<Id> ends_of(std::span<const Id> ranges) const {
    std::vector<Id> out;
    for (const Id r : ranges) out.push_back(g_.src(r, 0));
    return out;
  }

  void give_buffer(Id stage) {
    const Id home = storage(stage);
    const auto [it, fresh] = buffer_of_.try_emplace(home, static_cast<int>(s_.buffers.size()));
    if (fresh) s_.buffers.push_back({g_.dtype(home), index_product(g_, range_ends(g_, home)), -1, no_id});
    buffer_of_[stage] = it->second;
  }

  // END(STORE(PARAM out, INDEX(tensor, its own ranges))): the tensor can be computed in place.
  bool lives_in_parameter(Id end) {
    const Id store = g_.src(end, 0), param = g_.src(store, 0), read = g_.src(store, 1);
    if (g_.op(read) != Op::INDEX) return false;
    const Id tensor = g_.src(read, 0);
    if (g_.op(tensor) == Op::PARAM || buffer_of_.contains(storage(tensor))) return false;
    // The whole tensor, not a part of it or a broadcast of it, in its order: its axes may be others.
    const std::vector<Id> index(g_.src(read).begin() + 1, g_.src(read).end()),
        ranges(g_.src(end).begin() + 1, g_.src(end).end());
    const std::vector<Id> held = extents_of(g_, tensor), whole = range_ends(g_, end);
    if (index_product(g_, held) != index_product(g_, whole)) return false;
    if (simplify_(row_major(g_, index, held)) != simplify_(row_major(g_, ranges, whole))) return false;
    if (s_.program.params[static_cast<std::size_t>(g_.arg(param, 0))].direction != Direction::out && !updates(tensor, param))
      return false;
    buffer_of_[storage(tensor)] = static_cast<int>(g_.arg(param, 0));
    return true;
  }
  // A KERNEL's state that began as a copy of the parameter, which nobody else reads: it is updated in place.
  bool updates(Id tensor, Id param) {
    if (g_.op(tensor) != Op::GET || readers_[tensor] != 1 || readers_[param] != 1) return false;
    const Id home = storage(tensor), value = g_.src(home, 0);
    if (g_.op(value) != Op::INDEX || g_.src(value, 0) != param || !is_whole(value, g_.src(home).subspan(1))) return false;
    unfilled_.insert(home);
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
      add(KernelWriter(g_, s_, buffer_of_, simplify_).write(targets));
      i = j;
    }
  }

  bool same_ranges(Id a, Id b) const { return a == b || std::ranges::equal(g_.src(a).subspan(1), g_.src(b).subspan(1)); }

  void add(Kernel k) {
    k.name = s_.program.name + "_k" + std::to_string(s_.kernels.size());
    s_.kernels.push_back(std::move(k));
  }

  Graph& g_;
  Schedule& s_;
  const Facts facts_;
  Simplifier simplify_;
  std::unordered_map<Id, int> buffer_of_;
  std::vector<Id> units_;    // STAGEs and KERNELs, ascending
  std::vector<Id> results_;  // GETs of KERNELs
  std::unordered_map<Id, int> readers_;
  std::unordered_map<Id, Id> taken_;  // STAGE -> the tensor whose buffer it updates
  std::unordered_set<Id> unfilled_;   // STAGEs that nothing is copied to
};

}  // namespace

void kernel_split(Graph& g, Schedule& s) {
  const SourceLoc saved = g.loc();
  Splitter(g, s).run();
  g.set_loc(saved);
}

}  // namespace kiln::compiler
