#include "compiler/symbolic/bounds.h"

#include <numeric>
#include <vector>

namespace kiln::compiler {
namespace {

using namespace symbolic;

constexpr Congruence no_residue{1, 0};
constexpr Interval boolean{0, 1};

Congruence congruent(std::int64_t stride, std::int64_t offset) {
  if (stride == 0) return {0, offset};
  return {stride, floor_mod(offset, stride)};
}

Congruence add_residue(Congruence a, Congruence b, bool minus) {
  std::int64_t o = 0;
  if (minus ? __builtin_sub_overflow(a.offset, b.offset, &o) : __builtin_add_overflow(a.offset, b.offset, &o)) return no_residue;
  return congruent(std::gcd(a.stride, b.stride), o);
}

Congruence mul_residue(Congruence a, Congruence b) {
  std::int64_t ss = 0, so = 0, os = 0, oo = 0;
  if (__builtin_mul_overflow(a.stride, b.stride, &ss) || __builtin_mul_overflow(a.stride, b.offset, &so) ||
      __builtin_mul_overflow(a.offset, b.stride, &os) || __builtin_mul_overflow(a.offset, b.offset, &oo))
    return no_residue;
  return congruent(std::gcd(std::gcd(ss, so), os), oo);
}

Congruence either(Congruence a, Congruence b) {
  std::int64_t d = 0;
  if (__builtin_sub_overflow(a.offset, b.offset, &d)) return no_residue;
  return congruent(std::gcd(std::gcd(a.stride, b.stride), d), a.offset);
}

Interval of_dtype(DType d) {
  if (d == DType::boolean) return boolean;
  if (is_signed_int(d) && bits(d) < 64) return {-(std::int64_t{1} << (bits(d) - 1)), (std::int64_t{1} << (bits(d) - 1)) - 1};
  if (is_unsigned_int(d) && bits(d) < 64) return {0, (std::int64_t{1} << bits(d)) - 1};
  if (d == DType::u64) return {0, unbounded};
  return anything;
}

Interval less(Interval a, Interval b) { return {a.max < b.min ? 1 : 0, a.min < b.max ? 1 : 0}; }
Interval less_equal(Interval a, Interval b) { return {a.max <= b.min ? 1 : 0, a.min <= b.max ? 1 : 0}; }
Interval equal(Interval a, Interval b) {
  if (a.max < b.min || b.max < a.min) return {0, 0};
  if (a.single() && a == b && a.max != unbounded && a.min != -unbounded) return {1, 1};
  return boolean;
}
Interval inverted(Interval a) { return {1 - a.max, 1 - a.min}; }

// Narrows the interval to values of the residue class.
Interval tightened(Interval i, Congruence c) {
  if (c.stride == 0) return {std::clamp(c.offset, -unbounded, unbounded), std::clamp(c.offset, -unbounded, unbounded)};
  if (c.stride == 1 || i.min > i.max) return i;
  Interval r = i;
  if (i.min != -unbounded) r.min = i.min + floor_mod(c.offset - floor_mod(i.min, c.stride), c.stride);
  if (i.max != unbounded) r.max = i.max - floor_mod(floor_mod(i.max, c.stride) - c.offset, c.stride);
  return r.min <= r.max ? r : i;
}

}  // namespace

Interval Bounds::interval_of(Id id) const {
  const auto at = [&](std::size_t i) { return memo_.at(graph_.src(id, i)).interval; };
  const DType d = graph_.dtype(id);
  switch (graph_.op(id)) {
    case Op::CONST: {
      if (d != DType::index && d != DType::boolean) return of_dtype(d);
      const std::int64_t v = std::clamp(graph_.arg(id, 0), -unbounded, unbounded);
      return {v, v};
    }
    case Op::SYM: {
      const SymFact f = facts_.of(graph_.name(id));
      return {std::max(f.min, -unbounded), std::min(std::max(f.min, f.max), unbounded)};
    }
    case Op::RANGE: {
      const std::int64_t end = at(0).max;
      return {0, end == unbounded ? unbounded : std::max<std::int64_t>(0, end - 1)};
    }
    default: break;
  }
  if (d == DType::boolean) {
    const bool on_values = graph_.src(id).size() == 2 && is_comparison(graph_.op(id));
    if (on_values && graph_.dtype(graph_.src(id, 0)) != DType::index && graph_.dtype(graph_.src(id, 0)) != DType::boolean)
      return boolean;
    switch (graph_.op(id)) {
      case Op::LT: return less(at(0), at(1));
      case Op::LE: return less_equal(at(0), at(1));
      case Op::EQ: return graph_.src(id, 0) == graph_.src(id, 1) ? Interval{1, 1} : equal(at(0), at(1));
      case Op::NE: return graph_.src(id, 0) == graph_.src(id, 1) ? Interval{0, 0} : inverted(equal(at(0), at(1)));
      case Op::NOT: return inverted(at(0));
      case Op::AND: return {std::min(at(0).min, at(1).min), std::min(at(0).max, at(1).max)};
      case Op::OR: return {std::max(at(0).min, at(1).min), std::max(at(0).max, at(1).max)};
      case Op::WHERE: return unite(at(1), at(2));
      default: return boolean;
    }
  }
  if (d != DType::index) return of_dtype(d);
  switch (graph_.op(id)) {
    case Op::ADD: return add(at(0), at(1));
    case Op::SUB: return sub(at(0), at(1));
    case Op::MUL: return mul(at(0), at(1));
    case Op::NEG: return sub({0, 0}, at(0));
    case Op::FLOORDIV: return div(at(0), at(1));
    case Op::FLOORMOD: return mod(at(0), at(1));
    case Op::MIN: return {std::min(at(0).min, at(1).min), std::min(at(0).max, at(1).max)};
    case Op::MAX: return {std::max(at(0).min, at(1).min), std::max(at(0).max, at(1).max)};
    case Op::WHERE:
      if (graph_.op(graph_.src(id, 2)) == Op::INVALID) return at(1);
      if (graph_.op(graph_.src(id, 1)) == Op::INVALID) return at(2);
      return unite(at(1), at(2));
    case Op::BROADCAST: case Op::LANE: case Op::SHUFFLE: return at(0);
    case Op::RAMP: return unite(at(0), add(at(0), mul({graph_.arg(id, 0), graph_.arg(id, 0)}, {0, graph_.lanes(id) - 1})));
    case Op::CAST: return of_dtype(graph_.dtype(graph_.src(id, 0)));
    default: return anything;
  }
}

Congruence Bounds::residue_of(Id id) const {
  if (graph_.dtype(id) != DType::index) return no_residue;
  const auto at = [&](std::size_t i) { return memo_.at(graph_.src(id, i)).residue; };
  switch (graph_.op(id)) {
    case Op::CONST: return {0, graph_.arg(id, 0)};
    case Op::SYM: {
      const std::int64_t m = facts_.of(graph_.name(id)).multiple_of;
      return m > 1 ? Congruence{m, 0} : no_residue;
    }
    case Op::ADD: return add_residue(at(0), at(1), false);
    case Op::SUB: return add_residue(at(0), at(1), true);
    case Op::NEG: return add_residue({0, 0}, at(0), true);
    case Op::MUL: return mul_residue(at(0), at(1));
    case Op::MIN: case Op::MAX: return either(at(0), at(1));
    case Op::WHERE:
      if (graph_.op(graph_.src(id, 2)) == Op::INVALID) return at(1);
      return either(at(1), at(2));
    case Op::FLOORMOD: {
      const Congruence a = at(0), b = at(1);
      if (b.stride != 0 || b.offset <= 0) return no_residue;
      if (a.stride % b.offset == 0) return {0, floor_mod(a.offset, b.offset)};
      return congruent(std::gcd(a.stride, b.offset), a.offset);
    }
    case Op::FLOORDIV: {
      const Congruence a = at(0), b = at(1);
      if (b.stride != 0 || b.offset <= 0 || a.stride % b.offset != 0) return no_residue;
      return congruent(a.stride / b.offset, floor_div(a.offset, b.offset));
    }
    default: return no_residue;
  }
}

Bounds::Entry Bounds::derive(Id id) const {
  const Congruence c = residue_of(id);
  return {graph_.dtype(id) == DType::index ? tightened(interval_of(id), c) : interval_of(id), c};
}

Bounds::Entry Bounds::at(Id root) {
  if (const auto it = memo_.find(root); it != memo_.end()) return it->second;
  std::vector<Id> stack{root};
  while (!stack.empty()) {
    const Id id = stack.back();
    const std::size_t before = stack.size();
    if (!memo_.contains(id)) {
      // Bounds do not look inside values of other types: a load's interval is its dtype's.
      const bool inner = graph_.dtype(id) == DType::index || graph_.dtype(id) == DType::boolean;
      if (inner)
        for (Id s : graph_.src(id))
          if (!memo_.contains(s)) stack.push_back(s);
      if (stack.size() != before) continue;
      memo_.emplace(id, derive(id));
    }
    stack.pop_back();
  }
  return memo_.at(root);
}

}  // namespace kiln::compiler
