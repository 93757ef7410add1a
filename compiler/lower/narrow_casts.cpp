#include "compiler/lower/narrow_casts.h"

#include <limits>

#include "compiler/lower/index_vector.h"
#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {
namespace {

bool within(Interval i, std::int64_t limit) { return i.min > -limit && i.max < limit; }

}  // namespace

Id narrow_casts(Graph& g, Id sink, const Facts& facts) {
  Bounds bounds(g, facts);
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    const DType d = g.dtype(id);
    if (g.op(id) != Op::CAST || (d != DType::f32 && d != DType::f64) || g.op(x[0]) != Op::RAMP || g.dtype(x[0]) != DType::index)
      return no_id;
    const Id base = g.operand(x[0]);
    const std::int64_t stride = g.stride(x[0]);
    const int lanes = g.lanes(id);
    const Interval all = bounds(x[0]);
    if (within(all, std::numeric_limits<std::int32_t>::max())) return no_id;
    if (!within(all, std::int64_t{1} << 53) ||
        !within({stride * lanes, stride * lanes}, std::numeric_limits<std::int32_t>::max()))
      return no_id;
    const Id offsets = g.make(Op::CAST, DType::f64, {ramp(g, g.constant(DType::i32, 0), stride, lanes)}, {}, {}, lanes);
    const Id start = widen_lanes(g, g.make(Op::CAST, DType::f64, {base}), lanes);
    const Id exact = g.make(Op::ADD, DType::f64, {start, offsets}, {}, {}, lanes);
    return d == DType::f64 ? exact : g.make(Op::CAST, d, {exact}, {}, {}, lanes);
  });
}

}  // namespace kiln::compiler
