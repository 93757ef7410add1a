// Binding of symbols from arguments, errors in arguments, updates in place, elementwise operations on whole arrays.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "tests/unit/interp_harness.h"

namespace kiln::compiler::testing {
namespace {

// y[N] = x[N] + x2[2N + 1], cut to N, with facts on N.
struct Fixture {
  Graph g;
  Program p;

  Fixture() {
    Builder b(g);
    const Id n = g.sym("N");
    const Id longer = index_add(g, index_mul(g, n, g.index(2)), g.index(1));
    p.name = "f";
    p.symbols = {{"N", 2, 1000, 2}};
    p.params = {{"x", Direction::in, DType::f32, {n}, {}},
                {"w", Direction::in, DType::f32, {longer}, {}},
                {"y", Direction::out, DType::f32, {n}, {}}};
    const Id begin[] = {g.index(1)}, extents[] = {n};
    const std::int64_t step[] = {2};
    const Id cut = b.slice(b.param(1, p.params[1]), begin, step, extents);
    const Id sum = b.elementwise(Op::ADD, {b.param(0, p.params[0]), cut});
    const Id stores[] = {b.store(b.param(2, p.params[2]), p.params[2], sum)};
    p.sink = g.make(Op::SINK, DType::none, stores);
  }

  std::string error(const std::vector<Array>& arguments) {
    try {
      interpret(g, p, arguments);
    } catch (const Diagnostic& d) {
      return d.id();
    }
    return "";
  }
};

Array floats(std::int64_t n) {
  std::vector<float> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(static_cast<float>(i));
  return array({n}, v);
}

TEST(InterpBind, SymbolsComeFromExtents) {
  Fixture f;
  const Array out{DType::f32, {4}, {}};
  EXPECT_EQ(values<float>(interpret(f.g, f.p, std::vector<Array>{floats(4), floats(9), out}).back()),
            std::vector<float>({1, 4, 7, 10}));
  EXPECT_EQ(bind_symbols(f.g, f.p, std::vector<Array>{floats(4), floats(9), out}).at("N"), 4);
}

TEST(InterpBind, LinearExtentsAreSolved) {
  Fixture f;
  f.p.params.erase(f.p.params.begin());  // only the extent 2N + 1 is left to determine N
  f.p.params.pop_back();
  f.p.sink = f.g.make(Op::SINK, DType::none, std::initializer_list<Id>{});
  EXPECT_EQ(bind_symbols(f.g, f.p, std::vector<Array>{floats(21)}).at("N"), 10);
  EXPECT_THROW(bind_symbols(f.g, f.p, std::vector<Array>{floats(20)}), Diagnostic);
}

TEST(InterpBind, WrongArgumentsAreNamed) {
  Fixture f;
  const Array out{DType::f32, {4}, {}};
  EXPECT_EQ(f.error({floats(4), floats(9)}), "E-argument");
  EXPECT_EQ(f.error({floats(4), floats(10), out}), "E-conflict");
  EXPECT_EQ(f.error({floats(4), floats(9), {DType::f32, {6}, {}}}), "E-conflict");
  EXPECT_EQ(f.error({floats(3), floats(7), {DType::f32, {3}, {}}}), "E-fact");
  EXPECT_EQ(f.error({floats(0), floats(1), {DType::f32, {0}, {}}}), "E-fact");
  EXPECT_EQ(f.error({array<double>({4}, {1, 2, 3, 4}), floats(9), out}), "E-argument");
  EXPECT_EQ(f.error({array<float>({2, 2}, {1, 2, 3, 4}), floats(9), out}), "E-argument");
  EXPECT_EQ(f.error({array<float>({4}, {1, 2, 3}), floats(9), out}), "E-argument");
}

// Both parameters read their values at entry, in any order of the stores.
TEST(InterpBind, UpdatesReadTheEntryValues) {
  Graph g;
  Builder b(g);
  Program p;
  p.name = "swap";
  p.params = {{"a", Direction::inout, DType::i32, {g.index(2)}, {}}, {"b", Direction::inout, DType::i32, {g.index(2)}, {}}};
  const Id x = b.param(0, p.params[0]), y = b.param(1, p.params[1]);
  const Id stores[] = {b.store(x, p.params[0], y), b.store(y, p.params[1], x)};
  p.sink = g.make(Op::SINK, DType::none, stores);
  const auto out = interpret(g, p, std::vector<Array>{array<std::int32_t>({2}, {1, 2}), array<std::int32_t>({2}, {3, 4})});
  EXPECT_EQ(values<std::int32_t>(out[0]), std::vector<std::int32_t>({3, 4}));
  EXPECT_EQ(values<std::int32_t>(out[1]), std::vector<std::int32_t>({1, 2}));
}

TEST(InterpElementwise, ScalarsBroadcastAndConditionsSelect) {
  const Array y = evaluate({array<std::int32_t>({2, 3}, {5, -1, 0, 7, 2, -9})}, [](Builder& b, const auto& in) {
    const Id two = b.constant(DType::i32, 2);
    const Id condition = b.elementwise(Op::LT, {in[0], two});
    return b.elementwise(Op::WHERE, {condition, two, in[0]});
  });
  EXPECT_EQ(values<std::int32_t>(y), std::vector<std::int32_t>({5, 2, 2, 7, 2, 2}));
}

// In f16 every operation rounds: 1 + 2^-11 + 2^-11 stays 1. One rounding at the end would give 1 + 2^-10.
TEST(InterpElementwise, NarrowFloatsRoundAfterEachOperation) {
  const Array one = array<std::uint16_t>({1}, {0x3c00}, DType::f16), tiny = array<std::uint16_t>({1}, {0x1000}, DType::f16);
  const Array y = evaluate({one, tiny}, [](Builder& b, const auto& in) {
    return b.elementwise(Op::ADD, {b.elementwise(Op::ADD, {in[0], in[1]}), in[1]});
  });
  EXPECT_EQ(values<std::uint16_t>(y), std::vector<std::uint16_t>({0x3c00}));
}

TEST(InterpElementwise, ExtentsAreValues) {
  Graph g;
  Builder b(g);
  Program p;
  p.name = "count";
  p.symbols = {{"N", 0, 1000, 1}};
  p.params = {{"x", Direction::in, DType::f32, {g.sym("N")}, {}}, {"y", Direction::out, DType::f32, {}, {}}};
  const Id stores[] = {b.store(b.param(1, p.params[1]), p.params[1], b.extent_value(DType::f32, g.sym("N")))};
  p.sink = g.make(Op::SINK, DType::none, stores);
  EXPECT_EQ(values<float>(interpret(g, p, std::vector<Array>{floats(37), {DType::f32, {}, {}}}).back()),
            std::vector<float>({37}));
}

// A chain of this length would overflow the stack of recursive code, and memory if all arrays were kept.
TEST(InterpElementwise, LongChainsFreeDeadArrays) {
  const Array y = evaluate({array<std::int32_t>({1024}, std::vector<std::int32_t>(1024, 1))}, [](Builder& b, const auto& in) {
    Id v = in[0];
    for (int i = 0; i < 20000; ++i) v = b.elementwise(Op::ADD, {v, in[0]});
    return v;
  });
  EXPECT_EQ(values<std::int32_t>(y).front(), 20001);
}

}  // namespace
}  // namespace kiln::compiler::testing
