#include "compiler/lower/near_gathers.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "compiler/ir/loop_scopes.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/power_of_two.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/linear_index.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t largest = std::int64_t{1} << 40;  // of an offset and a divisor: sums and products cannot overflow

// An index of each lane: base + offsets[lane]. base: a scalar, or no_id for 0.
struct LaneIndex {
  Id base = no_id;
  std::vector<std::int64_t> offsets;
};

// A condition of each lane: `all` and lanes[lane]. all: a scalar, or no_id for true.
struct LaneCondition {
  Id all = no_id;
  std::vector<bool> lanes;
};

class NearGathers {
 public:
  NearGathers(Graph& g, Id sink, int alignment) : g_(g) {
    for (const Id id : g.reachable(sink))
      if (g.op(id) == Op::FOR) {
        const ForParts f = for_parts(g, id);
        if (g.is_const(f.begin)) loops_[f.range] = {g.value(f.begin), f.step};
        if (f.begin == g.sym("$begin")) loops_[f.range] = {0, std::gcd(f.step, std::int64_t{alignment})};
      }
  }

  Id run(Id sink) {
    return rewrite(g_, sink, [&](Id id, std::span<const Id> x) -> Id {
      if (g_.lanes(id) < 2) return no_id;
      if (g_.op(id) == Op::LOAD) return load(id, x);
      return g_.op(id) == Op::WHERE ? select(x) : no_id;
    });
  }

 private:
  // The values of a RANGE are `begin` plus multiples of `unit`.
  struct Loop {
    std::int64_t begin, unit;
  };

  std::optional<LaneIndex> index(Id id) {
    const auto it = indices_.find(id);
    return it != indices_.end() ? it->second : indices_[id] = find_index(id);
  }

  std::optional<LaneIndex> find_index(Id id) {
    const auto lanes = static_cast<std::size_t>(g_.lanes(id));
    if (g_.dtype(id) != DType::index || lanes < 2) return std::nullopt;
    LaneIndex out{no_id, std::vector<std::int64_t>(lanes, 0)};
    switch (g_.op(id)) {
      case Op::CONST: out.offsets.assign(lanes, g_.value(id)); break;
      case Op::BROADCAST:
        out.base = g_.operand(id);
        add_constant_base(out);
        break;
      case Op::RAMP:
        if (g_.stride(id) > largest || g_.stride(id) < -largest) return std::nullopt;
        out.base = g_.operand(id);
        for (std::size_t l = 0; l < lanes; ++l) out.offsets[l] = static_cast<std::int64_t>(l) * g_.stride(id);
        add_constant_base(out);
        break;
      case Op::ADD: return sum(g_.src(id, 0), g_.src(id, 1));
      case Op::MUL: return scaled(g_.src(id, 0), g_.src(id, 1));
      case Op::FLOORDIV:
      case Op::FLOORMOD: return divided(g_.op(id), g_.src(id, 0), g_.src(id, 1));
      case Op::MIN:
      case Op::MAX: return limited(g_.op(id), g_.src(id, 0), g_.src(id, 1));
      default: return std::nullopt;
    }
    return is_small(out) ? std::optional(out) : std::nullopt;
  }

  void add_constant_base(LaneIndex& x) const {
    const auto first = constant(x.base);
    if (!first) return;
    x.base = no_id;
    for (std::int64_t& o : x.offsets) o += *first;
  }

  static bool is_small(const LaneIndex& x) {
    return std::ranges::all_of(x.offsets, [](std::int64_t o) { return -largest <= o && o <= largest; });
  }

  std::optional<LaneIndex> sum(Id a, Id b) {
    std::optional<LaneIndex> x = index(a);
    const std::optional<LaneIndex> y = index(b);
    if (!x || !y) return std::nullopt;
    x->base = x->base == no_id ? y->base : y->base == no_id ? x->base : add_index(g_, x->base, y->base);
    for (std::size_t l = 0; l < x->offsets.size(); ++l) x->offsets[l] += y->offsets[l];
    return is_small(*x) ? x : std::nullopt;
  }

  // The smaller or the larger one of two indices whose bases are the same.
  std::optional<LaneIndex> limited(Op op, Id a, Id b) {
    std::optional<LaneIndex> x = index(a);
    const std::optional<LaneIndex> y = index(b);
    if (!x || !y || x->base != y->base) return std::nullopt;
    for (std::size_t l = 0; l < x->offsets.size(); ++l) {
      const std::int64_t u = x->offsets[l], v = y->offsets[l];
      x->offsets[l] = op == Op::MIN ? std::min(u, v) : std::max(u, v);
    }
    return x;
  }

  // The value that a vector has in all lanes; nullopt: it is no small constant.
  std::optional<std::int64_t> constant(Id id) const {
    if (!g_.is_const(id) || g_.value(id) < -largest || g_.value(id) > largest) return std::nullopt;
    return g_.value(id);
  }

  std::optional<LaneIndex> scaled(Id a, Id b) {
    if (g_.is_const(a)) std::swap(a, b);
    const std::optional<std::int64_t> by = constant(b);
    std::optional<LaneIndex> x = by ? index(a) : std::nullopt;
    if (!x) return std::nullopt;
    if (x->base != no_id) x->base = mul_index(g_, x->base, g_.index(*by));
    for (std::int64_t& o : x->offsets)
      if (__builtin_mul_overflow(o, *by, &o)) return std::nullopt;
    return is_small(*x) ? x : std::nullopt;
  }

  // The remainder of a scalar, if it is the same in all iterations of the loops around it.
  std::optional<std::int64_t> remainder(Id scalar, std::int64_t by) const {
    const auto mod = [&](std::int64_t v) { return ((v % by) + by) % by; };
    const LinearIndex x = linear_index(g_, scalar);
    std::int64_t rest = mod(x.constant);
    for (const auto& [term, factor] : x.terms) {
      const std::int64_t f = mod(factor);
      if (f == 0) continue;
      const auto loop = loops_.find(term);
      if (loop == loops_.end() || f * mod(loop->second.unit) % by != 0) return std::nullopt;
      rest = mod(rest + f * mod(loop->second.begin));
    }
    return rest;
  }

  std::optional<LaneIndex> divided(Op op, Id a, Id b) {
    const std::optional<std::int64_t> by = constant(b);
    std::optional<LaneIndex> x = by && *by > 0 && *by < (1 << 20) ? index(a) : std::nullopt;
    if (!x) return std::nullopt;
    const std::optional<std::int64_t> rest = x->base == no_id ? 0 : remainder(x->base, *by);
    if (!rest) return std::nullopt;
    if (x->base != no_id) x->base = op == Op::FLOORMOD ? no_id : index_binary(g_, Op::FLOORDIV, x->base, g_.index(*by));
    for (std::int64_t& o : x->offsets) {
      const std::int64_t v = o + *rest, quotient = v / *by - (v % *by < 0 ? 1 : 0);
      o = op == Op::FLOORMOD ? v - quotient * *by : quotient;
    }
    return x;
  }

  std::optional<LaneCondition> condition(Id id) {
    const auto lanes = static_cast<std::size_t>(g_.lanes(id));
    if (lanes < 2) return std::nullopt;
    switch (g_.op(id)) {
      case Op::BROADCAST: return LaneCondition{g_.operand(id), std::vector<bool>(lanes, true)};
      case Op::AND: {
        std::optional<LaneCondition> x = condition(g_.src(id, 0));
        const std::optional<LaneCondition> y = condition(g_.src(id, 1));
        if (!x || !y) return std::nullopt;
        if (x->all == no_id || y->all == no_id)
          x->all = x->all == no_id ? y->all : x->all;
        else
          x->all = g_.make(Op::AND, DType::boolean, {x->all, y->all});
        for (std::size_t l = 0; l < lanes; ++l) x->lanes[l] = x->lanes[l] && y->lanes[l];
        return x;
      }
      case Op::LT:
      case Op::LE:
      case Op::EQ:
      case Op::NE: return comparison(id);
      default: return std::nullopt;
    }
  }

  // An index, or an i32: the numbers of lanes, and how many of them are active (lane_mask).
  std::optional<LaneIndex> compared(Id id) {
    if (g_.dtype(id) != DType::i32) return index(id);
    const bool is_ramp = g_.op(id) == Op::RAMP;
    const Id of = is_ramp || g_.op(id) == Op::BROADCAST ? g_.operand(id) : id;
    if (!g_.is_const(of) || (is_ramp && g_.stride(id) != 1)) return std::nullopt;
    LaneIndex out{no_id, std::vector<std::int64_t>(static_cast<std::size_t>(g_.lanes(id)), g_.value(of))};
    for (std::size_t l = 0; is_ramp && l < out.offsets.size(); ++l) out.offsets[l] += static_cast<std::int64_t>(l);
    return out;
  }

  std::optional<LaneCondition> comparison(Id id) {
    const std::optional<LaneIndex> x = compared(g_.src(id, 0)), y = compared(g_.src(id, 1));
    if (!x || !y || x->base != y->base) return std::nullopt;
    LaneCondition out;
    for (std::size_t l = 0; l < x->offsets.size(); ++l) {
      const std::int64_t a = x->offsets[l], b = y->offsets[l];
      const Op op = g_.op(id);
      out.lanes.push_back(op == Op::LT ? a < b : op == Op::LE ? a <= b : op == Op::EQ ? a == b : a != b);
    }
    return out;
  }

  // Both values have the lanes of the condition.
  Id select(std::span<const Id> x) {
    const std::optional<LaneCondition> c = condition(x[0]);
    if (!c || c->all != no_id) return no_id;
    const std::int64_t lanes = g_.lanes(x[0]);
    std::vector<std::int64_t> from;
    for (std::int64_t l = 0; l < lanes; ++l) from.push_back(c->lanes[static_cast<std::size_t>(l)] ? l : lanes + l);
    if (g_.lanes(x[1]) != lanes || g_.lanes(x[2]) != lanes || g_.dtype(x[1]) >= DType::index ||
        g_.dtype(x[1]) == DType::boolean)
      return no_id;
    const Id values[] = {x[1], x[2]};
    return g_.make(Op::SHUFFLE, g_.dtype(x[1]), values, from, {}, narrow<int>(lanes));
  }

  // x: the sources of the LOAD.
  Id load(Id id, std::span<const Id> x) {
    if (g_.op(x[1]) == Op::RAMP || g_.op(x[1]) == Op::BROADCAST || g_.lanes(x[1]) < 2) return no_id;
    const std::optional<LaneIndex> at = index(x[1]);
    if (!at) return no_id;
    LaneCondition active{no_id, std::vector<bool>(at->offsets.size(), true)};
    if (x.size() > 2) {
      const std::optional<LaneCondition> gate = condition(x[3]);
      if (!gate || !g_.is_const(x[2])) return no_id;
      active = *gate;
    }
    std::optional<std::int64_t> lo, hi;
    for (std::size_t l = 0; l < at->offsets.size(); ++l) {
      if (!active.lanes[l]) continue;
      lo = std::min(lo.value_or(at->offsets[l]), at->offsets[l]);
      hi = std::max(hi.value_or(at->offsets[l]), at->offsets[l]);
    }
    if (!lo) return x[2];
    const std::int64_t width = *hi - *lo + 1, lanes = std::ssize(at->offsets);
    if (width < 2) return no_id;
    for (std::size_t l = 0; l < at->offsets.size(); ++l)
      if (active.lanes[l] && at->offsets[l] >= *lo + lanes && at->offsets[l] <= *hi - lanes) return no_id;
    return shuffled(id, x, *at, active, *lo, width);
  }

  // The LOAD as a SHUFFLE of contiguous elements: the first and the last ones of `width` elements, from offset lo.
  Id shuffled(Id id, std::span<const Id> x, const LaneIndex& at, const LaneCondition& active, std::int64_t lo,
              std::int64_t width) {
    const int part = floor_power_of_two(narrow<int>(std::min(width, std::ssize(at.offsets))));
    std::vector<Id> vectors;
    for (const std::int64_t first : {lo, lo + width - part}) {
      const Id base = at.base == no_id ? g_.index(first) : add_index(g_, at.base, g_.index(first));
      std::vector<Id> s = {x[0], ramp(g_, base, 1, part)};
      if (active.all != no_id)
        s.insert(s.end(), {widen_lanes(g_, g_.constant(g_.dtype(id), static_cast<std::uint64_t>(g_.value(x[2]))), part),
                           widen_lanes(g_, active.all, part)});
      vectors.push_back(g_.make(Op::LOAD, g_.dtype(id), s, g_.args(id), {}, part));
      if (part == width) break;
    }
    const auto loaded = std::ssize(vectors) * part;
    const bool some_inactive = !std::ranges::all_of(active.lanes, [](bool b) { return b; });
    if (some_inactive)
      vectors.push_back(widen_lanes(g_, g_.constant(g_.dtype(id), static_cast<std::uint64_t>(g_.value(x[2]))), part));
    std::vector<std::int64_t> from;
    for (std::size_t l = 0; l < at.offsets.size(); ++l) {
      const std::int64_t o = at.offsets[l] - lo;
      from.push_back(!active.lanes[l] ? loaded : o < part ? o : o - (width - part) + part);
    }
    return g_.make(Op::SHUFFLE, g_.dtype(id), vectors, from, {}, narrow<int>(std::ssize(from)));
  }

  Graph& g_;
  std::unordered_map<Id, Loop> loops_;  // by RANGE, of loops that begin at a constant or with the chunk
  std::unordered_map<Id, std::optional<LaneIndex>> indices_;
};

}  // namespace

Id near_gathers(Graph& g, Id sink, int alignment) { return NearGathers(g, sink, alignment).run(sink); }

}  // namespace kiln::compiler
