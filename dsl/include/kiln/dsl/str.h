// Fixed strings as template arguments, the user's source location, and packs of integers.
#pragma once

#include <source_location>
#include <utility>

namespace kiln::dsl {

using sloc = std::source_location;

template <int N>
struct str {
  char c[N + 1] = {};
  constexpr str() = default;
  constexpr str(const char (&s)[N + 1]) {
    for (int i = 0; i < N; ++i) c[i] = s[i];
    c[N] = 0;  // so that clang prints it as text
  }
  constexpr str(const char* s, int n) {
    for (int i = 0; i < n; ++i) c[i] = s[i];
    c[n] = 0;
  }
};
template <int M>
str(const char (&)[M]) -> str<M - 1>;

// A piece of a text that another object owns.
struct text_view {
  const char* p = nullptr;
  int n = 0;
};

namespace detail {

constexpr int text_length(const char* s) {
  int n = 0;
  while (s[n] != 0) ++n;
  return n;
}
constexpr text_view text_of(const char* s) { return {s, detail::text_length(s)}; }

// Below, at or above 0, as memcmp; of a text and its prefix the prefix is less.
constexpr int compare_text(text_view a, text_view b) {
  const int n = a.n < b.n ? a.n : b.n;
  for (int i = 0; i < n; ++i)
    if (a.p[i] != b.p[i]) return a.p[i] < b.p[i] ? -1 : 1;
  return a.n - b.n;
}

}  // namespace detail

template <int... I>
using seq = std::integer_sequence<int, I...>;
template <int N>
using make_seq = std::make_integer_sequence<int, N>;

// A short list of integers that can be a template argument.
struct ints {
  int n = 0;
  int v[16] = {};
  constexpr void add(int x) { v[n++] = x; }
  constexpr bool has(int x) const {
    for (int i = 0; i < n; ++i)
      if (v[i] == x) return true;
    return false;
  }
};

}  // namespace kiln::dsl
