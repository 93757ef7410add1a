#include "compiler/lower/lane_extremes.h"

#include <algorithm>
#include <limits>

#include "compiler/lower/index_vector.h"
#include "compiler/lower/integer_value.h"

namespace kiln::compiler {

std::optional<Extremes> LaneExtremes::lanes(Id v) {
  const DType d = g_.dtype(v);
  if (!is_int(d) && d != DType::index) return std::nullopt;
  if (g_.lanes(v) == 1) return Extremes{v, v};
  if (g_.op(v) == Op::BROADCAST) return Extremes{g_.operand(v), g_.operand(v)};
  if (g_.is_const(v)) {
    const Id lane = g_.constant(d, static_cast<std::uint64_t>(g_.value(v)));
    return Extremes{lane, lane};
  }
  const auto at = positions(v);
  if (!at || d == DType::index) return at;
  const Id least = g_.make(Op::CAST, d, {at->least}), greatest = g_.make(Op::CAST, d, {at->greatest});
  return Extremes{least, greatest};
}

std::optional<Extremes> LaneExtremes::positions(Id v, int most_terms) {
  const DType d = g_.dtype(v);
  if (d != DType::index && d != DType::i32 && d != DType::i64) return std::nullopt;
  if (g_.op(v) == Op::BROADCAST) return positions(g_.operand(v), most_terms);
  if (g_.op(v) == Op::RAMP) return ramp(v);
  if (g_.is_const(v)) {
    const Id at = g_.index(integer_value(g_, v, {}).value());
    return Extremes{at, at};
  }
  if (g_.lanes(v) == 1 && d == DType::index) return Extremes{v, v};
  if (g_.op(v) == Op::ADD || g_.op(v) == Op::SUB) return sum(v, most_terms);
  if (g_.op(v) != Op::CAST || g_.lanes(v) != 1 || g_.dtype(g_.operand(v)) != DType::index) return std::nullopt;
  const Extremes at{g_.operand(v), g_.operand(v)};
  return fit(at, d) ? std::optional(at) : std::nullopt;
}

std::optional<Extremes> LaneExtremes::sum(Id v, int most_terms) {
  if (most_terms < 2) return std::nullopt;
  const auto [a, b] = g_.operands<2>(v);
  const auto x = positions(a, most_terms - 1), y = x ? positions(b, most_terms - 1) : std::nullopt;
  if (!y) return std::nullopt;
  const bool adds = g_.op(v) == Op::ADD;
  const Id least = index_binary(g_, g_.op(v), x->least, adds ? y->least : y->greatest);
  const Id greatest = index_binary(g_, g_.op(v), x->greatest, adds ? y->greatest : y->least);
  const Extremes out{least, greatest};
  return fit(out, g_.dtype(v)) ? std::optional(out) : std::nullopt;
}

std::optional<Extremes> LaneExtremes::ramp(Id v) {
  const auto base = positions(g_.operand(v));
  if (!base) return std::nullopt;
  const std::int64_t reach = g_.stride(v) * (g_.lanes(v) - 1);
  const Id least = add_index(g_, base->least, g_.index(std::min<std::int64_t>(reach, 0)));
  const Id greatest = add_index(g_, base->greatest, g_.index(std::max<std::int64_t>(reach, 0)));
  const Extremes out{least, greatest};
  return fit(out, g_.dtype(v)) ? std::optional(out) : std::nullopt;
}

// Whether integers of this type can be these positions.
bool LaneExtremes::fit(const Extremes& e, DType d) {
  if (d == DType::index) return true;
  const std::int64_t most = d == DType::i32 ? std::numeric_limits<std::int32_t>::max() : std::int64_t{1} << 60;
  return bounds_(e.least).min >= -most && bounds_(e.greatest).max <= most;
}

}  // namespace kiln::compiler
