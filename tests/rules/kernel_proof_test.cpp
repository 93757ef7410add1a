// Claims about kernels, true and false ones.
#include "compiler/proof/kernel_proof.h"

#include <gtest/gtest.h>

namespace {

using namespace kiln::compiler;

// y[store(r)] = x[load(r)] (or y[...] in place) for r < N; both buffers have N elements.
struct Copy {
  Graph g;
  Id n = g.sym("N"), r = g.make(Op::RANGE, DType::index, {n}, {0, 0});

  std::string verdicts(Id store, Id load, bool in_place = false, Id gate = no_id) {
    const Id x = g.make(Op::BUFFER, DType::f32, {}, {in_place ? 0 : 1}), y = g.make(Op::BUFFER, DType::f32, {}, {0});
    const Id value = gate == no_id ? g.make(Op::LOAD, DType::f32, {x, load})
                                   : g.make(Op::LOAD, DType::f32, {x, load, g.constant(DType::f32, 0), gate});
    const Id end = g.make(Op::END, DType::none, {g.make(Op::STORE, DType::none, {y, store, value}), r});
    Schedule s;
    s.program.params = {{"x", Direction::in, DType::f32, {n}, {}}, {"y", Direction::out, DType::f32, {n}, {}}};
    s.buffers = {{DType::f32, n, 0, no_id}, {DType::f32, n, 1, no_id}};
    Kernel k;
    k.name = "copy";
    k.sink = g.make(Op::SINK, DType::none, {end});
    k.buffers = {0, 1};
    std::string out;
    for (const Claim& c : kernel_claims(g, s, k)) out += solve(c.script, {}).answer == Answer::unsat ? "+" : "-";
    return out;
  }
  Id add(Id a, std::int64_t k) { return g.make(Op::ADD, DType::index, {a, g.index(k)}); }
  Id op(Op o, Id a, Id b) { return g.make(o, DType::index, {a, b}); }
};

TEST(KernelProof, CopyIsInsideAndInjective) {
  Copy c;
  EXPECT_EQ(c.verdicts(c.r, c.r), "+++");  // load inside, store inside, each once
}
TEST(KernelProof, ReverseIsInjective) {
  Copy c;
  EXPECT_EQ(c.verdicts(c.op(Op::SUB, c.add(c.n, -1), c.r), c.r), "+++");
}
TEST(KernelProof, LoadBehindTheEndIsRefuted) {
  Copy c;
  EXPECT_EQ(c.verdicts(c.r, c.add(c.r, 1)), "-++");
}
TEST(KernelProof, GateKeepsALoadInside) {
  Copy c;
  const Id next = c.add(c.r, 1), gate = c.g.make(Op::LT, DType::boolean, {next, c.n});
  EXPECT_EQ(c.verdicts(c.r, next, false, gate), "+++");
  const Id invalid = c.g.make(Op::INVALID, DType::index, {});
  EXPECT_EQ(c.verdicts(c.r, c.g.make(Op::WHERE, DType::index, {gate, next, invalid})), "+++");
}
TEST(KernelProof, TwoIterationsOnOneElementAreRefuted) {
  Copy c;
  EXPECT_EQ(c.verdicts(c.op(Op::FLOORDIV, c.r, c.g.index(2)), c.r), "++-");
}
TEST(KernelProof, LoadThatDoesNotNeedTheLoopIsNotInsideIt) {
  Copy c;
  EXPECT_EQ(c.verdicts(c.r, c.g.index(0)), "-++");  // N may be 0
}
TEST(KernelProof, InPlaceLoadOfANeighbourIsRefuted) {
  Copy c;
  EXPECT_EQ(c.verdicts(c.r, c.r, true), "+++++");
  Copy d;
  EXPECT_EQ(d.verdicts(d.r, d.op(Op::FLOORMOD, d.add(d.r, 1), d.n), true), "+++--");
}

}  // namespace
