#include "compiler/schedule/elementwise_siblings.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "compiler/ir/entry_values.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/range_ids.h"
#include "compiler/ir/remark.h"
#include "compiler/rangeify/staging.h"
#include "compiler/schedule/dependencies.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/schedule/reduce_blocks.h"
#include "compiler/symbolic/simplify.h"
#include "compiler/target/lane_limits.h"
#include "compiler/target/operation_cost.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t most_candidates = 16;  // kernels that are compared with a reduction
constexpr double shortest_sibling_row = 64;  // elements: the loop of a shorter row is mostly its end
constexpr double fewest_sibling_rows = 32;   // rows that are enough for the threads
constexpr std::int64_t fewest_blocks = 16;   // of a whole reduction that are enough for the threads
constexpr double most_operations = 32;       // for each element, if there are fewer blocks: then memory limits the threads

// What a kernel of single elements becomes in the kernel of a reduction.
struct Joined {
  std::unordered_map<Id, Id> values;  // RANGEs of the kernel -> expressions over the tile and `inner`
  Id tile, inner;
};

class ElementwiseSiblings {
 public:
  ElementwiseSiblings(Graph& g, Schedule& s)
      : g_(g), s_(s), facts_(facts_of(s.program)), simplify_(g, facts_), model_(g, s.program), users_(s.buffers.size()) {
    for (std::size_t k = 0; k < s.kernels.size(); ++k) {
      access_.push_back(access_of(g, s.kernels[k]));
      for (const int b : access_[k].loads) nth(users_, b).insert(k);
      for (const int b : access_[k].stores) nth(users_, b).insert(k);
    }
    gone_.resize(s.kernels.size(), false);
  }

  void run() {
    for (std::size_t k = 0; k < s_.kernels.size(); ++k)
      if (!gone_[k]) join_all(k);
    std::vector<Kernel> left;
    for (std::size_t k = 0; k < s_.kernels.size(); ++k)
      if (!gone_[k]) left.push_back(std::move(s_.kernels[k]));
    s_.kernels = std::move(left);
  }

 private:
  void join_all(std::size_t k) {
    const std::vector<Id> reduces = reductions_of(s_.kernels[k]);
    if (reduces.empty()) return;
    for (const std::size_t c : candidates(s_.kernels[k], reduces)) {
      if (g_.src(s_.kernels[k].sink).size() + g_.src(s_.kernels[c].sink).size() > most_stores_of_loop) continue;
      for (const Id reduce : reduces)
        if (const auto joined = match(s_.kernels[k], reduce, s_.kernels[c]); joined && may_join(k, c)) {
          if (join(k, c, *joined); gone_[k]) k = c;
          break;
        }
    }
  }

  // The striped REDUCEs over one range that are in no other one. None if the kernel has not exactly one loop.
  std::vector<Id> reductions_of(const Kernel& k) const {
    std::vector<Id> out;
    if (k.is_explicit || has_tile_steps(g_, k.sink) || loop_ranges_of(g_, k).size() != 1) return out;
    std::vector<Id> values;
    for (const Id id : g_.reachable(k.sink)) {
      if (g_.op(id) != Op::REDUCE) continue;
      const std::size_t n = operands_of(g_.reduce_kind(id));
      const bool is_arg = g_.reduce_kind(id) == ReduceKind::argmax || g_.reduce_kind(id) == ReduceKind::argmin;
      values.insert(values.end(), g_.src(id).begin(), g_.src(id).begin() + std::ptrdiff_t(n));
      if (g_.reduce_order(id) == ReduceOrder::striped && !is_arg && g_.src(id).size() == n + 1 &&
          g_.op(g_.src(id, n)) == Op::RANGE)
        out.push_back(id);
    }
    const std::vector<Id> inside = g_.reachable(values);
    const bool is_nested = std::ranges::any_of(inside, [&](Id id) { return g_.op(id) == Op::REDUCE; });
    return is_nested ? std::vector<Id>{} : out;
  }

  std::span<const Id> values_of(Id reduce) const { return g_.src(reduce).first(operands_of(g_.reduce_kind(reduce))); }
  int buffer_of(const Kernel& k, Id access) const { return nth(k.buffers, g_.slot(g_.state(access))); }

  // Kernels of single elements that use a buffer which a REDUCE loads, ascending.
  std::vector<std::size_t> candidates(const Kernel& k, const std::vector<Id>& reduces) const {
    std::set<std::size_t> out;
    for (const Id reduce : reduces)
      for (const Id id : g_.reachable(values_of(reduce))) {
        if (g_.op(id) != Op::LOAD) continue;
        for (const std::size_t c : nth(users_, buffer_of(k, id)))
          if (!gone_[c] && out.size() < most_candidates && is_elementwise(s_.kernels[c])) out.insert(c);
      }
    return {out.begin(), out.end()};
  }
  bool is_elementwise(const Kernel& k) const {
    return !k.is_explicit && !has_tile_steps(g_, k.sink) &&
           std::ranges::none_of(g_.reachable(k.sink), [&](Id id) { return g_.op(id) == Op::REDUCE; });
  }

  // How kernel c runs in the loop of the REDUCE; nullopt: it does not, or they share no elements.
  std::optional<Joined> match(const Kernel& k, Id reduce, const Kernel& c) {
    const Id tile = loop_ranges_of(g_, k).front(), range = g_.src(reduce).back();
    const std::vector<Id> loops = loop_ranges_of(g_, c);
    const auto position = position_in(tile, range, loops);
    if (!position) return std::nullopt;
    const Id inner = RangeIds(g_, k.sink).range(g_, g_.end(range), RangeKind::loop);
    Joined out{{}, tile, inner};
    if (loops.size() == 1)
      out.values[loops[0]] = substitute(g_, *position, {{range, inner}});
    else
      out.values = {{loops[0], tile}, {loops[1], inner}};
    return share_elements(k, reduce, c, out) ? std::optional(out) : std::nullopt;
  }

  // The position in an array, along the loops of another kernel, of the element of the REDUCE; nullopt: the loops differ.
  std::optional<Id> position_in(Id tile, Id range, const std::vector<Id>& loops) {
    const Id rows = g_.end(tile), n = g_.end(range);
    const Id row_first = g_.make(Op::MUL, DType::index, {tile, n});
    const Id in_row = g_.make(Op::ADD, DType::index, {row_first, range});
    const bool are_rows = model_.extent(n) >= shortest_sibling_row && model_.extent(rows) >= fewest_sibling_rows &&
                          std::ranges::none_of(g_.reachable(n), [&](Id id) { return g_.op(id) == Op::RANGE; });
    if (loops.size() == 2)
      return are_rows && g_.end(loops[0]) == rows && g_.end(loops[1]) == n ? std::optional(in_row) : std::nullopt;
    if (loops.size() != 1) return std::nullopt;
    const Id all = g_.end(loops[0]);
    if (are_rows && index_mul(g_, rows, n) == all) return in_row;
    const ReduceBlock here = reduce_block_at(g_, all, tile);
    if (number_of_blocks(g_, all) != rows || here.elements != n) return std::nullopt;
    return g_.make(Op::ADD, DType::index, {here.first, range});
  }

  // Whether the kernels access the same element in an iteration, and every element that one stores and the other loads.
  bool share_elements(const Kernel& k, Id reduce, const Kernel& c, const Joined& j) {
    std::unordered_map<Id, Id> map = j.values;
    for (auto& [loop, value] : map) value = substitute(g_, value, {{j.inner, g_.src(reduce).back()}});
    std::set<std::pair<int, Id>> loads;
    for (const Id id : g_.reachable(values_of(reduce)))
      if (g_.op(id) == Op::LOAD) loads.insert({buffer_of(k, id), simplify_(g_.src(id, 1))});
    std::set<int> stored_later, others;  // others: buffers of which the kernel loads elements that the REDUCE does not load
    for (const Id id : g_.reachable(k.sink)) {
      if (g_.op(id) == Op::STORE) stored_later.insert(buffer_of(k, id));
      if (g_.op(id) != Op::LOAD) continue;
      const Id at = simplify_(substitute(g_, g_.src(id, 1), along(k, g_.src(reduce).back())));
      if (!loads.contains({buffer_of(k, id), at})) others.insert(buffer_of(k, id));
    }
    bool shares = false;
    double operations = 0;
    for (const Id id : g_.reachable(c.sink)) {
      if (is_arithmetic(id)) operations += operation_cost(g_.op(id)).recompute;
      if (g_.op(id) != Op::LOAD && g_.op(id) != Op::STORE) continue;
      const int b = buffer_of(c, id);
      const Id at = simplify_(substitute(g_, g_.src(id, 1), map));
      const bool same = loads.contains({b, at});
      if (stored_later.contains(b)) return false;
      const auto is_other = [&](const auto& load) { return load.first == b && load.second != at; };
      if (g_.op(id) == Op::STORE && (others.contains(b) || std::ranges::any_of(loads, is_other))) return false;
      if (g_.op(id) == Op::STORE && is_loaded(k, b) && g_.src(id).size() > 3) return false;
      shares = shares || same;
    }
    const bool is_whole = std::ranges::any_of(g_.reachable(g_.end(j.inner)), [&](Id id) { return g_.op(id) == Op::RANGE; });
    const auto blocks = index_value(g_, g_.end(j.tile));
    const bool has_few_blocks = is_whole && blocks && *blocks < fewest_blocks;
    return shares && (!has_few_blocks || operations <= most_operations);
  }
  bool is_loaded(const Kernel& k, int buffer) const {
    return std::ranges::any_of(g_.reachable(k.sink),
                               [&](Id id) { return g_.op(id) == Op::LOAD && buffer_of(k, id) == buffer; });
  }
  // The other ranges of this end, of REDUCEs and of kernels that have joined, as the range.
  std::unordered_map<Id, Id> along(const Kernel& k, Id range) const {
    std::unordered_map<Id, Id> out;
    for (const Id id : g_.reachable(k.sink))
      if (g_.op(id) == Op::RANGE && id != range && g_.end(id) == g_.end(range) && id != loop_ranges_of(g_, k).front())
        out[id] = range;
    return out;
  }
  bool is_arithmetic(Id id) const { return compiler::is_elementwise(g_.op(id)) && g_.dtype(id) != DType::index; }

  bool may_join(std::size_t k, std::size_t c) const {
    return s_.kernels[k].segment == s_.kernels[c].segment && is_free(k) && is_free(c) && (moves(k, c) || moves(c, k));
  }
  // Whether only this kernel stores to its buffers, and their memory has no earlier values.
  bool is_free(std::size_t a) const {
    return std::ranges::all_of(access_[a].stores, [&](int buffer) {
      const auto& users = nth(users_, buffer);
      const auto stores = [&](std::size_t k) { return std::ranges::binary_search(access_[k].stores, buffer); };
      if (nth(s_.buffers, buffer).after >= 0 || std::ranges::count_if(users, stores) != 1) return false;
      return !is_entry_value(s_, buffer) || users.size() == 1;  // no other kernel reads the value on entry
    });
  }
  // Whether kernel `a` may run at the place of kernel `b`.
  bool moves(std::size_t a, std::size_t b) const {
    for (std::size_t q = std::min(a, b) + 1; q < std::max(a, b); ++q) {
      if (gone_[q]) continue;
      const auto& [loads, stores] = access_[q];
      if (a < b ? meet(loads, access_[a].stores) : meet(stores, access_[a].loads)) return false;
      for (const int s : stores)
        if (a < b && std::ranges::binary_search(access_[a].loads, nth(s_.buffers, s).after)) return false;
    }
    if (a > b) return std::ranges::none_of(access_[a].loads, [&](int l) { return is_continued_before(l, b); });
    return true;
  }
  // Whether a kernel up to place b reuses the memory of the buffer.
  bool is_continued_before(int buffer, std::size_t b) const {
    for (std::size_t q = 0; q <= b; ++q)
      for (const int s : access_[q].stores)
        if (nth(s_.buffers, s).after == buffer) return true;
    return false;
  }
  static bool meet(const std::vector<int>& a, const std::vector<int>& b) {
    return std::ranges::any_of(a, [&](int x) { return std::ranges::binary_search(b, x); });
  }

  void join(std::size_t k, std::size_t c, const Joined& j) {
    Kernel& to = s_.kernels[k];
    const Kernel from = s_.kernels[c];
    std::unordered_map<Id, Id> map = j.values;
    for (const Id id : g_.reachable(from.sink))
      if (g_.op(id) == Op::BUFFER) {
        const std::size_t slot = slot_of(to, nth(from.buffers, g_.slot(id)));
        map[id] = g_.make(Op::BUFFER, g_.dtype(id), {}, {slot});
      }
    std::vector<Id> ends;
    for (const Id end : g_.sources(from.sink)) {
      const Id store = simplify_(substitute(g_, g_.store(end), map));
      ends.push_back(g_.make(Op::END, DType::none, {store, j.tile, j.inner}));
    }
    remark(g_, g_.store(ends.front()), remarks::fused,
           [] { return "it is computed in the loop of a reduction that loads the same elements"; });
    ends.insert(ends.end(), g_.src(to.sink).begin(), g_.src(to.sink).end());
    to.sink = g_.make(Op::SINK, DType::none, ends);
    const bool at_c = !moves(c, k);
    gone_[at_c ? k : c] = true;
    const std::size_t place = at_c ? c : k;
    if (at_c) s_.kernels[c] = std::move(to);
    access_[place] = access_of(g_, s_.kernels[place]);
    for (const int b : access_[place].loads) move_user(b, k, c, place);
    for (const int b : access_[place].stores) move_user(b, k, c, place);
  }
  void move_user(int buffer, std::size_t k, std::size_t c, std::size_t place) {
    auto& users = nth(users_, buffer);
    users.erase(k);
    users.erase(c);
    users.insert(place);
  }

  std::size_t slot_of(Kernel& k, int buffer) {
    const auto at = std::ranges::find(k.buffers, buffer);
    const std::size_t slot = index_at(k.buffers, at);
    if (at == k.buffers.end()) k.buffers.push_back(buffer);
    return slot;
  }

  Graph& g_;
  Schedule& s_;
  Facts facts_;
  Simplifier simplify_;
  StagingModel model_;
  std::vector<KernelAccess> access_;          // by kernel
  std::vector<std::set<std::size_t>> users_;  // by buffer: the kernels that load it or store to it
  std::vector<bool> gone_;                    // by kernel: it is a part of another one
};

}  // namespace

void elementwise_siblings(Graph& g, Schedule& s) { ElementwiseSiblings(g, s).run(); }

}  // namespace kiln::compiler
