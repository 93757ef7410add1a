// Every elementwise operation on every dtype, in a vector loop and in a scalar loop, equals the reference, bit for bit.
#include <cmath>
#include <cstring>
#include <iomanip>

#include "tests/run/reference.h"
#include "tests/unit/codegen_harness.h"

namespace kiln::compiler::test {
namespace {

using testing::Bits;

constexpr DType all_dtypes[] = {DType::boolean, DType::i8,  DType::i16, DType::i32,  DType::i64, DType::u8, DType::u16,
                                DType::u32,     DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64};

struct Machine {
  std::string label;
  Target target;
  int lanes;
};

// Machines with vectors of one and of several registers. AVX-512 is included if the test machine has it.
std::vector<Machine> machines() {
  const Target v2 = target_named("x86-64-v2"), v3 = target_named("x86-64-v3"), v4 = target_named("x86-64-v4");
  std::vector<Machine> all{{"v2x8", v2, 8}, {"v3x8", v3, 8}, {"v3x32", v3, 32}};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    all.push_back({"v4x16", v4, 16});
  return all;
}

bool defined_on(Op op, DType d) {
  switch (op) {
    case Op::NEG:
    case Op::ABS:
    case Op::SIGN:
    case Op::FLOOR:
    case Op::CEIL:
    case Op::ROUND:
    case Op::TRUNC:
    case Op::ADD:
    case Op::SUB:
    case Op::MUL:
    case Op::FMA: return d != DType::boolean;
    case Op::SQRT:
    case Op::FDIV: return is_float(d);
    case Op::CDIV:
    case Op::CMOD:
    case Op::FLOORDIV:
    case Op::FLOORMOD:
    case Op::SHL:
    case Op::POPCOUNT:
    case Op::CLZ:
    case Op::SHR: return is_int(d);
    case Op::DOT2: return d == DType::i32;
    case Op::NOT:
    case Op::AND:
    case Op::OR:
    case Op::XOR: return is_int(d) || d == DType::boolean;
    case Op::MIN:
    case Op::MAX:
    case Op::LT:
    case Op::LE:
    case Op::EQ:
    case Op::NE: return true;
    default: return false;
  }
}

std::vector<Op> ops_on(DType d) {
  std::vector<Op> ops;
#define KILN_X(e, t, l, a) \
  if (defined_on(Op::e, d)) ops.push_back(Op::e);
  KILN_OPS(KILN_X)
#undef KILN_X
  return ops;
}

Bits low_bits(Bits v, int width) { return width == 64 ? v : v & ((Bits{1} << width) - 1); }

std::vector<Bits> special_values(DType d) {
  std::vector<Bits> v;
  if (d == DType::boolean) return {0, 1};
  if (is_float(d)) {
    for (const double x : {0.0,
                           -0.0,
                           1.0,
                           -1.0,
                           0.5,
                           -0.5,
                           1.5,
                           2.5,
                           -2.5,
                           3.0,
                           1e-8,
                           127.5,
                           -128.75,
                           255.9,
                           32767.6,
                           65503.0,
                           65520.0,
                           2147483648.0,
                           -2147483649.0,
                           4294967296.5,
                           9.3e18,
                           -9.3e18,
                           1.9e19,
                           1e300,
                           1.0009765625001,
                           5.960464477e-8,
                           2.98023223876953125e-8,
                           1e-40,
                           5e-324,
                           1.17e-38})
      v.push_back(testing::real_bits(d, static_cast<long double>(x)));
    for (const double x : {static_cast<double>(HUGE_VAL), -static_cast<double>(HUGE_VAL), std::nan("")})
      v.push_back(testing::real_bits(d, static_cast<long double>(x)));
  } else {
    const int w = bits(d);
    for (const std::int64_t x : {0, 1, -1, 2, -2, 3, 7, -7, 8, 31, 33, 63, 65, 100, -100})
      v.push_back(low_bits(static_cast<Bits>(x), w));
    for (const Bits x :
         {Bits{1} << (w - 1), (Bits{1} << (w - 1)) - 1, (Bits{1} << (w - 1)) + 1, ~Bits{0} - 1, Bits{0x123456789abcdef0},
          Bits{0x8000010000000001}, Bits{0x0101000000000001}, Bits{0x0100800000000000}, Bits{0x1008001}, Bits{0x1018000}})
      v.push_back(low_bits(x, w));
  }
  Bits state = 0x9e3779b97f4a7c15;
  for (int i = 0; i < 12; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v.push_back(low_bits(state ^ state >> 31, bits(d)));
  }
  return v;
}

std::vector<char> pack(DType d, const std::vector<Bits>& values) {
  const auto size = static_cast<std::size_t>(bytes(d));
  std::vector<char> raw(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(raw.data() + i * size, &values[i], size);
  return raw;
}

Bits unpack(DType d, const std::vector<char>& raw, std::size_t i) {
  const auto size = static_cast<std::size_t>(bytes(d));
  Bits v = 0;
  std::memcpy(&v, raw.data() + i * size, size);
  return v;
}

// One program with a kernel per operation, over inputs of given types: a main loop with lanes and a scalar tail.
class Sweep {
 public:
  Sweep(const Machine& machine, std::string name, std::vector<DType> inputs, DType out)
      : machine_(machine), program_(std::move(name)), inputs_(std::move(inputs)), out_(out) {
    const Id n = program_.symbol("N");
    for (std::size_t i = 0; i < inputs_.size(); ++i) program_.param("x" + std::to_string(i), inputs_[i], Direction::in, n);
    program_.param("y", out, Direction::out, n);
  }

  void add(Op op, std::initializer_list<int> operands) {
    HandProgram& p = program_;
    const Id begin = p.g.sym("$begin"), end = p.g.sym("$end"), lanes = p.g.index(machine_.lanes);
    const Id count = p.index_op(Op::FLOORDIV, p.index_op(Op::SUB, end, begin), lanes);
    const Id middle = p.index_op(Op::ADD, begin, p.index_op(Op::MUL, count, lanes));
    const Id n = p.g.sym("N"), i = p.range(n), j = p.range(n);
    const auto body = [&](Id at) {
      std::vector<Id> x;
      for (const int o : operands) x.push_back(p.load(o, at));
      return p.store(static_cast<int>(inputs_.size()), at, p.g.make(op, out_, x, {}, {}, p.g.lanes(at)));
    };
    p.kernel({p.loop(i, begin, middle, machine_.lanes, {}, {}, {body(p.ramp(i, machine_.lanes))}),
              p.loop(j, middle, end, 1, {}, {}, {body(j)})},
             n);
    ops_.push_back(op);
  }

  // expected(op, row): the bits of the result.
  template <class Expected>
  void check(const std::vector<std::vector<Bits>>& columns, Expected expected) {
    const Loaded l(program_, machine_.target);
    EXPECT_EQ(l.object.undefined(),
              (std::vector<std::string>{"kiln_call", "kiln_selected_variant"}));  // no libm, no compiler runtime
    const std::size_t n = columns[0].size();
    std::vector<std::vector<char>> raw;
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < columns.size(); ++i) raw.push_back(pack(inputs_[i], columns[i]));
    raw.push_back(pack(out_, std::vector<Bits>(n)));
    for (std::vector<char>& r : raw) pointers.push_back(r.data());
    const auto size = static_cast<std::int64_t>(n);
    for (std::size_t k = 0; k < ops_.size(); ++k) {
      for (const bool scalar : {false, true}) {
        if (scalar)
          for (std::int64_t i = 0; i < size; ++i) l.run(static_cast<int>(k), pointers, {size}, i, i + 1);
        else
          l.run(static_cast<int>(k), pointers, {size}, 0, size);
        int shown = 0;
        for (std::size_t i = 0; i < n && shown < 3; ++i) {
          const Bits want = expected(ops_[k], i), got = unpack(out_, raw.back(), i);
          if (want == got || (testing::is_nan(out_, want) && testing::is_nan(out_, got))) continue;
          ++shown;
          ADD_FAILURE() << name(ops_[k]) << " " << name(inputs_[0]) << " -> " << name(out_) << (scalar ? " scalar" : " vector")
                        << std::hex << " x " << columns[0][i] << " y " << columns[columns.size() > 1 ? 1 : 0][i] << ": got "
                        << got << " want " << want;
        }
      }
    }
  }

 private:
  Machine machine_;
  HandProgram program_;
  std::vector<DType> inputs_;
  DType out_;
  std::vector<Op> ops_;
};

// All pairs of special values, with a third operand that varies.
std::vector<std::vector<Bits>> pairs(DType d) {
  const std::vector<Bits> v = special_values(d);
  std::vector<std::vector<Bits>> columns(3);
  for (std::size_t i = 0; i < v.size(); ++i) {
    for (std::size_t j = 0; j < v.size(); ++j) {
      columns[0].push_back(v[i]);
      columns[1].push_back(v[j]);
      columns[2].push_back(v[(3 * i + 7 * j + 1) % v.size()]);
    }
  }
  return columns;
}

class CodegenElementwise : public ::testing::TestWithParam<std::tuple<Machine, DType>> {};

TEST_P(CodegenElementwise, Operations) {
  const auto& [machine, d] = GetParam();
  const auto columns = pairs(d);
  Sweep values(machine, "values", {d, d, d}, d), comparisons(machine, "comparisons", {d, d, d}, DType::boolean);
  for (const Op op : ops_on(d)) {
    if (op == Op::FMA && is_float(d) && !machine.target.has_fma) continue;
    if (d == DType::boolean && is_comparison(op)) continue;
    Sweep& sweep = is_comparison(op) ? comparisons : values;
    if (is_unary(op))
      sweep.add(op, {0});
    else if (is_binary(op))
      sweep.add(op, {0, 1});
    else
      sweep.add(op, {0, 1, 2});
  }
  const auto expected = [&, type = d](Op op, std::size_t i) {
    return testing::expected_element(op, type, type, {columns[0][i], columns[1][i], columns[2][i]}).exact;
  };
  values.check(columns, expected);
  if (d == DType::boolean)
    for (const Op op : {Op::LT, Op::LE, Op::EQ, Op::NE}) comparisons.add(op, {0, 1});
  comparisons.check(columns, expected);
}

TEST_P(CodegenElementwise, Where) {
  const auto& [machine, d] = GetParam();
  auto columns = pairs(d);
  for (std::size_t i = 0; i < columns[2].size(); ++i) columns[2][i] = i * 7 / 3 % 2;
  Sweep sweep(machine, "where", {d, d, DType::boolean}, d);
  sweep.add(Op::WHERE, {2, 0, 1});
  sweep.check(columns, [&](Op, std::size_t i) { return columns[columns[2][i] != 0 ? 0 : 1][i]; });
}

TEST_P(CodegenElementwise, Casts) {
  const auto& [machine, from] = GetParam();
  const std::vector<Bits> v = special_values(from);
  for (const DType to : all_dtypes) {
    Sweep sweep(machine, "cast", {from}, to);
    sweep.add(Op::CAST, {0});
    sweep.check({v},
                [&, source = from](Op op, std::size_t i) { return testing::expected_element(op, source, to, {v[i]}).exact; });
    if (bits(from) != bits(to) || to == DType::boolean) continue;
    Sweep bitcast(machine, "bitcast", {from}, to);
    bitcast.add(Op::BITCAST, {0});
    bitcast.check({v}, [&](Op, std::size_t i) { return v[i]; });
  }
}

INSTANTIATE_TEST_SUITE_P(All, CodegenElementwise,
                         ::testing::Combine(::testing::ValuesIn(machines()), ::testing::ValuesIn(all_dtypes)),
                         [](const ::testing::TestParamInfo<std::tuple<Machine, DType>>& i) {
                           return std::get<0>(i.param).label + "_" + std::string(name(std::get<1>(i.param)));
                         });

}  // namespace
}  // namespace kiln::compiler::test
