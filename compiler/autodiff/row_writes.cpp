#include "compiler/autodiff/row_writes.h"

#include <algorithm>
#include <optional>

#include "compiler/autodiff/rebuild.h"
#include "compiler/autodiff/transpose.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler::autodiff {
namespace {

// `row` broadcasts to the axes without an index. gate: no_id if it is true.
struct RowWrite {
  Id before, row, gate;
  std::vector<Id> index;
};

class RowWrites {
 public:
  explicit RowWrites(Rules& rules) : e_(rules.e), g_(rules.e.g) {}

  std::optional<RowWrite> of(Id get) {
    if (g_.op(get) != Op::GET || g_.op(g_.scope(get)) != Op::KERNEL) return std::nullopt;
    const Id kernel = g_.scope(get);
    if (scope_inits(g_, kernel).size() != 1) return std::nullopt;
    const auto of_kernel = scope_ranges(g_, kernel);
    ranges_.assign(of_kernel.begin(), of_kernel.end());
    const Id write = g_.src(kernel).back();
    const bool sets =
        g_.op(write) == Op::UPDATE || (g_.op(write) == Op::ATOMIC && g_.atomic_kind(write) == AtomicKind::exchange);
    if (!sets) return std::nullopt;
    const WriteParts w = write_parts(g_, write);
    if (g_.op(w.state) != Op::CARRY || g_.range_of(w.state) != ranges_[0] || !is_outside(w.gate)) return std::nullopt;
    const Id before = scope_inits(g_, kernel)[0];
    const Extents shape = e_.shape(before);
    if (w.index.size() != shape.size() || shape.size() <= ranges_.size()) return std::nullopt;
    const std::size_t named = shape.size() - ranges_.size();
    for (std::size_t a = 0; a < shape.size(); ++a)
      if (a < named ? !is_outside(w.index[a]) : !is_whole(w.index[a], ranges_[a - named], shape[a])) return std::nullopt;
    const std::optional<Id> row = row_of(w.value);
    if (!row) return std::nullopt;
    const bool always = g_.is_const(w.gate) && g_.value(w.gate) == 1;
    return RowWrite{
        before, *row, always ? no_id : w.gate, {w.index.begin(), w.index.begin() + std::ssize(w.index) - std::ssize(ranges_)}};
  }

  Id tensor(const RowWrite& w) {
    const Id row = e_.b.broadcast_to(w.row, e_.shape(w.before));
    return e_.where(is_at(e_, w.before, w.index, w.gate), row, w.before);
  }

 private:
  bool is_outside(Id x) const {
    return std::ranges::none_of(g_.reachable(x), [&](Id id) { return std::ranges::find(ranges_, id) != ranges_.end(); });
  }

  // Whether the index is the range, which has all places of the axis. A clamp to the axis does nothing then.
  bool is_whole(Id index, Id range, Id extent) {
    if (g_.src(range, 0) != extent) return false;
    const Id last = index_sub(g_, extent, g_.index(1)), zero = g_.index(0);
    while (g_.op(index) == Op::MIN || g_.op(index) == Op::MAX) {
      const Id bound = g_.op(index) == Op::MIN ? last : zero;
      const auto [a, b] = g_.operands<2>(index);
      if (a != bound && b != bound) return false;
      index = a == bound ? b : a;
    }
    return index == range;
  }

  // The tensor whose elements the work items write; nullopt: they compute something else.
  std::optional<Id> row_of(Id value) const {
    if (is_outside(value)) return value;
    if (g_.op(value) != Op::INDEX || !is_outside(g_.data(value)) || index_gate(g_, value).gate != no_id) return std::nullopt;
    const std::vector<Id> at = g_.sources(value, 1);
    const Extents shape = e_.shape(g_.data(value));
    if (at.size() > ranges_.size()) return std::nullopt;
    for (std::size_t a = 0; a < at.size(); ++a) {
      const Id range = ranges_[ranges_.size() - at.size() + a];
      const bool is_whole = at[a] == range && shape[a] == g_.src(range, 0);  // not a part of a longer axis
      if (!is_whole && !(g_.is_index_const(at[a], 0) && g_.is_index_const(shape[a], 1))) return std::nullopt;
    }
    return g_.data(value);
  }

  Emit& e_;
  Graph& g_;
  std::vector<Id> ranges_;
};

}  // namespace

void with_row_writes(Rules& rules, std::span<Id> values) {
  RowWrites writes(rules);
  const auto xs = values.subspan(1);
  std::unordered_set<Id> found;
  for (const Id id : rules.e.g.reachable(values[0]))
    if (std::ranges::find(xs, id) == xs.end() && writes.of(id)) found.insert(id);
  if (found.empty()) return;
  const Path path(rules, values[0], xs, false);
  std::erase_if(found, [&](Id id) { return !path.contains(id); });
  if (!found.empty()) rebuild(rules, values, found, [&](Id, Id copy) { return writes.tensor(writes.of(copy).value()); });
}

}  // namespace kiln::compiler::autodiff
