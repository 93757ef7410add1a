// Marks: functions whose result is their argument. They tell a derivative where to stop, and which values are different.
#pragma once

#include "kiln/dsl/window.h"

namespace kiln::dsl {

namespace detail {

constexpr std::uint64_t mark_of(record::mark_kind k, int number) {
  return static_cast<std::uint64_t>(k) << 32 | static_cast<std::uint64_t>(number);
}
template <class X>
constexpr auto marked(const X& x, record::mark_kind k, int number, const sloc& l) {
  const int id = x.read_(l);
  detail::begin_node<dtype_of<X>, shape_of<X>>(x.b, op::mark, l, detail::mark_of(k, number));
  x.b->src(id);
  return detail::result<dtype_of<X>, shape_of<X>>(x.b);
}

// The types of a value and of the value that gives it its derivative are equal.
template <class V, class X>
constexpr why straight_why() {
  if constexpr (!Operand<V> || !Operand<X>) {
    return Operand<V> || Operand<X> ? why::gradient_is_of_a_value_or_parameter__write_it_without_literals : why::not_ours;
  } else {
    if (!is_float<dtype_of<X>>) return why::gradient_needs_floating_point__write_cast;
    if (!std::is_same_v<dtype_of<V>, dtype_of<X>>) return why::dtypes_differ__write_cast_or_sum_and_matmul_of_a_dtype;
    return same_shape<shape_of<V>, shape_of<X>> ? why::ok : why::shapes_do_not_broadcast__write_unsqueeze_expand_or_reshape;
  }
}

}  // namespace detail

// stop_gradient(x): x, without a derivative.
template <Operand X>
constexpr auto stop_gradient(const X& x, sloc l = sloc::current()) {
  return detail::marked(x, record::mark_kind::stop, 0, l);
}
// independent(x): x, but another value than x. With p = independent(x), grad(y, p) is the derivative of y with respect to the
// places where y uses p; grad(y, x) counts these places too.
template <Operand X>
constexpr auto independent(const X& x, sloc l = sloc::current()) {
  return detail::marked(x, record::mark_kind::independent, x.b->numbers++, l);
}
// straight_through(value, x): value, with the derivative of x. straight_through(round(x), x) passes a gradient as if it did not
// round. Both have one type.
template <class V, class X>
  requires(detail::straight_why<V, X>() == why::ok)
constexpr auto straight_through(const V& value, const X& x, sloc l = sloc::current()) {
  const int id = value.read_(l), through = x.read_(l);
  constexpr std::uint64_t imm = detail::mark_of(record::mark_kind::straight, 0);
  detail::begin_node<dtype_of<X>, shape_of<X>>(x.b, op::mark, l, imm);
  x.b->src(id);
  x.b->src(through);
  return detail::result<dtype_of<X>, shape_of<X>>(x.b);
}
template <class V, class X, why Reason = detail::straight_why<V, X>()>
  requires(detail::wrong(Reason))
mistake<Reason> straight_through(const V&, const X&) KILN_MISTAKE(KILN_REASONS_GRADIENT);

}  // namespace kiln::dsl
