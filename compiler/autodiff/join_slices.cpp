#include "compiler/autodiff/join_slices.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/ir/index_poly.h"

namespace kiln::compiler::autodiff {
namespace {

// A term that is `value`, with zeros before and behind it on one axis.
struct Piece {
  std::size_t term;  // its number
  Id value;
  std::size_t axis;
  Id begin, end;
};

std::optional<Piece> piece_of(Emit& e, Id pad, std::size_t term) {
  if (e.g.op(pad) != Op::PAD || e.g.pad_mode(pad) != PadMode::constant || e.constant_of(e.g.src(pad, 1)) != 0.0)
    return std::nullopt;
  const Id value = e.g.src(pad, 0);
  const Extents from = e.shape(value), to = e.shape(pad);
  std::optional<std::size_t> axis;
  for (std::size_t a = 0; a < to.size(); ++a) {
    if (e.g.is_index_const(e.g.src(pad, 2 + a), 0) && from[a] == to[a]) continue;
    if (axis) return std::nullopt;
    axis = a;
  }
  if (!axis) return std::nullopt;
  const Id begin = e.g.src(pad, 2 + *axis);
  return Piece{term, value, *axis, begin, index_add(e.g, begin, from[*axis])};
}

// Orders pieces by their place, with zeros between them. Empty: two of them overlap, or their order is not known.
std::vector<Id> side_by_side(Emit& e, std::vector<Piece> pieces, const Extents& whole) {
  const std::size_t axis = pieces[0].axis;
  std::vector<Id> parts;
  const auto fill = [&](Id from, Id to) {
    Extents gap = whole;
    gap[axis] = index_sub(e.g, to, from);
    if (!e.g.is_index_const(gap[axis], 0)) parts.push_back(e.zeros(e.g.dtype(pieces[0].value), gap));
  };
  Id at = e.g.index(0);
  while (!pieces.empty()) {
    // The piece that begins here; else, of constant places, the next one.
    auto next = std::ranges::find(pieces, at, &Piece::begin);
    if (next == pieces.end()) {
      if (!std::ranges::all_of(pieces, [&](const Piece& p) { return e.g.is_const(p.begin); }) || !e.g.is_const(at)) return {};
      next = std::ranges::min_element(pieces, {}, [&](const Piece& p) { return e.g.value(p.begin); });
      if (e.g.value(next->begin) < e.g.value(at)) return {};
      fill(at, next->begin);
    }
    parts.push_back(next->value);
    at = next->end;
    pieces.erase(next);
  }
  fill(at, whole[axis]);
  return parts;
}

}  // namespace

std::vector<Id> join_slices(Emit& e, std::vector<Id> terms) {
  std::map<std::size_t, std::vector<Piece>> of_axis;
  for (std::size_t n = 0; n < terms.size(); ++n)
    if (const auto p = piece_of(e, terms[n], n)) of_axis[p->axis].push_back(*p);
  for (const auto& [axis, pieces] : of_axis) {
    const Extents whole = e.shape(terms[pieces[0].term]);
    const std::vector<Id> parts = pieces.size() > 1 ? side_by_side(e, pieces, whole) : std::vector<Id>{};
    if (parts.empty()) continue;
    const Id joined = e.b.concat(parts, static_cast<std::int64_t>(axis));
    if (e.shape(joined) != whole) continue;
    for (const Piece& p : pieces) terms[p.term] = no_id;
    terms[pieces[0].term] = joined;
  }
  std::erase(terms, no_id);
  return terms;
}

}  // namespace kiln::compiler::autodiff
