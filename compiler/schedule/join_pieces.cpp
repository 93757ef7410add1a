#include "compiler/schedule/join_pieces.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/index_poly.h"
#include "compiler/schedule/each_kernel.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/target/unrollable_loops.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t most_pieces = 4;
constexpr std::int64_t shortest_piece = 8;  // elements: shorter ones fill no vector
constexpr double most_loads = 0.75;         // different loads of all pieces, as a share of the loads of each

// A comparison of the range: it holds for its values below `limit`, or for the others.
struct Comparison {
  Id node;
  std::int64_t limit;
  bool below;
};

class PieceJoiner {
 public:
  PieceJoiner(Graph& g, Kernel& k, Simplifier& simplify) : g_(g), kernel_(k), simplify_(simplify) {}

  void run() {
    if (std::ranges::any_of(g_.reachable(kernel_.sink), [&](Id id) { return g_.op(id) == Op::REDUCE; })) return;
    for (std::size_t i = 0; i < loop_ranges_of(g_, kernel_).size(); ++i) {
      const Id range = loop_ranges_of(g_, kernel_)[i];
      const std::vector<Comparison> cuts = comparisons_of(range);
      const std::int64_t pieces = pieces_of(range, cuts);
      if (pieces * iterations_ > max_short_iterations || pieces < 2 || !share_loads(range, cuts, pieces)) continue;
      join(range, cuts, pieces);
      iterations_ *= pieces;
    }
    if (iterations_ > 1) number_ranges(g_, kernel_);
  }

 private:
  std::vector<Comparison> comparisons_of(Id range) const {
    std::vector<Comparison> out;
    for (const Id id : g_.reachable(kernel_.sink)) {
      if (g_.op(id) != Op::LT) continue;
      const auto [a, b] = g_.operands<2>(id);
      if (a == range && g_.is_const(b)) out.push_back({id, g_.value(b), true});
      if (b == range && g_.is_const(a)) out.push_back({id, g_.value(a) + 1, false});
    }
    return out;
  }

  // The number of equal pieces into which the comparisons cut the range; 0: it has none.
  std::int64_t pieces_of(Id range, const std::vector<Comparison>& cuts) const {
    if (cuts.empty() || !g_.is_const(g_.end(range))) return 0;
    const std::int64_t n = g_.value(g_.end(range));
    std::int64_t length = n;
    for (const Comparison& c : cuts) {
      if (c.limit <= 0 || c.limit >= n) return 0;
      length = std::gcd(length, c.limit);
    }
    return length < shortest_piece || n / length > most_pieces ? 0 : n / length;
  }

  // Whether the pieces load fewer different elements together than each by itself.
  bool share_loads(Id range, const std::vector<Comparison>& cuts, std::int64_t pieces) {
    const std::int64_t length = g_.value(g_.end(range)) / pieces;
    const Id inside = g_.range(g_.index(length), -1, RangeKind::loop);
    std::unordered_set<Id> different;
    std::size_t all = 0;
    for (std::int64_t p = 0; p < pieces; ++p) {
      const std::unordered_set<Id> own = loads_of_piece(range, cuts, p * length, inside);
      all += own.size();
      different.insert(own.begin(), own.end());
    }
    return static_cast<double>(different.size()) <= most_loads * static_cast<double>(all);
  }

  // The LOADs of the piece that begins at `first`, over the range `inside` in place of the piece's part of `range`.
  std::unordered_set<Id> loads_of_piece(Id range, const std::vector<Comparison>& cuts, std::int64_t first, Id inside) {
    std::unordered_map<Id, Id> now{{range, index_add(g_, inside, g_.index(first))}};
    for (const Comparison& c : cuts) now[c.node] = truth((first < c.limit) == c.below);
    std::vector<Id> values;
    for (const Id id : g_.reachable(kernel_.sink)) {
      if (!now.contains(id)) now[id] = made(id, now);
      if (g_.op(id) == Op::STORE) values.push_back(g_.src(now.at(id), 2));
    }
    std::unordered_set<Id> loads;
    for (const Id id : g_.reachable(values))
      if (g_.op(id) == Op::LOAD) loads.insert(id);
    return loads;
  }

  Id made(Id id, const std::unordered_map<Id, Id>& now) {
    std::vector<Id> src = g_.sources(id);
    for (Id& s : src) s = g_.dtype(s) == DType::index ? simplify_(now.at(s)) : now.at(s);
    if (g_.op(id) == Op::WHERE && g_.is_const(src[0])) return g_.value(src[0]) != 0 ? src[1] : src[2];
    if (g_.op(id) == Op::AND && g_.is_const(src[0])) return g_.value(src[0]) != 0 ? src[1] : src[0];
    if (g_.op(id) == Op::AND && g_.is_const(src[1])) return g_.value(src[1]) != 0 ? src[0] : src[1];
    if (g_.op(id) == Op::LOAD && src.size() > 2 && g_.is_const(src[2]))
      return g_.value(src[2]) != 0 ? g_.make(Op::LOAD, g_.dtype(id), {src[0], src[1]}) : g_.constant(g_.dtype(id), 0);
    return g_.with_src(id, src);
  }

  Id truth(bool value) { return g_.constant(DType::boolean, value ? 1 : 0); }

  void join(Id range, const std::vector<Comparison>& cuts, std::int64_t pieces) {
    const std::int64_t length = g_.value(g_.end(range)) / pieces;
    const Id piece = g_.range(g_.index(pieces), fresh_--, RangeKind::loop);
    const Id inside = g_.range(g_.index(length), fresh_--, RangeKind::loop);
    RangeChange change;
    const Id begin = index_mul(g_, piece, g_.index(length));
    change.values[range] = index_add(g_, begin, inside);
    for (const Comparison& c : cuts) {
      const Id limit = g_.index(c.limit / length), last = g_.index(c.limit / length - 1);
      change.values[c.node] =
          c.below ? g_.make(Op::LT, DType::boolean, {piece, limit}) : g_.make(Op::LT, DType::boolean, {last, piece});
    }
    change.loops[range] = {inside};
    std::vector<Id>& innermost = change.loops.try_emplace(loop_ranges_of(g_, kernel_).back()).first->second;
    if (innermost.empty()) innermost.push_back(loop_ranges_of(g_, kernel_).back());
    innermost.push_back(piece);
    rewrite_kernel(g_, kernel_, change);
    simplify_uses(g_, kernel_, simplify_);
  }

  Graph& g_;
  Kernel& kernel_;
  Simplifier& simplify_;
  std::int64_t iterations_ = 1;  // of the ranges over pieces
  std::int64_t fresh_ = -2;      // temporary ids; number_ranges() gives the final ones
};

}  // namespace

void join_pieces(Graph& g, Schedule& s) {
  for_each_plain_kernel(g, s, [&](Kernel& k, Simplifier& simplify) { PieceJoiner(g, k, simplify).run(); });
}

}  // namespace kiln::compiler
