// A program: a struct of parameters with `constexpr void body()`. The body is evaluated twice by the C++ compiler, once to
// count and to find mistakes, once to freeze the arena into the constant tables of record.h.
#pragma once

#include "kiln/dsl/index.h"
#include "kiln/dsl/reflect.h"
#include "kiln/dsl/scope.h"

namespace kiln {

template <class Self>
struct program : keywords<Self> {
  using kiln_program = void;
  constexpr builder* kiln_arena() const { return kiln_first_builder(static_cast<const Self&>(*this)); }

  // 0, 1, .., n - 1.
  template <auto N, DType D = i32>
    requires(kiln_position_why<D> == why::ok)
  constexpr auto arange(sloc l = sloc::current()) const {
    builder* b = kiln_arena();
    kiln_begin<D, make_sh<N>>(b, op::iota, l);
    return kiln_result<D, make_sh<N>>(b);
  }
  template <auto N, DType D = i32, why Reason = kiln_position_why<D>>
    requires(kiln_wrong(Reason))
  mistake<Reason> arange() const KILN_MISTAKE(KILN_REASONS_INDEX);
  // auto [i, j] = grid<N, M>(): the positions along each axis of a shape.
  template <auto... E>
  constexpr auto grid(sloc l = sloc::current()) const {
    return kiln_indices<i32, make_sh<E...>>(kiln_arena(), l, make_seq<sizeof...(E)>{});
  }
  // A symbolic extent, or a polynomial of them, as a value.
  template <auto N, DType D = i64>
  constexpr auto size(sloc l = sloc::current()) const {
    builder* b = kiln_arena();
    return expr_<D, sh<>>(b, kiln_dim_id<D>(b, kiln_attr<kiln_ext(N)>, l));
  }
  // A tensor of one value.
  template <DType D, auto... E, Literal L>
    requires(assign_why<D, sh<>, L> == why::ok)
  constexpr auto full(const L& v, sloc l = sloc::current()) const {
    builder* b = kiln_arena();
    return expr_<D, make_sh<E...>>(b, kiln_expand<D, sh<>, make_sh<E...>>(b, kiln_id<D>(b, v, l), l));
  }
};

inline constexpr int max_symbols = 16, max_symbol_name = 48;
struct kiln_symbols {
  int n = 0;
  bool conflict = false, too_many = false;
  char name[max_symbols][max_symbol_name] = {};
  facts known[max_symbols] = {};
  bool declared[max_symbols] = {};

  constexpr int find(text_view name_) const {
    for (int i = 0; i < n; ++i)
      if (kiln_compare(kiln_view(name[i]), name_) == 0) return i;
    return -1;
  }
  constexpr void declare(const record::symbol& s) {
    const int i = find(kiln_view(s.name));
    if (i < 0) return;
    const facts f{s.min, s.max, s.multiple_of};
    if (declared[i] && (f.min != known[i].min || f.max != known[i].max || f.multiple_of != known[i].multiple_of))
      conflict = true;
    known[i] = f;
    declared[i] = true;
  }
};
// Calls f(name) for every symbol in the text of an extent.
template <class F>
constexpr void kiln_each_symbol(const char* text, F f) {
  for (int i = 0; text[i] != 0;) {
    if (poly::is_digit(text[i])) {
      while (poly::is_digit(text[i])) ++i;
    } else if (poly::is_name(text[i])) {
      int n = 0;
      while (poly::is_name(text[i + n])) ++n;
      f(text_view{text + i, n});
      i += n;
    } else {
      ++i;
    }
  }
}

template <class P>
consteval int kiln_count_parameters() {
  int n = 0;
  auto count = [&n]<class T, auto Path>() { ++n; };
  kiln_each_parameter<P>(count);
  return n;
}
template <auto Path>
inline constexpr auto kiln_path_text = Path;

template <int N>
struct kiln_parameters {
  record::parameter v[N + 1] = {};
  kiln_symbols symbols;
  bool duplicate = false;
};

template <class S, class F, int... I>
constexpr void kiln_each_known(F f, seq<I...>) {
  [[maybe_unused]] auto one = [&f](const ext& e) {
    for (const record::symbol* s : e.known)
      if (s != nullptr) f(*s);
  };
  (one(ext_at<S, I>), ...);
}

template <class P>
consteval auto kiln_collect() {
  kiln_parameters<kiln_count_parameters<P>()> r;
  int n = 0;
  auto one = [&]<class T, auto Path>() {
    using S = typename T::shape;
    const char* name = kiln_path_text<Path>.c;
    for (int i = 0; i < n; ++i)
      if (kiln_compare(kiln_view(r.v[i].name), kiln_view(name)) == 0) r.duplicate = true;
    r.v[n++] = {name, static_cast<int>(T::direction), kiln_code<typename T::dtype>, shape_v<S>};
    for (int i = 0; i < S::rank; ++i) {
      const char* text = shape_v<S>->extents[i].text;
      if (text == nullptr) continue;
      kiln_each_symbol(text, [&r](text_view v) {
        kiln_symbols& t = r.symbols;
        if (t.find(v) >= 0) return;
        if (t.n == max_symbols || v.n >= max_symbol_name) {
          t.too_many = true;
          return;
        }
        for (int k = 0; k < v.n; ++k) t.name[t.n][k] = v.p[k];
        ++t.n;
      });
    }
    kiln_each_known<S>([&r](const record::symbol& s) { r.symbols.declare(s); }, make_seq<S::rank>{});
  };
  kiln_each_parameter<P>(one);
  return r;
}
template <class P>
inline constexpr auto kiln_parameters_of = kiln_collect<P>();

// Runs the body of P into b: in constant evaluation, or at run time, where a debugger can step through it.
template <class P>
constexpr void kiln_trace(builder& b) {
  P p{};
  auto bind = [&b](auto& t) {
    t.b = &b;
    t.slot = b.slots.n;
    b.slots.add({-1, t.direction != dir::out, false});
  };
  kiln_each_tensor(p, bind);
  p.body();
  // == and ! take the last recorded line; where nothing was recorded before them, the next.
  int located = 0;
  while (located < b.nodes.n && b.nodes.v[located].loc.line == 0) ++located;
  for (int i = 0; i < located && located < b.nodes.n; ++i) b.nodes.v[i].loc = b.nodes.v[located].loc;
}

template <class P>
constexpr void kiln_check(builder& b) {
  constexpr auto& params = kiln_parameters_of<P>;
  for (int i = 0; i < b.slots.n; ++i) {
    if (!b.slots.v[i].stored && params.v[i].direction == 1) b.fail(why::out_parameter_is_never_assigned, b.current());
    for (int k = 0; k < params.v[i].s->rank; ++k)
      if (params.v[i].s->extents[k].value < 0) b.fail(why::extent_is_negative, b.current());
  }
  if (params.duplicate) b.fail(why::two_parameters_have_the_same_name, b.current());
  for (int i = 0; i < params.symbols.n; ++i) {
    bool whole = false;
    for (int k = 0; k < b.slots.n; ++k)
      for (int a = 0; a < params.v[k].s->rank; ++a) {
        const char* text = params.v[k].s->extents[a].text;
        whole = whole || (text != nullptr && kiln_compare(kiln_view(text), kiln_view(params.symbols.name[i])) == 0);
      }
    if (!whole) b.fail(why::symbolic_extent_is_nowhere_the_whole_extent_of_an_axis, b.current());
  }
  if (params.symbols.conflict) b.fail(why::symbolic_extent_has_two_different_sets_of_facts, b.current());
  const record::shape* checked = nullptr;
  for (int i = 0; i < b.nodes.n; ++i) {
    const record::node& x = b.nodes.v[i];
    const bool introduces = x.o == op::reshape || x.o == op::expand || x.o == op::iota || x.o == op::dim || x.o == op::slice ||
                            x.o == op::pad || x.o == op::kernel || x.o == op::loop;
    if (!introduces) continue;
    auto known = [&](text_view v) {
      if (params.symbols.find(v) < 0) b.fail(why::symbolic_extent_is_not_an_extent_of_any_parameter, x.loc);
    };
    if (x.s != checked)
      for (int k = 0; k < x.s->rank; ++k) {
        if (x.s->extents[k].text != nullptr) kiln_each_symbol(x.s->extents[k].text, known);
        if (x.s->extents[k].value < 0) b.fail(why::extent_is_negative, x.loc);
      }
    checked = x.s;
    for (int k = 0; k < x.n_attrs; ++k)
      if (const char* text = b.attrs.v[x.attr_begin + k].text; text != nullptr) kiln_each_symbol(text, known);
  }
}

struct kiln_size {
  int nodes = 0, sources = 0, attrs = 0, checks = 0;
  why error = why::ok;
  record::source_loc loc{}, first{};
};
template <class P>
consteval kiln_size kiln_measure() {
  builder b;
  kiln_trace<P>(b);
  for (int depth = kiln_deepest(b); depth > 0 && b.error == why::ok; --depth) {
    builder again;
    again.refused = depth;
    kiln_trace<P>(again);
    kiln_compare_branches(b, again, depth);
  }
  kiln_check<P>(b);
  return {b.nodes.n,
          b.sources.n,
          b.attrs.n,
          b.checks.n,
          b.error,
          b.error_loc,
          b.nodes.n > 0 ? b.nodes.v[0].loc : record::source_loc{}};
}
template <class P>
inline constexpr kiln_size kiln_size_of = kiln_measure<P>();

// "file.cpp:30:5" of a mistake.
template <class P>
consteval auto kiln_where() {
  constexpr auto text = [] {
    constexpr auto& m = kiln_size_of<P>;
    poly::text t;
    int start = 0;
    for (int i = 0; m.loc.file[i] != 0; ++i)
      if (m.loc.file[i] == '/') start = i + 1;
    t.put(kiln_view(m.loc.file + start));
    t.put(':');
    t.put_int(m.loc.line);
    t.put(':');
    t.put_int(m.loc.column);
    return t;
  }();
  return str<text.n>(text.c, text.n);
}

template <class P>
consteval bool kiln_verdict() {
  static_assert(!kiln_parameters_of<P>.symbols.too_many, "kiln: at most 16 symbolic extents, names below 48 characters");
  if constexpr (kiln_size_of<P>.error != why::ok)
    return sizeof(ill_formed_program<kiln_size_of<P>.error, kiln_where<P>()>) > 0;
  else
    return true;
}

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
    kiln_name_of<P>.c,       kiln_count_parameters<P>(), kiln_size_of<P>.nodes,     kiln_parameters_of<P>.symbols.n,
    kiln_parameters_of<P>.v, kiln_frozen_of<P>.nodes,    kiln_frozen_of<P>.sources, kiln_frozen_of<P>.attrs,
    kiln_symbols_of<P>.v,    kiln_size_of<P>.first,      kiln_size_of<P>.checks,    kiln_frozen_of<P>.checks};

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
  const why all[] = {kiln_size_of<P>.error..., why::ok};
  int i = 0;
  while (i < static_cast<int>(sizeof...(P)) && all[i] == why::ok) ++i;
  return i;
}
template <int I, class P, class... More>
constexpr auto kiln_place() {
  if constexpr (I == 0)
    return kiln_where<P>();
  else
    return kiln_place<I - 1, More...>();
}
template <class... P>
struct kiln_verdict_of {
  static constexpr int first = kiln_first_wrong<P...>();
  static constexpr why reason = [] {
    const why all[] = {kiln_size_of<P>.error..., why::ok};
    return all[first];
  }();
  static constexpr auto where() {
    if constexpr (first == sizeof...(P))
      return str<0>{};
    else
      return kiln_place<first, P...>();
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
  // Both compilers print the template arguments: what is wrong, and where.
  template <why Reason = kiln_verdict_of<P...>::reason, str Where = kiln_verdict_of<P...>::where()>
    requires(kiln_wrong(Reason))
  programs() KILN_DELETED("kiln: a program is ill-formed: reason and place follow");
};

}  // namespace kiln
