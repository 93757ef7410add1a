// Shapes as types: sh<extent...>, where an extent is a long, a dim or a polynomial; and operations on them.
#pragma once

#include "kiln/dsl/extent.h"

namespace kiln::dsl {

namespace detail {

template <int I, auto V>
struct leaf {};
template <class, auto...>
struct leaves;
template <int... I, auto... E>
struct leaves<seq<I...>, E...> : leaf<I, E>... {};
template <int I, auto V>
constexpr auto leaf_value(const leaf<I, V>*) {
  return V;
}

}  // namespace detail

template <auto... E>
struct sh {
  static constexpr int rank = sizeof...(E);
  using leaves = detail::leaves<make_seq<sizeof...(E)>, E...>;
};
template <auto... E>
using make_sh = sh<extent_v<E>...>;

template <class S, int I>
inline constexpr auto extent_at = detail::leaf_value<I>(static_cast<const typename S::leaves*>(nullptr));
template <class S, int I>
inline constexpr ext ext_at = detail::to_ext(extent_at<S, I>);

namespace detail {

template <const record::symbol*... K>
inline constexpr const record::symbol* known_symbols[] = {K..., nullptr};

constexpr record::extent record_of(long v) { return {v, nullptr}; }
template <str N, facts F>
constexpr record::extent record_of(dim<N, F>) {
  if constexpr (detail::is_default(F))
    return {0, dim<N, F>::symbol.name};
  else
    return {0, dim<N, F>::symbol.name, known_symbols<&dim<N, F>::symbol>};
}
template <str T, const record::symbol*... K>
constexpr record::extent record_of(polynomial<T, K...>) {
  return {0, polynomial<T, K...>::text.c, known_symbols<K...>};
}
// An extent as an attribute of a node.
template <ext E>
inline constexpr record::extent attr = detail::record_of(extent_v<E>);

template <class S>
struct shape_table;
template <auto... E>
struct shape_table<sh<E...>> {
  static constexpr record::extent extents[] = {detail::record_of(E)..., {0, nullptr}};
  static constexpr record::shape value{sizeof...(E), extents};
};

constexpr bool same(const record::extent& a, const record::extent& b) {
  if (a.text == nullptr || b.text == nullptr) return a.text == b.text && a.value == b.value;
  return a.text == b.text || detail::compare_text(detail::text_of(a.text), detail::text_of(b.text)) == 0;
}
constexpr bool is(const record::extent& a, std::int64_t v) { return a.text == nullptr && a.value == v; }
constexpr bool same(const record::shape& a, const record::shape& b) {
  if (a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; ++i)
    if (!detail::same(a.extents[i], b.extents[i])) return false;
  return true;
}

}  // namespace detail

template <class S>
inline constexpr const record::shape* shape_v = &detail::shape_table<S>::value;
template <class A, class B>
inline constexpr bool same_shape = detail::same(*shape_v<A>, *shape_v<B>);
template <class A>
inline constexpr bool same_shape<A, A> = true;

namespace detail {

// The shape of picked extents: M.v[i] is an axis of S, or -1 for a new axis of extent 1.
template <class S, int I>
constexpr auto pick() {
  if constexpr (I < 0)
    return 1L;
  else
    return extent_at<S, I>;
}
template <class S, ints M, class = make_seq<M.n>>
struct gathered;
template <class S, ints M, int... I>
struct gathered<S, M, seq<I...>> {
  using type = sh<detail::pick<S, M.v[I]>()...>;
};
template <class S, ints M>
using gather_t = typename gathered<S, M>::type;

template <class A, class B>
struct joined_shape;
template <auto... A, auto... B>
struct joined_shape<sh<A...>, sh<B...>> {
  using type = sh<A..., B...>;
};
template <class A, class B>
using cat_t = typename joined_shape<A, B>::type;

// NumPy broadcasting: shapes are aligned at the last axis, extents are equal or 1. The result picks from the axes of a, then of
// b; n = -1: the shapes do not broadcast.
constexpr ints broadcast_axes(const record::shape& a, const record::shape& b) {
  ints r;
  const int rank = a.rank > b.rank ? a.rank : b.rank;
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank), ib = i - (rank - b.rank);
    if (ia < 0)
      r.add(a.rank + ib);
    else if (ib < 0 || detail::is(b.extents[ib], 1) || detail::same(a.extents[ia], b.extents[ib]))
      r.add(ia);
    else if (detail::is(a.extents[ia], 1))
      r.add(a.rank + ib);
    else
      return {-1, {}};
  }
  return r;
}
template <class A, class B>
struct broadcast_of {
  static constexpr ints chosen = detail::broadcast_axes(*shape_v<A>, *shape_v<B>);
  using type = typename gathered<cat_t<A, B>, chosen>::type;
};
template <class A>
struct broadcast_of<A, A> {
  using type = A;
};

// The axes of S from First on.
template <class S, int First>
struct rest {
  static constexpr ints axes = [] {
    ints r;
    for (int i = First; i < S::rank; ++i) r.add(i);
    return r;
  }();
  using type = gather_t<S, axes>;
};

// S with the extent of one axis replaced.
template <class S, int Axis, ext E, class = make_seq<S::rank>>
struct replaced;
template <class S, int Axis, ext E, int... I>
struct replaced<S, Axis, E, seq<I...>> {
  using type = sh<extent_v<(I == Axis ? E : ext_at<S, I>)>...>;
};
template <class S, int Axis, ext E>
using replace_t = typename replaced<S, Axis, E>::type;

template <class S, class = make_seq<S::rank>>
inline constexpr ext element_count = detail::to_ext(1);
template <class S, int... I>
inline constexpr ext element_count<S, seq<I...>> = [] {
  ext r = detail::to_ext(1);
  ((r = detail::times(r, ext_at<S, I>)), ...);
  return r;
}();

constexpr int axis_of(int axis, int rank) { return axis < 0 ? axis + rank : axis; }
constexpr bool axis_ok(int axis, int rank) { return axis >= -rank && axis < rank; }

}  // namespace detail

template <class A, class B>
inline constexpr bool broadcastable = detail::broadcast_axes(*shape_v<A>, *shape_v<B>).n >= 0;
template <class A, class B>
using broadcast_t = typename detail::broadcast_of<A, B>::type;
// Whether From broadcasts to To itself: no extent of To grows.
template <class From, class To>
inline constexpr bool expandable = [] {
  const ints m = detail::broadcast_axes(*shape_v<From>, *shape_v<To>);
  if (m.n != To::rank) return false;
  for (int i = 0; i < m.n; ++i)
    if (m.v[i] < From::rank && !detail::same(shape_v<From>->extents[m.v[i]], shape_v<To>->extents[i])) return false;
  return true;
}();

}  // namespace kiln::dsl
