// Polynomials over symbolic extents as canonical text: "2*H*W+N-1". The same polynomial is always the same text, so equality of
// extents is equality of text. Floor division by a positive integer is an atom, "(N+1)//2", unless it is exact.
#pragma once

#include <cstdint>

#include "kiln/dsl/str.h"
#include "kiln/record.h"

namespace kiln::dsl::poly {

inline constexpr int max_terms = 12, max_atoms = 6, max_text = 96;

struct term {
  std::int64_t c = 0;
  int n = 0;
  text_view atom[max_atoms] = {};  // sorted
};

struct sum {
  int n = 0;
  bool overflow = false;  // too many terms or atoms for a readable extent
  term t[max_terms] = {};
};

struct text {
  char c[max_text] = {};
  int n = 0;
  constexpr void put(char x) {
    if (n + 1 < max_text) c[n] = x;
    ++n;
  }
  constexpr void put(text_view v) {
    for (int i = 0; i < v.n; ++i) put(v.p[i]);
  }
  constexpr void put_int(std::int64_t v) {
    if (v < 0) put('-');
    char digits[24] = {};
    int k = 0;
    auto u = v < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
    do {
      digits[k++] = static_cast<char>('0' + u % 10);
      u /= 10;
    } while (u != 0);
    while (k > 0) put(digits[--k]);
  }
};

constexpr bool same_atoms(const term& a, const term& b) {
  if (a.n != b.n) return false;
  for (int i = 0; i < a.n; ++i)
    if (detail::compare_text(a.atom[i], b.atom[i]) != 0) return false;
  return true;
}

// Higher degree first, then by text; constants last.
constexpr bool before(const term& a, const term& b) {
  if (a.n != b.n) return a.n > b.n;
  for (int i = 0; i < a.n; ++i)
    if (const int k = detail::compare_text(a.atom[i], b.atom[i]); k != 0) return k < 0;
  return false;
}

constexpr void add_term(sum& s, const term& x) {
  if (x.c == 0) return;
  int i = 0;
  while (i < s.n && before(s.t[i], x)) ++i;
  if (i < s.n && same_atoms(s.t[i], x)) {
    s.t[i].c += x.c;
    if (s.t[i].c != 0) return;
    for (int k = i; k + 1 < s.n; ++k) s.t[k] = s.t[k + 1];
    --s.n;
    return;
  }
  if (s.n == max_terms) {
    s.overflow = true;
    return;
  }
  for (int k = s.n; k > i; --k) s.t[k] = s.t[k - 1];
  s.t[i] = x;
  ++s.n;
}

constexpr sum constant(std::int64_t v) {
  sum s;
  add_term(s, term{v, 0, {}});
  return s;
}

constexpr sum add(const sum& a, const sum& b, std::int64_t scale_b = 1) {
  sum r = a;
  r.overflow = a.overflow || b.overflow;
  for (int i = 0; i < b.n; ++i) {
    term x = b.t[i];
    x.c *= scale_b;
    add_term(r, x);
  }
  return r;
}

constexpr void mul_atom(sum& s, term& t, text_view a) {
  if (t.n == max_atoms) {
    s.overflow = true;
    return;
  }
  int i = t.n++;
  for (; i > 0 && detail::compare_text(a, t.atom[i - 1]) < 0; --i) t.atom[i] = t.atom[i - 1];
  t.atom[i] = a;
}

constexpr sum mul(const sum& a, const sum& b) {
  sum r;
  r.overflow = a.overflow || b.overflow;
  for (int i = 0; i < a.n; ++i)
    for (int j = 0; j < b.n; ++j) {
      term x = a.t[i];
      x.c *= b.t[j].c;
      for (int k = 0; k < b.t[j].n; ++k) mul_atom(r, x, b.t[j].atom[k]);
      add_term(r, x);
    }
  return r;
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_name(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Length of the atom at p: a name, or "(" ... ")//" digits.
constexpr int atom_length(const char* p) {
  int i = 0;
  if (p[0] == '(') {
    int depth = 0;
    do {
      if (p[i] == '(') ++depth;
      if (p[i] == ')') --depth;
      ++i;
    } while (depth > 0);
    i += 2;  // the two slashes
    while (is_digit(p[i])) ++i;
    return i;
  }
  while (is_name(p[i])) ++i;
  return i;
}

// Reads canonical text; the atoms of the result are views into it.
constexpr sum parse(text_view s) {
  sum r;
  int i = 0;
  while (i < s.n) {
    term t{1, 0, {}};
    if (s.p[i] == '-' || s.p[i] == '+') t.c = s.p[i++] == '-' ? -1 : 1;
    while (true) {
      if (is_digit(s.p[i])) {
        std::int64_t v = 0;
        while (i < s.n && is_digit(s.p[i])) v = v * 10 + (s.p[i++] - '0');
        t.c *= v;
      } else {
        const int n = atom_length(s.p + i);
        mul_atom(r, t, text_view{s.p + i, n});
        i += n;
      }
      if (i >= s.n || s.p[i] != '*') break;
      ++i;
    }
    add_term(r, t);
  }
  return r;
}

constexpr text print(const sum& s) {
  text r;
  if (s.n == 0) r.put('0');
  for (int i = 0; i < s.n; ++i) {
    const term& t = s.t[i];
    if (i > 0 && t.c > 0) r.put('+');
    if (t.n == 0 || (t.c != 1 && t.c != -1)) {
      r.put_int(t.c);
      if (t.n > 0) r.put('*');
    } else if (t.c == -1) {
      r.put('-');
    }
    for (int k = 0; k < t.n; ++k) {
      if (k > 0) r.put('*');
      r.put(t.atom[k]);
    }
  }
  if (s.overflow) r.n = max_text + 1;
  return r;
}

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

constexpr std::int64_t gcd(std::int64_t a, std::int64_t b) {
  a = a < 0 ? -a : a;
  while (b != 0) {
    const std::int64_t r = a % b;
    a = b;
    b = r < 0 ? -r : r;
  }
  return a;
}

// The symbols with facts.
struct known {
  const record::symbol* const* list = nullptr;
  int n = 0;
  constexpr std::int64_t multiple(text_view name) const {
    for (int i = 0; i < n && list[i] != nullptr; ++i)
      if (detail::compare_text(detail::text_of(list[i]->name), name) == 0) return list[i]->multiple_of;
    return 1;
  }
};

// The inner text and the divisor of an atom "(inner)//d"; d = 0 for a name.
struct quotient {
  text_view inner;
  std::int64_t d = 0;
};
constexpr quotient open(text_view atom) {
  if (atom.p[0] != '(') return {};
  int close = atom.n - 1;
  while (atom.p[close] != ')') --close;
  quotient q{{atom.p + 1, close - 1}, 0};
  for (int i = close + 3; i < atom.n; ++i) q.d = q.d * 10 + (atom.p[i] - '0');
  return q;
}

constexpr text quotient_text(text_view name, std::int64_t d) {
  text x;
  x.put('(');
  x.put(name);
  x.put(detail::text_of(")//"));
  x.put_int(d);
  return x;
}
// s with every factor `name` and `(name)//d` written as multiples of `(name)//common`, whose text is given.
constexpr sum to_quotient(const sum& s, text_view name, std::int64_t common, text_view common_text) {
  sum r;
  r.overflow = s.overflow;
  for (int i = 0; i < s.n; ++i) {
    term t{s.t[i].c, 0, {}};
    for (int a = 0; a < s.t[i].n; ++a) {
      const text_view atom = s.t[i].atom[a];
      const quotient q = open(atom);
      const bool plain = detail::compare_text(atom, name) == 0;
      const bool part = q.d > 0 && common % q.d == 0 && detail::compare_text(q.inner, name) == 0;
      if (plain || part) t.c *= common / (part ? q.d : 1);
      mul_atom(r, t, plain || part ? common_text : atom);
    }
    add_term(r, t);
  }
  return r;
}
// The text of s, in which for an even N 2*(N)//2 is N and N-(N)//2 is (N)//2.
constexpr text settle(const sum& s, const known& k) {
  sum r = s;
  text made[16];
  int n_made = 0;
  for (int f = 0; f < k.n && k.list[f] != nullptr; ++f) {
    const text_view name = detail::text_of(k.list[f]->name);
    std::int64_t common = 1;
    for (int i = 0; i < r.n; ++i)
      for (int a = 0; a < r.t[i].n; ++a)
        if (const quotient q = open(r.t[i].atom[a]);
            q.d > 0 && detail::compare_text(q.inner, name) == 0 && k.list[f]->multiple_of % q.d == 0)
          common = common / gcd(common, q.d) * q.d;
    if (common == 1) continue;
    if (n_made + 8 > 16) r.overflow = true;
    if (r.overflow) break;
    made[n_made] = quotient_text(name, common);
    const text_view unit{made[n_made].c, made[n_made].n};
    ++n_made;
    const sum parts = to_quotient(r, name, common, unit);
    r = sum{0, parts.overflow, {}};
    for (int i = 0; i < parts.n; ++i) {  // cancel the coefficient against the divisor
      term t{parts.t[i].c, 0, {}};
      for (int a = 0; a < parts.t[i].n; ++a) {
        text_view atom = parts.t[i].atom[a];
        if (atom.p == unit.p) {
          const std::int64_t g = gcd(t.c, common);
          t.c /= g;
          if (g == common) {
            atom = name;
          } else if (g > 1) {
            if (n_made == 16) {
              r.overflow = true;
              break;
            }
            made[n_made] = quotient_text(name, common / g);
            atom = text_view{made[n_made].c, made[n_made].n};
            ++n_made;
          }
        }
        mul_atom(r, t, atom);
      }
      add_term(r, t);
    }
  }
  return print(r);
}

// floor(s / d), d > 0, as text.
constexpr text floor_div(const sum& s, std::int64_t d, const known& k) {
  sum q, r;
  q.overflow = s.overflow;
  text exact[4];  // texts of atoms made here
  int n_exact = 0;
  for (int i = 0; i < s.n; ++i) {
    term whole = s.t[i], rest = s.t[i];
    whole.c = floor_div(s.t[i].c, d);
    rest.c = s.t[i].c - whole.c * d;
    add_term(q, whole);
    // By facts, factors of the divisor divide atoms exactly: E * F / 48 is (E // 8) * (F // 6).
    const std::int64_t g = gcd(rest.c, d);
    std::int64_t left = d / g;
    term t{rest.c / g, 0, {}};
    for (int a = 0; a < rest.n; ++a) {
      const std::int64_t part = n_exact < 4 ? gcd(left, k.multiple(rest.atom[a])) : 1;
      if (part > 1) exact[n_exact] = quotient_text(rest.atom[a], part);
      mul_atom(q, t, part > 1 ? text_view{exact[n_exact].c, exact[n_exact].n} : rest.atom[a]);
      n_exact += part > 1 ? 1 : 0;
      left /= part;
    }
    if (rest.c != 0 && rest.n > 0 && left == 1)
      add_term(q, t);
    else
      add_term(r, rest);
  }
  std::int64_t g = d;
  for (int i = 0; i < r.n; ++i)
    if (r.t[i].n > 0) g = gcd(r.t[i].c, g);
  if (r.n == 0 || r.t[0].n == 0 || g == d) return settle(q, k);  // the rest is a constant in 0..d-1
  for (int i = 0; i < r.n; ++i) r.t[i].c = floor_div(r.t[i].c, g);
  d /= g;
  if (const term& last = r.t[r.n - 1]; last.c == 0) --r.n;
  text x;
  const quotient nested = r.n == 1 && r.t[0].c == 1 && r.t[0].n == 1 ? open(r.t[0].atom[0]) : quotient{};
  x.put('(');
  const text rest = print(r);
  x.put(nested.d > 0 ? nested.inner : text_view{rest.c, rest.n});
  x.put(detail::text_of(")//"));
  x.put_int(nested.d > 0 ? nested.d * d : d);
  term t{1, 0, {}};
  mul_atom(q, t, text_view{x.c, x.n});
  add_term(q, t);
  return settle(q, k);
}

// a / b where b is one term that divides every term of a; an empty text (n = 0) otherwise.
constexpr text divide_exact(const sum& a, const sum& b) {
  if (b.n != 1) return {};
  sum r;
  for (int i = 0; i < a.n; ++i) {
    if (a.t[i].c % b.t[0].c != 0) return {};
    term t{a.t[i].c / b.t[0].c, 0, {}};
    int j = 0;
    for (int k = 0; k < a.t[i].n; ++k) {
      if (j < b.t[0].n && detail::compare_text(a.t[i].atom[k], b.t[0].atom[j]) == 0)
        ++j;
      else
        mul_atom(r, t, a.t[i].atom[k]);
    }
    if (j < b.t[0].n) return {};
    add_term(r, t);
  }
  return print(r);
}

}  // namespace kiln::dsl::poly
