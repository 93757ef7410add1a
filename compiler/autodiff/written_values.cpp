#include "compiler/autodiff/written_values.h"

#include <algorithm>

#include "compiler/autodiff/kernel_writes.h"
#include "compiler/autodiff/rebuild.h"
#include "compiler/autodiff/unrolled_loops.h"
#include "compiler/ir/open_ranges.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler::autodiff {
namespace {

class Writes {
 public:
  Writes(Rules& rules, Id y, bool reverse) : rules_(rules), e_(rules.e), g_(rules.e.g), reverse_(reverse), open_(g_) {
    for (const Id id : g_.reachable(y)) {
      open_.visit(id);
      if (is_scope(g_.op(id)))
        for (const Id range : scope_ranges(g_, id)) closed_.insert(range);
    }
    is_outside_ = reverse && std::ranges::none_of(open_.of(y), [&](Id range) { return rules_.is_in_kernel(range); });
  }

  bool is_written(Id id) const {
    return is_own_element(id) || (reverse_ && is_short_loop(rules_, id)) || (is_outside_ && written_value(rules_, id, id));
  }

  // Such a node as a value; copy: the node over other sources.
  Id value(Id node, Id copy) {
    if (g_.op(copy) == Op::INDEX) return element(copy);
    const Id scope = g_.scope(copy);
    if (g_.op(scope) == Op::KERNEL) {
      const bool is_inside = std::ranges::any_of(open_.of(node), [&](Id range) { return closed_.contains(range); });
      return written_value(rules_, copy, is_inside ? copy : node).value();  // the copy is inside of a copy of the scope
    }
    if (!after_.contains(scope)) after_[scope] = after_turns(rules_, scope);
    return after_.at(scope)[g_.slot(copy)];
  }

 private:
  static constexpr Id never = no_id - 1;

  bool is_own_element(Id read) const {
    if (g_.op(read) != Op::INDEX || g_.op(g_.data(read)) != Op::UPDATE || !is_float(g_.dtype(read))) return false;
    Id first = g_.data(read);
    for (;;) {
      if (is_write(g_.op(first))) {
        first = g_.state(first);
      } else if (g_.op(first) == Op::GET && g_.op(g_.scope(first)) == Op::FOR) {
        first = scope_inits(g_, g_.scope(first))[g_.slot(first)];
      } else if (g_.op(first) == Op::CARRY && !rules_.is_of_kernel(g_.range_of(first))) {
        first = g_.init(first);
      } else {
        break;
      }
    }
    const Op op = g_.op(first);
    return (op == Op::CARRY || (op == Op::LOCAL && reverse_)) && !closed_.contains(g_.range_of(first));
  }

  Id element(Id read) const {
    const IndexGate at = index_gate(g_, read);
    std::vector<Id> index = g_.sources(read, 1), writes;
    if (!index.empty()) index[0] = at.first;
    Id state = g_.data(read);
    for (; g_.op(state) == Op::UPDATE; state = g_.state(state)) writes.push_back(state);
    Id out = e_.b.element(state, index, at.gate);
    for (auto w = writes.rbegin(); w != writes.rend(); ++w) {
      const WriteParts parts = write_parts(g_, *w);
      const std::vector<Id> to(parts.index.begin(), parts.index.end());
      const Id written = parts.value, same = hits(parts.gate, to, index);
      if (same != never) out = same == no_id ? written : e_.where(same, written, out);
    }
    return out;
  }

  // Whether a write reaches the element; no_id: it does.
  Id hits(Id gate, std::span<const Id> to, std::span<const Id> index) const {
    Id all = g_.is_const(gate) ? no_id : gate;
    if (all == no_id && g_.value(gate) == 0) return never;
    for (std::size_t a = 0; a < to.size(); ++a) {
      if (to[a] == index[a]) continue;
      if (g_.is_const(to[a]) && g_.is_const(index[a])) return never;
      const Id same = g_.make(Op::EQ, DType::boolean, {to[a], index[a]});
      all = all == no_id ? same : e_.both(all, same);
    }
    return all;
  }

  Rules& rules_;
  Emit& e_;
  Graph& g_;
  bool reverse_, is_outside_ = false;
  OpenRanges open_;
  std::unordered_set<Id> closed_;
  std::unordered_map<Id, std::vector<Id>> after_;  // by FOR
};

std::unordered_set<Id> written_in(const Graph& g, const Writes& writes, Id y) {
  std::unordered_set<Id> out;
  for (const Id id : g.reachable(y))
    if (writes.is_written(id)) out.insert(id);
  return out;
}

// Whether something was replaced, which may be inside of other writes.
bool replace_written(Rules& rules, std::span<Id> values, bool reverse) {
  Writes writes(rules, values[0], reverse);
  std::unordered_set<Id> written = written_in(rules.e.g, writes, values[0]);
  if (written.empty()) return false;
  const std::vector<Id> xs(values.begin() + 1, values.end());
  const Path path(rules, values[0], xs, false);
  std::erase_if(written, [&](Id id) { return !path.contains(id) || path.edges(id).empty(); });
  if (written.empty()) return false;
  rebuild(rules, values, written, [&](Id id, Id copy) {
    const Id value = writes.value(id, copy);
    return std::ranges::find(xs, id) == xs.end() ? value : rules.e.b.mark(value, MarkKind::independent, 0);
  });
  return true;
}

}  // namespace

void with_written_values(Rules& rules, std::span<Id> values, bool reverse) {
  while (replace_written(rules, values, reverse)) {
  }
}

Id own_value(Rules& rules, Id x) {
  Writes writes(rules, x, true);
  const bool is_written = writes.is_written(x);
  const std::unordered_set<Id> written = written_in(rules.e.g, writes, x);
  if (!written.empty()) rebuild(rules, std::span(&x, 1), written, [&](Id id, Id copy) { return writes.value(id, copy); });
  return is_written ? rules.e.b.mark(x, MarkKind::independent, 0) : x;
}

}  // namespace kiln::compiler::autodiff
