// Copies that a host loop does not need, and the code that replaces them. Each program computes the same results as before, for
// any number of iterations.
#include <gtest/gtest.h>

#include "compiler/ir/index_poly.h"
#include "tests/unit/loop_programs.h"

namespace kiln::compiler::testing {
namespace {

TEST_F(PingPong, TwoRotate) {
  const int u = parameter("u"), t = temporary("t");
  loop([&] {
    kernel({{t, mixed({u})}});
    copy(u, t);
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0, count.0
  t/u <- u/t
where count.0 is 1, 3, 5
  u <- t
)");
}

TEST_F(PingPong, ThreeRotate) {
  const int u = parameter("u"), v = parameter("v"), t = temporary("t");
  loop([&] {
    kernel({{t, mixed({u, v})}});
    copy(v, u);
    copy(u, t);
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0, count.0
  t/v/u <- u/t/v, v/u/t
where count.0 is 1, 4
  v <- u
  u <- t
where count.0 is 2, 5
  u <- v
  v <- t
)");
}

// A chain of copies of this many buffers. Each iteration computes the last one again.
class PingPongChain : public PingPong {
 protected:
  std::string after_chain(int buffers) {
    for (int b = 0; b + 1 < buffers; ++b) parameter(std::string(1, static_cast<char>('a' + b)));
    const int fresh = temporary("fresh");
    loop([&] {
      kernel({{fresh, mixed({0, fresh - 1})}});
      for (int b = 0; b < fresh; ++b) copy(b, b + 1);
    });
    return after();
  }
};

TEST_F(PingPongChain, FiveRotate) {
  EXPECT_TRUE(after_chain(5).starts_with(R"(loop 0 .. n0, count.0
  fresh/a/b/c/d <- a/b/c/d/fresh, d/fresh/a/b/c
where count.0 is 1
)"));
}

TEST_F(PingPongChain, SixDoNot) {
  EXPECT_EQ(after_chain(6), R"(loop 0 .. n0
  fresh <- a, e
  a <- b
  b <- c
  c <- d
  d <- e
  e <- fresh
)");
}

// Readers before and after the copy use the buffer that contains their value.
TEST_F(PingPong, ReadersBehindTheCopyFollowIt) {
  const int u = parameter("u"), x = parameter("x"), y = parameter("y"), t = temporary("t");
  loop([&] {
    kernel({{x, mixed({u})}});
    kernel({{t, mixed({u, y})}});
    copy(u, t);
    kernel({{y, mixed({u})}});
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0, count.0
  x <- u/t
  t/u <- y, u/t
  y <- t/u
where count.0 is 1, 3, 5
  u <- t
)");
}

TEST_F(PingPong, AKernelThatCopiesAndComputesKeepsTheRest) {
  const int u = parameter("u"), x = parameter("x"), t = temporary("t");
  loop([&] {
    kernel({{t, mixed({u})}});
    kernel({{x, doubled(t)}, {u, at(t)}});
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0, count.0
  t/u <- u/t
  x <- t/u
where count.0 is 1, 3, 5
  u <- t
)");
}

TEST_F(PingPong, CopiesOfOneKernelHappenAtOnce) {
  const int u = parameter("u"), x = parameter("x"), v = temporary("v");
  copy(v, x);
  loop([&] { explicit_kernel({{x, doubled(u)}, {u, at(v)}, {v, at(u)}}); });
  EXPECT_EQ(after(), R"(v <- x
loop 0 .. n0, count.0
  x <- u/v, at entry u/v, v/u
where count.0 is 1, 3, 5
  u <- v
)");
}

TEST_F(PingPong, ACopyForAnIterationGoes) {
  const int u = parameter("u"), x = parameter("x"), v = temporary("v");
  loop([&] {
    copy(v, u);
    explicit_kernel({{x, mixed({v, x})}});
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0
  x <- u, x, at entry x
)");
}

TEST_F(PingPong, ACopyOfACopyIsOneOfTheFirst) {
  const int u = parameter("u"), w = parameter("w"), v = temporary("v"), t = temporary("t");
  loop([&] {
    kernel({{t, mixed({u})}});
    copy(v, t);
    kernel({{w, mixed({v})}});
    copy(u, v);
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0, count.0
  t/u <- u/t
  w <- t/u
where count.0 is 1, 3, 5
  u <- t
)");
}

// ---- copies that stay

// Without both copies, the kernel that reads b would read c, and the kernel that stores to c would have to wait for it.
TEST_F(PingPong, WhatIsCopiedToTwiceIsCopied) {
  const int a = parameter("a"), d = parameter("d"), w = parameter("w"), b = temporary("b"), c = temporary("c");
  loop([&] {
    kernel({{c, mixed({a, d})}});
    copy(b, c);
    kernel({{a, doubled(b)}});
    copy(b, d);
    kernel({{c, doubled(w)}});
    kernel({{w, mixed({a, b, c})}});
  });
  stays();
}

TEST_F(PingPong, WhatWasCopiedMayNotChange) {
  const int u = parameter("u"), w = parameter("w"), t = temporary("t");
  loop([&] {
    kernel({{t, mixed({u})}});
    copy(u, t);
    explicit_kernel({{t, doubled(u)}}, 3);
    kernel({{w, mixed({t})}});
  });
  stays();
}

TEST_F(PingPong, WhatWasCopiedToMayNotChange) {
  const int u = parameter("u"), t = temporary("t");
  loop([&] {
    kernel({{t, mixed({u})}});
    copy(u, t);
    explicit_kernel({{u, doubled(u)}}, 3);
  });
  stays();
}

TEST_F(PingPong, WhatIsCopiedMayNotChangeInTheSameKernel) {
  const int u = parameter("u"), w = parameter("w"), t = temporary("t");
  loop([&] {
    kernel({{t, mixed({u})}});
    explicit_kernel({{u, at(t)}, {t, doubled(t)}});
    kernel({{w, mixed({t})}});
  });
  stays();
}

TEST_F(PingPong, TheKernelMayNotReadWhatItCopiedTo) {
  const int u = parameter("u"), w = parameter("w"), t = temporary("t");
  loop([&] {
    kernel({{t, mixed({u})}});
    explicit_kernel({{u, at(t)}, {w, now(u)}});
  });
  stays();
}

// Each tile step of a row's iteration reads the values that earlier tile steps stored.
TEST_F(PingPong, TileStepsDoNotCopyWhatTheyStore) {
  const int u = parameter("u"), a = temporary("a"), b = temporary("b");
  loop([&] {
    kernel({{b, mixed({u})}});
    tile_steps({{a, at(b)}, {u, at(a)}});
  });
  stays();
}

TEST_F(PingPong, TileStepsDoNotCopyWhatTheyLoad) {
  const int u = parameter("u"), a = temporary("a"), b = temporary("b");
  loop([&] {
    kernel({{b, mixed({u})}});
    tile_steps({{a, at(b)}, {u, doubled(a)}});
  });
  stays();
}

// The next iteration needs both values, but only one buffer contains them.
TEST_F(PingPong, OneOfTwoEqualBuffersIsCopied) {
  const int u = parameter("u"), v = parameter("v"), t = temporary("t");
  loop([&] {
    kernel({{t, mixed({u, v})}});
    copy(u, t);
    copy(v, t);
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0, count.0
  t/u <- v, u/t
  v <- t/u
where count.0 is 1, 3, 5
  u <- t
)");
}

TEST_F(PingPong, WhatKeepsItsContentsIsCopied) {
  const int u = parameter("u"), v = parameter("v"), w = parameter("w");
  loop([&] {
    explicit_kernel({{w, mixed({u, w})}});
    copy(u, v);
  });
  stays();
}

TEST_F(PingPong, ALoopOfNothingElseKeepsItsCopies) {
  const int u = parameter("u"), v = parameter("v"), w = temporary("w");
  loop([&] {
    copy(w, u);
    copy(u, v);
    copy(v, w);
  });
  stays();
}

TEST_F(PingPong, CopiesOfALoopWithinAreNotOfTheIteration) {
  const int u = parameter("u"), t = temporary("t");
  loop([&] {
    kernel({{t, mixed({u})}});
    loop([&] { copy(u, t); });
  });
  stays();
}

}  // namespace
}  // namespace kiln::compiler::testing
