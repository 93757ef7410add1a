#include "compiler/lower/integer_value.h"

#include <algorithm>

#include "compiler/ir/index_operation.h"

namespace kiln::compiler {
namespace {

bool is_integral(DType d) { return d == DType::index || d == DType::boolean || is_int(d); }
bool is_unsigned(DType d) { return is_int(d) && !is_signed_int(d); }

// The bits as a value of this type.
std::int64_t wrapped(DType d, std::uint64_t v) {
  if (d == DType::boolean) return (v & 1) != 0;
  const auto whole = static_cast<std::int64_t>(v);
  if (d == DType::index || bits(d) == 64) return whole;
  const int unused = 64 - bits(d);
  return is_signed_int(d) ? whole << unused >> unused : whole & ((std::int64_t{1} << bits(d)) - 1);
}

bool less(DType d, std::int64_t a, std::int64_t b) {
  return is_unsigned(d) ? static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b) : a < b;
}

std::int64_t divided(Op op, DType d, std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (is_unsigned(d)) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return wrapped(d, op == Op::CDIV || op == Op::FLOORDIV ? x / y : x % y);
  }
  return wrapped(d, static_cast<std::uint64_t>(*evaluate_index(op, a, b)));
}

std::int64_t shifted(Op op, DType d, std::int64_t a, std::int64_t by) {
  const auto count = static_cast<unsigned>(by) & (static_cast<unsigned>(bits(d)) - 1);
  if (op == Op::SHL) return wrapped(d, static_cast<std::uint64_t>(a) << count);
  return is_unsigned(d) ? wrapped(d, static_cast<std::uint64_t>(a) >> count) : a >> count;
}

std::optional<std::int64_t> binary(Op op, DType d, DType of, std::int64_t a, std::int64_t b) {
  if (of == DType::index) return op == Op::SHL || op == Op::SHR ? std::nullopt : evaluate_index(op, a, b);
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  switch (op) {
    case Op::ADD:
    case Op::SUB:
    case Op::MUL: return wrapped(d, op == Op::ADD ? x + y : op == Op::SUB ? x - y : x * y);
    case Op::CDIV:
    case Op::CMOD:
    case Op::FLOORDIV:
    case Op::FLOORMOD: return divided(op, d, a, b);
    case Op::MIN: return less(d, a, b) ? a : b;
    case Op::MAX: return less(d, a, b) ? b : a;
    case Op::AND: return wrapped(d, x & y);
    case Op::OR: return wrapped(d, x | y);
    case Op::XOR: return wrapped(d, x ^ y);
    case Op::SHL:
    case Op::SHR: return shifted(op, d, a, b);
    case Op::LT: return less(of, a, b);
    case Op::LE: return !less(of, b, a);
    case Op::EQ: return a == b;
    case Op::NE: return a != b;
    default: return std::nullopt;
  }
}

}  // namespace

bool has_integer_value(const Graph& g, Id id) {
  const Op op = g.op(id);
  if (!is_integral(g.dtype(id)) || g.lanes(id) != 1) return false;
  if (op == Op::CONST) return true;
  if (!is_elementwise(op) || op == Op::BITCAST) return false;
  return std::ranges::all_of(g.src(id), [&](Id s) { return is_integral(g.dtype(s)); });
}

std::optional<std::int64_t> integer_value(const Graph& g, Id id, std::span<const std::int64_t> x) {
  const Op op = g.op(id);
  const DType d = g.dtype(id);
  const auto unsigned_value = [&](std::size_t i) { return static_cast<std::uint64_t>(x[i]); };
  switch (op) {
    case Op::CONST: return wrapped(d, static_cast<std::uint64_t>(g.value(id)));
    case Op::CAST: return d == DType::boolean ? x[0] != 0 : wrapped(d, unsigned_value(0));
    case Op::NEG: return wrapped(d, 0 - unsigned_value(0));
    case Op::NOT: return wrapped(d, ~unsigned_value(0));
    case Op::WHERE: return x[0] != 0 ? x[1] : x[2];
    case Op::FMA: return wrapped(d, unsigned_value(0) * unsigned_value(1) + unsigned_value(2));
    default: return is_binary(op) ? binary(op, d, g.dtype(g.src(id, 0)), x[0], x[1]) : std::nullopt;
  }
}

}  // namespace kiln::compiler
