// Scans: running results along one axis, of the shape and dtype of x. Element i of cumsum<1>(x) is the sum of the elements up
// to i; with `exclusive` of those before i, with `reverse` of those from i on: cumsum<1>(x, exclusive, reverse). The axis of a
// tensor of rank 1 may be left out: cumsum(x). cumsum and cumprod are for numbers, cummax and cummin also for bool.
#pragma once

#include "kiln/dsl/reduce.h"

namespace kiln::dsl {

struct exclusive_ {};
struct reverse_ {};
inline constexpr exclusive_ exclusive{};
inline constexpr reverse_ reverse{};

namespace detail {

template <class X, klass K, int... A>
constexpr why scan_why() {
  if (detail::wrong(detail::class_why<dtype_of<X>>(K))) return detail::class_why<dtype_of<X>>(K);
  if (const why w = detail::axes_why<A...>(rank_of<X>); detail::wrong(w)) return w;
  return sizeof...(A) == 1 || (sizeof...(A) == 0 && rank_of<X> == 1) ? why::ok
                                                                     : why::a_scan_is_along_one_axis__write_cumsum_of_axis;
}

template <reduce_kind K, bool Exclusive, bool Reversed, int... A, class X>
constexpr auto scan_node(const X& x, const sloc& l) {
  const int id = x.read_(l);
  detail::begin_node<dtype_of<X>, shape_of<X>>(x.b, op::scan, l);
  x.b->src(id);
  x.b->attr(static_cast<int>(K));
  x.b->attr(detail::reduced<A...>(rank_of<X>).v[0]);
  x.b->attr(Exclusive);
  x.b->attr(Reversed);
  return detail::result<dtype_of<X>, shape_of<X>>(x.b);
}

}  // namespace detail

#define KILN_SCAN_FORM(f, kind, cls, is_exclusive, is_reversed, ...)                                   \
  template <int... A, Operand X>                                                                       \
    requires(detail::scan_why<X, klass::cls, A...>() == why::ok)                                       \
  constexpr auto f(const X& x __VA_OPT__(, ) __VA_ARGS__, sloc l = sloc::current()) {                  \
    return detail::scan_node<reduce_kind::kind, is_exclusive, is_reversed, A...>(x, l);                \
  }                                                                                                    \
  template <int... A, Operand X, why Reason = detail::scan_why<X, klass::cls, A...>()>                 \
    requires(detail::wrong(Reason))                                                                    \
  mistake<Reason> f(const X& __VA_OPT__(, ) __VA_ARGS__) KILN_MISTAKE(KILN_REASONS_REDUCE);            \
  template <DType D, int... A, Operand X, why Reason = why::this_reduction_names_no_dtype__write_cast> \
  mistake<Reason> f(const X& __VA_OPT__(, ) __VA_ARGS__) KILN_MISTAKE(KILN_REASONS_REDUCE);
#define KILN_SCAN(f, kind, cls)                                                                                              \
  KILN_SCAN_FORM(f, kind, cls, false, false)                                                                                 \
  KILN_SCAN_FORM(f, kind, cls, true, false, exclusive_)                                                                      \
  KILN_SCAN_FORM(f, kind, cls, false, true, reverse_)                                                                        \
  KILN_SCAN_FORM(f, kind, cls, true, true, exclusive_, reverse_)                                                             \
  KILN_SCAN_FORM(f, kind, cls, true, true, reverse_, exclusive_)                                                             \
  template <int... A, class X,                                                                                               \
            why Reason = detail::kernel_array<X> ? detail::meant<X> : why::operand_must_be_a_tensor__write_var_full_or_size> \
    requires(detail::kernel_array<X> || detail::arithmetic<X>)                                                               \
  mistake<Reason> f(const X&) KILN_MISTAKE(KILN_REASONS_REDUCE);
KILN_SCAN(cumsum, sum, number)
KILN_SCAN(cumprod, prod, number)
KILN_SCAN(cummax, max, any)
KILN_SCAN(cummin, min, any)
#undef KILN_SCAN
#undef KILN_SCAN_FORM

}  // namespace kiln::dsl
