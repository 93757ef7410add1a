// Random kernels: elementwise expressions over shifted, strided and gated reads, and nested reductions.
#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

class RandomKernel {
 public:
  // depth: of its expression.
  RandomKernel(std::uint32_t seed, int depth) : k(seed), random(seed) {
    m = k.symbol("M"), n = k.symbol("N", pick(2) == 0 ? 1000 : std::int64_t{1} << 40);
    const Id size = k.index(Op::MUL, m, n);
    for (DType d : {DType::f32, DType::f32, DType::i32, DType::boolean}) k.buffer(d, size);
    out = k.buffer(DType::f32, size);
    i = k.range(m), j = k.range(n);
    scope = {{i, m}, {j, n}};
    k.store(out, k.at(i, n, j), value(depth), {i, j});
  }

  OneKernel k;

 private:
  std::int64_t pick(std::int64_t below) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(below)); }

  // An index below `extent`: a range of this extent, shifted under a gate, or reversed.
  std::pair<Id, Id> position(Id extent) {
    std::vector<Id> fitting;
    for (const auto& [r, e] : scope)
      if (e == extent) fitting.push_back(r);
    const Id r = fitting[static_cast<std::size_t>(pick(static_cast<std::int64_t>(fitting.size())))];
    switch (pick(4)) {
      case 0: {
        const Id moved = k.index(Op::ADD, r, k.g.index(pick(5) - 2));
        return {moved,
                k.op(Op::AND, DType::boolean,
                     {k.op(Op::LE, DType::boolean, {k.g.index(0), moved}), k.op(Op::LT, DType::boolean, {moved, extent})})};
      }
      case 1: return {k.index(Op::SUB, k.index(Op::SUB, extent, k.g.index(1)), r), no_id};
      default: return {r, no_id};
    }
  }

  Id read(int buffer, DType d) {
    const auto [row, row_gate] = position(m);
    const auto [column, column_gate] = position(n);
    Id gate = row_gate == no_id ? column_gate : row_gate;
    if (row_gate != no_id && column_gate != no_id) gate = k.op(Op::AND, DType::boolean, {row_gate, column_gate});
    const Id at = k.at(row, n, column);
    return gate == no_id ? k.load(buffer, at) : k.load(buffer, at, k.g.constant(d, 1), gate);
  }

  Id reduction(int depth) {
    static constexpr ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::max, ReduceKind::min, ReduceKind::fma, ReduceKind::dot};
    const bool columns = pick(2) == 0;
    const Id extent = columns ? n : m;
    const Id r = k.reduce_range(extent);
    scope.push_back({r, extent});
    const ReduceKind kind = kinds[pick(5)];
    std::vector<Id> s = {value(depth - 1)};
    if (operands_of(kind) == 2) s.push_back(value(depth - 1));
    s.push_back(r);
    scope.pop_back();
    const bool striped = kind == ReduceKind::dot || (kind != ReduceKind::fma && pick(2) == 0);
    return k.reduce(kind, striped ? ReduceOrder::striped : ReduceOrder::sequential, DType::f32, s);
  }

  Id value(int depth) {
    const std::int64_t choice = pick(depth > 0 ? 8 : 2);
    switch (choice) {
      case 0: return read(static_cast<int>(pick(2)), DType::f32);
      case 1: return k.op(Op::CAST, DType::f32, {read(2, DType::i32)});
      case 2: return k.op(Op::WHERE, DType::f32, {read(3, DType::boolean), value(depth - 1), value(depth - 1)});
      case 3: return reduction(depth);
      case 4: return k.op(Op::MAX, DType::f32, {value(depth - 1), value(depth - 1)});
      case 5: return k.op(Op::CAST, DType::f32, {k.op(Op::CAST, DType::i32, {position(n).first})});
      default: return k.op(choice == 6 ? Op::ADD : Op::MUL, DType::f32, {value(depth - 1), value(depth - 1)});
    }
  }

  std::mt19937 random;
  Id m, n, i, j;
  int out = 0;
  std::vector<std::pair<Id, Id>> scope;
};

// Small expressions and extents come first, so the kernel that a failure prints is a small one.
TEST(LowerRandom, SameAsTheKernel) {
  const struct {
    int depth;
    std::uint32_t kernels;
  } campaigns[] = {
      {.depth = 0, .kernels = 10}, {.depth = 1, .kernels = 20}, {.depth = 2, .kernels = 40}, {.depth = 3, .kernels = 150}};
  for (const auto& [depth, kernels] : campaigns)
    for (std::uint32_t seed = 0; seed < kernels; ++seed) {
      SCOPED_TRACE("kernel of seed " + std::to_string(seed) + ", depth " + std::to_string(depth));
      RandomKernel kernel(seed, depth);
      static constexpr std::int64_t sizes[][2] = {{1, 1}, {3, 17}, {6, 33}};
      for (const auto& [rows, columns] : sizes) kernel.k.expect_same({{"M", rows}, {"N", columns}}, 4);
      if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace kiln::compiler::testing
