// The cost of index arithmetic, of networks of minima and maxima, and of truth values as floats, in machine code; the sign
// extension of i32 addresses.
#include <algorithm>
#include <bit>
#include <numeric>
#include <regex>
#include <string>
#include <vector>

#include "tests/unit/codegen_harness.h"

namespace kiln::compiler::test {
namespace {

std::size_t count(const std::string& assembly, const std::string& instruction) {
  const std::regex pattern("\\b" + instruction + "\\b");
  return static_cast<std::size_t>(std::distance(std::sregex_iterator(assembly.begin(), assembly.end(), pattern), {}));
}

std::string assembly(HandProgram& p, const Target& target = {}) {
  return compile(p, {.object = false, .llvm_ir = false, .assembly = true}, target).assembly;
}

// LLVM multiplies by magic numbers for every width, also in vectors. So lowering leaves constant divisors as they are.
TEST(CodegenIndex, NoDivisionInstructionForConstantDivisors) {
  for (const DType d : {DType::i8, DType::u8, DType::i16, DType::u16, DType::i32, DType::u32, DType::i64, DType::u64})
    for (const int lanes : {1, 4, 16})
      for (const Op op : {Op::CDIV, Op::CMOD, Op::FLOORDIV, Op::FLOORMOD}) {
        HandProgram p("d");
        const Id n = p.symbol("N"), i = p.range(n), at = lanes == 1 ? i : p.ramp(i, lanes);
        const int x = p.param("x", d, Direction::in, n);
        std::vector<Id> stores;
        for (const std::int64_t divisor : {1, 2, 3, 7, 10, 64, 100, -1, -3, -8}) {
          if (divisor < 0 && is_unsigned_int(d)) continue;
          const int y = p.param("y" + std::to_string(stores.size()), d, Direction::out, n);
          const Id by = p.g.constant(d, static_cast<std::uint64_t>(divisor), lanes);
          const Id value = p.op(op, d, {p.load(x, at), by}, {}, lanes);
          stores.push_back(p.store(y, at, value));
        }
        p.kernel({p.loop(i, p.g.sym("$begin"), p.g.sym("$end"), lanes, {}, {}, stores)}, n);
        ASSERT_EQ(count(assembly(p), "i?div[bwlq]?"), 0u) << name(op) << ' ' << name(d) << 'x' << lanes;
      }
}

// y[i] = x[index], where lane i has index i * 5 - 8 in the given type. x also has elements at negative indices.
HandProgram gather(DType index_type, DType element) {
  HandProgram p("g");
  const int lanes = 8;
  const int x = p.param("x", element, Direction::in, p.g.index(64)), y = p.param("y", element, Direction::out, p.g.index(16));
  const Id i = p.range(p.g.index(16));
  const Id lane = p.op(Op::RAMP, index_type, {p.op(Op::CAST, index_type, {i})}, {1}, lanes);
  const Id five = p.g.constant(index_type, 5, lanes), eight = p.g.constant(index_type, 8, lanes);
  const Id at = p.op(Op::SUB, index_type, {p.op(Op::MUL, index_type, {lane, five}, {}, lanes), eight}, {}, lanes);
  p.kernel({p.loop(i, p.g.sym("$begin"), p.g.sym("$end"), lanes, {}, {}, {p.store(y, p.ramp(i, lanes), p.load(x, at))})},
           p.g.index(16));
  return p;
}

// For x86-64-v4. For x86-64-v3, LLVM loads lane by lane, which is as fast as a gather on its machines.
TEST(CodegenIndex, GatherIndicesOf32BitsFillOneRegister) {
  Target v4;
  v4.cpu = "x86-64-v4";
  HandProgram narrow = gather(DType::i32, DType::f32), wide = gather(DType::i64, DType::f32);
  const std::string a = assembly(narrow, v4), b = assembly(wide, v4);
  EXPECT_EQ(count(a, "vgatherdps"), 1u) << a;
  EXPECT_EQ(count(a, "vgatherqps"), 0u);
  EXPECT_EQ(count(a, "vpmovsxdq"), 0u) << "indices are not widened";
  EXPECT_EQ(count(b, "vgatherqps"), 2u) << b;
}

TEST(CodegenIndex, NegativeIndicesReachBack) {
  for (const DType type : {DType::i32, DType::i64}) {
    HandProgram p = gather(type, DType::f64);
    const Loaded l(p);
    std::vector<double> x(100), y(16);
    std::iota(x.begin(), x.end(), 0.0);
    l.run(0, {x.data() + 20, y.data()}, {}, 0, 16);
    for (int i = 0; i < 16; ++i) ASSERT_EQ(y[static_cast<std::size_t>(i)], 20 + 5 * i - 8) << name(type);
  }
}

// The median of five neighbours, by exchanges: MIN and MAX that use each other's values are one instruction each
// (extremum_networks).
TEST(CodegenNetworks, OneInstructionForEachExtremum) {
  std::size_t extrema = 0;
  const auto median = [&](const std::string& cpu, int lanes) {
    HandProgram p("median");
    const Id n = p.symbol("N"), size = p.index_op(Op::ADD, n, p.g.index(4));
    const int x = p.param("x", DType::f32, Direction::in, size), y = p.param("y", DType::f32, Direction::out, n);
    const Id i = p.range(n);
    std::vector<Id> v;
    for (std::int64_t k = 0; k < 5; ++k) v.push_back(p.load(x, p.ramp(p.index_op(Op::ADD, i, p.g.index(k)), lanes)));
    for (std::size_t round = 0; round < 5; ++round)
      for (std::size_t k = round % 2; k + 1 < 5; k += 2) {
        const Id a = v[k], b = v[k + 1];
        v[k] = p.op(Op::MIN, DType::f32, {a, b}, {}, lanes);
        v[k + 1] = p.op(Op::MAX, DType::f32, {a, b}, {}, lanes);
      }
    const Id middle[] = {v[2]};
    extrema = static_cast<std::size_t>(
        std::ranges::count_if(p.g.reachable(middle), [&](Id id) { return p.g.op(id) == Op::MIN || p.g.op(id) == Op::MAX; }));
    p.kernel({p.loop(i, p.g.sym("$begin"), p.g.sym("$end"), lanes, {}, {}, {p.store(y, p.ramp(i, lanes), v[2])})}, n, lanes);
    return assembly(p, target_named(cpu));
  };
  const std::string v4 = median("x86-64-v4", 16), v3 = median("x86-64-v3", 8);
  EXPECT_GT(extrema, 10u);
  EXPECT_EQ(count(v4, "vrangeps"), extrema) << v4;
  EXPECT_EQ(count(v4, "v(min|max)ps"), 0u) << v4;
  EXPECT_EQ(count(v3, "vp(min|max)sd"), extrema) << v3;
  EXPECT_EQ(count(v3, "v(min|max)ps"), 0u) << v3;
}

// max(x, y) - c, twice, with the same x: an extremum and half a test for NaN, as no user tells the zeros apart (zero_signs). It
// does not matter which operand is loaded first.
TEST(CodegenExtrema, OneTestOfASharedOperand) {
  const auto chain = [](const std::string& cpu, int lanes, bool shared_first) {
    HandProgram p("chain");
    const Id n = p.symbol("N");
    const int x = p.param("x", DType::f32, Direction::in, n), y = p.param("y", DType::f32, Direction::inout, n);
    const Id i = p.range(n), one = p.load(x, p.ramp(i, lanes)), other = p.load(y, p.ramp(i, lanes)),
             c = p.g.constant(DType::f32, std::bit_cast<std::uint32_t>(0.5F), lanes), shared = shared_first ? one : other;
    Id v = shared_first ? other : one;
    for (int k = 0; k < 2; ++k)
      v = p.op(Op::SUB, DType::f32, {p.op(Op::MAX, DType::f32, {v, shared}, {}, lanes), c}, {}, lanes);
    p.kernel({p.loop(i, p.g.sym("$begin"), p.g.sym("$end"), lanes, {}, {}, {p.store(y, p.ramp(i, lanes), v)})}, n, lanes);
    return assembly(p, target_named(cpu));
  };
  for (const auto& [cpu, lanes] : {std::pair("x86-64-v4", 16), std::pair("x86-64-v3", 8)})
    for (const bool shared_first : {true, false}) {
      const std::string a = chain(cpu, lanes, shared_first);
      EXPECT_EQ(count(a, "vmaxps"), 2u) << a;
      EXPECT_EQ(count(a, "vcmp(un)?ordps"), 1u) << a;
      EXPECT_EQ(count(a, "vrangeps|vpternlog"), 0u) << a;
    }
}

// A truth value as a float has no branch: the code has as many jumps as that of an integer.
TEST(CodegenCasts, NoBranchForTruthValues) {
  const auto jumps = [](DType from, DType to) {
    HandProgram p("c");
    const Id n = p.symbol("N");
    const int x = p.param("x", from, Direction::in, n), y = p.param("y", to, Direction::out, n);
    const Id i = p.range(n), value = p.op(Op::CAST, to, {p.load(x, i)});
    p.kernel({p.loop(i, p.g.sym("$begin"), p.g.sym("$end"), 1, {}, {}, {p.store(y, i, value)})}, n);
    return count(assembly(p, target_named("x86-64-v3")), "j[a-z]+");
  };
  for (const DType to : {DType::f32, DType::f64}) {
    EXPECT_GT(jumps(DType::i32, to), 0u);
    EXPECT_EQ(jumps(DType::boolean, to), jumps(DType::i32, to)) << name(to);
  }
}

// One condition for 64 lanes, which a loop reads, is a vector: no lane is inserted by itself.
TEST(CodegenCasts, OneConditionForAllLanes) {
  const auto inserted = [](const std::string& cpu) {
    HandProgram p("rows");
    const Id n = p.symbol("N"), columns = p.g.index(256);
    const int c = p.param("c", DType::boolean, Direction::in, n), x = p.param("x", DType::boolean, Direction::in, columns),
              y = p.param("y", DType::boolean, Direction::out, p.index_op(Op::MUL, n, columns));
    const Id i = p.range(n), j = p.range(columns), at = p.index_op(Op::ADD, p.index_op(Op::MUL, i, columns), j);
    const Id row = p.op(Op::BROADCAST, DType::boolean, {p.load(c, i)}, {}, 64);
    const Id value = p.op(Op::AND, DType::boolean, {row, p.load(x, p.ramp(j, 64))}, {}, 64);
    const Id inner = p.loop(j, p.g.index(0), columns, 64, {}, {}, {p.store(y, p.ramp(at, 64), value)});
    p.kernel({p.loop(i, p.g.sym("$begin"), p.g.sym("$end"), 1, {}, {}, {inner})}, n);
    return count(assembly(p, target_named(cpu)), "v?pinsr[bwd]");
  };
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) EXPECT_EQ(inserted(cpu), 0u) << cpu;
}

}  // namespace
}  // namespace kiln::compiler::test
