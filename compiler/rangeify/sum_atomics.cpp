#include "compiler/rangeify/sum_atomics.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/reduce_identity.h"
#include "compiler/ir/regions.h"
#include "compiler/ir/rewrite_in_order.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler {
namespace {

bool combines(AtomicKind k) { return k < AtomicKind::exchange; }
// Whether every order of the operations gives the same bits, also if they start from the identity.
bool is_orderless(AtomicKind k, DType d) { return k != AtomicKind::add || is_int(d); }

// The bits of the identity: the value that changes no element.
std::uint64_t identity(AtomicKind k, DType d) {
  if (k == AtomicKind::min || k == AtomicKind::max)
    return reduce_identity(k == AtomicKind::min ? ReduceKind::min : ReduceKind::max, d);
  if (k != AtomicKind::bit_and) return 0;
  const int unused = d == DType::boolean ? 63 : 64 - bits(d);
  return is_signed_int(d) ? ~std::uint64_t{0} : ~std::uint64_t{0} >> unused;
}

// One ATOMIC that becomes a sum.
struct Sum {
  Id atomic, gate, value;
  std::vector<Id> index;
  AtomicKind kind;
  DType dtype;
};

class Summing {
 public:
  Summing(Graph& g, Id sink)
      : g_(g), build_(g), order_(g.reachable(std::span(&sink, 1))), regions_(find_regions(g, std::span(&sink, 1))) {
    done_.assign(sink + 1, no_id);
    uses_.assign(sink + 1, 0);
    for (const Id id : order_) {
      if (g.op(id) == Op::LOCAL) with_locals_.push_back(g.range_of(id));
      if (g.op(id) == Op::RANGE) next_range_ = std::max(next_range_, g.range_number(id) + 1);
      for (const Id s : g.src(id)) ++uses_[s];
    }
    for (const Id id : order_) find(id);
  }

  bool is_needed() const { return !loops_.empty() || !kernels_.empty(); }

  Id run() {
    return rewrite_in_order(g_, order_, done_, [&](Id id) { return rewritten(id); });
  }

 private:
  // The ATOMIC in this slot of the scope, if it is the only use of the slot's state.
  std::optional<Sum> sum_of(Id scope, std::size_t slot, Id final) const {
    if (g_.op(final) != Op::ATOMIC || uses_[final] != 1) return std::nullopt;
    const WriteParts w = write_parts(g_, final);
    const bool begins = g_.op(w.state) == Op::CARRY && uses_[w.state] == 1 &&
                        g_.range_of(w.state) == scope_ranges(g_, scope)[0] && g_.slot(w.state) == slot;
    const auto kind = g_.atomic_kind(final);
    if (!begins || !combines(kind)) return std::nullopt;
    return Sum{final, w.gate, w.value, {w.index.begin(), w.index.end()}, kind, g_.dtype(final)};
  }
  bool always(Id gate) const { return g_.is_const(gate) && g_.value(gate) != 0; }

  void find(Id id) {
    if (g_.op(id) == Op::FOR && regions_.list[regions_.of[id]].in_kernel) find_in_loop(id);
    if (g_.op(id) == Op::KERNEL) find_in_kernel(id);
  }

  void find_in_loop(Id loop) {
    const LoopParts l = loop_parts(g_, loop);
    if (g_.range_kind(l.range) != RangeKind::loop) return;
    std::map<std::size_t, Sum> sums;
    for (std::size_t slot = 0; slot < l.yield.size(); ++slot) {
      const auto sum = sum_of(loop, slot, l.yield[slot]);
      if (!sum || !is_orderless(sum->kind, sum->dtype)) continue;
      const bool stays = std::ranges::all_of(sum->index, [&](Id i) { return regions_.of[i] != regions_.owned[loop]; });
      if (stays) sums.emplace(slot, *sum);
    }
    if (sums.empty()) return;
    for (const auto& [slot, sum] : sums) sum_at_[sum.atomic] = {loop, slot};
    loops_.emplace(loop, std::move(sums));
  }

  void find_in_kernel(Id kernel) {
    const KernelParts k = kernel_parts(g_, kernel);
    if (std::ranges::find(with_locals_, k.ranges[0]) != with_locals_.end()) return;  // each work item has arrays of its own
    KernelSums out;
    for (std::size_t slot = 0; slot < k.final.size(); ++slot) {
      const auto sum = sum_of(kernel, slot, k.final[slot]);
      if (!sum) return;
      out.sums.push_back(*sum);
    }
    std::vector<Id> indices;
    for (const Sum& s : out.sums) indices.insert(indices.end(), s.index.begin(), s.index.end());
    const std::vector<Id> used = g_.reachable(indices);
    for (const Id r : k.ranges) (std::ranges::binary_search(used, r) ? out.used_ranges : out.inner).push_back(r);
    out.is_exclusive = std::ranges::all_of(
        out.sums, [&](const Sum& s) { return is_exclusive(s, nth(k.init, &s - out.sums.data()), out.used_ranges); });
    const bool may =
        out.is_exclusive || std::ranges::all_of(out.sums, [&](const Sum& s) { return is_orderless(s.kind, s.dtype); });
    const bool is_long = std::ranges::any_of(out.inner, [&](Id r) { return !g_.is_index_const(g_.end(r), 1); });
    if (k.final.empty() || !is_long || !may) return;
    for (const Sum& s : out.sums) sum_at_[s.atomic] = {kernel, 0};
    kernels_.emplace(kernel, std::move(out));
  }

  // Whether each work item over the used_ranges axes has an element of its own, and together they have all elements.
  bool is_exclusive(const Sum& s, Id state, const std::vector<Id>& used_ranges) {
    const std::vector<Id> extents = build_.shape_of(state);
    for (std::size_t k = 0; k < extents.size(); ++k)
      if (g_.op(s.index[k]) != Op::RANGE || g_.end(s.index[k]) != extents[k]) return false;
    std::vector<Id> sorted = s.index, ranges = used_ranges;
    std::ranges::sort(sorted);
    std::ranges::sort(ranges);
    return sorted == ranges;
  }

  Id rewritten(Id id) {
    const Op op = g_.op(id);
    if (op == Op::CARRY && sum_of_state(id)) return no_id;
    if (sum_at_.contains(id)) return loops_.contains(sum_at_.at(id).first) ? next_of(id) : no_id;
    if (op == Op::FOR && loops_.contains(id)) return loop(id);
    if (op == Op::GET && loops_.contains(g_.scope(id))) {
      const auto& sums = loops_.at(g_.scope(id));
      if (const auto it = sums.find(g_.slot(id)); it != sums.end()) return behind(id, it->second);
    }
    if (op == Op::KERNEL && kernels_.contains(id)) return kernel(id);
    return g_.with_src(id, of(g_.src(id)));
  }

  // Whether this is the state at the beginning of an iteration that a sum replaces. Only the ATOMIC uses that state.
  bool sum_of_state(Id carry) const {
    if (uses_[carry] != 1) return false;
    return std::ranges::any_of(sum_at_, [&](const auto& s) { return g_.state(s.first) == carry; });
  }

  std::vector<Id> of(std::span<const Id> nodes) const {
    std::vector<Id> out;
    for (const Id n : nodes) out.push_back(done_[n]);
    return out;
  }
  Id boolean(bool v) { return g_.constant(DType::boolean, v ? 1 : 0); }
  Id combined(const Sum& s, Id so_far) {
    const Id next = g_.make(operation_of(s.kind), s.dtype, {so_far, done_[s.value]});
    return always(s.gate) ? next : g_.make(Op::WHERE, s.dtype, {done_[s.gate], next, so_far});
  }
  // Whether the sum has a term so far.
  Id touched(const Sum& s, Id before) { return g_.make(Op::OR, DType::boolean, {before, done_[s.gate]}); }

  // In a FOR the sum uses the slot of the state. One more slot at the end tells whether the sum has a term.
  Id next_of(Id atomic) {
    const auto [loop, slot] = sum_at_.at(atomic);
    const Sum& s = loops_.at(loop).at(slot);
    return combined(s, build_.carry(done_[g_.range_of(loop)], g_.constant(s.dtype, identity(s.kind, s.dtype)), slot));
  }
  std::size_t touched_slot(Id loop, const Sum& s) const {
    std::size_t n = loop_parts(g_, loop).init.size();
    for (const auto& [slot, other] : loops_.at(loop)) {
      if (other.atomic == s.atomic) break;
      ++n;
    }
    return n;
  }

  Id loop(Id id) {
    const LoopParts l = loop_parts(g_, id);
    const std::int64_t step = l.step;
    const bool conditional = l.conditional;
    std::vector<Id> init = of(l.init), yield = of(l.yield);
    const Id range = done_[l.range], begin = done_[l.begin], end = done_[l.end];
    for (const auto& [slot, s] : loops_.at(id)) init[slot] = g_.constant(s.dtype, identity(s.kind, s.dtype));
    for (const auto& [slot, s] : loops_.at(id)) {
      init.push_back(boolean(false));
      const std::size_t at = touched_slot(id, s);
      const Id before = build_.carry(range, boolean(false), at);
      yield.push_back(touched(s, before));
    }
    return build_.loop(range, begin, end, init, yield, step, conditional);
  }
  Id behind(Id get, const Sum& s) {
    const Id before = g_.scope(get), loop = done_[before];
    const Id state = done_[nth(loop_parts(g_, before).init, g_.slot(get))];
    const std::vector<Id> index = of(s.index);
    const Id sum = build_.get(loop, g_.arg(get, 0));
    return build_.atomic(s.kind, state, build_.get(loop, touched_slot(before, s)), sum, index);
  }

  struct KernelSums {
    std::vector<Sum> sums;               // by slot
    std::vector<Id> used_ranges, inner;  // ranges that the indices use, and ranges that become loops
    bool is_exclusive = false;           // whether each work item over the used_ranges ranges has its own elements
  };

  Id kernel(Id id) {
    const KernelSums& k = kernels_.at(id);
    const std::vector<Id> init = of(kernel_parts(g_, id).init), inner = of(k.inner);
    std::vector<Id> used_ranges = of(k.used_ranges), before, states;
    if (used_ranges.empty()) used_ranges.push_back(build_.range(g_.index(1), next_range_++));
    for (std::size_t i = 0; i < k.sums.size(); ++i) {
      const Sum& s = k.sums[i];
      states.push_back(build_.carry(used_ranges[0], init[i], i));
      before.push_back(k.is_exclusive ? build_.element(states[i], of(s.index))
                                      : g_.constant(s.dtype, identity(s.kind, s.dtype)));
    }
    if (!k.is_exclusive) before.insert(before.end(), k.sums.size(), boolean(false));
    const std::vector<Id> sums = nest(k, inner, before);
    std::vector<Id> final;
    for (std::size_t i = 0; i < k.sums.size(); ++i) {
      const Sum& s = k.sums[i];
      final.push_back(k.is_exclusive ? build_.update(states[i], no_id, sums[i], of(s.index))
                                     : build_.atomic(s.kind, states[i], sums[k.sums.size() + i], sums[i], of(s.index)));
    }
    return build_.kernel(used_ranges, init, final);
  }

  // Makes loops over the ranges, the first one outermost, and returns the carried values after them.
  std::vector<Id> nest(const KernelSums& k, const std::vector<Id>& ranges, const std::vector<Id>& before) {
    std::vector<std::vector<Id>> init{before};
    for (const Id r : ranges) {
      std::vector<Id> carried;
      for (std::size_t i = 0; i < before.size(); ++i) carried.push_back(build_.carry(r, init.back()[i], i));
      init.push_back(std::move(carried));
    }
    std::vector<Id> now = init.back();
    for (std::size_t i = 0; i < k.sums.size(); ++i) {
      now[i] = combined(k.sums[i], init.back()[i]);
      if (!k.is_exclusive) now[k.sums.size() + i] = touched(k.sums[i], init.back()[k.sums.size() + i]);
    }
    for (std::size_t t = ranges.size(); t-- > 0;) {
      const Id loop = build_.loop(ranges[t], g_.index(0), g_.end(ranges[t]), init[t], now);
      for (std::size_t i = 0; i < now.size(); ++i) now[i] = build_.get(loop, i);
    }
    return now;
  }

  Graph& g_;
  Builder build_;
  const std::vector<Id> order_;
  const Regions regions_;
  std::vector<Id> done_;
  std::vector<std::uint32_t> uses_;
  std::vector<Id> with_locals_;  // RANGEs of regions with local arrays
  std::int64_t next_range_ = 0;
  std::map<Id, std::map<std::size_t, Sum>> loops_;  // by FOR, by slot
  std::map<Id, KernelSums> kernels_;
  std::map<Id, std::pair<Id, std::size_t>> sum_at_;  // by ATOMIC: its scope and its slot
};

}  // namespace

void sum_atomics(Graph& g, Program& p) {
  if (std::ranges::none_of(g.reachable(p.sink), [&](Id id) { return g.op(id) == Op::ATOMIC; })) return;
  for (;;) {  // an ATOMIC that one loop leaves may then leave the loop around it
    Summing summing(g, p.sink);
    if (!summing.is_needed()) return;
    p.sink = summing.run();
  }
}

}  // namespace kiln::compiler
