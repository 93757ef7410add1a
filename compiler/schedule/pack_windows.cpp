#include "compiler/schedule/pack_windows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/remark.h"
#include "compiler/schedule/each_kernel.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/schedule/packed_operand.h"
#include "compiler/schedule/range_pair.h"
#include "compiler/schedule/window_copies.h"
#include "compiler/schedule/window_operand.h"
#include "compiler/target/lane_limits.h"

namespace kiln::compiler {
namespace {

constexpr double fewest_reads = 1 << 14;  // of the operand: with fewer, a second kernel costs more than it saves
constexpr double walks_for_border = 16;   // reads of each element that pay for a copy without gates
constexpr double walks_for_steps = 4;     // reads of each element that pay for a copy that makes neighbours contiguous
constexpr double walks_for_phases = 8;    // the same for windows whose loads of every second element several rows share
constexpr double walks_for_turn = 2;      // the same if neighbours are apart in the tensor in any case
constexpr double shortest_sum = 32;       // products of one element that pay for a copy of the result
constexpr double longest_copy = 4;        // times the tensor's elements
constexpr double most_of_plane = 2;       // places of a row of the plane for each result in it
constexpr double longest_row = 512;       // of results: of longer rows, the last vector is a small part

// Cycles of a product and of a copied element.
constexpr double product_cycles = 1.0 / 16, copy_cycles = 0.5;

// A part of an axis of the copy: all of it, the phase u mod `step`, or the quotient u // step.
struct Part {
  Id extent, range;  // range: of the kernel that makes the copy
  Id at;             // the place in the kernel that reads the copy
};

// By segment and buffer: how often products over planes of all kernels read each element.
using PlaneWalks = std::map<std::pair<int, int>, double>;

class WindowPacking {
 public:
  WindowPacking(Graph& g, Schedule& s, Kernel& k, Simplifier& simplify, const PlaneWalks& walks)
      : g_(g), s_(s), kernel_(k), simplify_(simplify), loops_(loop_ranges_of(g, k)), ids_(g, k.sink), walks_(walks) {}

  // Adds how often products over planes read each element of a tensor.
  void count_walks(PlaneWalks& walks) {
    for (const Id reduce : loops_.empty() ? std::vector<Id>{} : g_.reachable(kernel_.sink)) {
      if (g_.op(reduce) != Op::REDUCE || g_.reduce_kind(reduce) != ReduceKind::fma) continue;
      for (const Id value : g_.sources(reduce)) {
        if (g_.op(value) == Op::RANGE) break;
        const std::optional<WindowOperand> o = window_operand(g_, value, loops_, ids_, simplify_);
        if (o && walks_rows_as_one(*o, reduce)) walks[{kernel_.segment, buffer_of(o->load)}] += o->reads / o->length;
      }
    }
  }

  // The copy of the first operand to pack. nullopt: nothing to pack.
  std::optional<WindowCopy> find() {
    if (loops_.empty()) return std::nullopt;
    for (const Id reduce : g_.reachable(kernel_.sink)) {
      if (g_.op(reduce) != Op::REDUCE) continue;
      for (const Id value : g_.sources(reduce)) {
        if (g_.op(value) == Op::RANGE) break;
        const std::optional<WindowOperand> o = window_operand(g_, value, loops_, ids_, simplify_);
        if (!o) continue;
        flat_ = walks_rows_as_one(*o, reduce);
        by_taps_ = flat_ && pays_by_taps(*o, reduce);
        planes_ = !o->axes.empty() && o->axes.back().loop == loops_.back();
        turns_ = std::ranges::any_of(o->others, [&](const WindowDimension& d) { return is_turned(d); });
        if (!worth_it(*o, reduce)) continue;
        reduce_ = reduce;
        return WindowCopy{kernel_.segment, kernel_.buffers, *o, layout_of(*o)};
      }
    }
    return std::nullopt;
  }

  // Packs that operand. shared: a copy that other kernels may read, too; nullptr: none.
  void pack(const WindowOperand& o, WindowCopy* shared, std::vector<Kernel>& made) {
    g_.set_loc(g_.loc(o.load));
    remark(g_, o.load, remarks::windows, [&] {
      return (o.axes.empty() ? "copies an operand in the order in which the product reads it"
                             : "copies the tensor that windows read, with its border") +
             std::string(planes_ && o.axes.back().step > 1 ? ", so that neighbouring windows read neighbouring elements" : "");
    });
    const std::vector<Part> parts = parts_of(o);
    std::vector<Id> extents, ranges, at;
    for (const Part& p : parts) {
      extents.push_back(p.extent);
      ranges.push_back(p.range);
      at.push_back(p.at);
    }
    const bool is_made = shared != nullptr && shared->made >= 0;
    const Id to = is_made ? buffer(g_.dtype(o.value), shared->made) : new_buffer(g_.dtype(o.value), extents);
    if (shared != nullptr) shared->made = kernel_.buffers.back();
    const Id place = linear(ranges, extents), padded = padded_value(o);
    if (!is_made) made.push_back(stored_in(to, place, padded, rows_first(ranges)));
    const std::unordered_map<Id, Id> loaded{{o.value, g_.make(Op::LOAD, g_.dtype(o.value), {to, linear(at, extents)})}};
    const Id sink = simplify_(substitute(g_, kernel_.sink, loaded));
    if (flat_ && !(by_taps_ && reads_planes(sink)))
      made.push_back(walk_planes(substitute(g_, reduce_, loaded), extents.back()));
    else
      kernel_.sink = sink;
  }

  RangeIds& ids() { return ids_; }

 private:
  // Whether the two innermost LOOP ranges are axes, the outer one perhaps without windows, that no other operand of a long sum
  // of products depends on. One range then walks through whole planes of the copy, and the results between the rows' ends are
  // dropped. Windows of one channel that lowering writes out stay rows: several rows share their loads (window_rows.h).
  bool walks_rows_as_one(const WindowOperand& o, Id reduce) {
    if (g_.reduce_kind(reduce) != ReduceKind::fma || g_.src(kernel_.sink).size() != 1) return false;
    if (loops_.size() < 2 || o.axes.empty() || o.axes.back().loop != loops_.back()) return false;
    const WindowAxis& column = o.axes.back();
    const Id row = row_loop();
    const bool has_windows = std::ranges::find(o.axes, row, &WindowAxis::loop) != o.axes.end();
    if (!has_windows && std::ranges::none_of(o.others, [&](const WindowDimension& d) { return is_row(d); })) return false;
    const auto columns = static_cast<double>(typical_extent(g_, simplify_.bounds(), column.loop));
    if (columns > longest_row && g_.is_const(g_.end(column.loop))) return false;
    const auto pitch = static_cast<double>(typical_extent(g_, simplify_.bounds(), column.u) / column.step);
    if (pitch > most_of_plane * columns && g_.is_const(g_.end(column.u))) return false;
    if (is_inside_reduction(reduce)) return false;
    double products = 1;
    for (const Id s : g_.src(reduce)) {
      if (g_.op(s) == Op::RANGE) products *= static_cast<double>(typical_extent(g_, simplify_.bounds(), s));
      if (g_.op(s) == Op::RANGE || s == o.value) continue;
      const std::vector<Id> nodes = g_.reachable(s);
      if (std::ranges::binary_search(nodes, row) || std::ranges::binary_search(nodes, column.loop)) return false;
    }
    const bool is_constant = g_.is_const(g_.end(row)) && g_.is_const(g_.end(column.loop));
    return products >= shortest_sum && !(is_constant && is_plane_window(o, reduce));
  }

  // Whether the operand is a window of one channel, for each iteration another one, that lowering writes out.
  bool is_plane_window(const WindowOperand& o, Id reduce) const {
    const std::vector<Id> below = g_.reachable(o.value);
    if (!std::ranges::all_of(loops_, [&](Id r) { return std::ranges::binary_search(below, r); })) return false;
    if (std::ranges::any_of(o.others, [](const WindowDimension& d) { return d.at != d.range; })) return false;
    std::int64_t products = 1;
    int ranges = 0;
    for (const Id s : g_.src(reduce)) {
      if (g_.op(s) != Op::RANGE || g_.is_index_const(g_.end(s), 1)) continue;
      if (!g_.is_const(g_.end(s)) || g_.value(g_.end(s)) > most_of_plane_window) return false;
      products *= g_.value(g_.end(s));
      ++ranges;
    }
    return ranges == 2 && products <= most_of_plane_window;
  }

  // Whether a copy of the columns for each place in a window takes less time than the sums between the rows' ends. Its planes
  // have rows as long as the results', so that no sums are dropped.
  bool pays_by_taps(const WindowOperand& o, Id reduce) {
    const WindowAxis& column = o.axes.back();
    if (g_.range_kind(column.window) != RangeKind::reduce) return false;
    if (!g_.is_const(g_.end(column.loop)) || !g_.is_const(g_.end(column.window))) return false;
    const auto extent = [&](Id range) { return static_cast<double>(typical_extent(g_, simplify_.bounds(), range)); };
    double results = 1, products = 1;
    for (const Id r : loops_) results *= extent(r);
    for (const Id s : g_.src(reduce))
      if (g_.op(s) == Op::RANGE) products *= extent(s);
    const double row = extent(column.loop), padded_row = extent(column.u);
    const double pitch = std::ceil(padded_row / static_cast<double>(column.step));
    const double dropped = results * products * (pitch / row - 1) * product_cycles;
    const double copied = o.length * (row * extent(column.window) / padded_row - 1);
    return dropped + results * copy_cycles > copied * copy_cycles;
  }

  // Whether the two innermost LOOP ranges of the kernel occur together only, as one range does.
  bool reads_planes(Id sink) {
    const Id row = row_loop(), column = loops_.back();
    const Id flat = new_range(index_mul(g_, g_.end(row), g_.end(column)));
    return RangePair(g_, simplify_, row, column, flat)(index_roots(g_, g_.reachable(sink))).has_value();
  }

  // Whether the value of the REDUCE depends on a range of another REDUCE around it.
  bool is_inside_reduction(Id reduce) const {
    std::unordered_set<Id> bound;
    const std::vector<Id> nodes = g_.reachable(reduce);
    for (const Id id : nodes)
      if (g_.op(id) == Op::REDUCE) bound.insert(g_.src(id).begin(), g_.src(id).end());
    return std::ranges::any_of(
        nodes, [&](Id id) { return g_.op(id) == Op::RANGE && g_.range_kind(id) == RangeKind::reduce && !bound.contains(id); });
  }

  // Whether neighbours in the innermost LOOP range are not neighbours in memory.
  bool is_turned(const WindowDimension& d) const { return d.at == loops_.back() && d.stride > TensorStride{0, 1}; }

  Id row_loop() const { return loops_[loops_.size() - 2]; }

  // Whether the rows of a plane have no windows.
  bool is_row(const WindowDimension& d) const { return d.range == row_loop() && d.at == d.range; }

  // Elements of the tensor that the operand reads, at typical extents.
  double tensor_size(const WindowOperand& o) {
    const Interval n = simplify_.bounds()(nth(s_.buffers, buffer_of(o.load)).size);
    return n.min == n.max ? static_cast<double>(n.max) : o.length;
  }

  bool worth_it(const WindowOperand& o, Id reduce) {
    const bool product = g_.reduce_kind(reduce) == ReduceKind::fma, padded = is_padded(o.load);
    const bool steps = planes_ && o.axes.back().step > 1, gated = product && g_.src(o.load).size() > 2;
    if (o.reads < fewest_reads || o.length > longest_copy * tensor_size(o)) return false;
    if (o.axes.empty() && !padded) {  // an operand of a REDUCE over one range is pack_operands' work
      const auto ranges = std::ranges::count_if(g_.src(reduce), [&](Id s) { return g_.op(s) == Op::RANGE; });
      return product && turns_ && ranges > 1 && o.reads >= o.length * walks_for_rows;
    }
    if (!turns_ && !steps && !gated && !flat_) return false;
    const double for_steps = product && is_plane_window(o, reduce) ? walks_for_phases : walks_for_steps;
    if (turns_ || steps) return o.reads >= o.length * (turns_ ? walks_for_turn : for_steps);
    const auto of_all = flat_ ? walks_.find({kernel_.segment, buffer_of(o.load)}) : walks_.end();
    return std::max(o.reads / o.length, of_all == walks_.end() ? 0 : of_all->second) >= walks_for_border;
  }

  int buffer_of(Id load) const { return nth(kernel_.buffers, g_.slot(g_.state(load))); }

  bool is_padded(Id load) const { return g_.src(load).size() > 2 && !g_.is_const(g_.src(load).back()); }

  Id new_range(Id end) { return ids_.range(g_, end, RangeKind::loop); }

  // The places of the axes in the copy.
  std::vector<int> layout_of(const WindowOperand& o) const {
    std::vector<int> layout = {flat_ ? 1 : 0, planes_ ? 1 : 0};
    for (const WindowAxis& a : o.axes) layout.push_back(a.loop == loops_.back() ? 2 : flat_ && a.loop == row_loop() ? 1 : 0);
    for (const WindowDimension& d : o.others) layout.push_back(is_turned(d) ? 2 : flat_ && is_row(d) ? 1 : 0);
    if (!by_taps_) return layout;
    const WindowAxis& column = o.axes.back();
    layout.push_back(narrow<int>(g_.value(g_.end(column.loop))));
    if (column.dilation > 1) layout.push_back(narrow<int>(g_.value(g_.end(column.window))));  // no part of a longer window
    return layout;
  }

  // The axes of the copy, outermost first. In planes, the axes of windows are innermost, after their phases. An innermost LOOP
  // range that is no axis of windows is innermost in the copy too, unless the tensor has it there.
  std::vector<Part> parts_of(const WindowOperand& o) {
    std::vector<std::pair<TensorStride, Part>> outer;
    std::vector<Part> phases, places, turned;
    for (const WindowDimension& d : o.others) {
      if (flat_ && is_row(d)) {
        places.push_back(by_taps_ ? whole(d.range, d.at) : with_row_behind(d.range));
        continue;
      }
      const Part part = whole(d.range, d.at);
      if (is_turned(d))
        turned.push_back(part);
      else
        outer.push_back({d.stride, part});
    }
    for (const WindowAxis& a : o.axes) {
      const bool is_row = flat_ && a.loop == row_loop(), is_column = planes_ && a.loop == loops_.back();
      if (is_column && by_taps_)
        spread(a, phases, places);
      else if (is_row || is_column)
        split(a, is_row, phases, places);
      else
        outer.push_back({a.stride, whole(a.u, sum_of_axis(g_, a))});
    }
    std::ranges::stable_sort(outer, std::greater{}, [](const auto& p) { return p.first; });
    std::vector<Part> out;
    for (const auto& [stride, part] : outer) out.push_back(part);
    out.insert(out.end(), phases.begin(), phases.end());
    out.insert(out.end(), places.begin(), places.end());
    out.insert(out.end(), turned.begin(), turned.end());
    return out;
  }

  Part whole(Id range, Id at) {
    const Id r = new_range(g_.end(range));
    padded_at_[range] = r;
    return {g_.end(range), r, at};
  }

  // Rows without windows, and one more row.
  Part with_row_behind(Id range) {
    const Id extent = index_add(g_, g_.end(range), g_.index(1)), r = new_range(extent);
    padded_at_[range] = r;
    inside_.push_back(g_.make(Op::LT, DType::boolean, {r, g_.end(range)}));
    return {extent, r, range};
  }

  // u = step * place + phase. After the rows there is one more row, because the last window of a plane reads beyond them.
  void split(const WindowAxis& a, bool is_row, std::vector<Part>& phases, std::vector<Part>& places) {
    const Id length = g_.end(a.u), step = g_.index(a.step), sum = sum_of_axis(g_, a);
    const Id n = index_floordiv(g_, index_add(g_, length, g_.index(a.step - 1)), step);
    const Id extent = is_row && !by_taps_ ? index_add(g_, n, g_.index(1)) : n;
    const Id place = new_range(extent);
    Id u = place, at = sum;
    if (a.step > 1) {
      const Id phase = new_range(step);
      u = index_add(g_, index_mul(g_, place, step), phase);
      at = g_.make(Op::FLOORDIV, DType::index, {sum, step});
      phases.push_back({step, phase, g_.make(Op::FLOORMOD, DType::index, {sum, step})});
    }
    places.push_back({extent, place, at});
    padded_at_[a.u] = u;
    if (extent != n || a.step > 1) inside_.push_back(g_.make(Op::LT, DType::boolean, {u, length}));
  }

  // The columns once more for each place in a window. The windows of a shared copy may be longer than this kernel's.
  void spread(const WindowAxis& a, std::vector<Part>& phases, std::vector<Part>& places) {
    const std::int64_t reach = g_.value(g_.end(a.u)) - 1 - a.step * (g_.value(g_.end(a.loop)) - 1);
    const Id taps = g_.index(reach / a.dilation + 1), columns = g_.end(a.loop);
    const Id tap = new_range(taps), column = new_range(columns);
    phases.push_back({taps, tap, index_add(g_, a.window, g_.index(a.first))});
    places.push_back({columns, column, a.loop});
    padded_at_[a.u] = sum_of_axis(g_, {column, tap, a.step, a.dilation, a.stride});
  }

  // The value at a place of the copy; 0 beyond the end of an axis, where no window reads.
  Id padded_value(const WindowOperand& o) {
    Id value = substitute(g_, o.padded, padded_at_);
    for (const Id inside : inside_) {
      const std::vector<Id> nodes = g_.reachable(value);
      const Id load = *std::ranges::find(nodes, Op::LOAD, [&](Id id) { return g_.op(id); });
      std::vector<Id> s = g_.sources(load);
      if (s.size() == 2) s.push_back(g_.constant(g_.dtype(load), 0));
      if (s.size() == 3)
        s.push_back(inside);
      else
        s[3] = g_.make(Op::AND, DType::boolean, {s[3], inside});
      value = substitute(g_, value, {{load, g_.with_src(load, s)}});
      value = g_.make(Op::WHERE, g_.dtype(value), {inside, value, g_.constant(g_.dtype(value), 0)});
    }
    return simplify_(value);
  }

  // Makes a kernel that stores the sums of whole planes. This kernel then reads the rows' results.
  Kernel walk_planes(Id sum, Id pitch) {
    const Id row = row_loop(), column = loops_.back();
    const Id flat = new_range(index_mul(g_, g_.end(row), pitch));
    std::vector<Id> ranges, extents, at;
    const std::vector<Id> nodes = g_.reachable(sum);
    for (const Id r : std::span(loops_).first(loops_.size() - 2)) {
      if (!std::ranges::binary_search(nodes, r)) continue;
      ranges.push_back(r);
      extents.push_back(g_.end(r));
    }
    at = ranges;
    ranges.push_back(flat);
    extents.push_back(g_.end(flat));
    at.push_back(index_add(g_, index_mul(g_, row, pitch), column));
    const Id to = new_buffer(g_.dtype(reduce_), extents);
    const Id value = simplify_(substitute(g_, sum, {{row, g_.index(0)}, {column, flat}}));
    const Id place = linear(ranges, extents);
    const Id load = g_.make(Op::LOAD, g_.dtype(reduce_), {to, linear(at, extents)});
    const Kernel sums = stored_in(to, place, value, ranges);
    kernel_.sink = simplify_(substitute(g_, kernel_.sink, {{reduce_, load}}));
    return sums;
  }

  // Adds a temporary of these extents to the buffers of the kernel and of the kernels before it.
  Id new_buffer(DType d, std::span<const Id> extents) {
    s_.buffers.push_back({d, index_product(g_, extents), -1, no_id});
    return buffer(d, count_of(s_.buffers) - 1);
  }

  Id buffer(DType d, int number) {
    kernel_.buffers.push_back(number);
    return g_.make(Op::BUFFER, d, {}, {std::ssize(kernel_.buffers) - 1});
  }

  Id linear(std::span<const Id> at, std::span<const Id> extents) {
    Id index = g_.index(0);
    for (std::size_t i = 0; i < at.size(); ++i) index = index_add(g_, index_mul(g_, index, extents[i]), at[i]);
    return simplify_(index);
  }

  // The ranges in an order in which the outermost one is enough for the threads: the one over rows is the first if there are
  // few planes, such as the channels of a picture.
  std::vector<Id> rows_first(std::vector<Id> ranges) const {
    constexpr std::int64_t few_channels = 16, few_planes = 64;
    if (ranges.size() < 3) return ranges;
    std::int64_t planes = 1;
    for (const Id r : std::span(ranges).first(ranges.size() - 2)) {
      const std::int64_t n = index_value(g_, g_.end(r)).value_or(few_planes + 1);
      planes = std::min(planes, few_planes) * std::min(n, few_planes + 1);
    }
    if (planes <= few_planes && index_value(g_, g_.end(ranges.front())) < few_channels)
      std::rotate(ranges.begin(), ranges.end() - 2, ranges.end() - 1);
    return ranges;
  }

  Kernel stored_in(Id buffer, Id index, Id value, std::span<const Id> ranges) {
    Kernel k;
    k.buffers = kernel_.buffers;
    k.sink = sink_of_store(g_, buffer, index, value, ranges);
    return k;
  }

  Graph& g_;
  Schedule& s_;
  Kernel& kernel_;
  Simplifier& simplify_;
  std::vector<Id> loops_;
  RangeIds ids_;
  const PlaneWalks& walks_;
  Id reduce_ = no_id;                     // whose operand find() found
  bool planes_ = false;                   // the innermost LOOP range is an axis
  bool turns_ = false;                    // it is a dimension whose neighbours are apart in memory
  bool flat_ = false;                     // one range walks through planes
  bool by_taps_ = false;                  // with the columns of each place in a window side by side
  std::unordered_map<Id, Id> padded_at_;  // ranges of the padded value -> their place in the copy
  std::vector<Id> inside_;                // conditions of the copy: inside of an axis
};

}  // namespace

void pack_windows(Graph& g, Schedule& s) {
  const Facts facts_of_program = facts_of(s.program);
  Simplifier simplify(g, facts_of_program);
  PlaneWalks walks;
  for (Kernel& k : s.kernels)
    if (!k.is_explicit) WindowPacking(g, s, k, simplify, walks).count_walks(walks);
  WindowCopies copies(g, simplify);
  for (Kernel& k : s.kernels)
    if (!k.is_explicit)
      if (std::optional<WindowCopy> c = WindowPacking(g, s, k, simplify, walks).find()) copies.add(std::move(*c));
  insert_kernels(g, s, [&](Kernel& k, const Facts&, std::vector<Kernel>& made) {
    if (k.is_explicit) return;
    while (true) {
      WindowPacking packing(g, s, k, simplify, walks);
      std::optional<WindowCopy> c = packing.find();
      if (!c) return;
      WindowCopy* shared = copies.find(*c, packing.ids());
      packing.pack(c->operand, shared, made);
    }
  });
}

}  // namespace kiln::compiler
