// Movement inside an axis: slice, pad, flip, roll, split, repeat, tile, concat, stack.
#pragma once

#include "kiln/dsl/movement.h"

namespace kiln::dsl {

// slice<axis, begin, end, step>(x). Negative integers count from the end; `none` is the open end in the direction of the step:
// slice<0, 1, none>(x), slice<1, none, -1>(x), slice<0, none, none, -1>(x) (reversed), slice<0, 0, N - 2>(x).
struct kiln_none {};
inline constexpr kiln_none none{};
inline constexpr kiln_none to_end{};

template <auto Bound>
constexpr ext kiln_bound(const ext& n, const ext& open) {
  using B = kiln_plain<decltype(Bound)>;
  if constexpr (std::is_same_v<B, kiln_none>)
    return open;
  else if constexpr (kiln_int<B>)
    return static_cast<std::int64_t>(Bound) < 0 ? kiln_add(n, kiln_ext(Bound)) : kiln_ext(Bound);
  else
    return kiln_ext(Bound);
}
struct kiln_slice_range {
  ext begin, end, size;
  why reason = why::ok;
};
template <auto Begin, auto End, int Step>
constexpr kiln_slice_range kiln_slice(const ext& n) {
  kiln_slice_range r;
  const ext last = kiln_add(n, kiln_ext(-1));
  r.begin = kiln_bound<Begin>(n, Step > 0 ? kiln_ext(0) : last);
  r.end = kiln_bound<End>(n, Step > 0 ? n : kiln_ext(-1));
  if (Step == 0) return {r.begin, r.end, n, why::slice_step_is_zero};
  const ext span = Step > 0 ? kiln_add(r.end, r.begin, -1) : kiln_add(r.begin, r.end, -1);
  r.size = kiln_ceil_div(span, Step > 0 ? Step : -Step);
  const ext low = Step > 0 ? r.begin : r.end, high = Step > 0 ? r.end : r.begin;
  const ext above = kiln_add(Step > 0 ? n : last, high, -1);  // must not be negative
  if (kiln_negative(span) || kiln_negative(above) || kiln_negative(Step > 0 ? low : kiln_add(low, kiln_ext(1))))
    r.reason = why::slice_is_out_of_range;
  return r;
}
template <class S, int Axis, auto Begin, auto End, int Step>
struct kiln_sliced {
  static constexpr int axis = kiln_axis(Axis, S::rank);
  static constexpr kiln_slice_range range = kiln_slice<Begin, End, Step>(ext_at<S, axis>);
};
template <class S, int Axis, auto Begin, auto End, int Step>
constexpr why kiln_slice_why() {
  if constexpr (!kiln_axis_ok(Axis, S::rank))
    return why::axis_out_of_range;
  else
    return kiln_sliced<S, Axis, Begin, End, Step>::range.reason;
}
template <int Axis, ext Begin, ext Size, int Step, class X>
constexpr auto kiln_cut(const X& x, const sloc& l) {
  using S = replace_t<shape_of<X>, Axis, Size>;
  const int id = x.kiln_read(l);
  kiln_begin<dtype_of<X>, S>(x.b, op::slice, l);
  x.b->src(id);
  for (int i = 0; i < S::rank; ++i) x.b->attr(i == Axis ? kiln_attr<Begin> : record::extent{});
  for (int i = 0; i < S::rank; ++i) x.b->attr(i == Axis ? Step : 1);
  return kiln_result<dtype_of<X>, S>(x.b);
}
template <int Axis, auto Begin, auto End = none, int Step = 1, Operand X>
  requires(kiln_slice_why<shape_of<X>, Axis, Begin, End, Step>() == why::ok)
constexpr auto slice(const X& x, sloc l = sloc::current()) {
  using R = kiln_sliced<shape_of<X>, Axis, Begin, End, Step>;
  return kiln_cut<R::axis, R::range.begin, R::range.size, Step>(x, l);
}
template <int Axis, auto Begin, auto End = none, int Step = 1, Operand X,
          why Reason = kiln_slice_why<shape_of<X>, Axis, Begin, End, Step>()>
  requires(kiln_wrong(Reason))
mistake<Reason> slice(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

// flip<A...>(x)
template <int A, int... More, class X>
constexpr auto kiln_flips(const X& x, const sloc& l) {
  constexpr int axis = kiln_axis(A, rank_of<X>);
  using R = kiln_sliced<shape_of<X>, axis, none, none, -1>;
  const auto r = kiln_cut<axis, R::range.begin, R::range.size, -1>(x, l);
  if constexpr (sizeof...(More) == 0)
    return r;
  else
    return kiln_flips<More...>(r, l);
}
template <int... A, Operand X>
  requires(sizeof...(A) > 0 && kiln_axes_why<A...>(rank_of<X>) == why::ok)
constexpr auto flip(const X& x, sloc l = sloc::current()) {
  return kiln_flips<A...>(x, l);
}
template <int... A, Operand X, why Reason = kiln_axes_why<A...>(rank_of<X>)>
  requires(kiln_wrong(Reason))
mistake<Reason> flip(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

// pad<axis, before, after, mode>(x, value): value fills in mode constant (default 0).
enum class pad_mode { constant, edge, reflect, wrap };

template <class S, int Axis, auto Before, auto After, pad_mode Mode>
constexpr why kiln_pad_why() {
  if constexpr (!kiln_axis_ok(Axis, S::rank)) {
    return why::axis_out_of_range;
  } else {
    const ext before = kiln_ext(Before), after = kiln_ext(After), n = ext_at<S, kiln_axis(Axis, S::rank)>;
    if (kiln_negative(before) || kiln_negative(after)) return why::padding_is_negative;
    if (Mode == pad_mode::constant || !kiln_static(n)) return why::ok;
    const std::int64_t size = kiln_value(n);
    const std::int64_t limit = Mode == pad_mode::edge   ? (size > 0 ? std::int64_t{1} << 40 : 0)
                               : Mode == pad_mode::wrap ? size
                                                        : size - 1;
    const bool fits =
        (!kiln_static(before) || kiln_value(before) <= limit) && (!kiln_static(after) || kiln_value(after) <= limit);
    return fits ? why::ok : why::padding_is_larger_than_the_axis;
  }
}
template <class X, class V>
constexpr why kiln_fill_why() {
  if constexpr (Operand<V>)
    return rank_of<V> == 0 ? kiln_fits<V, dtype_of<X>>() : why::ranks_differ;
  else if constexpr (kiln_arithmetic<V>)
    return kiln_fits<V, dtype_of<X>>();
  else
    return why::literal_does_not_fit_the_dtype__write_cast_or_a_literal_of_its_kind;
}
template <int Axis, ext Before, ext After, pad_mode Mode, class X, class V>
constexpr auto kiln_padded(const X& x, const V& value, const sloc& l) {
  constexpr ext total = kiln_add(kiln_add(ext_at<shape_of<X>, Axis>, Before), After);
  using D = dtype_of<X>;
  using S = replace_t<shape_of<X>, Axis, total>;
  const int id = x.kiln_read(l), fill = kiln_id<D>(x.b, value, l);
  kiln_begin<D, S>(x.b, op::pad, l);
  x.b->src(id);
  x.b->src(fill);
  for (int i = 0; i < S::rank; ++i) x.b->attr(i == Axis ? kiln_attr<Before> : record::extent{});
  x.b->attr(static_cast<int>(Mode));
  return kiln_result<D, S>(x.b);
}
template <class D>
constexpr auto kiln_zero() {
  if constexpr (kiln_is_bool<D>)
    return false;
  else
    return 0;
}
template <int Axis, auto Before, auto After, pad_mode Mode = pad_mode::constant, Operand X>
  requires(kiln_pad_why<shape_of<X>, Axis, Before, After, Mode>() == why::ok)
constexpr auto pad(const X& x, sloc l = sloc::current()) {
  return kiln_padded<kiln_axis(Axis, rank_of<X>), kiln_ext(Before), kiln_ext(After), Mode>(x, kiln_zero<dtype_of<X>>(), l);
}
template <int Axis, auto Before, auto After, Operand X, Arg V>
  requires(kiln_pad_why<shape_of<X>, Axis, Before, After, pad_mode::constant>() == why::ok && kiln_fill_why<X, V>() == why::ok)
constexpr auto pad(const X& x, const V& value, sloc l = sloc::current()) {
  return kiln_padded<kiln_axis(Axis, rank_of<X>), kiln_ext(Before), kiln_ext(After), pad_mode::constant>(x, value, l);
}
template <int Axis, auto Before, auto After, pad_mode Mode = pad_mode::constant, Operand X,
          why Reason = kiln_pad_why<shape_of<X>, Axis, Before, After, Mode>()>
  requires(kiln_wrong(Reason))
mistake<Reason> pad(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);
template <class S, int Axis, auto Before, auto After, class X, class V>
inline constexpr why pad_value_why = kiln_wrong(kiln_pad_why<S, Axis, Before, After, pad_mode::constant>())
                                         ? kiln_pad_why<S, Axis, Before, After, pad_mode::constant>()
                                         : kiln_fill_why<X, V>();
template <int Axis, auto Before, auto After, Operand X, Arg V,
          why Reason = pad_value_why<shape_of<X>, Axis, Before, After, X, V>>
  requires(kiln_wrong(Reason))
mistake<Reason> pad(const X&, const V&) KILN_MISTAKE(KILN_REASONS_MOVE);

// roll<axis, shift>(x): element i goes to (i + shift) mod n, whatever n is.
template <int Axis, int Shift, Operand X>
  requires(kiln_axis_ok(Axis, rank_of<X>))
constexpr auto roll(const X& x, sloc l = sloc::current()) {
  const int id = x.kiln_read(l);
  kiln_begin<dtype_of<X>, shape_of<X>>(x.b, op::roll, l);
  x.b->src(id);
  x.b->attr(kiln_axis(Axis, rank_of<X>));
  x.b->attr(Shift);
  return kiln_result<dtype_of<X>, shape_of<X>>(x.b);
}
template <int Axis, int Shift, Operand X, why Reason = kiln_axis_ok(Axis, rank_of<X>) ? why::ok : why::axis_out_of_range>
  requires(kiln_wrong(Reason))
mistake<Reason> roll(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

// repeat<axis, n>(x): each element n times; tile<n...>(x): the whole tensor n times along each of the last axes.
template <int Axis, int New, ext Times, class X>
constexpr auto kiln_repeated(const X& x, const sloc& l) {
  constexpr ints at = [] {
    ints r;
    r.add(New);
    return r;
  }();
  using One = typename kiln_inserted<shape_of<X>, at>::type;
  using Many = replace_t<One, New, Times>;
  constexpr ext total = kiln_mul(ext_at<shape_of<X>, Axis>, Times);
  return kiln_reshaped<replace_t<shape_of<X>, Axis, total>>(kiln_expanded_to<Many>(kiln_reshaped<One>(x, l), l), l);
}
template <int Axis, auto N>
constexpr why kiln_repeat_why(int rank) {
  if (!kiln_axis_ok(Axis, rank)) return why::axis_out_of_range;
  return kiln_negative(kiln_ext(N)) ? why::repeat_count_is_negative : why::ok;
}
template <int Axis, auto N, Operand X>
  requires(kiln_repeat_why<Axis, N>(rank_of<X>) == why::ok)
constexpr auto repeat(const X& x, sloc l = sloc::current()) {
  constexpr int axis = kiln_axis(Axis, rank_of<X>);
  return kiln_repeated<axis, axis + 1, kiln_ext(N)>(x, l);
}
template <int Axis, auto N, Operand X, why Reason = kiln_repeat_why<Axis, N>(rank_of<X>)>
  requires(kiln_wrong(Reason))
mistake<Reason> repeat(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

template <int Axis, auto N, auto... More, class X>
constexpr auto kiln_tiled(const X& x, const sloc& l) {
  const auto r = kiln_repeated<Axis, Axis, kiln_ext(N)>(x, l);
  if constexpr (sizeof...(More) == 0)
    return r;
  else
    return kiln_tiled<Axis + 1, More...>(r, l);
}
template <auto... N>
constexpr why kiln_tile_why(int rank) {
  if (sizeof...(N) == 0 || static_cast<int>(sizeof...(N)) > rank) return why::axis_out_of_range;
  return (kiln_negative(kiln_ext(N)) || ...) ? why::repeat_count_is_negative : why::ok;
}
template <auto... N, Operand X>
  requires(kiln_tile_why<N...>(rank_of<X>) == why::ok)
constexpr auto tile(const X& x, sloc l = sloc::current()) {
  return kiln_tiled<rank_of<X> - static_cast<int>(sizeof...(N)), N...>(x, l);
}
template <auto... N, Operand X, why Reason = kiln_tile_why<N...>(rank_of<X>)>
  requires(kiln_wrong(Reason))
mistake<Reason> tile(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

}  // namespace kiln::dsl
