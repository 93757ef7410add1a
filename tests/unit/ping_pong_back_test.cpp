// Loops with rotating buffers: the order of copies that bring values back after the loop.
#include "tests/unit/loop_programs.h"

namespace kiln::compiler::testing {
namespace {

// After two of four iterations a and c are swapped. A buffer of the cycle whose value is dead takes a value in between.
TEST_F(PingPong, AnotherBufferOfTheCycleMakesRoom) {
  const int a = parameter("a"), c = parameter("c"), x = parameter("x"), b = temporary("b"), d = temporary("d");
  copy(b, x);
  loop([&] {
    kernel({{d, mixed({a, b})}});
    copy(a, b);
    copy(b, c);
    copy(c, d);
  });
  EXPECT_EQ(after(), R"(b <- x
loop 0 .. n0, count.0
  d/a/b/c <- a/b/c/d, b/c/d/a
where count.0 is 1, 5
  a <- b
  c <- d
where count.0 is 2
  b <- a
  a <- c
  c <- b
where count.0 is 3
  a <- d
  c <- b
)");
}

TEST_F(PingPong, WhatIsNeededMakesNoRoom) {
  const int a = parameter("a"), b = parameter("b"), c = parameter("c"), d = temporary("d");
  loop([&] {
    kernel({{d, mixed({a, b})}});
    copy(a, b);
    copy(b, c);
    copy(c, d);
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0, count.0
  d/a/b/c <- a/b/c/d, b/c/d/a
where count.0 is 1, 5
  a <- b
  b <- c
  c <- d
where count.0 is 2
  b <- d
  d <- a
  a <- c
  c <- d
where count.0 is 3
  c <- b
  b <- a
  a <- d
)");
}

TEST_F(PingPong, ATemporaryThatIsLeftMakesRoom) {
  const int u = parameter("u"), v = parameter("v"), x = parameter("x"), t = temporary("t");
  loop([&] {
    copy(t, u);
    copy(u, v);
    copy(v, t);
    explicit_kernel({{x, mixed({u, x})}});
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0, count.0
  x <- x, v/u, at entry x
where count.0 is 1, 3, 5
  t <- u
  u <- v
  v <- t
)");
}

TEST_F(PingPong, WithoutRoomCopiesStay) {
  const int u = parameter("u"), v = parameter("v"), x = parameter("x");
  loop([&] {
    explicit_kernel({{u, at(v)}, {v, at(u)}});
    explicit_kernel({{x, mixed({u, x})}});
  });
  stays();
}

// The other cycle is brought back later, and its temporary contains a needed value.
TEST_F(PingPong, AnotherCycleMakesNoRoom) {
  const int u = parameter("u"), v = parameter("v"), w = parameter("w"), t = temporary("t");
  loop([&] {
    kernel({{t, mixed({w, u})}});
    copy(w, t);
    explicit_kernel({{u, at(v)}, {v, at(u)}});
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0, count.0
  t/w <- u, w/t
  u, v <- u, v, at entry u, v
where count.0 is 1, 3, 5
  w <- t
)");
}

TEST_F(PingPong, ATemporaryOfAnotherSizeMakesNoRoom) {
  const int u = parameter("u"), v = parameter("v"), p = parameter("p", DType::i32, 2), q = parameter("q", DType::i32, 2);
  const int x = parameter("x"), t = temporary("t", DType::i32, 2);
  loop([&] {
    copy(t, p);
    copy(p, q);
    copy(q, t);
    explicit_kernel({{u, at(v)}, {v, at(u)}});
    explicit_kernel({{x, mixed({u, p, x})}});
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0, count.0
  u, v <- u, v, at entry u, v
  x <- u, x, q/p, at entry x
where count.0 is 1, 3, 5
  t <- p
  p <- q
  q <- t
)");
}

TEST_F(PingPong, ATemporaryOfAnotherTypeMakesNoRoom) {
  const int u = parameter("u"), v = parameter("v"), p = parameter("p", DType::i64), q = parameter("q", DType::i64);
  const int x = parameter("x"), t = temporary("t", DType::i64);
  loop([&] {
    copy(t, p);
    copy(p, q);
    copy(q, t);
    explicit_kernel({{u, at(v)}, {v, at(u)}});
    explicit_kernel({{x, mixed({u, x})}});
  });
  EXPECT_EQ(after(), R"(loop 0 .. n0, count.0
  u, v <- u, v, at entry u, v
  x <- u, x, at entry x
where count.0 is 1, 3, 5
  t <- p
  p <- q
  q <- t
)");
}

TEST_F(PingPong, APitchedRowComesBackAsWell) {
  const int u = parameter("u"), t = temporary("t");
  make_pitched_row(u);
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

}  // namespace
}  // namespace kiln::compiler::testing
