// Loops with rotating buffers: which values the next iteration, and the code after the loop, need.
#include "tests/unit/loop_programs.h"

namespace kiln::compiler::testing {
namespace {

// One temporary is read after the loop, and the other one is not.
TEST_F(PingPong, WhatIsReadBehindTheLoopIsBroughtBack) {
  const int x = parameter("x"), u = temporary("u"), v = temporary("v"), t = temporary("t");
  copy(u, x);
  copy(v, x);
  loop([&] {
    kernel({{t, mixed({u, v})}});
    copy(v, u);
    copy(u, t);
  });
  kernel({{x, mixed({u})}});
  EXPECT_EQ(after(), R"(u <- x
v <- x
loop 0 .. n0, count.0
  t/v/u <- u/t/v, v/u/t
where count.0 is 1, 4
  u <- t
where count.0 is 2, 5
  u <- v
x <- u
)");
}

// The reader is an atomic operation, which is not a load.
TEST_F(PingPong, WhatIsFetchedBehindTheLoopIsBroughtBack) {
  const int x = parameter("x"), u = temporary("u"), t = temporary("t");
  copy(u, x);
  loop([&] {
    kernel({{t, mixed({u})}});
    copy(u, t);
  });
  explicit_kernel({{x, fetched(u)}, {u, doubled(x)}});
  EXPECT_EQ(after(), R"(u <- x
loop 0 .. n0, count.0
  t/u <- u/t
where count.0 is 1, 3, 5
  u <- t
x, u <- x, at entry x
)");
}

TEST_F(PingPong, NothingIsBroughtBackThatNobodyReads) {
  const int x = parameter("x"), u = temporary("u"), t = temporary("t");
  copy(u, x);
  loop([&] {
    kernel({{t, mixed({u})}});
    explicit_kernel({{x, mixed({t, x})}});
    copy(u, t);
  });
  EXPECT_EQ(after(), R"(u <- x
loop 0 .. n0, count.0
  t/u <- u/t
  x <- x, t/u, at entry x
)");
}

// In an outer loop, the next run of the inner loop continues with the last run's values, although no kernel outside reads them.
TEST_F(PingPong, WhatTheNextRunOfTheLoopGoesOnFromIsBroughtBack) {
  const int x = parameter("x"), u = temporary("u"), t = temporary("t");
  const Id around = g.sym("around");
  s.program.symbols.push_back({.name = "around", .max = 7, .kind = Symbol::Kind::counter});
  const int outer = loop([&] {
    loop([&] {
      const int once = loop([&] { copy(u, x); }, g.index(1));
      s.loops[static_cast<std::size_t>(once)].begin = around;
      kernel({{t, mixed({u})}});
      copy(u, t);
      explicit_kernel({{x, mixed({u, x})}});
    });
  });
  s.loops[static_cast<std::size_t>(outer)].counter = around;
  EXPECT_EQ(after(), R"(loop 0 .. n0
  loop 0 .. n1, count.0
    loop around .. 1
      u/t <- x
    t/u <- u/t
    x <- x, t/u, at entry x
  where count.0 is 1, 3, 5
    u <- t
)");
}

TEST_F(PingPong, WhatIsReadBeforeTheNextRunIsBroughtBack) {
  const int x = parameter("x"), u = temporary("u"), t = temporary("t");
  copy(u, x);
  loop([&] {
    explicit_kernel({{x, mixed({u, x})}});
    loop([&] {
      kernel({{t, mixed({u})}});
      copy(u, t);
    });
  });
  EXPECT_EQ(after(), R"(u <- x
loop 0 .. n0
  x <- x, u, at entry x
  loop 0 .. n1, count.0
    t/u <- u/t
  where count.0 is 1, 3, 5
    u <- t
)");
}

// A temporary of one iteration has no value in the next run either.
TEST_F(PingPong, TemporariesOfAnIterationAreNotBroughtBack) {
  const int u = parameter("u"), t = temporary("t");
  loop([&] {
    loop([&] {
      kernel({{t, mixed({u})}});
      copy(u, t);
    });
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0
  loop 0 .. n1, count.0
    t/u <- u/t
  where count.0 is 1, 3, 5
    u <- t
)");
}

// ---- which buffers have no value when an iteration begins: in these tests t does not rotate, and its copy stays

TEST_F(PingPong, AParameterIsNoTemporaryOfAnIteration) {
  const int u = parameter("u"), t = parameter("t");
  loop([&] {
    kernel({{t, mixed({u})}});
    copy(u, t);
  });
  stays();
}

// r could be used to bring the value back, but then the last iteration's value of t would be lost.
TEST_F(PingPong, WhatIsReadBehindTheLoopIsNoTemporaryOfAnIteration) {
  const int u = parameter("u"), x = parameter("x"), t = temporary("t"), r = temporary("r");
  loop([&] {
    copy(r, u);
    explicit_kernel({{x, mixed({r, x})}});
    kernel({{t, mixed({u})}});
    copy(u, t);
  });
  explicit_kernel({{x, mixed({t, x})}});
  stays();
}

TEST_F(PingPong, WhatIsReadBeforeTheNextRunIsNoTemporaryOfAnIteration) {
  const int u = parameter("u"), x = parameter("x"), t = temporary("t");
  copy(t, x);
  loop([&] {
    explicit_kernel({{x, mixed({t, x})}});
    loop([&] {
      kernel({{t, mixed({u})}});
      copy(u, t);
    });
  });
  stays();
}

TEST_F(PingPong, WhatAnIterationReadsFirstIsNoTemporaryOfIt) {
  const int u = parameter("u"), x = parameter("x"), t = temporary("t");
  loop([&] {
    explicit_kernel({{x, mixed({t, x})}});
    kernel({{t, mixed({u})}});
    copy(u, t);
  });
  stays();
}

TEST_F(PingPong, WhatAnIterationStoresInPartIsNoTemporaryOfIt) {
  const int u = parameter("u"), x = parameter("x"), t = temporary("t");
  loop([&] {
    explicit_kernel({{t, mixed({x})}}, 3);
    copy(u, t);
    explicit_kernel({{x, mixed({u, x})}});
  });
  stays();
}

TEST_F(PingPong, WhatALoopWithinStoresFirstIsNoTemporaryOfAnIteration) {
  const int u = parameter("u"), x = parameter("x"), t = temporary("t");
  loop([&] {
    loop([&] { kernel({{t, mixed({x})}}); });
    copy(u, t);
    explicit_kernel({{x, mixed({u, x})}});
  });
  stays();
}

// If it is first stored whole, it may then be stored in part, also in inner loops, and be read.
TEST_F(PingPong, ATemporaryOfAnIterationMayBeStoredOften) {
  const int u = parameter("u"), t = temporary("t");
  loop([&] {
    kernel({{t, mixed({u})}});
    loop([&] { explicit_kernel({{t, doubled(u)}}, 3); });
    explicit_kernel({{t, mixed({t, u})}}, 2);
    copy(u, t);
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0, count.0
  t/u <- u/t
  loop 0 .. n1
    t/u <- u/t
  t/u <- u/t, t/u, at entry t/u
where count.0 is 1, 3, 5
  u <- t
)");
}

}  // namespace
}  // namespace kiln::compiler::testing
