#include "compiler/lower/transpose_tile.h"

#include <algorithm>

#include "compiler/ir/nth.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/transpose_loads.h"

namespace kiln::compiler {
std::vector<Id> loads_to_transpose(const Graph& g, std::span<const Id> stores, Id rows, Id lanes) {
  std::vector<Id> out;
  for (const Id id : g.reachable(stores)) {
    if (g.op(id) == Op::FOR) return {};
    if (g.op(id) != Op::LOAD || g.src(id).size() != 2 || index_stride(g, index_of(g, id), rows) != 1) continue;
    const std::optional<std::int64_t> stride = index_stride(g, index_of(g, id), lanes);
    if (!stride || *stride > 1 || *stride < -1) out.push_back(id);
  }
  return out;
}

void transpose_tile(Graph& g, RangeIds& loops, std::span<const Id> loads, Id rows, Id lanes, std::vector<Copy>& copies) {
  const int width = count_of(copies);
  const Id first_lane = g.operand(copies[0].values.at(lanes)), first_row = copies[0].values.at(rows);
  std::vector<Copy> lines(copies.size(), copies[0]);
  for (std::size_t l = 0; l < lines.size(); ++l) {
    lines[l].values[rows] = ramp(g, first_row, 1, width);
    lines[l].values[lanes] = add_index(g, first_lane, g.index(l));
  }
  const std::vector<std::vector<Id>> loaded = expand(g, loops, loads, lines);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    std::vector<Id> vectors;
    for (const std::vector<Id>& line : loaded) vectors.push_back(line[i]);
    transpose(g, vectors);
    for (std::size_t c = 0; c < copies.size(); ++c) copies[c].values[loads[i]] = vectors[c];
  }
}

}  // namespace kiln::compiler
