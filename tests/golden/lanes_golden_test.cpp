// Control flow in lanes, at P level: loops that run while any lane is active, in whole vectors and in the tail; a loop whose
// bounds and condition are the same in all lanes and stay scalars; adjacent elements as vectors, other elements one by one.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <map>

#include "generator/import.h"
#include "generator/registry.h"
#include "tests/golden/golden.h"
#include "tests/golden/schedule_text.h"

using namespace kiln;

namespace {

using compiler::Graph;
using compiler::Id;
using compiler::Op;

inline constexpr dim<"N", {.min = 1, .max = 1 << 20}> N;

struct escape : program<escape> {
  in<f32, N> c;
  in<i32> limit;
  out<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto z = var(0.0f);
      auto n = var(0);
      for (auto k : loop(limit)) {
        break_if(z > 4.0f);
        z = z * z + c(i);
        n = k + 1;
      }
      y(i) = n;
    }
  }
};

// The loop has no iteration where the flag is false. Its bounds are the same in all lanes.
struct shared : program<shared> {
  in<i32> flag;
  in<f32, 64> x;
  out<f32, 64> y;
  constexpr void body() {
    for (auto [i] : kernel(64)) {
      auto sum = var(0.0f);
      if (auto c = when(flag > 3))
        for (auto k : loop(flag)) sum += x(k) * x(i);
      y(i) = sum;
    }
  }
};

// The condition is the same in all lanes: it becomes a branch, and nothing is computed where it is false.
struct branch : program<branch> {
  in<i32> flag;
  in<f32, 64> x;
  out<f32, 64> y;
  constexpr void body() {
    for (auto [i] : kernel(64)) {
      auto v = var(0.0f);
      if (auto c = when(flag > 3)) v = sqrt(x(i)) / rsqrt(x(i));
      y(i) = v;
    }
  }
};

struct gathered : program<gathered> {
  in<i32, 64> places;
  in<f32, 64> x;
  inout<f32, 64> y;
  constexpr void body() {
    for (auto [i] : kernel(64)) {
      y(i) = x(63 - i) + x(places(i));
      if (auto c = when(x(i) > 3.0f)) y(i) += 1.0f;
    }
  }
};

// Rows are lanes although their elements are far apart: each iteration waits for the one before. Then half a vector of rows,
// and one row.
struct filtered : program<filtered> {
  in<f32, 13, 100> x;
  out<f32, 13, 100> y;
  constexpr void body() {
    for (auto [i] : kernel(13)) {
      auto mean = var(0.0f);
      for (auto t : loop(100)) {
        mean = 0.75f * mean + 0.25f * x(i, t);
        y(i, t) = mean;
      }
    }
  }
};

// All values are bytes, so each byte of a vector is a lane.
struct hexadecimal : program<hexadecimal> {
  in<u8, 64> x;
  out<u8, 128> y;
  constexpr void body() {
    for (auto [i] : kernel(64)) {
      y(2 * i) = x(i) >> 4;
      y(2 * i + 1) = x(i) & 15;
    }
  }
};

// Vectors load what the vectors before them store. Eight registers are loaded before they are stored.
struct every_second : program<every_second> {
  inout<f32, 256> u;
  constexpr void body() {
    for (auto [i] : kernel(256))
      if (auto c = when(i % 2 == 1)) unique(u(i)) = 0.5f * (u(i - 1) + u(i + 1));
  }
};

// The program after all passes. It has one kernel.
compiler::Scheduled lowered(const dsl::record::program& p) {
  Graph g;
  const compiler::Program program = generator::import_program(g, p);
  compiler::Scheduled end = run_passes(g, program);
  EXPECT_EQ(end.schedule.kernels.size(), 1u);
  return end;
}

template <class P>
void check(const std::string& name) {
  const compiler::Scheduled end = lowered(ir<P>);
  const Id roots[] = {end.schedule.kernels[0].sink};
  const std::string text = write_nodes(end.graph, roots, compiler::testing::plain);
  compiler::testing::expect_golden(text, name);
}

TEST(LanesGolden, Escape) { check<escape>("escape"); }
TEST(LanesGolden, Shared) { check<shared>("shared"); }
TEST(LanesGolden, Branch) { check<branch>("branch"); }
TEST(LanesGolden, Filtered) { check<filtered>("filtered"); }
TEST(LanesGolden, Hexadecimal) { check<hexadecimal>("hexadecimal"); }
TEST(LanesGolden, EverySecond) { check<every_second>("every_second"); }
TEST(LanesGolden, Gathered) { check<gathered>("gathered"); }

// The vector operations of one form of examples/nbody, by operation and lanes. A difference counts as a sum.
std::map<std::pair<std::string, int>, int> work(std::string_view form) {
  std::map<std::pair<std::string, int>, int> out;
  for (const dsl::record::program* p : generator::registered_programs()) {
    if (form != p->name) continue;
    const compiler::Scheduled end = lowered(*p);
    const Graph& g = end.graph;
    const Id roots[] = {end.schedule.kernels[0].sink};
    for (const Id id : g.reachable(roots)) {
      const Op op = g.op(id);
      for (const Op counted : {Op::ADD, Op::SUB, Op::MUL, Op::FDIV, Op::SQRT, Op::LOAD, Op::BROADCAST, Op::CARRY})
        if (op == counted && is_float(g.dtype(id))) ++out[{std::string(name(op == Op::SUB ? Op::ADD : op)), g.lanes(id)}];
    }
  }
  return out;
}

// The tensor form over N x 3 gives the kernel of the loop form with components written out.
TEST(LanesGolden, ComponentsAreRegisters) {
  for (const char* type : {"f32", "f64"}) {
    const auto tensors = work(std::string("tensors_") + type);
    EXPECT_FALSE(tensors.empty());
    EXPECT_EQ(tensors, work(std::string("loops_") + type));
  }
}

}  // namespace
