// A program: a struct of parameters with `constexpr void body()`. The C++ compiler evaluates the body twice, first to count the
// nodes and to find mistakes, then to freeze the arena into the constant tables of record.h.
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
  // max(x, 0), where max is a program: x initialises the base of the program. max(x) is a conversion (operators.h).
  template <class X, why Reason = why::this_name_means_a_program_here__write_kiln_dsl_name_for_the_function>
    requires(detail::extent_value<X>)
  constexpr program(const X&) KILN_HIDDEN_BY("program");

  constexpr builder* kiln_arena() const { return detail::first_builder(static_cast<const Self&>(*this)); }

  // arange<N, D>(): 0, 1, .., N - 1, of rank 1 and dtype D, a number.
  template <auto N, DType D = i32>
    requires(detail::position_why<D> == why::ok)
  constexpr auto arange(sloc l = sloc::current()) const {
    builder* b = kiln_arena();
    detail::begin_node<D, make_sh<N>>(b, op::iota, l);
    return detail::result<D, make_sh<N>>(b);
  }
  template <auto N, DType D = i32, why Reason = detail::position_why<D>>
    requires(detail::wrong(Reason))
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
  // auto [i, j] = grid<N, M>(): for each axis the positions along it, i32, of the whole shape.
  template <auto... E>
  constexpr auto grid(sloc l = sloc::current()) const {
    return detail::all_positions<i32, make_sh<E...>>(kiln_arena(), l, make_seq<sizeof...(E)>{});
  }
  // size<N * M, D>(): an extent as a scalar of dtype D.
  template <auto N, DType D = i64>
  constexpr auto size(sloc l = sloc::current()) const {
    builder* b = kiln_arena();
    return expr_<D, sh<>>(b, detail::dim_id<D>(b, detail::attr<detail::to_ext(N)>, l));
  }
  // full<D, N, M>(v): a tensor of one value, a literal or a dim.
  template <DType D, auto... E, Literal L>
    requires(assign_why<D, sh<>, L> == why::ok)
  constexpr auto full(const L& v, sloc l = sloc::current()) const {
    builder* b = kiln_arena();
    return expr_<D, make_sh<E...>>(b, detail::expand_node<D, sh<>, make_sh<E...>>(b, detail::node_of<D>(b, v, l), l));
  }
};

namespace detail {

template <class P>
consteval int count_parameters() {
  int n = 0;
  auto count = [&n]<class T, auto Path>() { ++n; };
  detail::each_parameter<P>(count);
  return n;
}
template <auto Path>
inline constexpr auto path_text = Path;

template <int N>
struct parameters {
  record::parameter v[N + 1] = {};
  detail::symbols symbols;
  const char* duplicate = nullptr;  // a name that two parameters have
};

template <class S, class F, int... I>
constexpr void each_known(F f, seq<I...>) {
  [[maybe_unused]] auto one = [&f](const ext& e) {
    for (const record::symbol* s : e.known)
      if (s != nullptr) f(*s);
  };
  (one(ext_at<S, I>), ...);
}

template <class P>
consteval auto collect() {
  parameters<detail::count_parameters<P>()> r;
  int n = 0;
  auto one = [&]<class T, auto Path>() {
    using S = typename T::shape;
    const char* name = path_text<Path>.c;
    for (int i = 0; i < n; ++i)
      if (detail::compare_text(detail::text_of(r.v[i].name), detail::text_of(name)) == 0) r.duplicate = name;
    r.v[n++] = {name, static_cast<int>(T::direction), dtype_v<typename T::dtype>, shape_v<S>, T::free_strides};
    for (int i = 0; i < S::rank; ++i) {
      const char* text = shape_v<S>->extents[i].text;
      if (text == nullptr) continue;
      detail::each_symbol(text, [&r](text_view v) {
        detail::symbols& t = r.symbols;
        if (t.find(v) >= 0) return;
        if (t.n == detail::max_symbols || v.n >= detail::max_symbol_name) {
          t.too_many = true;
          return;
        }
        for (int k = 0; k < v.n; ++k) t.name[t.n][k] = v.p[k];
        ++t.n;
      });
    }
    detail::each_known<S>([&r](const record::symbol& s) { r.symbols.declare(s); }, make_seq<S::rank>{});
  };
  detail::each_parameter<P>(one);
  return r;
}
template <class P>
inline constexpr auto parameters_of = detail::collect<P>();

// Records the body of P into b, in constant evaluation or at run time, where a debugger can step through it.
template <class P>
constexpr void trace(builder& b) {
  P p;
  auto bind = [&b](auto& t) {
    if constexpr (std::is_const_v<std::remove_reference_t<decltype(t)>>) {
      b.fail(why::member_is_no_parameter__write_in_out_inout_or_static_constexpr, detail::loc(t.place));
    } else {
      t.b = &b;
      t.slot = b.slots.n;
    }
    b.slots.add({-1, t.direction != dir::out, false});
  };
  detail::each_tensor(p, bind);
  if (b.error == why::ok) p.body();
  // == and ! take the last recorded line; at the beginning of a body they take the next one.
  int located = 0;
  while (located < b.nodes.n && b.nodes.v[located].loc.line == 0) ++located;
  for (int i = 0; i < located && located < b.nodes.n; ++i) b.nodes.v[i].loc = b.nodes.v[located].loc;
}

// The line where P is declared: its own constructor makes its parameters and has the line of the struct.
template <class P>
constexpr record::source_loc head() {
  P p;
  record::source_loc l;
  auto take = [&l](const auto& t) {
    if constexpr (requires { t.place; })
      if (l.line == 0) l = detail::loc(t.place);
  };
  detail::with_members(p, [&take](auto&... m) { (take(m), ...); });
  return l;
}

template <class P>
constexpr void check_program(builder& b) {
  constexpr auto& params = parameters_of<P>;
  for (int i = 0; i < b.slots.n; ++i) {
    if (!b.slots.v[i].stored && params.v[i].direction == KILN_OUT)
      b.fail(why::out_parameter_is_never_assigned__write_y_equals_or_y_of_i, detail::head<P>(), params.v[i].name);
    for (int k = 0; k < params.v[i].s->rank; ++k)
      if (params.v[i].s->extents[k].value < 0) b.fail(why::extent_is_negative, b.current());
  }
  if (params.duplicate) b.fail(why::two_parameters_have_the_same_name, detail::head<P>(), params.duplicate);
  if (const int open = detail::not_given(params.symbols, params.v, b.slots.n); open >= 0)
    b.fail(why::no_argument_gives_a_symbolic_extent__declare_it_as_an_axis, detail::head<P>(), params.symbols.name[open]);
  if (params.symbols.conflict) b.fail(why::symbolic_extent_has_two_different_sets_of_facts, detail::head<P>());
  const record::shape* checked = nullptr;
  for (int i = 0; i < b.nodes.n; ++i) {
    const record::node& x = b.nodes.v[i];
    const bool introduces = x.o == op::reshape || x.o == op::expand || x.o == op::iota || x.o == op::dim || x.o == op::slice ||
                            x.o == op::pad || x.o == op::kernel || x.o == op::loop;
    if (!introduces) continue;
    auto check = [&](const record::extent& e) {
      if (e.text == nullptr) return;
      detail::each_symbol(e.text, [&](text_view v) {
        if (params.symbols.find(v) < 0) b.fail(why::symbolic_extent_is_not_an_extent_of_any_parameter, x.loc);
      });
      for (auto s = e.known; s != nullptr && *s != nullptr; ++s)
        if (!params.symbols.has_facts(**s))
          b.fail(why::facts_of_a_dim_that_no_parameter_declares__use_one_dim_for_both, x.loc, (*s)->name);
    };
    if (x.s != checked)
      for (int k = 0; k < x.s->rank; ++k) {
        check(x.s->extents[k]);
        if (x.s->extents[k].value < 0) b.fail(why::extent_is_negative, x.loc);
      }
    checked = x.s;
    for (int k = 0; k < x.n_attrs; ++k) check(b.attrs.v[x.attr_begin + k]);
  }
}

}  // namespace detail

}  // namespace kiln::dsl
