#include "compiler/schedule/sibling_kernels.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <unordered_map>

#include "compiler/ir/entry_values.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/range_ids.h"
#include "compiler/schedule/dependencies.h"
#include "compiler/schedule/elementwise_siblings.h"
#include "compiler/schedule/kernel_ranges.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t most_stores = 8;           // of one kernel, as max_stores of store_groups
constexpr std::size_t most_sibling_kernels = 8;  // kernels that a kernel may join: the latest ones

// The properties of one kernel that decide whether it joins another one.
struct Sibling {
  KernelAccess access;
  std::vector<Id> extents;    // of its LOOP ranges
  std::vector<int> streamed;  // buffers that its striped reductions load, ascending; none: it joins no kernel
  std::size_t place;          // the index of the kernel that stores its results: its own, or that of the kernel it has joined
};

std::vector<int> shared(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}

class SiblingKernels {
 public:
  SiblingKernels(Graph& g, Schedule& s) : g_(g), s_(s), writers_(s.buffers.size()), continued_(s.buffers.size()) {}

  void run() {
    for (std::size_t k = 0; k < s_.kernels.size(); ++k) {
      siblings_.push_back(look(s_.kernels[k], k));
      for (const int b : siblings_[k].access.stores) {
        nth(writers_, b).push_back(k);
        if (const int before = nth(s_.buffers, b).after; before >= 0) nth(continued_, before).push_back(k);
      }
    }
    std::vector<std::size_t> candidates;
    for (std::size_t k = 0; k < s_.kernels.size(); ++k) {
      if (siblings_[k].streamed.empty()) continue;
      const auto first = std::ranges::find_if(candidates, [&](std::size_t c) { return may_join(c, k); });
      if (first != candidates.end()) {
        join(*first, k);
        continue;
      }
      candidates.push_back(k);
      if (candidates.size() > most_sibling_kernels) candidates.erase(candidates.begin());
    }
    std::vector<Kernel> left;
    for (std::size_t k = 0; k < s_.kernels.size(); ++k)
      if (siblings_[k].place == k) left.push_back(std::move(s_.kernels[k]));
    s_.kernels = std::move(left);
  }

 private:
  Sibling look(const Kernel& k, std::size_t place) const {
    Sibling out{access_of(g_, k), {}, {}, place};
    if (k.is_explicit || has_tile_steps(g_, k.sink)) return out;
    for (const Id r : loop_ranges_of(g_, k)) out.extents.push_back(g_.end(r));
    out.streamed = streamed(k);
    return out;
  }

  // None if the kernel has a matrix product: its register blocks need the registers for one product.
  std::vector<int> streamed(const Kernel& k) const {
    std::set<int> out;
    for (const Id id : g_.reachable(k.sink)) {
      if (g_.op(id) != Op::REDUCE) continue;
      if (g_.reduce_kind(id) == ReduceKind::fma) return {};
      if (g_.reduce_order(id) != ReduceOrder::striped) continue;
      const std::size_t n = operands_of(g_.reduce_kind(id));
      for (const Id load : g_.reachable(g_.src(id).first(n)))
        if (g_.op(load) == Op::LOAD && moves(g_.src(load, 1), g_.src(id).subspan(n)))
          out.insert(nth(k.buffers, g_.slot(g_.state(load))));
    }
    return {out.begin(), out.end()};
  }
  // Whether an index depends on a range.
  bool moves(Id index, std::span<const Id> ranges) const {
    const std::vector<Id> below = g_.reachable(index);
    return std::ranges::any_of(ranges, [&](Id r) { return std::ranges::binary_search(below, r); });
  }

  bool may_join(std::size_t a, std::size_t b) const {
    const Sibling &first = siblings_[a], &second = siblings_[b];
    return s_.kernels[a].segment == s_.kernels[b].segment && first.extents == second.extents &&
           !shared(first.streamed, second.streamed).empty() &&
           g_.src(s_.kernels[a].sink).size() + g_.src(s_.kernels[b].sink).size() <= most_stores &&
           shared(first.access.stores, second.access.loads).empty() &&
           shared(first.access.loads, second.access.stores).empty() &&
           std::ranges::all_of(second.access.loads, [&](int l) { return is_there(l, first.place); }) &&
           std::ranges::all_of(first.access.stores, [&](int l) { return is_new(l); }) &&
           std::ranges::all_of(second.access.stores, [&](int l) { return is_new(l); });
  }
  // Whether all kernels that store to the buffer come before the place, and all that reuse its memory come after it.
  bool is_there(int buffer, std::size_t place) const {
    const auto is_before = [&](std::size_t k) { return siblings_[k].place < place; };
    return std::ranges::none_of(nth(continued_, buffer), is_before) &&
           (is_entry_value(s_, buffer) || std::ranges::all_of(nth(writers_, buffer), is_before));
  }
  // Whether one kernel stores to the buffer, and its memory has no earlier values.
  bool is_new(int buffer) const {
    return !is_entry_value(s_, buffer) && nth(writers_, buffer).size() == 1 && nth(s_.buffers, buffer).after < 0;
  }

  void join(std::size_t a, std::size_t b) {
    Kernel& to = s_.kernels[a];
    const Id added = as_part_of(to, s_.kernels[b]);
    std::vector<Id> ends = g_.sources(to.sink);
    ends.insert(ends.end(), g_.src(added).begin(), g_.src(added).end());
    to.sink = g_.make(Op::SINK, DType::none, ends);
    siblings_[b].place = a;
    siblings_[a].access = access_of(g_, to);
    siblings_[a].streamed = streamed(to);
  }

  // The sink of kernel b over the LOOP ranges and the buffer slots of kernel a.
  Id as_part_of(Kernel& a, const Kernel& b) {
    RangeIds ids(g_, a.sink);
    const std::vector<Id> loops = loop_ranges_of(g_, a), old = loop_ranges_of(g_, b);
    std::unordered_map<Id, Id> map;
    for (std::size_t i = 0; i < loops.size(); ++i) map[old[i]] = loops[i];
    for (const Id id : g_.reachable(b.sink)) {
      if (g_.op(id) == Op::BUFFER) map[id] = g_.make(Op::BUFFER, g_.dtype(id), {}, {slot_of(a, nth(b.buffers, g_.slot(id)))});
      if (g_.op(id) == Op::RANGE && !map.contains(id))
        map[id] = ids.range(g_, substitute(g_, g_.end(id), map), g_.range_kind(id));
    }
    return substitute(g_, b.sink, map);
  }

  std::int64_t slot_of(Kernel& k, int buffer) {
    const auto at = std::ranges::find(k.buffers, buffer);
    const std::int64_t slot = at - k.buffers.begin();
    if (at == k.buffers.end()) k.buffers.push_back(buffer);
    return slot;
  }

  Graph& g_;
  Schedule& s_;
  std::vector<std::vector<std::size_t>> writers_;    // by buffer: the kernels that store to it
  std::vector<std::vector<std::size_t>> continued_;  // by buffer: the kernels that store to a buffer in its memory
  std::vector<Sibling> siblings_;                    // by kernel
};

}  // namespace

void sibling_kernels(Graph& g, Schedule& s) {
  const LocScope restored(g);
  SiblingKernels(g, s).run();
  elementwise_siblings(g, s);
}

}  // namespace kiln::compiler
