// Movement inside an axis: slice, pad, flip, roll, repeat, tile. The dtype and the other axes stay. A negative axis counts from
// the end.
#pragma once

#include "kiln/dsl/movement.h"

namespace kiln::dsl {

struct none_ {};
inline constexpr none_ none{};
inline constexpr none_ to_end{};
using record::pad_mode;

namespace detail {

template <auto Bound>
constexpr ext bound(const ext& n, const ext& open) {
  using B = plain<decltype(Bound)>;
  if constexpr (std::is_same_v<B, none_>)
    return open;
  else if constexpr (integer<B>)
    return static_cast<std::int64_t>(Bound) < 0 ? detail::plus(n, detail::to_ext(Bound)) : detail::to_ext(Bound);
  else
    return detail::to_ext(Bound);
}
// -Q, for a dim Q.
template <auto Bound>
constexpr bool is_never_positive() {
  using B = plain<decltype(Bound)>;
  if constexpr (std::is_same_v<B, none_> || integer<B>) {
    return false;
  } else {
    const poly::sum s = poly::parse(detail::text_of(detail::to_ext(Bound).text));
    bool any = false;
    for (int i = 0; i < s.n; ++i) {
      if (s.t[i].c > 0) return false;
      any = any || s.t[i].n > 0;
    }
    return any;
  }
}
struct slice_range {
  ext begin, end, size;
  why reason = why::ok;
};
template <auto Begin, auto End, int Step>
constexpr slice_range slice_bounds(const ext& n) {
  slice_range r;
  const ext last = detail::plus(n, detail::to_ext(-1));
  r.begin = detail::bound<Begin>(n, Step > 0 ? detail::to_ext(0) : last);
  r.end = detail::bound<End>(n, Step > 0 ? n : detail::to_ext(-1));
  if (Step == 0) return {r.begin, r.end, n, why::slice_step_is_zero};
  if (detail::is_never_positive<Begin>() || detail::is_never_positive<End>())
    return {r.begin, r.end, n, why::only_integers_count_from_the_end__write_n_minus_q};
  const ext span = Step > 0 ? detail::plus(r.end, r.begin, -1) : detail::plus(r.begin, r.end, -1);
  r.size = detail::ceil_div(span, Step > 0 ? Step : -Step);
  const ext low = Step > 0 ? r.begin : r.end, high = Step > 0 ? r.end : r.begin;
  const ext above = detail::plus(Step > 0 ? n : last, high, -1);  // must not be negative
  if (detail::is_negative(span) || detail::is_negative(above) ||
      detail::is_negative(Step > 0 ? low : detail::plus(low, detail::to_ext(1))))
    r.reason = why::slice_is_out_of_range;
  return r;
}
template <class S, int Axis, auto Begin, auto End, int Step>
struct sliced {
  static constexpr int axis = detail::axis_of(Axis, S::rank);
  static constexpr slice_range range = detail::slice_bounds<Begin, End, Step>(ext_at<S, axis>);
};
template <class S, int Axis, auto Begin, auto End, int Step>
constexpr why slice_why() {
  if constexpr (!detail::axis_ok(Axis, S::rank))
    return why::axis_out_of_range;
  else
    return sliced<S, Axis, Begin, End, Step>::range.reason;
}
template <int Axis, ext Begin, ext Size, int Step, class X>
constexpr auto cut(const X& x, const sloc& l) {
  using S = replace_t<shape_of<X>, Axis, Size>;
  const int id = x.read_(l);
  detail::begin_node<dtype_of<X>, S>(x.b, op::slice, l);
  x.b->src(id);
  for (int i = 0; i < S::rank; ++i) x.b->attr(i == Axis ? attr<Begin> : record::extent{});
  for (int i = 0; i < S::rank; ++i) x.b->attr(i == Axis ? Step : 1);
  return detail::result<dtype_of<X>, S>(x.b);
}

template <int A, int... More, class X>
constexpr auto flipped(const X& x, const sloc& l) {
  constexpr int axis = detail::axis_of(A, rank_of<X>);
  using R = sliced<shape_of<X>, axis, none, none, -1>;
  const auto r = detail::cut<axis, R::range.begin, R::range.size, -1>(x, l);
  if constexpr (sizeof...(More) == 0)
    return r;
  else
    return detail::flipped<More...>(r, l);
}

template <class S, int Axis, auto Before, auto After, pad_mode Mode>
constexpr why pad_why() {
  if constexpr (!detail::axis_ok(Axis, S::rank)) {
    return why::axis_out_of_range;
  } else {
    const ext before = detail::to_ext(Before), after = detail::to_ext(After), n = ext_at<S, detail::axis_of(Axis, S::rank)>;
    if (detail::is_negative(before) || detail::is_negative(after)) return why::padding_is_negative__write_slice;
    if (Mode == pad_mode::constant || !detail::is_static(n)) return why::ok;
    const std::int64_t size = detail::value_of(n);
    const std::int64_t limit = Mode == pad_mode::edge   ? (size > 0 ? std::int64_t{1} << 40 : 0)
                               : Mode == pad_mode::wrap ? size
                                                        : size - 1;
    const bool fits = (!detail::is_static(before) || detail::value_of(before) <= limit) &&
                      (!detail::is_static(after) || detail::value_of(after) <= limit);
    return fits ? why::ok : why::padding_is_larger_than_the_axis;
  }
}
template <class X, class V>
constexpr why fill_why() {
  if constexpr (Operand<V>)
    return rank_of<V> == 0 ? detail::fits<V, dtype_of<X>>() : why::ranks_differ;
  else if constexpr (arithmetic<V>)
    return detail::fits<V, dtype_of<X>>();
  else
    return why::literal_does_not_fit_the_dtype__write_cast_or_a_literal_of_its_kind;
}
template <int Axis, ext Before, ext After, pad_mode Mode, class X, class V>
constexpr auto padded(const X& x, const V& value, const sloc& l) {
  constexpr ext total = detail::plus(detail::plus(ext_at<shape_of<X>, Axis>, Before), After);
  using D = dtype_of<X>;
  using S = replace_t<shape_of<X>, Axis, total>;
  const int id = x.read_(l), fill = detail::node_of<D>(x.b, value, l);
  detail::begin_node<D, S>(x.b, op::pad, l);
  x.b->src(id);
  x.b->src(fill);
  for (int i = 0; i < S::rank; ++i) x.b->attr(i == Axis ? attr<Before> : record::extent{});
  x.b->attr(static_cast<int>(Mode));
  return detail::result<D, S>(x.b);
}
template <class D>
constexpr auto zero_of() {
  if constexpr (is_bool<D>)
    return false;
  else
    return 0;
}

template <int Axis, int New, ext Times, class X>
constexpr auto repeated(const X& x, const sloc& l) {
  constexpr ints at = [] {
    ints r;
    r.add(New);
    return r;
  }();
  using One = typename inserted<shape_of<X>, at>::type;
  using Many = replace_t<One, New, Times>;
  constexpr ext total = detail::times(ext_at<shape_of<X>, Axis>, Times);
  return detail::reshaped<replace_t<shape_of<X>, Axis, total>>(detail::expanded_to<Many>(detail::reshaped<One>(x, l), l), l);
}
template <int Axis, auto N>
constexpr why repeat_why(int rank) {
  if (!detail::axis_ok(Axis, rank)) return why::axis_out_of_range;
  return detail::is_negative(detail::to_ext(N)) ? why::repeat_count_is_negative : why::ok;
}

template <int Axis, auto N, auto... More, class X>
constexpr auto tiled(const X& x, const sloc& l) {
  const auto r = detail::repeated<Axis, Axis, detail::to_ext(N)>(x, l);
  if constexpr (sizeof...(More) == 0)
    return r;
  else
    return detail::tiled<Axis + 1, More...>(r, l);
}
template <auto... N>
constexpr why tile_why(int rank) {
  if (sizeof...(N) == 0 || static_cast<int>(sizeof...(N)) > rank) return why::axis_out_of_range;
  return (detail::is_negative(detail::to_ext(N)) || ...) ? why::repeat_count_is_negative : why::ok;
}

}  // namespace detail

// slice<axis, begin, end, step>(x): the elements begin, begin + step, .. before end. Negative integers count from the end, a
// bound of dims does not: write N - Q. `none` is the open end in the direction of the step. Bounds that are known to be outside
// of the axis are a mistake. Examples: slice<0, 1, none>(x), slice<1, none, -1>(x), slice<0, 0, N - 2>(x), and
// slice<0, none, none, -1>(x), which reverses an axis.
template <int Axis, auto Begin, auto End = none, int Step = 1, Operand X>
  requires(detail::slice_why<shape_of<X>, Axis, Begin, End, Step>() == why::ok)
constexpr auto slice(const X& x, sloc l = sloc::current()) {
  using R = detail::sliced<shape_of<X>, Axis, Begin, End, Step>;
  return detail::cut<R::axis, R::range.begin, R::range.size, Step>(x, l);
}
template <int Axis, auto Begin, auto End = none, int Step = 1, Operand X,
          why Reason = detail::slice_why<shape_of<X>, Axis, Begin, End, Step>()>
  requires(detail::wrong(Reason))
mistake<Reason> slice(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

// flip<A...>(x): the elements of these axes in reverse order.
template <int... A, Operand X>
  requires(sizeof...(A) > 0 && detail::axes_why<A...>(rank_of<X>) == why::ok)
constexpr auto flip(const X& x, sloc l = sloc::current()) {
  return detail::flipped<A...>(x, l);
}
template <int... A, Operand X, why Reason = detail::axes_why<A...>(rank_of<X>)>
  requires(detail::wrong(Reason))
mistake<Reason> flip(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

// pad<axis, before, after, mode>(x): elements on both sides of an axis. Mode constant fills with zeros, or with the scalar
// of pad<axis, before, after>(x, value); edge repeats the outermost element, reflect mirrors without it, wrap is periodic.
template <int Axis, auto Before, auto After, pad_mode Mode = pad_mode::constant, Operand X>
  requires(detail::pad_why<shape_of<X>, Axis, Before, After, Mode>() == why::ok)
constexpr auto pad(const X& x, sloc l = sloc::current()) {
  return detail::padded<detail::axis_of(Axis, rank_of<X>), detail::to_ext(Before), detail::to_ext(After), Mode>(
      x, detail::zero_of<dtype_of<X>>(), l);
}
template <int Axis, auto Before, auto After, Operand X, Arg V>
  requires(detail::pad_why<shape_of<X>, Axis, Before, After, pad_mode::constant>() == why::ok &&
           detail::fill_why<X, V>() == why::ok)
constexpr auto pad(const X& x, const V& value, sloc l = sloc::current()) {
  return detail::padded<detail::axis_of(Axis, rank_of<X>), detail::to_ext(Before), detail::to_ext(After), pad_mode::constant>(
      x, value, l);
}
template <int Axis, auto Before, auto After, pad_mode Mode = pad_mode::constant, Operand X,
          why Reason = detail::pad_why<shape_of<X>, Axis, Before, After, Mode>()>
  requires(detail::wrong(Reason))
mistake<Reason> pad(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);
template <class S, int Axis, auto Before, auto After, class X, class V>
inline constexpr why pad_value_why = detail::wrong(detail::pad_why<S, Axis, Before, After, pad_mode::constant>())
                                         ? detail::pad_why<S, Axis, Before, After, pad_mode::constant>()
                                         : detail::fill_why<X, V>();
template <int Axis, auto Before, auto After, Operand X, Arg V,
          why Reason = pad_value_why<shape_of<X>, Axis, Before, After, X, V>>
  requires(detail::wrong(Reason))
mistake<Reason> pad(const X&, const V&) KILN_MISTAKE(KILN_REASONS_MOVE);

// roll<axis, shift>(x): element i moves to (i + shift) mod n, for any integer `shift`.
template <int Axis, int Shift, Operand X>
  requires(detail::axis_ok(Axis, rank_of<X>))
constexpr auto roll(const X& x, sloc l = sloc::current()) {
  const int id = x.read_(l);
  detail::begin_node<dtype_of<X>, shape_of<X>>(x.b, op::roll, l);
  x.b->src(id);
  x.b->attr(detail::axis_of(Axis, rank_of<X>));
  x.b->attr(Shift);
  return detail::result<dtype_of<X>, shape_of<X>>(x.b);
}
template <int Axis, int Shift, Operand X, why Reason = detail::axis_ok(Axis, rank_of<X>) ? why::ok : why::axis_out_of_range>
  requires(detail::wrong(Reason))
mistake<Reason> roll(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

// repeat<axis, n>(x): each element n times in a row. tile<n...>(x): the whole tensor n times along each of the last axes.
template <int Axis, auto N, Operand X>
  requires(detail::repeat_why<Axis, N>(rank_of<X>) == why::ok)
constexpr auto repeat(const X& x, sloc l = sloc::current()) {
  constexpr int axis = detail::axis_of(Axis, rank_of<X>);
  return detail::repeated<axis, axis + 1, detail::to_ext(N)>(x, l);
}
template <int Axis, auto N, Operand X, why Reason = detail::repeat_why<Axis, N>(rank_of<X>)>
  requires(detail::wrong(Reason))
mistake<Reason> repeat(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

template <auto... N, Operand X>
  requires(detail::tile_why<N...>(rank_of<X>) == why::ok)
constexpr auto tile(const X& x, sloc l = sloc::current()) {
  return detail::tiled<rank_of<X> - static_cast<int>(sizeof...(N)), N...>(x, l);
}
template <auto... N, Operand X, why Reason = detail::tile_why<N...>(rank_of<X>)>
  requires(detail::wrong(Reason))
mistake<Reason> tile(const X&) KILN_MISTAKE(KILN_REASONS_MOVE);

}  // namespace kiln::dsl
