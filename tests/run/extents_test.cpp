// One object works for every extent, and after an error outputs are unchanged.
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/interp/interpret.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "tests/run/compiled.h"

namespace kiln::compiler::testing {
namespace {

// y[i] = exp(x[i]) * a + x[i] / sum(x); s = sum(x)
struct Sample {
  Graph g;
  Program p;
  Sample() {
    Builder b(g);
    p.name = "sample";
    const Id n = g.sym("N");
    p.symbols = {{"N", 0, std::int64_t{1} << 40, 1}};
    p.params = {{"a", Direction::in, DType::f32, {}, {}},
                {"x", Direction::in, DType::f32, {n}, {}},
                {"y", Direction::out, DType::f32, {n}, {}},
                {"s", Direction::out, DType::f32, {}, {}}};
    std::vector<Id> v;
    for (int i = 0; i < 4; ++i) v.push_back(b.param(i, p.params[static_cast<std::size_t>(i)]));
    const std::int64_t axis[] = {0};
    const Id sum = b.reduce(ReduceKind::sum, v[1], axis);
    const Id y = b.elementwise(
        Op::ADD, {b.elementwise(Op::MUL, {b.elementwise(Op::EXP, {v[1]}), v[0]}), b.elementwise(Op::FDIV, {v[1], sum})});
    const Id stores[] = {b.store(v[2], p.params[2], y), b.store(v[3], p.params[3], sum)};
    p.sink = g.make(Op::SINK, DType::none, stores);
  }
};

Array floats(std::int64_t n) {
  Array a{DType::f32, {n}, std::vector<std::byte>(static_cast<std::size_t>(n) * 4)};
  for (std::int64_t i = 0; i < n; ++i) {
    const float v = static_cast<float>(i * 7919 % 1000) * 0.01f - 4.0f;
    std::memcpy(a.data.data() + 4 * i, &v, 4);
  }
  return a;
}

Array scalar_array(float v) {
  Array a{DType::f32, {}, std::vector<std::byte>(4)};
  std::memcpy(a.data.data(), &v, 4);
  return a;
}

TEST(Extents, OneObjectServesEveryN) {
  Sample t;
  const CompiledProgram compiled(t.g, t.p);
  for (std::int64_t n : {0, 1, 7, 1000, 1'000'003}) {
    const Array arguments[] = {scalar_array(0.5f), floats(n), {DType::f32, {n}, {}}, {DType::f32, {}, {}}};
    const auto expected = interpret(t.g, t.p, arguments);
    for (int workers : {1, 2, 3}) {
      const auto got = compiled(arguments, workers);
      EXPECT_EQ(difference(expected[2], got[2]), "") << "N = " << n << ", workers " << workers;
      EXPECT_EQ(difference(expected[3], got[3]), "") << "N = " << n << ", workers " << workers;
    }
  }
}

TEST(Extents, AConflictNamesExtentArgumentAndBothValues) {
  Sample t;
  const CompiledProgram compiled(t.g, t.p);
  std::vector<float> x(7, 1.0f), y(5, -3.0f);
  float a = 1, s = -4;
  const std::int64_t seven[] = {7}, five[] = {5};
  const kiln_tensor args[] = {{&a, nullptr, nullptr, KILN_F32, 0},
                              {x.data(), seven, nullptr, KILN_F32, 1},
                              {y.data(), five, nullptr, KILN_F32, 1},
                              {&s, nullptr, nullptr, KILN_F32, 0}};
  const kiln_status status = compiled.call(args, nullptr);
  EXPECT_EQ(status.code, KILN_R_CONFLICT);
  char text[200];
  kiln_status_message(compiled.description(), status, text, sizeof text);
  EXPECT_STREQ(text, "R-conflict: program sample: extent N: argument y axis 0 is 5, but argument x axis 0 gave 7");
  EXPECT_EQ(y, std::vector<float>(5, -3.0f));
  EXPECT_EQ(s, -4.0f);
}

// No extent is only a symbol. The extents with halves come first, but do not determine N.
TEST(Extents, LinearExtentsGiveTheirSymbols) {
  Graph g;
  const Program p = read_program(g, R"(program linear
symbol K max 40
in  u8 [N // 2] half
in  u8 [3*N] x
in  u8 [2*N + M] z
in  u8 [40 - K] rest
in  u8 [L*Q + L] l
in  u8 [Q + 1] q
out u8 [3*N] y
out u8 [2*N + M] w
out u8 [K] k
out u8 [L] m
%0 = param x
%1 = neg %0
store y, %1
%2 = param z
%3 = neg %2
store w, %3
%4 = iota u8 [K]
store k, %4
%5 = iota u8 [L]
store m, %5
)");
  const CompiledProgram compiled(g, p);
  const auto bytes = [](std::int64_t n) {
    return Array{DType::u8, {n}, std::vector<std::byte>(static_cast<std::size_t>(n), std::byte{3})};
  };
  const auto arguments = [&](std::int64_t n, std::int64_t m, std::int64_t k, std::int64_t l, std::int64_t q) {
    return std::vector<Array>{bytes(n / 2), bytes(3 * n), bytes(2 * n + m), bytes(40 - k), bytes(l * q + l),
                              bytes(q + 1), bytes(3 * n), bytes(2 * n + m), bytes(k),      bytes(l)};
  };
  for (const auto& a : {arguments(0, 0, 0, 0, 0), arguments(5, 2, 40, 3, 4), arguments(7, 0, 1, 1, 0)}) {
    const auto expected = interpret(g, p, a), got = compiled(a);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(difference(expected[i], got[i]), "") << p.params[i].name;
  }
  std::vector<Array> wrong = arguments(5, 2, 40, 3, 4);
  wrong[1] = bytes(16);
  EXPECT_THROW(interpret(g, p, wrong), Diagnostic);
  std::vector<kiln_tensor> args;
  for (Array& a : wrong) args.push_back({a.data.data(), a.extents.data(), nullptr, KILN_U8, 1});
  char text[200];
  kiln_status_message(compiled.description(), compiled.call(args, nullptr), text, sizeof text);
  EXPECT_STREQ(text, "R-conflict: program linear: extent N: argument x axis 0 is 16, but no value fits");
}

// A fact that does not hold is reported before the extents that follow from the symbol: here y would have -1 elements.
TEST(Extents, FactsComeBeforeExtents) {
  Graph g;
  const Program p = read_program(g, R"(program tail
symbol N min 2
in  f32 [N] x
out f32 [N - 2] y
%0 = param x
%1 = slice f32 [N - 2] %0, begin [2], step [1]
store y, %1
)");
  const CompiledProgram compiled(g, p);
  std::vector<float> x(1), y(1, 3.0f);
  const std::int64_t one[] = {1};
  const kiln_tensor args[] = {{x.data(), one, nullptr, KILN_F32, 1}, {y.data(), one, nullptr, KILN_F32, 1}};
  const kiln_status status = compiled.call(args, nullptr);
  EXPECT_EQ(status.code, KILN_R_CONSTRAINT);
  char text[200];
  kiln_status_message(compiled.description(), status, text, sizeof text);
  EXPECT_EQ(std::string_view(text).find("-1"), std::string_view::npos) << text;
  EXPECT_EQ(y, std::vector<float>(1, 3.0f));
}

}  // namespace
}  // namespace kiln::compiler::testing
