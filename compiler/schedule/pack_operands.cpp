#include "compiler/schedule/pack_operands.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/ir/index_poly.h"
#include "compiler/schedule/each_kernel.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/schedule/packed_operand.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {
namespace {

class OperandPacking {
 public:
  OperandPacking(Graph& g, Schedule& s, Kernel& k, const Facts& facts)
      : g_(g), s_(s), kernel_(k), facts_(facts), bounds_(g, facts), loops_(loop_ranges_of(g, k)) {}

  // The kernel that copies words of DOT2; nullopt: all words are packed.
  std::optional<Kernel> pack_words() {
    if (loops_.empty()) return std::nullopt;
    for (const Id id : g_.reachable(kernel_.sink)) {
      if (g_.op(id) != Op::REDUCE || g_.op(g_.src(id, 0)) != Op::DOT2 || g_.src(id).size() != 2) continue;
      const Id r = g_.src(id, 1);
      for (const Id word : g_.sources(g_.src(id, 0)))
        if (const std::vector<Id> nodes = g_.reachable(word); g_.op(word) != Op::LOAD && varies_only_over(g_, nodes, loops_, r))
          return pack(g_, s_, kernel_, laid_out(operand_over(loops_, word, r, nodes, false)), facts_);
    }
    return std::nullopt;
  }

  // The kernel that copies an operand over the columns; nullopt: nothing to pack.
  std::optional<Kernel> pack_operand() {
    return pack_first([&](Id reduce, Id load, Id r) -> std::optional<Operand> {
      if (g_.reduce_kind(reduce) != ReduceKind::fma && !lanes_but_for_one_load(g_, kernel_, reduce)) return std::nullopt;
      return packable(load, r);
    });
  }

  // The kernel that copies the left operand of a product; nullopt: its rows are contiguous f32, or the copy does not pay.
  std::optional<Kernel> pack_left() {
    return pack_first([&](Id reduce, Id load, Id r) -> std::optional<Operand> {
      const Id value = widened(load);
      if (g_.reduce_kind(reduce) != ReduceKind::fma || !is_among(g_.src(reduce).first(2), value)) return std::nullopt;
      std::optional<Operand> o = left_operand_of(g_, loops_, load, r);
      if (!o) return std::nullopt;
      o->value = value;
      const bool pays = value != load ? walks_of(*o, columns_for_casts) >= columns_for_casts
                                      : is_transposed(g_, loops_, load, r) && is_larger(*o, large_left) &&
                                            columns_beside(*o) >= columns_for_rows;
      return pays ? o : std::nullopt;
    });
  }

 private:
  // Packs the first operand that `choose` gives for a REDUCE over one range r and a LOAD without a gate in it.
  template <class Choose>
  std::optional<Kernel> pack_first(const Choose& choose) {
    if (loops_.size() < 2) return std::nullopt;
    for (const Id id : g_.reachable(kernel_.sink)) {
      if (g_.op(id) != Op::REDUCE) continue;
      const std::size_t values = operands_of(g_.reduce_kind(id));
      if (g_.src(id).size() != values + 1 || g_.op(g_.src(id, values)) != Op::RANGE) continue;
      for (const Id load : g_.reachable(g_.src(id).first(values)))
        if (g_.op(load) == Op::LOAD && g_.src(load).size() == 2)
          if (const std::optional<Operand> o = choose(id, load, g_.src(id, values))) return pack(g_, s_, kernel_, *o, facts_);
    }
    return std::nullopt;
  }

  std::int64_t constant_extent(Id range) const { return index_value(g_, g_.end(range)).value_or(0); }

  // The cast of the load to f32 if the kernel uses nothing else of it and its type is shorter, else the load.
  Id widened(Id load) const {
    Id cast = load;
    if (bytes(g_.dtype(load)) > 2) return load;
    for (const Id user : g_.reachable(kernel_.sink)) {
      if (!is_among(g_.src(user), load)) continue;
      if (cast != load || g_.op(user) != Op::CAST || g_.dtype(user) != DType::f32) return load;
      cast = user;
    }
    return cast;
  }

  // The operand that the load reads, if the copy pays.
  std::optional<Operand> packable(Id load, Id r) {
    const std::optional<Operand> o = operand_of(g_, loops_, load, r);
    if (!o) return std::nullopt;
    const Operand placed = laid_out(*o);
    return worth_it(placed) ? std::optional(placed) : std::nullopt;
  }

  std::int64_t columns_of(const Operand& o) const { return o.column == no_id ? 1 : constant_extent(o.column); }

  // Elements of one matrix of the operand; 0: not constant. The rows of a left operand are among its outer ranges.
  std::int64_t elements_of(const Operand& o) const {
    std::vector<Id> ranges = {o.r};
    if (o.column == no_id)
      ranges.insert(ranges.end(), o.outer.begin(), o.outer.end());
    else
      ranges.push_back(o.column);
    std::int64_t elements = 1;
    for (const Id range : ranges)
      if (__builtin_mul_overflow(elements, constant_extent(range), &elements)) return std::numeric_limits<std::int64_t>::max();
    return elements;
  }

  bool is_larger(const Operand& o, std::int64_t size) const { return elements_of(o) > size / bytes(g_.dtype(o.value)); }

  // Whether panels pay. An operand that is not contiguous is copied in any case.
  bool is_large(const Operand& o) {
    return std::ranges::any_of(panel_limits, [&](const PanelLimit& l) {
      return is_larger(o, l.bytes) && (!o.contiguous || walks_of(o, l.walks) >= l.walks);
    });
  }

  // Other kernels may join one that stores to a temporary, row by row, if it stores each element once.
  bool stores_to_parameters() const {
    return std::ranges::all_of(g_.src(kernel_.sink), [&](Id end) {
      const int buffer = nth(kernel_.buffers, g_.slot(g_.state(g_.store(end))));
      return nth(s_.buffers, buffer).param >= 0;
    });
  }

  // The operand with its layout.
  Operand laid_out(Operand o) {
    const std::int64_t panel = panel_of(g_.dtype(o.value)), columns = columns_of(o);
    if (columns < fewest_panels * panel || !is_large(o)) return o;
    if (columns % panel == 0 || (stores_to_parameters() && may_store_twice(g_, kernel_)))
      o.panel = panel;
    else if (columns % (panel / 2) == 0)
      o.panel = panel / 2;
    return o;
  }

  // Iterations of the loops that read the whole operand; 0: not constant.
  std::int64_t columns_beside(const Operand& o) const {
    std::int64_t n = 1;
    for (const Id loop : loops_)
      if (!is_among(o.outer, loop) && __builtin_mul_overflow(n, constant_extent(loop), &n))
        return std::numeric_limits<std::int64_t>::max();
    return n;
  }

  // How often the operand is read; enough: more need not be told apart. An unknown extent may be 1. A contiguous operand then
  // stays; without the copy, the other is gathered in any case.
  std::int64_t walks_of(const Operand& o, std::int64_t enough) {
    std::int64_t walks = 1;
    for (const Id loop : loops_) {
      if (loop == o.column || is_among(o.outer, loop)) continue;
      const Interval extent = bounds_(g_.end(loop));
      walks = std::min(enough, walks * std::clamp<std::int64_t>(o.contiguous ? extent.min : extent.max, 0, enough));
    }
    return walks;
  }

  bool worth_it(const Operand& o) { return o.contiguous ? o.panel != 0 : walks_of(o, walks_for_rows) >= walks_for_rows; }

  Graph& g_;
  Schedule& s_;
  Kernel& kernel_;
  const Facts& facts_;
  Bounds bounds_;
  std::vector<Id> loops_;
};

}  // namespace

void pack_operands(Graph& g, Schedule& s) {
  insert_kernels(g, s, [&](Kernel& k, const Facts& facts, std::vector<Kernel>& made) {
    while (std::optional<Kernel> copy = OperandPacking(g, s, k, facts).pack_words()) made.push_back(std::move(*copy));
    if (std::optional<Kernel> copy = OperandPacking(g, s, k, facts).pack_operand()) made.push_back(std::move(*copy));
    if (std::optional<Kernel> copy = OperandPacking(g, s, k, facts).pack_left()) made.push_back(std::move(*copy));
  });
}

}  // namespace kiln::compiler
