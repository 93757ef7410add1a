// Finds mistakes that recording every branch hides: a C++ else after a `when`, and a C++ jump out of its branch. The body is
// traced once more for each depth of nesting, and the branches of that depth are not taken. Outside of those branches the trace
// must record the same nodes.
#pragma once

#include "kiln/dsl/builder.h"

namespace kiln::dsl::detail {

// The number of whens and otherwises around a node of this scope.
constexpr int depth(const builder& b, int scope) {
  int n = 0;
  for (int s = scope; s > 0; s = b.regions.v[s - 1].parent)
    if (b.regions.v[s - 1].kind != op::kernel && b.regions.v[s - 1].kind != op::loop) ++n;
  return n;
}
// A read is reused until a write, so the two traces may have different numbers of reads.
constexpr bool is_read(op o) { return o == op::get || o == op::param || o == op::element; }

// The next node from `i` on outside of the whens of this depth, reads excepted.
constexpr int next_outside(const builder& b, int i, int depth) {
  while (i < b.nodes.n && (detail::is_read(b.nodes.v[i].o) || detail::depth(b, b.owner.v[i]) >= depth)) ++i;
  return i;
}
constexpr int deepest(const builder& b) {
  int deepest = 0;
  for (int s = 1; s <= b.regions.n; ++s) {
    const int d = detail::depth(b, s);
    if (d > deepest) deepest = d;
  }
  return deepest;
}

// `taken` has all branches; `refused` lacks those of this depth.
constexpr void compare_branches(builder& taken, const builder& refused, int depth) {
  for (int i = 0; i < refused.nodes.n; ++i)
    if (refused.owner.v[i] > 0 && detail::depth(refused, refused.owner.v[i]) >= depth)
      return taken.fail(why::else_of_cpp_after_a_when__write_otherwise, refused.nodes.v[i].loc);
  int i = detail::next_outside(taken, 0, depth), k = detail::next_outside(refused, 0, depth), before = 0;
  while (i < taken.nodes.n && k < refused.nodes.n && taken.nodes.v[i].o == refused.nodes.v[k].o) {
    before = i;
    i = detail::next_outside(taken, i + 1, depth);
    k = detail::next_outside(refused, k + 1, depth);
  }
  if (i < taken.nodes.n || k < refused.nodes.n)
    taken.fail(why::scope_is_left_by_a_jump_of_cpp__write_break_or_continue_if, taken.nodes.v[before].loc);
}

}  // namespace kiln::dsl::detail
