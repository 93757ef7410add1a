#include "compiler/lower/transpose_tile.h"

#include <algorithm>

#include "compiler/ir/nth.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"

namespace kiln::compiler {
namespace {

// Lane k of the first result is lane k of a, or lane k - s of b if bit s of k is set. The second result has the other lanes of
// both.
Id exchanged(Graph& g, Id a, Id b, int s, bool second) {
  const int lanes = g.lanes(a);
  std::vector<std::int64_t> from;
  for (int k = 0; k < lanes; ++k) {
    const int of_b = second ? lanes + k : lanes + k - s, of_a = second ? k + s : k;
    from.push_back((k & s) != 0 ? of_b : of_a);
  }
  return g.make(Op::SHUFFLE, g.dtype(a), std::vector<Id>{a, b}, from, {}, lanes);
}

// A vector with the lanes of a, then the lanes of b.
Id joined(Graph& g, Id a, Id b) {
  std::vector<std::int64_t> from;
  for (int k = 0; k < 2 * g.lanes(a); ++k) from.push_back(k);
  return g.make(Op::SHUFFLE, g.dtype(a), std::vector<Id>{a, b}, from, {}, 2 * g.lanes(a));
}

// Transposes many lines of `columns` lanes: transposes squares of lines, then joins their vectors to one lane for each line.
std::vector<Id> transposed(Graph& g, const std::vector<Id>& lines, int columns) {
  std::vector<std::vector<Id>> squares;
  for (auto at = lines.begin(); at != lines.end(); at += columns) transpose(g, squares.emplace_back(at, at + columns));
  while (squares.size() > 1) {
    std::vector<std::vector<Id>> wider;
    for (std::size_t i = 0; i < squares.size(); i += 2) {
      std::vector<Id>& both = wider.emplace_back();
      for (int c = 0; c < columns; ++c) both.push_back(joined(g, nth(squares[i], c), nth(squares[i + 1], c)));
    }
    squares = std::move(wider);
  }
  return squares[0];
}

}  // namespace

// Exchanges blocks of half the size, then blocks in those, down to elements.
void transpose(Graph& g, std::vector<Id>& square) {
  const int n = count_of(square);
  for (int s = n / 2; s > 0; s /= 2)
    for (int i = 0; i < n; ++i)
      if ((i & s) == 0) {
        const Id a = nth(square, i), b = nth(square, i + s);
        nth(square, i) = exchanged(g, a, b, s, false);
        nth(square, i + s) = exchanged(g, a, b, s, true);
      }
}

namespace {

// Whether the lines of a tile can be loaded under the LOAD's gate: it is the same for all lanes, and elements can have masks.
bool has_gate_of_rows(const Graph& g, Id load, Id lanes) {
  constexpr int narrowest_masked = 4;  // bytes
  return g.is_const(g.src(load, 2)) && bytes(g.dtype(load)) >= narrowest_masked &&
         !std::ranges::binary_search(g.reachable(g.src(load, 3)), lanes);
}

}  // namespace

std::vector<Id> loads_to_transpose(const Graph& g, std::span<const Id> stores, Id rows, Id lanes) {
  std::vector<Id> out;
  for (const Id id : g.reachable(stores)) {
    if (g.op(id) == Op::FOR) return {};
    if (g.op(id) == Op::LOAD && g.op(g.state(id)) == Op::STORE) continue;  // the tile would be loaded before some of the stores
    if (g.op(id) != Op::LOAD || index_stride(g, index_of(g, id), rows) != 1) continue;
    if (g.src(id).size() > 2 && !has_gate_of_rows(g, id, lanes)) continue;
    const std::optional<std::int64_t> stride = index_stride(g, index_of(g, id), lanes);
    if (!stride || *stride > 1 || *stride < -1) out.push_back(id);
  }
  return out;
}

void transpose_tile(Graph& g, RangeIds& loops, std::span<const Id> loads, Id rows, Id lanes, std::vector<Copy>& copies) {
  const int columns = count_of(copies);
  const Id first_lane = g.operand(copies[0].values.at(lanes)), first_row = copies[0].values.at(rows);
  const Id last = sub_index(g, g.end(lanes), g.index(1));
  std::vector<Copy> lines(static_cast<std::size_t>(g.lanes(copies[0].values.at(lanes))), copies[0]);
  for (std::size_t l = 0; l < lines.size(); ++l) {
    lines[l].values[rows] = ramp(g, first_row, 1, columns);
    const Id line = add_index(g, first_lane, g.index(l));
    lines[l].values[lanes] = copies[0].mask == no_id ? line : index_binary(g, Op::MIN, line, last);
    lines[l].mask = no_id;
  }
  const std::vector<std::vector<Id>> loaded = expand(g, loops, loads, lines);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    std::vector<Id> vectors;
    for (const std::vector<Id>& line : loaded) vectors.push_back(line[i]);
    vectors = transposed(g, vectors, columns);
    for (std::size_t c = 0; c < copies.size(); ++c) copies[c].values[loads[i]] = vectors[c];
  }
}

}  // namespace kiln::compiler
