// One tensor from several and several from one: concat, stack, split, and `parts`, the small tuple that split returns.
#pragma once

#include "kiln/dsl/slice.h"

namespace kiln::dsl {

template <int I, class T>
struct part_ {
  T value;
};
template <class, class... T>
struct parts_;
template <int... I, class... T>
struct parts_<seq<I...>, T...> : part_<I, T>... {
  constexpr parts_(const T&... t) : part_<I, T>{t}... {}  // NOLINT(google-explicit-constructor)
};
// auto [a, b] = split<1, 2>(x);
template <class... T>
struct parts : parts_<make_seq<sizeof...(T)>, T...> {
  constexpr parts(const T&... t) : parts_<make_seq<sizeof...(T)>, T...>(t...) {}  // NOLINT(google-explicit-constructor)
  template <std::size_t I>
  constexpr auto get() const {
    return of<static_cast<int>(I)>(*this);
  }

 private:
  template <int I, class U>
  static constexpr U of(const part_<I, U>& p) {
    return p.value;
  }
};

namespace detail {

template <int I, class U>
U part_type(const part_<I, U>*);
template <std::size_t I, class... T>
using part_t = decltype(detail::part_type<static_cast<int>(I)>(static_cast<const parts<T...>*>(nullptr)));

template <int Axis, class A, class B>
constexpr why joins_why() {
  if (!std::is_same_v<dtype_of<A>, dtype_of<B>>) return why::dtypes_differ__write_cast_or_sum_and_matmul_of_a_dtype;
  if (rank_of<A> != rank_of<B>) return why::ranks_differ;
  const int axis = detail::axis_of(Axis, rank_of<A>);
  for (int i = 0; i < rank_of<A>; ++i)
    if (i != axis && !detail::same(shape_v<shape_of<A>>->extents[i], shape_v<shape_of<B>>->extents[i]))
      return why::extents_differ_outside_the_joined_axis;
  return why::ok;
}
template <int Axis, class A, class... B>
constexpr why check_concat() {
  if constexpr (!Operand<A> || !(Operand<B> && ...)) {
    return why::operand_must_be_a_tensor__write_var_full_or_size;
  } else {
    if (!detail::axis_ok(Axis, rank_of<A>)) return why::axis_out_of_range;
    why r = why::ok;
    ((r = r == why::ok ? detail::joins_why<Axis, A, B>() : r), ...);
    return r;
  }
}

template <int Axis, class... S>
inline constexpr ext joined_extent = [] {
  ext r = detail::to_ext(0);
  ((r = detail::plus(r, ext_at<S, Axis>)), ...);
  return r;
}();
template <int Axis, class A, class... B>
constexpr auto concatenated(const sloc& l, const A& a, const B&... b) {
  constexpr int axis = detail::axis_of(Axis, rank_of<A>);
  constexpr ext joined = joined_extent<axis, shape_of<A>, shape_of<B>...>;
  using S = typename replaced<shape_of<A>, axis, joined>::type;
  const int ids[] = {a.read_(l), b.read_(l)...};
  detail::begin_node<dtype_of<A>, S>(a.b, op::concat, l);
  for (const int id : ids) a.b->src(id);
  a.b->attr(axis);
  return detail::result<dtype_of<A>, S>(a.b);
}

template <int Axis, class A, class... B>
constexpr why check_stack() {
  if constexpr (!Operand<A> || !(Operand<B> && ...)) {
    return why::operand_must_be_a_tensor__write_var_full_or_size;
  } else {
    if (!detail::axis_ok(Axis, rank_of<A> + 1)) return why::axis_out_of_range;
    if (!(std::is_same_v<dtype_of<A>, dtype_of<B>> && ...)) return why::dtypes_differ__write_cast_or_sum_and_matmul_of_a_dtype;
    if (!((rank_of<A> == rank_of<B>) && ...)) return why::ranks_differ;
    return (same_shape<shape_of<A>, shape_of<B>> && ...) ? why::ok : why::extents_differ_outside_the_joined_axis;
  }
}

template <int Axis, class A, class... B>
constexpr auto stacked(const sloc& l, const A& a, const B&... b) {
  constexpr int axis = detail::axis_of(Axis, rank_of<A> + 1);
  return detail::concatenated<axis>(l, unsqueeze<axis>(a, l), unsqueeze<axis>(b, l)...);
}

template <int Axis, ext Begin, ext Size, class X>
constexpr auto part_of(const X& x, const sloc& l) {
  return detail::cut<Axis, Begin, Size, 1>(x, l);
}
template <class S, int Axis, int N>
constexpr why split_why() {
  if constexpr (!detail::axis_ok(Axis, S::rank))
    return why::axis_out_of_range;
  else
    return N > 0 && detail::exact_div(ext_at<S, detail::axis_of(Axis, S::rank)>, detail::to_ext(N)).text[0] != 0
               ? why::ok
               : why::number_of_parts_does_not_divide_the_axis;
}
template <int Axis, class X, int... I>
constexpr auto split_parts(const X& x, const sloc& l, seq<I...>) {
  constexpr ext size = detail::exact_div(ext_at<shape_of<X>, Axis>, detail::to_ext(static_cast<int>(sizeof...(I))));
  return parts{detail::part_of<Axis, detail::times(size, detail::to_ext(I)), size>(x, l)...};
}

template <class S, int Axis, auto... Size>
constexpr why split_sizes_why() {
  if constexpr (!detail::axis_ok(Axis, S::rank)) {
    return why::axis_out_of_range;
  } else {
    if ((detail::is_negative(detail::to_ext(Size)) || ...)) return why::parts_do_not_add_up_to_the_axis;
    ext total = detail::to_ext(0);
    ((total = detail::plus(total, detail::to_ext(Size))), ...);
    return detail::same(total, ext_at<S, detail::axis_of(Axis, S::rank)>) ? why::ok : why::parts_do_not_add_up_to_the_axis;
  }
}
template <int I, auto... Size>
inline constexpr ext offset = [] {
  const ext sizes[] = {detail::to_ext(Size)...};
  ext r = detail::to_ext(0);
  for (int i = 0; i < I; ++i) r = detail::plus(r, sizes[i]);
  return r;
}();
template <int Axis, auto... Size, class X, int... I>
constexpr auto split_parts_of_sizes(const X& x, const sloc& l, seq<I...>) {
  return parts{detail::part_of<Axis, offset<I, Size...>, detail::to_ext(Size)>(x, l)...};
}

}  // namespace detail

// concat<axis>(a, b, ...): one to eight tensors of one dtype and rank, with equal extents on every axis except `axis`, on
// which the extents add up. stack<axis>(a, b, ...): tensors of one dtype and shape, along a new axis at that position of the
// result. A negative axis counts from the end.
template <int Axis, class... X>
inline constexpr why concat_why = detail::check_concat<Axis, X...>();
template <int Axis, class... X>
inline constexpr why stack_why = detail::check_stack<Axis, X...>();

// A default argument cannot follow a pack, so the arities are written out.
#define KILN_LIST(...) __VA_ARGS__
#define KILN_ARITY(T, A, P, N)                                   \
  template <int Axis, KILN_LIST T>                               \
    requires(concat_why<Axis, KILN_LIST A> == why::ok)           \
  constexpr auto concat(KILN_LIST P, sloc l = sloc::current()) { \
    return detail::concatenated<Axis>(l, KILN_LIST N);           \
  }                                                              \
  template <int Axis, KILN_LIST T>                               \
    requires(stack_why<Axis, KILN_LIST A> == why::ok)            \
  constexpr auto stack(KILN_LIST P, sloc l = sloc::current()) {  \
    return detail::stacked<Axis>(l, KILN_LIST N);                \
  }
// clang-format off
KILN_ARITY((class A), (A), (const A& a), (a))
KILN_ARITY((class A, class B), (A, B), (const A& a, const B& b), (a, b))
KILN_ARITY((class A, class B, class C), (A, B, C), (const A& a, const B& b, const C& c), (a, b, c))
KILN_ARITY((class A, class B, class C, class D), (A, B, C, D), (const A& a, const B& b, const C& c, const D& d), (a, b, c, d))
KILN_ARITY((class A, class B, class C, class D, class E), (A, B, C, D, E), (const A& a, const B& b, const C& c, const D& d, const E& e), (a, b, c, d, e))
KILN_ARITY((class A, class B, class C, class D, class E, class F), (A, B, C, D, E, F), (const A& a, const B& b, const C& c, const D& d, const E& e, const F& f), (a, b, c, d, e, f))
KILN_ARITY((class A, class B, class C, class D, class E, class F, class G), (A, B, C, D, E, F, G), (const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g), (a, b, c, d, e, f, g))
KILN_ARITY((class A, class B, class C, class D, class E, class F, class G, class H), (A, B, C, D, E, F, G, H), (const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g, const H& h), (a, b, c, d, e, f, g, h))
// clang-format on
#undef KILN_ARITY
#undef KILN_LIST
template <int Axis, class... X, why Reason = concat_why<Axis, X...>>
  requires(detail::wrong(Reason))
mistake<Reason> concat(const X&...) KILN_MISTAKE(KILN_REASONS_MOVE);
template <int Axis, class... X, why Reason = stack_why<Axis, X...>>
  requires(detail::wrong(Reason))
mistake<Reason> stack(const X&...) KILN_MISTAKE(KILN_REASONS_MOVE);

// auto [a, b] = split<axis, 2>(x): equal parts, whose number must divide the extent for all values of its symbols.
// split_sizes<axis, sizes...>(x): parts of these extents, which must add up to the axis.
template <int Axis, int N, Operand X>
  requires(detail::split_why<shape_of<X>, Axis, N>() == why::ok)
constexpr auto split(const X& x, sloc l = sloc::current()) {
  return detail::split_parts<detail::axis_of(Axis, rank_of<X>)>(x, l, make_seq<N>{});
}
template <int Axis, int N, Operand X, why Reason = detail::split_why<shape_of<X>, Axis, N>()>
  requires(detail::wrong(Reason))
mistake<Reason> split(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

template <int Axis, auto... Size, Operand X>
  requires(detail::split_sizes_why<shape_of<X>, Axis, Size...>() == why::ok)
constexpr auto split_sizes(const X& x, sloc l = sloc::current()) {
  return detail::split_parts_of_sizes<detail::axis_of(Axis, rank_of<X>), Size...>(x, l, make_seq<sizeof...(Size)>{});
}
template <int Axis, auto... Size, Operand X, why Reason = detail::split_sizes_why<shape_of<X>, Axis, Size...>()>
  requires(detail::wrong(Reason))
mistake<Reason> split_sizes(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

}  // namespace kiln::dsl

template <class... T>
struct std::tuple_size<kiln::dsl::parts<T...>> {
  static constexpr std::size_t value = sizeof...(T);
};
template <std::size_t I, class... T>
struct std::tuple_element<I, kiln::dsl::parts<T...>> {
  using type = kiln::dsl::detail::part_t<I, T...>;
};
