#include "compiler/schedule/window_copies.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {

constexpr double most_larger = 1.25;      // times the elements that are needed
constexpr std::int64_t most_places = 25;  // of the needed elements in a larger copy: each is tried

}  // namespace

Id WindowCopies::value_in(const WindowCopy& from, const WindowCopy& to, std::span<const Id> axes) {
  const WindowOperand &a = from.operand, &b = to.operand;
  const Id from_buffer = g_.state(a.load), to_buffer = g_.state(b.load);
  if (g_.op(from_buffer) != Op::BUFFER || g_.op(to_buffer) != Op::BUFFER) return no_id;
  if (nth(from.buffers, g_.slot(from_buffer)) != nth(to.buffers, g_.slot(to_buffer))) return no_id;
  std::unordered_map<Id, Id> map{{from_buffer, to_buffer}};
  for (std::size_t i = 0; i < axes.size(); ++i) map[a.axes[i].u] = axes[i];
  for (std::size_t i = 0; i < a.others.size(); ++i) {
    if (g_.end(a.others[i].range) != g_.end(b.others[i].range) || a.others[i].stride != b.others[i].stride) return no_id;
    map[a.others[i].range] = b.others[i].range;
  }
  return simplify_(substitute(g_, a.padded, map));
}

std::optional<std::vector<std::int64_t>> WindowCopies::places_in(const WindowCopy& larger, const WindowCopy& needed) {
  const WindowOperand &a = larger.operand, &b = needed.operand;
  if (larger.segment != needed.segment || larger.layout != needed.layout) return std::nullopt;
  if (a.axes.size() != b.axes.size() || a.others.size() != b.others.size() || a.length > most_larger * b.length)
    return std::nullopt;
  std::vector<std::int64_t> wider, at(a.axes.size(), 0);
  std::int64_t places = 1;
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    const WindowAxis &x = a.axes[i], &y = b.axes[i];
    const Id m = g_.end(x.u), n = g_.end(y.u);
    if (x.step != y.step || x.stride != y.stride) return std::nullopt;
    if (m != n && (!g_.is_const(m) || !g_.is_const(n) || g_.value(m) < g_.value(n))) return std::nullopt;
    wider.push_back(m == n ? 0 : g_.value(m) - g_.value(n));
    if (__builtin_mul_overflow(places, wider.back() + 1, &places) || places > most_places) return std::nullopt;
  }
  for (std::int64_t place = 0; place < places; ++place) {
    std::vector<Id> axes;
    std::int64_t rest = place;
    for (std::size_t i = 0; i < at.size(); ++i) {
      at[i] = rest % (wider[i] + 1);
      rest /= wider[i] + 1;
      axes.push_back(index_add(g_, b.axes[i].u, g_.index(at[i])));
    }
    if (value_in(larger, needed, axes) == b.padded) return at;
  }
  return std::nullopt;
}

WindowCopy* WindowCopies::find(WindowCopy& needed, RangeIds& ids) {
  WindowCopy* best = nullptr;
  std::vector<std::int64_t> first;
  for (WindowCopy& c : copies_) {
    if (best != nullptr && c.operand.length <= best->operand.length) continue;
    if (std::optional<std::vector<std::int64_t>> at = places_in(c, needed)) best = &c, first = std::move(*at);
  }
  if (best == nullptr || best->operand.length == needed.operand.length) return best;  // the same extents
  std::vector<Id> axes;
  for (const WindowAxis& a : best->operand.axes) axes.push_back(ids.range(g_, g_.end(a.u), RangeKind::loop));
  WindowOperand& o = needed.operand;
  o.padded = value_in(*best, needed, axes);
  for (std::size_t i = 0; i < axes.size(); ++i) o.axes[i].u = axes[i], o.axes[i].first = first[i];
  const std::vector<Id> nodes = g_.reachable(o.padded);
  o.load = *std::ranges::find(nodes, Op::LOAD, [&](Id id) { return g_.op(id); });
  return best;
}

}  // namespace kiln::compiler
