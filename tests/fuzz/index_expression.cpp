#include "tests/fuzz/index_expression.h"

#include <algorithm>

namespace kiln::test {

using compiler::DType;

namespace {

constexpr std::size_t n_symbols = 4;

std::int64_t floored(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && a < 0 ? 1 : 0); }  // b > 0

}  // namespace

IndexExpressions::IndexExpressions(Graph& g, std::uint64_t seed) : g_(g), random_(seed), wide_(random_.one_in(6)) {
  const std::int64_t low = random_.pick(-20, 20);
  add_symbol("a", low, low + random_.pick(0, 12), 1);
  if (wide_) {
    const std::int64_t least = random_.one_in(3) ? -(std::int64_t{1} << random_.pick(20, 61)) : random_.pick(-9, 0);
    const std::int64_t width = std::int64_t{1} << random_.pick(20, 61);
    add_symbol("b", least, least + width, random_.one_in(3) ? 4 : 1);
  } else {
    const std::int64_t least = random_.pick(-3, 0), last = random_.pick(1, 300);
    add_symbol("b", least, last, random_.one_in(3) ? 4 : 1);
  }
  const std::int64_t least = random_.pick(-2, 2), last = random_.pick(3, 40);
  add_symbol("n", least, last, random_.one_in(4) ? 3 : 1);
  add_symbol("m", 1, random_.pick(1, 9), 1);
  for (int i = 0; i < 3; ++i) {
    const std::int64_t end = random_.one_in(4) ? random_.pick(-1, 1) : random_.pick(2, 9);
    add_range(g.index(end), end);
  }
  const auto most = [&](std::size_t i) { return leaves_[i].min + (leaves_[i].count - 1) * leaves_[i].step; };
  const std::int64_t factor = random_.pick(2, 5), more = random_.pick(-4, 4);
  add_range(symbol(2), most(2));
  add_range(symbol(3), most(3));
  const Id times = g.index(factor), product = make(Op::MUL, symbol(3), times);
  add_range(product, most(3) * factor);
  const Id added = g.index(more), sum = make(Op::ADD, symbol(2), added);
  add_range(sum, most(2) + more);
  if (random_.one_in(3)) add_assumption();
}

void IndexExpressions::add_symbol(const char* name, std::int64_t min, std::int64_t max, std::int64_t multiple) {
  if (floored(max, multiple) * multiple < min) multiple = 1;
  const std::int64_t first = -floored(-min, multiple) * multiple;
  leaves_.push_back({g_.sym(name), first, multiple, floored(max - first, multiple) + 1});
  facts_.syms[name] = {min, max, multiple};
}

void IndexExpressions::add_range(Id end, std::int64_t most) {
  const Id id = g_.make(Op::RANGE, DType::index, {end}, {static_cast<std::int64_t>(leaves_.size()), 0});
  leaves_.push_back({id, 0, 1, std::max<std::int64_t>(0, most)});
}

// a < b + c for symbols, or a multiple of one symbol below another symbol.
void IndexExpressions::add_assumption() {
  const Id a = symbol(static_cast<std::size_t>(random_.pick(0, n_symbols - 1)));
  const Id b = symbol(static_cast<std::size_t>(random_.pick(0, n_symbols - 1)));
  const Id left = random_.one_in(3) ? make(Op::MUL, a, g_.index(random_.pick(-2, 4))) : a;
  const Id right = random_.one_in(2) ? make(Op::ADD, b, g_.index(random_.pick(-4, 4))) : b;
  static constexpr Op ops[] = {Op::LT, Op::LT, Op::LE, Op::EQ};
  assumptions_.push_back(g_.make(ops[random_.pick(0, 3)], DType::boolean, {left, right}));
  compiler::assume(g_, facts_, assumptions_.back());
}

std::int64_t IndexExpressions::constant(std::int64_t min, std::int64_t max) {
  if (!wide_ || !random_.one_in(5)) return random_.pick(min, max);
  const std::int64_t power = std::int64_t{1} << random_.pick(20, 62);
  const std::int64_t near = random_.one_in(2) ? power : -power;
  return near + random_.pick(-1, 1);
}

Id IndexExpressions::make(Op op, Id a, Id b) { return g_.make(op, DType::index, {a, b}); }
Id IndexExpressions::leaf() {
  return leaves_[static_cast<std::size_t>(random_.pick(0, static_cast<std::int64_t>(leaves_.size()) - 1))].id;
}
Id IndexExpressions::range() {
  return leaves_[static_cast<std::size_t>(random_.pick(n_symbols, static_cast<std::int64_t>(leaves_.size()) - 1))].id;
}

Id IndexExpressions::next() {
  const int size = static_cast<int>(random_.pick(2, 20));
  const std::int64_t kind = random_.pick(0, 11);
  return kind < 2 ? condition(size) : kind < 4 ? reshaped() : kind < 6 ? related() : value(size);
}

Id IndexExpressions::value(int size) {
  if (size <= 1) return random_.one_in(3) ? g_.index(constant(-6, 12)) : leaf();
  const std::int64_t kind = random_.pick(0, 17);
  if (kind < 10) return binary(size, kind);
  if (kind < 11) return choice(size);
  const Id inner = value(size - 1);
  switch (kind) {
    case 11: return make(Op::MUL, inner, g_.index(constant(-4, 8)));
    case 12: return make(Op::FLOORDIV, inner, g_.index(constant(-3, 12)));
    case 13: return make(Op::FLOORMOD, inner, g_.index(constant(-3, 12)));
    case 14: {
      const Op op = random_.one_in(2) ? Op::CDIV : Op::CMOD;
      return make(op, inner, g_.index(constant(-3, 12)));
    }
    case 15: {
      static constexpr Op ops[] = {Op::AND, Op::AND, Op::OR, Op::XOR};
      const std::int64_t mask = random_.one_in(2) ? (std::int64_t{1} << random_.pick(0, 5)) - 1 : constant(-2, 33);
      const Op op = ops[random_.pick(0, 3)];
      return make(op, inner, g_.index(mask));
    }
    case 16: {
      const Id count = random_.one_in(8) ? symbol(3) : g_.index(random_.pick(0, wide_ ? 62 : 5));
      return make(random_.one_in(2) ? Op::SHL : Op::SHR, inner, count);
    }
    default: return g_.make(random_.one_in(2) ? Op::ABS : Op::NEG, DType::index, {inner});
  }
}

Id IndexExpressions::choice(int size) {
  const int left = static_cast<int>(random_.pick(1, size - 1));
  const Id c = condition(left), a = value(size - left);
  return g_.make(Op::WHERE, DType::index, {c, a, value(random_.one_in(2) ? 1 : 3)});
}

Id IndexExpressions::binary(int size, std::int64_t kind) {
  static constexpr Op ops[] = {Op::ADD, Op::ADD,      Op::ADD,      Op::ADD, Op::SUB,
                               Op::MUL, Op::FLOORDIV, Op::FLOORMOD, Op::MIN, Op::MAX};
  const int left = static_cast<int>(random_.pick(1, size - 1));
  const Id a = value(left);
  return make(ops[kind], a, value(size - left));
}

Id IndexExpressions::condition(int size) {
  const int left = static_cast<int>(random_.pick(1, std::max(1, size - 1)));
  if (size > 3 && random_.one_in(3)) {
    const std::int64_t kind = random_.pick(0, 3);
    if (kind == 3) return g_.make(Op::NOT, DType::boolean, {condition(size - 1)});
    static constexpr Op ops[] = {Op::AND, Op::OR, Op::XOR};
    const Id a = condition(left);
    return g_.make(ops[kind], DType::boolean, {a, condition(size - left)});
  }
  static constexpr Op ops[] = {Op::LT, Op::LT, Op::LE, Op::EQ, Op::NE};
  const Op op = ops[random_.pick(0, 4)];
  const Id a = value(left);
  return g_.make(op, DType::boolean, {a, value(std::max(1, size - left))});
}

// A flat index over up to three loops, divided by extents, as reshapes do.
Id IndexExpressions::reshaped() {
  const auto extent = [&] { return g_.src(range(), 0); };
  Id flat = g_.index(0);
  for (std::int64_t n = random_.pick(1, 3); n > 0; --n) {
    const Id r = range();
    flat = make(Op::ADD, make(Op::MUL, flat, g_.src(r, 0)), r);
  }
  Id d = extent();
  if (random_.one_in(2)) d = make(Op::MUL, d, extent());
  const Id q = make(Op::FLOORDIV, flat, d), r = make(Op::FLOORMOD, flat, d);
  switch (random_.pick(0, 5)) {
    case 0: return q;
    case 1: return r;
    case 2: return make(Op::ADD, make(Op::MUL, q, d), r);
    case 3: return make(Op::FLOORMOD, q, extent());
    case 4: {  // split along two axes and joined again
      const Id d2 = extent(), both = make(Op::MUL, d, d2), middle = make(Op::FLOORMOD, q, d2);
      const Id high = make(Op::MUL, make(Op::FLOORDIV, flat, both), both);
      return make(Op::ADD, make(Op::ADD, high, make(Op::MUL, middle, d)), r);
    }
    default: return g_.make(Op::LT, DType::boolean, {flat, d});
  }
}

// A quotient, remainder, minimum, maximum or multiple of x.
Id IndexExpressions::view(Id x) {
  const Id k = g_.index(random_.pick(2, 16)), shifted = make(Op::ADD, x, g_.index(random_.pick(-3, 15)));
  switch (random_.pick(0, 7)) {
    case 0: return make(Op::FLOORDIV, x, k);
    case 1: return make(Op::FLOORMOD, x, k);
    case 2: return make(Op::MIN, x, k);
    case 3: return make(Op::MAX, x, k);
    case 4: return make(Op::FLOORMOD, shifted, k);
    case 5: return make(Op::FLOORDIV, shifted, k);
    case 6: return make(Op::MUL, x, k);
    default: return x;
  }
}

// Two views of x together with another value.
Id IndexExpressions::views(Id x) {
  static constexpr Op ops[] = {Op::MIN, Op::MAX, Op::ADD, Op::SUB, Op::MAX};
  const Id a = view(x), b = view(random_.one_in(3) ? leaf() : x);
  const Id both = make(ops[random_.pick(0, 4)], a, b);
  if (random_.one_in(2)) return both;
  const Op op = random_.one_in(2) ? Op::SUB : Op::ADD;
  return make(op, both, leaf());
}

// A condition on an index, as pads and slices make it: on the index, its quotient or its remainder.
Id IndexExpressions::gate(Id x) {
  static constexpr Op ops[] = {Op::LT, Op::LT, Op::LE, Op::EQ, Op::NE};
  const Op op = ops[random_.pick(0, 4)];
  const Id a = random_.one_in(3) ? views(x) : view(x), b = random_.one_in(3) ? view(leaf()) : g_.index(random_.pick(-4, 20));
  return random_.one_in(2) ? g_.make(op, DType::boolean, {a, b}) : g_.make(op, DType::boolean, {b, a});
}

// Gates of one index, next to each other or nested, and choices by one gate.
Id IndexExpressions::related() {
  Id x = leaf();
  if (random_.one_in(3)) x = make(Op::ADD, x, leaf());
  Id all = gate(x);
  for (std::int64_t n = random_.pick(0, 3); n > 0; --n) {
    const Id other = gate(random_.one_in(4) ? leaf() : x);
    all = g_.make(random_.one_in(3) ? Op::OR : Op::AND, DType::boolean, {all, other});
  }
  const Id a = views(x), b = random_.one_in(2) ? g_.index(random_.pick(-2, 2)) : leaf();
  switch (random_.pick(0, 4)) {
    case 0: return g_.make(Op::WHERE, DType::index, {all, a, b});
    case 1: {
      const Id outer = gate(x), inner = g_.make(Op::WHERE, DType::index, {all, a, b});
      return g_.make(Op::WHERE, DType::index, {outer, inner, b});
    }
    case 2: {
      const Id c = views(x), d = leaf();
      const Id first = g_.make(Op::WHERE, DType::index, {all, a, b}), second = g_.make(Op::WHERE, DType::index, {all, c, d});
      const Op op = random_.one_in(2) ? Op::MIN : Op::MAX;
      return make(op, first, second);
    }
    default: return all;
  }
}

}  // namespace kiln::test
