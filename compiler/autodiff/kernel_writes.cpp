#include "compiler/autodiff/kernel_writes.h"

#include <algorithm>

#include "compiler/autodiff/kernel_values.h"
#include "compiler/autodiff/transpose.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler::autodiff {
namespace {

// One write. Tensors over the ranges: value, gate, index.
struct Write {
  bool adds, in_order;  // in_order: several work items may write one element, the last one wins
  Id value, gate;       // gate: no_id if it is true
  std::vector<Id> index;
  std::vector<Id> first;  // the first indices, if they are the same for all work items, and the others are the ranges in order
  bool is_row;
};

class KernelWrites {
 public:
  KernelWrites(Rules& rules, Id get)
      : rules_(rules), e_(rules.e), g_(rules.e.g), get_(get), kernel_(g_.scope(get)), values_(e_, kernel_) {}

  std::optional<Id> value(Id result) {
    if (!is_float(g_.dtype(get_)) || !values_.have_extents()) return std::nullopt;
    std::vector<Write> writes;
    Id state = kernel_parts(g_, kernel_).final[g_.slot(get_)];
    for (; is_write(g_.op(state)); state = g_.state(state)) {
      const std::optional<Write> w = write(state);
      if (!w) return std::nullopt;
      writes.push_back(*w);
    }
    if (g_.op(state) != Op::CARRY || writes.empty()) return std::nullopt;
    const bool is_alone = writes.size() == 1;
    if (!is_alone && !std::ranges::all_of(writes, [&](const Write& w) { return w.adds == writes[0].adds && !w.in_order; }))
      return std::nullopt;
    Id out = scope_inits(g_, kernel_)[g_.slot(get_)];
    if (is_alone && writes[0].is_row) return selected(writes[0], out);
    for (auto w = writes.rbegin(); w != writes.rend(); ++w) out = custom(*w, out, result);
    return out;
  }

 private:
  std::optional<Write> write(Id node) {
    const bool is_update = g_.op(node) == Op::UPDATE;
    const bool adds = !is_update && g_.atomic_kind(node) == AtomicKind::add;
    if (!is_update && !adds && g_.atomic_kind(node) != AtomicKind::exchange) return std::nullopt;
    const WriteParts w = write_parts(g_, node);
    const std::vector<Id> index(w.index.begin(), w.index.end());  // a copy: the graph grows
    const auto value = values_.tensor(w.value), gate = values_.tensor(w.gate);
    if (!value || !gate) return std::nullopt;
    const bool always = g_.is_const(w.gate) && g_.value(w.gate) == 1;
    Write out{adds, !is_update && !adds, e_.b.broadcast_to(*value, values_.extents()), always ? no_id : *gate, {}, {}, false};
    for (const Id i : index) {
      const std::optional<Id> place = values_.tensor(i);
      if (!place) return std::nullopt;
      out.index.push_back(*place);
    }
    out.is_row = is_row(index, out.first);
    return out;
  }

  bool is_row(std::span<const Id> index, std::vector<Id>& first) {
    const Extents shape = e_.shape(get_);
    const std::size_t n = values_.ranges().size();
    if (index.size() < n) return false;
    const std::size_t named = index.size() - n;
    for (std::size_t a = 0; a < index.size(); ++a) {
      if (a < named ? !values_.is_outside(index[a]) : values_.whole_range(index[a], shape[a]) != a - named) return false;
      if (a < named) first.push_back(index[a]);
    }
    return true;
  }

  // The elements of the last axes are the work items.
  Id selected(const Write& w, Id before) {
    const Extents to = e_.shape(before);
    const Id value = w.adds ? e_.add(before, w.value) : e_.b.broadcast_to(w.value, to);
    if (w.first.empty() && w.gate == no_id) return value;
    return e_.where(is_at(e_, before, w.first, w.gate), value, before);
  }

  Id custom(const Write& w, Id before, Id result) {
    const DType d = g_.dtype(get_);
    const std::int64_t number = rules_.new_custom();
    const Id c = e_.b.cotangent(d, e_.shape(before), number);
    const Id read = elements(c, w.index);
    Id by_before = c, at = e_.b.broadcast_to(read, values_.extents());
    if (!w.adds) {
      const Id last = last_writers(w, before);
      const Id first = integer(0), none = e_.number(d, 0), is_kept = e_.less(last, first);
      by_before = e_.where(is_kept, c, none);
      if (w.in_order) {
        const Id winner = elements(last, w.index), here = numbers(), wins = e_.equal(winner, here);
        at = e_.masked(wins, at);
      }
    }
    if (w.gate != no_id) at = e_.masked(w.gate, at);
    const Id x[] = {before, w.value}, derivatives[] = {by_before, at};
    return e_.b.custom(result, x, derivatives, number);
  }

  Id elements(Id x, std::span<const Id> index) { return index.empty() ? x : e_.b.gather(x, index); }
  Id integer(std::int64_t v) { return e_.b.constant(DType::i64, static_cast<std::uint64_t>(v)); }

  // The position of each work item, in row-major order.
  Id numbers() {
    const Extents& all = values_.extents();
    Id out = integer(0);
    for (std::size_t a = 0; a < all.size(); ++a) {
      const Id extent = e_.b.extent_value(DType::i64, all[a]), outer = e_.mul(out, extent);
      const Id inner = e_.iota_along(a, all.size(), all[a]);
      out = e_.add(outer, inner);
    }
    return e_.b.broadcast_to(out, all);
  }

  // For each element of the tensor the number of the work item that writes it last; -1: none does.
  Id last_writers(const Write& w, Id before) {
    const Extents to = e_.shape(before), &all = values_.extents();
    std::vector<Id> here;
    for (const Id r : values_.ranges()) here.push_back(rules_.fresh(r, g_.src(r, 0)));
    const auto element = [&](Id x) { return e_.rank(x) == 0 ? x : e_.b.element(e_.b.broadcast_to(x, all), here); };
    Id gate = w.gate == no_id ? e_.b.constant(DType::boolean, 1) : element(w.gate);
    std::vector<Id> index;
    const Id zero = g_.index(0);
    for (std::size_t a = 0; a < to.size(); ++a) {
      gate = e_.both(gate, e_.b.elementwise(Op::LT, {zero, to[a]}));
      const Id place = e_.b.index_of(element(w.index[a])), last = index_sub(g_, to[a], g_.index(1));
      index.push_back(e_.b.elementwise(Op::MAX, {e_.b.elementwise(Op::MIN, {place, last}), zero}));
    }
    const Id none = e_.b.broadcast_to(integer(-1), to), state = e_.b.carry(here[0], none, 0), number = element(numbers());
    const Id final = w.in_order ? e_.b.atomic(AtomicKind::exchange, state, gate, number, index)
                                : e_.b.update(state, gate, number, index, true);
    return e_.b.get(e_.b.kernel(here, std::span(&none, 1), std::span(&final, 1)), 0);
  }

  Rules& rules_;
  Emit& e_;
  Graph& g_;
  Id get_, kernel_;
  KernelValues values_;
};

}  // namespace

std::optional<Id> written_value(Rules& rules, Id get, Id result) {
  const Graph& g = rules.e.g;
  if (g.op(get) != Op::GET || g.op(g.scope(get)) != Op::KERNEL || rules.scatters.contains(get)) return std::nullopt;
  return KernelWrites(rules, get).value(result);
}

}  // namespace kiln::compiler::autodiff
