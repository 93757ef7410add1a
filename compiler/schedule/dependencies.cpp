#include "compiler/schedule/dependencies.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/entry_values.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/state.h"
#include "compiler/schedule/copies.h"
#include "compiler/schedule/segments.h"

namespace kiln::compiler {
namespace {

template <class Number>
void sort_unique(std::vector<Number>& v) {
  std::ranges::sort(v);
  v.erase(std::unique(v.begin(), v.end()), v.end());
}

int buffer_at(const Graph& g, const Kernel& k, Id state) { return nth(k.buffers, g.slot(memory_of(g, state))); }

// The END of kernel k that stores to the buffer; no_id: none.
Id end_into(const Graph& g, const Kernel& k, int buffer) {
  for (Id end : g.src(k.sink))
    if (buffer_at(g, k, g.state(g.store(end))) == buffer) return end;
  return no_id;
}

// Whether k loads from the buffer another element than the one that it stores there in the same iteration. An iteration loads
// elements of parameters before it stores any.
bool reads_elsewhere(const Graph& g, const Kernel& k, int buffer, Id end) {
  const Id here = g.src(g.store(end), 1);
  for (Id other : g.src(k.sink)) {
    const bool same_iteration = std::ranges::equal(g.src(other).subspan(1), g.src(end).subspan(1));
    for (Id id : g.reachable(other))
      if (g.op(id) == Op::LOAD && buffer_at(g, k, g.state(id)) == buffer && (g.src(id, 1) != here || !same_iteration))
        return true;
  }
  return false;
}

// The first buffer of a chain of `after`. All buffers of the chain use its memory.
int memory_of_buffer(const Schedule& s, int b) {
  while (nth(s.buffers, b).after >= 0) b = nth(s.buffers, b).after;
  return b;
}

class Edges {
 public:
  Edges(Graph& g, Schedule& s) : g_(g), s_(s) {}

  void run() {
    for (const Kernel& k : s_.kernels) access_.push_back(access_of(g_, k));
    list_users();
    const std::size_t count = s_.kernels.size();
    for (std::size_t k = 0; k < count; ++k) connect(k);
    next_.resize(count);
    for (std::size_t k = 0; k < count; ++k)
      for (const std::size_t d : s_.kernels[k].depends_on) next_[d].push_back(k);
    delay_copies();
    for (std::size_t k = 0; k < count; ++k)
      for (const int b : std::vector<int>(access_[k].stores))
        if (is_entry_value(s_, b)) overwrite(k, b);
    order();
  }

  // Lists each kernel's entry reads, because an inout parameter of a segment need not be one of the program.
  void tell_entry_reads() {
    for (Kernel& k : s_.kernels) k.at_entry = entry_reads(k);
  }

 private:
  using Used = decltype(&KernelAccess::loads);
  std::vector<std::vector<std::size_t>> kernels_by_buffer(Used which) const {
    std::vector<std::vector<std::size_t>> out(s_.buffers.size());
    for (std::size_t k = 0; k < access_.size(); ++k)
      for (const int b : access_[k].*which) nth(out, b).push_back(k);
    return out;
  }

  bool is_parameter(int b) const { return nth(s_.buffers, b).param >= 0; }

  void list_users() {
    readers_ = kernels_by_buffer(&KernelAccess::loads);
    writers_ = kernels_by_buffer(&KernelAccess::stores);
  }

  // Makes kernel k store to parameter b after all kernels that read b. If no order allows that, k stores to a temporary, and a
  // copy kernel stores b. A kernel of the program always changes b in place: its loads and stores have an order of their own.
  void overwrite(std::size_t k, int b) {
    std::vector<std::size_t> readers = nth(readers_, b);
    const Kernel& kernel = s_.kernels[k];
    const bool copies =
        !kernel.is_explicit && (reads_elsewhere(g_, kernel, b, end_into(g_, kernel, b)) || reaches_one_of(k, readers));
    if (!copies) std::erase(readers, k);
    const std::size_t writer = copies ? through_temporary(k, b) : k;
    for (const std::size_t r : readers) {
      s_.kernels[writer].depends_on.push_back(r);
      next_[r].push_back(writer);
    }
    sort_unique(s_.kernels[writer].depends_on);
  }

  // Whether one of `kernels` depends on kernel k, directly or through others.
  bool reaches_one_of(std::size_t k, const std::vector<std::size_t>& kernels) const {
    if (kernels.empty() || next_[k].empty()) return false;
    std::vector<bool> seen(next_.size(), false);
    std::vector<std::size_t> open = next_[k];
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      if (std::ranges::find(kernels, at) != kernels.end()) return true;
      open.insert(open.end(), next_[at].begin(), next_[at].end());
    }
    return false;
  }

  // Makes kernel k store to a temporary instead of parameter b. Returns a new kernel that copies the temporary to b.
  std::size_t through_temporary(std::size_t k, int b) {
    const int temporary = count_of(s_.buffers);
    const Buffer target = nth(s_.buffers, b);
    s_.buffers.push_back({target.dtype, target.size, -1, no_id});
    Kernel& kernel = s_.kernels[k];
    const std::int64_t slot = std::ssize(kernel.buffers);
    kernel.buffers.push_back(temporary);
    const Id end = end_into(g_, kernel, b);
    g_.set_loc(g_.loc(g_.store(end)));  // the copy is about the line of the store
    redirect(kernel, end, g_.make(Op::BUFFER, target.dtype, {}, {slot}), free_layout(s_, b));
    access_[k] = access_of(g_, kernel);
    s_.kernels.push_back(copy_kernel(g_, s_, b, temporary));
    g_.set_loc({});
    s_.kernels.back().depends_on.push_back(k);
    access_.push_back(access_of(g_, s_.kernels.back()));
    next_[k].push_back(next_.size());
    next_.emplace_back();
    return s_.kernels.size() - 1;
  }

  // Makes an END store to another buffer, which is dense. strides: the old buffer's parameter if it has strides of its own.
  void redirect(Kernel& kernel, Id end, Id buffer, const Parameter* strides) {
    std::vector<Id> store = g_.sources(g_.store(end));
    store[0] = buffer;
    if (strides != nullptr) store[1] = dense_position(g_, *strides, store[1]);
    std::vector<Id> src = g_.sources(end);
    src[0] = g_.with_src(src[0], store);
    std::vector<Id> ends = g_.sources(kernel.sink);
    std::ranges::replace(ends, end, g_.with_src(end, src));
    kernel.sink = g_.with_src(kernel.sink, ends);
  }

  // Adds the kernels that k depends on: writers of its buffers, and all users of a buffer whose memory it reuses.
  void connect(std::size_t k) {
    std::vector<std::size_t>& after = s_.kernels[k].depends_on;
    // Kernels that store to one buffer run in the order of the list, each after the previous one. So the last one is enough. A
    // kernel that only reads the buffer reads the last writer's values.
    const auto add_writer = [&](int b, std::size_t end) {
      const std::vector<std::size_t>& writers = nth(writers_, b);
      const auto last = std::ranges::lower_bound(writers, end);
      if (last != writers.begin()) after.push_back(last[-1]);
    };
    const std::size_t all = s_.kernels.size();
    for (const int b : access_[k].loads)
      if (!is_entry_value(s_, b) && !std::ranges::binary_search(access_[k].stores, b)) add_writer(b, all);
    for (const int b : access_[k].stores) {
      add_writer(b, k);
      const int before = nth(s_.buffers, b).after;
      if (before < 0) continue;
      const std::vector<std::size_t>& readers = nth(readers_, before);
      after.insert(after.end(), readers.begin(), readers.end());
      add_writer(before, all);
    }
    sort_unique(after);
    std::erase(after, k);
  }

  // The only reader of the temporary that kernel k fills with a copy of an input; nullopt: k does something else.
  std::optional<std::size_t> reader_of_copy(std::size_t k) const {
    const KernelAccess& a = access_[k];
    const std::span<const Id> ends = g_.src(s_.kernels[k].sink);
    if (a.loads.size() != 1 || a.stores.size() != 1 || ends.size() != 1 || s_.kernels[k].is_explicit) return std::nullopt;
    const Id store = g_.store(ends[0]);
    const std::vector<std::size_t>& readers = nth(readers_, a.stores[0]);
    const bool is_input = is_parameter(a.loads[0]) && !is_overwritten(a.loads[0]);
    if (g_.op(g_.src(store, 2)) != Op::LOAD || !is_input || is_parameter(a.stores[0]) || readers.size() != 1)
      return std::nullopt;
    return readers[0];
  }

  bool is_overwritten(int b) const { return !nth(writers_, b).empty(); }

  // Makes each copy of an input wait for the kernels that its reader waits for, so that all copies need not be live at the
  // same time. Exceptions: other copies, and kernels that wait for the copy because they overwrite its source.
  void delay_copies() {
    std::vector<std::optional<std::size_t>> reader;
    for (std::size_t k = 0; k < s_.kernels.size(); ++k) reader.push_back(reader_of_copy(k));
    for (std::size_t k = 0; k < s_.kernels.size(); ++k) {
      if (!reader[k]) continue;
      for (const std::size_t d : s_.kernels[*reader[k]].depends_on) {
        if (reader[d] || reaches_one_of(k, {d})) continue;
        s_.kernels[k].depends_on.push_back(d);
        next_[d].push_back(k);
      }
      sort_unique(s_.kernels[k].depends_on);
    }
  }

  // By kernel: its round. Each round walks the kernels in their old order and takes those whose predecessors are taken. So a
  // kernel is in the round of its last predecessor, or in the next round if that predecessor has a higher number.
  std::vector<std::size_t> rounds() const {
    const std::size_t n = s_.kernels.size();
    std::vector<std::size_t> round(n, 0), waits(n, 0), ready;
    std::vector<std::vector<std::size_t>> next(n);
    for (std::size_t k = 0; k < n; ++k) {
      for (const std::size_t d : s_.kernels[k].depends_on) next[d].push_back(k);
      waits[k] = s_.kernels[k].depends_on.size();
      if (waits[k] == 0) ready.push_back(k);
    }
    for (std::size_t i = 0; i < ready.size(); ++i)
      for (const std::size_t k : next[ready[i]]) {
        round[k] = std::max(round[k], round[ready[i]] + (ready[i] > k ? 1 : 0));
        if (--waits[k] == 0) ready.push_back(k);
      }
    if (ready.size() < n) throw cycle(waits);
    return round;
  }

  // Parameters that the kernel stores to and whose value on entry it reads.
  std::vector<int> entry_reads(const Kernel& k) const {
    const KernelAccess a = access_of(g_, k);
    std::vector<int> out;
    for (const int b : a.loads)
      if (std::ranges::binary_search(a.stores, b) && is_entry_value(s_, memory_of_buffer(s_, b)))
        out.push_back(memory_of_buffer(s_, b));
    sort_unique(out);
    return out;
  }

  void order() {
    const std::vector<std::size_t> round = rounds();
    std::vector<std::size_t> sequence(s_.kernels.size());
    std::iota(sequence.begin(), sequence.end(), std::size_t{0});
    std::ranges::sort(sequence, {}, [&](std::size_t k) { return std::pair(round[k], k); });
    std::vector<std::size_t> place(sequence.size());
    std::vector<Kernel> sorted;
    for (const std::size_t k : sequence) {
      place[k] = sorted.size();
      sorted.push_back(std::move(s_.kernels[k]));
    }
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      for (std::size_t& d : sorted[i].depends_on) d = place[d];
      std::ranges::sort(sorted[i].depends_on);
      sorted[i].name = s_.program.name + "_k" + std::to_string(i);
    }
    s_.kernels = std::move(sorted);
  }

  // Each kernel that still waits depends on another one that waits, so a walk along these edges ends in a cycle.
  Diagnostic cycle(const std::vector<std::size_t>& waits) const {
    const auto is_waiting = [&](std::size_t n) { return waits[n] > 0; };
    std::vector<std::size_t> way;
    std::size_t k = 0;
    while (!is_waiting(k)) ++k;
    while (std::ranges::find(way, k) == way.end()) {
      way.push_back(k);
      k = *std::ranges::find_if(s_.kernels[k].depends_on, is_waiting);
    }
    std::string names;
    for (auto at = std::ranges::find(way, k); at != way.end(); ++at) names += s_.kernels[*at].name + " after ";
    return Diagnostic(
        "E-cycle", s_.program.name,
        "expected an order of the kernels, got " + names + s_.kernels[k].name + ": each reads what the next writes");
  }

  Graph& g_;
  Schedule& s_;
  std::vector<KernelAccess> access_;
  std::vector<std::vector<std::size_t>> readers_, writers_;  // by buffer: kernels, ascending
  std::vector<std::vector<std::size_t>> next_;               // by kernel: the kernels that depend on it
};

// Merges each buffer that reuses another one's memory with that one.
void join_buffers(Schedule& s) {
  std::vector<int> number;
  std::vector<Buffer> kept;
  for (Buffer& b : s.buffers) {
    number.push_back(b.after >= 0 ? nth(number, b.after) : count_of(kept));
    if (b.after < 0) kept.push_back(b);
  }
  s.buffers = std::move(kept);
  for (Kernel& k : s.kernels) {
    for (int& b : k.buffers) b = nth(number, b);
    if (k.at_entry)
      for (int& b : *k.at_entry) b = nth(number, b);
  }
}

}  // namespace

KernelAccess access_of(const Graph& g, const Kernel& k) {
  KernelAccess a;
  for (Id id : g.reachable(k.sink)) {
    const Op op = g.op(id);
    if (op == Op::END) a.stores.push_back(buffer_at(g, k, g.store(id)));  // also a state that the kernel leaves unchanged
    if ((op != Op::LOAD && op != Op::STORE && op != Op::ATOMIC) || g.op(memory_of(g, g.state(id))) == Op::LOCAL) continue;
    (op == Op::LOAD ? a.loads : a.stores).push_back(buffer_at(g, k, g.state(id)));
  }
  sort_unique(a.loads);
  sort_unique(a.stores);
  return a;
}

void dependencies(Graph& g, Schedule& s) {
  if (s.segments.empty()) {
    Edges(g, s).run();
    return join_buffers(s);
  }
  in_segments(g, s, [](Graph& graph, Schedule& segment) {
    Edges edges(graph, segment);
    edges.run();
    edges.tell_entry_reads();
  });
  join_buffers(s);
  join_segments(g, s);
}

}  // namespace kiln::compiler
