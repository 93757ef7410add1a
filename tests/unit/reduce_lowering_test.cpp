// Reductions: every kind and order, compared with the evaluator of kernels, for extents near stripes and blocks.
#include <algorithm>

#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

constexpr std::int64_t extents[] = {0, 1, 2, 8, 9, 31, 32, 33, 64, 100};

struct Case {
  ReduceKind kind;
  ReduceOrder order;
  DType dtype;
};

// y[i] = reduce over k of x[i, k], for k below n.
void make_row_reduce(OneKernel& kernel, const Case& c, Id n) {
  const Id m = kernel.symbol("M");
  const DType result = c.kind == ReduceKind::argmax || c.kind == ReduceKind::argmin ? DType::i64 : c.dtype;
  const int x = kernel.buffer(c.dtype, kernel.index(Op::MUL, m, n)), y = kernel.buffer(result, m);
  const Id i = kernel.range(m), k = kernel.reduce_range(n);
  kernel.store(y, i, kernel.reduce(c.kind, c.order, result, {kernel.load(x, kernel.at(i, n, k)), k}), {i});
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (DType d : {DType::f32, DType::f64, DType::i32, DType::i64})
    for (ReduceKind k :
         {ReduceKind::sum, ReduceKind::prod, ReduceKind::max, ReduceKind::min, ReduceKind::argmax, ReduceKind::argmin}) {
      out.push_back({.kind = k, .order = ReduceOrder::sequential, .dtype = d});
      if (k < ReduceKind::any) out.push_back({.kind = k, .order = ReduceOrder::striped, .dtype = d});
    }
  for (ReduceKind k : {ReduceKind::any, ReduceKind::all, ReduceKind::max, ReduceKind::min})
    out.push_back({.kind = k, .order = ReduceOrder::sequential, .dtype = DType::boolean});
  return out;
}

TEST(LowerReduce, RowsOfSymbolicExtentEqualTheKernel) {
  for (const Case& c : cases())
    for (std::int64_t max : {std::int64_t{1000}, std::int64_t{1} << 40}) {
      OneKernel k;
      make_row_reduce(k, c, k.symbol("K", max));
      for (std::int64_t n : extents) k.expect_same({{"M", 3}, {"K", n}}, 1, n % 2 == 0);
    }
}

TEST(LowerReduce, RowsOfConstantExtentEqualTheKernel) {
  for (const Case& c : cases())
    for (std::int64_t n : extents) {
      OneKernel k;
      make_row_reduce(k, c, k.g.index(n));
      k.expect_same({{"M", 19}}, 0, n % 2 == 0);
    }
}

TEST(LowerReduce, BlocksBeyond65536KeepTheirOrder) {
  for (std::int64_t max : {std::int64_t{1} << 20, std::int64_t{1} << 40})
    for (std::int64_t n : {65535, 65536, 65537, 200003}) {
      OneKernel k;
      make_row_reduce(k, {.kind = ReduceKind::sum, .order = ReduceOrder::striped, .dtype = DType::f32}, k.symbol("K", max));
      k.expect_same({{"M", 1}, {"K", n}}, 0, false);
    }
}

// y[i] = the product of row i of a with x.
void make_row_dot(OneKernel& kernel, DType d, Id n) {
  const Id m = kernel.symbol("M");
  const int a = kernel.buffer(d, kernel.index(Op::MUL, m, n)), x = kernel.buffer(d, n), y = kernel.buffer(d, m);
  const Id i = kernel.range(m), k = kernel.reduce_range(n);
  const Id value =
      kernel.reduce(ReduceKind::dot, ReduceOrder::striped, d, {kernel.load(a, kernel.at(i, n, k)), kernel.load(x, k), k});
  kernel.store(y, i, value, {i});
}

TEST(LowerReduce, DotOfSymbolicExtentEqualsTheKernel) {
  for (DType d : {DType::f32, DType::f64, DType::i32, DType::i64})
    for (std::int64_t max : {std::int64_t{1000}, std::int64_t{1} << 20, std::int64_t{1} << 40}) {
      OneKernel k;
      make_row_dot(k, d, k.symbol("K", max));
      for (std::int64_t n : extents) k.expect_same({{"M", 3}, {"K", n}}, 1, n % 2 == 0);
    }
}

TEST(LowerReduce, DotOfConstantExtentEqualsTheKernel) {
  for (DType d : {DType::f32, DType::f64, DType::i32, DType::i64})
    for (std::int64_t n : extents) {
      OneKernel k;
      make_row_dot(k, d, k.g.index(n));
      k.expect_same({{"M", 19}}, 0, n % 2 == 0);
    }
}

TEST(LowerReduce, DotBeyondABlockKeepsItsOrder) {
  for (std::int64_t max : {std::int64_t{1} << 20, std::int64_t{1} << 40})
    for (std::int64_t n : {65535, 65536, 65537, 131077}) {
      OneKernel k;
      make_row_dot(k, DType::f32, k.symbol("K", max));
      k.expect_same({{"M", 1}, {"K", n}}, 0, false);
    }
}

TEST(LowerReduce, DotOfColumnsEqualsTheKernel) {  // neighbours of the reduction are far apart in memory
  for (std::int64_t rows : extents)
    for (const bool constant : {false, true}) {
      OneKernel k;
      const Id m = constant ? k.g.index(rows) : k.symbol("M"), n = k.symbol("N");
      const int a = k.buffer(DType::f32, k.index(Op::MUL, m, n)), x = k.buffer(DType::f32, m), y = k.buffer(DType::f32, n);
      const Id j = k.range(n), r = k.reduce_range(m);
      const Id value = k.reduce(ReduceKind::dot, ReduceOrder::striped, DType::f32, {k.load(a, k.at(r, n, j)), k.load(x, r), r});
      k.store(y, j, value, {j});
      for (std::int64_t columns : {1, 15, 16, 40}) k.expect_same({{"M", rows}, {"N", columns}}, 0, false);
    }
}

TEST(LowerReduce, ColumnsAreLanesOfTheLoop) {
  for (ReduceKind kind : {ReduceKind::sum, ReduceKind::max, ReduceKind::argmax}) {
    OneKernel k;
    const Id m = k.symbol("M"), n = k.symbol("N");
    const DType result = kind == ReduceKind::argmax ? DType::i64 : DType::f32;
    const int x = k.buffer(DType::f32, k.index(Op::MUL, m, n)), y = k.buffer(result, n);
    const Id j = k.range(n), r = k.reduce_range(m);
    k.store(y, j, k.reduce(kind, ReduceOrder::sequential, result, {k.load(x, k.at(r, n, j)), r}), {j});
    for (std::int64_t columns : {1, 15, 16, 40}) k.expect_same({{"M", 5}, {"N", columns}}, 16);
  }
}

TEST(LowerReduce, MatmulTilesRowsAndSharesLoads) {
  OneKernel k;
  const Id m = k.symbol("M"), n = k.symbol("N"), depth = k.symbol("K");
  const int a = k.buffer(DType::f32, k.index(Op::MUL, m, depth)), b = k.buffer(DType::f32, k.index(Op::MUL, depth, n));
  const int c = k.buffer(DType::f32, k.index(Op::MUL, m, n));
  const Id i = k.range(m), j = k.range(n), r = k.reduce_range(depth);
  const Id value = k.reduce(ReduceKind::fma, ReduceOrder::sequential, DType::f32,
                            {k.load(a, k.at(i, depth, r)), k.load(b, k.at(r, n, j)), r});
  k.store(c, k.at(i, n, j), value, {i, j});
  k.lower();
  EXPECT_EQ(k.lowered.alignment, 6);
  const Id roots[] = {k.lowered.sink};
  bool tiled = false;
  for (Id id : k.g.reachable(roots)) tiled = tiled || (k.g.op(id) == Op::FOR && k.g.arg(id, 0) == 6);
  EXPECT_TRUE(tiled);
  for (std::int64_t rows : {1, 6, 11, 100})
    for (std::int64_t columns : {1, 16, 21})
      for (std::int64_t inner : {0, 1, 9})
        for (std::int64_t chunk : {0, 6, 12}) k.expect_same({{"M", rows}, {"N", columns}, {"K", inner}}, chunk);
}

TEST(LowerReduce, StripesInStripesKeepTheirOrder) {  // the sum of a matrix: rows, then their sums
  for (std::int64_t max : {std::int64_t{1000}, std::int64_t{1} << 40}) {
    OneKernel k;
    const Id m = k.symbol("M", max), n = k.symbol("N", max);
    const int x = k.buffer(DType::f32, k.index(Op::MUL, m, n)), y = k.buffer(DType::f32, k.g.index(1));
    const Id one = k.range(k.g.index(1)), i = k.reduce_range(m), j = k.reduce_range(n);
    const Id row = k.reduce(ReduceKind::sum, ReduceOrder::striped, DType::f32, {k.load(x, k.at(i, n, j)), j});
    const Id total = k.reduce(ReduceKind::sum, ReduceOrder::striped, DType::f32, {k.op(Op::MUL, DType::f32, {row, row}), i});
    k.store(y, one, total, {one});
    for (std::int64_t rows : {0, 1, 5, 40})
      for (std::int64_t columns : {0, 1, 33}) k.expect_same({{"M", rows}, {"N", columns}}, 0, false);
  }
}

TEST(LowerReduce, FmaOverSeveralRangesIsTiledUnderGates) {  // a convolution with zero padding
  OneKernel k;
  const Id n = k.symbol("N"), channels = k.g.index(3), taps = k.g.index(5), filters = k.g.index(6);
  const int x = k.buffer(DType::f32, k.index(Op::MUL, channels, n)), w = k.buffer(DType::f32, k.g.index(6 * 3 * 5));
  const int y = k.buffer(DType::f32, k.index(Op::MUL, filters, n));
  const Id f = k.range(filters), i = k.range(n), c = k.reduce_range(channels), t = k.reduce_range(taps);
  const Id at = k.index(Op::ADD, i, k.index(Op::SUB, t, k.g.index(2)));
  const Id inside =
      k.op(Op::AND, DType::boolean, {k.op(Op::LE, DType::boolean, {k.g.index(0), at}), k.op(Op::LT, DType::boolean, {at, n})});
  const Id weight = k.load(w, k.at(k.at(f, channels, c), taps, t));
  const Id value = k.reduce(ReduceKind::fma, ReduceOrder::sequential, DType::f32,
                            {k.load(x, k.at(c, n, at), k.f32(0), inside), weight, c, t});
  k.store(y, k.at(f, n, i), value, {f, i});
  k.lower();
  EXPECT_EQ(k.lowered.alignment, 16);  // of the columns: six filters are two shares of three
  for (std::int64_t extent : {1, 16, 37}) k.expect_same({{"N", extent}}, 16);
}

TEST(LowerReduce, SoftmaxKeepsRowReductionsOutOfTheColumns) {
  OneKernel k;
  const Id m = k.symbol("M"), n = k.symbol("N");
  const Id size = k.index(Op::MUL, m, n);
  const int x = k.buffer(DType::f32, size), y = k.buffer(DType::f32, size);
  const Id i = k.range(m), j = k.range(n), r = k.reduce_range(n), s = k.reduce_range(n);
  const Id top = k.reduce(ReduceKind::max, ReduceOrder::striped, DType::f32, {k.load(x, k.at(i, n, r)), r});
  const auto shifted = [&](Id at) { return k.op(Op::SUB, DType::f32, {k.load(x, k.at(i, n, at)), top}); };
  const Id sum = k.reduce(ReduceKind::sum, ReduceOrder::striped, DType::f32, {shifted(s), s});
  k.store(y, k.at(i, n, j), k.op(Op::FDIV, DType::f32, {shifted(j), sum}), {i, j});
  for (std::int64_t columns : {1, 10, 32, 71}) k.expect_same({{"M", 3}, {"N", columns}}, 1, false);
}

TEST(LowerReduce, TwoReductionsShareOneRange) {
  OneKernel k;
  const Id m = k.symbol("M"), n = k.symbol("N");
  const int x = k.buffer(DType::f32, k.index(Op::MUL, m, n)), y = k.buffer(DType::f32, m);
  const Id i = k.range(m), r = k.reduce_range(n);
  const Id v = k.load(x, k.at(i, n, r));
  const Id sum = k.reduce(ReduceKind::sum, ReduceOrder::striped, DType::f32, {v, r});
  const Id top = k.reduce(ReduceKind::max, ReduceOrder::striped, DType::f32, {v, r});
  k.store(y, i, k.op(Op::SUB, DType::f32, {sum, top}), {i});
  for (std::int64_t columns : {0, 1, 40}) k.expect_same({{"M", 3}, {"N", columns}}, 2, false);
}

TEST(LowerReduce, FewIterationsAroundALoopDoNotCarryMoreThanRegisters) {
  OneKernel k;
  const Id m = k.symbol("M"), five = k.g.index(5), eight = k.g.index(8), columns = k.g.index(12);
  const int x = k.buffer(DType::i64, k.index(Op::MUL, m, k.g.index(5 * 8 * 12))), y = k.buffer(DType::i64, m);
  const Id i = k.range(m), a = k.reduce_range(five), b = k.reduce_range(eight), c = k.reduce_range(columns);
  Id value = k.load(x, k.at(k.at(k.at(i, five, a), eight, b), columns, c));
  for (const Id r : {c, b, a}) value = k.reduce(ReduceKind::sum, ReduceOrder::sequential, DType::i64, {value, r});
  k.store(y, i, value, {i});
  k.lower();
  const Id roots[] = {k.lowered.sink};
  int carried = 0;  // bytes
  for (const Id id : k.g.reachable(roots))
    if (k.g.op(id) == Op::CARRY) carried += k.g.lanes(id) * bytes(k.g.dtype(id));
  EXPECT_LE(carried, 16 * 32);
  k.expect_same({{"M", 3}}, 0, false);
}

// Lanes would need each of the 36 loads one by one: a hundred instructions for each load.
TEST(LowerReduce, ManyLoadsApartGoElementByElement) {
  OneKernel k;
  const Id three = k.g.index(3), six = k.g.index(6), one = k.g.index(1);
  const int x = k.buffer(DType::f32, k.g.index(3 * 6 * 6)), y = k.buffer(DType::f32, one);
  const Id i = k.range(one), a = k.reduce_range(three), b = k.reduce_range(six), c = k.reduce_range(six);
  const Id loaded = k.load(x, k.at(k.at(a, six, b), six, c));
  Id value = loaded;
  for (int n = 0; n < 9; ++n) value = k.op(n % 2 == 0 ? Op::MUL : Op::ADD, DType::f32, {value, loaded});
  for (const Id r : {c, b, a}) value = k.reduce(ReduceKind::sum, ReduceOrder::striped, DType::f32, {value, r});
  k.store(y, i, value, {i});
  k.lower();
  const Id roots[] = {k.lowered.sink};
  for (const Id id : k.g.reachable(roots)) EXPECT_TRUE(k.g.op(id) != Op::LOAD || k.g.lanes(id) == 1);
  k.expect_same({}, 0, false);
}

}  // namespace
}  // namespace kiln::compiler::testing
