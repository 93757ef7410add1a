// Movement operations and reductions on every dtype that they accept: with 1 and 3 workers the compiled object equals the
// interpreter bit for bit, and both equal the independent reference. Symbolic and static extents: 0, 1, odd, prime, and more
// than one striped block. Writes its part of docs/reference/operations.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <vector>

#include "compiler/interp/index_value.h"
#include "compiler/interp/interpret.h"
#include "compiler/ir/builder.h"
#include "tests/run/compiled.h"
#include "tests/run/ops_table.h"
#include "tests/run/values.h"

namespace kiln::compiler::testing {
namespace {

using Values = std::map<std::string, std::int64_t>;
using Axes = std::vector<std::int64_t>;
using Ids = std::vector<Id>;

// A program with many outputs, each with a function that computes the expected contents.
class TensorProgram {
 public:
  TensorProgram(DType d, bool symbolic, Values values)
      : builder(graph), d_(d), symbolic_(symbolic), values_(std::move(values)) {
    program_.name = "f";
  }

  Id extent(const std::string& name, std::int64_t min = 0) {
    if (!symbolic_) return graph.index(values_.at(name));
    program_.symbols.push_back({name, min, std::int64_t{1} << 40, 1});
    builder.declare(program_.symbols.back());
    return graph.sym(name);
  }
  Id constant(std::int64_t v) { return graph.index(v); }
  Id input(const Ids& extents) {
    const auto slot = static_cast<int>(program_.params.size());
    program_.params.push_back({"p" + std::to_string(slot), Direction::in, d_, extents, {}});
    const Id x = builder.param(slot, program_.params.back());
    slots_[x] = static_cast<std::size_t>(slot);
    return x;
  }
  void output(const std::string& operation, Id value, std::function<Tensor()> expected) {
    const auto slot = static_cast<int>(program_.params.size());
    program_.params.push_back({"p" + std::to_string(slot), Direction::out, graph.dtype(value), builder.shape_of(value), {}});
    const Parameter& p = program_.params.back();
    stores_.push_back(builder.store(builder.param(slot, p), p, value));
    outputs_.push_back({operation, static_cast<std::size_t>(slot), std::move(expected)});
  }

  // For these functions: the present value of an extent or input.
  std::int64_t value(Id e) const { return *IndexValues(graph, values_)(e); }
  Extents value(const Ids& extents) const {
    Extents out;
    for (Id e : extents) out.push_back(value(e));
    return out;
  }
  const Tensor& tensor(Id input) const { return tensors_.at(slots_.at(input)); }

  void run(const std::vector<Values>& all) {
    program_.sink = graph.make(Op::SINK, DType::none, stores_);
    try {
      const CompiledProgram compiled(graph, program_);
      for (const Values& v : all)
        for (Data data : kinds_of_data(v)) {
          values_ = v;
          fill(data);
          check(compiled);
        }
    } catch (...) {  // the compiler or the entry rejects it; every cell gets a result
      for (const Output& o : outputs_) record_verdict(o.operation, d_, false);
      throw;
    }
  }

  Graph graph;
  Builder builder;

 private:
  struct Output {
    std::string operation;
    std::size_t slot;
    std::function<Tensor()> expected;
  };

  void fill(Data data) {
    std::mt19937 random(11);
    tensors_.clear();
    arguments_.clear();
    for (const Parameter& p : program_.params) {
      Tensor t{p.dtype, value(p.extents), {}};
      if (p.direction == Direction::in)
        t = tabulate(p.dtype, t.extents, [&](const Extents&) { return random_element(p.dtype, data, random); });
      arguments_.push_back(array_of(t));
      tensors_.push_back(std::move(t));
    }
  }

  // Large extents take most of the time, so they have one kind of data, which depends on the dtype. All kinds with the
  // environment variable KILN_ALL_CASES, which the long test sets.
  std::vector<Data> kinds_of_data(const Values& v) const {
    std::vector<Data> all{Data::plain, Data::special};
    if (is_float(d_)) all.push_back(Data::cancelling);
    const bool large = std::ranges::any_of(v, [](const auto& extent) { return extent.second > 60'000; });
    if (!large || std::getenv("KILN_ALL_CASES") != nullptr) return all;
    return {all[static_cast<std::size_t>(d_) % all.size()]};
  }

  void check(const CompiledProgram& compiled) {
    const auto interpreted = interpret(graph, program_, arguments_);
    const auto one = compiled(arguments_, 1), three = compiled(arguments_, 3);
    std::string at = symbolic_ ? "symbolic" : "static";
    for (const auto& [name, v] : values_) at += " " + name + "=" + std::to_string(v);
    for (const Output& o : outputs_) {
      const std::string reference = difference(array_of(o.expected()), interpreted[o.slot]);
      const std::string single = difference(interpreted[o.slot], one[o.slot]),
                        parallel = difference(interpreted[o.slot], three[o.slot]);
      EXPECT_EQ(reference, "") << o.operation << ": reference and interpreter, output " << o.slot << ", " << at;
      EXPECT_EQ(single, "") << o.operation << ": interpreter and compiled, output " << o.slot << ", " << at;
      EXPECT_EQ(parallel, "") << o.operation << ": interpreter and 3 workers, output " << o.slot << ", " << at;
      record_verdict(o.operation, d_, reference.empty() && single.empty() && parallel.empty());
    }
  }

  DType d_;
  bool symbolic_;
  Values values_;
  Program program_;
  std::map<Id, std::size_t> slots_;
  Ids stores_;
  std::vector<Output> outputs_;
  std::vector<Tensor> tensors_;
  std::vector<Array> arguments_;
};

// ---- movement

void add_shapes(TensorProgram& t, Id x, Id n, Id m) {
  Graph& g = t.graph;
  const auto c = [&](std::int64_t v) { return t.constant(v); };
  for (const Ids& to :
       {Ids{index_mul(g, c(6), index_mul(g, n, m))}, Ids{m, n, c(2), c(3)}, Ids{c(3), c(1), m, index_mul(g, n, c(2))}})
    t.output("reshape", t.builder.reshape(x, to), [&t, x, to] { return expected_reshape(t.tensor(x), t.value(to)); });
  for (const Axes& axes : {Axes{2, 0, 1}, Axes{1, 0, 2}, Axes{0, 2, 1}, Axes{2, 1, 0}})
    t.output("permute", t.builder.permute(x, axes), [&t, x, axes] { return expected_permute(t.tensor(x), axes); });
  const Id row = t.input({c(1), m, c(1)}), scalar = t.input({});
  for (const Ids& to : {Ids{n, m, c(1)}, Ids{c(1), m, c(7)}, Ids{c(5), m, n}})
    t.output("expand", t.builder.expand(row, to), [&t, row, to] { return expected_expand(t.tensor(row), t.value(to)); });
  const Ids one{c(1)}, line{m};
  t.output("expand", t.builder.expand(t.builder.reshape(scalar, one), line),
           [&t, scalar, line] { return expected_expand(expected_reshape(t.tensor(scalar), {1}), t.value(line)); });
}

void add_slices(TensorProgram& t, Id x, Id n, Id m) {
  Graph& g = t.graph;
  const auto c = [&](std::int64_t v) { return t.constant(v); };
  const auto times = [&](std::int64_t v, std::int64_t plus) { return index_add(g, index_mul(g, n, c(v)), c(plus)); };
  const Id y = t.input({times(6, 1), c(5)});
  const auto slice = [&](Id from, const Ids& begin, const Axes& step, const Ids& extents) {
    t.output("slice", t.builder.slice(from, begin, step, extents), [&t, from, begin, step, extents] {
      return expected_slice(t.tensor(from), t.value(begin), step, t.value(extents));
    });
  };
  slice(y, {c(1), c(0)}, {1, 2}, {times(6, 0), c(3)});
  slice(y, {c(0), c(4)}, {2, -1}, {times(3, 1), c(5)});
  slice(y, {times(6, 0), c(4)}, {-1, -3}, {times(6, 1), c(2)});
  slice(y, {times(6, 0), c(2)}, {-3, 1}, {times(2, 1), c(0)});
  slice(y, {times(6, 0), c(1)}, {-3, 1}, {times(2, 1), c(3)});
  slice(x, {c(0), c(5), index_sub(g, m, c(1))}, {1, -2, -1}, {n, c(3), m});
}

void add_pads(TensorProgram& t, DType d, Id x, Id n, Id m) {
  Graph& g = t.graph;
  const auto c = [&](std::int64_t v) { return t.constant(v); };
  const auto plus = [&](Id e, std::int64_t v) { return index_add(g, e, c(v)); };
  const Bits bits = is_float(d) ? real_bits(d, -1.5L) : 1;
  const Id value = t.builder.constant(d, bits), z = t.input({m, c(5)});
  const auto pad = [&](Id from, PadMode mode, const Ids& before, const Ids& extents) {
    t.output("pad " + std::string(name(mode)), t.builder.pad(from, value, mode, before, extents),
             [&t, bits, from, mode, before, extents] {
               return expected_pad(t.tensor(from), bits, mode, t.value(before), t.value(extents));
             });
  };
  pad(x, PadMode::constant, {c(2), c(1), c(0)}, {plus(n, 5), c(7), plus(m, 3)});
  pad(x, PadMode::constant, {n, c(0), c(0)}, {index_mul(g, n, c(2)), c(6), m});
  for (PadMode mode : {PadMode::constant, PadMode::edge, PadMode::reflect, PadMode::wrap}) {
    pad(z, mode, {c(3), c(2)}, {plus(m, 5), c(11)});
    pad(z, mode, {c(0), c(4)}, {plus(m, 3), c(9)});
  }
}

void add_concats(TensorProgram& t, Id x, Id n, Id m) {
  const auto c = [&](std::int64_t v) { return t.constant(v); };
  const Id a = t.input({n, c(6), c(3)}), b = t.input({c(5), c(6), m}), e = t.input({n, c(1), m});
  const auto concat = [&](const Ids& parts, std::int64_t axis) {
    t.output("concat", t.builder.concat(parts, axis), [&t, parts, axis] {
      std::vector<Tensor> tensors;
      for (Id p : parts) tensors.push_back(t.tensor(p));
      return expected_concat(tensors, axis);
    });
  };
  concat({x, a, x}, 2);
  concat({b, x}, 0);
  concat({e, x, e}, 1);
  concat({x}, 1);
}

void movement(DType d, bool symbolic, const std::vector<Values>& values) {
  TensorProgram t(d, symbolic, values[0]);
  const Id n = t.extent("N"), m = t.extent("M", 4);
  const Id x = t.input({n, t.constant(6), m});
  add_shapes(t, x, n, m);
  add_slices(t, x, n, m);
  add_pads(t, d, x, n, m);
  add_concats(t, x, n, m);
  if (d != DType::boolean)
    for (Id e : {t.extent("L"), t.constant(300), t.constant(70001)})
      t.output("iota", t.builder.iota(d, e), [&t, d, e] { return expected_iota(d, t.value(e)); });
  t.run(values);
}

// ---- reductions

void reductions(DType d, bool symbolic, const std::vector<Values>& values) {
  TensorProgram t(d, symbolic, values[0]);
  const Id n = t.extent("N"), m = t.extent("M"), l = t.extent("L");
  const Id x = t.input({n, t.constant(3), m}), line = t.input({l}), column = t.input({l, t.constant(2)});
  for (int k = 0; k <= static_cast<int>(ReduceKind::argmin); ++k) {
    const auto kind = static_cast<ReduceKind>(k);
    std::string problem;
    if (reduce_dtype(kind, d, problem) == DType::none) continue;
    const auto reduce = [&](Id from, const Axes& axes) {
      t.output("reduce " + std::string(name(kind)), t.builder.reduce(kind, from, axes),
               [&t, kind, from, axes] { return expected_reduce(kind, t.tensor(from), axes); });
    };
    for (std::int64_t axis : {0, 1, 2}) reduce(x, {axis});
    reduce(line, {0});
    reduce(column, {0});
    if (kind == ReduceKind::argmax || kind == ReduceKind::argmin) continue;
    for (const Axes& axes : {Axes{0, 1}, Axes{0, 2}, Axes{1, 2}, Axes{0, 1, 2}}) reduce(x, axes);
  }
  t.run(values);
}

// scan_test.cpp has long lines.
void scans(DType d, bool symbolic, const std::vector<Values>& values) {
  TensorProgram t(d, symbolic, values[0]);
  const Id n = t.extent("N"), m = t.extent("M"), l = t.extent("L");
  const Id x = t.input({n, t.constant(3), m}), line = t.input({l}), columns = t.input({l, t.constant(20)});
  for (const ReduceKind kind : {ReduceKind::sum, ReduceKind::prod, ReduceKind::max, ReduceKind::min}) {
    std::string problem;
    if (scan_dtype(kind, d, problem) == DType::none) continue;
    const auto scan = [&](Id from, std::int64_t axis, bool exclusive, bool reversed) {
      t.output("scan " + std::string(name(kind)), t.builder.scan(kind, from, axis, exclusive, reversed),
               [&t, kind, from, axis, exclusive, reversed] {
                 return expected_scan(kind, t.tensor(from), axis, exclusive, reversed);
               });
    };
    scan(x, 0, false, true);
    scan(x, 2, kind == ReduceKind::prod, kind == ReduceKind::max);
    if (kind == ReduceKind::sum) scan(line, 0, true, true);
    if (kind == ReduceKind::sum) scan(columns, 0, true, false);
  }
  t.run(values);
}

// Striped products: two vectors, each row with a vector, each row of a batch, and columns that are far apart in memory.
void add_dots(TensorProgram& t, DType d, Id m, Id k) {
  Builder& b = t.builder;
  const Id two = t.constant(2), u = t.input({k}), v = t.input({k}), a = t.input({m, k}), batch = t.input({two, m, k}),
           columns = t.input({k, m}), few = t.input({m, t.constant(5)}), five = t.input({t.constant(5)});
  const auto dot = [&](Id x, Id y, const Axes& axes, const Ids& shape, Id count, auto in_x) {
    t.output("reduce dot", b.reduce_dot(x, y, axes), [&t, d, y, shape, count, in_x] {
      return tabulate(d, t.value(shape), [&](const Extents& c) {
        return expected_dot(
            d, t.value(count), [&](std::int64_t i) { return in_x(c, i); }, [&](std::int64_t i) { return t.tensor(y).at({i}); });
      });
    });
  };
  dot(u, v, {0}, {}, k, [&t, u](const Extents&, std::int64_t i) { return t.tensor(u).at({i}); });
  dot(u, u, {0}, {}, k, [&t, u](const Extents&, std::int64_t i) { return t.tensor(u).at({i}); });
  dot(a, v, {1}, {m}, k, [&t, a](const Extents& c, std::int64_t i) { return t.tensor(a).at({c[0], i}); });
  dot(batch, v, {2}, {two, m}, k,
      [&t, batch](const Extents& c, std::int64_t i) { return t.tensor(batch).at({c[0], c[1], i}); });
  dot(few, five, {1}, {m}, t.constant(5), [&t, few](const Extents& c, std::int64_t i) { return t.tensor(few).at({c[0], i}); });
  dot(b.permute(columns, Axes{1, 0}), v, {1}, {m}, k,
      [&t, columns](const Extents& c, std::int64_t i) { return t.tensor(columns).at({i, c[0]}); });
}

// Matrix products as the front end writes them: reshape and expand to a common shape, then one chain of fma.
void products(DType d, bool symbolic, const std::vector<Values>& values) {
  TensorProgram t(d, symbolic, values[0]);
  Builder& b = t.builder;
  const Id m = t.extent("M"), k = t.extent("K"), n = t.extent("N"), one = t.constant(1), two = t.constant(2);
  const Id x = t.input({m, k}), y = t.input({k, n}), z = t.input({n, k}), w = t.input({m, k}), xs = t.input({two, m, k}),
           ys = t.input({two, k, n});
  const auto view = [&](Id v, const Ids& shape, const Ids& full) { return b.expand(b.reshape(v, shape), full); };
  const Axes first{1}, second{2}, both{0, 1};
  const Ids mkn{m, k, n}, mnk{m, n, k}, batched{two, m, k, n};
  t.output("reduce fma", b.reduce_fma(view(x, {m, k, one}, mkn), view(y, {one, k, n}, mkn), first), [&t, d, x, y, k, m, n] {
    return tabulate(d, t.value(Ids{m, n}), [&](const Extents& c) {
      return expected_chain(
          d, t.value(k), [&](std::int64_t i) { return t.tensor(x).at({c[0], i}); },
          [&](std::int64_t i) { return t.tensor(y).at({i, c[1]}); });
    });
  });
  t.output("reduce fma", b.reduce_fma(view(x, {m, one, k}, mnk), view(z, {one, n, k}, mnk), second), [&t, d, x, z, k, m, n] {
    return tabulate(d, t.value(Ids{m, n}), [&](const Extents& c) {
      return expected_chain(
          d, t.value(k), [&](std::int64_t i) { return t.tensor(x).at({c[0], i}); },
          [&](std::int64_t i) { return t.tensor(z).at({c[1], i}); });
    });
  });
  t.output("reduce fma", b.reduce_fma(view(xs, {two, m, k, one}, batched), view(ys, {two, one, k, n}, batched), second),
           [&t, d, xs, ys, k, m, n] {
             return tabulate(d, {2, t.value(m), t.value(n)}, [&](const Extents& c) {
               return expected_chain(
                   d, t.value(k), [&](std::int64_t i) { return t.tensor(xs).at({c[0], c[1], i}); },
                   [&](std::int64_t i) { return t.tensor(ys).at({c[0], i, c[2]}); });
             });
           });
  t.output("reduce fma", b.reduce_fma(x, w, both), [&t, d, x, w] {
    return tabulate(d, {}, [&](const Extents&) {
      const auto &p = t.tensor(x).elements, &q = t.tensor(w).elements;  // row-major order of both axes
      return expected_chain(
          d, static_cast<std::int64_t>(p.size()), [&](std::int64_t i) { return p[static_cast<std::size_t>(i)]; },
          [&](std::int64_t i) { return q[static_cast<std::size_t>(i)]; });
    });
  });
  add_dots(t, d, m, k);
  t.run(values);
}

Values of(std::int64_t n, std::int64_t m, std::int64_t l) { return {{"N", n}, {"M", m}, {"L", l}}; }
Values matmul(std::int64_t m, std::int64_t k, std::int64_t n) { return {{"M", m}, {"K", k}, {"N", n}}; }

// With symbolic extents, and with one of the `fixed` extents: each of them has several dtypes of different sizes.
void both_ways(auto function, DType d, const std::vector<Values>& symbolic, const std::vector<Values>& fixed) {
  function(d, true, symbolic);
  function(d, false, {fixed[static_cast<std::size_t>(d) % fixed.size()]});
}

class TensorOperations : public ::testing::TestWithParam<DType> {};

TEST_P(TensorOperations, Movement) {
  both_ways(movement, GetParam(), {of(0, 5, 0), of(1, 4, 1), of(5, 7, 131), of(7, 33, 7), of(33, 131, 70001)},
            {of(7, 33, 131), of(0, 4, 1), of(1, 5, 0)});
}
TEST_P(TensorOperations, Reductions) {
  both_ways(reductions, GetParam(),
            {of(0, 5, 0), of(7, 0, 1), of(1, 1, 31), of(5, 33, 33), of(33, 7, 131), of(131, 5, 70001), of(7, 131, 65537)},
            {of(7, 33, 70001), of(0, 5, 1), of(131, 1, 0)});
}
TEST_P(TensorOperations, Scans) {
  both_ways(scans, GetParam(), {of(0, 5, 0), of(5, 16, 17), of(33, 48, 131)}, {of(7, 33, 48)});
}
TEST_P(TensorOperations, MatrixProducts) {
  if (GetParam() == DType::boolean) return;
  both_ways(products, GetParam(),
            {matmul(0, 5, 7), matmul(5, 0, 7), matmul(1, 1, 1), matmul(7, 33, 5), matmul(33, 131, 7), matmul(131, 7, 33),
             matmul(1, 70001, 2), matmul(3, 31, 1), matmul(2, 32, 1), matmul(1, 65537, 1)},
            {matmul(7, 33, 5), matmul(5, 0, 1), matmul(1, 131, 33)});
}

INSTANTIATE_TEST_SUITE_P(DTypes, TensorOperations,
                         ::testing::Values(DType::boolean, DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16,
                                           DType::u32, DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64),
                         [](const auto& parameter) { return std::string(name(parameter.param)); });

}  // namespace
}  // namespace kiln::compiler::testing
