// The sums of a Scatter, as kernels.
#include <algorithm>
#include <numeric>
#include <optional>

#include "compiler/autodiff/rules.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler::autodiff {
namespace {

// An index tensor whose elements are scale * position + offset along one axis of the positions; axis -1: another tensor.
struct Line {
  int axis = -1;
  std::int64_t scale = 1, offset = 0;
};

constexpr std::int64_t most_coefficient = std::int64_t{1} << 31;  // of scale and offset in size

std::optional<std::int64_t> integer_of(const Graph& g, Id x) {
  while (g.op(x) == Op::EXPAND || g.op(x) == Op::RESHAPE) x = g.src(x, 0);
  if (!g.is_const(x) || !is_int(g.dtype(x))) return std::nullopt;
  const std::int64_t v =
      bits(g.dtype(x)) == 32 && g.dtype(x) == DType::i32 ? static_cast<std::int32_t>(g.value(x)) : g.value(x);
  return v > -most_coefficient && v < most_coefficient ? std::optional(v) : std::nullopt;
}

// Replaces x by an operand of which it is a linear function. false: there is none.
bool peel(const Graph& g, Id& x, Line& line) {
  const Op op = g.op(x);
  const DType d = g.dtype(x);
  if (op == Op::EXPAND || (op == Op::CAST && (d == DType::i64 || d == DType::i32) && is_int(g.dtype(g.src(x, 0))))) {
    x = g.src(x, 0);
    return true;
  }
  if (op != Op::ADD && op != Op::SUB && op != Op::MUL) return false;
  const Id a = g.src(x, 0), b = g.src(x, 1);
  const auto left = integer_of(g, a), right = integer_of(g, b);
  if (left.has_value() == right.has_value()) return false;
  const std::int64_t c = left ? *left : *right;
  if (op == Op::MUL) {
    line.scale *= c;
  } else {
    line.offset += line.scale * (op == Op::SUB && right ? -c : c);
    if (op == Op::SUB && left) line.scale = -line.scale;
  }
  x = left ? b : a;
  return line.scale > -most_coefficient && line.scale < most_coefficient && line.scale != 0 &&
         line.offset > -most_coefficient && line.offset < most_coefficient;
}

// rank: of the positions.
Line line_of(Emit& e, Id index, std::size_t rank) {
  const Graph& g = e.g;
  Line line;
  Id x = index;
  while (peel(g, x, line)) {
  }
  const Extents shape = e.shape(x);
  if (g.op(x) == Op::RESHAPE) x = g.data(x);
  while (peel(g, x, line)) {
  }
  if (g.op(x) != Op::IOTA || (g.dtype(x) != DType::i32 && g.dtype(x) != DType::i64)) return {};
  const Id n = e.shape(x)[0];
  for (std::size_t a = 0; a < shape.size(); ++a) {
    if (e.is_one(shape[a])) continue;
    if (line.axis >= 0 || shape[a] != n) return {};
    line.axis = static_cast<int>(rank - shape.size() + a);
  }
  return line;
}

// Whether every index of the line, over n positions, is a place of an axis of this extent.
bool is_inside(const Graph& g, const Line& line, Id n, Id extent) {
  if (line.scale == 1 && line.offset == 0 && n == extent) return true;
  const auto count = index_value(g, n), places = index_value(g, extent);
  if (!count || !places || *count < 1 || *count >= most_coefficient) return false;
  const std::int64_t last = line.offset + line.scale * (*count - 1);
  return std::min(line.offset, last) >= 0 && std::max(line.offset, last) < *places;
}

class Sum {
 public:
  Sum(Emit& e, const Scatter& s, Extents to) : e_(e), g_(e.g), s_(s), to_(std::move(to)) {
    const Extents all = e_.shape(s_.values);
    fixed_ = to_.size() - s_.index.size();
    positions_.assign(all.begin(), all.end() - static_cast<std::ptrdiff_t>(fixed_));
    std::vector<bool> own(positions_.size(), false);
    for (std::size_t i = 0; i < s_.index.size(); ++i) {
      Line line = line_of(e_, s_.index[i], positions_.size());
      if (line.axis >= 0 && !is_inside(g_, line, nth(positions_, line.axis), to_[i])) line.axis = -1;
      lines_.push_back(line);
      if (line.axis >= 0) own[static_cast<std::size_t>(line.axis)] = true;
    }
    for (std::size_t a = 0; a < own.size(); ++a)
      if (own[a]) own_.push_back(static_cast<std::int64_t>(a));
    order_ = own_;
    for (std::size_t a = 0; a < own.size(); ++a)
      if (!own[a]) order_.push_back(static_cast<std::int64_t>(a));
  }

  // new_range(end, whether a work item has its own value of it).
  template <class NewRange>
  Id kernel(Id init, NewRange&& new_range) {
    Builder& b = e_.b;
    const bool parallel = fixed_ + own_.size() > 0;
    const Id values = in_order(s_.values, fixed_), zero = g_.index(0);
    const Extents flat = e_.shape(values);
    const Id count = flat[own_.size()], place = new_range(count, !parallel);
    std::vector<Id> ranges;
    for (std::size_t i = 0; i < flat.size(); ++i)
      if (i != own_.size()) ranges.push_back(new_range(flat[i], true));
    std::vector<Id> here(ranges.begin(), ranges.begin() + std::ssize(own_));
    here.push_back(place);
    const Id gate = some_element();
    std::vector<Id> at = elements(here);
    at.insert(at.end(), ranges.begin() + std::ssize(own_), ranges.end());
    std::vector<Id> value_at = here;
    value_at.insert(value_at.end(), ranges.begin() + std::ssize(own_), ranges.end());
    const Id value = b.element(values, value_at);
    if (!parallel) {
      const Id state = b.carry(place, init, 0);
      const Id final = b.atomic(AtomicKind::add, state, gate, value, at);
      return b.kernel(std::span(&place, 1), std::span(&init, 1), std::span(&final, 1));
    }
    // Each work item adds its terms in order.
    const Id state = b.carry(ranges[0], init, 0);
    const Id inner = b.carry(place, state, 0);
    const Id old = b.element(inner, at, gate);
    const Id next = b.update(inner, gate, e_.add(old, value), at);
    const Id loop = b.loop(place, zero, count, std::span(&state, 1), std::span(&next, 1));
    const Id final = b.get(loop, 0);
    return b.kernel(ranges, std::span(&init, 1), std::span(&final, 1));
  }

 private:
  // A tensor over the positions, with the own axes first and the others as one.
  Id in_order(Id x, std::size_t more) {
    Axes order = order_;
    Extents to;
    for (std::size_t i = 0; i < more; ++i) order.push_back(static_cast<std::int64_t>(positions_.size() + i));
    const Id moved = e_.permute(x, order);
    const Extents shape = e_.shape(moved);
    const auto rest = shape.begin() + std::ssize(own_), end = shape.begin() + std::ssize(positions_);
    to.assign(shape.begin(), rest);
    to.push_back(index_product(g_, Extents(rest, end)));
    to.insert(to.end(), end, shape.end());
    return e_.reshape(moved, to);
  }

  // Whether there is an element to add to; no_id: always.
  Id some_element() {
    Id gate = no_id;
    const Id zero = g_.index(0);
    for (std::size_t i = 0; i < s_.index.size(); ++i) {
      if (index_value(g_, to_[i])) continue;
      const Id some = e_.b.elementwise(Op::LT, {zero, to_[i]});
      gate = gate == no_id ? some : e_.both(gate, some);
    }
    return gate;
  }

  // The element that a term belongs to: the nearest one, as GATHER reads.
  std::vector<Id> elements(std::span<const Id> here) {
    Builder& b = e_.b;
    std::vector<Id> at;
    const Id zero = g_.index(0);
    for (std::size_t i = 0; i < s_.index.size(); ++i) {
      if (const Line& line = lines_[i]; line.axis >= 0) {
        const Id own = here[static_cast<std::size_t>(std::ranges::find(own_, line.axis) - own_.begin())];
        const Id scaled = index_mul(g_, own, g_.index(line.scale));
        at.push_back(index_add(g_, scaled, g_.index(line.offset)));
        continue;
      }
      Id k = s_.index[i];
      if (e_.rank(k) != 0) k = b.element(in_order(b.broadcast_to(k, positions_), 0), here);
      if (g_.dtype(k) == DType::u64) {
        const Id most = b.constant(DType::u64, INT64_MAX);
        k = b.elementwise(Op::MIN, {k, most});
      }
      const Id index = b.index_of(k), last = index_sub(g_, to_[i], g_.index(1));
      const Id below = b.elementwise(Op::MIN, {index, last});
      at.push_back(b.elementwise(Op::MAX, {below, zero}));
    }
    return at;
  }

  Emit& e_;
  Graph& g_;
  const Scatter& s_;
  Extents to_, positions_;
  std::size_t fixed_ = 0;
  std::vector<Line> lines_;  // by index
  Axes own_, order_;
};

}  // namespace

Id Rules::scatter(const Scatter& given, Id x) {
  Graph& g = e.g;
  const DType d = g.dtype(x), sum = is_half(d) ? DType::f32 : d;
  const Extents to = e.shape(x);
  if (std::ranges::any_of(to, [&](Id extent) { return g.is_index_const(extent, 0); })) return e.zeros(d, to);
  Scatter s = given;
  if (sum != d) s.values = e.b.cast(s.values, sum);
  const Id init = e.zeros(sum, to);
  const Id kernel = Sum(e, s, to).kernel(init, [&](Id end, bool own) { return new_range(end, own); });
  const Id out = e.b.get(kernel, 0);
  scatters.emplace(out, s);
  return sum == d ? out : e.b.cast(out, d);
}

}  // namespace kiln::compiler::autodiff
