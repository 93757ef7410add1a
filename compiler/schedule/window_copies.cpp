#include "compiler/schedule/window_copies.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {

constexpr double most_larger = 1.25;  // times the elements that are needed

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

bool WindowCopies::covers(const WindowCopy& larger, const WindowCopy& needed) {
  const WindowOperand &a = larger.operand, &b = needed.operand;
  if (larger.segment != needed.segment || larger.layout != needed.layout) return false;
  if (a.axes.size() != b.axes.size() || a.others.size() != b.others.size() || a.length > most_larger * b.length) return false;
  std::vector<Id> axes;
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    const WindowAxis &x = a.axes[i], &y = b.axes[i];
    const Id m = g_.end(x.u), n = g_.end(y.u);
    if (x.step != y.step || x.stride != y.stride) return false;
    if (m != n && (!g_.is_const(m) || !g_.is_const(n) || g_.value(m) < g_.value(n))) return false;
    axes.push_back(y.u);
  }
  return value_in(larger, needed, axes) == b.padded;
}

WindowCopy* WindowCopies::find(WindowCopy& needed, RangeIds& ids) {
  WindowCopy* best = nullptr;
  for (WindowCopy& c : copies_)
    if (covers(c, needed) && (best == nullptr || c.operand.length > best->operand.length)) best = &c;
  if (best == nullptr || best->operand.length == needed.operand.length) return best;  // covers(): the same extents
  std::vector<Id> axes;
  for (const WindowAxis& a : best->operand.axes) axes.push_back(ids.range(g_, g_.end(a.u), RangeKind::loop));
  WindowOperand& o = needed.operand;
  o.padded = value_in(*best, needed, axes);
  for (std::size_t i = 0; i < axes.size(); ++i) o.axes[i].u = axes[i];
  const std::vector<Id> nodes = g_.reachable(o.padded);
  o.load = *std::ranges::find(nodes, Op::LOAD, [&](Id id) { return g_.op(id); });
  return best;
}

}  // namespace kiln::compiler
