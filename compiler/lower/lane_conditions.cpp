#include "compiler/lower/lane_conditions.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "compiler/ir/nth.h"
#include "compiler/lower/index_vector.h"

namespace kiln::compiler {
namespace {

// A vector of positions as first + stride * lane.
struct Positions {
  Id first;
  std::int64_t stride;
};

std::optional<Positions> positions_of(Graph& g, Id id) {
  if (g.is_const(id)) return Positions{g.index(g.value(id)), 0};
  if (g.op(id) == Op::RAMP) return Positions{g.operand(id), g.stride(id)};
  if (g.op(id) == Op::BROADCAST) return Positions{g.operand(id), 0};
  return std::nullopt;
}

// Whether the condition is lane_mask() of index_vector.h.
bool is_lane_mask(const Graph& g, Id condition) {
  if (g.op(condition) != Op::LT) return false;
  const auto [lane, limit] = g.operands<2>(condition);
  return g.dtype(lane) == DType::i32 && g.op(lane) == Op::RAMP && g.stride(lane) == 1 && g.is_const(g.operand(lane)) &&
         g.value(g.operand(lane)) == 0 && g.op(limit) == Op::BROADCAST;
}

}  // namespace

std::optional<LaneLimit> lane_limit(Graph& g, Id condition) {
  if ((g.op(condition) != Op::LT && g.op(condition) != Op::LE) || g.dtype(g.src(condition, 0)) != DType::index)
    return std::nullopt;
  const auto [a, b] = g.operands<2>(condition);
  const auto x = positions_of(g, a), y = positions_of(g, b);
  std::int64_t stride = 0, last = 0;
  if (!x || !y || __builtin_sub_overflow(x->stride, y->stride, &stride)) return std::nullopt;
  if (__builtin_mul_overflow(stride, g.lanes(condition) - 1, &last)) return std::nullopt;
  if (last <= -std::numeric_limits<std::int32_t>::max() || last >= std::numeric_limits<std::int32_t>::max())
    return std::nullopt;
  const Id distance = sub_index(g, y->first, x->first);
  const Id least = g.index(std::min<std::int64_t>(last, 0) - 1), most = g.index(std::max<std::int64_t>(last, 0) + 1);
  return LaneLimit{stride, index_binary(g, Op::MAX, index_binary(g, Op::MIN, distance, most), least)};
}

Id condition_of_both(Graph& g, Id condition, std::span<const std::int64_t> one, std::span<const std::int64_t> other) {
  const int lanes = count_of(one);
  const auto made = [&](Op op, DType d, const std::vector<Id>& src) { return g.make(op, d, src, {}, {}, lanes); };
  if (g.op(condition) == Op::BROADCAST) return made(Op::BROADCAST, DType::boolean, {g.operand(condition)});
  if (g.op(condition) == Op::AND) {
    const Id a = condition_of_both(g, g.src(condition, 0), one, other);
    const Id b = condition_of_both(g, g.src(condition, 1), one, other);
    return made(Op::AND, DType::boolean, {a, b});
  }
  const auto shuffle = [&](Id v, DType d, std::span<const std::int64_t> from) {
    return g.make(Op::SHUFFLE, d, std::vector{v}, from, {}, lanes);
  };
  const auto compared = [&](std::int64_t stride, Id limit) {
    std::vector<std::int64_t> from(one.begin(), one.end());
    for (std::size_t i = 0; i < from.size(); ++i)
      from[i] = stride > 0 ? std::max(one[i], other[i]) : std::min(one[i], other[i]);
    const Id position = shuffle(ramp(g, g.constant(DType::i32, 0), stride, g.lanes(condition)), DType::i32, from);
    return made(g.op(condition), DType::boolean, {position, made(Op::BROADCAST, DType::i32, {limit})});
  };
  if (is_lane_mask(g, condition)) return compared(1, g.operand(g.src(condition, 1)));
  if (const std::optional<LaneLimit> l = lane_limit(g, condition))
    return compared(l->stride, g.make(Op::CAST, DType::i32, {l->limit}));
  const Id a = shuffle(condition, DType::boolean, one);
  if (std::ranges::equal(one, other)) return a;
  const Id b = shuffle(condition, DType::boolean, other);
  return made(Op::AND, DType::boolean, {a, b});
}

}  // namespace kiln::compiler
