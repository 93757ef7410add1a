// Library functions written in the DSL itself. They take tensors of floating point; relu takes any numbers. The result has the
// shape of x; the result of mse has rank 0. isnan, isinf and isfinite give bool. The nodes of a function have the line of its
// call.
#pragma once

#include "kiln/dsl/mark.h"

namespace kiln::dsl {

template <class X>
concept FloatOperand = Operand<X> && detail::is_float<dtype_of<X>>;

// Results of bool. isnan: the element is a NaN. isinf: it is plus or minus infinity. isfinite: it is neither of these.
template <FloatOperand X>
constexpr auto isnan(const X& x, sloc l = sloc::current()) {
  called_from here(x.b, l);
  return x != x;
}
template <FloatOperand X>
constexpr auto isinf(const X& x, sloc l = sloc::current()) {
  called_from here(x.b, l);
  return abs(x) == __builtin_inf();
}
template <FloatOperand X>
constexpr auto isfinite(const X& x, sloc l = sloc::current()) {
  called_from here(x.b, l);
  return abs(x) < __builtin_inf();
}
// max(x, 0); numbers.
template <Operand X>
  requires(unary_why<X, klass::number> == why::ok)
constexpr auto relu(const X& x, sloc l = sloc::current()) {
  return max(x, 0, l);
}
// x * (1 + erf(x / sqrt(2))) / 2, the exact form.
template <FloatOperand X>
constexpr auto gelu(const X& x, sloc l = sloc::current()) {
  called_from here(x.b, l);
  return 0.5 * x * (1 + erf(x * 0.70710678118654752440));
}
// x / (1 + exp(-x))
template <FloatOperand X>
constexpr auto silu(const X& x, sloc l = sloc::current()) {
  called_from here(x.b, l);
  return x * sigmoid(x);
}

template <class X, int Axis>
inline constexpr why softmax_why = detail::reduce_why<X, klass::floating, true, Axis>();
// softmax<axis>(x), log_softmax<axis>(x): over one axis, the last by default, with the maximum subtracted first.
// The results do not depend on the number that is subtracted, so its derivative is left out.
template <int Axis = -1, Operand X>
  requires(softmax_why<X, Axis> == why::ok)
constexpr auto softmax(const X& x, sloc l = sloc::current()) {
  called_from here(x.b, l);
  const auto e = exp(x - stop_gradient(max<Axis>(x, keepdims)));
  return e / sum<Axis>(e, keepdims);
}
template <int Axis = -1, Operand X>
  requires(softmax_why<X, Axis> == why::ok)
constexpr auto log_softmax(const X& x, sloc l = sloc::current()) {
  called_from here(x.b, l);
  const auto d = x - stop_gradient(max<Axis>(x, keepdims));
  return d - log(sum<Axis>(exp(d), keepdims));
}
// layer_norm<axis>(x): (x - mean) / sqrt(variance + eps) over the axis, with the population variance. layer_norm<axis>(x,
// gamma, beta): layer_norm<axis>(x) * gamma + beta. eps, 1e-5 by default, may be one more argument.
template <int Axis = -1, Operand X>
  requires(softmax_why<X, Axis> == why::ok)
constexpr auto layer_norm(const X& x, double eps = 1e-5, sloc l = sloc::current()) {
  called_from here(x.b, l);
  const auto d = x - mean<Axis>(x, keepdims);
  return d * rsqrt(mean<Axis>(d * d, keepdims) + eps);
}
template <int Axis = -1, Operand X, Operand G, Operand B>
  requires(softmax_why<X, Axis> == why::ok && ternary_why<X, G, B, klass::floating> == why::ok)
constexpr auto layer_norm(const X& x, const G& gamma, const B& beta, double eps = 1e-5, sloc l = sloc::current()) {
  called_from here(x.b, l);
  return layer_norm<Axis>(x, eps) * gamma + beta;
}
// mse(a, b): the mean of the squared differences, rank 0.
template <Operand A, Operand B>
  requires(binary_why<A, B, klass::floating> == why::ok)
constexpr auto mse(const A& a, const B& b, sloc l = sloc::current()) {
  called_from here(a.b, l);
  const auto d = a - b;
  return mean(d * d);
}

#define KILN_X(f)                                                \
  template <class X, why Reason = unary_why<X, klass::floating>> \
    requires(detail::wrong(Reason))                              \
  mistake<Reason> f(const X&) KILN_MISTAKE(KILN_REASONS_OPERAND);
KILN_X(gelu)
KILN_X(silu)
KILN_X(isnan)
KILN_X(isinf)
KILN_X(isfinite)
#undef KILN_X
template <class X, why Reason = unary_why<X, klass::number>>
  requires(detail::wrong(Reason))
mistake<Reason> relu(const X&) KILN_MISTAKE(KILN_REASONS_OPERAND);
#define KILN_X(f)                                                        \
  template <int Axis = -1, Operand X, why Reason = softmax_why<X, Axis>> \
    requires(detail::wrong(Reason))                                      \
  mistake<Reason> f(const X&) KILN_MISTAKE(KILN_REASONS_REDUCE);
KILN_X(softmax)
KILN_X(log_softmax)
KILN_X(layer_norm)
#undef KILN_X
template <int Axis = -1, Operand X, Operand G, Operand B,
          why Reason = detail::wrong(softmax_why<X, Axis>) ? softmax_why<X, Axis> : ternary_why<X, G, B, klass::floating>>
  requires(detail::wrong(Reason))
mistake<Reason> layer_norm(const X&, const G&, const B&) KILN_MISTAKE(KILN_REASONS_OPERAND);
template <Operand A, Operand B, why Reason = binary_why<A, B, klass::floating>>
  requires(detail::wrong(Reason))
mistake<Reason> mse(const A&, const B&) KILN_MISTAKE(KILN_REASONS_OPERAND);

// A mistake: the axis in parentheses, as in NumPy. (max(x, 0) and min(x, 0) are elementwise; in layer_norm(x, 1) the 1 is eps.)
#define KILN_X(f)                                                                                 \
  template <Operand X, class A, why Reason = why::axes_are_template_arguments__write_sum_of_axis> \
    requires(detail::arithmetic<A>)                                                               \
  mistake<Reason> f(const X&, A) KILN_MISTAKE(KILN_REASONS_REDUCE);
KILN_X(sum)
KILN_X(prod)
KILN_X(mean)
KILN_X(any)
KILN_X(all)
KILN_X(argmax)
KILN_X(argmin)
KILN_X(cumsum)
KILN_X(cumprod)
KILN_X(cummax)
KILN_X(cummin)
KILN_X(softmax)
KILN_X(log_softmax)
#undef KILN_X

}  // namespace kiln::dsl
