// Shapes as types: sh<extent...>, an extent being a long, a dim or a polynomial. Type-level operations pick or compute extents.
#pragma once

#include "kiln/dsl/extent.h"

namespace kiln::dsl {

template <int I, auto V>
struct kiln_leaf {};
template <class, auto...>
struct kiln_leaves;
template <int... I, auto... E>
struct kiln_leaves<seq<I...>, E...> : kiln_leaf<I, E>... {};
template <int I, auto V>
constexpr auto kiln_leaf_value(const kiln_leaf<I, V>*) {
  return V;
}

template <auto... E>
struct sh {
  static constexpr int rank = sizeof...(E);
  using leaves = kiln_leaves<make_seq<sizeof...(E)>, E...>;
};
template <auto... E>
using make_sh = sh<kiln_norm<E>...>;

template <class S, int I>
inline constexpr auto extent_at = kiln_leaf_value<I>(static_cast<const typename S::leaves*>(nullptr));
template <class S, int I>
inline constexpr ext ext_at = kiln_ext(extent_at<S, I>);

constexpr record::extent kiln_record(long v) { return {v, nullptr}; }
template <str N, facts F>
constexpr record::extent kiln_record(dim<N, F>) {
  return {0, dim<N, F>::kiln_symbol.name};
}
template <str T, const record::symbol*... K>
constexpr record::extent kiln_record(polynomial<T, K...>) {
  return {0, polynomial<T, K...>::kiln_text.c};
}
// Attributes are extents too.
template <ext E>
inline constexpr record::extent kiln_attr = kiln_record(kiln_norm<E>);

template <class S>
struct kiln_shape;
template <auto... E>
struct kiln_shape<sh<E...>> {
  static constexpr record::extent extents[] = {kiln_record(E)..., {0, nullptr}};
  static constexpr record::shape value{sizeof...(E), extents};
};
template <class S>
inline constexpr const record::shape* shape_v = &kiln_shape<S>::value;

constexpr bool kiln_same(const record::extent& a, const record::extent& b) {
  if (a.text == nullptr || b.text == nullptr) return a.text == b.text && a.value == b.value;
  return a.text == b.text || kiln_compare(kiln_view(a.text), kiln_view(b.text)) == 0;
}
constexpr bool kiln_is(const record::extent& a, std::int64_t v) { return a.text == nullptr && a.value == v; }
constexpr bool kiln_same(const record::shape& a, const record::shape& b) {
  if (a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; ++i)
    if (!kiln_same(a.extents[i], b.extents[i])) return false;
  return true;
}
template <class A, class B>
inline constexpr bool same_shape = kiln_same(*shape_v<A>, *shape_v<B>);
template <class A>
inline constexpr bool same_shape<A, A> = true;

// sh of picked extents: M.v[i] is an axis of S, or -1 for a new axis of extent 1.
template <class S, int I>
constexpr auto kiln_pick() {
  if constexpr (I < 0)
    return 1L;
  else
    return extent_at<S, I>;
}
template <class S, ints M, class = make_seq<M.n>>
struct kiln_gather;
template <class S, ints M, int... I>
struct kiln_gather<S, M, seq<I...>> {
  using type = sh<kiln_pick<S, M.v[I]>()...>;
};
template <class S, ints M>
using gather_t = typename kiln_gather<S, M>::type;

template <class A, class B>
struct kiln_cat;
template <auto... A, auto... B>
struct kiln_cat<sh<A...>, sh<B...>> {
  using type = sh<A..., B...>;
};
template <class A, class B>
using cat_t = typename kiln_cat<A, B>::type;

// NumPy broadcasting: aligned at the last axis, extents equal or 1. Empty (n = -1) when the shapes do not fit.
constexpr ints kiln_broadcast(const record::shape& a, const record::shape& b) {
  ints r;
  const int rank = a.rank > b.rank ? a.rank : b.rank;
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank), ib = i - (rank - b.rank);
    if (ia < 0)
      r.add(a.rank + ib);
    else if (ib < 0 || kiln_is(b.extents[ib], 1) || kiln_same(a.extents[ia], b.extents[ib]))
      r.add(ia);
    else if (kiln_is(a.extents[ia], 1))
      r.add(a.rank + ib);
    else
      return {-1, {}};
  }
  return r;
}
template <class A, class B>
inline constexpr bool broadcastable = kiln_broadcast(*shape_v<A>, *shape_v<B>).n >= 0;
template <class A, class B>
struct kiln_broadcast_of {
  static constexpr ints picked = kiln_broadcast(*shape_v<A>, *shape_v<B>);
  using type = typename kiln_gather<cat_t<A, B>, picked>::type;
};
template <class A>
struct kiln_broadcast_of<A, A> {
  using type = A;
};
template <class A, class B>
using broadcast_t = typename kiln_broadcast_of<A, B>::type;

// The axes of S from First on.
template <class S, int First>
struct kiln_rest {
  static constexpr ints axes = [] {
    ints r;
    for (int i = First; i < S::rank; ++i) r.add(i);
    return r;
  }();
  using type = gather_t<S, axes>;
};

// S with the extent of one axis replaced.
template <class S, int Axis, ext E, class = make_seq<S::rank>>
struct kiln_replace;
template <class S, int Axis, ext E, int... I>
struct kiln_replace<S, Axis, E, seq<I...>> {
  using type = sh<kiln_norm<(I == Axis ? E : ext_at<S, I>)>...>;
};
template <class S, int Axis, ext E>
using replace_t = typename kiln_replace<S, Axis, E>::type;

template <class S, class = make_seq<S::rank>>
inline constexpr ext kiln_count = kiln_ext(1);
template <class S, int... I>
inline constexpr ext kiln_count<S, seq<I...>> = [] {
  ext r = kiln_ext(1);
  ((r = kiln_mul(r, ext_at<S, I>)), ...);
  return r;
}();

constexpr int kiln_axis(int axis, int rank) { return axis < 0 ? axis + rank : axis; }
constexpr bool kiln_axis_ok(int axis, int rank) { return axis >= -rank && axis < rank; }

}  // namespace kiln::dsl
