// The symbolic extents of a program, their facts, and whether the arguments of a call determine them.
#pragma once

#include "kiln/dsl/extent.h"

namespace kiln::dsl::detail {

inline constexpr int max_symbols = 16, max_symbol_name = 48;
struct symbols {
  int n = 0;
  bool conflict = false, too_many = false;
  char name[max_symbols][max_symbol_name] = {};
  facts known[max_symbols] = {};
  bool declared[max_symbols] = {};

  constexpr int find(text_view name_) const {
    for (int i = 0; i < n; ++i)
      if (detail::compare_text(detail::text_of(name[i]), name_) == 0) return i;
    return -1;
  }
  constexpr void declare(const record::symbol& s) {
    const int i = find(detail::text_of(s.name));
    if (i < 0) return;
    conflict = conflict || (declared[i] && !has_facts(s));
    known[i] = {s.min, s.max, s.multiple_of};
    declared[i] = true;
  }
  // Whether the parameters declare these facts.
  constexpr bool has_facts(const record::symbol& s) const {
    const int i = find(detail::text_of(s.name));
    return i >= 0 && declared[i] && s.min == known[i].min && s.max == known[i].max && s.multiple_of == known[i].multiple_of;
  }
};
// Whether an extent determines the symbol s once the known symbols are determined: it is k * s + rest, and k is never 0.
constexpr bool gives(const detail::symbols& symbols, const bool* known, const char* text, int s) {
  bool open = false;
  detail::each_symbol(text, [&](text_view v) { open = open || (symbols.find(v) != s && !known[symbols.find(v)]); });
  if (open) return false;
  const text_view name = detail::text_of(symbols.name[s]);
  const poly::sum p = poly::parse(detail::text_of(text));
  int sign = 0;
  bool never_0 = false;
  for (int i = 0; i < p.n; ++i) {
    int degree = 0;
    bool quotients = false, inside = false, positive = true;  // s inside of a quotient; every other symbol >= 1
    for (int a = 0; a < p.t[i].n; ++a) {
      const text_view atom = p.t[i].atom[a];
      if (atom.p[0] == '(') {
        quotients = true;
        detail::each_symbol(atom, [&](text_view v) { inside = inside || detail::compare_text(v, name) == 0; });
      } else if (detail::compare_text(atom, name) == 0) {
        ++degree;
      } else {
        positive = positive && symbols.known[symbols.find(atom)].min >= 1;
      }
    }
    if (degree > 1 || inside) return false;
    if (degree == 0) continue;
    const int side = p.t[i].c > 0 ? 1 : -1;
    if (quotients || sign == -side) return false;
    sign = side;
    never_0 = never_0 || positive;
  }
  return never_0;
}
// The number of a symbol that no parameter determines; -1: there is none.
constexpr int not_given(const detail::symbols& symbols, const record::parameter* v, int n) {
  bool known[max_symbols] = {};
  int count = 0;
  for (bool changed = true; changed && count < symbols.n;) {
    changed = false;
    for (int i = 0; i < n; ++i)
      for (int a = 0; a < v[i].s->rank; ++a)
        for (int s = 0; s < symbols.n; ++s)
          if (const char* text = v[i].s->extents[a].text;
              text != nullptr && !known[s] && detail::gives(symbols, known, text, s)) {
            known[s] = changed = true;
            ++count;
          }
  }
  for (int s = 0; s < symbols.n; ++s)
    if (!known[s]) return s;
  return -1;
}

}  // namespace kiln::dsl::detail
