#include "compiler/autodiff/factor.h"

#include <algorithm>

#include "compiler/ir/nth.h"

namespace kiln::compiler::autodiff {

std::vector<int> wide_axes(const Emit& e, const Extents& extents) {
  std::vector<int> out;
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (!e.is_one(extents[i])) out.push_back(static_cast<int>(i));
  return out;
}

void follow(Factor& f, const std::vector<int>& to) {
  for (int& a : f.axis)
    if (a >= 0) a = nth(to, a);
}

bool peel_reshape(Emit& e, Factor& f) {
  const Id source = e.g.data(f.base);
  const Extents from = e.shape(source), now = e.shape(f.base);
  const std::vector<int> inner = wide_axes(e, from), outer = wide_axes(e, now);
  if (inner.size() != outer.size()) return false;
  std::vector<int> to(now.size(), -1);
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (nth(from, inner[i]) != nth(now, outer[i])) return false;
    nth(to, outer[i]) = inner[i];
  }
  follow(f, to);
  f.base = source;
  return true;
}

void keep_listed_axes(Emit& e, Factor& f) {
  const Extents now = e.shape(f.base);
  Extents kept;
  std::vector<int> to(now.size(), -1);
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (std::ranges::find(f.axis, static_cast<int>(i)) == f.axis.end()) continue;
    to[i] = static_cast<int>(kept.size());
    kept.push_back(now[i]);
  }
  if (kept.size() == now.size()) return;
  f.base = e.reshape(f.base, kept);
  follow(f, to);
}

void put_in_order(Emit& e, Factor& f) {
  keep_listed_axes(e, f);
  Axes order;
  for (const int a : f.axis)
    if (a >= 0) order.push_back(a);
  f.base = e.permute(f.base, order);
  int next = 0;
  for (int& a : f.axis)
    if (a >= 0) a = next++;
}

void give_axis(Emit& e, Factor& f, int axis, Id extent) {
  if (nth(f.axis, axis) >= 0) return;
  put_in_order(e, f);
  int at = 0;
  for (int i = 0; i < axis; ++i) at += nth(f.axis, i) >= 0 ? 1 : 0;
  for (int& a : f.axis)
    if (a >= at) ++a;
  nth(f.axis, axis) = at;
  Extents to = e.shape(f.base);
  to.insert(to.begin() + at, e.g.index(1));
  f.base = e.repeat_axis(e.reshape(f.base, to), static_cast<std::size_t>(at), extent);
}

}  // namespace kiln::compiler::autodiff
