#include "compiler/lower/lane_patterns.h"

#include <algorithm>
#include <optional>

#include "compiler/ir/nth.h"
#include "compiler/ir/power_of_two.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t most_vectors = 2;
constexpr int narrowest_store = 4;  // bytes; the machine has no masked stores of narrower elements

// Contiguous vectors that cover all offsets. The last vector ends at the greatest offset, so it may overlap the one before.
struct Vectors {
  std::int64_t least;
  int lanes;
  std::vector<std::int64_t> begins;  // by vector: where it begins, relative to `least`

  std::int64_t of(std::int64_t offset) const { return std::min((offset - least) / lanes, std::ssize(begins) - 1); }
  std::int64_t lane(std::int64_t offset) const { return offset - least - nth(begins, of(offset)); }
};

std::optional<Vectors> vectors_of(const LanePattern& p) {
  const auto [least, greatest] = std::ranges::minmax(p.offsets);
  const std::int64_t span = greatest - least + 1;
  Vectors w{least, narrow<int>(std::min<std::int64_t>(std::ssize(p.offsets), floor_power_of_two(span))), {}};
  if (span > most_vectors * w.lanes) return std::nullopt;
  for (std::int64_t begin = 0; begin < span; begin += w.lanes) w.begins.push_back(std::min(begin, span - w.lanes));
  return w;
}

class Patterns {
 public:
  Patterns(Graph& g, const std::map<Id, LanePattern>& patterns) : g_(g), patterns_(patterns) {}

  Id access(Id id, std::span<const Id> x) {
    const Op op = g_.op(id);
    if ((op != Op::LOAD && op != Op::STORE) || x.size() > 3 - (op == Op::LOAD ? 1u : 0u)) return no_id;
    const auto found = patterns_.find(index_of(g_, id));
    const auto w = found == patterns_.end() ? std::nullopt : vectors_of(found->second);
    if (!w) return no_id;
    return op == Op::LOAD ? load(id, x, found->second, *w) : store(x, found->second, *w);
  }

 private:
  Id index(const LanePattern& p, const Vectors& w, std::int64_t k) {
    const Id base = add_index(g_, p.first, g_.index(w.least + nth(w.begins, k)));
    return w.lanes == 1 ? base : ramp(g_, base, 1, w.lanes);
  }

  Id load(Id id, std::span<const Id> x, const LanePattern& p, const Vectors& w) {
    if (g_.op(x[1]) == Op::RAMP) return no_id;  // interleaved_access handles it
    std::vector<Id> vectors;
    for (std::int64_t k = 0; k < std::ssize(w.begins); ++k)
      vectors.push_back(
          g_.make(Op::LOAD, g_.dtype(id), std::vector<Id>{x[0], index(p, w, k)}, g_.args(id), g_.name(id), w.lanes));
    if (w.lanes == 1) return widen_lanes(g_, vectors[0], g_.lanes(id));
    std::vector<std::int64_t> from;
    for (const std::int64_t o : p.offsets) from.push_back(w.of(o) * w.lanes + w.lane(o));
    return g_.make(Op::SHUFFLE, g_.dtype(id), vectors, from, {}, count_of(from));
  }

  Id store(std::span<const Id> x, const LanePattern& p, const Vectors& w) {
    const DType d = g_.dtype(x[2]);
    if (bytes(d) < narrowest_store || w.lanes == 1) return no_id;
    const int lanes = w.lanes;
    const Id yes = widen_lanes(g_, g_.constant(DType::boolean, 1), lanes),
             no = widen_lanes(g_, g_.constant(DType::boolean, 0), lanes);
    Id state = x[0];
    for (std::int64_t k = 0; k < std::ssize(w.begins); ++k) {
      std::vector<std::int64_t> from(narrow<std::size_t>(lanes), 0), used(from.size(), lanes);
      for (std::int64_t i = 0; i < std::ssize(p.offsets); ++i)
        if (const std::int64_t offset = nth(p.offsets, i); w.of(offset) == k) {
          nth(from, w.lane(offset)) = i;
          nth(used, w.lane(offset)) = 0;
        }
      const Id value = g_.make(Op::SHUFFLE, d, std::vector<Id>{x[2]}, from, {}, lanes);
      const Id mask = g_.make(Op::SHUFFLE, DType::boolean, std::vector<Id>{yes, no}, used, {}, lanes);
      state = g_.make(Op::STORE, DType::none, {state, index(p, w, k), value, mask});
    }
    return state;
  }

  Graph& g_;
  const std::map<Id, LanePattern>& patterns_;
};

}  // namespace

std::vector<Id> lane_patterns(Graph& g, std::span<const Id> roots, const std::map<Id, LanePattern>& patterns) {
  Patterns p(g, patterns);
  const Id all = g.make(Op::SINK, DType::none, roots);
  const Id made = rewrite(g, all, [&](Id id, std::span<const Id> x) { return p.access(id, x); });
  return g.sources(made);
}

}  // namespace kiln::compiler
