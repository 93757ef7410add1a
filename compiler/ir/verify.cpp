#include "compiler/ir/verify.h"

#include <algorithm>
#include <string>

#include "compiler/ir/builder.h"
#include "compiler/ir/call_symbols.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/verify_kernels.h"
#include "compiler/ir/verify_loops.h"
#include "compiler/ir/verify_nodes.h"
#include "compiler/ir/verify_schedule.h"
#include "compiler/ir/verify_scopes.h"
#include "compiler/ir/verify_states.h"

namespace kiln::compiler {
namespace {

constexpr VerifyRule whole_rules[] = {
    {"T", "shape", "extents fit the operation (the builder's checks)"},
    {"T", "elementwise-shapes", "operands have equal shapes or rank 0"},
    {"T", "effects", "the sink holds one STORE for each output, at most one for an inout parameter, none for an input"},
    {"T", "symbols", "each symbol is declared once and given by some parameter's extent (call_symbols.h)"},
};

Id rebuilt_scope(Builder& b, Id id, std::span<const Id> s, std::span<const std::int64_t> a) {
  Graph& g = b.graph();
  switch (g.op(id)) {
    case Op::UPDATE: return b.update(s[0], s[1], s[2], s.subspan(3), !a.empty());
    case Op::ATOMIC: {
      const AtomicKind kind = g.atomic_kind(id);
      const bool expects = kind == AtomicKind::compare_exchange;
      return b.atomic(kind, s[0], s[1], s[2], s.subspan(expects ? 4 : 3), expects ? s[3] : no_id);
    }
    case Op::INDEX: return b.element(s[0], s.subspan(1));
    case Op::RANGE: return b.range(s[0], a[0], g.range_kind(id));
    case Op::CARRY: return b.carry(s[0], s[1], a[0]);
    case Op::LOCAL: return b.local(g.dtype(id), s[0], s.subspan(1), a[0]);
    case Op::FOR: {
      const std::size_t n = g.slot(id);
      return b.loop(s[0], s[1], s[2], s.subspan(3, n), s.subspan(3 + n, n), a[1], a.size() > 2);
    }
    case Op::KERNEL: {
      const std::size_t n = g.slot(id), m = g.slot(id, 1);
      return b.kernel(s.first(n), s.subspan(n, m), s.subspan(n + m, m));
    }
    case Op::GET: return b.get(s[0], a[0]);
    default: return id;
  }
}

Id rebuilt_derivative(Builder& b, Id id, std::span<const Id> s, std::span<const std::int64_t> a) {
  Graph& g = b.graph();
  const std::size_t half = s.size() / 2;
  switch (g.op(id)) {
    case Op::GRADIENT: return b.gradient(s[0], s[1], s[2], !a.empty());
    case Op::TANGENT: return b.tangent(s[0], s.subspan(1), !a.empty());
    case Op::LAPLACIAN: return b.laplacian(s[0], s[1], !a.empty());
    case Op::MARK: return b.mark(s[0], g.mark_kind(id), a[1]);
    case Op::STRAIGHT: return b.straight(s[0], s[1]);
    case Op::CUSTOM: return b.custom(s[0], s.subspan(1, half), s.subspan(1 + half), a[0]);
    default: return b.cotangent(g.dtype(id), s, a[0]);
  }
}

// Builds the node again with the Builder, which throws the errors that a user would see. The result is the same node.
Id rebuilt(Builder& b, Id id) {
  Graph& g = b.graph();
  const std::vector<Id> s = g.sources(id);
  const std::vector<std::int64_t> a(g.args(id).begin(), g.args(id).end());
  const auto from = [&](std::size_t i, std::size_t n) { return std::span<const Id>(s).subspan(i, n); };
  switch (g.op(id)) {
    case Op::RESHAPE: return b.reshape(s[0], from(1, s.size() - 1));
    case Op::EXPAND: return b.expand(s[0], from(1, s.size() - 1));
    case Op::PERMUTE: return b.permute(s[0], a);
    case Op::SLICE: return b.slice(s[0], from(1, a.size()), a, from(1 + a.size(), a.size()));
    case Op::PAD: return b.pad(s[0], s[1], g.pad_mode(id), from(2, s.size() / 2 - 1), from(1 + s.size() / 2, s.size() / 2 - 1));
    case Op::CONCAT: return b.concat(s, a[0]);
    case Op::SHEAR: return b.shear(s[0], a[0], a[1], a[2], a[3], s[1]);
    case Op::UNSHEAR: return b.unshear(s[0], a[0], a[1], a[2], a[3], s[1]);
    case Op::GATHER: return b.gather(s[0], from(1, s.size() - 1));
    case Op::SCAN: return b.scan(g.scan_kind(id), s[0], a[1], a[2] != 0, a[3] != 0);
    case Op::REDUCE:
      return s.size() == 2 ? b.reduce(g.reduce_kind(id), s[0], s[1], std::span(a).subspan(1))
                           : b.reduce(g.reduce_kind(id), s[0], std::span(a).subspan(1));
    default: return is_derivative(g.op(id)) ? rebuilt_derivative(b, id, s, a) : rebuilt_scope(b, id, s, a);
  }
}

void check_shapes(Builder& b, Id id) {
  Graph& g = b.graph();
  if (is_elementwise(g.op(id))) {
    if (g.dtype(id) == DType::index && b.shapes().rank(g.src(id, 0)) != 0)
      violated(g, id, "elementwise-shapes", "rank 0 of an index value");
    const auto shape = b.shape_of(id);
    for (Id s : g.src(id)) {
      const auto other = b.shapes()(s);
      if (!other.empty() && !std::ranges::equal(other, shape))
        violated(g, id, "elementwise-shapes",
                 "operands of equal shape or rank 0, got " + b.shape_text(shape) + " and " + b.shape_text(other));
    }
    return;
  }
  try {
    if (rebuilt(b, id) != id) violated(g, id, "shape", "the builder's form of this operation");
  } catch (const Diagnostic& d) {
    if (d.id() == "E-verify") throw;
    violated(g, id, "shape", std::string("no error of the builder, got ") + d.what());
  }
}

void verify_tensor(Graph& g, std::span<const Id> roots, const Program* p) {
  Builder b(g);
  if (p == nullptr) b.trust_bounds();
  if (p != nullptr)
    for (const Symbol& s : p->symbols) b.declare(s);
  for (Id id : g.reachable(roots)) {
    const LocScope of_node(g, g.loc(id));
    check_node(g, Level::tensor, id);
    check_shapes(b, id);
  }
  verify_scopes(g, roots);
}

}  // namespace

std::span<const VerifyRule> verify_rules() {
  static const std::vector<VerifyRule> all = [] {
    std::vector<VerifyRule> out;
    for (const VerifyRule& rule : node_rules()) out.push_back(rule);
    out.insert(out.end(), scope_rules().begin(), scope_rules().end());
    out.insert(out.end(), std::begin(whole_rules), std::end(whole_rules));
    for (const auto more : {loop_rules(), state_rules(), range_rules(), kernel_rules(), schedule_rules()})
      out.insert(out.end(), more.begin(), more.end());
    return out;
  }();
  return all;
}

void verify_nodes(Graph& g, Level level, std::span<const Id> roots) {
  if (level == Level::tensor) {
    verify_tensor(g, roots, nullptr);
    return;
  }
  for (Id id : g.reachable(roots)) check_node(g, level, id);
}

void verify(Graph& g, Id root, Level level) { verify_nodes(g, level, std::span(&root, 1)); }

void verify(const Graph& g, Id root, Level level) {
  for (Id id : g.reachable(std::span(&root, 1))) check_node(g, level, id);
}

namespace {

// Returns by slot whether the parameter is stored.
std::vector<bool> verify_effects(const Graph& g, const Program& p) {
  if (g.op(p.sink) != Op::SINK) violated(g, p.sink, "effects", "a SINK as the root of the program");
  std::vector<bool> stored(p.params.size(), false);
  for (Id s : g.src(p.sink)) {
    if (g.op(s) != Op::STORE) violated(g, s, "effects", "a STORE");
    const auto slot = g.slot(g.state(s));
    if (slot >= p.params.size() || stored[slot] || p.params[slot].direction == Direction::in)
      violated(g, s, "effects", "one STORE for an out or inout parameter");
    stored[slot] = true;
  }
  return stored;
}

void verify_params(const Graph& g, Builder& b, const Program& p, std::span<const Id> nodes) {
  for (Id id : nodes) {
    if (g.op(id) == Op::PARAM) {
      const auto slot = g.slot(id);
      const bool same = slot < p.params.size() && p.params[slot].dtype == g.dtype(id) && p.params[slot].name == g.name(id) &&
                        has_extents(g, p, slot, id);
      if (!same) violated(g, id, "param", "the declared parameter of slot " + std::to_string(slot));
    }
    if (g.op(id) == Op::STORE) {
      const auto [param, value] = g.operands<2>(id);
      const auto want = b.shape_of(param), got = b.shape_of(value);
      if (want != got) violated(g, id, "shape", "a value of shape " + b.shape_text(want) + ", got " + b.shape_text(got));
    }
  }
}

void verify_symbols(const Graph& g, const Program& p, std::span<const Id> nodes) {
  const std::vector<Id> given = given_symbols(g, p);
  for (Id id : nodes) {
    if (g.op(id) != Op::SYM) continue;
    const auto declared = std::ranges::count_if(p.symbols, [&](const Symbol& s) { return s.name == g.name(id); });
    if (declared != 1 || std::ranges::find(given, id) == given.end())
      violated(g, id, "symbols", "symbol `" + std::string(g.name(id)) + "` declared once and given by some parameter's extent");
  }
}

}  // namespace

void verify(Graph& g, const Program& p) {
  std::vector<Id> roots{p.sink};
  for (const Parameter& q : p.params) roots.insert(roots.end(), q.extents.begin(), q.extents.end());
  verify_tensor(g, roots, &p);
  if (g.op(p.sink) != Op::SINK) violated(g, p.sink, "sink", "a SINK as the program's root");
  const std::vector<bool> stored = verify_effects(g, p);
  for (std::size_t slot = 0; slot < stored.size(); ++slot)
    if (p.params[slot].direction == Direction::out && !stored[slot])
      violated(g, p.sink, "effects", "a STORE for the output `" + p.params[slot].name + "`");
  Builder b(g);
  const auto nodes = g.reachable(roots);
  verify_params(g, b, p, nodes);
  verify_symbols(g, p, nodes);
}

namespace {

// Checks one segment, or the whole program, before there are kernels.
void verify_tensors(Graph& g, const Program& p, Id sink, Form form) {
  if (form == Form::ranges) return verify_ranges(g, p, sink);
  verify_tensor(g, std::span(&sink, 1), nullptr);
  if (form == Form::tensors) verify_whole_tensors(g, sink);
  Program segment = p;
  segment.sink = sink;
  verify_effects(g, segment);
  Builder b(g);
  verify_params(g, b, p, g.reachable(sink));
}

bool has_ends(const Graph& g, const Schedule& s) {
  const Id sink = s.segments.empty() ? s.program.sink : s.segments.front().sink;
  return sink != no_id && !g.src(sink).empty() && g.op(g.src(sink).front()) == Op::END;
}

Form form_of(const Graph& g, const Schedule& s) {
  if (!s.lowered.empty()) return Form::lowered;
  if (s.kernels.empty() && s.buffers.empty()) return has_ends(g, s) ? Form::ranges : Form::program;
  const bool placed =
      s.workspace_bytes != no_id || std::ranges::any_of(s.buffers, [](const Buffer& b) { return b.offset != no_id; });
  if (placed) return Form::planned;
  const bool in_order =
      std::ranges::any_of(s.kernels, [](const Kernel& k) { return !k.depends_on.empty() || k.loop >= 0 || k.at_entry; });
  return in_order ? Form::ordered : Form::kernels;
}

}  // namespace

void verify(Graph& g, const Schedule& s, Form form) {
  if (form == Form::lowering)
    throw Diagnostic("E-pass", "", "expected a text from before or after lowering, got one from after its step " + s.after);
  verify_statements(g, s, form);
  if (form <= Form::ranges) {
    if (s.segments.empty()) verify_tensors(g, s.program, s.program.sink, form);
    for (const Segment& p : s.segments) verify_tensors(g, s.program, p.sink, form);
  }
  for (std::size_t i = 0; i < s.kernels.size(); ++i) verify_kernel(g, s, i);
}

void verify(Graph& g, const Schedule& s) { verify(g, s, form_of(g, s)); }

}  // namespace kiln::compiler
