// What C++ does in the branch of a `when` that it does not take: an else, or what a jump out of the branch leaves out. The body
// is traced again for each depth of nesting, with the conditions of this depth refused; apart from their branches it must
// record the same.
#pragma once

#include "kiln/dsl/builder.h"

namespace kiln::dsl {

// Number of whens around.
constexpr int kiln_depth(const builder& b, int scope) {
  int n = 0;
  for (int s = scope; s > 0; s = b.regions.v[s - 1].parent)
    if (b.regions.v[s - 1].kind != op::kernel && b.regions.v[s - 1].kind != op::loop) ++n;
  return n;
}
// Reads are kept until something changes, so their number is not the same.
constexpr bool kiln_is_read(op o) { return o == op::get || o == op::param || o == op::element; }

// The next node from `i` on that stands outside of the whens of this depth.
constexpr int kiln_next_outside(const builder& b, int i, int depth) {
  while (i < b.nodes.n && (kiln_is_read(b.nodes.v[i].o) || kiln_depth(b, b.owner.v[i]) >= depth)) ++i;
  return i;
}
constexpr int kiln_deepest(const builder& b) {
  int deepest = 0;
  for (int s = 1; s <= b.regions.n; ++s) {
    const int d = kiln_depth(b, s);
    if (d > deepest) deepest = d;
  }
  return deepest;
}

// `taken`: all branches recorded; `refused`: those of this depth passed by.
constexpr void kiln_compare_branches(builder& taken, const builder& refused, int depth) {
  for (int i = 0; i < refused.nodes.n; ++i)
    if (refused.owner.v[i] > 0 && kiln_depth(refused, refused.owner.v[i]) >= depth)
      return taken.fail(why::else_of_cpp_after_a_when__write_otherwise, refused.nodes.v[i].loc);
  int i = kiln_next_outside(taken, 0, depth), k = kiln_next_outside(refused, 0, depth), before = 0;
  while (i < taken.nodes.n && k < refused.nodes.n && taken.nodes.v[i].o == refused.nodes.v[k].o) {
    before = i;
    i = kiln_next_outside(taken, i + 1, depth);
    k = kiln_next_outside(refused, k + 1, depth);
  }
  if (i < taken.nodes.n || k < refused.nodes.n)
    taken.fail(why::scope_is_left_by_a_jump_of_cpp__write_break_or_continue_if, taken.nodes.v[before].loc);
}

}  // namespace kiln::dsl
