// Contractions: matmul, dot. Both are one reduction of kind fma over two operands brought to a common shape by movement.
#pragma once

#include "kiln/dsl/reduce.h"

namespace kiln::dsl {

template <ints Axes, class A, class B>
constexpr auto kiln_fma_reduce(const A& a, const B& b, const sloc& l) {
  using D = dtype_of<A>;
  using S = typename kiln_dropped<shape_of<A>, Axes>::type;
  const int ia = a.kiln_read(l), ib = b.kiln_read(l);
  kiln_begin<D, S>(a.b, op::reduce, l);
  a.b->src(ia);
  a.b->src(ib);
  a.b->attr(static_cast<int>(reduce_kind::fma));
  for (int i = 0; i < Axes.n; ++i) a.b->attr(Axes.v[i]);
  return kiln_result<D, S>(a.b);
}

// Leading extents of S, all but the last `Drop`.
template <class S, int Drop>
struct kiln_batch {
  static constexpr ints picked = [] {
    ints r;
    for (int i = 0; i + Drop < S::rank; ++i) r.add(i);
    return r;
  }();
  using type = typename kiln_gather<S, picked>::type;
};
template <class S, int I>
using one_extent = sh<extent_at<S, I>>;

// matmul(a, b) as NumPy: the last axis of a against the last but one of b, leading axes broadcast, vectors without their axis.
template <class A, class B>
constexpr why kiln_matmul_why() {
  if constexpr (!Operand<A> || !Operand<B>) {
    return why::not_ours;
  } else {
    if (!std::is_same_v<dtype_of<A>, dtype_of<B>>) return why::dtypes_differ__write_cast;
    if (kiln_is_bool<dtype_of<A>>) return why::arithmetic_on_bool__write_cast;
    constexpr int ra = rank_of<A>, rb = rank_of<B>;
    if constexpr (ra == 0 || rb == 0) {
      return why::matmul_needs_rank_1_or_more;
    } else {
      constexpr int kb = rb == 1 ? 0 : rb - 2;
      if (!kiln_same(shape_v<shape_of<A>>->extents[ra - 1], shape_v<shape_of<B>>->extents[kb]))
        return why::inner_extents_of_matmul_differ;
      if constexpr (ra > 2 || rb > 2)
        if (!broadcastable<typename kiln_batch<shape_of<A>, (ra < 2 ? ra : 2)>::type,
                           typename kiln_batch<shape_of<B>, (rb < 2 ? rb : 2)>::type>)
          return why::batch_extents_do_not_broadcast;
      return why::ok;
    }
  }
}
template <class A, class B>
inline constexpr why matmul_why = kiln_matmul_why<A, B>();

inline constexpr auto kiln_only = [](int i) {
  ints r;
  r.add(i);
  return r;
};
// Both at least matrices: a[.., M, 1, K] and b[.., 1, N, K] expanded to [batch.., M, N, K].
template <class A, class B>
constexpr auto kiln_matmul(const A& a, const B& b, const sloc& l) {
  using SA = shape_of<A>;
  using SB = shape_of<B>;
  using Batch = broadcast_t<typename kiln_batch<SA, 2>::type, typename kiln_batch<SB, 2>::type>;
  using Full = cat_t<Batch, sh<extent_at<SA, SA::rank - 2>, extent_at<SB, SB::rank - 1>, extent_at<SA, SA::rank - 1>>>;
  constexpr ints before_k = kiln_only(SA::rank - 1), before_n = kiln_only(SB::rank - 2), k = kiln_only(Full::rank - 1);
  using A1 = typename kiln_inserted<SA, before_k>::type;
  const auto left = kiln_expanded_to<Full>(kiln_reshaped<A1>(a, l), l);
  constexpr ints swapped = kiln_exchange(SB::rank, SB::rank - 2, SB::rank - 1);
  const auto bt = kiln_permuted<swapped>(b, l);
  using B1 = typename kiln_inserted<shape_of<decltype(bt)>, before_n>::type;
  const auto right = kiln_expanded_to<Full>(kiln_reshaped<B1>(bt, l), l);
  return kiln_fma_reduce<k>(left, right, l);
}
template <class A, class B>
  requires(matmul_why<A, B> == why::ok)
constexpr auto matmul(const A& a, const B& b, sloc l = sloc::current()) {
  constexpr int ra = rank_of<A>, rb = rank_of<B>;
  if constexpr (ra == 1 && rb == 1) {
    constexpr ints k = kiln_only(0);
    return kiln_fma_reduce<k>(a, b, l);
  } else if constexpr (ra == 1) {
    return squeeze<-2>(kiln_matmul(unsqueeze<0>(a, l), b, l), l);
  } else if constexpr (rb == 1) {
    return squeeze<-1>(kiln_matmul(a, unsqueeze<1>(b, l), l), l);
  } else {
    return kiln_matmul(a, b, l);
  }
}
template <class A, class B, why Reason = matmul_why<A, B>>
  requires(kiln_wrong(Reason))
mistake<Reason> matmul(const A&, const B&) KILN_MISTAKE(KILN_REASONS_CONTRACT);

// matmul<f32>(a, b): the elements as this dtype, which must hold them. Then a and b may have two dtypes.
template <class D, class A, class B>
constexpr why kiln_wider_operands_why() {
  if constexpr (!Operand<A> || !Operand<B>)
    return why::not_ours;
  else if constexpr (kiln_wrong(wider_why<D, A>))
    return wider_why<D, A>;
  else
    return wider_why<D, B>;
}
template <class D, class A, class B>
inline constexpr why wider_matmul_why =
    kiln_wider_operands_why<D, A, B>() != why::ok ? kiln_wider_operands_why<D, A, B>()
                                                  : matmul_why<expr_<D, shape_of<A>>, expr_<D, shape_of<B>>>;
template <DType D, class A, class B>
  requires(wider_matmul_why<D, A, B> == why::ok)
constexpr auto matmul(const A& a, const B& b, sloc l = sloc::current()) {
  const auto left = cast<D>(a, l);
  const auto right = cast<D>(b, l);
  return matmul(left, right, l);
}
template <DType D, class A, class B, why Reason = wider_matmul_why<D, A, B>>
  requires(kiln_wrong(Reason))
mistake<Reason> matmul(const A&, const B&) KILN_MISTAKE(KILN_REASONS_CONTRACT);

// The scalar product of two vectors.
template <class A, class B>
inline constexpr why dot_why =
    !(Operand<A> && Operand<B>)                               ? why::not_ours
    : rank_of<A> != 1 || rank_of<B> != 1                      ? why::dot_needs_two_vectors_of_the_same_extent
    : matmul_why<A, B> == why::inner_extents_of_matmul_differ ? why::dot_needs_two_vectors_of_the_same_extent
                                                              : matmul_why<A, B>;
template <class A, class B>
  requires(dot_why<A, B> == why::ok)
constexpr auto dot(const A& a, const B& b, sloc l = sloc::current()) {
  constexpr ints k = kiln_only(0);
  return kiln_fma_reduce<k>(a, b, l);
}
template <class A, class B, why Reason = dot_why<A, B>>
  requires(kiln_wrong(Reason))
mistake<Reason> dot(const A&, const B&) KILN_MISTAKE(KILN_REASONS_CONTRACT);

template <class D, class A, class B>
inline constexpr why wider_dot_why =
    kiln_wider_operands_why<D, A, B>() != why::ok ? kiln_wider_operands_why<D, A, B>()
                                                  : dot_why<expr_<D, shape_of<A>>, expr_<D, shape_of<B>>>;
template <DType D, class A, class B>
  requires(wider_dot_why<D, A, B> == why::ok)
constexpr auto dot(const A& a, const B& b, sloc l = sloc::current()) {
  const auto left = cast<D>(a, l);
  const auto right = cast<D>(b, l);
  return dot(left, right, l);
}
template <DType D, class A, class B, why Reason = wider_dot_why<D, A, B>>
  requires(kiln_wrong(Reason))
mistake<Reason> dot(const A&, const B&) KILN_MISTAKE(KILN_REASONS_CONTRACT);

}  // namespace kiln::dsl
