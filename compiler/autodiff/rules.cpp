#include "compiler/autodiff/rules.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/autodiff/partials.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/open_ranges.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler::autodiff {
namespace {

// Whether the type can carry a derivative: a float, or the bits of one.
bool carries(DType d) { return is_float(d) || is_int(d); }

std::vector<std::size_t> places(const Graph& g, Id node) {
  const Op op = g.op(node);
  const std::size_t n = g.src(node).size();
  const auto all = [&](std::size_t from, std::size_t end) {
    std::vector<std::size_t> out;
    for (std::size_t i = from; i < end; ++i) out.push_back(i);
    return out;
  };
  if (is_elementwise(op)) {
    if (op != Op::BITCAST && !is_float(g.dtype(node))) return op == Op::CAST || is_comparison(op) ? all(0, 0) : all(0, n);
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < n; ++i)
      if ((derivative_operands(op) >> i & 1U) != 0 && (op != Op::CAST || is_float(g.dtype(g.src(node, i))))) out.push_back(i);
    return out;
  }
  switch (op) {
    case Op::PAD: return all(0, g.pad_mode(node) == PadMode::constant ? 2 : 1);
    case Op::CONCAT: return all(0, n);
    case Op::REDUCE: {
      const ReduceKind kind = g.reduce_kind(node);
      const bool none =
          kind == ReduceKind::any || kind == ReduceKind::all || kind == ReduceKind::argmax || kind == ReduceKind::argmin;
      return all(0, none ? 0 : n);
    }
    case Op::RESHAPE:
    case Op::EXPAND:
    case Op::PERMUTE:
    case Op::SLICE:
    case Op::SHEAR:
    case Op::UNSHEAR:
    case Op::SCAN:
    case Op::GATHER:
    case Op::STAGE:
    case Op::INDEX:
    case Op::OLD: return all(0, 1);
    case Op::MARK: return all(0, g.mark_kind(node) == MarkKind::stop ? 0 : 1);
    case Op::STRAIGHT:
    case Op::CARRY: return all(1, 2);
    case Op::CUSTOM: return all(1, 1 + n / 2);
    case Op::UPDATE: return {0, 2};
    case Op::ATOMIC: return all(0, 4);
    case Op::GET:
    case Op::KERNEL:
    case Op::FOR: return all(0, n);
    default: return {};
  }
}

}  // namespace

Rules::Rules(Graph& g, Id root) : e(g), ranges(g, root) {
  OpenRanges open(g);
  std::vector<Id> scopes;
  for (const Id id : g.reachable(root)) {
    open.visit(id);
    if (!is_scope(g.op(id))) continue;
    scopes.push_back(id);
    if (g.op(id) == Op::KERNEL)
      for (const Id range : scope_ranges(g, id)) of_kernels_.insert(g.range_number(range));
  }
  in_kernels_ = of_kernels_;
  for (auto it = scopes.rbegin(); it != scopes.rend(); ++it)  // outer loops come behind inner ones
    if (std::ranges::any_of(open.of(*it), [&](Id range) { return is_in_kernel(range); }))
      for (const Id range : scope_ranges(g, *it)) in_kernels_.insert(g.range_number(range));
}

Id Rules::fresh(Id range, Id end) {
  const Id made = ranges.range(e.g, end, e.g.range_kind(range));
  if (is_of_kernel(range)) of_kernels_.insert(e.g.range_number(made));
  if (is_in_kernel(range)) in_kernels_.insert(e.g.range_number(made));
  return made;
}

// A RANGE of a KERNEL, or of a loop in it.
Id Rules::new_range(Id end, bool of_kernel) {
  const Id made = ranges.range(e.g, end, RangeKind::loop);
  if (of_kernel) of_kernels_.insert(e.g.range_number(made));
  in_kernels_.insert(e.g.range_number(made));
  return made;
}

std::vector<Edge> Rules::edges(Id node) const {
  const Graph& g = e.g;
  if (const auto s = scatters.find(node); s != scatters.end()) return {{0, s->second.values}};
  std::vector<Edge> out;
  for (const std::size_t i : places(g, node)) {
    const Id from = g.src(node, i);
    if (carries(g.dtype(from)) || g.op(from) == Op::KERNEL || g.op(from) == Op::FOR) out.push_back({i, from});
  }
  return out;
}

// A SHEAR of copies of the source along a new axis: see dsl/include/kiln/dsl/window.h.
std::optional<Windows> Rules::windows(Id node) {
  Graph& g = e.g;
  if (g.op(node) != Op::SHEAR || g.arg(node, 1) != g.arg(node, 0) + 1) return std::nullopt;
  const Id copies = g.data(node);
  if (g.op(copies) != Op::EXPAND || g.op(g.data(copies)) != Op::RESHAPE) return std::nullopt;
  const Id single = g.data(copies), source = g.data(single);
  const std::size_t axis = g.slot(node);
  Extents ones = e.shape(source), taps = e.shape(copies);
  if (axis > ones.size()) return std::nullopt;
  ones.insert(ones.begin() + static_cast<std::ptrdiff_t>(axis), g.index(1));
  taps[axis] = ones[axis];
  if (e.shape(single) != ones || taps != ones) return std::nullopt;
  return Windows{source, axis, g.arg(node, 2), g.arg(node, 3), {copies, single}};
}

std::int64_t Rules::next_number(Op op, std::int64_t& next) {
  if (next < 0) {
    next = 0;
    for (Id id = 0; id < e.g.size(); ++id)
      if (e.g.op(id) == op) next = std::max(next, e.g.arg(id, 0) + 1);
  }
  return next++;
}
std::int64_t Rules::new_local() { return next_number(Op::LOCAL, next_local_); }
std::int64_t Rules::new_custom() { return next_number(Op::CUSTOM, next_custom_); }

std::string Rules::at(Id node) const {
  const Graph& g = e.g;
  if (g.op(node) == Op::GET) node = g.scope(node);
  std::string what = "`" + std::string(name(g.op(node))) + "`";
  if (g.op(node) == Op::KERNEL) what += " or write of elements";
  if (g.op(node) == Op::FOR && loop_parts(g, node).conditional) what += " or condition";
  const std::string place = where(g, g.loc(node));
  return what + (place.empty() ? "" : " at " + place);
}

Path::Path(Rules& rules, Id y, std::span<const Id> xs, bool windows) {
  const Graph& g = rules.e.g;
  const std::unordered_set<Id> is_x(xs.begin(), xs.end());
  const std::vector<Id> order = g.in_order(y);
  std::unordered_map<Id, std::vector<Edge>> active;
  for (const Id id : order) {
    std::vector<Edge> edges = rules.edges(id);
    std::erase_if(edges, [&](const Edge& edge) { return !active.contains(edge.from); });
    if (edges.empty() && !is_x.contains(id)) continue;
    if (const auto w = windows ? rules.windows(id) : std::nullopt)
      if (std::ranges::none_of(w->inside, [&](Id inner) { return is_x.contains(inner); }) && active.contains(w->source))
        edges = {{Edge::of_windows, w->source}};
    active.emplace(id, std::move(edges));
  }
  if (!active.contains(y)) return;
  std::unordered_set<Id> wanted{y};
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!wanted.contains(*it)) continue;
    nodes_.push_back(*it);
    for (const Edge& edge : active.at(*it)) wanted.insert(edge.from);
    edges_.emplace(*it, std::move(active.at(*it)));
  }
  std::ranges::reverse(nodes_);
}

void fail_derivative(const Graph& g, Id derivative, const std::string& text) {
  throw Diagnostic("E-grad", where(g, g.loc(derivative)), text);
}

}  // namespace kiln::compiler::autodiff
