// The number of kernels of a program, their number of loops, and the linear cost of long chains.
#include <gtest/gtest.h>

#include <ctime>

#include "compiler/ir/builder.h"
#include "compiler/pipeline/run_passes.h"

namespace kiln::compiler {
namespace {

// A program, and what its kernels are.
class OneProgram {
 public:
  Id in(std::vector<Id> extents) { return param(Direction::in, std::move(extents)); }
  Id param(Direction direction, std::vector<Id> extents) {
    Parameter q{"p" + std::to_string(p_.params.size()), direction, DType::f32, std::move(extents), {}};
    const Id id = b_.param(static_cast<int>(p_.params.size()), q);
    p_.params.push_back(q);
    return id;
  }
  void out(Id value) {
    const Id target = param(Direction::out, b_.shape_of(value));
    stores_.push_back(b_.store(target, p_.params.back(), value));
  }
  void store(Id parameter, Id value) {
    stores_.push_back(b_.store(parameter, p_.params[static_cast<std::size_t>(g_.slot(parameter))], value));
  }
  Schedule schedule() {
    p_.name = "p";
    p_.sink = g_.make(Op::SINK, DType::none, stores_);
    Scheduled end = run_passes(
        g_, p_, {.disabled = {"component_versions", "product_versions"}, .last = std::string(last_pass(Form::planned))});
    g_ = std::move(end.graph);
    return std::move(end.schedule);
  }
  std::size_t loops(const Kernel& k) const { return g_.src(g_.src(k.sink, 0)).size() - 1; }

  Id n(std::int64_t v) { return g_.index(v); }
  Id number(float v) { return b_.constant(DType::f32, __builtin_bit_cast(std::uint32_t, v)); }
  Id un(Op op, Id x) { return b_.elementwise(op, {x}); }
  Id bin(Op op, Id x, Id y) { return b_.elementwise(op, {x, y}); }
  Id keep(Id reduced, std::vector<Id> shape, std::size_t axis) {  // keepdims
    shape[axis] = n(1);
    return b_.reshape(reduced, shape);
  }
  Id reduce(ReduceKind k, Id x, std::int64_t axis) { return b_.reduce(k, x, std::vector<std::int64_t>{axis}); }
  Id softmax(Id x) {
    const std::vector<Id> shape = b_.shape_of(x);
    const auto last = static_cast<std::int64_t>(shape.size()) - 1;
    const auto axis = static_cast<std::size_t>(last);
    const Id e = un(Op::EXP, bin(Op::SUB, x, keep(reduce(ReduceKind::max, x, last), shape, axis)));
    return bin(Op::FDIV, e, keep(reduce(ReduceKind::sum, e, last), shape, axis));
  }
  Id matmul(Id a, Id b) {  // [M,K] x [K,N]
    const std::vector<Id> sa = b_.shape_of(a), sb = b_.shape_of(b);
    const std::vector<Id> full{sa[0], sb[1], sa[1]};
    const Id x = b_.expand(b_.reshape(a, std::vector<Id>{sa[0], n(1), sa[1]}), full);
    const Id y =
        b_.expand(b_.reshape(b_.permute(b, std::vector<std::int64_t>{1, 0}), std::vector<Id>{n(1), sb[1], sa[1]}), full);
    return b_.reduce_fma(x, y, std::vector<std::int64_t>{2});
  }
  // Windows of three along the only axis, made by tiling: [n] -> [3, n - 2].
  Id windows(Id x) {
    const Id e = b_.shape_of(x)[0], row = index_add(g_, e, n(1)), count = index_sub(g_, e, n(2));
    const Id copies = n(6);
    const Id tiled = b_.reshape(b_.expand(b_.reshape(x, std::vector<Id>{n(1), e}), std::vector<Id>{copies, e}),
                                std::vector<Id>{index_mul(g_, copies, e)});
    const Id used = index_mul(g_, n(3), row);
    const Id cut = b_.slice(tiled, std::vector<Id>{n(0)}, std::vector<std::int64_t>{1}, std::vector<Id>{used});
    return b_.slice(b_.reshape(cut, std::vector<Id>{n(3), row}), std::vector<Id>{n(0), n(0)}, std::vector<std::int64_t>{1, 1},
                    std::vector<Id>{n(3), count});
  }
  bool divides(const Schedule& s) const {
    for (const Kernel& k : s.kernels) {
      const Id roots[] = {k.sink};
      for (Id id : g_.reachable(roots))
        if (g_.dtype(id) == DType::index && (g_.op(id) == Op::FLOORDIV || g_.op(id) == Op::FLOORMOD)) return true;
    }
    return false;
  }
  Id blur(Id x, std::size_t axis) {  // five taps, edges repeated
    const std::vector<Id> shape = b_.shape_of(x);
    std::vector<Id> before(shape.size(), n(0)), padded = shape;
    before[axis] = n(2);
    padded[axis] = index_add(g_, shape[axis], n(4));
    const Id wide = b_.pad(x, number(0), PadMode::edge, before, padded);
    Id sum = no_id;
    for (int tap = 0; tap < 5; ++tap) {
      std::vector<Id> begin(shape.size(), n(0));
      begin[axis] = n(tap);
      const Id part = b_.slice(wide, begin, std::vector<std::int64_t>(shape.size(), 1), shape);
      const Id term = bin(Op::MUL, part, number(0.2F));
      sum = sum == no_id ? term : bin(Op::ADD, sum, term);
    }
    return sum;
  }

  Graph g_;
  Builder b_{g_};
  Program p_;
  std::vector<Id> stores_;
};

class ScheduleKernels : public ::testing::Test, public OneProgram {};

TEST_F(ScheduleKernels, ElementwiseChainIsOneLoop) {
  Id x = in({n(30), n(50), n(7)});
  const Id y = in({n(30), n(50), n(7)});
  for (int i = 0; i < 3000; ++i) x = bin(i % 2 == 0 ? Op::ADD : Op::MUL, x, i % 3 == 0 ? x : y);
  out(x);
  const Schedule s = schedule();
  ASSERT_EQ(s.kernels.size(), 1u);
  EXPECT_EQ(loops(s.kernels[0]), 1u);
  EXPECT_TRUE(g_.is_index_const(s.workspace_bytes, 0));
}

TEST_F(ScheduleKernels, SymbolicElementwiseIsOneLoop) {
  const Id h = g_.sym("H"), w = g_.sym("W");
  p_.symbols = {{"H"}, {"W"}};
  out(bin(Op::ADD, in({h, w, n(3)}), in({h, w, n(3)})));
  const Schedule s = schedule();
  ASSERT_EQ(s.kernels.size(), 1u);
  EXPECT_EQ(loops(s.kernels[0]), 1u);
}

TEST_F(ScheduleKernels, FlattenedTransposeDividesNothing) {
  const Id h = g_.sym("H"), w = g_.sym("W");
  p_.symbols = {{"H"}, {"W"}};
  const Id turned = b_.permute(in({h, w, n(3)}), std::vector<std::int64_t>{1, 0, 2});
  out(b_.reshape(turned, std::vector<Id>{index_mul(g_, index_mul(g_, h, w), n(3))}));
  const Schedule s = schedule();
  ASSERT_EQ(s.kernels.size(), 1u);
  EXPECT_EQ(loops(s.kernels[0]), 3u);
  EXPECT_FALSE(divides(s));
}

// Three outer iterations would be too few for threads.
TEST_F(ScheduleKernels, LongRangeIsNotSplitIntoThreeIterations) {
  const Id turned = b_.permute(in({n(512), n(512), n(3)}), std::vector<std::int64_t>{2, 0, 1});
  out(b_.reshape(turned, std::vector<Id>{n(3 * 512 * 512)}));
  const Schedule s = schedule();
  ASSERT_EQ(s.kernels.size(), 1u);
  EXPECT_EQ(loops(s.kernels[0]), 1u);
}

TEST_F(ScheduleKernels, RowBroadcastKeepsItsLoops) {
  out(bin(Op::ADD, in({n(8), n(5)}), in({n(5)})));
  const Schedule s = schedule();
  ASSERT_EQ(s.kernels.size(), 1u);
  EXPECT_EQ(loops(s.kernels[0]), 2u);
}

TEST_F(ScheduleKernels, SumOfEverythingIsOne) {
  out(b_.reduce(ReduceKind::sum, un(Op::EXP, in({n(100), n(200)})), std::vector<std::int64_t>{0, 1}));
  const Schedule s = schedule();
  ASSERT_EQ(s.kernels.size(), 1u);
  EXPECT_EQ(loops(s.kernels[0]), 1u);  // a kernel has at least one loop
}

TEST_F(ScheduleKernels, SubtractingTheMeanIsTwo) {
  const Id x = in({n(100)});
  const Id mean = bin(Op::FDIV, reduce(ReduceKind::sum, x, 0), number(100));
  out(bin(Op::SUB, x, mean));
  const Schedule s = schedule();
  ASSERT_EQ(s.kernels.size(), 2u);
  EXPECT_EQ(s.kernels[1].depends_on, std::vector<std::size_t>{0});
  EXPECT_TRUE(g_.is_index_const(s.workspace_bytes, 64));
}

TEST_F(ScheduleKernels, SoftmaxIsOne) {  // a row's exp(x - max) is stored for that row, which stays in cache
  out(softmax(in({n(64), n(100)})));
  EXPECT_EQ(schedule().kernels.size(), 1u);
}

TEST_F(ScheduleKernels, SymbolicSoftmaxIsOne) {
  p_.symbols = {{"M"}, {"N", 1}};
  out(softmax(in({g_.sym("M"), n(3), g_.sym("N")})));
  EXPECT_EQ(schedule().kernels.size(), 1u);
}

TEST_F(ScheduleKernels, SoftmaxOfAMatmulIsOne) {
  out(softmax(matmul(in({n(64), n(32)}), in({n(32), n(10)}))));
  EXPECT_EQ(schedule().kernels.size(), 1u);
}

TEST_F(ScheduleKernels, LayerNormIsOne) {
  const std::vector<Id> shape{n(64), n(100)};
  const Id x = in(shape);
  const auto mean = [&](Id v) { return keep(bin(Op::FDIV, reduce(ReduceKind::sum, v, 1), number(100)), shape, 1); };
  const Id centred = bin(Op::SUB, x, mean(x));
  const Id scale = un(Op::RSQRT, bin(Op::ADD, mean(bin(Op::MUL, centred, centred)), number(1e-5F)));
  out(bin(Op::ADD, bin(Op::MUL, bin(Op::MUL, centred, scale), in({n(100)})), in({n(100)})));
  EXPECT_EQ(schedule().kernels.size(), 1u);
}

TEST_F(ScheduleKernels, ArgmaxIsOne) {
  out(b_.cast(reduce(ReduceKind::argmax, in({n(64), n(100)}), 1), DType::f32));
  EXPECT_EQ(schedule().kernels.size(), 1u);
}

TEST_F(ScheduleKernels, CrossEntropyIsTwo) {  // the rows, then their mean
  const std::vector<Id> shape{n(64), n(10)};
  const Id x = in(shape), labels = in({n(64)});
  const Id shifted = bin(Op::SUB, x, keep(reduce(ReduceKind::max, x, 1), shape, 1));
  const Id log_sum = un(Op::LOG, reduce(ReduceKind::sum, un(Op::EXP, shifted), 1));
  const Id hit = bin(Op::EQ, b_.expand(b_.reshape(labels, std::vector<Id>{n(64), n(1)}), shape),
                     b_.expand(b_.reshape(b_.iota(DType::f32, n(10)), std::vector<Id>{n(1), n(10)}), shape));
  const Id own = reduce(ReduceKind::sum, b_.elementwise(Op::WHERE, {hit, shifted, number(0)}), 1);
  out(bin(Op::FDIV, reduce(ReduceKind::sum, bin(Op::SUB, log_sum, own), 0), number(64)));
  EXPECT_LE(schedule().kernels.size(), 2u);
}

TEST_F(ScheduleKernels, AttentionIsAtMostTwo) {  // scores, softmax and product run over one tile of queries together
  const Id q = in({n(128), n(64)}), k = in({n(128), n(64)}), v = in({n(128), n(64)});
  const Id scores = bin(Op::MUL, matmul(q, b_.permute(k, std::vector<std::int64_t>{1, 0})), number(0.125F));
  out(matmul(softmax(scores), v));
  EXPECT_LE(schedule().kernels.size(), 2u);
}

TEST_F(ScheduleKernels, CentringRowsIsOne) {  // x - mean(x) of each row: the mean is stored for that row
  const Id x = in({n(64), n(100)});
  out(bin(Op::SUB, x, keep(reduce(ReduceKind::sum, x, 1), {n(64), n(100)}, 1)));
  EXPECT_EQ(schedule().kernels.size(), 1u);
}

TEST_F(ScheduleKernels, CentringAllIsTwo) {  // there is no row to store it for: every thread would compute the sum again
  const Id x = in({n(6400)});
  out(bin(Op::SUB, x, b_.expand(b_.reshape(reduce(ReduceKind::sum, x, 0), std::vector<Id>{n(1)}), std::vector<Id>{n(6400)})));
  EXPECT_EQ(schedule().kernels.size(), 2u);
}

TEST_F(ScheduleKernels, MatmulWithBiasAndGeluIsOne) {
  const Id y = bin(Op::ADD, matmul(in({n(64), n(32)}), in({n(32), n(48)})), in({n(48)}));
  const Id gelu =
      bin(Op::MUL, bin(Op::MUL, y, number(0.5F)), bin(Op::ADD, un(Op::ERF, bin(Op::MUL, y, number(0.7F))), number(1)));
  out(gelu);
  EXPECT_EQ(schedule().kernels.size(), 1u);
}

// Values between two bodies are computed once for all components, and never stored.
TEST_F(ScheduleKernels, AttractionOfAllPairsIsOne) {
  const Id x = in({n(500), n(3)});
  const std::vector<Id> all{n(500), n(500), n(3)};
  const auto wide = [&](Id v, const std::vector<Id>& shape) { return b_.expand(b_.reshape(v, shape), all); };
  const Id d = bin(Op::SUB, wide(x, {n(500), n(1), n(3)}), wide(x, {n(1), n(500), n(3)}));
  const Id d2 = bin(Op::ADD, reduce(ReduceKind::sum, bin(Op::MUL, d, d), 2), number(1));
  const Id weight = bin(Op::FDIV, number(1), bin(Op::MUL, d2, un(Op::SQRT, d2)));
  out(reduce(ReduceKind::sum, bin(Op::MUL, d, wide(weight, {n(500), n(500), n(1)})), 1));
  EXPECT_EQ(schedule().kernels.size(), 1u);
}

TEST_F(ScheduleKernels, AttractionInPlanesIsOne) {
  const Id x = in({n(3), n(500)});
  const std::vector<Id> all{n(3), n(500), n(500)};
  const auto wide = [&](Id v, const std::vector<Id>& shape) { return b_.expand(b_.reshape(v, shape), all); };
  const Id d = bin(Op::SUB, wide(x, {n(3), n(500), n(1)}), wide(x, {n(3), n(1), n(500)}));
  const Id d2 = bin(Op::ADD, reduce(ReduceKind::sum, bin(Op::MUL, d, d), 0), number(1));
  out(reduce(ReduceKind::sum, bin(Op::MUL, d, wide(bin(Op::FDIV, number(1), d2), {n(1), n(500), n(500)})), 2));
  EXPECT_EQ(schedule().kernels.size(), 1u);
}

TEST_F(ScheduleKernels, TwoLayersAreTwo) {
  const Id hidden = bin(Op::MAX, matmul(in({n(64), n(32)}), in({n(32), n(48)})), number(0));
  out(matmul(hidden, in({n(48), n(10)})));
  EXPECT_EQ(schedule().kernels.size(), 2u);
}

TEST_F(ScheduleKernels, BlurOfBlurIsOne) {  // the second blur is along the rows of the first
  p_.symbols = {{"H", 1}, {"W", 1}};
  for (const Symbol& symbol : p_.symbols) b_.declare(symbol);
  out(blur(blur(in({g_.sym("H"), g_.sym("W")}), 0), 1));
  EXPECT_EQ(schedule().kernels.size(), 1u);
}

TEST_F(ScheduleKernels, ConvolutionIsOneWithoutDivision) {
  const Id view = windows(in({n(100)})), weights = in({n(3)});
  const std::vector<Id> shape = b_.shape_of(view);
  const Id w = b_.expand(b_.reshape(weights, std::vector<Id>{n(3), n(1)}), shape);
  out(bin(Op::ADD, b_.reduce_fma(view, w, std::vector<std::int64_t>{0}), number(1)));
  const Schedule s = schedule();
  EXPECT_EQ(s.kernels.size(), 1u);
  EXPECT_FALSE(divides(s));
}

TEST_F(ScheduleKernels, SymbolicWindowsNeedNoDivision) {
  p_.symbols = {{"N", 3}};
  b_.declare(p_.symbols[0]);
  out(reduce(ReduceKind::max, windows(in({g_.sym("N")})), 0));
  const Schedule s = schedule();
  EXPECT_EQ(s.kernels.size(), 1u);
  EXPECT_FALSE(divides(s));
}

TEST_F(ScheduleKernels, OutputsOfOneShapeShareAKernel) {
  const Id x = in({n(40), n(30)});
  const Id e = un(Op::EXP, x);
  out(bin(Op::ADD, e, x));
  out(bin(Op::MUL, e, x));
  const Schedule s = schedule();
  ASSERT_EQ(s.kernels.size(), 1u);
  EXPECT_EQ(g_.src(s.kernels[0].sink).size(), 2u);
}

TEST_F(ScheduleKernels, OutputsOfOneReductionShareAKernel) {  // the product is computed once, and not stored
  const Id product = matmul(in({n(64), n(32)}), in({n(32), n(48)}));
  out(un(Op::TANH, product));
  out(bin(Op::MAX, product, number(0)));
  out(bin(Op::MUL, product, product));
  const Schedule s = schedule();
  ASSERT_EQ(s.kernels.size(), 1u);
  EXPECT_EQ(g_.src(s.kernels[0].sink).size(), 3u);
  EXPECT_TRUE(g_.is_index_const(s.workspace_bytes, 0));
}

TEST_F(ScheduleKernels, OutputsOfTwoReductionsDoNot) {  // two chains of sums in one loop would need twice the registers
  const Id a = in({n(64), n(32)});
  out(un(Op::TANH, matmul(a, in({n(32), n(48)}))));
  out(un(Op::TANH, matmul(a, in({n(32), n(48)}))));
  EXPECT_EQ(schedule().kernels.size(), 2u);
}

// The second store reads elements of the first parameter at other positions, so it runs first. The third shares the product.
TEST_F(ScheduleKernels, AnUpdateOfOneReductionWaitsForReaders) {
  const Id w = param(Direction::inout, {n(32), n(48)}), m = param(Direction::inout, {n(32), n(48)});
  const Id product = matmul(in({n(32), n(64)}), in({n(64), n(48)}));
  store(w, bin(Op::SUB, w, product));
  out(matmul(in({n(8), n(32)}), w));
  store(m, bin(Op::ADD, m, product));
  const Schedule s = schedule();
  ASSERT_EQ(s.kernels.size(), 2u);
  EXPECT_EQ(g_.src(s.kernels[1].sink).size(), 2u);
}

TEST_F(ScheduleKernels, AStageThatIsAnOutputNeedsNoWorkspace) {
  const Id hidden = bin(Op::MAX, matmul(in({n(64), n(32)}), in({n(32), n(48)})), number(0));
  out(hidden);
  out(matmul(hidden, in({n(48), n(10)})));
  const Schedule s = schedule();
  EXPECT_EQ(s.kernels.size(), 2u);
  EXPECT_TRUE(g_.is_index_const(s.workspace_bytes, 0));
}

TEST_F(ScheduleKernels, EmptyOutputsNeedNoKernel) {
  out(un(Op::EXP, in({n(0), n(4)})));
  EXPECT_EQ(schedule().kernels.size(), 0u);
}

TEST_F(ScheduleKernels, DoublingBySharingStaysSmall) {  // every level reads the level below twice, at different indices
  Id x = in({n(64)});
  for (int i = 0; i < 30; ++i) {
    const Id parts[] = {x, un(Op::NEG, x)};
    x = b_.slice(b_.concat(parts, 0), std::vector<Id>{n(32)}, std::vector<std::int64_t>{1}, std::vector<Id>{n(64)});
  }
  out(x);
  const std::size_t before = g_.size();
  const Schedule s = schedule();
  EXPECT_LT(s.kernels.size(), 31u);
  EXPECT_LT(g_.size() - before, 20000u);
}

// CPU seconds to schedule a chain of operations.
double time_of_chain(int operations) {
  OneProgram p;
  Id x = p.in({p.n(1000)});
  for (int i = 0; i < operations; ++i) x = p.un(i % 2 == 0 ? Op::ABS : Op::SQRT, x);
  p.out(x);
  const std::clock_t start = std::clock();
  EXPECT_EQ(p.schedule().kernels.size(), 1u);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(LongChains, AreLinear) {  // a quadratic walk takes 64 times as long
  EXPECT_LT(time_of_chain(80000), 20 * time_of_chain(10000));
}

}  // namespace
}  // namespace kiln::compiler
