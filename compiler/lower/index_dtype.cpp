#include "compiler/lower/index_dtype.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/remark.h"
#include "compiler/ir/rewrite_in_order.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/lane_conditions.h"
#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t far = std::int64_t{1} << 24;  // the product of two extents of this size exceeds 32 bits

bool is_division(Op op) { return op == Op::FLOORDIV || op == Op::FLOORMOD; }

class IndexTypes {
 public:
  IndexTypes(Graph& g, const Facts& facts, int narrowest_bits) : g_(g), bounds_(g, facts), may_narrow_(narrowest_bits <= 32) {}

  Id run(Id sink) {
    const Id lowered = rewrite_in_order(g_, g_.reachable(sink), done_,
                                        [&](Id id) { return g_.dtype(id) == DType::index ? index_value(id) : other(id); });
    if (g_.remarks() != nullptr) explain(sink);
    return lowered;
  }

 private:
  // Names the accesses whose index needs 64 bits, and the symbols that may be large.
  void explain(Id sink) const {
    for (const Id id : g_.reachable(sink)) {
      if (g_.op(id) != Op::LOAD && g_.op(id) != Op::STORE) continue;
      std::string names;
      bool is_wide = false;
      for (const Id n : g_.reachable(index_of(g_, id))) {
        is_wide = is_wide || wide_.contains(n);
        const std::int64_t most = g_.op(n) == Op::SYM && !g_.name(n).starts_with('$') ? bounds_.facts().of(g_.name(n)).max : 0;
        if (most >= far) names += (names.empty() ? "" : ", ") + std::string(g_.name(n)) + " may be " + std::to_string(most);
      }
      if (is_wide)
        remark(g_, id, remarks::wide_index, [&] {
          return "the index needs 64 bits" + (names.empty() ? "" : ": " + names + "; with a lower .max 32 bits may do");
        });
    }
  }

  bool is_index(Id id) const { return g_.dtype(id) == DType::index; }

  bool fits(Id id) {
    const Interval i = bounds_(id);
    return may_narrow_ && i.min >= std::numeric_limits<std::int32_t>::min() &&
           i.max <= std::numeric_limits<std::int32_t>::max();
  }

  bool all_fit(Id id) {
    const std::vector<Id> s = g_.sources(id);
    return fits(id) && std::ranges::all_of(s, [&](Id x) { return !is_index(x) || fits(x); });
  }

  DType select(Id id) {
    const bool gains = g_.lanes(id) > 1 || is_division(g_.op(id));
    if (!gains) return DType::i64;
    if (all_fit(id)) return DType::i32;
    if (may_narrow_ && g_.op(id) != Op::RAMP && g_.op(id) != Op::BROADCAST) wide_.insert(id);
    return DType::i64;
  }

  // A source in type d. Constants and affine vectors are built in that type, other values are cast.
  Id as(Id id, DType d) {
    if (!is_index(id)) return done_.at(id);
    if (g_.is_const(id)) return g_.constant(d, static_cast<std::uint64_t>(g_.value(id)), g_.lanes(id));
    const Id made = done_.at(id);
    if (g_.dtype(made) == d) return made;
    if (g_.op(id) == Op::RAMP || g_.op(id) == Op::BROADCAST) return rebuilt(id, d);
    return cast(made, d);
  }

  Id cast(Id value, DType d) { return g_.make(Op::CAST, d, {value}, {}, {}, g_.lanes(value)); }

  std::vector<Id> sources(Id id, DType d) {
    std::vector<Id> s = g_.sources(id);
    for (Id& x : s) x = as(x, d);
    return s;
  }

  Id rebuilt(Id id, DType d) {
    const std::vector<Id> s = sources(id, d);
    const std::vector<std::int64_t> args(g_.args(id).begin(), g_.args(id).end());
    return g_.make(g_.op(id), d, s, args, g_.string(g_[id].name), g_.lanes(id));
  }

  Id index_value(Id id) {
    switch (g_.op(id)) {
      case Op::CONST: return id;
      case Op::SYM: return g_.make(Op::CAST, DType::i64, {id});
      case Op::CAST: return g_.make(Op::CAST, select(id), {done_.at(g_.operand(id))}, {}, {}, g_.lanes(id));
      case Op::FLOORDIV:
      case Op::FLOORMOD: return division(id);
      case Op::LANE: return rebuilt(id, natural(g_.operand(id)));
      default: return rebuilt(id, select(id));
    }
  }

  Id division(Id id) {
    const DType d = select(id);
    const auto [dividend, divisor] = g_.operands<2>(id);
    if (bounds_(dividend).min < 0 || bounds_(divisor).min < 1) return rebuilt(id, d);
    const DType type = d == DType::i32 ? DType::u32 : DType::u64;
    const Op op = g_.op(id) == Op::FLOORDIV ? Op::CDIV : Op::CMOD;
    const int lanes = g_.lanes(id);
    const Id x = as(dividend, type), y = as(divisor, type);
    return cast(g_.make(op, type, {x, y}, {}, {}, lanes), d);
  }

  // A node of another type. Its index sources become i64, the width of an address. Scattered accesses, casts and comparisons
  // take them without a cast.
  Id other(Id id) {
    const Op op = g_.op(id);
    std::vector<Id> s = g_.sources(id);
    const bool on_indices = std::ranges::any_of(s, [&](Id x) { return is_index(x); });
    if (!on_indices) {
      for (Id& x : s) x = done_.at(x);
      return g_.with_src(id, s);
    }
    const Access how = op == Op::LOAD || op == Op::STORE ? access_of(g_, id) : Access::scalar;
    const bool scattered = how == Access::scattered || how == Access::even;
    const bool compared = is_comparison(op) && is_index(s[0]), converted = op == Op::CAST;
    const DType d = scattered ? natural(s[1]) : converted ? natural(s[0]) : compared ? common(s[0], s[1]) : DType::i64;
    return g_.with_src(id, sources(id, d));
  }

  // The type that needs no cast of the value.
  DType natural(Id id) { return g_.is_const(id) ? (fits(id) ? DType::i32 : DType::i64) : g_.dtype(done_.at(id)); }
  DType common(Id a, Id b) { return natural(a) == DType::i32 && natural(b) == DType::i32 ? DType::i32 : DType::i64; }

  Graph& g_;
  Bounds bounds_;
  bool may_narrow_;
  std::unordered_set<Id> wide_;  // values in lanes, and divisions, that need 64 bits
  std::unordered_map<Id, Id> done_;
};

Interval i32_values() { return symbolic::known_dtype(DType::i32).interval; }

bool fits_i32(Bounds& bounds, Id id) { return bounds(id).min >= i32_values().min && bounds(id).max <= i32_values().max; }

// The minimum of i32 lanes and a large n is the minimum of the lanes and min(n, 2^31 - 1), which fits i32 too.
Id with_narrow_limits(Graph& g, Id sink, const Facts& facts) {
  Bounds bounds(g, facts);
  const Interval fitting = i32_values();
  const auto fits = [&](Id id) { return fits_i32(bounds, id); };
  std::unordered_map<Id, Id> limits;
  for (const Id id : g.reachable(sink)) {
    if (g.op(id) != Op::MIN || g.dtype(id) != DType::index || g.lanes(id) == 1) continue;
    for (const std::size_t i : {0u, 1u}) {
      const Id limit = g.src(id, i);
      if (g.op(limit) != Op::BROADCAST || fits(limit) || bounds(limit).min < fitting.min || !fits(g.src(id, 1 - i))) continue;
      const Id least = g.make(Op::MIN, DType::index, {g.operand(limit), g.index(fitting.max)});
      std::vector<Id> src = g.sources(id);
      src[i] = g.make(Op::BROADCAST, DType::index, {least}, {}, {}, g.lanes(limit));
      limits[id] = g.with_src(id, src);
    }
  }
  return limits.empty() ? sink : substitute(g, sink, limits);
}

// Lanes that are too large for i32 are compared by their distance from the limit: x + s * lane < y is s * lane < y - x. The
// distance is a scalar, and limited to where the comparison still depends on it.
Id with_narrow_comparisons(Graph& g, Id sink, const Facts& facts) {
  Bounds bounds(g, facts);
  const auto fits = [&](Id id) { return fits_i32(bounds, id); };
  std::unordered_map<Id, Id> narrow;
  for (const Id id : g.reachable(sink)) {
    if ((g.op(id) != Op::LT && g.op(id) != Op::LE) || g.lanes(id) == 1) continue;
    const auto [a, b] = g.operands<2>(id);
    if (g.dtype(a) != DType::index || (fits(a) && fits(b))) continue;
    const std::optional<LaneLimit> l = lane_limit(g, id);
    if (!l) continue;
    const Id position = ramp(g, g.index(0), l->stride, g.lanes(id)), limit = widen_lanes(g, l->limit, g.lanes(id));
    narrow[id] = g.with_src(id, std::vector<Id>{position, limit});
  }
  return narrow.empty() ? sink : substitute(g, sink, narrow);
}

}  // namespace

Id index_dtype(Graph& g, Id sink, const Facts& facts, int narrowest_bits) {
  if (narrowest_bits <= 32) sink = with_narrow_comparisons(g, with_narrow_limits(g, sink, facts), facts);
  return IndexTypes(g, facts, narrowest_bits).run(sink);
}

}  // namespace kiln::compiler
