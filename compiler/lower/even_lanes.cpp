#include "compiler/lower/even_lanes.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {
namespace {

// A vector of indices: lane l is first + l * distance.
struct Even {
  Id first = no_id, distance = no_id;
};

class EvenLanes {
 public:
  explicit EvenLanes(Graph& g) : g_(g) {}

  std::optional<Even> operator()(Id index) {
    if (g_.dtype(index) != DType::index) return std::nullopt;
    for (const Id id : g_.reachable(index))
      if (g_.dtype(id) == DType::index && !known_.contains(id)) known_.emplace(id, of(id));
    return known_.at(index);
  }

 private:
  std::optional<Even> of(Id id) {
    const Id zero = g_.index(0);
    if (g_.lanes(id) == 1) return Even{id, zero};
    if (g_.is_const(id)) return Even{g_.index(g_.value(id)), zero};
    switch (g_.op(id)) {
      case Op::BROADCAST: return Even{g_.operand(id), zero};
      case Op::RAMP: return Even{g_.operand(id), g_.index(g_.stride(id))};
      case Op::ADD:
      case Op::SUB:
      case Op::MUL: break;
      default: return std::nullopt;
    }
    const auto [x, y] = g_.operands<2>(id);
    if (g_.dtype(x) != DType::index || g_.dtype(y) != DType::index) return std::nullopt;
    const std::optional<Even> a = known_.at(x), b = known_.at(y);
    if (!a || !b) return std::nullopt;
    const Op op = g_.op(id);
    const Id first = index_binary(g_, op, a->first, b->first);
    if (op != Op::MUL) return Even{first, index_binary(g_, op, a->distance, b->distance)};
    if (b->distance == zero) return Even{first, mul_index(g_, a->distance, b->first)};
    if (a->distance == zero) return Even{first, mul_index(g_, b->distance, a->first)};
    return std::nullopt;
  }

  Graph& g_;
  std::unordered_map<Id, std::optional<Even>> known_;
};

}  // namespace

bool are_even(const Graph& g, Id index) {
  if (g.dtype(index) != DType::index) return false;
  enum Lanes : std::uint8_t { same, even, other };
  std::unordered_map<Id, Lanes> known;
  for (const Id id : g.reachable(index)) {
    if (g.dtype(id) != DType::index) continue;
    const Op op = g.op(id);
    Lanes& lanes = known[id] = g.lanes(id) == 1 || g.is_const(id) || op == Op::BROADCAST ? same : op == Op::RAMP ? even : other;
    if (lanes != other || (op != Op::ADD && op != Op::SUB && op != Op::MUL)) continue;
    const auto [x, y] = g.operands<2>(id);
    if (g.dtype(x) != DType::index || g.dtype(y) != DType::index) continue;
    const Lanes a = known.at(x), b = known.at(y);
    lanes = op == Op::MUL && a == even && b == even ? other : std::max(a, b);
  }
  return known.at(index) != other;
}

Id even_lanes(Graph& g, Id sink) {
  EvenLanes lanes(g);
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    if ((g.op(id) != Op::LOAD && g.op(id) != Op::STORE) || access_of(g, id) != Access::scattered) return no_id;
    if (g.op(x[1]) == Op::RAMP || g.op(x[1]) == Op::BROADCAST || g.is_const(x[1])) return no_id;
    const std::optional<Even> even = lanes(x[1]);
    if (!even || g.is_const(even->distance)) return no_id;
    const int n = g.lanes(x[1]);
    const auto vector = [&](Op op, Id a, Id b) { return g.make(op, DType::index, {a, b}, {}, {}, n); };
    const Id distances = widen_lanes(g, even->distance, n), zero = g.index(0), numbers = ramp(g, zero, 1, n);
    const Id steps = vector(Op::MUL, distances, numbers);
    std::vector<Id> src(x.begin(), x.end());
    src[1] = vector(Op::ADD, g.make(Op::BROADCAST, DType::index, {even->first}, {}, {}, n), steps);
    return g.with_src(id, src);
  });
}

}  // namespace kiln::compiler
