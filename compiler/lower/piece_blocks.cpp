#include "compiler/lower/piece_blocks.h"

#include <algorithm>
#include <array>
#include <bit>

#include "compiler/ir/nth.h"
#include "compiler/lower/access.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t most_of_piece = 128;  // bytes: a few cache lines
constexpr std::int64_t page_bytes = 4096;
constexpr int block_of_pieces = 16;  // rows that are read or written side by side, each in order
constexpr int copies_of_pieces = 8;  // of these, written out

}  // namespace

std::optional<std::vector<LoopPlan>> piece_blocks(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges,
                                                  int one_register) {
  const std::size_t last = ranges.size() - 1;
  if (last < 2 || stores.size() != 1 || !g.is_const(g.end(ranges[last])) || g.op(value_of(g, stores[0])) != Op::LOAD)
    return std::nullopt;
  const Id load = value_of(g, stores[0]), between = ranges[last - 1];
  const std::int64_t piece = g.value(g.end(ranges[last])), size = bytes(g.dtype(load));
  if (piece < 2 || !std::has_single_bit(static_cast<std::uint64_t>(piece))) return std::nullopt;
  const std::array index = {symbolic::sum_of(g, index_of(g, load)), symbolic::sum_of(g, index_of(g, stores[0]))};
  if (!index[0] || !index[1]) return std::nullopt;
  const auto stride = [&](std::size_t side, Id range) { return constant_of(split_at(*index[side], range).factor); };
  const std::size_t far = stride(0, between) == piece ? 1 : 0;
  // A stride that is not constant is a symbolic row.
  const bool is_far = stride(far, between).value_or(page_bytes) * size >= page_bytes;
  if (piece * size > most_of_piece || stride(1 - far, between) != piece || !is_far) return std::nullopt;
  for (std::size_t i = last - 1; i-- > 0;) {
    if (stride(far, ranges[i]) != piece) continue;
    const bool is_stored = far == 1;
    std::vector<LoopPlan> plan;
    for (std::size_t k = 0; k + 1 < last; ++k)
      plan.push_back({.range = ranges[k], .step = k == i ? block_of_pieces : 1, .block = k == i});
    plan.push_back({.range = between, .step = is_stored ? 1 : block_of_pieces, .block = !is_stored});
    if (!is_stored) plan.push_back({.range = ranges[i]});
    plan.push_back({.range = ranges[last], .step = narrow<int>(std::min<std::int64_t>(piece, one_register)), .lanes = true});
    plan.push_back({.range = is_stored ? ranges[i] : between, .step = copies_of_pieces});
    return plan;
  }
  return std::nullopt;
}

}  // namespace kiln::compiler
