#include "compiler/schedule/pack_windows.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/range_ids.h"
#include "compiler/ir/remark.h"
#include "compiler/schedule/each_kernel.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t longest_step = 16;       // steps of windows up to which the phases are planes of the copy
constexpr std::int64_t fewest_reads = 1 << 14;  // of the whole kernel: with fewer, a second kernel costs more than it saves
constexpr double walks_for_border = 16;         // reads of each element that pay for a copy that only removes gates
constexpr double walks_for_steps = 4;           // reads of each element that pay for a copy that makes neighbours contiguous
constexpr std::int64_t typical_extent = 1024;   // of an extent that is not known

// u = step * loop + dilation * window. One of the two factors is 1.
struct Axis {
  Id loop, window;
  std::int64_t step, dilation;
  Id u = no_id;
};

// One axis of the copy.
struct Dimension {
  Id range;             // of the shifted value
  Id at;                // the same place in the kernel's ranges
  std::size_t degree;   // of the stride in the tensor: symbols that are its factors
  std::int64_t stride;  // the constant factor
  double length;        // elements, at typical extents
};

struct Operand {
  Id value;                // of the reduction: the LOAD, and the selection of the border's value
  Id load;                 // of the shifted value
  std::vector<Id> ranges;  // of the value
  std::vector<Axis> axes;
  std::vector<Dimension> dimensions;  // in the order of memory
  Id shifted;                         // the value over the copy's ranges
  std::int64_t phases = 1;            // the step of the innermost LOOP range; the last dimension is then its axis
};

class Packing {
 public:
  Packing(Graph& g, Schedule& s, Kernel& k, const Facts& facts)
      : g_(g), s_(s), kernel_(k), facts_(facts), bounds_(g, facts), loops_(loop_ranges_of(g, k)), ids_(g, k.sink) {}

  // The kernel that copies an operand; nullopt: nothing to pack.
  std::optional<Kernel> run() {
    if (loops_.empty()) return std::nullopt;
    for (const Id reduce : g_.reachable(kernel_.sink)) {
      if (g_.op(reduce) != Op::REDUCE) continue;
      const std::size_t values = operands_of(g_.reduce_kind(reduce));
      for (std::size_t i = 0; i < values; ++i)
        if (std::optional<Operand> o = operand(g_.src(reduce, i)); o && worth_it(*o)) return packed(*o);
    }
    return std::nullopt;
  }

 private:
  // nullopt: the value is not one tensor at an index that is linear in ranges, or no two ranges make an axis.
  std::optional<Operand> operand(Id value) {
    Operand o{value, no_id, {}, {}, {}, value};
    if (!find_load(o)) return std::nullopt;
    const std::unordered_map<Id, Id> quotients = name_quotients(o);  // by range: the quotient that it stands for
    find_load(o);
    const std::optional<Poly> index = symbolic::sum_of(g_, g_.src(o.load, 1));
    if (!index || !is_linear_in_ranges(*index)) return std::nullopt;
    Simplifier simplify(g_, facts_);
    const std::vector<Id> ranges = o.ranges;
    for (const Id k : ranges)
      if (is_reduced(k)) shift(o, *index, k, simplify);
    if (o.axes.empty()) return std::nullopt;
    for (const Id r : ranges) {
      const auto quotient = quotients.find(r);
      if (std::ranges::none_of(o.axes, [&](const Axis& a) { return r == a.loop || r == a.window; }))
        o.dimensions.push_back(
            dimension(r, quotient == quotients.end() ? r : quotient->second, extent(r), split_at(*index, r).factor));
    }
    for (const Axis& a : o.axes) {
      const std::int64_t last = a.step * (extent(a.loop) - 1) + a.dilation * (extent(a.window) - 1);
      o.dimensions.push_back(dimension(a.u, sum(a), last + 1, split_at(*index, a.dilation == 1 ? a.window : a.loop).factor));
    }
    in_order_of_memory(o);
    return o;
  }

  // Finds the LOAD and the ranges of the shifted value. False: several loads or none, or a reduction.
  bool find_load(Operand& o) const {
    o.load = no_id;
    o.ranges.clear();
    for (const Id id : g_.reachable(o.shifted)) {
      if (g_.op(id) == Op::REDUCE || (g_.op(id) == Op::LOAD && o.load != no_id)) return false;
      if (g_.op(id) == Op::LOAD) o.load = id;
      if (g_.op(id) == Op::RANGE) o.ranges.push_back(id);
    }
    return o.load != no_id;
  }

  // Replaces quotients of a range, such as the group of an output channel, by ranges of their own.
  std::unordered_map<Id, Id> name_quotients(Operand& o) {
    std::unordered_map<Id, Id> named, names;
    const std::optional<Poly> index = symbolic::sum_of(g_, g_.src(o.load, 1));
    for (const Monomial& m : index.value_or(Poly{}))
      for (const Id atom : m.atoms) {
        if (g_.op(atom) != Op::FLOORDIV) continue;
        const auto [dividend, divisor] = g_.operands<2>(atom);
        if (g_.op(dividend) != Op::RANGE || !g_.is_const(divisor)) continue;
        const Id last = index_sub(g_, g_.end(dividend), g_.index(1));
        const Id range = ids_.range(g_, index_add(g_, index_floordiv(g_, last, divisor), g_.index(1)), RangeKind::loop);
        named[atom] = range;
        names[range] = atom;
      }
    if (!named.empty()) o.shifted = substitute(g_, o.shifted, named);
    return names;
  }

  bool is_reduced(Id range) const { return g_.range_kind(range) == RangeKind::reduce; }

  bool is_linear_in_ranges(const Poly& index) const {
    for (const Monomial& m : index)
      for (const Id atom : m.atoms)
        if (g_.op(atom) != Op::SYM && g_.op(atom) != Op::RANGE) return false;
    return true;
  }

  // Adds the axis of the window range k, if the value depends on k and a LOOP range only through their sum.
  void shift(Operand& o, const Poly& index, Id k, Simplifier& simplify) {
    for (std::size_t i = loops_.size(); i-- > 0;) {
      std::optional<Axis> a = axis(index, loops_[i], k);
      if (!a || std::ranges::any_of(o.axes, [&](const Axis& b) { return b.loop == a->loop; })) continue;
      a->u = ids_.range(g_, length(*a), RangeKind::loop);
      const bool by_window = a->dilation == 1;  // k = u - step * j, else j = u - dilation * k
      const Id other = by_window ? index_mul(g_, a->loop, g_.index(a->step)) : index_mul(g_, k, g_.index(a->dilation));
      const Id solved = g_.make(Op::SUB, DType::index, {a->u, other});
      const Id value = substitute(g_, o.shifted, conditions_of_sum(o.shifted, *a));
      const Id shifted = simplify(substitute(g_, value, {{by_window ? k : a->loop, solved}}));
      const std::vector<Id> nodes = g_.reachable(shifted);
      if (std::ranges::binary_search(nodes, k) || std::ranges::binary_search(nodes, a->loop)) continue;
      o.shifted = shifted;
      if (a->loop == loops_.back()) o.phases = a->step;
      o.axes.push_back(*a);
      return;
    }
  }

  // Conditions 0 < p * j + q * k, as conditions of the axis' sum: they say that j or k is above 0, whatever p and q above 0
  // are.
  std::unordered_map<Id, Id> conditions_of_sum(Id value, const Axis& a) {
    std::unordered_map<Id, Id> out;
    for (const Id id : g_.reachable(value)) {
      if (g_.op(id) != Op::LT) continue;
      const auto [left, right] = g_.operands<2>(id);
      const std::optional<Poly> sum = symbolic::sum_of(g_, right);
      if (!g_.is_index_const(left, 0) || !sum || sum->size() != 2) continue;
      const auto is_one = [&](const Monomial& m) {
        return m.coefficient > 0 && m.atoms.size() == 1 && (m.atoms[0] == a.loop || m.atoms[0] == a.window);
      };
      if (std::ranges::all_of(*sum, is_one)) out[id] = g_.make(Op::LT, DType::boolean, {g_.index(0), this->sum(a)});
    }
    return out;
  }

  // The values of u: 0 to step * last j + dilation * last k. None if a range is empty.
  Id length(const Axis& a) {
    const auto last = [&](Id range, std::int64_t by) {
      return index_mul(g_, index_sub(g_, g_.end(range), g_.index(1)), g_.index(by));
    };
    const Id j = last(a.loop, a.step), k = last(a.window, a.dilation);
    return index_max(g_, index_add(g_, index_add(g_, j, k), g_.index(1)), g_.index(0));
  }

  // nullopt: windows over this axis do not overlap, or they do not touch.
  std::optional<Axis> axis(const Poly& index, Id loop, Id window) const {
    const SplitAt by_loop = split_at(index, loop), by_window = split_at(index, window);
    if (by_loop.square || by_window.square || by_loop.factor.size() != 1 || by_window.factor.size() != 1) return std::nullopt;
    const Monomial &j = by_loop.factor[0], &k = by_window.factor[0];
    if (j.atoms != k.atoms || j.coefficient <= 0 || k.coefficient <= 0) return std::nullopt;
    const std::int64_t common = std::gcd(j.coefficient, k.coefficient);
    const Axis a{loop, window, j.coefficient / common, k.coefficient / common};
    if ((a.step != 1 && a.dilation != 1) || a.step > longest_step) return std::nullopt;
    const bool overlap = a.step < extent(window) && a.dilation < extent(loop);
    return overlap ? std::optional(a) : std::nullopt;
  }

  std::int64_t extent(Id range) const {
    const Interval end = bounds_(g_.end(range));
    return end.min == end.max ? end.max : std::max(end.min, std::min(end.max, typical_extent));
  }

  static Dimension dimension(Id range, Id at, std::int64_t length, const Poly& stride) {
    const auto n = static_cast<double>(length);
    return stride.empty() ? Dimension{range, at, 0, 0, n}
                          : Dimension{range, at, stride[0].atoms.size(), stride[0].coefficient, n};
  }

  void in_order_of_memory(Operand& o) const {
    const auto is_last = [&](const Dimension& d) {
      return o.phases > 1 &&
             std::ranges::any_of(o.axes, [&](const Axis& a) { return a.u == d.range && a.loop == loops_.back(); });
    };
    std::ranges::stable_sort(o.dimensions, [&](const Dimension& a, const Dimension& b) {
      if (is_last(a) != is_last(b)) return is_last(b);
      return a.degree != b.degree ? a.degree > b.degree : a.stride > b.stride;
    });
  }

  bool worth_it(const Operand& o) const {
    const bool gated = g_.src(o.load).size() > 2;
    if (!gated && o.phases == 1) return false;
    double reads = 1, elements = 1;
    for (const Id r : loops_) reads *= static_cast<double>(extent(r));
    for (const Id r : o.ranges)
      if (is_reduced(r)) reads *= static_cast<double>(extent(r));
    for (const Dimension& d : o.dimensions) elements *= d.length;
    return reads >= static_cast<double>(fewest_reads) &&
           reads >= elements * (o.phases > 1 ? walks_for_steps : walks_for_border);
  }

  // The extents of the copy. The last dimension becomes [phase, index] if there are phases.
  std::vector<Id> extents_of(const Operand& o) {
    std::vector<Id> out;
    for (const Dimension& d : o.dimensions) out.push_back(g_.end(d.range));
    if (o.phases == 1) return out;
    const Id phases = g_.index(o.phases), rounded = index_add(g_, out.back(), g_.index(o.phases - 1));
    out.back() = phases;
    out.push_back(index_floordiv(g_, rounded, phases));
    return out;
  }

  Id packed_index(std::span<const Id> at, std::span<const Id> extents) {
    Id index = g_.index(0);
    for (std::size_t i = 0; i < at.size(); ++i) index = index_add(g_, index_mul(g_, index, extents[i]), at[i]);
    return index;
  }

  Kernel packed(const Operand& o) {
    g_.set_loc(g_.loc(o.load));
    remark(g_, o.load, remarks::windows, [&] {
      return "copies the tensor that overlapping windows read, with its border" +
             std::string(o.phases > 1 ? ", so that neighbouring windows read neighbouring elements" : "");
    });
    const std::vector<Id> extents = extents_of(o);
    const auto buffer = static_cast<int>(s_.buffers.size());
    const DType d = g_.dtype(o.value);
    s_.buffers.push_back({d, index_product(g_, extents), -1, no_id});
    const int source = kernel_.buffers[g_.slot(g_.state(o.load))];
    Kernel made = copy(o, extents, buffer, source);
    kernel_.buffers.push_back(buffer);
    read_packed(o, extents, g_.make(Op::BUFFER, d, {}, {static_cast<std::int64_t>(kernel_.buffers.size()) - 1}));
    return made;
  }

  // Replaces the operand by a load of the copy.
  void read_packed(const Operand& o, std::span<const Id> extents, Id buffer) {
    std::vector<Id> at;
    for (const Dimension& d : o.dimensions) at.push_back(d.at);
    if (o.phases > 1) {
      const Id u = at.back(), phases = g_.index(o.phases);
      at.back() = g_.make(Op::FLOORMOD, DType::index, {u, phases});
      at.push_back(g_.make(Op::FLOORDIV, DType::index, {u, phases}));
    }
    const Id load = g_.make(Op::LOAD, g_.dtype(o.value), {buffer, packed_index(at, extents)});
    Simplifier simplify(g_, facts_);
    kernel_.sink = simplify(substitute(g_, kernel_.sink, {{o.value, load}}));
  }

  Id sum(const Axis& a) {
    const Id steps = index_mul(g_, a.loop, g_.index(a.step));
    return index_add(g_, steps, index_mul(g_, a.window, g_.index(a.dilation)));
  }

  // The kernel that stores the operand. The last row of phases may be longer than the axis. It then ends with copies of the
  // last element, which no window reads.
  Kernel copy(const Operand& o, std::span<const Id> extents, int to, int from) {
    Kernel k;
    k.buffers = {to, from};
    const DType d = g_.dtype(o.value);
    std::vector<Id> ranges;
    for (const Id n : extents) ranges.push_back(ids_.range(g_, n, RangeKind::loop));
    const Id source = g_.make(Op::BUFFER, g_.dtype(o.load), {}, {1}), target = g_.make(Op::BUFFER, d, {}, {0});
    std::unordered_map<Id, Id> map{{g_.state(o.load), source}};
    for (std::size_t i = 0; i < o.dimensions.size(); ++i) map[o.dimensions[i].range] = ranges[i];
    if (o.phases > 1) {
      const Id u = o.dimensions.back().range, end = index_sub(g_, g_.end(u), g_.index(1));
      const Id at = index_add(g_, index_mul(g_, ranges.back(), g_.index(o.phases)), ranges[ranges.size() - 2]);
      map[u] = g_.make(Op::MIN, DType::index, {at, end});
    }
    Simplifier simplify(g_, facts_);
    const Id value = simplify(substitute(g_, o.shifted, map));
    std::vector<Id> stored = {g_.make(Op::STORE, DType::none, {target, packed_index(ranges, extents), value})};
    stored.insert(stored.end(), ranges.begin(), ranges.end());
    k.sink = g_.make(Op::SINK, DType::none, {g_.make(Op::END, DType::none, stored)});
    return k;
  }

  Graph& g_;
  Schedule& s_;
  Kernel& kernel_;
  const Facts& facts_;
  mutable Bounds bounds_;
  std::vector<Id> loops_;
  RangeIds ids_;
};

}  // namespace

void pack_windows(Graph& g, Schedule& s) {
  insert_kernels(g, s, [&](Kernel& k, const Facts& facts, std::vector<Kernel>& made) {
    if (k.is_explicit) return;
    while (std::optional<Kernel> copy = Packing(g, s, k, facts).run()) made.push_back(std::move(*copy));
  });
}

}  // namespace kiln::compiler
