// Index values become i32 only if neither they nor their operands can overflow.
#include <gtest/gtest.h>

#include "compiler/lower/index_dtype.h"
#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

constexpr std::int64_t two31 = std::int64_t{1} << 31;

struct Lowered {
  Graph g;
  Facts facts;
  int narrowest_bits = 32;

  Id symbol(const std::string& name, std::int64_t min, std::int64_t max) {
    facts.syms[name] = {min, max, 1};
    return g.sym(name);
  }
  Id op(Op o, Id a, Id b) { return g.make(o, DType::index, {a, b}, {}, {}, g.lanes(a)); }
  Id buffer() { return g.make(Op::BUFFER, DType::f32, {}, {0}); }
  Id ramp(Id base, std::int64_t stride, int lanes) { return g.make(Op::RAMP, DType::index, {base}, {stride}, {}, lanes); }
  Id splat(Id base, int lanes) { return g.make(Op::BROADCAST, DType::index, {base}, {}, {}, lanes); }
  Id load(Id at) { return g.make(Op::LOAD, DType::f32, {buffer(), at}, {}, {}, g.lanes(at)); }
  Id position(Id at) { return g.make(Op::CAST, DType::i64, {at}, {}, {}, g.lanes(at)); }

  // The value that replaces `x` where it is converted to i64, without that conversion.
  Id lowered(Id x) {
    const Id sink = g.make(Op::SINK, DType::none, {position(x)});
    return g.src(g.src(index_dtype(g, sink, facts, narrowest_bits), 0), 0);
  }
  DType type(Id x) { return g.dtype(lowered(x)); }
};

TEST(IndexDtype, DivisionUpToTheLastI32) {
  Lowered t;
  const Id three = t.g.index(3);
  EXPECT_EQ(t.type(t.op(Op::FLOORDIV, t.symbol("A", 0, two31 - 1), three)), DType::i32);
  EXPECT_EQ(t.type(t.op(Op::FLOORDIV, t.symbol("B", 0, two31), three)), DType::i64);
  EXPECT_EQ(t.type(t.op(Op::FLOORMOD, t.symbol("C", -two31, 0), three)), DType::i32);
  EXPECT_EQ(t.type(t.op(Op::FLOORMOD, t.symbol("D", -two31 - 1, 0), three)), DType::i64);
  EXPECT_EQ(t.type(t.op(Op::FLOORDIV, t.symbol("E", 0, two31 - 1), t.symbol("F", 1, two31))), DType::i64);
  EXPECT_EQ(t.type(t.op(Op::FLOORDIV, t.g.sym("NoFacts"), three)), DType::i64);
}

// The result fits i32, but its operands do not.
TEST(IndexDtype, IntermediatesCount) {
  Lowered t;
  const Id n = t.symbol("N", 0, 65536), c = t.g.index(32768);
  EXPECT_EQ(t.type(t.op(Op::FLOORDIV, t.op(Op::MUL, n, c), c)), DType::i64);  // 2^31 in between
  const Id below = t.symbol("M", 0, 65535);
  EXPECT_EQ(t.type(t.op(Op::FLOORDIV, t.op(Op::MUL, below, c), c)), DType::i32);  // 2^31 - 32768
  const Id negative = t.op(Op::MUL, n, t.g.index(-32768));
  EXPECT_EQ(t.type(t.op(Op::FLOORMOD, negative, t.g.index(7))), DType::i32);  // -2^31
  EXPECT_EQ(t.type(t.op(Op::FLOORMOD, t.op(Op::SUB, negative, t.g.index(1)), t.g.index(7))), DType::i64);
}

TEST(IndexDtype, LanesReachBeyondTheirBase) {
  Lowered t;
  const Id edge = t.symbol("E", 0, two31 - 8), beyond = t.symbol("B", 0, two31 - 7);
  EXPECT_EQ(t.type(t.ramp(edge, 1, 8)), DType::i32);
  EXPECT_EQ(t.type(t.ramp(beyond, 1, 8)), DType::i64);
  EXPECT_EQ(t.type(t.ramp(t.symbol("S", 0, 10), -(two31 / 4), 8)), DType::i64);
  EXPECT_EQ(t.type(t.op(Op::FLOORMOD, t.ramp(edge, 1, 8), t.g.constant(DType::index, 100, 8))), DType::i32);
  EXPECT_EQ(t.type(t.op(Op::FLOORMOD, t.ramp(beyond, 1, 8), t.g.constant(DType::index, 100, 8))), DType::i64);
}

TEST(IndexDtype, ScalarsAreAddresses) {
  Lowered t;
  const Id n = t.symbol("N", 0, 100);
  EXPECT_EQ(t.type(n), DType::i64);
  EXPECT_EQ(t.type(t.op(Op::ADD, n, t.g.index(1))), DType::i64);
  EXPECT_EQ(t.type(t.op(Op::MUL, t.op(Op::FLOORDIV, n, t.g.index(3)), n)), DType::i64);
}

TEST(IndexDtype, DivisionOfNaturalNumbersIsUnsigned) {
  Lowered t;
  const auto quotient = [&](std::int64_t min, std::int64_t divisor) {
    return t.lowered(t.op(Op::FLOORDIV, t.symbol("N" + std::to_string(min), min, 100), t.g.index(divisor)));
  };
  EXPECT_EQ(t.g.op(quotient(-1, 3)), Op::FLOORDIV);
  EXPECT_EQ(t.g.op(quotient(0, -3)), Op::FLOORDIV);
  EXPECT_EQ(t.g.op(quotient(0, 0)), Op::FLOORDIV);
  const Id natural = quotient(0, 3);
  ASSERT_EQ(t.g.op(natural), Op::CAST);
  EXPECT_EQ(t.g.op(t.g.src(natural, 0)), Op::CDIV);
  EXPECT_EQ(t.g.dtype(t.g.src(natural, 0)), DType::u32);
}

TEST(IndexDtype, WideOnRequest) {
  Lowered t;
  t.narrowest_bits = 64;
  EXPECT_EQ(t.type(t.op(Op::FLOORDIV, t.symbol("N", -5, 100), t.g.index(3))), DType::i64);
  EXPECT_EQ(t.type(t.ramp(t.symbol("N", 0, 100), 2, 8)), DType::i64);
}

// One consumer of each kind: the type that it gets. Only symbols remain index values.
TEST(IndexDtype, Consumers) {
  Lowered t;
  Graph& g = t.g;
  const Id n = t.symbol("N", 0, 1000), huge = t.symbol("H", 0, two31);
  const auto consumed = [&](Id consumer, std::size_t source) {
    const Id made = g.src(index_dtype(g, g.make(Op::SINK, DType::none, {consumer}), t.facts, 32), 0);
    const Id roots[] = {made};
    for (const Id id : g.reachable(roots)) EXPECT_TRUE(g.dtype(id) != DType::index || g.op(id) == Op::SYM) << name(g.op(id));
    return g.dtype(g.src(made, source));
  };
  const Id eights = g.constant(DType::index, 8, 4);
  const Id lanes = t.op(Op::FLOORMOD, t.ramp(n, 1, 4), eights), wide = t.op(Op::FLOORMOD, t.ramp(huge, 1, 4), eights);
  EXPECT_EQ(consumed(t.load(n), 1), DType::i64);
  EXPECT_EQ(consumed(t.load(t.ramp(n, 1, 4)), 1), DType::i64) << "one address";
  EXPECT_EQ(consumed(t.load(t.ramp(n, 5, 4)), 1), DType::i64) << "one address and constant distances";
  EXPECT_EQ(consumed(t.load(lanes), 1), DType::i32);
  EXPECT_EQ(consumed(t.load(wide), 1), DType::i64);
  const Id value = g.constant(DType::f32, 0, 4);
  EXPECT_EQ(consumed(g.make(Op::STORE, DType::none, {t.buffer(), lanes, value}), 1), DType::i32);
  const auto less = [&](Id a, Id b) { return g.make(Op::LT, DType::boolean, {a, b}, {}, {}, g.lanes(a)); };
  EXPECT_EQ(consumed(less(lanes, t.splat(n, 4)), 1), DType::i32);
  EXPECT_EQ(consumed(less(lanes, t.splat(huge, 4)), 0), DType::i64);
  EXPECT_EQ(consumed(less(n, g.index(5)), 0), DType::i64);
  EXPECT_EQ(consumed(g.make(Op::CAST, DType::f32, {lanes}, {}, {}, 4), 0), DType::i32);
  const Id range = g.make(Op::RANGE, DType::index, {n}, {0, 0});
  const Id carry = g.make(Op::CARRY, DType::index, {range, g.index(0)}, {0});
  const Id loop = g.make(Op::FOR, DType::none, {range, g.index(0), n, g.index(0), t.op(Op::ADD, carry, range)}, {1, 1});
  EXPECT_EQ(consumed(t.load(g.make(Op::GET, DType::index, {loop}, {0})), 1), DType::i64);
}

// y[i] = x[(i * 3 - 5) mod N] for every width that N's fact allows gives the same results as in i64.
TEST(IndexDtype, SameElements) {
  for (const std::int64_t max : {std::int64_t{100}, two31 / 4, std::int64_t{1} << 40}) {
    OneKernel k;
    const Id n = k.symbol("N", max);
    const int x = k.buffer(DType::f32, n), y = k.buffer(DType::f32, n);
    const Id i = k.range(n);
    const Id at = k.index(Op::SUB, k.index(Op::MUL, i, k.g.index(3)), k.g.index(5));
    k.store(y, i, k.load(x, k.index(Op::FLOORMOD, at, n)), {i});
    for (const std::int64_t size : {1, 7, 8, 100}) k.expect_same({{"N", size}});
  }
}

}  // namespace
}  // namespace kiln::compiler::testing
