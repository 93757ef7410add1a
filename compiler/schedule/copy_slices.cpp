#include "compiler/schedule/copy_slices.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/ir/entry_values.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/state.h"
#include "compiler/schedule/dependencies.h"
#include "compiler/schedule/each_kernel.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/schedule/window_operand.h"

namespace kiln::compiler {
namespace {

constexpr double cached_bytes = 1 << 14;  // a tensor of this size and a second one fit in the first-level cache
constexpr double largest_part = 0.125;    // of the tensor, for all copies together
constexpr std::size_t most_copies = 4;    // each is a kernel

class SliceCopies {
 public:
  SliceCopies(Graph& g, Schedule& s, Kernel& k, const Facts& facts) : g_(g), s_(s), kernel_(k), bounds_(g, facts) {}

  void run(std::vector<Kernel>& made) {
    if (kernel_.is_explicit || has_tile_steps(g_, kernel_.sink)) return;
    for (const int b : access_of(g_, kernel_).stores)
      if (is_entry_value(s_, b)) copy_slices_of(b, made);
  }

 private:
  void copy_slices_of(int buffer, std::vector<Kernel>& made) {
    const std::vector<Id> others = loads_of_other_elements(buffer);
    if (others.empty() || others.size() > most_copies || !std::ranges::all_of(others, [&](Id l) { return is_simple(l); }))
      return;
    double all = 1, copied = 0;
    for (const Id r : loop_ranges_of(g_, kernel_)) all *= extent(r);
    for (const Id load : others) copied += elements(load);
    const Buffer& b = nth(s_.buffers, buffer);
    const bool is_cached = g_.is_const(b.size) && all * bytes(b.dtype) <= cached_bytes;
    if (is_cached || copied > largest_part * all) return;
    std::unordered_map<Id, Id> loads;
    for (const Id load : others) loads[load] = copy_of(load, made);
    kernel_.sink = substitute(g_, kernel_.sink, loads);
  }

  // The LOADs of other elements of the buffer than the one that the same iteration stores.
  std::vector<Id> loads_of_other_elements(int buffer) const {
    std::vector<Id> here, others;
    for (const Id end : g_.src(kernel_.sink)) {
      const Id store = g_.store(end);
      if (nth(kernel_.buffers, g_.slot(memory_of(g_, store))) == buffer) here.push_back(g_.src(store, 1));
    }
    for (const Id id : g_.reachable(kernel_.sink)) {
      if (g_.op(id) != Op::LOAD || nth(kernel_.buffers, g_.slot(memory_of(g_, g_.state(id)))) != buffer) continue;
      if (here.size() != 1 || g_.src(id, 1) != here[0]) others.push_back(id);
    }
    return others;
  }

  // Whether the index and the condition of the load contain no reduction and no load of the same tensor.
  bool is_simple(Id load) const {
    const std::vector<Id> nodes = g_.reachable(g_.src(load));
    return std::ranges::none_of(
        nodes, [&](Id id) { return g_.op(id) == Op::REDUCE || (g_.op(id) == Op::LOAD && g_.state(id) == g_.state(load)); });
  }

  double extent(Id range) { return static_cast<double>(typical_extent(g_, bounds_, range)); }

  std::vector<Id> ranges_of(Id load) const {
    std::vector<Id> out;
    for (const Id id : g_.reachable(load))
      if (g_.op(id) == Op::RANGE) out.push_back(id);
    return out;
  }

  double elements(Id load) {
    double n = 1;
    for (const Id r : ranges_of(load)) n *= extent(r);
    return n;
  }

  // Makes a kernel that stores the loaded elements to a temporary. Returns the LOAD from there. The kernel has no iterations if
  // this one has none: then the elements need not exist.
  Id copy_of(Id load, std::vector<Kernel>& made) {
    const LocScope of_load(g_, g_.loc(load));
    std::unordered_map<Id, Id> map;
    std::vector<Id> ranges;
    Id size = g_.index(1), to = g_.index(0), from = g_.index(0);
    for (const Id r : ranges_of(load)) {
      ranges.push_back(g_.range(g_.end(r), std::ssize(ranges), RangeKind::loop));
      map[r] = ranges.back();
      to = index_add(g_, index_mul(g_, to, g_.end(r)), ranges.back());
      from = index_add(g_, index_mul(g_, from, g_.end(r)), r);
      size = index_mul(g_, size, g_.end(r));
    }
    if (ranges.empty()) ranges.push_back(g_.range(g_.index(1), 0, RangeKind::loop));
    const DType d = g_.dtype(load);
    const std::int64_t slot = std::ssize(kernel_.buffers);
    kernel_.buffers.push_back(count_of(s_.buffers));
    s_.buffers.push_back({d, size, -1, no_id});
    const Id memory = g_.make(Op::BUFFER, d, {}, {slot});
    Kernel& copy = made.emplace_back();
    copy.buffers = kernel_.buffers;
    copy.segment = kernel_.segment;
    copy.sink = sink_of_store(g_, memory, to, substitute(g_, load, map), ranges);
    Id runs = g_.index(1);
    for (const Id r : loop_ranges_of(g_, kernel_))
      if (!map.contains(r)) runs = index_mul(g_, runs, at_least(g_, g_.end(r), 1));
    if (!g_.is_index_const(runs, 1)) run_if(g_, copy, runs);
    return g_.make(Op::LOAD, d, {memory, from});
  }

  Graph& g_;
  Schedule& s_;
  Kernel& kernel_;
  Bounds bounds_;
};

}  // namespace

void copy_slices(Graph& g, Schedule& s) {
  insert_kernels(g, s,
                 [&](Kernel& k, const Facts& facts, std::vector<Kernel>& made) { SliceCopies(g, s, k, facts).run(made); });
}

}  // namespace kiln::compiler
