#include "tests/fuzz/index_expression.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace kiln::test {

using compiler::DType;

namespace {
__int128 floored(__int128 a, __int128 b) {
  if (b == 0) return 0;
  const __int128 q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}
}  // namespace

IndexExpressions::IndexExpressions(Graph& g, std::uint64_t seed) : g_(g), random_(seed) {
  const std::int64_t low = pick(-20, 20);
  add_symbol("a", low, low + pick(0, 12), 1);
  add_symbol("b", pick(-3, 0), pick(1, 300), pick(0, 2) == 0 ? 4 : 1);
  add_symbol("n", pick(-2, 2), pick(3, 40), pick(0, 3) == 0 ? 3 : 1);
  add_symbol("m", 1, pick(1, 9), 1);
  for (int i = 0; i < 3; ++i) add_range(g.index(pick(0, 3) == 0 ? pick(-1, 1) : pick(2, 9)));
  const Id n = leaves_[2], m = leaves_[3];
  add_range(n);
  add_range(m);
  add_range(make(Op::MUL, m, g.index(pick(2, 5))));
  add_range(make(Op::ADD, n, g.index(pick(-4, 4))));
}

std::int64_t IndexExpressions::pick(std::int64_t a, std::int64_t b) {
  return std::uniform_int_distribution<std::int64_t>(a, b)(random_);
}

void IndexExpressions::add_symbol(const char* name, std::int64_t min, std::int64_t max, std::int64_t multiple) {
  leaves_.push_back(g_.sym(name));
  const bool none = floored(max, multiple) * multiple < min;
  facts_.syms[name] = {min, max, none ? 1 : multiple};
}
void IndexExpressions::add_range(Id end) {
  leaves_.push_back(g_.make(Op::RANGE, DType::index, {end}, {static_cast<std::int64_t>(leaves_.size()), 0}));
}

Id IndexExpressions::make(Op op, Id a, Id b) { return g_.make(op, DType::index, {a, b}); }
Id IndexExpressions::leaf() {
  return leaves_[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(leaves_.size()) - 1))];
}

Id IndexExpressions::next() {
  const int size = static_cast<int>(pick(2, 18));
  const std::int64_t kind = pick(0, 9);
  return kind < 2 ? condition(size) : kind < 4 ? reshaped() : value(size);
}

Id IndexExpressions::value(int size) {
  if (size <= 1) return pick(0, 2) == 0 ? g_.index(pick(-6, 12)) : leaf();
  const int left = static_cast<int>(pick(1, size - 1));
  switch (pick(0, 17)) {
    case 0:
    case 1:
    case 2:
    case 3: return make(Op::ADD, value(left), value(size - left));
    case 4: return make(Op::SUB, value(left), value(size - left));
    case 5: return make(Op::MUL, value(size - 1), g_.index(pick(-4, 8)));
    case 6: return make(Op::MUL, value(left), value(size - left));
    case 7: return make(Op::FLOORDIV, value(size - 1), g_.index(pick(-3, 12)));
    case 8: return make(Op::FLOORMOD, value(size - 1), g_.index(pick(-3, 12)));
    case 9: return make(Op::FLOORDIV, value(left), value(size - left));
    case 10: return make(Op::FLOORMOD, value(left), value(size - left));
    case 11: return make(Op::MIN, value(left), value(size - left));
    case 12: return make(Op::MAX, value(left), value(size - left));
    case 13: return make(pick(0, 1) == 0 ? Op::CDIV : Op::CMOD, value(size - 1), g_.index(pick(-3, 12)));
    case 14: {
      static constexpr Op ops[] = {Op::AND, Op::AND, Op::OR, Op::XOR};
      return make(ops[pick(0, 3)], value(size - 1),
                  g_.index(pick(0, 1) == 0 ? (std::int64_t{1} << pick(0, 5)) - 1 : pick(-2, 33)));
    }
    case 15: return make(pick(0, 1) == 0 ? Op::SHL : Op::SHR, value(size - 1), g_.index(pick(0, 5)));
    case 16: return g_.make(pick(0, 1) == 0 ? Op::ABS : Op::NEG, DType::index, {value(size - 1)});
    default: return g_.make(Op::WHERE, DType::index, {condition(left), value(size - left), value(1)});
  }
}

Id IndexExpressions::condition(int size) {
  const int left = static_cast<int>(pick(1, std::max(1, size - 1)));
  const auto boolean = [&](Op op, Id a, Id b) { return g_.make(op, DType::boolean, {a, b}); };
  if (size > 3 && pick(0, 2) == 0) {
    switch (pick(0, 3)) {
      case 0: return boolean(Op::AND, condition(left), condition(size - left));
      case 1: return boolean(Op::OR, condition(left), condition(size - left));
      case 2: return boolean(Op::XOR, condition(left), condition(size - left));
      default: return g_.make(Op::NOT, DType::boolean, {condition(size - 1)});
    }
  }
  static constexpr Op ops[] = {Op::LT, Op::LT, Op::LE, Op::EQ, Op::NE};
  return boolean(ops[pick(0, 4)], value(left), value(std::max(1, size - left)));
}

// A flat index of up to three loops, divided by extents, as reshapes do.
Id IndexExpressions::reshaped() {
  const auto range = [&] { return leaves_[static_cast<std::size_t>(pick(4, static_cast<std::int64_t>(leaves_.size()) - 1))]; };
  Id flat = g_.index(0);
  for (std::int64_t n = pick(1, 3); n > 0; --n) {
    const Id r = range();
    flat = make(Op::ADD, make(Op::MUL, flat, g_.src(r, 0)), r);
  }
  const Id d = pick(0, 1) == 0 ? g_.src(range(), 0) : make(Op::MUL, g_.src(range(), 0), g_.src(range(), 0));
  const Id q = make(Op::FLOORDIV, flat, d), r = make(Op::FLOORMOD, flat, d);
  switch (pick(0, 4)) {
    case 0: return q;
    case 1: return r;
    case 2: return make(Op::ADD, make(Op::MUL, q, d), r);
    case 3: return make(Op::FLOORMOD, q, g_.src(range(), 0));
    default: return g_.make(Op::LT, DType::boolean, {flat, d});
  }
}

IndexProgram::IndexProgram(const Graph& g, std::vector<Id> roots) : g_(g), nodes_(g.reachable(roots)), values_(g.size()) {
  for (Id id : nodes_)
    if (g.op(id) == Op::SYM || g.op(id) == Op::RANGE) leaves_.push_back(id);
}

bool IndexProgram::run(const std::vector<std::int64_t>& leaf_values) {
  std::size_t next = 0;
  overflow_ = false;
  for (Id id : nodes_) {
    const bool range = g_.op(id) == Op::RANGE;
    values_[id] = range || g_.op(id) == Op::SYM ? leaf_values[next++] : apply(id);
    if (range && values_[id] >= values_[g_.src(id, 0)]) return false;
  }
  return !overflow_;
}

IndexProgram::Value IndexProgram::apply(Id id) {
  const auto at = [&](std::size_t i) { return values_[g_.src(id, i)]; };
  switch (g_.op(id)) {
    case Op::CONST: return g_.arg(id, 0);
    case Op::ADD: return at(0) + at(1);
    case Op::SUB: return at(0) - at(1);
    case Op::MUL: {
      Value v = 0;
      overflow_ = __builtin_mul_overflow(at(0), at(1), &v) || overflow_;
      return v;
    }
    case Op::NEG: return -at(0);
    case Op::ABS: return at(0) < 0 ? -at(0) : at(0);
    case Op::FLOORDIV: return floored(at(0), at(1));
    case Op::FLOORMOD: return at(1) == 0 ? 0 : at(0) - floored(at(0), at(1)) * at(1);
    case Op::CDIV: return at(1) == 0 ? 0 : at(0) / at(1);
    case Op::CMOD: return at(1) == 0 ? 0 : at(0) % at(1);
    case Op::MIN: return std::min(at(0), at(1));
    case Op::MAX: return std::max(at(0), at(1));
    case Op::WHERE: return at(0) != 0 ? at(1) : at(2);
    case Op::LT: return at(0) < at(1);
    case Op::LE: return at(0) <= at(1);
    case Op::EQ: return at(0) == at(1);
    case Op::NE: return at(0) != at(1);
    case Op::AND: return at(0) & at(1);
    case Op::OR: return at(0) | at(1);
    case Op::XOR: return at(0) ^ at(1);
    case Op::NOT: return at(0) == 0;
    case Op::SHL: {
      Value v = 0;
      overflow_ = __builtin_mul_overflow(at(0), Value{1} << at(1), &v) || overflow_;
      return v;
    }
    case Op::SHR: return at(0) >> at(1);
    default: throw std::logic_error("not an index operation: " + std::string(name(g_.op(id))));
  }
}

}  // namespace kiln::test
