// Bounds of integer values: every value of a random expression is inside them, and ranges that products of small integers need
// are exact.
#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

#include "compiler/ir/nth.h"
#include "compiler/lower/integer_value.h"
#include "compiler/symbolic/value_bounds.h"

namespace kiln::compiler {
namespace {

constexpr DType types[] = {DType::boolean, DType::i8, DType::u8, DType::i16, DType::u16, DType::i32, DType::u32, DType::i64};

class Expression {
 public:
  explicit Expression(unsigned seed) : random_(seed) {
    for (const DType d : types) add(g.make(Op::LOAD, d, {g.make(Op::BUFFER, d, {}, {0}), g.index(0)}));
    for (int i = 0; i < 12; ++i) grow();
  }

  std::size_t below(std::size_t n) { return random_() % n; }

  // The values of all nodes for one choice of the leaves, by node.
  std::unordered_map<Id, std::int64_t> values() {
    std::unordered_map<Id, std::int64_t> out;
    for (const Id id : nodes) {
      std::vector<std::int64_t> x;
      if (g.op(id) == Op::LOAD) {
        out[id] = leaf(g.dtype(id));
        continue;
      }
      for (const Id s : g.src(id)) x.push_back(out.at(s));
      out[id] = integer_value(g, id, x).value();
    }
    return out;
  }

  Graph g;
  std::vector<Id> nodes;

 private:
  void add(Id id) { nodes.push_back(id); }

  // A value of the type: an end of its range, or a small number.
  std::int64_t leaf(DType d) {
    if (d == DType::boolean) return static_cast<std::int64_t>(below(2));
    const int width = bits(d);
    const bool sign = is_signed_int(d);
    const std::int64_t high = sign ? INT64_MAX >> (64 - width) : (std::int64_t{1} << width) - 1, low = sign ? -high - 1 : 0;
    const std::int64_t choices[] = {low, high, low + 1,
                                    0,   1,    std::min<std::int64_t>(high, static_cast<std::int64_t>(below(200)))};
    return choices[below(std::size(choices))];
  }

  Id of_type(DType d) {
    for (int i = 0; i < 20; ++i)
      if (const Id id = nodes[below(nodes.size())]; g.dtype(id) == d) return id;
    add(g.make(Op::CAST, d, {nodes[below(nodes.size())]}));
    return nodes.back();
  }

  void grow() {
    static constexpr Op ops[] = {Op::ADD, Op::SUB, Op::MUL, Op::MIN, Op::MAX, Op::AND, Op::XOR, Op::SHR, Op::FLOORDIV};
    const DType d = types[1 + below(std::size(types) - 1)];
    const std::size_t kind = below(4);
    if (kind == 0) return add(g.make(Op::CAST, d, {nodes[below(nodes.size())]}));
    if (kind == 1) add(g.constant(d, below(3) == 0 ? 1 : static_cast<std::uint64_t>(below(120))));
    const Id a = of_type(d), b = of_type(d);
    if (kind == 2) {
      const Id condition = of_type(DType::boolean);
      return add(g.make(Op::WHERE, d, {condition, a, b}));
    }
    if (kind == 3 && below(3) == 0) return add(g.make(Op::NEG, d, {a}));
    add(g.make(ops[below(std::size(ops))], d, {a, b}));
  }

  std::mt19937 random_;
};

TEST(ValueBounds, HoldForRandomExpressions) {
  const Facts facts;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Expression e(seed);
    Bounds indices(e.g, facts);
    ValueBounds bounds(e.g, indices);
    for (int i = 0; i < 20; ++i)
      for (const auto& [id, v] : e.values()) {
        if (bits(e.g.dtype(id)) > 32) continue;
        const Interval all = bounds(id);
        ASSERT_TRUE(all.min <= v && v <= all.max) << "seed " << seed << " node " << id << " value " << v;
      }
  }
}

TEST(ValueBounds, RangesOfSmallIntegers) {
  Graph g;
  const Facts facts;
  Bounds indices(g, facts);
  ValueBounds bounds(g, indices);
  const auto loaded = [&](DType d) {
    const Id buffer = g.make(Op::BUFFER, d, {}, {0});
    return g.make(Op::CAST, DType::i32, {g.make(Op::LOAD, d, {buffer, g.index(0)})});
  };
  const auto word = [&](std::int64_t v) { return g.constant(DType::i32, static_cast<std::uint64_t>(v)); };
  const Id u8 = loaded(DType::u8), i16 = loaded(DType::i16);
  EXPECT_EQ(bounds(u8), (Interval{0, 255}));
  EXPECT_EQ(bounds(g.make(Op::SUB, DType::i32, {u8, word(128)})), (Interval{-128, 127}));
  EXPECT_EQ(bounds(g.make(Op::MUL, DType::i32, {u8, word(-129)})), (Interval{-32895, 0}));
  EXPECT_EQ(bounds(g.make(Op::ADD, DType::i32, {i16, word(-1)})), (Interval{-32769, 32766}));
  EXPECT_EQ(bounds(g.make(Op::POPCOUNT, DType::i32, {i16})), (Interval{0, 32}));
  EXPECT_EQ(bounds(g.make(Op::CLZ, DType::i32, {u8})), (Interval{0, 32}));
  EXPECT_TRUE(fits_i16(bounds(i16)));
  EXPECT_FALSE(fits_i16(bounds(loaded(DType::u16))));
}

}  // namespace
}  // namespace kiln::compiler
