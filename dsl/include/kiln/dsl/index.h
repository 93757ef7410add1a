// Index tensors: iota<axis>(x) and indices(x) have x's shape; arange<N>() and grid<N, M>() are members of the program.
#pragma once

#include "kiln/dsl/join.h"

namespace kiln::dsl {

// The position along one axis of S, expanded to S.
template <class D, class S, int Axis>
constexpr auto kiln_iota(builder* b, const sloc& l) {
  using One = sh<extent_at<S, Axis>>;
  constexpr ints column = [] {
    ints r;
    for (int i = 0; i < S::rank; ++i) r.add(i == Axis ? 0 : -1);
    return r;
  }();
  kiln_begin<D, One>(b, op::iota, l);
  const auto line = kiln_result<D, One>(b);
  return kiln_expanded_to<S>(kiln_reshaped<typename kiln_gather<One, column>::type>(line, l), l);
}
template <class D, class S, int... I>
constexpr auto kiln_indices(builder* b, const sloc& l, seq<I...>) {
  return pieces{kiln_iota<D, S, I>(b, l)...};
}

template <class D>
inline constexpr why kiln_position_why = kiln_is_bool<D> ? why::positions_are_numbers__name_another_dtype : why::ok;
template <int Axis, class D, class X>
inline constexpr why iota_why = kiln_axis_ok(Axis, rank_of<X>) ? kiln_position_why<D> : why::axis_out_of_range;
template <int Axis, DType D = i32, Operand X>
  requires(iota_why<Axis, D, X> == why::ok)
constexpr auto iota(const X& x, sloc l = sloc::current()) {
  return kiln_iota<D, shape_of<X>, kiln_axis(Axis, rank_of<X>)>(x.b, l);
}
template <int Axis, DType D = i32, Operand X, why Reason = iota_why<Axis, D, X>>
  requires(kiln_wrong(Reason))
mistake<Reason> iota(const X&) KILN_MISTAKE(KILN_REASONS_INDEX);
// auto [i, j] = indices(x);
template <DType D = i32, Operand X>
  requires(kiln_position_why<D> == why::ok)
constexpr auto indices(const X& x, sloc l = sloc::current()) {
  return kiln_indices<D, shape_of<X>>(x.b, l, make_seq<rank_of<X>>{});
}
template <DType D = i32, Operand X, why Reason = kiln_position_why<D>>
  requires(kiln_wrong(Reason))
mistake<Reason> indices(const X&) KILN_MISTAKE(KILN_REASONS_INDEX);

}  // namespace kiln::dsl
