// The values of operations on index values and on conditions, for passes that compute with known indices.
//
// Two evaluators are written separately, because they check this one: compiler/interp/index_value.cpp belongs to the reference
// interpreter, and compiler/proof/evaluate.cpp checks the answers of Z3. docs/explanation/architecture.md names two more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "compiler/index/floor_div.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

inline constexpr std::int64_t max_index_shift = 61;

// Returns give(f). f(a, b) is the value of `a op b`, or of `op a`. Conditions are 0 or 1. A division by 0 gives 0, and the
// least integer divided by -1 wraps to itself. f gives nullopt for a result that does not fit 64 bits, for a shift by a
// negative count or by more than max_index_shift, and for every other operation. WHERE is not here: it needs the value of one
// branch only.
template <class F>
auto with_index_operation(Op op, F give) {
  using Int = std::int64_t;
  using Value = std::optional<Int>;
  constexpr auto product = [](Int a, Int b) -> Value {
    Int v = 0;
    return __builtin_mul_overflow(a, b, &v) ? Value() : Value(v);
  };
  constexpr auto difference = [](Int a, Int b) -> Value {
    Int v = 0;
    return __builtin_sub_overflow(a, b, &v) ? Value() : Value(v);
  };
  constexpr auto is_shift = [](Int count) { return count >= 0 && count <= max_index_shift; };
  switch (op) {
    case Op::ADD:
      return give([](Int a, Int b) -> Value {
        Int v = 0;
        return __builtin_add_overflow(a, b, &v) ? Value() : Value(v);
      });
    case Op::SUB: return give(difference);
    case Op::MUL: return give(product);
    case Op::NEG: return give([=](Int a, Int) -> Value { return difference(0, a); });
    case Op::ABS: return give([=](Int a, Int) -> Value { return a < 0 ? difference(0, a) : a; });
    case Op::FLOORDIV: return give([](Int a, Int b) -> Value { return floor_div(a, b); });
    case Op::FLOORMOD: return give([](Int a, Int b) -> Value { return floor_mod(a, b); });
    case Op::CDIV: return give([](Int a, Int b) -> Value { return b == 0 || b == -1 ? floor_div(a, b) : a / b; });
    case Op::CMOD: return give([](Int a, Int b) -> Value { return b == 0 || b == -1 ? 0 : a % b; });
    case Op::MIN: return give([](Int a, Int b) -> Value { return std::min(a, b); });
    case Op::MAX: return give([](Int a, Int b) -> Value { return std::max(a, b); });
    case Op::SHL: return give([=](Int a, Int b) -> Value { return is_shift(b) ? product(a, Int{1} << b) : Value(); });
    case Op::SHR: return give([=](Int a, Int b) -> Value { return is_shift(b) ? Value(a >> b) : Value(); });
    case Op::AND: return give([](Int a, Int b) -> Value { return a & b; });
    case Op::OR: return give([](Int a, Int b) -> Value { return a | b; });
    case Op::XOR: return give([](Int a, Int b) -> Value { return a ^ b; });
    case Op::LT: return give([](Int a, Int b) -> Value { return a < b; });
    case Op::LE: return give([](Int a, Int b) -> Value { return a <= b; });
    case Op::EQ: return give([](Int a, Int b) -> Value { return a == b; });
    case Op::NE: return give([](Int a, Int b) -> Value { return a != b; });
    case Op::NOT: return give([](Int a, Int) -> Value { return a == 0; });
    default: return give([](Int, Int) -> Value { return std::nullopt; });
  }
}

inline std::optional<std::int64_t> evaluate_index(Op op, std::int64_t a, std::int64_t b) {
  return with_index_operation(op, [&](auto f) { return f(a, b); });
}

}  // namespace kiln::compiler
