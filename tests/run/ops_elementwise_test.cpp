// Every elementwise operation on every dtype that it accepts: interpreter and compiled object are equal bit for bit, and
// agree with the independent reference, over special values, extents 0, 1, odd, prime and even, symbolic and static. Writes
// its part of docs/reference/operations.md.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "compiler/interp/interpret.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/typing.h"
#include "tests/run/compiled.h"
#include "tests/run/ops_table.h"
#include "tests/run/values.h"

namespace kiln::compiler::testing {
namespace {

Array array_of(DType d, const std::vector<Bits>& v) { return array_of(Tensor{d, {static_cast<std::int64_t>(v.size())}, v}); }
Bits element(const Array& a, std::size_t i) {
  Bits b = 0;
  std::memcpy(&b, a.data.data() + i * static_cast<std::size_t>(bytes(a.dtype)), static_cast<std::size_t>(bytes(a.dtype)));
  return b;
}

struct Case {
  Op op;
  DType d, result;
};

std::vector<DType> operand_types(const Case& c) {
  std::vector<DType> t(static_cast<std::size_t>(arity(c.op)), c.d);
  if (c.op == Op::WHERE) t[0] = DType::boolean;
  return t;
}

// All pairs of special values; random triples.
std::vector<std::vector<Bits>> combinations(const Case& c) {
  const auto types = operand_types(c);
  std::vector<std::vector<Bits>> columns(types.size());
  std::mt19937 random(7);
  if (types.size() <= 2) {
    const auto a = special_values(types[0]), b = types.size() == 2 ? special_values(types[1]) : std::vector<Bits>{0};
    for (Bits x : a)
      for (Bits y : b) {
        columns[0].push_back(x);
        if (types.size() == 2) columns[1].push_back(y);
      }
  }
  while (columns[0].size() < 211 || (types.size() == 3 && columns[0].size() < 1009))
    for (std::size_t k = 0; k < types.size(); ++k) {
      const auto v = special_values(types[k]);
      columns[k].push_back(v[random() % v.size()]);
    }
  return columns;
}

class ElementwiseTest {
 public:
  explicit ElementwiseTest(const Case& c) : case_(c), types_(operand_types(c)), columns_(combinations(c)) {}

  void run() {
    const auto n = static_cast<std::int64_t>(columns_[0].size());
    symbolic(n);
    Program p = program("f", graph_.index(n));
    const CompiledProgram compiled(graph_, p);
    check(p, compiled, static_cast<std::size_t>(n));
  }
  double worst() const { return worst_; }

 private:
  void symbolic(std::int64_t n) {
    Program p = program("s", graph_.sym("N"));
    p.symbols = {{"N", 0, std::int64_t{1} << 40, 1}};
    const CompiledProgram compiled(graph_, p);
    for (std::int64_t m : {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, std::int64_t{131}, n})
      check(p, compiled, static_cast<std::size_t>(m));
  }

  Program program(const char* name, Id extent) {
    Builder b(graph_);
    Program p;
    p.name = name;
    std::vector<Id> x;
    for (std::size_t k = 0; k < types_.size(); ++k) {
      p.params.push_back({"x" + std::to_string(k), Direction::in, types_[k], {extent}, {}});
      x.push_back(b.param(static_cast<int>(k), p.params.back()));
    }
    p.params.push_back({"y", Direction::out, case_.result, {extent}, {}});
    const bool converts = case_.op == Op::CAST || case_.op == Op::BITCAST;
    const Id y = b.elementwise(case_.op, x, converts ? case_.result : DType::none);
    const Id stores[] = {b.store(b.param(static_cast<int>(types_.size()), p.params.back()), p.params.back(), y)};
    p.sink = graph_.make(Op::SINK, DType::none, stores);
    return p;
  }

  void check(const Program& p, const CompiledProgram& compiled, std::size_t n) {
    std::vector<Array> arguments;
    for (std::size_t k = 0; k < types_.size(); ++k)
      arguments.push_back(array_of(types_[k], {columns_[k].begin(), columns_[k].begin() + static_cast<std::ptrdiff_t>(n)}));
    arguments.push_back({case_.result, {static_cast<std::int64_t>(n)}, {}});
    const Array interpreted = interpret(graph_, p, arguments).back();
    const Array got = compiled(arguments).back();
    ASSERT_EQ(difference(interpreted, got), "") << "compiled and interpreted differ, n = " << n;
    for (std::size_t i = 0; i < n; ++i) check_element(i, element(got, i));
  }

  void check_element(std::size_t i, Bits got) {
    std::vector<Bits> x;
    for (const auto& c : columns_) x.push_back(c[i]);
    const Expected e = expected_element(case_.op, case_.d, case_.result, x);
    if (e.ulps == 0) {
      if (is_nan(case_.result, e.exact) && is_nan(case_.result, got)) return;
      ASSERT_EQ(e.exact, got) << "element " << i << " operands " << std::hex << x[0] << " " << (x.size() > 1 ? x[1] : 0);
    } else {
      const double d = distance_in_ulps(case_.result, got, e.value);
      ASSERT_LE(d, e.ulps) << "operands " << static_cast<double>(real_value(case_.d, x[0])) << ", "
                           << (x.size() > 1 ? static_cast<double>(real_value(case_.d, x[1])) : 0.0) << " expected "
                           << static_cast<double>(e.value) << " got " << static_cast<double>(real_value(case_.result, got));
      worst_ = std::max(worst_, d);
    }
  }

  Case case_;
  std::vector<DType> types_;
  std::vector<std::vector<Bits>> columns_;
  Graph graph_;
  double worst_ = 0;
};

constexpr DType all_types[] = {DType::boolean, DType::i8,  DType::i16, DType::i32,  DType::i64, DType::u8, DType::u16,
                               DType::u32,     DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64};

class Elementwise : public ::testing::TestWithParam<Op> {};

TEST_P(Elementwise, EveryTypeItAccepts) {
  const Op op = GetParam();
  for (DType d : all_types) {
    std::vector<DType> operands(static_cast<std::size_t>(arity(op)), d);
    if (op == Op::WHERE) operands[0] = DType::boolean;
    for (DType to : all_types) {
      const bool converts = op == Op::CAST || op == Op::BITCAST;
      if (!converts && to != d) continue;
      std::string problem;
      const DType result = elementwise_dtype(op, operands, converts ? to : DType::none, problem);
      if (result == DType::none) continue;
      SCOPED_TRACE(std::string(name(op)) + " " + std::string(name(d)) + " -> " + std::string(name(result)));
      ElementwiseTest t({op, d, result});
      t.run();
      record_verdict(std::string(name(op)), d, !::testing::Test::HasFailure());
    }
  }
}

std::vector<Op> elementwise_ops() {
  std::vector<Op> ops;
  for (std::size_t i = 0; i < op_count; ++i) {
    const Op op = static_cast<Op>(i);
    if (is_elementwise(op) && levels(op).find('T') != std::string_view::npos) ops.push_back(op);
  }
  return ops;
}
INSTANTIATE_TEST_SUITE_P(Operations, Elementwise, ::testing::ValuesIn(elementwise_ops()),
                         [](const auto& parameter) { return std::string(name(parameter.param)); });

}  // namespace
}  // namespace kiln::compiler::testing
