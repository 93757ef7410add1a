// A program: a struct of parameters with `constexpr void body()`. The body is evaluated twice by the C++ compiler, once to
// count and to find mistakes, once to freeze the arena into the constant tables of record.h.
#pragma once

#include "kiln/dsl/index.h"
#include "kiln/dsl/reflect.h"
#include "kiln/dsl/scope.h"
#include "kiln/dsl/symbols.h"

namespace kiln::dsl {

template <class Self>
struct program : keywords<Self> {
  using kiln_program = void;
  constexpr program() = default;
  // max(x, 0) where max is a program: it begins with its base. max(x) is a conversion (operators.h).
  template <class X, why Reason = why::this_name_means_a_program_here__write_kiln_dsl_name_for_the_function>
    requires(kiln_extent_value<X>)
  constexpr program(const X&) KILN_HIDDEN_BY("program");

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
#define KILN_X(f)                                                                                           \
  template <class... D, class X, class... More,                                                             \
            why Reason = why::axes_and_extents_are_template_arguments__write_arange_of_n_in_angle_brackets> \
    requires(Extent<X> || (std::is_integral_v<X> && sizeof...(More) > 0) || Operand<X>)                     \
  mistake<Reason> f(const X&, const More&...) const KILN_MISTAKE(KILN_REASONS_MISUSE);
  KILN_X(arange)
  KILN_X(full)
  KILN_X(grid)
#undef KILN_X
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
  const char* duplicate = nullptr;  // the name that two have
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
      if (kiln_compare(kiln_view(r.v[i].name), kiln_view(name)) == 0) r.duplicate = name;
    r.v[n++] = {name, static_cast<int>(T::direction), kiln_code<typename T::dtype>, shape_v<S>, T::free_strides};
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
  P p;
  auto bind = [&b](auto& t) {
    if constexpr (std::is_const_v<std::remove_reference_t<decltype(t)>>) {
      b.fail(why::member_is_no_parameter__write_in_out_inout_or_static_constexpr, kiln_loc(t.place));
    } else {
      t.b = &b;
      t.slot = b.slots.n;
    }
    b.slots.add({-1, t.direction != dir::out, false});
  };
  kiln_each_tensor(p, bind);
  if (b.error == why::ok) p.body();
  // == and ! take the last recorded line; where nothing was recorded before them, the next.
  int located = 0;
  while (located < b.nodes.n && b.nodes.v[located].loc.line == 0) ++located;
  for (int i = 0; i < located && located < b.nodes.n; ++i) b.nodes.v[i].loc = b.nodes.v[located].loc;
}

// Where P is declared: its parameters are made by its own constructor, whose line is that of the struct.
template <class P>
constexpr record::source_loc kiln_head() {
  P p;
  record::source_loc l;
  auto take = [&l](const auto& t) {
    if constexpr (requires { t.place; })
      if (l.line == 0) l = kiln_loc(t.place);
  };
  kiln_with_members(p, [&take](auto&... m) { (take(m), ...); });
  return l;
}

template <class P>
constexpr void kiln_check(builder& b) {
  constexpr auto& params = kiln_parameters_of<P>;
  for (int i = 0; i < b.slots.n; ++i) {
    if (!b.slots.v[i].stored && params.v[i].direction == 1)
      b.fail(why::out_parameter_is_never_assigned__write_y_equals_or_y_of_i, kiln_head<P>(), params.v[i].name);
    for (int k = 0; k < params.v[i].s->rank; ++k)
      if (params.v[i].s->extents[k].value < 0) b.fail(why::extent_is_negative, b.current());
  }
  if (params.duplicate) b.fail(why::two_parameters_have_the_same_name, kiln_head<P>(), params.duplicate);
  if (const int open = kiln_not_given(params.symbols, params.v, b.slots.n); open >= 0)
    b.fail(why::no_argument_gives_a_symbolic_extent__declare_it_as_an_axis, kiln_head<P>(), params.symbols.name[open]);
  if (params.symbols.conflict) b.fail(why::symbolic_extent_has_two_different_sets_of_facts, kiln_head<P>());
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

// What evaluating the body gave, in one integer: its sizes above the error. The integer may turn out not to be a constant,
// which a concept can ask; a constexpr variable would be an error inside this header.
struct kiln_size {
  static constexpr int error_bits = 8, node_bits = 18, source_bits = 19, attr_bits = 18;
  int nodes = 0, sources = 0, attrs = 0;
  why error = why::ok;

  constexpr std::int64_t packed() const {
    if (nodes >> node_bits != 0 || sources >> source_bits != 0 || attrs >> attr_bits != 0)
      return static_cast<int>(why::body_is_too_large__write_loop_or_kernel);
    std::int64_t v = attrs;
    v = v << source_bits | sources;
    v = v << node_bits | nodes;
    return v << error_bits | static_cast<int>(error);
  }
  static constexpr kiln_size unpacked(std::int64_t v) {
    const auto take = [&v](int bits) {
      const auto r = static_cast<int>(v & ((std::int64_t{1} << bits) - 1));
      v >>= bits;
      return r;
    };
    const auto e = static_cast<why>(take(error_bits));
    const int n = take(node_bits), s = take(source_bits);
    return {n, s, take(attr_bits), e};
  }
};
template <class P>
constexpr void kiln_record_body(builder& b) {
  kiln_trace<P>(b);
  for (int depth = kiln_deepest(b); depth > 0 && b.error == why::ok; --depth) {
    builder again;
    again.refused = depth;
    kiln_trace<P>(again);
    kiln_compare_branches(b, again, depth);
  }
  if (b.error == why::ok) kiln_check<P>(b);
}
template <class P>
constexpr std::int64_t kiln_measure() {
  builder b;
  kiln_record_body<P>(b);
  return kiln_size{b.nodes.n, b.sources.n, b.attrs.n, b.error}.packed();
}
template <class P>
inline const std::int64_t kiln_outcome = kiln_measure<P>();
template <class P>
concept kiln_evaluates = requires { typename std::bool_constant<(kiln_outcome<P> >= 0)>; };
template <class P>
inline constexpr kiln_size kiln_size_of = kiln_size::unpacked(kiln_outcome<P>);

// Is P a struct that can be a program?
template <class P>
constexpr why kiln_structure() {
  if constexpr (!std::is_class_v<P> || !std::is_base_of_v<program<P>, P>)
    return why::base_is_not_program_of_itself__write_struct_p_program_of_p;
  else if constexpr (!std::is_aggregate_v<P> || !std::is_convertible_v<P*, const program<P>*>)
    return why::program_is_no_plain_struct__write_struct_public_without_constructor_virtual_private;
  else if constexpr (!requires(P& p) { p.body(); })
    return why::body_is_missing_or_private__write_constexpr_void_body_in_a_public_place;
  else if constexpr (!std::is_default_constructible_v<P> || !kiln_members_are_single<P>)
    return why::member_is_no_parameter__write_in_out_inout_or_static_constexpr;
  else if constexpr (kiln_wrong_member<P, str<0>{}>().n > 0)
    return why::member_is_no_parameter__write_in_out_inout_or_static_constexpr;
  else
    return why::ok;
}
template <class P>
constexpr why kiln_reason() {
  if constexpr (constexpr why w = kiln_structure<P>(); w != why::ok)
    return w;
  else if constexpr (!kiln_evaluates<P>)
    return why::body_cannot_run_while_compiling__write_constexpr_everywhere_loop_or_forever_print_nothing;
  else
    return kiln_size_of<P>.error;
}
template <class P>
inline constexpr why kiln_reason_of = kiln_reason<P>();

// "file.cpp:30:5" of a mistake, and the name of the parameter that it is about.
struct kiln_place {
  poly::text t;
  constexpr kiln_place(const record::source_loc& l, text_view name) {
    int start = 0;
    for (int i = 0; l.file[i] != 0; ++i)
      if (l.file[i] == '/') start = i + 1;
    if (l.line != 0) {
      t.put(kiln_view(l.file + start));
      t.put(':');
      t.put_int(l.line);
      t.put(':');
      t.put_int(l.column);
    }
    if (name.n > 0) t.put(kiln_view(": "));
    t.put(name);
  }
};
template <class P>
constexpr kiln_place kiln_head_place() {
  if constexpr (std::is_aggregate_v<P> && std::is_default_constructible_v<P> && kiln_members_are_single<P>) {
    if constexpr (requires { typename std::bool_constant<(kiln_head<P>().line > 0)>; }) return {kiln_head<P>(), {}};
  }
  return {{}, {}};
}
template <class P>
constexpr kiln_place kiln_where_of() {
  if constexpr (kiln_structure<P>() != why::ok) {
    return kiln_head_place<P>();
  } else if constexpr (!kiln_evaluates<P>) {
    return kiln_head_place<P>();
  } else {
    builder b;
    kiln_record_body<P>(b);
    return {b.error_loc.line > 0 ? b.error_loc : kiln_head<P>(), kiln_view(b.error_name)};
  }
}
template <class P>
consteval auto kiln_where() {
  constexpr poly::text text = kiln_where_of<P>().t;
  constexpr int n = text.n < poly::max_text ? text.n : poly::max_text - 1;
  return str<n>(text.c, n);
}

template <class P>
consteval bool kiln_verdict() {
  static_assert(!kiln_parameters_of<P>.symbols.too_many, "kiln: at most 16 symbolic extents, names below 48 characters");
  return kiln_reason_of<P> == why::ok;
}

template <int N, int M, int K>
struct kiln_frozen {
  record::node nodes[N + 1] = {};
  std::int32_t sources[M + 1] = {};
  record::extent attrs[K + 1] = {};
};
template <class P>
consteval auto kiln_freeze() {
  constexpr kiln_size m = kiln_size_of<P>;
  kiln_frozen<m.nodes, m.sources, m.attrs> r;
  builder b;
  kiln_trace<P>(b);
  for (int i = 0; i < m.nodes; ++i) r.nodes[i] = b.nodes.v[i];
  for (int i = 0; i < m.sources; ++i) r.sources[i] = b.sources.v[i];
  for (int i = 0; i < m.attrs; ++i) r.attrs[i] = b.attrs.v[i];
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
    kiln_name_of<P>.c,       kiln_count_parameters<P>(),    kiln_size_of<P>.nodes,     kiln_parameters_of<P>.symbols.n,
    kiln_parameters_of<P>.v, kiln_frozen_of<P>.nodes,       kiln_frozen_of<P>.sources, kiln_frozen_of<P>.attrs,
    kiln_symbols_of<P>.v,    kiln_frozen_of<P>.nodes[0].loc};

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
