#include "compiler/ir/verify_nodes.h"

#include <algorithm>
#include <limits>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/literal.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/range_ids.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/ir/typing.h"

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
  bool is_index(std::size_t from) const {  // whether all sources from `from` on are index values
    return std::ranges::all_of(src().subspan(std::min(from, src().size())), [&](Id s) { return g.dtype(s) == DType::index; });
  }
};

bool is_integral(DType d) { return is_int(d) || d == DType::index; }
bool args_in(const Node& n, std::size_t from, std::int64_t limit) {
  return std::ranges::all_of(n.args().subspan(from), [&](std::int64_t a) { return a >= 0 && a < limit; });
}

bool known_level(const Node& n) { return levels(n.op()).find(static_cast<char>(n.level)) != std::string_view::npos; }
bool right_arity(const Node& n) { return arity(n.op()) < 0 || std::ssize(n.src()) == arity(n.op()); }
bool scalar(const Node& n) { return n.lanes() == 1; }

bool const_bits(const Node& n) {
  return n.args().size() == 1 && is_canonical_literal(n.dtype(), static_cast<std::uint64_t>(n.args()[0]));
}
bool symbol(const Node& n) { return n.dtype() == DType::index && !n.g.name(n.id).empty() && n.args().empty(); }
bool param(const Node& n) {
  return n.args().size() == 1 && n.args()[0] >= 0 && n.is_index(0) && std::ssize(n.src()) <= max_rank &&
         n.dtype() != DType::index && n.dtype() != DType::none;
}
bool iota(const Node& n) { return n.is_index(0) && in_classes("IF", n.dtype()); }
bool buffer(const Node& n) { return n.args().size() == 1 && n.args()[0] >= 0 && n.dtype() < DType::index; }
bool invalid(const Node& n) { return n.args().empty(); }

bool range(const Node& n) {
  return n.args().size() == 2 && n.args()[0] >= 0 && n.args()[0] < range_number_limit && n.args()[1] >= 0 && n.args()[1] <= 5 &&
         is_integral(n.dtype()) && n.src_dtype(0) == n.dtype();
}

bool elementwise_types(const Node& n) {
  DType types[3];
  for (std::size_t i = 0; i < n.src().size(); ++i) {
    const bool is_any = n.src_op(i) == Op::INVALID;
    if (n.src_dtype(i) == DType::none && !is_any) return false;  // loops and kernels are not values
    types[i] = is_any ? DType::none : n.src_dtype(i);
  }
  std::string problem;
  if (n.op() == Op::CAST) return n.src_dtype(0) < DType::none && n.dtype() < DType::none;
  return elementwise_dtype(n.op(), std::span(types, n.src().size()), n.dtype(), problem) == n.dtype() && problem.empty();
}
bool elementwise_lanes(const Node& n) {
  return std::ranges::all_of(n.src(), [&](Id s) { return n.g.lanes(s) == n.lanes(); }) && n.args().empty();
}

bool keeps_dtype(const Node& n) { return !n.src().empty() && n.src_dtype(0) == n.dtype(); }
bool reshape_form(const Node& n) { return keeps_dtype(n) && n.is_index(1) && std::ssize(n.src()) - 1 <= max_rank; }
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

bool shear_form(const Node& n) {
  return n.src().size() == 2 && keeps_dtype(n) && n.is_index(1) && n.args().size() == 4 && args_in(n, 0, INT64_MAX) &&
         n.args()[2] > 0 && n.args()[3] > 0;
}

bool or_zero(const Node& n) { return n.args().empty() || (n.args().size() == 1 && n.args()[0] == 1); }
bool gradient(const Node& n) {
  return n.src().size() == 3 && is_float(n.dtype()) && n.src_dtype(2) == n.dtype() && is_float(n.src_dtype(0)) &&
         n.src_dtype(0) == n.src_dtype(1) && or_zero(n);
}
bool tangent(const Node& n) {
  if (n.src().size() < 3 || n.src().size() % 2 == 0 || !keeps_dtype(n) || !or_zero(n)) return false;
  for (std::size_t i = 1; i < n.src().size(); i += 2)
    if (!is_float(n.src_dtype(i)) || n.src_dtype(i) != n.src_dtype(i + 1)) return false;
  return is_float(n.dtype());
}
bool laplacian(const Node& n) {
  return n.src().size() == 2 && keeps_dtype(n) && is_float(n.dtype()) && is_float(n.src_dtype(1)) && or_zero(n);
}
bool mark(const Node& n) {
  return n.src().size() == 1 && keeps_dtype(n) && n.dtype() < DType::index && n.args().size() == 2 &&
         args_in(n, 0, INT64_MAX) && n.args()[0] <= 2;
}
bool straight(const Node& n) { return n.src().size() == 2 && keeps_dtype(n) && n.src_dtype(1) == n.dtype(); }
bool custom(const Node& n) {
  if (n.src().size() % 2 == 0 || !keeps_dtype(n) || !is_float(n.dtype()) || n.args().size() != 1) return false;
  const std::size_t count = n.src().size() / 2;
  for (std::size_t i = 1; i <= count; ++i)
    if (!is_float(n.src_dtype(i)) || n.src_dtype(i) != n.src_dtype(i + count)) return false;
  return true;
}
bool cotangent(const Node& n) { return is_float(n.dtype()) && n.is_index(0) && n.args().size() == 1; }

bool gather_form(const Node& n) {
  return n.src().size() >= 2 && keeps_dtype(n) && n.dtype() < DType::index && n.args().empty() &&
         std::ranges::all_of(n.src().subspan(1), [&](Id s) { return is_int(n.g.dtype(s)); });
}

bool reduce_form(const Node& n) {
  if (n.args().empty() || !args_in(n, 0, INT64_MAX) || n.g.reduce_kind(n.id) > ReduceKind::dot) return false;
  const ReduceKind kind = n.g.reduce_kind(n.id);
  const std::size_t values = operands_of(kind);
  if (n.src().size() < values) return false;
  std::string problem;
  for (std::size_t i = 0; i < values; ++i)
    if (reduce_dtype(kind, n.src_dtype(i), problem) != n.dtype()) return false;
  if (values == 2 && n.src_dtype(0) != n.src_dtype(1)) return false;
  if (n.level == Level::tensor)
    return n.src().size() == values && std::ranges::is_sorted(n.args().subspan(1), std::less_equal<>());
  if (n.args().size() != 2 || n.args()[1] > 1) return false;
  if (kind == ReduceKind::dot && n.g.reduce_order(n.id) != ReduceOrder::striped) return false;
  for (std::size_t i = values; i < n.src().size(); ++i)
    if (n.src_op(i) != Op::RANGE) return false;
  return true;
}

bool scan_form(const Node& n) {
  if (n.args().empty() || !args_in(n, 0, INT64_MAX) || !is_scan_kind(n.g.scan_kind(n.id))) return false;
  std::string problem;
  if (n.src().empty() || scan_dtype(n.g.scan_kind(n.id), n.src_dtype(0), problem) != n.dtype()) return false;
  const bool of_tensor = n.level == Level::tensor;
  if (n.args().size() != (of_tensor ? 4 : 2)) return false;
  const auto flags = n.args().subspan(of_tensor ? 2 : 1);
  if (std::ranges::any_of(flags, [](std::int64_t f) { return f < 0 || f > 1; })) return false;
  return of_tensor ? n.src().size() == 1 : n.src().size() == 2 && n.src_op(1) == Op::RANGE;
}

bool all_ranges(const Node& n, std::size_t from) {
  for (std::size_t i = from; i < n.src().size(); ++i)
    if (n.src_op(i) != Op::RANGE) return false;
  return true;
}
bool stage(const Node& n) { return keeps_dtype(n) && all_ranges(n, 1); }
bool stage_tensor(const Node& n) {
  return n.src().size() == 1 && keeps_dtype(n) && n.dtype() < DType::index && n.args().empty();
}
// At level K: reads an element of storage or, inside a KERNEL, of a state.
bool index_form(const Node& n) { return keeps_dtype(n) && n.is_index(1); }
// The element type of the memory that an access names: a BUFFER or a state. none: the source is neither.
DType memory_type(const Node& n) {
  const Id memory = n.src().empty() ? no_id : memory_of(n.g, n.src()[0]);
  if (memory == no_id) return DType::none;
  return memory == n.src()[0] || n.src_dtype(0) == DType::none ? n.g.dtype(memory) : DType::none;
}
bool entry(const Node& n) {
  const auto s = n.src();
  const bool memory = !s.empty() && is_memory(n.g, s[0]);
  return n.dtype() == DType::none && memory &&
         std::ranges::all_of(s.subspan(1), [&](Id i) { return is_integral(n.g.dtype(i)); });
}
bool access_gate(const Node& n, std::size_t plain, std::size_t gate) {
  return n.src().size() == plain || (n.src().size() > gate && n.src_dtype(gate) == DType::boolean);
}
bool load(const Node& n) {
  const auto s = n.src();
  if (s.size() != 2 && s.size() != 4) return false;
  return memory_type(n) == n.dtype() && is_integral(n.src_dtype(1)) && (s.size() == 2 || n.src_dtype(2) == n.dtype()) &&
         access_gate(n, 2, 3);
}
bool store_kernel(const Node& n) {
  const auto s = n.src();
  if (n.dtype() != DType::none || (s.size() != 3 && s.size() != 4)) return false;
  const bool past_caches = n.args().size() == 1 && n.args()[0] == 1 && s.size() == 3 && n.src_op(0) == Op::BUFFER;
  if (!n.args().empty() && !past_caches) return false;
  return is_integral(n.src_dtype(1)) && n.src_dtype(2) != DType::none && n.src_dtype(2) == memory_type(n) &&
         access_gate(n, 3, 3);
}
bool store_tensor(const Node& n) {
  return n.dtype() == DType::none && n.src().size() == 2 && n.src_op(0) == Op::PARAM && n.src_dtype(0) == n.src_dtype(1);
}
bool atomic_kernel(const Node& n) {
  const auto s = n.src();
  const bool compares = n.args().size() == 1 && n.g.atomic_kind(n.id) == AtomicKind::compare_exchange;
  const std::size_t values = compares ? 4 : 3;
  if (n.dtype() != DType::none || s.size() != values + 1 || n.src_dtype(1) != DType::boolean) return false;
  for (std::size_t i = 2; i < values; ++i)
    if (n.src_dtype(i) == DType::none || n.src_dtype(i) != memory_type(n)) return false;
  return is_integral(n.src_dtype(values));
}
bool old_kernel(const Node& n) { return n.src_op(0) == Op::ATOMIC && n.g.dtype(n.g.src(n.src()[0], 2)) == n.dtype(); }
bool end(const Node& n) {
  return n.dtype() == DType::none && !n.src().empty() && n.src_dtype(0) == DType::none && is_state(n.g, n.src()[0]) &&
         all_ranges(n, 1);
}
bool sink(const Node& n) {
  return n.dtype() == DType::none && std::ranges::all_of(n.src(), [&](Id s) { return n.g.dtype(s) == DType::none; });
}

bool for_form(const Node& n) {
  const bool conditional = n.args().size() == 3;
  if ((n.args().size() != 2 && !conditional) || n.args()[0] < (conditional ? 1 : 0) || n.args()[1] == 0) return false;
  if (conditional && (n.args()[2] != 1 || n.src().size() < 4 || n.src_dtype(3) != DType::boolean)) return false;
  const std::size_t carried = n.g.slot(n.id);
  if (n.src().size() < 3 || (n.src().size() - 3) / 2 < carried || n.src_op(0) != Op::RANGE) return false;
  for (std::size_t i = 0; i < carried; ++i)
    if (n.src_dtype(3 + i) != n.src_dtype(3 + carried + i) || n.g.lanes(n.src()[3 + i]) != n.g.lanes(n.src()[3 + carried + i]))
      return false;
  for (std::size_t i = 3 + 2 * carried; i < n.src().size(); ++i)
    if (n.src_dtype(i) != DType::none) return false;
  return n.src_dtype(1) == n.src_dtype(0) && n.src_dtype(2) == n.src_dtype(0);
}
bool for_tensor(const Node& n) {
  return n.args()[1] > 0 && n.src().size() == 3 + 2 * n.g.slot(n.id) &&
         std::ranges::none_of(n.src().subspan(3), [&](Id s) { return n.g.dtype(s) == DType::none; });
}
bool kernel(const Node& n) {
  const auto a = n.args();
  if (n.dtype() != DType::none || a.size() != 2 || a[0] < 1 || a[1] < 0 || a[0] > max_rank) return false;
  if (a[1] > INT32_MAX || n.src().size() != n.g.slot(n.id) + 2 * n.g.slot(n.id, 1)) return false;
  const KernelParts k = kernel_parts(n.g, n.id);
  for (Id r : k.ranges)
    if (n.g.op(r) != Op::RANGE) return false;
  for (std::size_t i = 0; i < k.init.size(); ++i)
    if (n.g.dtype(k.init[i]) != n.g.dtype(k.final[i]) || n.g.dtype(k.init[i]) >= DType::index) return false;
  return true;
}
bool index_tensor(const Node& n) { return keeps_dtype(n) && n.dtype() < DType::index && n.is_index(1); }
// INVALID may occur only as WHERE(gate, i, INVALID), and that only as the first index of an INDEX.
bool gated_index_use(const Node& n) {
  for (std::size_t i = 0; i < n.src().size(); ++i) {
    const Id s = n.src()[i];
    if (n.g.op(s) == Op::INVALID && (n.op() != Op::WHERE || i != 2)) return false;
    const bool gated = n.g.op(s) == Op::WHERE && n.g.src(s).size() == 3 && n.g.op(n.g.src(s, 2)) == Op::INVALID;
    if (gated && (n.op() != Op::INDEX || i != 1)) return false;
  }
  return true;
}
bool update(const Node& n) {
  return n.src().size() >= 3 && keeps_dtype(n) && n.dtype() < DType::index && n.src_dtype(1) == DType::boolean &&
         n.src_dtype(2) == n.dtype() && n.is_index(3) && (n.args().empty() || (n.args().size() == 1 && n.args()[0] == 1));
}
bool atomic(const Node& n) {
  if (n.args().size() != 1 || !args_in(n, 0, 8) || n.src().size() < 3 || !keeps_dtype(n)) return false;
  const AtomicKind kind = n.g.atomic_kind(n.id);
  const std::size_t values = kind == AtomicKind::compare_exchange ? 2 : 1;
  if (n.src().size() < 2 + values || n.src_dtype(1) != DType::boolean || !n.is_index(2 + values)) return false;
  for (std::size_t i = 0; i < values; ++i)
    if (n.src_dtype(2 + i) != n.dtype()) return false;
  return atomic_problem(kind, n.dtype()).empty();
}
bool old(const Node& n) { return keeps_dtype(n) && n.src_op(0) == Op::ATOMIC && n.args().empty(); }
bool local(const Node& n) {
  return !n.src().empty() && is_integral(n.src_dtype(0)) && n.dtype() < DType::index && n.args().size() == 1 &&
         n.args()[0] >= 0 &&
         std::ranges::all_of(n.src().subspan(1), [&](Id s) { return n.g.is_const(s) && is_integral(n.g.dtype(s)); });
}
bool local_tensor(const Node& n) { return n.src_op(0) == Op::RANGE && n.is_index(1); }
bool range_tensor(const Node& n) {
  const RangeKind kind = n.g.range_kind(n.id);
  return n.dtype() == DType::index && (kind == RangeKind::loop || kind == RangeKind::workgroup) &&
         n.args()[0] < program_range_limit;
}

bool carry(const Node& n) {
  return n.src().size() == 2 && n.src_op(0) == Op::RANGE && n.src_dtype(1) == n.dtype() && n.args().size() == 1 &&
         n.args()[0] >= 0;
}
bool get(const Node& n) {
  if (!is_scope(n.src_op(0)) || n.args().size() != 1) return false;
  const auto init = scope_inits(n.g, n.src()[0]);
  const auto slot = n.args()[0];
  return slot >= 0 && slot < std::ssize(init) && n.g.dtype(nth(init, slot)) == n.dtype();
}
bool broadcast(const Node& n) { return keeps_dtype(n) && n.g.lanes(n.src()[0]) == 1 && n.lanes() > 1; }
bool ramp(const Node& n) {
  if (!broadcast(n) || !is_integral(n.dtype()) || n.args().size() != 1) return false;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / n.lanes();  // so that no lane's step overflows
  return -most <= n.args()[0] && n.args()[0] <= most;
}
bool lane(const Node& n) {
  return keeps_dtype(n) && n.lanes() == 1 && n.args().size() == 1 && args_in(n, 0, n.g.lanes(n.src()[0]));
}
bool pairs(const Node& n) {
  return n.dtype() == DType::i32 && n.src_dtype(0) == DType::i16 && n.g.lanes(n.src()[0]) == 2 * n.lanes() && n.args().empty();
}
bool shuffle(const Node& n) {
  if (!keeps_dtype(n) || std::ssize(n.args()) != n.lanes()) return false;
  const int lanes = n.g.lanes(n.src()[0]);
  const bool alike = std::ranges::all_of(n.src(), [&](Id s) { return n.g.lanes(s) == lanes && n.g.dtype(s) == n.dtype(); });
  return alike && args_in(n, 0, std::ssize(n.src()) * lanes);
}

// The operations of a rule: first..last of the enumeration.
struct Check {
  VerifyRule rule;
  Op first, last;
  bool (*holds)(const Node&);
};

constexpr Op first_op = Op::CONST, last_op = static_cast<Op>(op_count - 1);
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
    {{"TKP", "range", "args {id, kind}, an id below 2^40, an integer end of the range's type"}, Op::RANGE, Op::RANGE, range},
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
    {{"T", "gather-form", "data of the result's type, then integer tensors"}, Op::GATHER, Op::GATHER, gather_form},
    {{"T", "shear-form", "data of the result's type, an index extent; args {k, o, stride, dilation}"},
     Op::SHEAR,
     Op::UNSHEAR,
     shear_form},
    {{"T", "gradient", "y, a cotangent of y's type, x of the result's type, all floats; args {} or {1}"},
     Op::GRADIENT,
     Op::GRADIENT,
     gradient},
    {{"T", "tangent", "y of the result's type, then pairs of floats of one type; args {} or {1}"},
     Op::TANGENT,
     Op::TANGENT,
     tangent},
    {{"T", "laplacian", "floats: y of the result's type and x; args {} or {1}"}, Op::LAPLACIAN, Op::LAPLACIAN, laplacian},
    {{"T", "mark", "a tensor; args {kind, number}"}, Op::MARK, Op::MARK, mark},
    {{"T", "straight", "two values of the result's type"}, Op::STRAIGHT, Op::STRAIGHT, straight},
    {{"T", "custom", "a float, n values and n derivatives of their types; args {number}"}, Op::CUSTOM, Op::CUSTOM, custom},
    {{"T", "cotangent", "a float type, index extents; args {number}"}, Op::COTANGENT, Op::COTANGENT, cotangent},
    {{"TK", "reduce-form", "a kind, operands of its types; T: ascending axes; K: an order, then RANGEs"},
     Op::REDUCE,
     Op::REDUCE,
     reduce_form},
    {{"TK", "scan-form", "sum, prod, max or min of its types; args: T {kind, axis, 2 flags}, K {kind, flag}, a RANGE"},
     Op::SCAN,
     Op::SCAN,
     scan_form},
    {{"T", "stage", "a tensor"}, Op::STAGE, Op::STAGE, stage_tensor},
    {{"K", "stage", "a value, then RANGEs"}, Op::STAGE, Op::STAGE, stage},
    {{"T", "range", "type index, kind loop or workgroup, an id below 1000000"}, Op::RANGE, Op::RANGE, range_tensor},
    {{"T", "index", "a tensor, then index values"}, Op::INDEX, Op::INDEX, index_tensor},
    {{"T", "gated-index", "INVALID in WHERE(gate, i, INVALID) only, that as the first index of an INDEX only"},
     first_op,
     last_op,
     gated_index_use},
    {{"K", "index", "storage or a state of it, then index values"}, Op::INDEX, Op::INDEX, index_form},
    {{"KP", "entry", "a BUFFER or LOCAL, then indices"}, Op::ENTRY, Op::ENTRY, entry},
    {{"KP", "atomic", "state, bool gate, value of its type [, expected], integer index; args {AtomicKind}"},
     Op::ATOMIC,
     Op::ATOMIC,
     atomic_kernel},
    {{"KP", "old", "an ATOMIC on its type"}, Op::OLD, Op::OLD, old_kernel},
    {{"KP", "load", "BUFFER or state of the result's type, integer index, optionally an alternative and a bool gate"},
     Op::LOAD,
     Op::LOAD,
     load},
    {{"T", "store", "a PARAM and a value of its type"}, Op::STORE, Op::STORE, store_tensor},
    {{"KP", "store", "BUFFER or state, integer index, value of its type, optionally a bool gate; args {} or {1}"},
     Op::STORE,
     Op::STORE,
     store_kernel},
    {{"K", "end", "a STORE or another state, then RANGEs"}, Op::END, Op::END, end},
    {{"TKP", "sink", "effects only"}, Op::SINK, Op::SINK, sink},
    {{"TK", "kernel", "n > 0 RANGEs, m initial and m final states of equal element types; args {n, m}"},
     Op::KERNEL,
     Op::KERNEL,
     kernel},
    {{"TKP", "for", "RANGE, begin, end, n initial and n next values of equal types, effects; args {n, step [, 1]}"},
     Op::FOR,
     Op::FOR,
     for_form},
    {{"T", "for", "a step above 0, no effects"}, Op::FOR, Op::FOR, for_tensor},
    {{"TKP", "carry", "RANGE and initial value; args {i}"}, Op::CARRY, Op::CARRY, carry},
    {{"TKP", "get", "a FOR or KERNEL; args {i} below its number of values"}, Op::GET, Op::GET, get},
    {{"TKP", "local", "a RANGE, then constant extents; args {id}"}, Op::LOCAL, Op::LOCAL, local},
    {{"T", "local", "a RANGE, then extents of type index"}, Op::LOCAL, Op::LOCAL, local_tensor},
    {{"T", "update", "a tensor, a bool gate, a value of its type, index values; args {} or {1}"},
     Op::UPDATE,
     Op::UPDATE,
     update},
    {{"T", "atomic", "a tensor, a bool gate, values of its type, index values; args {kind}"}, Op::ATOMIC, Op::ATOMIC, atomic},
    {{"T", "old", "an ATOMIC of its type"}, Op::OLD, Op::OLD, old},
    {{"P", "broadcast", "one scalar of the result's type"}, Op::BROADCAST, Op::BROADCAST, broadcast},
    {{"P", "ramp", "one integer scalar; args {stride}, where stride times lanes fits in i64"}, Op::RAMP, Op::RAMP, ramp},
    {{"P", "lane", "args {i} below the vector's lanes"}, Op::LANE, Op::LANE, lane},
    {{"P", "shuffle", "vectors of one type; args: one of their lanes per lane"}, Op::SHUFFLE, Op::SHUFFLE, shuffle},
    {{"P", "pairs", "i32 words of a vector of i16 with twice as many lanes"}, Op::PAIRS, Op::PAIRS, pairs},
};

}  // namespace

std::span<const VerifyRule> node_rules() {
  static const std::vector<VerifyRule> all = [] {
    std::vector<VerifyRule> out;
    for (const Check& c : checks) out.push_back(c.rule);
    return out;
  }();
  return all;
}

void violated(const Graph& g, Id id, std::string_view rule, const std::string& text) {
  throw Diagnostic("E-verify", where(g, g.loc(id)),
                   "node %" + std::to_string(id) + " `" + std::string(name(g.op(id))) + "` of type " +
                       std::string(name(g.dtype(id))) + " breaks the rule " + std::string(rule) + ": expected " + text);
}

bool has_extents(const Graph& g, const Program& p, std::size_t slot, Id param) {
  const auto symbols = [&](Id extent) {
    std::vector<Id> nodes = g.reachable(extent);
    std::erase_if(nodes, [&](Id id) { return g.op(id) != Op::SYM; });
    return nodes;
  };
  return std::ranges::equal(g.src(param), p.params[slot].extents, [&](Id here, Id declared) {
    if (here == declared) return true;
    const std::vector<Id> fewer = symbols(here), all = symbols(declared);
    return fewer.size() < all.size() && std::ranges::includes(all, fewer);
  });
}

void check_node(const Graph& g, Level level, Id id) {
  const Node n{g, level, id};
  for (const Check& c : checks) {
    if (n.op() < c.first || n.op() > c.last || c.rule.levels.find(static_cast<char>(n.level)) == std::string_view::npos)
      continue;
    if (!c.holds(n)) violated(n.g, n.id, c.rule.name, std::string(c.rule.text));
  }
}

}  // namespace kiln::compiler
