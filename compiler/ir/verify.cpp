#include "compiler/ir/verify.h"

#include <algorithm>
#include <map>
#include <string>

#include "compiler/ir/builder.h"
#include "compiler/ir/call_symbols.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/verify_nodes.h"
#include "compiler/ir/verify_scopes.h"

namespace kiln::compiler {
namespace {

constexpr VerifyRule whole_rules[] = {
    {"T", "shape", "extents fit the operation (the builder's checks)"},
    {"T", "elementwise-shapes", "operands have equal shapes or rank 0"},
    {"T", "effects", "the sink holds one STORE for each parameter that is assigned, none for an input"},
    {"T", "symbols", "each symbol is declared once and given by some parameter's extent (call_symbols.h)"},
    {"K", "ranges-ended", "every RANGE that reaches a STORE is ended there"},
    {"K", "buffers", "kernel slots name buffers of the same type; dependencies come first"},
};

Id rebuilt_scope(Builder& b, Id id, std::span<const Id> s, std::span<const std::int64_t> a) {
  Graph& g = b.graph();
  switch (g.op(id)) {
    case Op::UPDATE: return b.update(s[0], s[1], s[2], s.subspan(3), !a.empty());
    case Op::ATOMIC: {
      const auto kind = static_cast<AtomicKind>(a[0]);
      const bool expects = kind == AtomicKind::compare_exchange;
      return b.atomic(kind, s[0], s[1], s[2], s.subspan(expects ? 4 : 3), expects ? s[3] : no_id);
    }
    case Op::INDEX: return b.element(s[0], s.subspan(1));
    case Op::RANGE: return b.range(s[0], a[0], static_cast<RangeKind>(a[1]));
    case Op::CARRY: return b.carry(s[0], s[1], a[0]);
    case Op::LOCAL: return b.local(g.dtype(id), s[0], s.subspan(1), a[0]);
    case Op::FOR: {
      const auto n = static_cast<std::size_t>(a[0]);
      return b.loop(s[0], s[1], s[2], s.subspan(3, n), s.subspan(3 + n, n), a[1], a.size() > 2);
    }
    case Op::KERNEL: {
      const auto n = static_cast<std::size_t>(a[0]), m = static_cast<std::size_t>(a[1]);
      return b.kernel(s.first(n), s.subspan(n, m), s.subspan(n + m, m));
    }
    case Op::GET: return b.get(s[0], a[0]);
    default: return id;
  }
}

// Rebuilds the node through the builder, which throws what a user would see; made of the same parts it is the same node.
Id rebuilt(Builder& b, Id id) {
  Graph& g = b.graph();
  const std::vector<Id> s(g.src(id).begin(), g.src(id).end());
  const std::vector<std::int64_t> a(g.args(id).begin(), g.args(id).end());
  const auto from = [&](std::size_t i, std::size_t n) { return std::span<const Id>(s).subspan(i, n); };
  switch (g.op(id)) {
    case Op::RESHAPE: return b.reshape(s[0], from(1, s.size() - 1));
    case Op::EXPAND: return b.expand(s[0], from(1, s.size() - 1));
    case Op::PERMUTE: return b.permute(s[0], a);
    case Op::SLICE: return b.slice(s[0], from(1, a.size()), a, from(1 + a.size(), a.size()));
    case Op::PAD:
      return b.pad(s[0], s[1], static_cast<PadMode>(a[0]), from(2, s.size() / 2 - 1), from(1 + s.size() / 2, s.size() / 2 - 1));
    case Op::CONCAT: return b.concat(s, a[0]);
    case Op::GATHER: return b.gather(s[0], from(1, s.size() - 1));
    case Op::REDUCE:
      return s.size() == 2 ? b.reduce_fma(s[0], s[1], std::span(a).subspan(1))
                           : b.reduce(static_cast<ReduceKind>(a[0]), s[0], std::span(a).subspan(1));
    default: return rebuilt_scope(b, id, s, a);
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
  g.set_loc(g.loc(id));
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
  const SourceLoc saved = g.loc();
  for (Id id : g.reachable(roots)) {
    check_node(g, Level::tensor, id);
    check_shapes(b, id);
  }
  g.set_loc(saved);
  verify_scopes(g, roots);
}

// The ranges that each node still depends on, as numbered sets: REDUCE and STAGE close theirs.
class OpenRanges {
 public:
  explicit OpenRanges(const Graph& g) : g_(g), of_(g.size(), 0) { number({}); }

  void visit(Id id) {
    const auto src = g_.src(id);
    const Op op = g_.op(id);
    const bool closes = op == Op::REDUCE || op == Op::STAGE || op == Op::END;
    std::size_t values = src.size();
    if (closes)
      while (values > 1 && g_.op(src[values - 1]) == Op::RANGE) --values;
    std::uint32_t set = 0;
    for (Id s : src.first(values)) set = merge(set, of_[s]);
    if (closes) set = without(set, src.subspan(values));
    if (op == Op::FOR) set = without(set, src.first(1));
    if (op == Op::RANGE) set = merge(set, number({id}));
    of_[id] = set;
  }
  const std::vector<Id>& of(Id id) const { return *sets_[of_[id]]; }

 private:
  std::uint32_t number(std::vector<Id> set) {
    const auto [it, made] = ids_.emplace(std::move(set), static_cast<std::uint32_t>(sets_.size()));
    if (made) sets_.push_back(&it->first);
    return it->second;
  }
  std::uint32_t merge(std::uint32_t a, std::uint32_t b) {
    if (a == b || b == 0) return a;
    if (a == 0) return b;
    std::vector<Id> out;
    std::ranges::set_union(*sets_[a], *sets_[b], std::back_inserter(out));
    return number(std::move(out));
  }
  std::uint32_t without(std::uint32_t a, std::span<const Id> gone) {
    std::vector<Id> out;
    for (Id r : *sets_[a])
      if (std::ranges::find(gone, r) == gone.end()) out.push_back(r);
    return number(std::move(out));
  }

  const Graph& g_;
  std::vector<std::uint32_t> of_;
  std::map<std::vector<Id>, std::uint32_t> ids_;
  std::vector<const std::vector<Id>*> sets_;
};

void verify_kernel(Graph& g, const Schedule& s, const Kernel& k) {
  const Id root[] = {k.sink};
  verify_nodes(g, Level::kernel, root);
  if (g.op(k.sink) != Op::SINK) violated(g, k.sink, "sink", "a SINK as the kernel's root");
  OpenRanges open(g);
  for (Id id : g.reachable(root)) {
    open.visit(id);
    if (g.op(id) == Op::BUFFER) {
      const auto slot = static_cast<std::size_t>(g.arg(id, 0));
      if (slot >= k.buffers.size() || s.buffers[static_cast<std::size_t>(k.buffers[slot])].dtype != g.dtype(id))
        violated(g, id, "buffers", "a slot of kernel " + k.name + " that names a buffer of this type");
    }
  }
  if (!open.of(k.sink).empty())
    violated(g, open.of(k.sink).front(), "ranges-ended", "an END of this RANGE on every path to the sink");
}

}  // namespace

std::span<const VerifyRule> verify_rules() {
  static const std::vector<VerifyRule> all = [] {
    std::vector<VerifyRule> out;
    for (const VerifyRule& rule : node_rules()) out.push_back(rule);
    out.insert(out.end(), scope_rules().begin(), scope_rules().end());
    out.insert(out.end(), std::begin(whole_rules), std::end(whole_rules));
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

void verify_effects(const Graph& g, const Program& p) {
  std::vector<bool> stored(p.params.size(), false);
  for (Id s : g.src(p.sink)) {
    if (g.op(s) != Op::STORE) violated(g, s, "effects", "a STORE");
    const auto slot = static_cast<std::size_t>(g.arg(g.src(s, 0), 0));
    if (slot >= p.params.size() || stored[slot] || p.params[slot].direction == Direction::in)
      violated(g, s, "effects", "one STORE for an out or inout parameter");
    stored[slot] = true;
  }
}

void verify_params(const Graph& g, Builder& b, const Program& p, std::span<const Id> nodes) {
  for (Id id : nodes) {
    if (g.op(id) == Op::PARAM) {
      const auto slot = static_cast<std::size_t>(g.arg(id, 0));
      const bool same = slot < p.params.size() && p.params[slot].dtype == g.dtype(id) && p.params[slot].name == g.name(id) &&
                        std::ranges::equal(p.params[slot].extents, g.src(id));
      if (!same) violated(g, id, "param", "the declared parameter of slot " + std::to_string(slot));
    }
    if (g.op(id) == Op::STORE) {
      const auto want = b.shape_of(g.src(id, 0)), got = b.shape_of(g.src(id, 1));
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
  verify_effects(g, p);
  Builder b(g);
  const auto nodes = g.reachable(roots);
  verify_params(g, b, p, nodes);
  verify_symbols(g, p, nodes);
}

void verify(Graph& g, const Schedule& s) {
  for (std::size_t i = 0; i < s.kernels.size(); ++i) {
    const Kernel& k = s.kernels[i];
    for (int b : k.buffers)
      if (b < 0 || static_cast<std::size_t>(b) >= s.buffers.size())
        violated(g, k.sink, "buffers", "buffers of the schedule in kernel " + k.name);
    for (int d : k.depends_on)
      if (d < 0 || static_cast<std::size_t>(d) >= i)
        violated(g, k.sink, "buffers", "dependencies of kernel " + k.name + " before it");
    if (s.lowered.empty())
      verify_kernel(g, s, k);
    else
      verify(g, k.sink, Level::program);
  }
}

}  // namespace kiln::compiler
