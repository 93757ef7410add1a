#include "compiler/lower/transpose_loads.h"

#include <algorithm>
#include <optional>

#include "compiler/ir/power_of_two.h"
#include "compiler/ir/scopes.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/loop_blocks.h"
#include "compiler/lower/transpose_tile.h"

namespace kiln::compiler {
namespace {

constexpr int narrowest_tile = 4;  // lanes
constexpr int widest_tile = 16;    // lanes: a square of more vectors does not fit the registers

// Lane l of a vector of indices, as a scalar; no_id: the vector is not made of ramps and broadcasts.
Id lane_of(Graph& g, Id index, std::int64_t l) {
  if (g.lanes(index) == 1) return index;
  if (g.op(index) == Op::BROADCAST) return g.operand(index);
  if (g.op(index) == Op::RAMP) return add_index(g, g.operand(index), g.index(l * g.stride(index)));
  if (g.is_const(index)) return g.index(g.value(index));
  const Op op = g.op(index);
  if ((op != Op::ADD && op != Op::SUB && op != Op::MUL) || g.dtype(index) != DType::index) return no_id;
  const Id a = lane_of(g, g.src(index, 0), l);
  if (a == no_id) return no_id;
  const Id b = lane_of(g, g.src(index, 1), l);
  return b == no_id ? no_id : index_binary(g, op, a, b);
}

class Transposing {
 public:
  Transposing(Graph& g, RangeIds& loops, const Target& target) : g_(g), loops_(loops), target_(target) {}

  Id run(Id sink) {
    std::unordered_set<Id> with_rows;
    const std::vector<Id> nodes = g_.reachable(sink);
    const std::unordered_map<Id, std::vector<Id>> inside = nodes_by_range(g_, nodes);
    for (const Id id : nodes) {
      if (g_.op(id) != Op::FOR) continue;
      const auto body = inside.find(g_.range_of(id));
      if (body != inside.end() && !rows_of(body->first, body->second).empty()) with_rows.insert(id);
    }
    return rewrite(g_, sink, [&](Id id, std::span<const Id> x) -> Id {
      return with_rows.contains(id) ? tiled(g_.with_src(id, std::vector<Id>(x.begin(), x.end()))) : no_id;
    });
  }

 private:
  // The FOR that replaces this FOR; the FOR itself if it has nothing to transpose.
  Id tiled(Id loop) {
    if (!may_run_in_blocks(g_, loop)) return loop;
    const LoopParts l = loop_parts(g_, loop);
    const Id range = l.range;
    const std::vector<Id> loads = rows_of(range, nodes_by_range(g_, g_.reachable(l.yield))[range]);
    if (loads.empty()) return loop;
    return loop_in_blocks(g_, loops_, loop, g_.lanes(loads[0]), [&](Id block) { return tiles(loads, range, block); });
  }

  // The LOADs of the body to transpose, of equal lanes; empty if there is none, or the body has loops. inside: the nodes that
  // depend on the range.
  std::vector<Id> rows_of(Id range, std::span<const Id> inside) {
    std::vector<Id> loads;
    for (const Id id : inside) {
      if (g_.op(id) == Op::FOR) return {};
      // A tile is loaded before its iterations store.
      if (g_.op(id) == Op::LOAD && !std::ranges::binary_search(inside, g_.state(id)) && is_tile(id, range)) loads.push_back(id);
    }
    std::erase_if(loads, [&](Id id) { return g_.lanes(id) != g_.lanes(loads[0]); });
    return loads;
  }

  bool is_tile(Id load, Id range) {
    const int lanes = g_.lanes(load);
    if (lanes < narrowest_tile || lanes > widest_tile || lanes != floor_power_of_two(lanes) || g_.src(load).size() != 2)
      return false;
    if (lanes * bytes(g_.dtype(load)) > target_.vector_bytes) return false;
    const Id index = index_of(g_, load);
    if (g_.op(index) == Op::BROADCAST || (g_.op(index) == Op::RAMP && g_.stride(index) >= -1 && g_.stride(index) <= 1))
      return false;
    const Id first = lane_of(g_, index, 0), second = lane_of(g_, index, 1);
    return first != no_id && second != no_id && index_stride(g_, first, range) == 1 && index_stride(g_, second, range) == 1;
  }

  // Lane l of vector k is lane l of the LOAD in iteration `at` + k.
  std::vector<Id> tile(Id load, Id range, Id at) {
    const int width = g_.lanes(load);
    std::vector<Id> square;
    for (int l = 0; l < width; ++l) {
      const Id first = substitute(g_, lane_of(g_, index_of(g_, load), l), {{range, at}});
      const Id row = ramp(g_, first, 1, width);
      square.push_back(
          g_.make(Op::LOAD, g_.dtype(load), std::vector<Id>{g_.state(load), row}, g_.args(load), g_.name(load), width));
    }
    transpose(g_, square);
    return square;
  }

  BlockNodes tiles(std::span<const Id> loads, Id range, Id block) {
    BlockNodes out(static_cast<std::size_t>(g_.lanes(loads[0])));
    for (const Id load : loads) {
      const std::vector<Id> vectors = tile(load, range, block);
      for (std::size_t k = 0; k < out.size(); ++k) out[k][load] = vectors[k];
    }
    return out;
  }

  Graph& g_;
  RangeIds& loops_;
  const Target& target_;
};

}  // namespace

Id transpose_loads(Graph& g, RangeIds& loops, Id sink, const Target& target) { return Transposing(g, loops, target).run(sink); }

std::vector<Id> rows_in_lanes(const Graph& g, std::span<const Id> stores, Id range) {
  std::vector<Id> out;
  const std::vector<Id> nodes = g.reachable(stores);
  const std::unordered_map<Id, std::vector<Id>> inside = nodes_by_range(g, nodes);
  for (const Id loop : nodes) {
    if (g.op(loop) != Op::FOR || loop_parts(g, loop).conditional) continue;
    const Id row = g.range_of(loop);
    const auto body = inside.find(row);
    if (body == inside.end() || std::ranges::any_of(body->second, [&](Id id) { return g.op(id) == Op::FOR; })) continue;
    for (const Id id : body->second) {
      if (g.op(id) != Op::LOAD || g.src(id).size() != 2 || index_stride(g, index_of(g, id), row) != 1) continue;
      if (std::ranges::binary_search(body->second, g.state(id))) continue;
      const std::optional<std::int64_t> across = index_stride(g, index_of(g, id), range);
      if (!across || *across > 1 || *across < -1) out.push_back(id);
    }
  }
  return out;
}

}  // namespace kiln::compiler
