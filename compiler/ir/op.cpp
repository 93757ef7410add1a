#include "compiler/ir/op.h"

#include "compiler/ir/nth.h"

#include <array>
#include <span>
#include <stdexcept>

namespace kiln::compiler {
namespace {

struct OpInfo {
  std::string_view name, levels;
  int arity;
};

constexpr OpInfo infos[] = {
#define KILN_X(e, t, l, a) {t, l, a},
    KILN_OPS(KILN_X)
#undef KILN_X
};
static_assert(std::size(infos) == op_count);

constexpr std::array<std::string_view, 10> reduce_kinds = {"sum", "prod",   "max",    "min", "any",
                                                           "all", "argmax", "argmin", "fma", "dot"};
constexpr std::array<std::string_view, 8> atomic_kinds = {"add", "min", "max",      "and",
                                                          "or",  "xor", "exchange", "compare_exchange"};
constexpr std::array<std::string_view, 4> pad_modes = {"constant", "edge", "reflect", "wrap"};
constexpr std::array<std::string_view, 3> mark_kinds = {"independent", "stop", "again"};
constexpr std::array<std::string_view, 6> range_kinds = {"loop", "reduce", "vector", "thread", "unroll", "workgroup"};

template <class E>
std::optional<E> find(std::span<const std::string_view> names, std::string_view s) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == s) return static_cast<E>(i);
  return std::nullopt;
}

}  // namespace

std::string_view name(Op op) { return nth(infos, op).name; }
std::string_view levels(Op op) { return nth(infos, op).levels; }
int arity(Op op) { return nth(infos, op).arity; }

std::optional<Op> op_from_name(std::string_view s) {
  for (std::size_t i = 0; i < op_count; ++i)
    if (infos[i].name == s) return static_cast<Op>(i);
  return std::nullopt;
}

std::string_view name(ReduceKind k) { return nth(reduce_kinds, k); }
std::optional<ReduceKind> reduce_kind_from_name(std::string_view s) { return find<ReduceKind>(reduce_kinds, s); }
std::string_view name(AtomicKind k) { return nth(atomic_kinds, k); }
std::optional<AtomicKind> atomic_kind_from_name(std::string_view s) { return find<AtomicKind>(atomic_kinds, s); }
Op operation_of(ReduceKind k) {
  switch (k) {
    case ReduceKind::sum: return Op::ADD;
    case ReduceKind::prod: return Op::MUL;
    case ReduceKind::max: return Op::MAX;
    case ReduceKind::min: return Op::MIN;
    case ReduceKind::any: return Op::OR;
    case ReduceKind::all: return Op::AND;
    case ReduceKind::fma:
    case ReduceKind::dot: return Op::FMA;
    default: throw std::logic_error("argmax and argmin are no operation");
  }
}
Op operation_of(AtomicKind k) {
  switch (k) {
    case AtomicKind::add: return Op::ADD;
    case AtomicKind::min: return Op::MIN;
    case AtomicKind::max: return Op::MAX;
    case AtomicKind::bit_and: return Op::AND;
    case AtomicKind::bit_or: return Op::OR;
    case AtomicKind::bit_xor: return Op::XOR;
    default: throw std::logic_error("an exchange is no operation");
  }
}
std::string_view name(PadMode m) { return nth(pad_modes, m); }
std::optional<PadMode> pad_mode_from_name(std::string_view s) { return find<PadMode>(pad_modes, s); }
std::string_view name(MarkKind k) { return nth(mark_kinds, k); }
std::optional<MarkKind> mark_kind_from_name(std::string_view s) { return find<MarkKind>(mark_kinds, s); }
std::string_view name(RangeKind k) { return nth(range_kinds, k); }
std::optional<RangeKind> range_kind_from_name(std::string_view s) { return find<RangeKind>(range_kinds, s); }

}  // namespace kiln::compiler
