#include "compiler/autodiff/own_writes.h"

#include <algorithm>

#include "compiler/autodiff/rebuild.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler::autodiff {
namespace {

class Reads {
 public:
  Reads(Rules& rules, Id y, bool arrays) : rules_(rules), e_(rules.e), g_(rules.e.g), arrays_(arrays) {
    for (const Id id : g_.reachable(y))
      if (is_scope(g_.op(id)))
        for (const Id range : scope_ranges(g_, id)) closed_.insert(range);
  }

  bool is_own(Id read) const {
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
    return (op == Op::CARRY || (op == Op::LOCAL && arrays_)) && !closed_.contains(g_.range_of(first));
  }

  Id value(Id read) {
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

 private:
  static constexpr Id never = no_id - 1;

  // Whether a write reaches the element; no_id: it does.
  Id hits(Id gate, std::span<const Id> to, std::span<const Id> index) {
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

  const Rules& rules_;
  Emit& e_;
  Graph& g_;
  bool arrays_;
  std::unordered_set<Id> closed_;
};

}  // namespace

void with_own_writes(Rules& rules, std::span<Id> values, bool arrays) {
  const Graph& g = rules.e.g;
  const std::vector<Id> all = g.reachable(values[0]);
  if (std::ranges::none_of(all, [&](Id id) { return g.op(id) == Op::UPDATE; })) return;
  Reads reads(rules, values[0], arrays);
  const auto xs = values.subspan(1);
  std::unordered_set<Id> own;
  for (const Id id : all)
    if (std::ranges::find(xs, id) == xs.end() && reads.is_own(id)) own.insert(id);
  if (!own.empty()) rebuild(rules, values, own, [&](Id, Id copy) { return reads.value(copy); });
}

Id own_value(Rules& rules, Id x) {
  const bool is_own = Reads(rules, x, true).is_own(x);
  with_own_writes(rules, std::span(&x, 1), true);
  return is_own ? rules.e.b.mark(x, MarkKind::independent, 0) : x;
}

}  // namespace kiln::compiler::autodiff
