// Movement of whole axes: reshape, permute, expand, squeeze. The dtype stays, and no data is moved: the compiler turns the
// calls into index arithmetic. A negative axis counts from the end.
#pragma once

#include "kiln/dsl/math.h"

namespace kiln::dsl {

namespace detail {

template <class S, class X>
constexpr auto move_node(op o, const X& x, const sloc& l) {
  const int id = x.read_(l);
  detail::begin_node<dtype_of<X>, S>(x.b, o, l);
  x.b->src(id);
  return detail::result<dtype_of<X>, S>(x.b);
}
template <class X>
constexpr auto as_value(const X& x, const sloc& l) {
  return expr_<dtype_of<X>, shape_of<X>>(x.b, x.read_(l));
}
// x with the shape S, which must have as many elements.
template <class S, class X>
constexpr auto reshaped(const X& x, const sloc& l) {
  if constexpr (same_shape<shape_of<X>, S>)
    return expr_<dtype_of<X>, S>(x.b, x.read_(l));
  else
    return detail::move_node<S>(op::reshape, x, l);
}
template <class S, class X>
constexpr auto expanded_to(const X& x, const sloc& l) {
  return expr_<dtype_of<X>, S>(x.b, detail::expand_node<dtype_of<X>, shape_of<X>, S>(x.b, x.read_(l), l));
}
template <ints P, class X>
constexpr auto permuted(const X& x, const sloc& l) {
  const int id = x.read_(l);
  using S = typename gathered<shape_of<X>, P>::type;
  detail::begin_node<dtype_of<X>, S>(x.b, op::permute, l);
  x.b->src(id);
  for (int i = 0; i < P.n; ++i) x.b->attr(P.v[i]);
  return detail::result<dtype_of<X>, S>(x.b);
}

template <auto E>
constexpr bool inferred() {
  if constexpr (integer<plain<decltype(E)>>)
    return E == static_cast<plain<decltype(E)>>(-1);
  else
    return false;
}
template <auto... E>
inline constexpr ext extent_product = [] {
  ext r = detail::to_ext(1);
  ((detail::inferred<E>() ? void() : void(r = detail::times(r, detail::to_ext(E)))), ...);
  return r;
}();

template <class S, auto... E>
struct reshape_of {
  static constexpr int unknown = (0 + ... + (detail::inferred<E>() ? 1 : 0));
  static constexpr ext missing = unknown == 1 ? detail::exact_div(element_count<S>, extent_product<E...>) : detail::to_ext(1);
  static constexpr why reason = unknown > 1            ? why::only_one_extent_may_be_inferred
                                : missing.text[0] == 0 ? why::inferred_extent_does_not_divide
                                : unknown == 0 && !detail::same(element_count<S>, extent_product<E...>)
                                    ? why::reshape_changes_the_number_of_elements
                                    : why::ok;
};
template <class S, auto... E>
using reshape_t = sh<extent_v<(detail::inferred<E>() ? reshape_of<S, E...>::missing : detail::to_ext(E))>...>;

// The named axes as numbers from 0.
template <int... A>
constexpr ints axes([[maybe_unused]] int rank) {
  ints r;
  (r.add(detail::axis_of(A, rank)), ...);
  return r;
}
template <int... A>
constexpr why axes_why([[maybe_unused]] int rank) {
  if (!(detail::axis_ok(A, rank) && ...)) return why::axis_out_of_range;
  ints seen;
  bool twice = false;
  ((seen.has(detail::axis_of(A, rank)) ? void(twice = true) : seen.add(detail::axis_of(A, rank))), ...);
  return twice ? why::axis_is_named_twice : why::ok;
}

template <int... A>
constexpr why permute_why(int rank) {
  const why w = detail::axes_why<A...>(rank);
  if (detail::wrong(w)) return w;
  return static_cast<int>(sizeof...(A)) == rank ? why::ok : why::permutation_must_name_every_axis_once;
}

constexpr ints exchanged(int rank, int a, int b) {
  ints r;
  for (int i = 0; i < rank; ++i) r.add(i == a ? b : i == b ? a : i);
  return r;
}
template <int A, int B>
constexpr why transpose_why(int rank) {
  return detail::axis_ok(A, rank) && detail::axis_ok(B, rank) ? why::ok : why::axis_out_of_range;
}

template <class S, int... A>
constexpr why squeeze_why() {
  const why w = detail::axes_why<A...>(S::rank);
  if (detail::wrong(w)) return w;
  const ints axes = detail::axes<A...>(S::rank);
  for (int i = 0; i < axes.n; ++i)
    if (!detail::is(shape_v<S>->extents[axes.v[i]], 1)) return why::squeezed_axis_must_have_extent_1;
  return why::ok;
}
constexpr ints without(int rank, const ints& axes) {
  ints r;
  for (int i = 0; i < rank; ++i)
    if (!axes.has(i)) r.add(i);
  return r;
}
constexpr ints with_ones(int rank, const ints& at) {
  ints r;
  int next = 0;
  for (int i = 0; i < rank + at.n; ++i) r.add(at.has(i) ? -1 : next++);
  return r;
}
template <class S, ints M>
struct dropped {
  static constexpr ints kept = detail::without(S::rank, M);
  using type = typename gathered<S, kept>::type;
};
template <class S, ints M>
struct inserted {
  static constexpr ints map = detail::with_ones(S::rank, M);
  using type = typename gathered<S, map>::type;
};

}  // namespace detail

// stored(x): x, computed once into a buffer, which other kernels read. A call inside a kernel is a mistake.
template <Operand X>
constexpr auto stored(const X& x, sloc l = sloc::current()) {
  if (x.b->kernel() != 0) x.b->fail(why::stored_inside_a_kernel, x.b->at(l));
  return detail::move_node<shape_of<X>>(op::stage, x, l);
}

// reshape<E...>(x): the same elements in row-major order. One extent may be -1: the number of elements determines it. The
// numbers of elements must agree for all values of the symbols.
template <class S, auto... E>
inline constexpr why reshape_why = detail::reshape_of<S, E...>::reason;
template <auto... E, Operand X>
  requires(reshape_why<shape_of<X>, E...> == why::ok)
constexpr auto reshape(const X& x, sloc l = sloc::current()) {
  return detail::reshaped<detail::reshape_t<shape_of<X>, E...>>(x, l);
}
template <auto... E, Operand X, why Reason = reshape_why<shape_of<X>, E...>>
  requires(detail::wrong(Reason))
mistake<Reason> reshape(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);
// flatten(x): all elements in row-major order, rank 1.
template <Operand X>
constexpr auto flatten(const X& x, sloc l = sloc::current()) {
  return detail::reshaped<sh<extent_v<detail::element_count<shape_of<X>>>>>(x, l);
}

// permute<A...>(x): axis i of the result is axis A[i] of x; every axis is named once.
template <int... A, Operand X>
  requires(detail::permute_why<A...>(rank_of<X>) == why::ok)
constexpr auto permute(const X& x, sloc l = sloc::current()) {
  return detail::permuted<detail::axes<A...>(rank_of<X>)>(x, l);
}
template <int... A, Operand X, why Reason = detail::permute_why<A...>(rank_of<X>)>
  requires(detail::wrong(Reason))
mistake<Reason> permute(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

// transpose(x) exchanges the last two axes, transpose<A, B>(x) any two.
template <int A = -2, int B = -1, Operand X>
  requires(detail::transpose_why<A, B>(rank_of<X>) == why::ok)
constexpr auto transpose(const X& x, sloc l = sloc::current()) {
  return detail::permuted<detail::exchanged(rank_of<X>, detail::axis_of(A, rank_of<X>), detail::axis_of(B, rank_of<X>))>(x, l);
}
template <int A = -2, int B = -1, Operand X, why Reason = detail::transpose_why<A, B>(rank_of<X>)>
  requires(detail::wrong(Reason))
mistake<Reason> transpose(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

// expand<E...>(x): x broadcast to the shape E..., aligned at the last axis: extents of 1 grow, others must be equal.
template <auto... E, Operand X>
  requires(expandable<shape_of<X>, make_sh<E...>>)
constexpr auto expand(const X& x, sloc l = sloc::current()) {
  return detail::expanded_to<make_sh<E...>>(x, l);
}
template <auto... E, Operand X, why Reason = expandable<shape_of<X>, make_sh<E...>> ? why::ok : why::extents_do_not_expand>
  requires(detail::wrong(Reason))
mistake<Reason> expand(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

// squeeze<A...>(x) drops axes, of static extent 1. unsqueeze<A...>(x) adds axes of extent 1, A being their positions in the
// result.
template <int... A, Operand X>
  requires(detail::squeeze_why<shape_of<X>, A...>() == why::ok)
constexpr auto squeeze(const X& x, sloc l = sloc::current()) {
  return detail::reshaped<typename detail::dropped<shape_of<X>, detail::axes<A...>(rank_of<X>)>::type>(x, l);
}
template <int... A, Operand X, why Reason = detail::squeeze_why<shape_of<X>, A...>()>
  requires(detail::wrong(Reason))
mistake<Reason> squeeze(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);
template <int... A, Operand X>
  requires(detail::axes_why<A...>(rank_of<X> + static_cast<int>(sizeof...(A))) == why::ok)
constexpr auto unsqueeze(const X& x, sloc l = sloc::current()) {
  return detail::reshaped<
      typename detail::inserted<shape_of<X>, detail::axes<A...>(rank_of<X> + static_cast<int>(sizeof...(A)))>::type>(x, l);
}
template <int... A, Operand X, why Reason = detail::axes_why<A...>(rank_of<X> + static_cast<int>(sizeof...(A)))>
  requires(detail::wrong(Reason))
mistake<Reason> unsqueeze(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

}  // namespace kiln::dsl
