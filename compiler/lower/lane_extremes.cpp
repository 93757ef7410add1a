#include "compiler/lower/lane_extremes.h"

#include <algorithm>
#include <limits>

#include "compiler/lower/index_vector.h"

namespace kiln::compiler {

std::optional<Id> LaneExtremes::lane(Id v, bool greatest) {
  const DType d = g_.dtype(v);
  if (!is_int(d) && d != DType::index) return std::nullopt;
  if (g_.lanes(v) == 1) return v;
  if (g_.is_const(v)) return g_.constant(d, static_cast<std::uint64_t>(g_.value(v)));
  if (g_.op(v) == Op::BROADCAST) return g_.operand(v);
  const auto at = position(v, greatest);
  if (!at || d == DType::index) return at;
  return g_.make(Op::CAST, d, {*at});
}

std::optional<Id> LaneExtremes::position(Id v, bool greatest) {
  if (g_.op(v) == Op::BROADCAST) return position(g_.operand(v), greatest);
  const bool is_ramp = g_.op(v) == Op::RAMP;
  if (!is_ramp && g_.lanes(v) > 1 && !g_.is_const(v)) return std::nullopt;
  const std::int64_t reach = is_ramp ? g_.stride(v) * (g_.lanes(v) - 1) : 0;
  const Id base = is_ramp ? g_.operand(v) : v;
  const Id first = g_.dtype(base) == DType::index ? base : position_of_cast(base, reach);
  if (first == no_id) return std::nullopt;
  const Id scalar = g_.lanes(first) == 1 ? first : g_.index(g_.value(first));
  return add_index(g_, scalar, g_.index(greatest ? std::max<std::int64_t>(reach, 0) : std::min<std::int64_t>(reach, 0)));
}

// The position whose cast the value is, if no cast of it and `reach` more wraps; else no_id.
Id LaneExtremes::position_of_cast(Id v, std::int64_t reach) {
  const DType d = g_.dtype(v);
  if ((d != DType::i32 && d != DType::i64) || (g_.op(v) != Op::CAST && !g_.is_const(v))) return no_id;
  const Id at = g_.is_const(v) ? g_.index(g_.value(v)) : g_.operand(v);
  if (g_.dtype(at) != DType::index) return no_id;
  const std::int64_t most = d == DType::i32 ? std::numeric_limits<std::int32_t>::max() / 2 : std::int64_t{1} << 60;
  const Interval all = bounds_(at);
  return all.min >= -most && all.max <= most && reach >= -most && reach <= most ? at : no_id;
}

}  // namespace kiln::compiler
