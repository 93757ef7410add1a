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
    if (!b.slots.v[i].stored && params.v[i].direction == KILN_OUT)
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
}  // namespace kiln::dsl
