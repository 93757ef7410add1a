#include "compiler/schedule/window_operand.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "compiler/ir/index_poly.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t longest_step = 16;      // between windows
constexpr std::int64_t unknown_extent = 1024;  // of a range whose extent is not known

class OperandSearch {
 public:
  OperandSearch(Graph& g, std::span<const Id> loops, RangeIds& ids, Simplifier& simplify)
      : g_(g), loops_(loops), ids_(ids), simplify_(simplify) {}

  std::optional<WindowOperand> run(Id value) {
    WindowOperand o{value, value, no_id, {}, {}};
    if (!find_load(o)) return std::nullopt;
    const std::unordered_map<Id, Id> quotients = name_quotients(o);  // by range: the quotient that it stands for
    if (!find_load(o)) return std::nullopt;
    const std::optional<Poly> index = symbolic::sum_of(g_, g_.src(o.load, 1));
    if (!index || !is_linear_in_ranges(*index)) return std::nullopt;
    const std::vector<Id> ranges = ranges_;
    for (const bool reduced : {true, false})
      for (const Id k : ranges)
        if (is_reduced(k) == reduced) shift(o, *index, k);
    o.length = o.reads = 1;
    for (const Id r : loops_) o.reads *= size(r);
    for (const Id r : ranges) {
      if (is_reduced(r)) o.reads *= size(r);
      if (std::ranges::any_of(o.axes, [&](const WindowAxis& a) { return r == a.loop || r == a.window; })) continue;
      const auto quotient = quotients.find(r);
      o.others.push_back({r, quotient == quotients.end() ? r : quotient->second, stride(*index, r)});
      if (o.others.back().stride.factor == 0) return std::nullopt;  // each iteration reads equal elements
      o.length *= size(r);
    }
    for (const WindowAxis& a : o.axes) {
      const double loop = size(a.loop), window = size(a.window);
      o.length *= static_cast<double>(a.step) * (loop - 1) + static_cast<double>(a.dilation) * (window - 1) + 1;
    }
    if (is_matrix(o)) return std::nullopt;
    const auto place = [&](const WindowAxis& a) { return std::ranges::find(loops_, a.loop); };
    std::ranges::sort(o.axes, [&](const WindowAxis& a, const WindowAxis& b) { return place(a) < place(b); });
    if (!find_load(o)) return std::nullopt;  // padding at every place
    return o;
  }

 private:
  // Whether the rows of a matrix look like windows that follow each other: step * j + k for k < step.
  bool is_matrix(const WindowOperand& o) const {
    return o.axes.size() == 1 && o.axes[0].step > 1 && o.axes[0].step == extent(o.axes[0].window) &&
           std::ranges::none_of(o.others, [&](const WindowDimension& d) { return is_reduced(d.range); });
  }

  // Replaces quotients of a range, such as the group of an output channel, by ranges of their own.
  std::unordered_map<Id, Id> name_quotients(WindowOperand& o) {
    std::unordered_map<Id, Id> named, names;
    const std::optional<Poly> index = symbolic::sum_of(g_, g_.src(o.load, 1));
    for (const Monomial& m : index.value_or(Poly{}))
      for (const Id atom : m.atoms) {
        if (g_.op(atom) != Op::FLOORDIV) continue;
        const auto [dividend, divisor] = g_.operands<2>(atom);
        if (g_.op(dividend) != Op::RANGE || !g_.is_const(divisor)) continue;
        const Id one = g_.index(1), last = index_sub(g_, g_.end(dividend), one);
        const Id largest = index_floordiv(g_, last, divisor);
        const Id range = ids_.range(g_, index_add(g_, largest, one), RangeKind::loop);
        named[atom] = range;
        names[range] = atom;
      }
    if (!named.empty()) o.padded = substitute(g_, o.padded, named);
    return names;
  }

  bool is_linear_in_ranges(const Poly& index) const {
    for (const Monomial& m : index)
      for (const Id atom : m.atoms)
        if (g_.op(atom) != Op::SYM && g_.op(atom) != Op::RANGE) return false;
    return true;
  }

  // Adds the axis of the window range k, if the value depends on k and a LOOP range, inside of k, only through their sum.
  void shift(WindowOperand& o, const Poly& index, Id k) {
    const auto is_taken = [&](Id r) {
      return std::ranges::any_of(o.axes, [&](const WindowAxis& b) { return b.loop == r || b.window == r; });
    };
    for (std::size_t i = loops_.size(); i-- > 0 && loops_[i] != k;) {
      if (is_taken(k) || is_taken(loops_[i])) continue;
      std::optional<WindowAxis> a = axis(index, loops_[i], k);
      if (!a) continue;
      a->u = ids_.range(g_, length(*a), RangeKind::loop);
      const bool by_window = a->dilation == 1;  // k = u - step * j, else j = u - dilation * k
      const Id other = by_window ? index_mul(g_, a->loop, g_.index(a->step)) : index_mul(g_, k, g_.index(a->dilation));
      const Id solved = g_.make(Op::SUB, DType::index, {a->u, other});
      const Id value = substitute(g_, o.padded, conditions_of_sum(o.padded, *a));
      const Id padded = simplify_(substitute(g_, value, {{by_window ? k : a->loop, solved}}));
      const std::vector<Id> nodes = g_.reachable(padded);
      if (std::ranges::binary_search(nodes, k) || std::ranges::binary_search(nodes, a->loop)) continue;
      o.padded = padded;
      o.axes.push_back(*a);
      return;
    }
  }

  // Replaces conditions 0 < p * j + q * k by 0 < u. Both hold if and only if j or k is above 0, for all p and q above 0 and
  // indices that are not negative.
  std::unordered_map<Id, Id> conditions_of_sum(Id value, const WindowAxis& a) {
    std::unordered_map<Id, Id> out;
    for (const Id id : g_.reachable(value)) {
      if (g_.op(id) != Op::LT) continue;
      const auto [left, right] = g_.operands<2>(id);
      const std::optional<Poly> sum = symbolic::sum_of(g_, right);
      if (!g_.is_index_const(left, 0) || !sum || sum->size() != 2) continue;
      const auto is_one = [&](const Monomial& m) {
        return m.coefficient > 0 && m.atoms.size() == 1 && (m.atoms[0] == a.loop || m.atoms[0] == a.window);
      };
      if (std::ranges::all_of(*sum, is_one)) out[id] = g_.make(Op::LT, DType::boolean, {g_.index(0), sum_of_axis(g_, a)});
    }
    return out;
  }

  // The values of u: 0 to step * last j + dilation * last k. None if a range is empty.
  Id length(const WindowAxis& a) {
    const Id zero = g_.index(0), one = g_.index(1);
    const auto last_of = [&](Id range, std::int64_t by) {
      const Id factor = g_.index(by), last = index_sub(g_, g_.end(range), one);
      return index_mul(g_, last, factor);
    };
    const Id j = last_of(a.loop, a.step), k = last_of(a.window, a.dilation);
    const Id length = index_add(g_, index_add(g_, j, k), one);
    return index_max(g_, length, zero);
  }

  // nullopt: windows over this axis neither overlap nor follow each other without a gap.
  std::optional<WindowAxis> axis(const Poly& index, Id loop, Id window) const {
    const SplitAt by_loop = split_at(index, loop), by_window = split_at(index, window);
    if (by_loop.square || by_window.square || by_loop.factor.size() != 1 || by_window.factor.size() != 1) return std::nullopt;
    const Monomial &j = by_loop.factor[0], &k = by_window.factor[0];
    if (j.atoms != k.atoms || j.coefficient <= 0 || k.coefficient <= 0) return std::nullopt;
    const std::int64_t common = std::gcd(j.coefficient, k.coefficient);
    const WindowAxis a{loop, window, j.coefficient / common, k.coefficient / common, {j.atoms.size(), common}};
    if ((a.step != 1 && a.dilation != 1) || a.step > longest_step) return std::nullopt;
    const bool touch = a.step < extent(window) || (a.step > 1 && a.step == extent(window) && is_reduced(window));
    return touch && a.dilation < extent(loop) ? std::optional(a) : std::nullopt;
  }

  // Finds the LOAD and the ranges of the padded value. False: several loads or none, or a reduction.
  [[nodiscard]] bool find_load(WindowOperand& o) {
    o.load = no_id;
    ranges_.clear();
    for (const Id id : g_.reachable(o.padded)) {
      if (g_.op(id) == Op::REDUCE || (g_.op(id) == Op::LOAD && o.load != no_id)) return false;
      if (g_.op(id) == Op::LOAD) o.load = id;
      if (g_.op(id) == Op::RANGE) ranges_.push_back(id);
    }
    return o.load != no_id;
  }

  bool is_reduced(Id range) const { return g_.range_kind(range) == RangeKind::reduce; }
  std::int64_t extent(Id range) const { return typical_extent(g_, simplify_.bounds(), range); }
  double size(Id range) const { return static_cast<double>(extent(range)); }

  static TensorStride stride(const Poly& index, Id range) {
    const Poly by = split_at(index, range).factor;
    return by.empty() ? TensorStride{} : TensorStride{by[0].atoms.size(), by[0].coefficient};
  }

  Graph& g_;
  std::span<const Id> loops_;
  RangeIds& ids_;
  Simplifier& simplify_;
  std::vector<Id> ranges_;  // of the padded value
};

}  // namespace

std::optional<WindowOperand> window_operand(Graph& g, Id value, std::span<const Id> loops, RangeIds& ids,
                                            Simplifier& simplify) {
  return OperandSearch(g, loops, ids, simplify).run(value);
}

std::int64_t typical_extent(const Graph& g, Bounds& bounds, Id range) {
  const Interval end = bounds(g.end(range));
  return end.min == end.max ? end.max : std::max(end.min, std::min(end.max, unknown_extent));
}

Id sum_of_axis(Graph& g, const WindowAxis& a) {
  const Id steps = index_mul(g, a.loop, g.index(a.step));
  const Id taps = index_mul(g, a.window, g.index(a.dilation)), first = g.index(a.first);
  return index_add(g, index_add(g, steps, taps), first);
}

}  // namespace kiln::compiler
