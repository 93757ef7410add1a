#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text_index.h"

using namespace kiln::compiler;

namespace {

// The id of the diagnostic that f throws, and its text in `text`; "": none.
template <class F>
std::string thrown(F f, std::string* text = nullptr) {
  try {
    f();
  } catch (const Diagnostic& d) {
    if (text != nullptr) *text = d.what();
    return d.id();
  }
  return "";
}

struct Fixture : testing::Test {
  Graph g;
  Builder b{g};
  Id e(std::string_view text) { return read_index(g, text); }
  std::vector<Id> es(std::initializer_list<std::string_view> texts) {
    std::vector<Id> out;
    for (auto t : texts) out.push_back(e(t));
    return out;
  }
  Id tensor(DType d, std::initializer_list<std::string_view> shape, int slot = 0) {
    return b.param(slot, {"p" + std::to_string(slot), Direction::in, d, es(shape), {}});
  }
  std::string shape(Id x) { return b.shape_text(b.shape_of(x)); }
};

using IndexTest = Fixture;
using BuilderTest = Fixture;

}  // namespace

TEST_F(IndexTest, EqualPolynomialsAreOneNode) {
  EXPECT_EQ(e("2*H*W + N - 1"), e("N + W*2*H - 1"));
  EXPECT_EQ(e("(N + 1) * (N - 1)"), e("N*N - 1"));
  EXPECT_EQ(e("N - N"), g.index(0));
  EXPECT_EQ(e("(2*N + 4) // 2"), e("N + 2"));
  EXPECT_EQ(e("(N + 5) % 4"), e("(N + 1) % 4"));
  EXPECT_EQ(e("2*(N)//2"), index_mul(g, g.index(2), e("(N // 2)")));
  EXPECT_EQ(e("max(N, 3)"), e("max(3, N)"));
  EXPECT_EQ(e("-7 // 2"), g.index(-3));  // the sign applies to the whole term: -(7 // 2)
  EXPECT_EQ(e("(0 - 7) // 2"), g.index(-4));
  EXPECT_EQ(e("N // 0"), g.index(0));
}

TEST_F(IndexTest, TextReadsBack) {
  for (const char* t : {"0", "7", "-3", "N", "2*H*W + N - 1", "-N + 4", "((N + 1) // (2))", "2*((N) // (2)) + 1", "max(M, N)",
                        "((N*N) % (M))", "-2*M*N + 3*M - 5"}) {
    const Id id = e(t);
    const auto text = index_text(g, id);
    ASSERT_TRUE(text) << t;
    EXPECT_EQ(e(*text), id) << t << " became " << *text;
  }
}

TEST_F(IndexTest, NonCanonicalHasNoText) {
  const Id odd = g.make(Op::ADD, DType::index, {g.index(1), g.sym("N")});
  EXPECT_FALSE(index_text(g, odd));
  const Id sub = g.make(Op::SUB, DType::index, {g.sym("N"), g.index(1)});
  EXPECT_FALSE(index_text(g, sub));
}

TEST_F(IndexTest, Overflow) {
  EXPECT_EQ(thrown([&] { e("9223372036854775807 * N * 2"); }), "E-overflow");
  EXPECT_EQ(thrown([&] { e("9223372036854775808"); }), "E-text");
  EXPECT_EQ(thrown([&] { e("9223372036854775807 + 1"); }), "E-overflow");
}

TEST_F(IndexTest, Proofs) {
  const SymbolFacts facts[] = {{"N", 3}};
  EXPECT_TRUE(proves_nonnegative(g, e("N - 3"), facts));
  EXPECT_FALSE(proves_nonnegative(g, e("N - 4"), facts));
  EXPECT_TRUE(proves_nonnegative(g, e("N - 1 - 2*((N + 1) // 2 - 1)"), {}));  // every second element is inside
  EXPECT_TRUE(proves_nonnegative(g, e("N*N - 3*N"), facts));
  EXPECT_TRUE(proves_nonnegative(g, e("3 - N % 4"), {}));
  EXPECT_FALSE(proves_nonnegative(g, e("M - N"), facts));
  const SymbolFacts one[] = {{"N", 1}};
  EXPECT_TRUE(proves_nonnegative(g, e("(N - 3) // 2 + 1"), one));  // N = 1 gives 0: evaluation decides
  EXPECT_FALSE(proves_nonnegative(g, e("(N - 3) // 2 + 1"), {}));
}

// Extents of halves, of tiles and of remainders.
TEST_F(IndexTest, ProofsOfDivisions) {
  for (const char* text : {"(H // 2)*(W // 2)",
                           "M*(K // 2)",
                           "M + K // 2",
                           "(K // 2 + 2)*M",
                           "(H // 2)*(W // 3)*(D // 5)*C",
                           "N - N // 2",
                           "M*N - M*(N // 2)",
                           "H*W - (H // 2)*(W // 2)",
                           "(N + 7) // 8 - N // 8",
                           "8*((N + 7) // 8) - N",
                           "N // 2 - N // 3",
                           "(N // 2) // 3",
                           "N // 2 - (N // 2) // 3",
                           "N // 2 + (M + 1) // 2*K",
                           "N % 4",
                           "N - N % 4",
                           "M*N - M*(N % 4)",
                           "N - N % M",
                           "M - N % M",
                           "M*(N % M)",
                           "max(N, M) - N",
                           "max(N, M)*K - M*K",
                           "N - min(N, M)",
                           "N*K - min(N, M)*K",
                           "min(N // 2, M)*K",
                           "max(N - M, 0)*K",
                           "N // M",
                           "N - N // M",
                           "(N - N // 2) // 2",
                           "((H + 1) // 2)*((W + 1) // 2) - (H // 2)*(W // 2)",
                           "(H + 2*((W + 1) // 2)) // 4"})
    EXPECT_TRUE(proves_nonnegative(g, e(text), {})) << text;
  for (const char* text : {"N // 2 - N", "N // 2 - 1", "(N // 2)*(M // 2) - 1", "N // 3 - N // 2", "N % 4 - 1", "min(N, M) - 1",
                           "N - max(N, M)", "M*(N // 2) - N", "(N - 1) // 2", "N // 2 - (M // 2)", "(N - 3) // 2*M"})
    EXPECT_FALSE(proves_nonnegative(g, e(text), {})) << text;
  const SymbolFacts facts[] = {{"N", 4, 100}, {"M", 1, 8}};
  for (const char* text :
       {"100 - N", "50 - N // 2", "M*(N // 4) - 1", "800 - M*N", "(N - 3)*M - 1", "N // 2 - 2", "N*(100 - N)"})
    EXPECT_TRUE(proves_nonnegative(g, e(text), facts)) << text;
  for (const char* text : {"99 - N", "49 - N // 2", "799 - M*N", "M*(N // 4) - 2"})
    EXPECT_FALSE(proves_nonnegative(g, e(text), facts)) << text;
}

TEST_F(IndexTest, NeededMinima) {
  const auto need = [&](const char* text) {
    std::string s;
    const auto found = minimums_for_nonnegative(g, e(text), {});
    if (!found) return std::string("none");
    for (const SymbolFacts& f : *found) s += std::string(f.name) + std::to_string(f.min);
    return s;
  };
  EXPECT_EQ(need("N"), "");
  EXPECT_EQ(need("N - 5"), "N5");
  EXPECT_EQ(need("3*N - 100"), "N34");
  EXPECT_EQ(need("(N - 3) // 2 + 1"), "N1");
  EXPECT_EQ(need("(N // 4) - 2"), "N8");
  EXPECT_EQ(need("M*N - 1"), "M1N1");
  EXPECT_EQ(need("(M // 2)*N - 1"), "N1M2");
  EXPECT_EQ(need("(M // 2)*(N // 3) - 1"), "N3M2");
  EXPECT_EQ(need("M - N"), "none");
  EXPECT_EQ(need("M + N - 3"), "none");
  EXPECT_EQ(need("4 - N"), "none");
  EXPECT_EQ(need("0 - 1"), "none");
}

TEST_F(BuilderTest, BroadcastMakesMovementExplicit) {
  const Id x = tensor(DType::f32, {"N", "1", "8"}), y = tensor(DType::f32, {"M", "8"}, 1);
  const Id z = b.elementwise(Op::ADD, {x, y});
  EXPECT_EQ(shape(z), "[N, M, 8]");
  EXPECT_EQ(g.op(g.src(z, 0)), Op::EXPAND);
  EXPECT_EQ(g.op(g.src(z, 1)), Op::EXPAND);
  EXPECT_EQ(g.op(g.src(g.src(z, 1), 0)), Op::RESHAPE);
  const Id s = tensor(DType::f32, {}, 2);
  EXPECT_EQ(g.src(b.elementwise(Op::MUL, {x, s}), 1), s);  // rank 0 stays
}

TEST_F(BuilderTest, ShapesOfMovement) {
  const Id x = tensor(DType::f32, {"N", "6"});
  const std::int64_t swap[] = {1, 0}, step[] = {1, -2}, last[] = {1};
  EXPECT_EQ(shape(b.permute(x, swap)), "[6, N]");
  EXPECT_EQ(shape(b.reshape(x, es({"2*N", "3"}))), "[2*N, 3]");
  EXPECT_EQ(shape(b.slice(x, es({"0", "5"}), step, es({"N", "3"}))), "[N, 3]");
  EXPECT_EQ(shape(b.pad(x, b.constant(DType::f32, 0), PadMode::constant, es({"1", "0"}), es({"N + 2", "6"}))), "[N + 2, 6]");
  const Id parts[] = {x, x, x};
  EXPECT_EQ(shape(b.concat(parts, 0)), "[3*N, 6]");
  EXPECT_EQ(shape(b.reduce(ReduceKind::sum, x, last)), "[N]");
  EXPECT_EQ(g.dtype(b.reduce(ReduceKind::argmax, x, last)), DType::i64);
  EXPECT_EQ(shape(b.iota(DType::i32, e("N"))), "[N]");
}

TEST_F(BuilderTest, MistakesHaveIdAndLocation) {
  const Id x = tensor(DType::f32, {"N", "6"}), i = tensor(DType::i32, {"N", "6"}, 1), m = tensor(DType::f32, {"M", "6"}, 2);
  const Id zero = b.constant(DType::f32, 0);
  const std::int64_t two[] = {2}, twice[] = {0, 0}, ones[] = {1, 1}, none[] = {0, 1}, back[] = {1, 0};
  const std::int64_t both[] = {0, 1}, first[] = {0}, last[] = {1};
  g.set_loc({g.intern("a.cpp"), 3, 4});
  std::string text;
  EXPECT_EQ(thrown([&] { b.elementwise(Op::ADD, {x, m}); }, &text), "E-shape");
  EXPECT_EQ(text, "a.cpp:3:4: error: E-shape: `add` expected shapes that broadcast, got [N, 6] and [M, 6]: N against M");
  EXPECT_EQ(thrown([&] { b.elementwise(Op::ADD, {x, i}); }), "E-dtype");
  EXPECT_EQ(thrown([&] { b.elementwise(Op::SQRT, {i}); }), "E-dtype");
  EXPECT_EQ(thrown([&] { b.elementwise(Op::WHERE, {x, x, x}); }), "E-dtype");
  EXPECT_EQ(thrown([&] { b.cast(x, DType::index); }), "E-dtype");
  EXPECT_EQ(thrown([&] { b.bitcast(x, DType::f64); }), "E-dtype");
  EXPECT_EQ(thrown([&] { b.reshape(x, es({"N", "5"})); }), "E-reshape");
  EXPECT_EQ(thrown([&] { b.expand(x, es({"N", "12"})); }), "E-shape");
  EXPECT_EQ(thrown([&] { b.permute(x, twice); }), "E-axis");
  EXPECT_EQ(thrown([&] { b.reduce(ReduceKind::sum, x, two); }), "E-axis");
  EXPECT_EQ(thrown([&] { b.reduce(ReduceKind::sum, x, back); }), "E-axis");
  EXPECT_EQ(thrown([&] { b.reduce(ReduceKind::argmin, x, both); }), "E-axis");
  EXPECT_EQ(thrown([&] { b.reduce(ReduceKind::any, x, {}); }), "E-dtype");
  EXPECT_EQ(thrown([&] { b.reduce(ReduceKind::dot, x, last); }), "E-shape");
  EXPECT_EQ(thrown([&] { b.scan(ReduceKind::sum, x, 2); }), "E-axis");
  EXPECT_EQ(thrown([&] { b.scan(ReduceKind::argmax, x, 0); }), "E-dtype");
  EXPECT_EQ(thrown([&] { b.reduce_dot(x, i, last); }), "E-dtype");
  EXPECT_EQ(thrown([&] { b.reduce_dot(x, x, first); }), "E-axis");
  EXPECT_EQ(thrown([&] { b.reduce_dot(x, x, both); }), "E-axis");
  EXPECT_EQ(thrown([&] { b.reduce_dot(zero, zero, {}); }, &text), "E-axis");
  EXPECT_EQ(text, "a.cpp:3:4: error: E-axis: `reduce dot` expected one axis, the last of its operands, got 0 axes of rank 0");
  EXPECT_EQ(thrown([&] { b.slice(x, es({"0", "1"}), ones, es({"N", "6"})); }), "E-slice");
  EXPECT_EQ(thrown([&] { b.slice(x, es({"0", "0"}), ones, es({"3", "6"})); }), "E-slice");  // N may be 2
  EXPECT_EQ(thrown([&] { b.slice(x, es({"0", "0"}), none, es({"N", "6"})); }), "E-slice");
  EXPECT_EQ(thrown([&] { b.pad(x, zero, PadMode::constant, es({"3", "0"}), es({"N + 2", "6"})); }), "E-pad");
  EXPECT_EQ(thrown([&] { b.pad(x, zero, PadMode::reflect, es({"0", "6"}), es({"N", "12"})); }), "E-pad");
  EXPECT_EQ(thrown([&] { b.pad(x, zero, PadMode::edge, es({"1", "0"}), es({"N + 1", "6"})); }), "E-pad");  // N may be 0
  const Id parts[] = {x, m};
  EXPECT_EQ(thrown([&] { b.concat(parts, 1); }), "E-shape");
  EXPECT_EQ(thrown([&] { b.concat(parts, 2); }), "E-axis");
  EXPECT_EQ(thrown([&] { b.reshape(x, std::vector<Id>(17, g.index(1))); }), "E-rank");
  EXPECT_EQ(thrown([&] { b.store(x, {"p0", Direction::in, DType::f32, es({"N", "6"}), {}}, x); }), "E-store");
  EXPECT_EQ(thrown([&] { b.iota(DType::boolean, g.index(3)); }), "E-dtype");
}

TEST_F(BuilderTest, DeclaredMinimumAllowsSlice) {
  b.declare({"N", 3, 1 << 20, 1});
  const Id x = tensor(DType::f32, {"N"});
  const std::int64_t one[] = {1};
  EXPECT_EQ(shape(b.slice(x, es({"0"}), one, es({"3"}))), "[3]");
  EXPECT_EQ(shape(b.pad(x, b.constant(DType::f32, 0), PadMode::reflect, es({"2"}), es({"N + 4"}))), "[N + 4]");
  EXPECT_EQ(thrown([&] { b.slice(x, es({"0"}), one, es({"N - 4"})); }), "E-shape");  // -1 for N = 3
}

TEST_F(BuilderTest, MinimumIsInferred) {
  b.infer_minimums();
  const Id x = tensor(DType::f32, {"N"}), y = tensor(DType::f32, {"N", "M"}, 1);
  const std::int64_t one[] = {1}, ones[] = {1, 1};
  Program p;
  p.symbols = {{"N", 1, 100, 1}, {"M", 0, 100, 1}};
  g.set_loc({g.intern("../folder/kernels.cpp"), 12, 5});
  b.slice(x, es({"4"}), one, es({"N - 4"}));
  g.set_loc({g.intern("kernels.cpp"), 13, 5});
  b.pad(y, b.constant(DType::f32, 0), PadMode::edge, es({"0", "1"}), es({"N", "M + 1"}));
  b.apply_minimums(p);
  EXPECT_EQ(p.symbols[0].min, 4);
  EXPECT_EQ(p.symbols[1].min, 1);
  EXPECT_EQ(p.symbols[0].min_needed_at, "kernels.cpp:12");
  EXPECT_EQ(p.symbols[1].min_needed_at, "kernels.cpp:13");
  EXPECT_EQ(thrown([&] { b.slice(y, es({"0", "0"}), ones, es({"M", "M"})); }), "E-slice");  // M <= N is no minimum
  p.symbols[0] = {"N", 0, 3, 1};
  EXPECT_EQ(thrown([&] { b.apply_minimums(p); }), "E-slice");
}
