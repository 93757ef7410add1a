#include "compiler/schedule/kernel_split.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/layout.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/rangeify/index_expr.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/schedule/storage.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

// A store to write: `value` to buffer number `buffer`, over the ranges of `nest`, a STAGE or an END.
struct BufferWrite {
  int buffer;
  Id nest;
  Id value;
};

// Writes one kernel: reads of STAGEs and parameters become loads, ranges and buffers get numbers of the kernel's own.
class KernelWriter {
 public:
  KernelWriter(Graph& g, Schedule& s, const std::unordered_map<Id, int>& buffer_of, Simplifier& simplify)
      : g_(g), schedule_(s), buffer_of_(buffer_of), simplify_(simplify) {}

  Kernel write(const std::vector<BufferWrite>& targets) {
    std::vector<Id> roots;
    for (const BufferWrite& t : targets) {
      slot_of(t.buffer);
      roots.push_back(t.value);
    }
    number_loops(g_.sources(targets.front().nest, 1));
    for (Id id : inside(roots)) rewrite(id);
    std::vector<Id> ends;
    for (const BufferWrite& t : targets) ends.push_back(end(t));
    kernel_.sink = g_.make(Op::SINK, DType::none, ends);
    return std::move(kernel_);
  }

  // Writes a KERNEL of the program. buffers: one for each state.
  Kernel write_explicit(Id kernel, std::span<const int> buffers) {
    kernel_.is_explicit = true;
    const KernelParts parts = kernel_parts(g_, kernel);
    const std::vector<Id> ranges(parts.ranges.begin(), parts.ranges.end()), final(parts.final.begin(), parts.final.end());
    number_loops(ranges);
    for (const int b : buffers) states_.push_back(entry(buffer_node(b), loops_));
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
  std::size_t slot_of(int buffer) {
    const auto at = std::ranges::find(kernel_.buffers, buffer);
    const std::size_t slot = index_at(kernel_.buffers, at);
    if (at == kernel_.buffers.end()) kernel_.buffers.push_back(buffer);
    return slot;
  }
  Id buffer_node(int buffer) { return g_.make(Op::BUFFER, nth(schedule_.buffers, buffer).dtype, {}, {slot_of(buffer)}); }
  Id numbered(Id range, RangeKind kind) { return g_.range(g_.end(range), next_range_++, kind); }
  void number_loops(const std::vector<Id>& ranges) {
    for (const Id r : ranges) {
      loops_.push_back(numbered(r, RangeKind::loop));
      done_[r] = loops_.back();
    }
  }

  // The nodes of this kernel, ascending. The walk stops at STAGEs, parameters, RANGEs, and states on entry.
  std::vector<Id> inside(std::vector<Id> todo) const {
    std::unordered_set<Id> seen(todo.begin(), todo.end());
    while (!todo.empty()) {
      const Id id = todo.back();
      todo.pop_back();
      const bool access = g_.op(id) == Op::INDEX && is_storage(g_, g_.data(id));
      if (g_.op(id) == Op::RANGE || is_entry(id)) continue;
      for (Id s : g_.src(id).subspan(access ? 1 : 0))
        if (seen.insert(s).second) todo.push_back(s);
    }
    std::vector<Id> order(seen.begin(), seen.end());
    std::ranges::sort(order);
    return order;
  }

  // Whether a node is a state of the KERNEL at the beginning of a work item.
  bool is_entry(Id id) const { return entry_ != no_id && g_.op(id) == Op::CARRY && g_.range_of(id) == entry_; }

  void rewrite(Id id) {
    if (done_.contains(id)) return;
    g_.set_loc(g_.loc(id));
    if (is_entry(id)) {
      done_[id] = nth(states_, g_.slot(id));
    } else if (g_.op(id) == Op::INDEX) {
      done_[id] = load(id);
    } else if (g_.op(id) == Op::UPDATE || g_.op(id) == Op::ATOMIC) {
      done_[id] = update(id);
    } else if (g_.op(id) == Op::RANGE) {
      done_[id] = numbered(id, entry_ == no_id ? RangeKind::reduce : g_.range_kind(id));
    } else {
      std::vector<Id> src = g_.sources(id);
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
    // A LOCAL array of the KERNEL's own region starts again in each work item, an array of a FOR in each iteration.
    if (op == Op::LOCAL) return entry(g_.with_src(id, src), g_.range_of(id) == entry_ ? loops_ : std::vector<Id>{src[0]});
    if (op == Op::CARRY && is_state(g_, src[1])) return g_.make(op, DType::none, src, args);
    if (op == Op::GET && is_state(g_, nth(scope_inits(g_, src[0]), args[0]))) return g_.make(op, DType::none, src, args);
    return g_.with_src(id, src);
  }

  // The first state in a tensor's chain of changes. Results are kept, because chains are as long as the kernel.
  Id at_first(Id tensor) {
    std::vector<Id> changed;
    for (Id before = no_id; !first_.contains(tensor); tensor = before) {
      before = changed_from(g_, tensor);
      if (before == tensor) first_[tensor] = tensor;
      changed.push_back(tensor);
    }
    for (const Id id : changed) first_[id] = first_.at(tensor);
    return first_.at(tensor);
  }

  // The linear index of an element. A first index WHERE(c, i, INVALID) counts as i and sets `gate` to c.
  Id position(Id tensor, std::span<const Id> at, Id& gate) {
    std::vector<Id> index(at.begin(), at.end());
    for (Id& i : index) i = done_.at(i);
    if (!index.empty() && g_.op(index[0]) == Op::WHERE) {
      const auto [c, i, otherwise] = g_.operands<3>(index[0]);
      if (g_.op(otherwise) == Op::INVALID) {
        gate = c;
        index[0] = i;
      }
    }
    const Id first = at_first(tensor);
    const auto buffer = buffer_of_.find(first);  // none: a LOCAL array
    return place(buffer == buffer_of_.end() ? -1 : buffer->second, index, extents_of(g_, first));
  }

  // The linear index in a buffer; buffer -1: in a LOCAL array.
  Id place(int buffer, std::span<const Id> index, std::span<const Id> extents) {
    const Parameter* strides = buffer < 0 ? nullptr : free_layout(schedule_, buffer);
    return simplify_(strides == nullptr ? row_major(g_, index, extents) : position_of(g_, *strides, index));
  }

  Id load(Id access) {
    const Id tensor = g_.data(access);
    Id gate = no_id;
    const Id linear = position(tensor, g_.src(access).subspan(1), gate);
    const Id memory = is_storage(g_, tensor) ? buffer_node(buffer_of_.at(tensor)) : done_.at(tensor);
    const DType d = g_.dtype(access);
    if (gate == no_id) return g_.make(Op::LOAD, d, {memory, linear});
    return g_.make(Op::LOAD, d, {memory, linear, g_.constant(d, 0), gate});
  }

  // {state, gate, value [, expected], i...} -> STORE {state, linear index, value [, gate]}, ATOMIC {state, gate, value [,
  // expected], linear index}.
  Id update(Id id) {
    const bool atomic = g_.op(id) == Op::ATOMIC;
    const WriteParts parts = write_parts(g_, id);
    Id poison = no_id;
    const Id linear = position(id, parts.index, poison);
    const Id state = done_.at(parts.state), value = done_.at(parts.value);
    const Id gate = both(g_, always(done_.at(parts.gate)), poison);
    if (!atomic && gate == no_id) return g_.make(Op::STORE, DType::none, {state, linear, value});
    if (!atomic) return g_.make(Op::STORE, DType::none, {state, linear, value, gate});
    std::vector<Id> src{state, gate == no_id ? g_.constant(DType::boolean, 1) : gate, value};
    if (parts.expected != no_id) src.push_back(done_.at(parts.expected));
    src.push_back(linear);
    return g_.make(Op::ATOMIC, DType::none, src, std::vector<std::int64_t>(g_.args(id).begin(), g_.args(id).end()));
  }
  Id always(Id gate) const { return g_.is_const(gate) && g_.value(gate) != 0 ? no_id : gate; }

  Id end(const BufferWrite& t) {
    g_.set_loc(g_.loc(t.nest));
    const std::vector<Id> extents = range_ends(g_, t.nest);
    const Id linear = place(t.buffer, loops_, extents);
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
  std::vector<Id> states_;                   // of a KERNEL: the ENTRY of each state
  Id entry_ = no_id;                         // of a KERNEL: its first RANGE
  std::unordered_map<Id, Id> done_, first_;  // node -> node of the kernel; see at_first()
  std::int64_t next_range_ = 0;
};

class KernelSplitter {
 public:
  KernelSplitter(Graph& g, Schedule& s) : g_(g), s_(s), facts_(facts_of(s.program)), simplify_(g, facts_) {}

  void run() {
    if (s_.buffers.empty())  // otherwise an earlier segment has added the parameters
      for (const Parameter& p : s_.program.params)
        s_.buffers.push_back({p.dtype, index_product(g_, p.extents), count_of(s_.buffers), no_id});
    const Storage storage(g_, s_, simplify_);
    const auto writer = [&] { return KernelWriter(g_, s_, storage.buffers(), simplify_); };
    for (const Id producer : storage.producers())
      if (g_.op(producer) == Op::KERNEL)
        add(writer().write_explicit(producer, storage.states_of(producer)));
      else if (storage.is_filled(producer))
        add(writer().write({{storage.buffers().at(producer), producer, g_.data(producer)}}));
    add_groups(storage);
  }

 private:
  void add_groups(const Storage& storage) {
    const std::vector<Id>& ends = storage.ends();
    for (std::size_t i = 0; i < ends.size();) {
      std::vector<BufferWrite> targets;
      std::size_t j = i;
      for (; j < ends.size() && same_ranges(ends[i], ends[j]); ++j) {
        const auto [param, value] = g_.operands<2>(g_.store(ends[j]));
        targets.push_back({parameter_of(g_, param), ends[j], value});
      }
      add(KernelWriter(g_, s_, storage.buffers(), simplify_).write(targets));
      i = j;
    }
  }

  bool same_ranges(Id a, Id b) const {
    if (a == b) return true;
    if (hands_on_state(g_, a) || hands_on_state(g_, b)) return false;
    return std::ranges::equal(g_.src(a).subspan(1), g_.src(b).subspan(1));
  }

  void add(Kernel k) {
    if (!k.is_explicit) drop_unit_loops(g_, k, simplify_);
    k.name = s_.program.name + "_k" + std::to_string(s_.kernels.size());
    s_.kernels.push_back(std::move(k));
  }

  Graph& g_;
  Schedule& s_;
  const Facts facts_;
  Simplifier simplify_;
};

}  // namespace

void kernel_split(Graph& g, Schedule& s) {
  const LocScope restored(g);
  KernelSplitter(g, s).run();
}

}  // namespace kiln::compiler
