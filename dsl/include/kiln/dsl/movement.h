// Movement of whole axes: reshape, permute, expand, squeeze. They move no data: the compiler turns them into index arithmetic.
#pragma once

#include "kiln/dsl/math.h"

namespace kiln::dsl {

template <class S, class X>
constexpr auto kiln_move(op o, const X& x, const sloc& l) {
  const int id = x.kiln_read(l);
  kiln_begin<dtype_of<X>, S>(x.b, o, l);
  x.b->src(id);
  return kiln_result<dtype_of<X>, S>(x.b);
}
template <class X>
constexpr auto kiln_as_value(const X& x, const sloc& l) {
  return expr_<dtype_of<X>, shape_of<X>>(x.b, x.kiln_read(l));
}
// The number of elements is known to be equal.
template <class S, class X>
constexpr auto kiln_reshaped(const X& x, const sloc& l) {
  if constexpr (same_shape<shape_of<X>, S>)
    return expr_<dtype_of<X>, S>(x.b, x.kiln_read(l));
  else
    return kiln_move<S>(op::reshape, x, l);
}
template <class S, class X>
constexpr auto kiln_expanded_to(const X& x, const sloc& l) {
  return expr_<dtype_of<X>, S>(x.b, kiln_expand<dtype_of<X>, shape_of<X>, S>(x.b, x.kiln_read(l), l));
}
template <ints P, class X>
constexpr auto kiln_permuted(const X& x, const sloc& l) {
  const int id = x.kiln_read(l);
  using S = typename kiln_gather<shape_of<X>, P>::type;
  kiln_begin<dtype_of<X>, S>(x.b, op::permute, l);
  x.b->src(id);
  for (int i = 0; i < P.n; ++i) x.b->attr(P.v[i]);
  return kiln_result<dtype_of<X>, S>(x.b);
}

// stored(x): x, computed once into a buffer. What reads it is another kernel.
template <Operand X>
constexpr auto stored(const X& x, sloc l = sloc::current()) {
  if (x.b->kernel() != 0) x.b->fail(why::stored_inside_a_kernel, x.b->at(l));
  return kiln_move<shape_of<X>>(op::stage, x, l);
}

// reshape<E...>(x): the same elements in row-major order; one extent may be -1 and is inferred.
template <auto E>
constexpr bool kiln_inferred() {
  if constexpr (kiln_int<kiln_plain<decltype(E)>>)
    return E == static_cast<kiln_plain<decltype(E)>>(-1);
  else
    return false;
}
template <auto... E>
inline constexpr ext kiln_product = [] {
  ext r = kiln_ext(1);
  ((kiln_inferred<E>() ? void() : void(r = kiln_mul(r, kiln_ext(E)))), ...);
  return r;
}();
template <class S, auto... E>
struct kiln_reshape {
  static constexpr int unknown = (0 + ... + (kiln_inferred<E>() ? 1 : 0));
  static constexpr ext missing = unknown == 1 ? kiln_exact_div(kiln_count<S>, kiln_product<E...>) : kiln_ext(1);
  static constexpr why reason = unknown > 1            ? why::only_one_extent_may_be_inferred
                                : missing.text[0] == 0 ? why::inferred_extent_does_not_divide
                                : unknown == 0 && !kiln_same(kiln_count<S>, kiln_product<E...>)
                                    ? why::reshape_changes_the_number_of_elements
                                    : why::ok;
};
template <class S, auto... E>
using reshape_t = sh<kiln_norm<(kiln_inferred<E>() ? kiln_reshape<S, E...>::missing : kiln_ext(E))>...>;
template <auto... E, Operand X>
  requires(kiln_reshape<shape_of<X>, E...>::reason == why::ok)
constexpr auto reshape(const X& x, sloc l = sloc::current()) {
  return kiln_reshaped<reshape_t<shape_of<X>, E...>>(x, l);
}
template <auto... E, Operand X, why Reason = kiln_reshape<shape_of<X>, E...>::reason>
  requires(kiln_wrong(Reason))
mistake<Reason> reshape(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);
template <Operand X>
constexpr auto flatten(const X& x, sloc l = sloc::current()) {
  return kiln_reshaped<sh<kiln_norm<kiln_count<shape_of<X>>>>>(x, l);
}

// Axis lists: negative axes count from the end.
template <int... A>
constexpr ints kiln_axes([[maybe_unused]] int rank) {
  ints r;
  (r.add(kiln_axis(A, rank)), ...);
  return r;
}
template <int... A>
constexpr why kiln_axes_why([[maybe_unused]] int rank) {
  if (!(kiln_axis_ok(A, rank) && ...)) return why::axis_out_of_range;
  ints seen;
  bool twice = false;
  ((seen.has(kiln_axis(A, rank)) ? void(twice = true) : seen.add(kiln_axis(A, rank))), ...);
  return twice ? why::axis_is_named_twice : why::ok;
}

// permute<A...>(x): result axis i is axis A[i] of x.
template <int... A>
constexpr why kiln_permute_why(int rank) {
  const why w = kiln_axes_why<A...>(rank);
  if (kiln_wrong(w)) return w;
  return static_cast<int>(sizeof...(A)) == rank ? why::ok : why::permutation_must_name_every_axis_once;
}
template <int... A, Operand X>
  requires(kiln_permute_why<A...>(rank_of<X>) == why::ok)
constexpr auto permute(const X& x, sloc l = sloc::current()) {
  return kiln_permuted<kiln_axes<A...>(rank_of<X>)>(x, l);
}
template <int... A, Operand X, why Reason = kiln_permute_why<A...>(rank_of<X>)>
  requires(kiln_wrong(Reason))
mistake<Reason> permute(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

// transpose(x) exchanges the last two axes, transpose<A, B>(x) any two.
constexpr ints kiln_exchange(int rank, int a, int b) {
  ints r;
  for (int i = 0; i < rank; ++i) r.add(i == a ? b : i == b ? a : i);
  return r;
}
template <int A, int B>
constexpr why kiln_transpose_why(int rank) {
  return kiln_axis_ok(A, rank) && kiln_axis_ok(B, rank) ? why::ok : why::axis_out_of_range;
}
template <int A = -2, int B = -1, Operand X>
  requires(kiln_transpose_why<A, B>(rank_of<X>) == why::ok)
constexpr auto transpose(const X& x, sloc l = sloc::current()) {
  return kiln_permuted<kiln_exchange(rank_of<X>, kiln_axis(A, rank_of<X>), kiln_axis(B, rank_of<X>))>(x, l);
}
template <int A = -2, int B = -1, Operand X, why Reason = kiln_transpose_why<A, B>(rank_of<X>)>
  requires(kiln_wrong(Reason))
mistake<Reason> transpose(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

// expand<E...>(x): broadcast to the shape E..., aligned at the last axis.
template <auto... E, Operand X>
  requires(expandable<shape_of<X>, make_sh<E...>>)
constexpr auto expand(const X& x, sloc l = sloc::current()) {
  return kiln_expanded_to<make_sh<E...>>(x, l);
}
template <auto... E, Operand X, why Reason = expandable<shape_of<X>, make_sh<E...>> ? why::ok : why::extents_do_not_expand>
  requires(kiln_wrong(Reason))
mistake<Reason> expand(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

// squeeze<A...>(x) drops axes of extent 1; unsqueeze<A...>(x) adds axes, A being positions in the result.
template <class S, int... A>
constexpr why kiln_squeeze_why() {
  const why w = kiln_axes_why<A...>(S::rank);
  if (kiln_wrong(w)) return w;
  const ints axes = kiln_axes<A...>(S::rank);
  for (int i = 0; i < axes.n; ++i)
    if (!kiln_is(shape_v<S>->extents[axes.v[i]], 1)) return why::squeezed_axis_must_have_extent_1;
  return why::ok;
}
constexpr ints kiln_without(int rank, const ints& axes) {
  ints r;
  for (int i = 0; i < rank; ++i)
    if (!axes.has(i)) r.add(i);
  return r;
}
constexpr ints kiln_with_ones(int rank, const ints& at) {
  ints r;
  int next = 0;
  for (int i = 0; i < rank + at.n; ++i) r.add(at.has(i) ? -1 : next++);
  return r;
}
template <class S, ints M>
struct kiln_dropped {
  static constexpr ints kept = kiln_without(S::rank, M);
  using type = typename kiln_gather<S, kept>::type;
};
template <class S, ints M>
struct kiln_inserted {
  static constexpr ints map = kiln_with_ones(S::rank, M);
  using type = typename kiln_gather<S, map>::type;
};
template <int... A, Operand X>
  requires(kiln_squeeze_why<shape_of<X>, A...>() == why::ok)
constexpr auto squeeze(const X& x, sloc l = sloc::current()) {
  return kiln_reshaped<typename kiln_dropped<shape_of<X>, kiln_axes<A...>(rank_of<X>)>::type>(x, l);
}
template <int... A, Operand X, why Reason = kiln_squeeze_why<shape_of<X>, A...>()>
  requires(kiln_wrong(Reason))
mistake<Reason> squeeze(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);
template <int... A, Operand X>
  requires(kiln_axes_why<A...>(rank_of<X> + static_cast<int>(sizeof...(A))) == why::ok)
constexpr auto unsqueeze(const X& x, sloc l = sloc::current()) {
  return kiln_reshaped<typename kiln_inserted<shape_of<X>, kiln_axes<A...>(rank_of<X> + static_cast<int>(sizeof...(A)))>::type>(
      x, l);
}
template <int... A, Operand X, why Reason = kiln_axes_why<A...>(rank_of<X> + static_cast<int>(sizeof...(A)))>
  requires(kiln_wrong(Reason))
mistake<Reason> unsqueeze(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

}  // namespace kiln::dsl
