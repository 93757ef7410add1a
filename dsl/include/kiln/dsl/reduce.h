// Reductions over the named axes, or all of them: sum<1>(x), max<-2, -1>(x), mean(x), sum<1>(x, keepdims). Sums, products and
// means may name a wider dtype first: sum<f64>(x), mean<f32, 1>(x).
#pragma once

#include "kiln/dsl/join.h"

namespace kiln::dsl {

struct kiln_keepdims {};
inline constexpr kiln_keepdims keepdims{};

enum class reduce_kind { sum, prod, max, min, any, all, argmax, argmin, fma };  // as the IR's ReduceKind

template <int... A>
constexpr ints kiln_reduced(int rank) {
  ints r;
  if (sizeof...(A) == 0)
    for (int i = 0; i < rank; ++i) r.add(i);
  const ints named = kiln_axes<A...>(rank);
  for (int i = 0; i < rank; ++i)
    if (named.has(i)) r.add(i);
  return r;
}
constexpr bool kiln_any_empty(const record::shape& s, const ints& axes) {
  for (int i = 0; i < axes.n; ++i)
    if (kiln_is(s.extents[axes.v[i]], 0)) return true;
  return false;
}
template <class X, klass K, bool NonEmpty, int... A>
constexpr why kiln_reduce_why() {
  if (kiln_wrong(kiln_class_why<dtype_of<X>>(K))) return kiln_class_why<dtype_of<X>>(K);
  if (const why w = kiln_axes_why<A...>(rank_of<X>); kiln_wrong(w)) return w;
  if (NonEmpty && kiln_any_empty(*shape_v<shape_of<X>>, kiln_reduced<A...>(rank_of<X>)))
    return why::reduction_of_an_empty_axis_has_no_value;
  return why::ok;
}

// Back to the rank before, reduced axes having extent 1.
template <ints Axes, class X>
constexpr auto kiln_kept(const X& x, const sloc& l) {
  return kiln_reshaped<typename kiln_inserted<shape_of<X>, Axes>::type>(x, l);
}
template <reduce_kind K, class R, ints Axes, class X>
constexpr auto kiln_reduce(const X& x, const sloc& l) {
  if constexpr (Axes.n == 0 && K < reduce_kind::argmax) {
    return kiln_as_value(x, l);
  } else {
    using S = typename kiln_dropped<shape_of<X>, Axes>::type;
    const int id = x.kiln_read(l);
    kiln_begin<R, S>(x.b, op::reduce, l);
    x.b->src(id);
    x.b->attr(static_cast<int>(K));
    for (int i = 0; i < Axes.n; ++i) x.b->attr(Axes.v[i]);
    return kiln_result<R, S>(x.b);
  }
}

#define KILN_REDUCTION(f, cls, nonempty)                                                                        \
  template <int... A, Operand X>                                                                                \
    requires(kiln_reduce_why<X, klass::cls, nonempty, A...>() == why::ok)                                       \
  constexpr auto f(const X& x, sloc l = sloc::current()) {                                                      \
    return kiln_do_##f<kiln_reduced<A...>(rank_of<X>)>(x, l);                                                   \
  }                                                                                                             \
  template <int... A, Operand X>                                                                                \
    requires(kiln_reduce_why<X, klass::cls, nonempty, A...>() == why::ok)                                       \
  constexpr auto f(const X& x, kiln_keepdims, sloc l = sloc::current()) {                                       \
    return kiln_kept<kiln_reduced<A...>(rank_of<X>)>(kiln_do_##f<kiln_reduced<A...>(rank_of<X>)>(x, l), l);     \
  }                                                                                                             \
  template <int... A, Operand X, why Reason = kiln_reduce_why<X, klass::cls, nonempty, A...>()>                 \
    requires(kiln_wrong(Reason))                                                                                \
  mistake<Reason> f(const X&) KILN_MISTAKE(KILN_REASONS_REDUCE);                                                \
  template <int... A, Operand X, why Reason = kiln_reduce_why<X, klass::cls, nonempty, A...>()>                 \
    requires(kiln_wrong(Reason))                                                                                \
  mistake<Reason> f(const X&, kiln_keepdims) KILN_MISTAKE(KILN_REASONS_REDUCE);                                 \
  template <int... A, class X,                                                                                  \
            why Reason = kiln_array<X> ? kiln_meant<X> : why::operand_must_be_a_tensor__write_var_full_or_size> \
    requires(kiln_array<X> || kiln_arithmetic<X>)                                                               \
  mistake<Reason> f(const X&) KILN_MISTAKE(KILN_REASONS_REDUCE);

// Does D hold every element of a tensor of dtype E? Integers may become floating point, though it rounds the largest.
template <class D, class E>
inline constexpr bool kiln_holds =
    std::is_same_v<D, E> ||
    (kiln_is_float<D> ? !kiln_is_float<E> || kiln_bits<E> < kiln_bits<D>
                      : kiln_is_int<D> && !kiln_is_float<E> &&
                            (kiln_is_bool<E> ||
                             (kiln_is_signed<D> == kiln_is_signed<E> ? kiln_bits<E> <= kiln_bits<D>
                                                                     : kiln_is_signed<D> && kiln_bits<E> < kiln_bits<D>)));
template <class D, class X>
inline constexpr why wider_why =
    kiln_holds<D, dtype_of<X>> ? why::ok : why::the_named_dtype_does_not_hold_every_element__write_cast;
template <class D, class X, klass K, bool NonEmpty, int... A>
constexpr why kiln_wider_reduce_why() {
  return kiln_wrong(wider_why<D, X>) ? wider_why<D, X> : kiln_reduce_why<expr_<D, shape_of<X>>, K, NonEmpty, A...>();
}
#define KILN_WIDER_REDUCTION(f, cls, nonempty)                                                                    \
  template <DType D, int... A, Operand X>                                                                         \
    requires(kiln_wider_reduce_why<D, X, klass::cls, nonempty, A...>() == why::ok)                                \
  constexpr auto f(const X& x, sloc l = sloc::current()) {                                                        \
    return f<A...>(cast<D>(x, l), l);                                                                             \
  }                                                                                                               \
  template <DType D, int... A, Operand X>                                                                         \
    requires(kiln_wider_reduce_why<D, X, klass::cls, nonempty, A...>() == why::ok)                                \
  constexpr auto f(const X& x, kiln_keepdims k, sloc l = sloc::current()) {                                       \
    return f<A...>(cast<D>(x, l), k, l);                                                                          \
  }                                                                                                               \
  template <DType D, int... A, Operand X, why Reason = kiln_wider_reduce_why<D, X, klass::cls, nonempty, A...>()> \
    requires(kiln_wrong(Reason))                                                                                  \
  mistake<Reason> f(const X&) KILN_MISTAKE(KILN_REASONS_REDUCE);                                                  \
  template <DType D, int... A, Operand X, why Reason = kiln_wider_reduce_why<D, X, klass::cls, nonempty, A...>()> \
    requires(kiln_wrong(Reason))                                                                                  \
  mistake<Reason> f(const X&, kiln_keepdims) KILN_MISTAKE(KILN_REASONS_REDUCE);
#define KILN_DTYPE_IS_KEPT(f)                                                                          \
  template <DType D, int... A, Operand X, why Reason = why::this_reduction_names_no_dtype__write_cast> \
  mistake<Reason> f(const X&) KILN_MISTAKE(KILN_REASONS_REDUCE);                                       \
  template <DType D, int... A, Operand X, why Reason = why::this_reduction_names_no_dtype__write_cast> \
  mistake<Reason> f(const X&, kiln_keepdims) KILN_MISTAKE(KILN_REASONS_REDUCE);

#define KILN_SIMPLE(f, cls, nonempty)                            \
  template <ints Axes, class X>                                  \
  constexpr auto kiln_do_##f(const X& x, const sloc& l) {        \
    return kiln_reduce<reduce_kind::f, dtype_of<X>, Axes>(x, l); \
  }                                                              \
  KILN_REDUCTION(f, cls, nonempty)
KILN_SIMPLE(sum, number, false)
KILN_SIMPLE(prod, number, false)
KILN_SIMPLE(max, any, true)
KILN_SIMPLE(min, any, true)
KILN_SIMPLE(any, boolean, false)
KILN_SIMPLE(all, boolean, false)
#undef KILN_SIMPLE
KILN_WIDER_REDUCTION(sum, number, false)
KILN_WIDER_REDUCTION(prod, number, false)
KILN_DTYPE_IS_KEPT(max)
KILN_DTYPE_IS_KEPT(min)
KILN_DTYPE_IS_KEPT(any)
KILN_DTYPE_IS_KEPT(all)

// The number of elements over the axes.
template <class S, ints Axes>
inline constexpr ext kiln_reduced_count = [] {
  return []<int... I>(seq<I...>) {
    ext r = kiln_ext(1);
    ((r = kiln_mul(r, ext_at<S, Axes.v[I]>)), ...);
    return r;
  }(make_seq<Axes.n>{});
}();
template <class D, ext Count>
constexpr int kiln_count_id(builder* b, const sloc& l) {
  if constexpr (kiln_static(Count))
    return kiln_constant_id<D>(b, kiln_encode<D>(kiln_value(Count)), l);
  else
    return kiln_dim_id<D>(b, kiln_attr<Count>, l);
}
template <ints Axes, class X>
constexpr auto kiln_do_mean(const X& x, const sloc& l) {
  using D = dtype_of<X>;
  const auto total = kiln_reduce<reduce_kind::sum, D, Axes>(x, l);
  constexpr ext count = kiln_reduced_count<shape_of<X>, Axes>;
  const int n = kiln_count_id<D, count>(x.b, l);
  return expr_<D, shape_of<decltype(total)>>(x.b, kiln_node2<D, shape_of<decltype(total)>>(x.b, op::fdiv, l, total.id, n));
}
KILN_REDUCTION(mean, floating, true)
KILN_WIDER_REDUCTION(mean, floating, true)

// The first position of the extreme value (row-major over the axes), i64; a NaN is more extreme than anything.
template <reduce_kind K, ints Axes, class X>
constexpr auto kiln_arg(const X& x, const sloc& l) {
  if constexpr (Axes.n == 1) {
    return kiln_reduce<K, i64, Axes>(x, l);
  } else {
    constexpr ints kept = kiln_without(rank_of<X>, Axes);
    constexpr ints order = [] {
      ints r = kiln_without(rank_of<X>, Axes);
      for (int i = 0; i < Axes.n; ++i) r.add(Axes.v[i]);
      return r;
    }();
    constexpr ints last = [] {
      ints r;
      r.add(kept.n);
      return r;
    }();
    using Kept = typename kiln_gather<shape_of<X>, kept>::type;
    constexpr ext count = kiln_reduced_count<shape_of<X>, Axes>;
    using Flat = cat_t<Kept, sh<kiln_norm<count>>>;
    return kiln_reduce<K, i64, last>(kiln_reshaped<Flat>(kiln_permuted<order>(x, l), l), l);
  }
}
template <ints Axes, class X>
constexpr auto kiln_do_argmax(const X& x, const sloc& l) {
  return kiln_arg<reduce_kind::argmax, Axes>(x, l);
}
template <ints Axes, class X>
constexpr auto kiln_do_argmin(const X& x, const sloc& l) {
  return kiln_arg<reduce_kind::argmin, Axes>(x, l);
}
KILN_REDUCTION(argmax, any, true)
KILN_REDUCTION(argmin, any, true)
KILN_DTYPE_IS_KEPT(argmax)
KILN_DTYPE_IS_KEPT(argmin)
#undef KILN_REDUCTION
#undef KILN_WIDER_REDUCTION
#undef KILN_DTYPE_IS_KEPT

}  // namespace kiln::dsl
