// The captured program, frozen into the constant tables of record.h, and the list of programs that a source exports.
#pragma once

#include "kiln/dsl/verdict.h"

namespace kiln::dsl {

template <int N, int M, int K, int C>
struct kiln_frozen {
  record::check checks[C + 1] = {};
  record::node nodes[N + 1] = {};
  std::int32_t sources[M + 1] = {};
  record::extent attrs[K + 1] = {};
};
template <class P>
consteval auto kiln_freeze() {
  constexpr kiln_size m = kiln_size_of<P>;
  kiln_frozen<m.nodes, m.sources, m.attrs, m.checks> r;
  builder b;
  kiln_trace<P>(b);
  for (int i = 0; i < m.nodes; ++i) r.nodes[i] = b.nodes.v[i];
  for (int i = 0; i < m.sources; ++i) r.sources[i] = b.sources.v[i];
  for (int i = 0; i < m.attrs; ++i) r.attrs[i] = b.attrs.v[i];
  for (int i = 0; i < m.checks; ++i) r.checks[i] = b.checks.v[i];
  return r;
}
template <class P>
inline constexpr auto kiln_frozen_of = kiln_freeze<P>();

template <class P>
consteval auto kiln_symbol_table() {
  constexpr auto& s = kiln_parameters_of<P>.symbols;
  struct table {
    record::symbol v[s.n + 1] = {};
  } r;
  for (int i = 0; i < s.n; ++i) r.v[i] = {s.name[i], s.known[i].min, s.known[i].max, s.known[i].multiple_of};
  return r;
}
template <class P>
inline constexpr auto kiln_symbols_of = kiln_symbol_table<P>();

// Name of a type without namespaces; anything but letters and digits of template arguments becomes '_'.
template <class P>
consteval text_view kiln_type_text() {
  const char* text = __PRETTY_FUNCTION__;
  int begin = 0;
  while (!(text[begin] == 'P' && text[begin + 1] == ' ' && text[begin + 2] == '=')) ++begin;
  begin += 4;
  int end = kiln_length(text) - 1;
  for (int i = begin; i < end; ++i)
    if (text[i] == ';') end = i;
  int depth = 0, name = begin;
  for (int i = begin; i < end; ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>') --depth;
    if (depth == 0 && text[i] == ':') name = i + 1;
  }
  return {text + name, end - name};
}
template <class P>
consteval auto kiln_program_name() {
  constexpr text_view v = kiln_type_text<P>();
  str<v.n> r;
  int n = 0, word = 0;  // word: where the current identifier starts
  for (int i = 0; i < v.n; ++i) {
    if (poly::is_name(v.p[i])) {
      r.c[n++] = v.p[i];
    } else if (v.p[i] == ':') {  // g++ leaves out the namespaces of arguments, clang does not
      while (n > word) r.c[--n] = 0;
    } else {
      if (n > 0 && r.c[n - 1] != '_' && v.p[i] != '>' && v.p[i] != ' ') r.c[n++] = '_';
      word = n;
    }
  }
  return r;
}
template <class P>
inline constexpr auto kiln_name_of = kiln_program_name<P>();

// The captured program.
template <class P>
  requires(kiln_verdict<P>())
inline constexpr record::program ir{
    kiln_name_of<P>.c,       kiln_count_parameters<P>(),     kiln_size_of<P>.nodes,     kiln_parameters_of<P>.symbols.n,
    kiln_parameters_of<P>.v, kiln_frozen_of<P>.nodes,        kiln_frozen_of<P>.sources, kiln_frozen_of<P>.attrs,
    kiln_symbols_of<P>.v,    kiln_frozen_of<P>.nodes[0].loc, kiln_size_of<P>.checks,    kiln_frozen_of<P>.checks};

template <class P>
consteval int count_ops(op o) {
  int n = 0;
  for (int i = 0; i < ir<P>.n_nodes; ++i)
    if (ir<P>.nodes[i].o == o) ++n;
  return n;
}
template <class P>
consteval int count_nodes() {
  return ir<P>.n_nodes;
}

// The first ill-formed program of a list: its reason and place.
template <class... P>
consteval int kiln_first_wrong() {
  const why all[] = {kiln_reason_of<P>..., why::ok};
  int i = 0;
  while (i < static_cast<int>(sizeof...(P)) && all[i] == why::ok) ++i;
  return i;
}
template <int I, class P, class... More>
constexpr auto kiln_nth_where() {
  if constexpr (I == 0)
    return kiln_where<P>();
  else
    return kiln_nth_where<I - 1, More...>();
}
template <class... P>
struct kiln_verdict_of {
  static constexpr int first = kiln_first_wrong<P...>();
  static constexpr why reason = [] {
    const why all[] = {kiln_reason_of<P>..., why::ok};
    return all[first];
  }();
  static constexpr auto where() {
    if constexpr (first == sizeof...(P))
      return str<0>{};
    else
      return kiln_nth_where<first, P...>();
  }
};

// static const programs<saxpy, dense_gelu> exported;
template <class... P>
struct programs {
  programs()
    requires(kiln_verdict_of<P...>::reason == why::ok)
  {
    static constexpr const record::program* list[] = {&ir<P>...};
    record::register_programs(list, sizeof...(P));
  }
  // One for each reason: clang prints its text, both compilers print the template arguments, which say what is wrong and where.
#define KILN_X(e, text)                                                                             \
  template <why Reason = kiln_verdict_of<P...>::reason, str Where = kiln_verdict_of<P...>::where()> \
    requires(Reason == why::e)                                                                      \
  programs() KILN_DELETED("kiln: " text);
  KILN_REASONS_PROGRAM(KILN_X)
  KILN_REASONS_CAPTURE(KILN_X)
  KILN_REASONS_LATE(KILN_X)
#undef KILN_X
};

}  // namespace kiln::dsl
