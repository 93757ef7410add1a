// Derivatives of convolutions and pools: contractions without atomic sums, equal to dual numbers.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "compiler/autodiff/differentiate.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/pipeline/run_passes.h"
#include "tests/grad/dual.h"
#include "tests/unit/interp_harness.h"

namespace kiln::compiler::testing {
namespace {

using Extents = std::vector<Id>;

// The view of windows as dsl/include/kiln/dsl/window.h makes it: [.., n, ..] to [.., kernel, count, ..].
Id windows(Builder& b, Id x, std::size_t axis, std::int64_t kernel, std::int64_t stride, std::int64_t dilation) {
  Graph& g = b.graph();
  Extents taps = b.shape_of(x);
  const Id last = index_sub(g, taps[axis], g.index(dilation * (kernel - 1) + 1));
  const Id steps = index_floordiv(g, last, g.index(stride));
  const Id count = index_add(g, steps, g.index(1));
  taps.insert(taps.begin() + static_cast<std::ptrdiff_t>(axis), g.index(1));
  const Id single = b.reshape(x, taps);
  taps[axis] = g.index(kernel);
  const Id copies = b.expand(single, taps);
  const auto k = static_cast<std::int64_t>(axis);
  return b.shear(copies, k, k + 1, stride, dilation, count);
}

struct Conv {
  std::int64_t stride, padding, dilation, batch;
};

int contractions(const Graph& g, Id sink) {
  int n = 0;
  for (const Id id : g.reachable(sink)) n += g.op(id) == Op::REDUCE && g.reduce_kind(id) == ReduceKind::fma ? 1 : 0;
  return n;
}
int count(const Graph& g, Id sink, std::initializer_list<Op> ops) {
  int n = 0;
  for (const Id id : g.reachable(sink))
    for (const Op op : ops) n += g.op(id) == op && g.dtype(id) != DType::index ? 1 : 0;
  return n;
}

class Maker {
 public:
  Maker() : b(g) {
    b.infer_minimums();
    p.name = "p";
  }
  Id input(const char* name, Extents extents) { return add(name, Direction::in, std::move(extents)); }
  void output(const char* name, Id value) {
    const Id param = add(name, Direction::out, b.shape_of(value));
    stores.push_back(b.store(param, p.params.back(), value));
  }
  void finish() {
    p.sink = b.sink(p.params, stores);
    b.apply_minimums(p);
  }
  // Arguments with values that differ.
  std::vector<Array> arguments(std::int64_t height) {
    std::vector<Array> out;
    int k = 0;
    for (const Parameter& q : p.params) {
      std::vector<std::int64_t> extents;
      std::size_t n = 1;
      for (const Id e : q.extents) {
        const auto v = index_value(g, e);
        extents.push_back(v ? *v : height);
        n *= static_cast<std::size_t>(extents.back());
      }
      if (q.direction == Direction::out) {
        out.push_back(Array::zeros(q.dtype, extents));
        continue;
      }
      std::vector<double> v;
      for (std::size_t i = 0; i < n; ++i) v.push_back(std::sin(static_cast<double>(++k) * 1.7) + 0.1);
      out.push_back(array<double>(extents, v));
    }
    return out;
  }

  Graph g;
  Builder b;
  Program p;
  std::vector<Id> stores;

 private:
  Id add(const char* name, Direction d, Extents extents) {
    p.params.push_back({name, d, DType::f64, std::move(extents), {}});
    return b.param(static_cast<int>(p.params.size()) - 1, p.params.back());
  }
};

// The gradient outputs dx and dw of the program with cotangent c, against dual numbers along each input as direction.
void expect_duals(Maker& m, Id y, const std::vector<Array>& arguments) {
  verify(m.g, m.p);
  Program plain = m.p;
  differentiate(m.g, plain);
  const std::vector<Array> out = interpret(m.g, m.p, arguments);
  Duals duals(m.g, plain, arguments);
  const std::vector<double> c = values<double>(arguments[2]);
  for (const std::size_t i : {0U, 1U}) {
    const Id x = m.b.param(static_cast<int>(i), m.p.params[i]);
    const std::vector<double> v = values<double>(arguments[i]), g = values<double>(out[3 + i]);
    const Tangent t = duals.tangent(y, {{x, v}});
    double got = 0, expected = 0, scale = 0;
    for (std::size_t k = 0; k < v.size(); ++k) got += g[k] * v[k];
    for (std::size_t k = 0; k < c.size(); ++k) {
      expected += c[k] * t.value[k];
      scale += std::abs(c[k]) * t.scale[k];
    }
    EXPECT_NEAR(got, expected, 1e-12 * scale) << m.p.params[i + 3].name;
  }
}

}  // namespace

TEST(Grad, ConvIsContractions) {
  for (const bool symbolic : {false, true})
    for (const Conv c : {Conv{1, 0, 1, 2}, Conv{1, 1, 1, 2}, Conv{2, 1, 1, 2}, Conv{1, 2, 2, 2}, Conv{2, 2, 2, 2},
                         Conv{3, 0, 1, 2}, Conv{1, 1, 1, 4}}) {
      Maker m;
      Graph& g = m.g;
      Builder& b = m.b;
      const Id n2 = g.index(c.batch), n3 = g.index(3), n4 = g.index(4), n9 = g.index(9);
      const Id height = symbolic ? g.sym("H") : n9;
      if (symbolic) {
        Symbol s;
        s.name = "H";
        s.min = 9;
        m.p.symbols.push_back(s);
        b.declare(s);
      }
      const Id x = m.input("x", {n2, n4, height, n9}), w = m.input("w", {n3, n4, n3, n3});
      const Id zero = b.constant(DType::f64, 0), border = g.index(c.padding), none = g.index(0);
      const Id tall = index_add(g, height, g.index(2 * c.padding)), wide = g.index(9 + 2 * c.padding);
      const Id padded = b.pad(x, zero, PadMode::constant, Extents{none, none, border, border}, Extents{n2, n4, tall, wide});
      const Id rows = windows(b, padded, 2, 3, c.stride, c.dilation);
      const Id view = windows(b, rows, 4, 3, c.stride, c.dilation);  // [N, C, KH, OH, KW, OW]
      const Id moved = b.permute(view, std::vector<std::int64_t>{0, 3, 5, 1, 2, 4});
      const Extents v = b.shape_of(moved);
      const Id one = g.index(1);
      const Id left = b.reshape(moved, Extents{v[0], one, v[1], v[2], v[3], v[4], v[5]});
      const Id right = b.reshape(w, Extents{one, n3, one, one, n4, n3, n3});
      const Extents all{v[0], n3, v[1], v[2], v[3], v[4], v[5]};
      const Id left_all = b.expand(left, all), right_all = b.expand(right, all);
      const Id y = b.reduce_fma(left_all, right_all, std::vector<std::int64_t>{4, 5, 6});
      const Id ct = m.input("c", b.shape_of(y));
      m.output("dx", b.gradient(y, ct, x));
      m.output("dw", b.gradient(y, ct, w));
      m.output("y", y);
      m.finish();
      std::vector<Array> arguments = m.arguments(10);
      const std::int64_t out_rows = (10 + 2 * c.padding - 2 * c.dilation - 1) / c.stride + 1;
      for (const std::size_t i : {2U, 5U})
        if (symbolic) {
          const std::vector<std::int64_t> shape{c.batch, 3, out_rows, arguments[i].extents[3]};
          arguments[i] = Array::zeros(DType::f64, shape);
          std::vector<double> values(arguments[i].elements());
          for (std::size_t k = 0; k < values.size(); ++k) values[k] = std::cos(static_cast<double>(k));
          if (i == 2) arguments[i] = array<double>(shape, values);
        }
      expect_duals(m, y, arguments);
      Program plain = m.p;
      differentiate(g, plain);
      // With a stride the derivative by the image has parts by the number of their taps.
      const bool is_split = c.stride > 1 && c.dilation == 1;
      const int parts = !is_split || 3 % c.stride == 0 ? 1 : 4;
      EXPECT_EQ(contractions(g, plain.sink), 2 + parts);
      EXPECT_EQ(count(g, plain.sink, {Op::MUL, Op::ATOMIC, Op::KERNEL, Op::GATHER}), 0);
      // One kernel for y and for each derivative, two copies for a long sum by the filter, and one for each axis with a stride
      // and a dilation. The sums of the parts have at most 12 terms, so one kernel computes all of them.
      if (symbolic) continue;
      const std::size_t kernels = run_passes(g, m.p, {.last = "kernel_split"}).schedule.kernels.size();
      const std::int64_t side = (9 + 2 * c.padding - 2 * c.dilation - 1) / c.stride + 1;
      const std::size_t copies = c.batch * side * side >= 32 ? 2 : 0, spread = c.stride > 1 && !is_split ? 2 : 0;
      EXPECT_EQ(kernels, 3U + copies + spread) << c.stride << c.dilation;
    }
}

// The derivative by the filter of a depthwise convolution has a chain for each column, and the sum of the columns comes last.
TEST(Grad, ColumnsOfADepthwiseConvAreSummedLast) {
  constexpr std::size_t batch = 2, channels = 3, rows = 4, columns = 20;
  Maker m;
  Graph& g = m.g;
  Builder& b = m.b;
  const Id one = g.index(1), n3 = g.index(3), none = g.index(0), tall = g.index(rows + 2), wide = g.index(columns + 2);
  const Id n = g.index(batch), c = g.index(channels), h = g.index(rows), w = g.index(columns);
  const Id x = m.input("x", {n, c, h, w}), filters = m.input("w", {c, n3, n3});
  const Id zero = b.constant(DType::f64, 0);
  const Id padded = b.pad(x, zero, PadMode::constant, Extents{none, none, one, one}, Extents{n, c, tall, wide});
  const Id view = windows(b, windows(b, padded, 2, 3, 1, 1), 4, 3, 1, 1);  // [N, C, KH, H, KW, W]
  const Id moved = b.permute(view, std::vector<std::int64_t>{0, 1, 3, 5, 2, 4});
  const Id taps = b.reshape(filters, Extents{one, c, one, one, n3, n3});
  const Id y = b.reduce_fma(moved, b.expand(taps, b.shape_of(moved)), std::vector<std::int64_t>{4, 5});
  const Id ct = m.input("c", b.shape_of(y));
  m.output("dx", b.gradient(y, ct, x));
  m.output("dw", b.gradient(y, ct, filters));
  m.output("y", y);
  m.finish();
  const std::vector<Array> arguments = m.arguments(10);
  expect_duals(m, y, arguments);
  const std::vector<double> image = values<double>(arguments[0]), adjoint = values<double>(arguments[2]);
  const std::vector<double> dw = values<double>(interpret(g, m.p, arguments)[4]);
  for (std::size_t k = 0; k < channels * 9; ++k) {
    const std::size_t channel = k / 9, dy = k / 3 % 3, dx = k % 3;
    std::array<double, 32> sums{};
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t i = 0; i < batch * rows; ++i) {
        const std::size_t plane = i / rows * channels + channel, u = i % rows + dy - 1, v = j + dx - 1;
        const double pixel = u < rows && v < columns ? image[(plane * rows + u) * columns + v] : 0;
        sums[j] = std::fma(adjoint[(plane * rows + i % rows) * columns + j], pixel, sums[j]);
      }
    for (std::size_t half = 16; half > 0; half /= 2)
      for (std::size_t j = 0; j < half; ++j) sums[j] += sums[j + half];
    EXPECT_EQ(dw[k], sums[0]) << k;
  }
}

// Sums of windows with steps: the derivative has parts side by side, or in one tensor if the stride does not divide the extent.
// Parts have different numbers of taps, or none.
TEST(Grad, SumsOfWindowsWithSteps) {
  for (const std::int64_t n : {8, 9, 12})
    for (const std::int64_t stride : {2, 3, 4})
      for (const std::int64_t taps : {1, 2, 3, 5}) {
        Maker m;
        Builder& b = m.b;
        const Id x = m.input("x", {m.g.index(n)}), w = m.input("w", {m.g.index(taps)});
        const Id view = windows(b, x, 0, taps, stride, 1);  // [taps, windows]
        const Id factors = b.reshape(w, Extents{m.g.index(taps), m.g.index(1)});
        const Id waves = b.elementwise(Op::SIN, {view}), all = b.expand(factors, b.shape_of(view));
        const Id y = b.reduce(ReduceKind::sum, b.elementwise(Op::MUL, {waves, all}), std::vector<std::int64_t>{0});
        const Id ct = m.input("c", b.shape_of(y));
        m.output("dx", b.gradient(y, ct, x));
        m.output("dw", b.gradient(y, ct, w));
        m.output("y", y);
        m.finish();
        SCOPED_TRACE(::testing::Message() << "n " << n << ", stride " << stride << ", taps " << taps);
        expect_duals(m, y, m.arguments(0));
      }
}

TEST(Grad, PoolFirstOfWindow) {
  Maker m;
  Builder& b = m.b;
  const Id x = m.input("x", {m.g.index(7)});
  const Id view = windows(b, x, 0, 3, 2, 1);
  const Id y = b.reduce(ReduceKind::max, view, std::vector<std::int64_t>{0});
  const Id ones = b.broadcast_to(b.constant(DType::f64, 0x3ff0000000000000), b.shape_of(y));
  m.output("g", b.gradient(y, ones, x));
  m.finish();
  const std::vector<Array> out =
      interpret(m.g, m.p, {{array<double>({7}, {0, 0, 5, 5, 5, 1, 9}), Array::zeros(DType::f64, {7})}});
  EXPECT_EQ(values<double>(out[1]), (std::vector<double>{0, 0, 2, 0, 0, 0, 1}));
}

}  // namespace kiln::compiler::testing
