#include "compiler/ir/verify.h"

#include <algorithm>
#include <map>
#include <string>

#include "compiler/ir/builder.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/literal.h"

namespace kiln::compiler {
namespace {

struct Node {  // one node under check
  const Graph& g;
  Level level;
  Id id;
  Op op() const { return g.op(id); }
  DType dtype() const { return g.dtype(id); }
  int lanes() const { return g.lanes(id); }
  std::span<const Id> src() const { return g.src(id); }
  std::span<const std::int64_t> args() const { return g.args(id); }
  DType src_dtype(std::size_t i) const { return g.dtype(g.src(id, i)); }
  Op src_op(std::size_t i) const { return g.op(g.src(id, i)); }
  bool is_index(std::size_t from) const {  // all sources from here on are index values
    return std::ranges::all_of(src().subspan(std::min(from, src().size())), [&](Id s) { return g.dtype(s) == DType::index; });
  }
};

bool is_integral(DType d) { return is_int(d) || d == DType::index; }
bool args_in(const Node& n, std::size_t from, std::int64_t limit) {
  return std::ranges::all_of(n.args().subspan(from), [&](std::int64_t a) { return a >= 0 && a < limit; });
}

bool known_level(const Node& n) { return levels(n.op()).find(static_cast<char>(n.level)) != std::string_view::npos; }
bool right_arity(const Node& n) { return arity(n.op()) < 0 || static_cast<int>(n.src().size()) == arity(n.op()); }
bool scalar(const Node& n) { return n.lanes() == 1; }

bool const_bits(const Node& n) {
  return n.args().size() == 1 && is_canonical_literal(n.dtype(), static_cast<std::uint64_t>(n.args()[0]));
}
bool symbol(const Node& n) { return n.dtype() == DType::index && !n.g.name(n.id).empty() && n.args().empty(); }
bool param(const Node& n) {
  return n.args().size() == 1 && n.args()[0] >= 0 && n.is_index(0) && n.src().size() <= static_cast<std::size_t>(max_rank) &&
         n.dtype() != DType::index && n.dtype() != DType::none;
}
bool iota(const Node& n) { return n.is_index(0) && in_classes("IF", n.dtype()); }
bool buffer(const Node& n) { return n.args().size() == 1 && n.args()[0] >= 0 && n.dtype() < DType::index; }
bool invalid(const Node& n) { return n.args().empty(); }
bool range(const Node& n) {
  return n.args().size() == 2 && n.args()[0] >= 0 && n.args()[1] >= 0 && n.args()[1] <= 4 && is_integral(n.dtype()) &&
         n.src_dtype(0) == n.dtype();
}

bool elementwise_types(const Node& n) {
  DType types[3];
  for (std::size_t i = 0; i < n.src().size(); ++i) types[i] = n.src_op(i) == Op::INVALID ? DType::none : n.src_dtype(i);
  std::string problem;
  if (n.op() == Op::CAST) return n.src_dtype(0) < DType::none && n.dtype() < DType::none;
  return elementwise_dtype(n.op(), std::span(types, n.src().size()), n.dtype(), problem) == n.dtype() && problem.empty();
}
bool elementwise_lanes(const Node& n) {
  return std::ranges::all_of(n.src(), [&](Id s) { return n.g.lanes(s) == n.lanes(); }) && n.args().empty();
}

bool keeps_dtype(const Node& n) { return !n.src().empty() && n.src_dtype(0) == n.dtype(); }
bool reshape_form(const Node& n) {
  return keeps_dtype(n) && n.is_index(1) && n.src().size() - 1 <= static_cast<std::size_t>(max_rank);
}
bool slice_form(const Node& n) {
  return keeps_dtype(n) && n.src().size() == 1 + 2 * n.args().size() && n.is_index(1) &&
         std::ranges::none_of(n.args(), [](std::int64_t s) { return s == 0; });
}
bool pad_form(const Node& n) {
  return n.src().size() >= 2 && n.src().size() % 2 == 0 && keeps_dtype(n) && n.src_dtype(1) == n.dtype() && n.is_index(2) &&
         n.args().size() == 1 && args_in(n, 0, 4);
}
bool concat_form(const Node& n) {
  return !n.src().empty() && n.args().size() == 1 && n.args()[0] >= 0 &&
         std::ranges::all_of(n.src(), [&](Id s) { return n.g.dtype(s) == n.dtype(); });
}

bool reduce_form(const Node& n) {
  if (n.args().empty() || !args_in(n, 0, INT64_MAX) || n.args()[0] > 8) return false;
  const auto kind = static_cast<ReduceKind>(n.args()[0]);
  const std::size_t values = kind == ReduceKind::fma ? 2 : 1;
  if (n.src().size() < values) return false;
  std::string problem;
  for (std::size_t i = 0; i < values; ++i)
    if (reduce_dtype(kind, n.src_dtype(i), problem) != n.dtype()) return false;
  if (values == 2 && n.src_dtype(0) != n.src_dtype(1)) return false;
  if (n.level == Level::tensor)
    return n.src().size() == values && std::ranges::is_sorted(n.args().subspan(1), std::less_equal<>());
  if (n.args().size() != 2 || n.args()[1] > 1) return false;
  for (std::size_t i = values; i < n.src().size(); ++i)
    if (n.src_op(i) != Op::RANGE) return false;
  return true;
}

bool all_ranges(const Node& n, std::size_t from) {
  for (std::size_t i = from; i < n.src().size(); ++i)
    if (n.src_op(i) != Op::RANGE) return false;
  return true;
}
bool stage(const Node& n) { return keeps_dtype(n) && all_ranges(n, 1); }
bool index_form(const Node& n) {
  return keeps_dtype(n) && (n.src_op(0) == Op::STAGE || n.src_op(0) == Op::PARAM) && n.is_index(1);
}
bool access_gate(const Node& n, std::size_t plain, std::size_t gate) {
  return n.src().size() == plain || (n.src().size() > gate && n.src_dtype(gate) == DType::boolean);
}
bool load(const Node& n) {
  const auto s = n.src();
  if (s.size() != 2 && s.size() != 4) return false;
  return n.src_op(0) == Op::BUFFER && n.src_dtype(0) == n.dtype() && is_integral(n.src_dtype(1)) &&
         (s.size() == 2 || n.src_dtype(2) == n.dtype()) && access_gate(n, 2, 3);
}
bool store_kernel(const Node& n) {
  const auto s = n.src();
  if (n.dtype() != DType::none || (s.size() != 3 && s.size() != 4)) return false;
  return n.src_op(0) == Op::BUFFER && is_integral(n.src_dtype(1)) && n.src_dtype(2) == n.src_dtype(0) && access_gate(n, 3, 3);
}
bool store_tensor(const Node& n) {
  return n.dtype() == DType::none && n.src().size() == 2 && n.src_op(0) == Op::PARAM && n.src_dtype(0) == n.src_dtype(1);
}
bool end(const Node& n) { return n.dtype() == DType::none && !n.src().empty() && n.src_op(0) == Op::STORE && all_ranges(n, 1); }
bool sink(const Node& n) {
  return n.dtype() == DType::none && std::ranges::all_of(n.src(), [&](Id s) { return n.g.dtype(s) == DType::none; });
}

bool for_form(const Node& n) {
  if (n.args().size() != 2 || n.args()[0] < 0 || n.args()[1] == 0) return false;
  const auto carried = static_cast<std::size_t>(n.args()[0]);
  if (n.src().size() < 3 || (n.src().size() - 3) / 2 < carried || n.src_op(0) != Op::RANGE) return false;
  for (std::size_t i = 0; i < carried; ++i)
    if (n.src_dtype(3 + i) != n.src_dtype(3 + carried + i) || n.g.lanes(n.src()[3 + i]) != n.g.lanes(n.src()[3 + carried + i]))
      return false;
  for (std::size_t i = 3 + 2 * carried; i < n.src().size(); ++i)
    if (n.src_dtype(i) != DType::none) return false;
  return n.src_dtype(1) == n.src_dtype(0) && n.src_dtype(2) == n.src_dtype(0);
}
bool carry(const Node& n) {
  return n.src().size() == 2 && n.src_op(0) == Op::RANGE && n.src_dtype(1) == n.dtype() && n.args().size() == 1 &&
         n.args()[0] >= 0;
}
bool get(const Node& n) {
  if (n.src_op(0) != Op::FOR || n.args().size() != 1) return false;
  const auto loop = n.g.args(n.src()[0]);
  if (loop.size() != 2 || n.args()[0] < 0 || n.args()[0] >= loop[0]) return false;
  return n.g.dtype(n.g.src(n.src()[0], 3 + static_cast<std::size_t>(n.args()[0]))) == n.dtype();
}
bool broadcast(const Node& n) { return keeps_dtype(n) && n.g.lanes(n.src()[0]) == 1 && n.lanes() > 1; }
bool ramp(const Node& n) { return broadcast(n) && is_integral(n.dtype()) && n.args().size() == 1; }
bool lane(const Node& n) {
  return keeps_dtype(n) && n.lanes() == 1 && n.args().size() == 1 && args_in(n, 0, n.g.lanes(n.src()[0]));
}
bool shuffle(const Node& n) {
  return keeps_dtype(n) && n.args().size() == static_cast<std::size_t>(n.lanes()) && args_in(n, 0, n.g.lanes(n.src()[0]));
}

// Ops a rule is for: first..last of the enumeration.
struct Check {
  VerifyRule rule;
  Op first, last;
  bool (*holds)(const Node&);
};

constexpr Op first_op = Op::CONST, last_op = Op::SHUFFLE;
constexpr Check checks[] = {
    {{"TKP", "level", "the operation belongs to the level"}, first_op, last_op, known_level},
    {{"TKP", "arity", "the operation has its number of sources"}, first_op, last_op, right_arity},
    {{"TK", "scalar", "values have one lane before lowering"}, first_op, last_op, scalar},
    {{"TKP", "const-bits", "one argument, bits extended to 64 as the type says"}, Op::CONST, Op::CONST, const_bits},
    {{"TKP", "symbol", "a name, type index"}, Op::SYM, Op::SYM, symbol},
    {{"T", "param", "args {slot}, index extents, an element type"}, Op::PARAM, Op::PARAM, param},
    {{"T", "iota", "one index extent, an integer or float type"}, Op::IOTA, Op::IOTA, iota},
    {{"KP", "buffer", "args {slot}, an element type"}, Op::BUFFER, Op::BUFFER, buffer},
    {{"TK", "invalid", "no arguments"}, Op::INVALID, Op::INVALID, invalid},
    {{"TKP", "range", "args {id, kind}, an integer end of the range's type"}, Op::RANGE, Op::RANGE, range},
    {{"TKP", "elementwise-types", "operand types match the operation, result type follows"},
     Op::NEG,
     Op::FMA,
     elementwise_types},
    {{"TKP", "elementwise-lanes", "all operands have the result's lanes; no arguments"}, Op::NEG, Op::FMA, elementwise_lanes},
    {{"T", "reshape-form", "data of the result's type, index extents"}, Op::RESHAPE, Op::EXPAND, reshape_form},
    {{"T", "permute-form", "data of the result's type"}, Op::PERMUTE, Op::PERMUTE, keeps_dtype},
    {{"T", "slice-form", "data, begin and extent per axis; args: a step other than 0 per axis"},
     Op::SLICE,
     Op::SLICE,
     slice_form},
    {{"T", "pad-form", "data, value, width and extent per axis; args {mode}"}, Op::PAD, Op::PAD, pad_form},
    {{"T", "concat-form", "operands of the result's type; args {axis}"}, Op::CONCAT, Op::CONCAT, concat_form},
    {{"TK", "reduce-form", "a kind, operands of its types; T: ascending axes; K: an order, then RANGEs"},
     Op::REDUCE,
     Op::REDUCE,
     reduce_form},
    {{"K", "stage", "a value, then RANGEs"}, Op::STAGE, Op::STAGE, stage},
    {{"K", "index", "a STAGE or PARAM, then index values"}, Op::INDEX, Op::INDEX, index_form},
    {{"KP", "load", "BUFFER of the result's type, integer index, optionally an alternative and a bool gate"},
     Op::LOAD,
     Op::LOAD,
     load},
    {{"T", "store", "a PARAM and a value of its type"}, Op::STORE, Op::STORE, store_tensor},
    {{"KP", "store", "BUFFER, integer index, value of its type, optionally a bool gate"}, Op::STORE, Op::STORE, store_kernel},
    {{"K", "end", "a STORE, then RANGEs"}, Op::END, Op::END, end},
    {{"TKP", "sink", "effects only"}, Op::SINK, Op::SINK, sink},
    {{"P", "for", "RANGE, begin, end, n initial and n next values of equal types, effects; args {n, step}"},
     Op::FOR,
     Op::FOR,
     for_form},
    {{"P", "carry", "RANGE and initial value; args {i}"}, Op::CARRY, Op::CARRY, carry},
    {{"P", "get", "a FOR; args {i} below its number of carried values"}, Op::GET, Op::GET, get},
    {{"P", "broadcast", "one scalar of the result's type"}, Op::BROADCAST, Op::BROADCAST, broadcast},
    {{"P", "ramp", "one integer scalar; args {stride}"}, Op::RAMP, Op::RAMP, ramp},
    {{"P", "lane", "args {i} below the vector's lanes"}, Op::LANE, Op::LANE, lane},
    {{"P", "shuffle", "args: a source lane per lane"}, Op::SHUFFLE, Op::SHUFFLE, shuffle},
};

constexpr VerifyRule whole_rules[] = {
    {"T", "shape", "extents fit the operation (the builder's checks)"},
    {"T", "elementwise-shapes", "operands have equal shapes or rank 0"},
    {"T", "effects", "the sink holds one STORE for each parameter that is assigned, none for an input"},
    {"T", "symbols", "each symbol is declared once and is the whole extent of some parameter"},
    {"K", "ranges-ended", "every RANGE that reaches a STORE is ended there"},
    {"K", "buffers", "kernel slots name buffers of the same type; dependencies come first"},
};

[[noreturn]] void violated(const Graph& g, Id id, std::string_view rule, const std::string& text) {
  throw Diagnostic("E-verify", where(g, g.loc(id)),
                   "node %" + std::to_string(id) + " `" + std::string(name(g.op(id))) + "` of type " +
                       std::string(name(g.dtype(id))) + " breaks the rule " + std::string(rule) + ": expected " + text);
}

void check_node(const Node& n) {
  for (const Check& c : checks) {
    if (n.op() < c.first || n.op() > c.last || c.rule.levels.find(static_cast<char>(n.level)) == std::string_view::npos)
      continue;
    if (!c.holds(n)) violated(n.g, n.id, c.rule.name, std::string(c.rule.text));
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
    case Op::REDUCE:
      return s.size() == 2 ? b.reduce_fma(s[0], s[1], std::span(a).subspan(1))
                           : b.reduce(static_cast<ReduceKind>(a[0]), s[0], std::span(a).subspan(1));
    default: return id;
  }
}

void check_shapes(Builder& b, Id id) {
  Graph& g = b.graph();
  if (is_elementwise(g.op(id))) {
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
    check_node({g, Level::tensor, id});
    check_shapes(b, id);
  }
  g.set_loc(saved);
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
    for (const Check& c : checks) out.push_back(c.rule);
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
  for (Id id : g.reachable(roots)) check_node({g, level, id});
}

void verify(Graph& g, Id root, Level level) { verify_nodes(g, level, std::span(&root, 1)); }

void verify(const Graph& g, Id root, Level level) {
  for (Id id : g.reachable(std::span(&root, 1))) check_node({g, level, id});
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
  for (Id id : nodes) {
    if (g.op(id) != Op::SYM) continue;
    const auto declared = std::ranges::count_if(p.symbols, [&](const Symbol& s) { return s.name == g.name(id); });
    const bool whole =
        std::ranges::any_of(p.params, [&](const Parameter& q) { return std::ranges::find(q.extents, id) != q.extents.end(); });
    if (declared != 1 || !whole)
      violated(g, id, "symbols",
               "symbol `" + std::string(g.name(id)) + "` declared once and the whole extent of some parameter");
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
