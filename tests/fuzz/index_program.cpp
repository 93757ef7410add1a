#include "tests/fuzz/index_program.h"

#include <algorithm>
#include <stdexcept>

namespace kiln::test {
namespace {

using Value = IndexProgram::Value;

bool small(Value v) { return v == static_cast<std::int64_t>(v); }

Value quotient(Value a, Value b) {  // toward zero
  if (small(a) && small(b) && b != -1) return static_cast<std::int64_t>(a) / static_cast<std::int64_t>(b);
  return a / b;
}
Value truncated(Value a, Value b) { return b == 0 ? 0 : quotient(a, b); }
Value floored(Value a, Value b) {
  if (b == 0) return 0;
  const Value q = quotient(a, b);
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

}  // namespace

IndexProgram::IndexProgram(const Graph& g, const std::vector<Leaf>& leaves, const std::vector<Id>& roots,
                           const std::vector<Id>& assumptions)
    : g_(g), assumptions_(assumptions) {
  std::vector<Id> all = roots;
  all.insert(all.end(), assumptions.begin(), assumptions.end());
  nodes_ = g.reachable(all);
  position_.resize(nodes_.back() + 1);
  values_.resize(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) position_[nodes_[i]] = static_cast<std::uint32_t>(i);
  for (const Leaf& l : leaves) {
    if (!std::ranges::binary_search(nodes_, l.id)) continue;
    leaves_.push_back(l);
    if (__builtin_mul_overflow(points_, l.count, &points_)) points_ = INT64_MAX;
  }
}

void IndexProgram::run_all(std::size_t batch) {
  alive_.fill(true);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    auto rest = static_cast<std::int64_t>(batch * lanes + lane);
    alive_[lane] = rest < points_;
    for (const Leaf& l : leaves_) {
      put(l, lane, rest % std::max<std::int64_t>(1, l.count));
      rest /= std::max<std::int64_t>(1, l.count);
    }
  }
  evaluate();
}

// Loop iterations are chosen below the greatest end, which is often too far. So half of the points stay near the start.
void IndexProgram::run_corners_and_random(Random& random) {
  alive_.fill(true);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const std::uint64_t top = lane < 8 ? (lane < 2 ? lane * ~std::uint64_t{0} : random.next()) : 0;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const Leaf& l = leaves_[i];
      const std::int64_t last = std::max<std::int64_t>(0, l.count - 1), near = std::min<std::int64_t>(last, 3);
      if (lane < 8) {
        put(l, lane, (top >> i) % 2 == 1 ? last : 0);
        continue;
      }
      switch (random.pick(0, 3)) {
        case 0: put(l, lane, random.pick(0, near)); break;
        case 1: put(l, lane, g_.op(l.id) == Op::RANGE ? random.pick(0, near) : last - random.pick(0, near)); break;
        default: put(l, lane, random.pick(0, last));
      }
    }
  }
  evaluate();
}

void IndexProgram::evaluate() {
  for (Id id : nodes_) {
    Values& v = values_[position_[id]];
    if (g_.op(id) == Op::SYM) continue;
    if (g_.op(id) != Op::RANGE) {
      apply(id, v);
      continue;
    }
    const Values& end = (*this)[g_.src(id, 0)];
    for (std::size_t i = 0; i < lanes; ++i) alive_[i] = alive_[i] && v[i] < end[i];
  }
  for (Id id : assumptions_)
    for (std::size_t i = 0; i < lanes; ++i) alive_[i] = alive_[i] && (*this)[id][i] != 0;
}

void IndexProgram::apply(Id id, Values& out) {
  static const Values none{};
  const auto src = g_.src(id);
  const Values& a = src.empty() ? none : (*this)[src[0]];
  const Values& b = src.size() < 2 ? none : (*this)[src[1]];
  const Values& c = src.size() < 3 ? none : (*this)[src[2]];
  const auto each = [&](auto f) {
    for (std::size_t i = 0; i < lanes; ++i) out[i] = f(a[i], b[i]);
  };
  const auto product = [&](const Values& x, auto y) {
    for (std::size_t i = 0; i < lanes; ++i) {
      const Value k = y(i);
      if (small(x[i]) && small(k))
        out[i] = x[i] * k;
      else if (__builtin_mul_overflow(x[i], k, &out[i]))
        alive_[i] = false;
    }
  };
  switch (g_.op(id)) {
    case Op::CONST: return out.fill(g_.arg(id, 0));
    case Op::ADD:
      for (std::size_t i = 0; i < lanes; ++i)
        if (__builtin_add_overflow(a[i], b[i], &out[i])) alive_[i] = false;
      return;
    case Op::SUB:
      for (std::size_t i = 0; i < lanes; ++i)
        if (__builtin_sub_overflow(a[i], b[i], &out[i])) alive_[i] = false;
      return;
    case Op::MUL: return product(a, [&](std::size_t i) { return b[i]; });
    case Op::SHL: return product(a, [&](std::size_t i) { return Value{1} << b[i]; });
    case Op::SHR: return each([](Value x, Value y) { return x >> y; });
    case Op::NEG:
    case Op::ABS:
      for (std::size_t i = 0; i < lanes; ++i) {
        out[i] = a[i];
        if ((g_.op(id) == Op::NEG || a[i] < 0) && __builtin_sub_overflow(Value{0}, a[i], &out[i])) alive_[i] = false;
      }
      return;
    case Op::FLOORDIV: return each(floored);
    case Op::FLOORMOD: return each([](Value x, Value y) { return y == 0 ? 0 : x - floored(x, y) * y; });
    case Op::CDIV: return each(truncated);
    case Op::CMOD: return each([](Value x, Value y) { return y == 0 ? 0 : x - truncated(x, y) * y; });
    case Op::MIN: return each([](Value x, Value y) { return std::min(x, y); });
    case Op::MAX: return each([](Value x, Value y) { return std::max(x, y); });
    case Op::LT: return each([](Value x, Value y) { return Value{x < y}; });
    case Op::LE: return each([](Value x, Value y) { return Value{x <= y}; });
    case Op::EQ: return each([](Value x, Value y) { return Value{x == y}; });
    case Op::NE: return each([](Value x, Value y) { return Value{x != y}; });
    case Op::AND: return each([](Value x, Value y) { return x & y; });
    case Op::OR: return each([](Value x, Value y) { return x | y; });
    case Op::XOR: return each([](Value x, Value y) { return x ^ y; });
    case Op::NOT: return each([](Value x, Value) { return Value{x == 0}; });
    case Op::WHERE:
      for (std::size_t i = 0; i < lanes; ++i) out[i] = a[i] != 0 ? b[i] : c[i];
      return;
    default: throw std::logic_error("not an index operation: " + std::string(name(g_.op(id))));
  }
}

}  // namespace kiln::test
