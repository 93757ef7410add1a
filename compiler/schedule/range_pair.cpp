#include "compiler/schedule/range_pair.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/ir/index_poly.h"

namespace kiln::compiler {

std::optional<std::unordered_map<Id, Id>> RangePair::operator()(std::span<const Id> indices) {
  std::unordered_map<Id, Id> now;
  for (const Id i : indices) {
    const auto made = in_terms_of_m(i);
    if (!made) return std::nullopt;
    if (*made != i) now[i] = *made;
  }
  return now;
}

std::optional<Id> RangePair::in_terms_of_m(Id index) {
  const auto f = linear(index);
  if (!f) return by_division(index);
  const Id n = g_.end(b_);
  if (index_mul(g_, f->inner, n) != f->outer) return std::nullopt;
  if (f->inner == g_.index(0)) return index;  // unchanged: it may also be the end of a range
  return simplify_(index_add(g_, index_mul(g_, f->inner, m_), f->rest));
}

// Walks the index expression once, sources first. nullopt: it is not linear in a and b.
std::optional<RangePair::Linear> RangePair::linear(Id root) {
  const Id zero = g_.index(0), one = g_.index(1);
  std::unordered_map<Id, Linear> forms;
  for (const Id id : nodes_of(root)) {
    Linear f{zero, zero, id};
    if (id == a_)
      f = {one, zero, zero};
    else if (id == b_)
      f = {zero, one, zero};
    else if (g_.op(id) != Op::RANGE && !g_.src(id).empty()) {
      const auto made = combine(id, forms);
      if (!made) return std::nullopt;
      f = *made;
    }
    forms[id] = f;
  }
  return forms.at(root);
}

std::optional<RangePair::Linear> RangePair::combine(Id id, const std::unordered_map<Id, Linear>& forms) {
  const Id zero = g_.index(0);
  const auto varies = [&](const Linear& f) { return f.outer != zero || f.inner != zero; };
  bool any = false;
  for (const Id s : g_.src(id)) any = any || varies(forms.at(s));
  if (!any) return Linear{zero, zero, id};
  if (g_.dtype(id) != DType::index) return std::nullopt;  // an operand of a condition may wrap
  if (g_.op(id) != Op::ADD && g_.op(id) != Op::SUB && g_.op(id) != Op::MUL) return std::nullopt;
  const auto [a, b] = g_.operands<2>(id);
  const Linear x = forms.at(a), y = forms.at(b);
  if (g_.op(id) == Op::ADD)
    return Linear{index_add(g_, x.outer, y.outer), index_add(g_, x.inner, y.inner), index_add(g_, x.rest, y.rest)};
  if (g_.op(id) == Op::SUB)
    return Linear{index_sub(g_, x.outer, y.outer), index_sub(g_, x.inner, y.inner), index_sub(g_, x.rest, y.rest)};
  if (varies(x) && varies(y)) return std::nullopt;
  const Linear& v = varies(x) ? x : y;
  const Id by = varies(x) ? y.rest : x.rest;
  return Linear{index_mul(g_, v.outer, by), index_mul(g_, v.inner, by), index_mul(g_, v.rest, by)};
}

std::optional<Id> RangePair::by_division(Id index) {
  const Id n = g_.end(b_);
  const std::vector<Id> nodes = nodes_of(index);
  if (std::ranges::any_of(nodes, [&](Id id) { return g_.op(id) == Op::LOAD || g_.op(id) == Op::REDUCE; })) return std::nullopt;
  // b is m - n*a, where a is m // n. Sums are canonical at once, so that m // n cancels where possible.
  const Id a = g_.make(Op::FLOORDIV, DType::index, {m_, n});
  std::unordered_map<Id, Id> now{{a_, a}, {b_, index_sub(g_, m_, index_mul(g_, n, a))}};
  for (const Id id : nodes) {
    if (now.contains(id)) continue;
    std::vector<Id> src;
    if (g_.op(id) != Op::RANGE)
      for (const Id s : g_.src(id)) src.push_back(now.at(s));
    const bool exact = g_.dtype(id) == DType::index;  // an operand of a condition may wrap
    if (g_.op(id) == Op::RANGE)
      now[id] = id;
    else if (exact && g_.op(id) == Op::ADD)
      now[id] = index_add(g_, src[0], src[1]);
    else if (exact && g_.op(id) == Op::SUB)
      now[id] = index_sub(g_, src[0], src[1]);
    else if (exact && g_.op(id) == Op::MUL)
      now[id] = index_mul(g_, src[0], src[1]);
    else
      now[id] = g_.with_src(id, src);
  }
  const Id made = simplify_(now.at(index));
  const auto inner = divisions(made, m_), all = divisions(made);
  const auto inner_before = divisions(index, b_), before = divisions(index);
  const bool pays = inner <= inner_before && all <= before;
  return pays ? std::optional(made) : std::nullopt;
}

std::ptrdiff_t RangePair::divisions(Id index, Id range) const {
  const std::vector<Id> nodes = nodes_of(index);
  std::unordered_set<Id> varying{range};
  for (const Id id : nodes)
    if (g_.op(id) != Op::RANGE && std::ranges::any_of(g_.src(id), [&](Id s) { return varying.contains(s); }))
      varying.insert(id);
  return std::ranges::count_if(nodes, [&](Id id) {
    return (g_.op(id) == Op::FLOORDIV || g_.op(id) == Op::FLOORMOD) && (range == no_id || varying.contains(id));
  });
}

std::vector<Id> RangePair::nodes_of(Id root) const {  // ascending; a RANGE's end is not part of the expression
  std::vector<Id> todo{root}, order;
  std::unordered_set<Id> seen{root};
  while (!todo.empty()) {
    const Id id = todo.back();
    todo.pop_back();
    order.push_back(id);
    if (g_.op(id) == Op::RANGE) continue;
    for (const Id s : g_.src(id))
      if (seen.insert(s).second) todo.push_back(s);
  }
  std::ranges::sort(order);
  return order;
}

}  // namespace kiln::compiler
