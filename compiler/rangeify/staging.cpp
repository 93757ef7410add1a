#include "compiler/rangeify/staging.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "compiler/ir/nth.h"
#include "compiler/rangeify/stage_reads.h"
#include "compiler/target/operation_cost.h"
#include "compiler/target/unrollable_loops.h"

namespace kiln::compiler {
namespace {

constexpr double cheap = 12;          // a value of at most this cost gets no buffer, however often it is computed, unless
                                      // it divides: a division takes as long as many multiply-adds of a product
constexpr double strided_cost = 2;    // more operations of a load whose lanes are apart: another load and shuffles
constexpr double byte_cost = 8;       // operations in the time of storing and loading one byte
constexpr double kernel_cost = 2048;  // operations in the time of starting one more kernel
constexpr double worth_a_kernel = 8 * kernel_cost;  // work that pays for a kernel and a buffer of its own
constexpr std::size_t index_limit = 64;             // chains of movement make indices longer; above this a copy is cheaper
constexpr double code_limit = 512;                  // operations in all copies of a value together
constexpr double reduce_slack = 1.25;               // a reduction may run this many times per element (halos overlap)
constexpr double short_reduce_slack = 4;            // the same for one without a loop
constexpr double typical_symbol = 1024;
constexpr double short_row = 32;         // terms of a row whose sum across lanes takes as long as its loads
constexpr double fewest_selections = 8;  // uses of each element of a selection
// A reduction without a loop that another reduction reads: its fewest terms, and the fewest uses of each loaded element.
constexpr double fewest_terms = 9;
constexpr double fewest_uses = 4;
constexpr double most_bytes = 1024.0 * 1024 * 1024;  // of a reduction that another reduction reads
constexpr double huge = 1e30;

bool divides(Op op) { return op == Op::FDIV || op == Op::SQRT || op == Op::RSQRT; }

// A reduction that another reduction reads gets a buffer if it has a loop, or shares loads. A part of a sum over several axes
// gets one if its rows are short: each row ends with a sum across lanes.
bool is_inner_reduction(const ValueCost& cost, const ValueUse& use) {
  const double terms = cost.terms * use.elements;
  const bool has_lanes = cost.contains_loop && (!use.is_partial || cost.terms <= short_row || cost.has_symbolic_row);
  const bool shares_loads = cost.terms >= fewest_terms && terms >= fewest_uses * cost.most_loaded;
  const bool is_read_apart = use.in_reduction || (use.splits_columns && shares_loads && cost.contains_loop);
  return is_read_apart && cost.reductions == 1 && !cost.from_positions && (has_lanes || shares_loads) &&
         terms >= worth_a_kernel && (use.is_symbolic || use.elements * use.bytes <= most_bytes);
}

}  // namespace

bool divides_index(const Graph& g, std::span<const Id> index) {
  return std::ranges::any_of(g.reachable(index), [&](Id id) { return g.op(id) == Op::FLOORDIV || g.op(id) == Op::FLOORMOD; });
}

bool has_steps(const Graph& g, std::span<const Id> index) {
  return std::ranges::any_of(g.reachable(index), [&](Id id) {
    if (g.op(id) != Op::MUL) return false;
    const auto [a, b] = g.operands<2>(id);
    return g.op(a) == Op::RANGE && g.is_const(b) && g.value(b) > 1;
  });
}

bool has_reduce_range(const Graph& g, std::span<const Id> ranges) {
  return std::ranges::any_of(ranges, [&](Id r) { return g.range_kind(r) == RangeKind::reduce; });
}

double StagingModel::extent(Id e) {
  if (g_.is_const(e)) return static_cast<double>(g_.value(e));
  if (extents_.size() < g_.size()) extents_.resize(g_.size(), std::nan(""));
  if (!std::isnan(extents_[e])) return extents_[e];
  for (Id id : g_.reachable(e)) {
    const auto at = [&](std::size_t i) { return extents_[g_.src(id, i)]; };
    double v = 1;
    switch (g_.op(id)) {
      case Op::CONST: v = static_cast<double>(g_.value(id)); break;
      case Op::SYM:
        v = typical_symbol;
        for (const Symbol& s : program_.symbols)
          if (s.name == g_.name(id)) v = std::clamp(v, static_cast<double>(s.min), static_cast<double>(std::max(s.min, s.max)));
        break;
      case Op::ADD: v = at(0) + at(1); break;
      case Op::SUB: v = at(0) - at(1); break;
      case Op::MUL: v = at(0) * at(1); break;
      case Op::FLOORDIV: v = at(1) == 0 ? 0 : std::floor(at(0) / at(1)); break;
      case Op::FLOORMOD: v = at(1) == 0 ? 0 : at(0) - std::floor(at(0) / at(1)) * at(1); break;
      case Op::MIN: v = std::min(at(0), at(1)); break;
      case Op::MAX: v = std::max(at(0), at(1)); break;
      default: break;
    }
    extents_[id] = v;
  }
  return extents_[e];
}

double StagingModel::elements(const std::vector<Id>& extents) {
  double n = 1;
  for (Id e : extents) n *= std::max(1.0, extent(e));
  return n;
}

bool StagingModel::is_symbolic(const std::vector<Id>& extents) const {
  return std::ranges::any_of(extents, [&](Id e) { return !g_.is_const(e); });
}

double StagingModel::evaluations(const ValueCost& value, std::span<const Id> loops, std::span<const Id> used) {
  const std::vector<Id> all = short_last(g_, loops);
  const std::size_t first = value.contains_loop ? all.size() : long_loops(g_, all);
  double n = 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_short = i >= first && g_.range_kind(all[i]) == RangeKind::loop;
    if (!is_short || std::ranges::find(used, all[i]) != used.end()) n *= std::max(1.0, extent(g_.end(all[i])));
  }
  return n;
}

void StagingModel::count_reader(Id node) {
  if (readers_.size() < g_.size()) {
    readers_.resize(g_.size());
    read_by_reduce_.resize(g_.size());
    partial_.resize(g_.size());
  }
  for (Id s : g_.src(node)) {
    readers_[s] = static_cast<std::uint8_t>(std::min(readers_[s] + 1, 2));
    if (g_.op(node) != Op::REDUCE) continue;
    read_by_reduce_[s] = true;
    partial_[s] = partial_[s] || (g_.op(s) == Op::REDUCE && g_.reduce_kind(s) == g_.reduce_kind(node));
  }
}

bool StagingModel::surely_stored(Id source, Id reader, Shapes& shapes) const {
  const ValueCost& c = costs_[source];
  const Op op = g_.op(reader);
  if (g_.op(source) == Op::STAGE) return true;
  const int rank = shapes.rank(source);
  const bool broadcast = op == Op::EXPAND || (is_elementwise(op) && rank < shapes.rank(reader));
  if (broadcast && (c.contains_reduce || c.operations > cheap)) return true;
  return c.contains_reduce && source < readers_.size() && readers_[source] > 1 && read_by_reduce_[source];
}

void StagingModel::add(Id node, Shapes& shapes) {
  if (costs_.size() < g_.size()) costs_.resize(g_.size());
  ValueCost c{static_cast<double>(operation_cost(g_.op(node)).recompute)};
  c.divides = divides(g_.op(node));
  c.is_computed = is_elementwise(g_.op(node)) && g_.op(node) != Op::CAST;
  c.has_positions = g_.op(node) == Op::IOTA;
  const auto load = [&](Id s) {
    return ValueCost{.operations = static_cast<double>(operation_cost(Op::LOAD).recompute),
                     .loads = 1,
                     .most_loaded = elements(shapes.of(s)),
                     .most_stored = elements(shapes.of(s))};
  };
  if (g_.op(node) == Op::PARAM || g_.op(node) == Op::GET) {
    c.loads = 1;
    c.most_loaded = elements(shapes.of(node));
  }
  for (Id s : g_.src(node)) {
    if (g_.dtype(s) == DType::index) continue;
    const ValueCost from = surely_stored(s, node, shapes) ? load(s) : costs_[s];
    c.operations += from.operations;
    c.loads += from.loads;
    c.contains_reduce = c.contains_reduce || from.contains_reduce;
    c.contains_loop = c.contains_loop || from.contains_loop;
    c.divides = c.divides || from.divides;
    c.is_computed = c.is_computed || from.is_computed;
    c.reductions = std::min(c.reductions + from.reductions, 2);
    c.from_positions = c.from_positions || from.from_positions || (g_.op(node) == Op::REDUCE && from.has_positions);
    c.has_positions = c.has_positions || from.has_positions;
    c.terms = std::max(c.terms, from.terms);
    c.has_symbolic_row = c.has_symbolic_row || from.has_symbolic_row;
    c.most_loaded = std::max(c.most_loaded, from.most_loaded);
    c.most_stored = std::max(c.most_stored, from.most_stored);
  }
  if (g_.op(node) == Op::SLICE) c.most_loaded = std::min(c.most_loaded, elements(shapes.of(node)));
  if (g_.op(node) == Op::REDUCE) {
    const std::vector<Id> in = shapes.of(g_.data(node));
    double iterations = 1;
    for (std::int64_t a : g_.args(node).subspan(1)) {
      iterations *= std::max(1.0, extent(nth(in, a)));
      c.has_symbolic_row = c.has_symbolic_row || (a + 1 == std::ssize(in) && !g_.is_const(nth(in, a)));
    }
    c.operations *= iterations;
    c.loads *= iterations;
    c.terms *= iterations;
    c.reductions = std::min(c.reductions + 1, 2);
    c.contains_reduce = true;
    c.contains_loop = c.contains_loop || iterations > max_short_iterations;
  }
  c.operations = std::min(c.operations, huge);
  c.loads = std::min(c.loads, huge);
  costs_[node] = c;
}

// The number of different elements that an INDEX loads in all iterations.
double StagingModel::loaded_elements(Id index) {
  const Id tensor = g_.data(index);
  std::vector<Id> ends;
  for (const Id r : ranges_in(g_, g_.src(index).subspan(1))) ends.push_back(g_.end(r));
  const double iterations = elements(ends);
  if (g_.op(tensor) == Op::PARAM) return std::min(iterations, elements(g_.sources(tensor)));
  if (g_.op(tensor) != Op::STAGE) return iterations;
  ends.clear();
  for (const Id r : g_.src(tensor).subspan(1)) ends.push_back(g_.end(r));
  return std::min(iterations, elements(ends));
}

ValueCost StagingModel::cost_of_scalar(Id value) {
  std::map<Id, double, std::greater<>> times{{value, 1.0}};  // descending: readers first
  ValueCost c;
  while (!times.empty()) {
    const auto [id, n] = *times.begin();
    times.erase(times.begin());
    const Op op = g_.op(id);
    if (g_.dtype(id) == DType::index || op == Op::CONST) continue;
    const bool is_position = op == Op::CAST && g_.dtype(g_.src(id, 0)) == DType::index;
    c.has_positions = c.has_positions || is_position;
    c.from_positions = c.from_positions || (n > 1 && is_position);
    c.operations = std::min(c.operations + n * operation_cost(op).recompute, huge);
    c.code += 1;
    if (op == Op::INDEX) {
      c.loads += n;
      const double loaded = loaded_elements(id);
      c.most_loaded = std::max(c.most_loaded, loaded);
      if (g_.op(g_.data(id)) != Op::PARAM) c.most_stored = std::max(c.most_stored, loaded);
      continue;
    }
    c.divides = c.divides || divides(op);
    c.is_computed = c.is_computed || (is_elementwise(op) && op != Op::CAST);
    double iterations = 1;
    for (const Id s : g_.src(id))
      if (op == Op::REDUCE && g_.op(s) == Op::RANGE) iterations *= std::max(1.0, extent(g_.end(s)));
    c.contains_reduce = c.contains_reduce || op == Op::REDUCE;
    c.reductions = std::min(c.reductions + (op == Op::REDUCE ? 1 : 0), 2);
    c.terms = std::max(c.terms, n * iterations);
    c.contains_loop = c.contains_loop || iterations > max_short_iterations;
    for (const Id s : g_.src(id)) times[s] = std::max(times[s], n * iterations);
  }
  return c;
}

StagingModel::Stored StagingModel::needs_storage(const ValueCost& cost, const ValueUse& use) {
  if (use.maps > 1 && static_cast<double>(use.maps) * cost.code > code_limit) return Stored::many_copies;
  if (use.index_operations > index_limit) return Stored::long_index;
  const double slack = cost.contains_loop ? reduce_slack : short_reduce_slack;
  if (cost.contains_reduce && use.hoisted > slack * use.elements) return Stored::reduction;
  if (is_inner_reduction(cost, use)) return Stored::inner_reduction;
  if (cost.contains_loop) return Stored::no;
  if (use.is_hoisted && cost.terms > max_short_iterations) return Stored::short_reductions;
  const bool is_operand = use.in_reduction && use.hoisted >= worth_a_kernel;
  if (is_operand && use.selects && use.hoisted >= fewest_selections * use.elements) return Stored::selection;
  // A temporary tensor of the same size is stored already: no second one.
  const bool is_cheap_operand = is_operand && cost.is_computed && !cost.has_positions && cost.most_stored < use.elements;
  if (cost.operations <= cheap && !cost.divides && !is_cheap_operand) return Stored::no;
  if (use.maps > 1 && static_cast<double>(use.maps) * cost.operations > code_limit) return Stored::many_copies;
  const double each = cost.operations + (use.is_strided ? strided_cost * cost.loads : 0);
  const bool repeats = (use.hoisted - use.elements) * each > use.elements * use.bytes * byte_cost + kernel_cost;
  return repeats ? Stored::repeated : Stored::no;
}

std::string StagingModel::text_of(Stored why, const ValueCost& cost, const ValueUse& use) {
  const auto number = [](double x) { return std::to_string(std::llround(std::min(x, 1e15))); };
  const std::string times = number(use.hoisted / std::max(1.0, use.elements)), operations = number(cost.operations);
  switch (why) {
    case Stored::no: return "its " + operations + " operations cost less than a store and a load";
    case Stored::many_copies: return number(static_cast<double>(use.maps)) + " readers would each contain a copy of its code";
    case Stored::long_index: return "the index expressions of its readers are long";
    case Stored::reduction: return "without a buffer its reduction would run about " + times + " times for each element";
    case Stored::inner_reduction:
      return "another reduction reads this one, which has lanes and shares loads only in a loop nest of its own";
    case Stored::short_reductions: return "its short reductions have lanes only in a loop nest of their own";
    case Stored::selection: return "a reduction would find each element's place again about " + times + " times";
    case Stored::repeated:
      return "each element is used about " + times + " times and costs about " + operations + " operations";
  }
  return {};
}

}  // namespace kiln::compiler
