// Several tensors from one and one from several: concat, stack, split, and `pieces`, the small tuple they come back in.
#pragma once

#include "kiln/dsl/slice.h"

namespace kiln::dsl {

template <int I, class T>
struct kiln_piece {
  T value;
};
template <class, class... T>
struct kiln_pieces;
template <int... I, class... T>
struct kiln_pieces<seq<I...>, T...> : kiln_piece<I, T>... {
  constexpr kiln_pieces(const T&... t) : kiln_piece<I, T>{t}... {}  // NOLINT(google-explicit-constructor)
};
// auto [a, b] = split<1, 2>(x);
template <class... T>
struct pieces : kiln_pieces<make_seq<sizeof...(T)>, T...> {
  constexpr pieces(const T&... t) : kiln_pieces<make_seq<sizeof...(T)>, T...>(t...) {}  // NOLINT(google-explicit-constructor)
  template <std::size_t I>
  constexpr auto get() const {
    return of<static_cast<int>(I)>(*this);
  }

 private:
  template <int I, class U>
  static constexpr U of(const kiln_piece<I, U>& p) {
    return p.value;
  }
};
template <int I, class U>
U kiln_piece_type(const kiln_piece<I, U>*);
template <std::size_t I, class... T>
using piece_t = decltype(kiln_piece_type<static_cast<int>(I)>(static_cast<const pieces<T...>*>(nullptr)));

// concat<axis>(a, b, ...)
template <int Axis, class A, class B>
constexpr why kiln_joins_why() {
  if (!std::is_same_v<dtype_of<A>, dtype_of<B>>) return why::dtypes_differ__write_cast;
  if (rank_of<A> != rank_of<B>) return why::ranks_differ;
  const int axis = kiln_axis(Axis, rank_of<A>);
  for (int i = 0; i < rank_of<A>; ++i)
    if (i != axis && !kiln_same(shape_v<shape_of<A>>->extents[i], shape_v<shape_of<B>>->extents[i]))
      return why::extents_differ_outside_the_joined_axis;
  return why::ok;
}
template <int Axis, class A, class... B>
constexpr why kiln_concat_why() {
  if constexpr (!Operand<A> || !(Operand<B> && ...)) {
    return why::operand_must_be_a_tensor__write_var_full_or_size;
  } else {
    if (!kiln_axis_ok(Axis, rank_of<A>)) return why::axis_out_of_range;
    why r = why::ok;
    ((r = r == why::ok ? kiln_joins_why<Axis, A, B>() : r), ...);
    return r;
  }
}
template <int Axis, class... X>
inline constexpr why concat_why = kiln_concat_why<Axis, X...>();
template <int Axis, class... S>
inline constexpr ext kiln_joined_extent = [] {
  ext r = kiln_ext(0);
  ((r = kiln_add(r, ext_at<S, Axis>)), ...);
  return r;
}();
template <int Axis, class A, class... B>
constexpr auto kiln_concat(const sloc& l, const A& a, const B&... b) {
  constexpr int axis = kiln_axis(Axis, rank_of<A>);
  constexpr ext joined = kiln_joined_extent<axis, shape_of<A>, shape_of<B>...>;
  using S = typename kiln_replace<shape_of<A>, axis, joined>::type;
  const int ids[] = {a.kiln_read(l), b.kiln_read(l)...};
  kiln_begin<dtype_of<A>, S>(a.b, op::concat, l);
  for (const int id : ids) a.b->src(id);
  a.b->attr(axis);
  return kiln_result<dtype_of<A>, S>(a.b);
}

// stack<axis>(a, b, ...): a new axis at that position of the result.
template <int Axis, class A, class... B>
constexpr why kiln_stack_why() {
  if constexpr (!Operand<A> || !(Operand<B> && ...)) {
    return why::operand_must_be_a_tensor__write_var_full_or_size;
  } else {
    if (!kiln_axis_ok(Axis, rank_of<A> + 1)) return why::axis_out_of_range;
    if (!(std::is_same_v<dtype_of<A>, dtype_of<B>> && ...)) return why::dtypes_differ__write_cast;
    if (!((rank_of<A> == rank_of<B>) && ...)) return why::ranks_differ;
    return (same_shape<shape_of<A>, shape_of<B>> && ...) ? why::ok : why::extents_differ_outside_the_joined_axis;
  }
}
template <int Axis, class... X>
inline constexpr why stack_why = kiln_stack_why<Axis, X...>();
template <int Axis, class A, class... B>
constexpr auto kiln_stack(const sloc& l, const A& a, const B&... b) {
  constexpr int axis = kiln_axis(Axis, rank_of<A> + 1);
  return kiln_concat<axis>(l, unsqueeze<axis>(a, l), unsqueeze<axis>(b, l)...);
}

// A default argument cannot follow a pack, so the arities are written out.
#define KILN_LIST(...) __VA_ARGS__
#define KILN_ARITY(T, A, P, N)                                   \
  template <int Axis, KILN_LIST T>                               \
    requires(concat_why<Axis, KILN_LIST A> == why::ok)           \
  constexpr auto concat(KILN_LIST P, sloc l = sloc::current()) { \
    return kiln_concat<Axis>(l, KILN_LIST N);                    \
  }                                                              \
  template <int Axis, KILN_LIST T>                               \
    requires(stack_why<Axis, KILN_LIST A> == why::ok)            \
  constexpr auto stack(KILN_LIST P, sloc l = sloc::current()) {  \
    return kiln_stack<Axis>(l, KILN_LIST N);                     \
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
  requires(kiln_wrong(Reason))
mistake<Reason> concat(const X&...) KILN_MISTAKE(KILN_REASONS_MOVE);
template <int Axis, class... X, why Reason = stack_why<Axis, X...>>
  requires(kiln_wrong(Reason))
mistake<Reason> stack(const X&...) KILN_MISTAKE(KILN_REASONS_MOVE);

// split<axis, n>(x): n equal parts. split_sizes<axis, sizes...>(x): parts of the given sizes.
template <int Axis, ext Begin, ext Size, class X>
constexpr auto kiln_part(const X& x, const sloc& l) {
  return kiln_cut<Axis, Begin, Size, 1>(x, l);
}
template <class S, int Axis, int N>
constexpr why kiln_split_why() {
  if constexpr (!kiln_axis_ok(Axis, S::rank))
    return why::axis_out_of_range;
  else
    return N > 0 && kiln_exact_div(ext_at<S, kiln_axis(Axis, S::rank)>, kiln_ext(N)).text[0] != 0
               ? why::ok
               : why::number_of_parts_does_not_divide_the_axis;
}
template <int Axis, class X, int... I>
constexpr auto kiln_split(const X& x, const sloc& l, seq<I...>) {
  constexpr ext size = kiln_exact_div(ext_at<shape_of<X>, Axis>, kiln_ext(static_cast<int>(sizeof...(I))));
  return pieces{kiln_part<Axis, kiln_mul(size, kiln_ext(I)), size>(x, l)...};
}
template <int Axis, int N, Operand X>
  requires(kiln_split_why<shape_of<X>, Axis, N>() == why::ok)
constexpr auto split(const X& x, sloc l = sloc::current()) {
  return kiln_split<kiln_axis(Axis, rank_of<X>)>(x, l, make_seq<N>{});
}
template <int Axis, int N, Operand X, why Reason = kiln_split_why<shape_of<X>, Axis, N>()>
  requires(kiln_wrong(Reason))
mistake<Reason> split(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

template <class S, int Axis, auto... Size>
constexpr why kiln_split_sizes_why() {
  if constexpr (!kiln_axis_ok(Axis, S::rank)) {
    return why::axis_out_of_range;
  } else {
    if ((kiln_negative(kiln_ext(Size)) || ...)) return why::parts_do_not_add_up_to_the_axis;
    ext total = kiln_ext(0);
    ((total = kiln_add(total, kiln_ext(Size))), ...);
    return kiln_same(total, ext_at<S, kiln_axis(Axis, S::rank)>) ? why::ok : why::parts_do_not_add_up_to_the_axis;
  }
}
template <int I, auto... Size>
inline constexpr ext kiln_offset = [] {
  const ext sizes[] = {kiln_ext(Size)...};
  ext r = kiln_ext(0);
  for (int i = 0; i < I; ++i) r = kiln_add(r, sizes[i]);
  return r;
}();
template <int Axis, auto... Size, class X, int... I>
constexpr auto kiln_split_sizes(const X& x, const sloc& l, seq<I...>) {
  return pieces{kiln_part<Axis, kiln_offset<I, Size...>, kiln_ext(Size)>(x, l)...};
}
template <int Axis, auto... Size, Operand X>
  requires(kiln_split_sizes_why<shape_of<X>, Axis, Size...>() == why::ok)
constexpr auto split_sizes(const X& x, sloc l = sloc::current()) {
  return kiln_split_sizes<kiln_axis(Axis, rank_of<X>), Size...>(x, l, make_seq<sizeof...(Size)>{});
}
template <int Axis, auto... Size, Operand X, why Reason = kiln_split_sizes_why<shape_of<X>, Axis, Size...>()>
  requires(kiln_wrong(Reason))
mistake<Reason> split_sizes(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

}  // namespace kiln::dsl

template <class... T>
struct std::tuple_size<kiln::dsl::pieces<T...>> {
  static constexpr std::size_t value = sizeof...(T);
};
template <std::size_t I, class... T>
struct std::tuple_element<I, kiln::dsl::pieces<T...>> {
  using type = kiln::dsl::piece_t<I, T...>;
};
