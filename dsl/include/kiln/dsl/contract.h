// Contractions: matmul, dot. Each is one reduction of two operands, of kind dot if the right one is a vector, else of kind fma.
// Movement brings both operands to a common shape first.
#pragma once

#include "kiln/dsl/reduce.h"

namespace kiln::dsl {

namespace detail {

// The sum of a * b over the axes. K: fma or dot.
template <reduce_kind K, ints Axes, class A, class B>
constexpr auto sum_of_products(const A& a, const B& b, const sloc& l) {
  using D = dtype_of<A>;
  using S = typename dropped<shape_of<A>, Axes>::type;
  const int ia = a.read_(l), ib = b.read_(l);
  detail::begin_node<D, S>(a.b, op::reduce, l);
  a.b->src(ia);
  a.b->src(ib);
  a.b->attr(static_cast<int>(K));
  for (int i = 0; i < Axes.n; ++i) a.b->attr(Axes.v[i]);
  return detail::result<D, S>(a.b);
}

// The leading extents of S: all but the last `Drop`.
template <class S, int Drop>
struct batch {
  static constexpr ints chosen = [] {
    ints r;
    for (int i = 0; i + Drop < S::rank; ++i) r.add(i);
    return r;
  }();
  using type = typename gathered<S, chosen>::type;
};

template <class A, class B>
constexpr why check_matmul() {
  if constexpr (!Operand<A> || !Operand<B>) {
    return why::not_ours;
  } else {
    if (!std::is_same_v<dtype_of<A>, dtype_of<B>>) return why::dtypes_differ__write_cast_or_sum_and_matmul_of_a_dtype;
    if (is_bool<dtype_of<A>>) return why::arithmetic_on_bool__write_cast;
    constexpr int ra = rank_of<A>, rb = rank_of<B>;
    if constexpr (ra == 0 || rb == 0) {
      return why::matmul_needs_rank_1_or_more;
    } else {
      constexpr int kb = rb == 1 ? 0 : rb - 2;
      if (!detail::same(shape_v<shape_of<A>>->extents[ra - 1], shape_v<shape_of<B>>->extents[kb]))
        return why::inner_extents_of_matmul_differ;
      if constexpr (ra > 2 || rb > 2)
        if (!broadcastable<typename batch<shape_of<A>, (ra < 2 ? ra : 2)>::type,
                           typename batch<shape_of<B>, (rb < 2 ? rb : 2)>::type>)
          return why::batch_extents_do_not_broadcast;
      return why::ok;
    }
  }
}

inline constexpr auto only = [](int i) {
  ints r;
  r.add(i);
  return r;
};
// The product of tensors of rank 2 or more: a[.., M, 1, K] and b[.., 1, N, K], expanded to [batch.., M, N, K].
template <class A, class B>
constexpr auto matrix_product(const A& a, const B& b, const sloc& l) {
  using SA = shape_of<A>;
  using SB = shape_of<B>;
  using Batch = broadcast_t<typename batch<SA, 2>::type, typename batch<SB, 2>::type>;
  using Full = cat_t<Batch, sh<extent_at<SA, SA::rank - 2>, extent_at<SB, SB::rank - 1>, extent_at<SA, SA::rank - 1>>>;
  constexpr ints before_k = only(SA::rank - 1), before_n = only(SB::rank - 2), k = only(Full::rank - 1);
  using A1 = typename inserted<SA, before_k>::type;
  const auto left = detail::expanded_to<Full>(detail::reshaped<A1>(a, l), l);
  constexpr ints swapped = detail::exchanged(SB::rank, SB::rank - 2, SB::rank - 1);
  const auto bt = detail::permuted<swapped>(b, l);
  using B1 = typename inserted<shape_of<decltype(bt)>, before_n>::type;
  const auto right = detail::expanded_to<Full>(detail::reshaped<B1>(bt, l), l);
  return detail::sum_of_products<reduce_kind::fma, k>(left, right, l);
}

// The product of each row of a[.., K] with the vector x[K].
template <class A, class X>
constexpr auto row_products(const A& a, const X& x, const sloc& l) {
  constexpr ints last = detail::only(rank_of<A> - 1);
  const auto right = detail::expanded_to<shape_of<A>>(x, l);
  return detail::sum_of_products<reduce_kind::dot, last>(a, right, l);
}

template <class D, class A, class B>
constexpr why wider_operands_why() {
  if constexpr (!Operand<A> || !Operand<B>)
    return why::not_ours;
  else if constexpr (detail::wrong(wider_why<D, A>))
    return wider_why<D, A>;
  else
    return wider_why<D, B>;
}

}  // namespace detail

// matmul(a, b), as NumPy's: a[.., M, K] and b[.., K, N] give [.., M, N]; leading axes broadcast. If a is a
// vector [K], the result has no axis M. If b is a vector [K], the result has no axis N. Both have one dtype, of numbers. Each
// sum is a chain of fma; if b is a vector, it is striped, as in sum(x) (docs/reference/numbers.md, Reductions).
template <class A, class B>
inline constexpr why matmul_why = detail::check_matmul<A, B>();

template <class A, class B>
  requires(matmul_why<A, B> == why::ok)
constexpr auto matmul(const A& a, const B& b, sloc l = sloc::current()) {
  if constexpr (rank_of<B> == 1) {
    return detail::row_products(a, b, l);
  } else if constexpr (rank_of<A> == 1) {
    return squeeze<-2>(detail::matrix_product(unsqueeze<0>(a, l), b, l), l);
  } else {
    return detail::matrix_product(a, b, l);
  }
}
template <class A, class B, why Reason = matmul_why<A, B>>
  requires(detail::wrong(Reason))
mistake<Reason> matmul(const A&, const B&) KILN_MISTAKE(KILN_REASONS_CONTRACT);

// matmul<f32>(a, b): the elements are converted first, to a dtype that holds them; the dtypes of a and b may differ.
template <class D, class A, class B>
inline constexpr why wider_matmul_why =
    detail::wider_operands_why<D, A, B>() != why::ok ? detail::wider_operands_why<D, A, B>()
                                                     : matmul_why<expr_<D, shape_of<A>>, expr_<D, shape_of<B>>>;
template <DType D, class A, class B>
  requires(wider_matmul_why<D, A, B> == why::ok)
constexpr auto matmul(const A& a, const B& b, sloc l = sloc::current()) {
  const auto left = cast<D>(a, l);
  const auto right = cast<D>(b, l);
  return matmul(left, right, l);
}
template <DType D, class A, class B, why Reason = wider_matmul_why<D, A, B>>
  requires(detail::wrong(Reason))
mistake<Reason> matmul(const A&, const B&) KILN_MISTAKE(KILN_REASONS_CONTRACT);

// dot(a, b): the scalar product of two vectors of one extent, rank 0. matmul(a, b) is the same.
template <class A, class B>
inline constexpr why dot_why =
    !(Operand<A> && Operand<B>)                               ? why::not_ours
    : rank_of<A> != 1 || rank_of<B> != 1                      ? why::dot_needs_two_vectors_of_the_same_extent
    : matmul_why<A, B> == why::inner_extents_of_matmul_differ ? why::dot_needs_two_vectors_of_the_same_extent
                                                              : matmul_why<A, B>;
template <class A, class B>
  requires(dot_why<A, B> == why::ok)
constexpr auto dot(const A& a, const B& b, sloc l = sloc::current()) {
  return detail::row_products(a, b, l);
}
template <class A, class B, why Reason = dot_why<A, B>>
  requires(detail::wrong(Reason))
mistake<Reason> dot(const A&, const B&) KILN_MISTAKE(KILN_REASONS_CONTRACT);

template <class D, class A, class B>
inline constexpr why wider_dot_why =
    detail::wider_operands_why<D, A, B>() != why::ok ? detail::wider_operands_why<D, A, B>()
                                                     : dot_why<expr_<D, shape_of<A>>, expr_<D, shape_of<B>>>;
template <DType D, class A, class B>
  requires(wider_dot_why<D, A, B> == why::ok)
constexpr auto dot(const A& a, const B& b, sloc l = sloc::current()) {
  const auto left = cast<D>(a, l);
  const auto right = cast<D>(b, l);
  return dot(left, right, l);
}
template <DType D, class A, class B, why Reason = wider_dot_why<D, A, B>>
  requires(detail::wrong(Reason))
mistake<Reason> dot(const A&, const B&) KILN_MISTAKE(KILN_REASONS_CONTRACT);

}  // namespace kiln::dsl
