// Index tensors: iota<axis, D>(x) has the shape of x and the positions along one axis, as dtype D (i32 by default; numbers);
// indices(x) has one i32 tensor for each axis. arange<N>() and grid<N, M>() are members of the program.
#pragma once

#include "kiln/dsl/join.h"

namespace kiln::dsl {

namespace detail {

// The positions along one axis of S, expanded to S.
template <class D, class S, int Axis>
constexpr auto positions(builder* b, const sloc& l) {
  using One = sh<extent_at<S, Axis>>;
  constexpr ints column = [] {
    ints r;
    for (int i = 0; i < S::rank; ++i) r.add(i == Axis ? 0 : -1);
    return r;
  }();
  detail::begin_node<D, One>(b, op::iota, l);
  const auto line = detail::result<D, One>(b);
  return detail::expanded_to<S>(detail::reshaped<typename gathered<One, column>::type>(line, l), l);
}
template <class D, class S, int... I>
constexpr auto all_positions(builder* b, const sloc& l, seq<I...>) {
  return parts{detail::positions<D, S, I>(b, l)...};
}

template <class D>
inline constexpr why position_why = is_bool<D> ? why::indices_are_numbers__name_another_dtype : why::ok;

}  // namespace detail

template <int Axis, class D, class X>
inline constexpr why iota_why = detail::axis_ok(Axis, rank_of<X>) ? detail::position_why<D> : why::axis_out_of_range;
template <int Axis, DType D = i32, Operand X>
  requires(iota_why<Axis, D, X> == why::ok)
constexpr auto iota(const X& x, sloc l = sloc::current()) {
  return detail::positions<D, shape_of<X>, detail::axis_of(Axis, rank_of<X>)>(x.b, l);
}
template <int Axis, DType D = i32, Operand X, why Reason = iota_why<Axis, D, X>>
  requires(detail::wrong(Reason))
mistake<Reason> iota(const X&) KILN_MISTAKE(KILN_REASONS_INDEX);
// auto [i, j] = indices(x);
template <DType D = i32, Operand X>
  requires(detail::position_why<D> == why::ok)
constexpr auto indices(const X& x, sloc l = sloc::current()) {
  return detail::all_positions<D, shape_of<X>>(x.b, l, make_seq<rank_of<X>>{});
}
template <DType D = i32, Operand X, why Reason = detail::position_why<D>>
  requires(detail::wrong(Reason))
mistake<Reason> indices(const X&) KILN_MISTAKE(KILN_REASONS_INDEX);

}  // namespace kiln::dsl
