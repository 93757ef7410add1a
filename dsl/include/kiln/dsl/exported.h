// The captured program, frozen into the constant tables of record.h, and the list of programs that a source exports.
#pragma once

#include "kiln/dsl/verdict.h"

namespace kiln::dsl {

namespace detail {

template <int N, int M, int K, int C>
struct frozen {
  record::check checks[C + 1] = {};
  record::node nodes[N + 1] = {};
  std::int32_t sources[M + 1] = {};
  record::extent attrs[K + 1] = {};
};
template <class P>
consteval auto freeze() {
  constexpr body_size m = size_of<P>;
  detail::frozen<m.nodes, m.sources, m.attrs, m.checks> r;
  builder b;
  detail::trace<P>(b);
  for (int i = 0; i < m.nodes; ++i) r.nodes[i] = b.nodes.v[i];
  for (int i = 0; i < m.sources; ++i) r.sources[i] = b.sources.v[i];
  for (int i = 0; i < m.attrs; ++i) r.attrs[i] = b.attrs.v[i];
  for (int i = 0; i < m.checks; ++i) r.checks[i] = b.checks.v[i];
  return r;
}
template <class P>
inline constexpr auto frozen_of = detail::freeze<P>();

template <class P>
consteval auto symbol_table() {
  constexpr auto& s = parameters_of<P>.symbols;
  struct table {
    record::symbol v[s.n + 1] = {};
  } r;
  for (int i = 0; i < s.n; ++i) r.v[i] = {s.name[i], s.known[i].min, s.known[i].max, s.known[i].multiple_of};
  return r;
}
template <class P>
inline constexpr auto symbols_of = detail::symbol_table<P>();

// The name of a type without namespaces. Characters of template arguments become '_', except for letters and digits.
template <class P>
consteval text_view type_text() {
  const char* text = __PRETTY_FUNCTION__;
  int begin = 0;
  while (!(text[begin] == 'P' && text[begin + 1] == ' ' && text[begin + 2] == '=')) ++begin;
  begin += 4;
  int end = detail::text_length(text) - 1;
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
consteval auto program_name() {
  constexpr text_view v = detail::type_text<P>();
  str<v.n> r;
  int n = 0, word = 0;  // word: the start of the current identifier
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
inline constexpr auto name_of = detail::program_name<P>();

// The first ill-formed program of a list.
template <class... P>
consteval int first_wrong() {
  const why all[] = {reason_of<P>..., why::ok};
  int i = 0;
  while (i < static_cast<int>(sizeof...(P)) && all[i] == why::ok) ++i;
  return i;
}
template <int I, class P, class... More>
constexpr auto nth_where() {
  if constexpr (I == 0)
    return detail::place_text<P>();
  else
    return detail::nth_where<I - 1, More...>();
}
template <class... P>
struct verdict_of {
  static constexpr int first = detail::first_wrong<P...>();
  static constexpr why reason = [] {
    const why all[] = {reason_of<P>..., why::ok};
    return all[first];
  }();
  static constexpr auto where() {
    if constexpr (first == sizeof...(P))
      return str<0>{};
    else
      return detail::nth_where<first, P...>();
  }
};

}  // namespace detail

// The captured program, as constant tables.
template <class P>
  requires(detail::verdict<P>())
inline constexpr record::program ir{detail::name_of<P>.c,         detail::count_parameters<P>(),
                                    detail::size_of<P>.nodes,     detail::parameters_of<P>.symbols.n,
                                    detail::parameters_of<P>.v,   detail::frozen_of<P>.nodes,
                                    detail::frozen_of<P>.sources, detail::frozen_of<P>.attrs,
                                    detail::symbols_of<P>.v,      detail::frozen_of<P>.nodes[0].loc,
                                    detail::size_of<P>.checks,    detail::frozen_of<P>.checks};

// The number of nodes of one operation, and of all nodes: static_assert(count_ops<P>(op::reduce) == 1).
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

// static const programs<saxpy, dense_gelu> exported; registers the programs with the generator. An ill-formed program is an
// error at this line, with its reason and place.
template <class... P>
struct programs {
  programs()
    requires(detail::verdict_of<P...>::reason == why::ok)
  {
    static constexpr const record::program* list[] = {&ir<P>...};
    record::register_programs(list, sizeof...(P));
  }
  // One constructor for each reason. clang prints its text; both compilers print the template arguments: the reason and the
  // place.
#define KILN_X(e, text)                                                                                   \
  template <why Reason = detail::verdict_of<P...>::reason, str Where = detail::verdict_of<P...>::where()> \
    requires(Reason == why::e)                                                                            \
  programs() KILN_DELETED("kiln: " text);
  KILN_REASONS_PROGRAM(KILN_X)
  KILN_REASONS_CAPTURE(KILN_X)
  KILN_REASONS_LATE(KILN_X)
#undef KILN_X
};

}  // namespace kiln::dsl
