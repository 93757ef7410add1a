// Loops with rotating buffers among other loops: which loops are worth it, which buffers must not rotate, and where
// new loops and copies go.
#include "compiler/ir/index_poly.h"
#include "tests/unit/loop_programs.h"

namespace kiln::compiler::testing {
namespace {

// One loop with `iterations` iterations, by constant bounds, that copies a buffer to another one.
class PingPongIterations : public PingPong {
 protected:
  bool changes(std::int64_t begin, std::int64_t end, std::int64_t step) {
    const int u = parameter("u"), t = temporary("t");
    const int number = loop(
        [&] {
          kernel({{t, mixed({u})}});
          copy(u, t);
        },
        g.index(end), step);
    s.loops[static_cast<std::size_t>(number)].begin = g.index(begin);
    const std::string before = text();
    return after() != before;
  }
};

TEST_F(PingPongIterations, TwoAreWorthIt) { EXPECT_TRUE(changes(0, 2, 1)); }
TEST_F(PingPongIterations, TwoOfALongerStepAreWorthIt) { EXPECT_TRUE(changes(0, 4, 3)); }
TEST_F(PingPongIterations, OneIsNot) { EXPECT_FALSE(changes(0, 1, 1)); }
TEST_F(PingPongIterations, OneOfALongerStepIsNot) { EXPECT_FALSE(changes(0, 3, 3)); }
TEST_F(PingPongIterations, OneFarFromZeroIsNot) { EXPECT_FALSE(changes(4, 5, 1)); }

// If no buffer rotates, the copy is removed at no cost, and no symbol counts iterations.
TEST_F(PingPong, ACopyWithinAnIterationGoesFromASingleIteration) {
  const int u = parameter("u"), v = temporary("v"), t = temporary("t");
  loop(
      [&] {
        kernel({{t, mixed({u})}});
        copy(v, t);
        kernel({{u, mixed({v})}});
      },
      g.index(1));
  EXPECT_EQ(after(), R"(loop 0 .. 1
  t <- u
  u <- t
)");
}

TEST_F(PingPong, WhatIsReadAtEntryIsNamedByItsRotatingBuffer) {
  const int u = parameter("u"), t = temporary("t");
  loop([&] {
    explicit_kernel({{u, doubled(u)}});
    kernel({{t, mixed({u})}});
    copy(u, t);
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0, count.0
  u/t <- u/t, at entry u/t
  t/u <- u/t
where count.0 is 1, 3, 5
  u <- t
)");
}

// ---- buffers that must not rotate

TEST_F(PingPong, TheConditionOfALoopKeepsItsPlace) {
  const int u = parameter("u"), now = temporary("now", DType::boolean, 1), next = temporary("next", DType::boolean, 1);
  kernel({{now, below(u, 100)}});
  const int number = loop([&] {
    explicit_kernel({{u, doubled(u)}});
    kernel({{next, below(u, 20)}});
    copy(now, next);
  });
  s.loops[static_cast<std::size_t>(number)].condition = now;
  stays();
}

TEST_F(PingPong, ANumberIsCopiedToItsPlace) {
  const int u = parameter("u", DType::i64), x = parameter("x"), m = temporary("m", DType::i64, 1);
  const int k = temporary("k", DType::i64, 1);
  const Id value = number(m);
  loop([&] {
    explicit_kernel({{u, doubled(u)}});
    kernel({{k, mixed({u})}});
    copy(m, k);
    kernel({{x, as_stored(value)}});
  });
  stays();
}

TEST_F(PingPong, ANumberThatIsCopiedKeepsItsPlace) {
  const int u = parameter("u", DType::i64), last = parameter("last", DType::i64, 1), x = parameter("x");
  const int m = temporary("m", DType::i64, 1);
  const Id value = number(m);
  loop([&] {
    explicit_kernel({{u, doubled(u)}});
    kernel({{m, at(u)}});
    copy(last, m);
    kernel({{x, as_stored(value)}});
  });
  stays();
}

// A buffer rotates in one loop only. If it rotates in an inner loop, it does not rotate in the outer loop.
TEST_F(PingPong, ARotatingBufferIsOfOneLoop) {
  const int u = parameter("u"), w = temporary("w"), t = temporary("t");
  loop([&] {
    kernel({{w, mixed({u})}});
    copy(u, w);
    loop([&] {
      kernel({{t, mixed({u})}});
      copy(u, t);
    });
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0
  w <- u
  u <- w
  loop 0 .. n1, count.0
    t/u <- u/t
  where count.0 is 1, 3, 5
    u <- t
)");
}

TEST_F(PingPong, WhatRotatesWithinIsCopiedAround) {
  const int w = parameter("w"), u = temporary("u"), t = temporary("t");
  loop([&] {
    kernel({{u, mixed({w})}});
    loop([&] {
      kernel({{t, mixed({u})}});
      copy(u, t);
    });
    copy(w, u);
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0
  u <- w
  loop 0 .. n1, count.0
    t/u <- u/t
  where count.0 is 1, 3, 5
    u <- t
  w <- u
)");
}

// ---- where new loops, copies and symbols go

TEST_F(PingPong, EachLoopCountsItsIterations) {
  const int u = parameter("u"), v = parameter("v"), t = temporary("t"), r = temporary("r");
  s.program.symbols.push_back({.name = "count.0", .max = 1});  // a symbol of the program
  loop([&] {
    kernel({{t, mixed({u})}});
    copy(u, t);
  });
  loop([&] {
    kernel({{r, mixed({u, v})}});
    copy(v, r);
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0, count.2
  t/u <- u/t
where count.2 is 1, 3, 5
  u <- t
loop 0 .. n1, count.1
  r/v <- u, v/r
where count.1 is 1, 3, 5
  v <- r
)");
}

TEST_F(PingPong, LoopsWithinLoopsWithinHaveTheRotatingBuffer) {
  const int u = parameter("u"), x = parameter("x"), t = temporary("t");
  loop([&] {
    loop([&] { loop([&] { explicit_kernel({{x, mixed({u, x})}}); }, g.index(2)); }, g.index(2));
    kernel({{t, mixed({u})}});
    copy(u, t);
    loop([&] { loop([&] { explicit_kernel({{x, mixed({u, x})}}); }, g.index(2)); }, g.index(2));
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0, count.0
  loop 0 .. 2
    loop 0 .. 2
      x <- x, u/t, at entry x
  t/u <- u/t
  loop 0 .. 2
    loop 0 .. 2
      x <- x, t/u, at entry x
where count.0 is 1, 3, 5
  u <- t
)");
}

TEST_F(PingPong, ValuesComeBackBehindLoopsWithinAndBeforeLoopsBehind) {
  const int u = parameter("u"), x = parameter("x"), t = temporary("t"), r = temporary("r");
  const Id two = g.index(2);
  loop([&] {
    loop([&] {
      kernel({{t, mixed({u})}});
      copy(u, t);
      loop([&] { explicit_kernel({{x, mixed({u, x})}}); }, two);
    });
    explicit_kernel({{x, mixed({u, x})}});
    loop([&] { explicit_kernel({{u, mixed({u, x})}}); }, two);
  });
  loop(
      [&] {
        loop([&] { explicit_kernel({{x, mixed({u, x})}}); }, two);
        kernel({{r, mixed({x, u})}});
        copy(x, r);
      },
      two);
  explicit_kernel({{u, mixed({u, x})}});
  EXPECT_EQ(after(), R"(loop 0 .. n0
  loop 0 .. n1, count.1
    t/u <- u/t
    loop 0 .. 2
      x <- x, t/u, at entry x
  where count.1 is 1, 3, 5
    u <- t
  x <- u, x, at entry x
  loop 0 .. 2
    u <- u, x, at entry u
loop 0 .. 2, count.0
  loop 0 .. 2
    x/r <- u, x/r, at entry x/r
  r/x <- u, x/r
where count.0 is 1, 3, 5
  x <- r
u <- u, x, at entry u
)");
}

}  // namespace
}  // namespace kiln::compiler::testing
