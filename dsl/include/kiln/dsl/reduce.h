// Reductions over the named axes, or over all: sum<1>(x), max<-2, -1>(x), mean(x). The axes disappear; with keepdims they stay
// with extent 1: sum<1>(x, keepdims). The result has the dtype of x; sum, prod and mean may name a wider one: sum<f64>(x),
// mean<f32, 1>(x). argmax and argmin give i64. any and all are for bool, sum and prod for numbers, mean for floating point.
// Over an axis of extent 0 sum is 0 and prod is 1. max, min, mean, argmax and argmin of such an axis are a mistake, because
// they have no value.
#pragma once

#include "kiln/dsl/join.h"

namespace kiln::dsl {

struct keepdims_ {};
inline constexpr keepdims_ keepdims{};

using record::reduce_kind;

namespace detail {

template <int... A>
constexpr ints reduced(int rank) {
  ints r;
  if (sizeof...(A) == 0)
    for (int i = 0; i < rank; ++i) r.add(i);
  const ints named = detail::axes<A...>(rank);
  for (int i = 0; i < rank; ++i)
    if (named.has(i)) r.add(i);
  return r;
}
constexpr bool any_empty(const record::shape& s, const ints& axes) {
  for (int i = 0; i < axes.n; ++i)
    if (detail::is(s.extents[axes.v[i]], 0)) return true;
  return false;
}
template <class X, klass K, bool NonEmpty, int... A>
constexpr why reduce_why() {
  if (detail::wrong(detail::class_why<dtype_of<X>>(K))) return detail::class_why<dtype_of<X>>(K);
  if (const why w = detail::axes_why<A...>(rank_of<X>); detail::wrong(w)) return w;
  if (NonEmpty && detail::any_empty(*shape_v<shape_of<X>>, detail::reduced<A...>(rank_of<X>)))
    return why::reduction_of_an_empty_axis_has_no_value;
  return why::ok;
}

// A reduced tensor with the reduced axes back, of extent 1.
template <ints Axes, class X>
constexpr auto kept(const X& x, const sloc& l) {
  return detail::reshaped<typename inserted<shape_of<X>, Axes>::type>(x, l);
}
template <reduce_kind K, class R, ints Axes, class X>
constexpr auto reduce_node(const X& x, const sloc& l) {
  if constexpr (Axes.n == 0 && K < reduce_kind::argmax) {
    return detail::as_value(x, l);
  } else {
    using S = typename dropped<shape_of<X>, Axes>::type;
    const int id = x.read_(l);
    detail::begin_node<R, S>(x.b, op::reduce, l);
    x.b->src(id);
    x.b->attr(static_cast<int>(K));
    for (int i = 0; i < Axes.n; ++i) x.b->attr(Axes.v[i]);
    return detail::result<R, S>(x.b);
  }
}

// Whether D holds every value of dtype E. Floating point counts as holding integers, though it rounds the largest.
template <class D, class E>
inline constexpr bool holds =
    std::is_same_v<D, E> ||
    (is_float<D> ? !is_float<E> || detail::bits<E> < detail::bits<D>
                 : is_int<D> && !is_float<E> &&
                       (is_bool<E> || (is_signed<D> == is_signed<E> ? detail::bits<E> <= detail::bits<D>
                                                                    : is_signed<D> && detail::bits<E> < detail::bits<D>)));

template <class D, class X>
inline constexpr why wider_why = holds<D, dtype_of<X>> ? why::ok : why::the_named_dtype_does_not_hold_every_element__write_cast;

template <class D, class X, klass K, bool NonEmpty, int... A>
constexpr why wider_reduce_why() {
  return detail::wrong(wider_why<D, X>) ? wider_why<D, X> : detail::reduce_why<expr_<D, shape_of<X>>, K, NonEmpty, A...>();
}

#define KILN_X(f)                                                        \
  template <ints Axes, class X>                                          \
  constexpr auto do_##f(const X& x, const sloc& l) {                     \
    return detail::reduce_node<reduce_kind::f, dtype_of<X>, Axes>(x, l); \
  }
KILN_X(sum)
KILN_X(prod)
KILN_X(max)
KILN_X(min)
KILN_X(any)
KILN_X(all)
#undef KILN_X

// The number of elements over the axes.
template <class S, ints Axes>
inline constexpr ext reduced_count = [] {
  return []<int... I>(seq<I...>) {
    ext r = detail::to_ext(1);
    ((r = detail::times(r, ext_at<S, Axes.v[I]>)), ...);
    return r;
  }(make_seq<Axes.n>{});
}();
template <class D, ext Count>
constexpr int count_id(builder* b, const sloc& l) {
  if constexpr (detail::is_static(Count))
    return detail::constant_id<D>(b, detail::encode<D>(detail::value_of(Count)), l);
  else
    return detail::dim_id<D>(b, attr<Count>, l);
}
template <ints Axes, class X>
constexpr auto do_mean(const X& x, const sloc& l) {
  using D = dtype_of<X>;
  const auto total = detail::reduce_node<reduce_kind::sum, D, Axes>(x, l);
  constexpr ext count = reduced_count<shape_of<X>, Axes>;
  const int n = detail::count_id<D, count>(x.b, l);
  return expr_<D, shape_of<decltype(total)>>(x.b, detail::node2<D, shape_of<decltype(total)>>(x.b, op::fdiv, l, total.id, n));
}

// The first position of the extreme value, in row-major order over the axes. A NaN is more extreme than any number.
template <reduce_kind K, ints Axes, class X>
constexpr auto arg_reduce(const X& x, const sloc& l) {
  if constexpr (Axes.n == 1) {
    return detail::reduce_node<K, i64, Axes>(x, l);
  } else {
    constexpr ints kept = detail::without(rank_of<X>, Axes);
    constexpr ints order = [] {
      ints r = detail::without(rank_of<X>, Axes);
      for (int i = 0; i < Axes.n; ++i) r.add(Axes.v[i]);
      return r;
    }();
    constexpr ints last = [] {
      ints r;
      r.add(kept.n);
      return r;
    }();
    using Kept = typename gathered<shape_of<X>, kept>::type;
    constexpr ext count = reduced_count<shape_of<X>, Axes>;
    using Flat = cat_t<Kept, sh<extent_v<count>>>;
    return detail::reduce_node<K, i64, last>(detail::reshaped<Flat>(detail::permuted<order>(x, l), l), l);
  }
}
template <ints Axes, class X>
constexpr auto do_argmax(const X& x, const sloc& l) {
  return detail::arg_reduce<reduce_kind::argmax, Axes>(x, l);
}
template <ints Axes, class X>
constexpr auto do_argmin(const X& x, const sloc& l) {
  return detail::arg_reduce<reduce_kind::argmin, Axes>(x, l);
}

}  // namespace detail

#define KILN_REDUCTION(f, cls, nonempty)                                                                                     \
  template <int... A, Operand X>                                                                                             \
    requires(detail::reduce_why<X, klass::cls, nonempty, A...>() == why::ok)                                                 \
  constexpr auto f(const X& x, sloc l = sloc::current()) {                                                                   \
    return detail::do_##f<detail::reduced<A...>(rank_of<X>)>(x, l);                                                          \
  }                                                                                                                          \
  template <int... A, Operand X>                                                                                             \
    requires(detail::reduce_why<X, klass::cls, nonempty, A...>() == why::ok)                                                 \
  constexpr auto f(const X& x, keepdims_, sloc l = sloc::current()) {                                                        \
    return detail::kept<detail::reduced<A...>(rank_of<X>)>(detail::do_##f<detail::reduced<A...>(rank_of<X>)>(x, l), l);      \
  }                                                                                                                          \
  template <int... A, Operand X, why Reason = detail::reduce_why<X, klass::cls, nonempty, A...>()>                           \
    requires(detail::wrong(Reason))                                                                                          \
  mistake<Reason> f(const X&) KILN_MISTAKE(KILN_REASONS_REDUCE);                                                             \
  template <int... A, Operand X, why Reason = detail::reduce_why<X, klass::cls, nonempty, A...>()>                           \
    requires(detail::wrong(Reason))                                                                                          \
  mistake<Reason> f(const X&, keepdims_) KILN_MISTAKE(KILN_REASONS_REDUCE);                                                  \
  template <int... A, class X,                                                                                               \
            why Reason = detail::kernel_array<X> ? detail::meant<X> : why::operand_must_be_a_tensor__write_var_full_or_size> \
    requires(detail::kernel_array<X> || detail::arithmetic<X>)                                                               \
  mistake<Reason> f(const X&) KILN_MISTAKE(KILN_REASONS_REDUCE);

#define KILN_WIDER_REDUCTION(f, cls, nonempty)                                                                       \
  template <DType D, int... A, Operand X>                                                                            \
    requires(detail::wider_reduce_why<D, X, klass::cls, nonempty, A...>() == why::ok)                                \
  constexpr auto f(const X& x, sloc l = sloc::current()) {                                                           \
    return f<A...>(cast<D>(x, l), l);                                                                                \
  }                                                                                                                  \
  template <DType D, int... A, Operand X>                                                                            \
    requires(detail::wider_reduce_why<D, X, klass::cls, nonempty, A...>() == why::ok)                                \
  constexpr auto f(const X& x, keepdims_ k, sloc l = sloc::current()) {                                              \
    return f<A...>(cast<D>(x, l), k, l);                                                                             \
  }                                                                                                                  \
  template <DType D, int... A, Operand X, why Reason = detail::wider_reduce_why<D, X, klass::cls, nonempty, A...>()> \
    requires(detail::wrong(Reason))                                                                                  \
  mistake<Reason> f(const X&) KILN_MISTAKE(KILN_REASONS_REDUCE);                                                     \
  template <DType D, int... A, Operand X, why Reason = detail::wider_reduce_why<D, X, klass::cls, nonempty, A...>()> \
    requires(detail::wrong(Reason))                                                                                  \
  mistake<Reason> f(const X&, keepdims_) KILN_MISTAKE(KILN_REASONS_REDUCE);
#define KILN_DTYPE_IS_KEPT(f)                                                                          \
  template <DType D, int... A, Operand X, why Reason = why::this_reduction_names_no_dtype__write_cast> \
  mistake<Reason> f(const X&) KILN_MISTAKE(KILN_REASONS_REDUCE);                                       \
  template <DType D, int... A, Operand X, why Reason = why::this_reduction_names_no_dtype__write_cast> \
  mistake<Reason> f(const X&, keepdims_) KILN_MISTAKE(KILN_REASONS_REDUCE);

KILN_REDUCTION(sum, number, false)
KILN_REDUCTION(prod, number, false)
KILN_REDUCTION(max, any, true)
KILN_REDUCTION(min, any, true)
KILN_REDUCTION(any, boolean, false)
KILN_REDUCTION(all, boolean, false)
KILN_WIDER_REDUCTION(sum, number, false)
KILN_WIDER_REDUCTION(prod, number, false)
KILN_DTYPE_IS_KEPT(max)
KILN_DTYPE_IS_KEPT(min)
KILN_DTYPE_IS_KEPT(any)
KILN_DTYPE_IS_KEPT(all)

KILN_REDUCTION(mean, floating, true)
KILN_WIDER_REDUCTION(mean, floating, true)

KILN_REDUCTION(argmax, any, true)
KILN_REDUCTION(argmin, any, true)
KILN_DTYPE_IS_KEPT(argmax)
KILN_DTYPE_IS_KEPT(argmin)
#undef KILN_REDUCTION
#undef KILN_WIDER_REDUCTION
#undef KILN_DTYPE_IS_KEPT

}  // namespace kiln::dsl
