#include "compiler/schedule/join_pieces.h"

#include <algorithm>
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
constexpr std::int64_t shortest_joined_piece = 8;  // elements: shorter ones fill no vector
constexpr double most_loads = 0.75;                // different loads of all pieces, as a share of the loads of each

// A comparison of the range: it holds for its values below `limit`, or for the others. In pieces: for the first `pieces`
// pieces.
struct Comparison {
  Id node;
  Id limit;
  bool below;
  std::int64_t pieces = 0;
};

// The equal pieces of a range: their length, and the comparisons that cut the range into them.
struct Pieces {
  std::int64_t count = 0;
  Id length = no_id;
  std::vector<Comparison> cuts = {};
};

class PieceJoiner {
 public:
  PieceJoiner(Graph& g, Kernel& k, Simplifier& simplify) : g_(g), kernel_(k), simplify_(simplify) {}

  void run() {
    if (std::ranges::any_of(g_.reachable(kernel_.sink), [&](Id id) { return g_.op(id) == Op::REDUCE; })) return;
    for (std::size_t i = 0; i < loop_ranges_of(g_, kernel_).size(); ++i) {
      const Id range = loop_ranges_of(g_, kernel_)[i];
      const std::optional<Pieces> p = pieces_of(range);
      if (!p || p->count * iterations_ > max_short_iterations || !share_loads(range, *p)) continue;
      join(range, *p);
      iterations_ *= p->count;
    }
    if (iterations_ > 1) number_ranges(g_, kernel_);
  }

 private:
  bool is_fixed(Id id) const {
    return std::ranges::none_of(g_.reachable(std::span(&id, 1)),
                                [&](Id n) { return g_.op(n) == Op::RANGE || g_.op(n) == Op::LOAD; });
  }

  std::vector<Comparison> comparisons_of(Id range) {
    std::vector<Comparison> out;
    for (const Id id : g_.reachable(kernel_.sink)) {
      if (g_.op(id) != Op::LT) continue;
      const auto [a, b] = g_.operands<2>(id);
      if (a == range && is_fixed(b)) out.push_back({id, b, true});
      if (b == range && is_fixed(a)) out.push_back({id, simplify_(index_add(g_, a, g_.index(1))), false});
    }
    return out;
  }

  // The equal pieces into which the comparisons cut the range, as few as possible.
  std::optional<Pieces> pieces_of(Id range) {
    Pieces out{.cuts = comparisons_of(range)};
    if (out.cuts.empty()) return std::nullopt;
    const Id end = simplify_(g_.end(range));
    for (out.count = 2; out.count <= most_pieces; ++out.count) {
      out.length = simplify_(g_.make(Op::FLOORDIV, DType::index, {end, g_.index(out.count)}));
      if (g_.is_const(out.length) && g_.value(out.length) < shortest_joined_piece) return std::nullopt;
      const bool is_whole = pieces_until(end, out) == out.count;
      const auto is_cut = [&](Comparison& c) {
        c.pieces = pieces_until(c.limit, out);
        return c.pieces > 0 && c.pieces < out.count;
      };
      if (is_whole && std::ranges::all_of(out.cuts, is_cut)) return out;
    }
    return std::nullopt;
  }

  // How many pieces are before the limit; 0: none, or not only whole ones.
  std::int64_t pieces_until(Id limit, const Pieces& p) {
    const Id at = simplify_(limit);
    for (std::int64_t n = 1; n <= p.count; ++n)
      if (simplify_(index_mul(g_, p.length, g_.index(n))) == at) return n;
    return 0;
  }

  // Whether the pieces load fewer different elements together than each by itself.
  bool share_loads(Id range, const Pieces& pieces) {
    const Id inside = g_.range(pieces.length, -1, RangeKind::loop);
    std::unordered_set<Id> different;
    std::size_t all = 0;
    for (std::int64_t p = 0; p < pieces.count; ++p) {
      const std::unordered_set<Id> own = loads_of_piece(range, pieces, p, inside);
      all += own.size();
      different.insert(own.begin(), own.end());
    }
    return static_cast<double>(different.size()) <= most_loads * static_cast<double>(all);
  }

  // The LOADs of a piece, over the range `inside` in place of the piece's part of `range`.
  std::unordered_set<Id> loads_of_piece(Id range, const Pieces& pieces, std::int64_t piece, Id inside) {
    const Id first = simplify_(index_mul(g_, pieces.length, g_.index(piece)));
    std::unordered_map<Id, Id> now{{range, simplify_(index_add(g_, inside, first))}};
    for (const Comparison& c : pieces.cuts) now[c.node] = truth((piece < c.pieces) == c.below);
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

  void join(Id range, const Pieces& pieces) {
    const Id piece = g_.range(g_.index(pieces.count), fresh_--, RangeKind::loop);
    const Id inside = g_.range(pieces.length, fresh_--, RangeKind::loop);
    RangeChange change;
    const Id begin = index_mul(g_, piece, pieces.length);
    change.values[range] = index_add(g_, begin, inside);
    for (const Comparison& c : pieces.cuts) {
      const Id limit = g_.index(c.pieces), last = g_.index(c.pieces - 1);
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
