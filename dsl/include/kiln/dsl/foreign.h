// Functions of std and C on captured values. Without these declarations the compilers would answer such a mistake with
// lists of candidates, or from inside of the standard library. A call of std::max looks only into std: the declarations at the
// end of this file are all that Kiln adds to std. They take operands of Kiln alone, are never defined, and only a mistake
// chooses them.
#pragma once

#include "kiln/dsl/elements.h"

// X(name): functions of one, two and three operands. FOREIGN: kiln has them. MISSING: it does not. C: with names of C alone.
// clang-format off
#define KILN_FOREIGN_1(X) \
  X(abs) X(fabs) X(sqrt) X(exp) X(exp2) X(expm1) X(log) X(log2) X(log1p) X(log10) X(cbrt) X(sin) X(cos) X(tan) \
  X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(erf) \
  X(floor) X(ceil) X(round) X(trunc) X(rint) X(nearbyint) X(lround) X(isnan) X(isinf) X(isfinite) X(signbit)
#define KILN_FOREIGN_2(X) \
  X(max) X(min) X(minmax) X(pow) X(fmax) X(fmin) X(fmod) X(remainder) X(hypot) X(atan2) X(copysign) X(ldexp)
#define KILN_FOREIGN_3(X) X(clamp) X(fma) X(lerp)
#define KILN_FOREIGN_C1(X) \
  X(fabs) X(fabsf) X(sqrtf) X(expf) X(exp2f) X(expm1f) X(logf) X(log2f) X(log1pf) X(log10f) X(cbrtf) X(sinf) X(cosf) X(tanf) \
  X(asinf) X(acosf) X(atanf) X(sinhf) X(coshf) X(tanhf) \
  X(floorf) X(ceilf) X(roundf) X(truncf) X(rint) X(lround)
#define KILN_FOREIGN_C2(X) X(powf) X(fmax) X(fmin) X(fmaxf) X(fminf) X(fmodf) X(hypotf) X(atan2f)
#define KILN_MISSING_1(X) X(erfc) X(tgamma) X(lgamma)
#define KILN_MISSING_2(X) X(fdim)
#define KILN_MISSING_C1(X) X(erfcf) X(tgammaf) X(lgammaf)
#define KILN_MISSING_C2(X) X(fdimf)
// clang-format on

#define KILN_STD_AND_C kiln::dsl::why::std_and_c_know_no_captured_values__write_max_abs_sqrt_pow_of_kiln_without_std

#define KILN_NOT_SWAPPED kiln::dsl::why::a_captured_value_is_not_swapped__write_auto_t_of_var_and_assign
#define KILN_NO_SUCH kiln::dsl::why::kiln_has_no_such_function__write_it_with_erf_or_max

#define KILN_UNARY(f, reason)                                     \
  template <kiln::dsl::Operand X, kiln::dsl::why Reason = reason> \
  kiln::dsl::mistake<Reason> f(const X&) KILN_MISTAKE(KILN_REASONS_MISUSE);
#define KILN_BINARY(f, reason)                                \
  template <class A, class B, kiln::dsl::why Reason = reason> \
    requires(kiln::dsl::Operand<A> || kiln::dsl::Operand<B>)  \
  kiln::dsl::mistake<Reason> f(const A&, const B&) KILN_MISTAKE(KILN_REASONS_MISUSE);
#define KILN_X1(f) KILN_UNARY(f, KILN_STD_AND_C)
#define KILN_X2(f) KILN_BINARY(f, KILN_STD_AND_C)
#define KILN_NO_1(f) KILN_UNARY(f, KILN_NO_SUCH)
#define KILN_NO_2(f) KILN_BINARY(f, KILN_NO_SUCH)
#define KILN_X3(f)                                                                    \
  template <class A, class B, class C, kiln::dsl::why Reason = KILN_STD_AND_C>        \
    requires(kiln::dsl::Operand<A> || kiln::dsl::Operand<B> || kiln::dsl::Operand<C>) \
  kiln::dsl::mistake<Reason> f(const A&, const B&, const C&) KILN_MISTAKE(KILN_REASONS_MISUSE);

namespace kiln::dsl {

template <class X>
concept written_parameter = requires { typename X::is_parameter; } && X::direction != dir::in;

KILN_FOREIGN_C1(KILN_X1)
KILN_FOREIGN_C2(KILN_X2)
// Functions of any number of operands, so that a template of the same name in the user's file matches better.
#define KILN_X(f)                                  \
  template <class... X, why Reason = KILN_NO_SUCH> \
    requires(Operand<X> || ...)                    \
  mistake<Reason> f(const X&...) KILN_MISTAKE(KILN_REASONS_MISUSE);
KILN_MISSING_1(KILN_X)
KILN_MISSING_2(KILN_X)
KILN_MISSING_C1(KILN_X)
KILN_MISSING_C2(KILN_X)
#undef KILN_X

// std::cout << x(i)
template <class Stream, class X, why Reason = why::a_captured_value_is_not_printed__write_it_to_an_out_parameter>
  requires(Operand<X> && requires(Stream& s) { s.rdbuf(); })
mistake<Reason> operator<<(Stream&, const X&) KILN_MISTAKE(KILN_REASONS_MISUSE);
template <class... X, why Reason = why::a_captured_value_is_not_printed__write_it_to_an_out_parameter>
  requires(Operand<X> || ...)
mistake<Reason> printf(const char*, const X&...) KILN_MISTAKE(KILN_REASONS_MISUSE);

// float t = 0; t += x(i)
#define KILN_X(sym)                                                                                           \
  template <class A, Operand B, why Reason = why::a_variable_of_cpp_is_no_variable_of_the_program__write_var> \
    requires(detail::arithmetic<A>)                                                                           \
  mistake<Reason> operator sym(A&, const B&) KILN_MISTAKE(KILN_REASONS_MISUSE);
KILN_X(+=)
KILN_X(-=)
KILN_X(*=)
KILN_X(/=)
#undef KILN_X
// fma(x, y), sum<1>(x, true), concat<0>({x, y}), reshape(x, {N, M}), pad(x, 1), tile(x, 2)
template <class A, class B, why Reason = why::three_operands__write_fma_a_b_c_clamp_x_lo_hi>
  requires(Operand<A> || Operand<B>)
mistake<Reason> fma(const A&, const B&) KILN_MISTAKE(KILN_REASONS_MISUSE);
template <class A, class B, why Reason = why::three_operands__write_fma_a_b_c_clamp_x_lo_hi>
  requires(Operand<A> || Operand<B>)
mistake<Reason> clamp(const A&, const B&) KILN_MISTAKE(KILN_REASONS_MISUSE);
#define KILN_X(f)                                                                                     \
  template <int... Axes, Operand X, class K, why Reason = why::axes_stay_by__write_sum_of_x_keepdims> \
    requires(std::is_same_v<K, bool>)                                                                 \
  mistake<Reason> f(const X&, const K&) KILN_MISTAKE(KILN_REASONS_MISUSE);
KILN_X(sum)
KILN_X(mean)
KILN_X(prod)
KILN_X(argmax)
KILN_X(argmin)
#undef KILN_X
#define KILN_X(f)                                                                                           \
  template <Operand X, class Y, class... More,                                                              \
            why Reason = why::axes_and_extents_are_template_arguments__write_arange_of_n_in_angle_brackets> \
    requires(detail::arithmetic<Y> || Extent<Y>)                                                            \
  mistake<Reason> f(const X&, const Y&, const More&...) KILN_MISTAKE(KILN_REASONS_MISUSE);
KILN_X(pad)
KILN_X(tile)
KILN_X(repeat)
KILN_X(split)
#undef KILN_X
template <Operand X, class E, int K,
          why Reason = why::axes_and_extents_are_template_arguments__write_arange_of_n_in_angle_brackets>
mistake<Reason> reshape(const X&, const E (&)[K]) KILN_MISTAKE(KILN_REASONS_MISUSE);
template <int Axis, Operand X, int K,
          why Reason = why::axes_and_extents_are_template_arguments__write_arange_of_n_in_angle_brackets>
mistake<Reason> concat(const X (&)[K]) KILN_MISTAKE(KILN_REASONS_MISUSE);
template <int Axis, Operand X, int K,
          why Reason = why::axes_and_extents_are_template_arguments__write_arange_of_n_in_angle_brackets>
mistake<Reason> stack(const X (&)[K]) KILN_MISTAKE(KILN_REASONS_MISUSE);
template <Operand C, class X, why Reason = why::select_takes_a_condition_and_two_values__write_select_c_a_b>
mistake<Reason> select(const C&, const X&) KILN_MISTAKE(KILN_REASONS_MISUSE);
template <Operand X, why Reason = why::the_dtype_is_a_template_argument__write_cast_of_dtype>
mistake<Reason> cast(const X&) KILN_MISTAKE(KILN_REASONS_CAST);
template <class D, Operand X, why Reason = why::cpp_types_are_no_dtypes__write_f32_f64_i32_i64_u8>
  requires(!DType<D>)
mistake<Reason> cast(const X&) KILN_MISTAKE(KILN_REASONS_CAST);

namespace detail {

// x + "a"
template <class X>
concept no_operand = !Arg<X> && !kernel_array<X> && !std::is_same_v<X, ext> && !requires { typename X::is_mistake; };

}  // namespace detail

#define KILN_X(sym)                                                                                 \
  template <Operand A, class B, why Reason = why::an_operand_is_a_tensor_a_number_or_an_extent>     \
    requires(detail::no_operand<std::remove_cvref_t<B>>)                                            \
  mistake<Reason> operator sym(const A&, const B&) KILN_MISTAKE(KILN_REASONS_MISUSE);               \
  template <class A, Operand B, why Reason = why::an_operand_is_a_tensor_a_number_or_an_extent>     \
    requires(detail::no_operand<std::remove_cvref_t<A>> && std::is_array_v<std::remove_cvref_t<A>>) \
  mistake<Reason> operator sym(const A&, const B&) KILN_MISTAKE(KILN_REASONS_MISUSE);
KILN_X(+)
KILN_X(-)
KILN_X(*)
KILN_X(/)
KILN_X(<)
KILN_X(>)
#undef KILN_X

// kernel(N) in a helper function, which has no members
#define KILN_X(f)                                                                           \
  template <class... X, why Reason = why::keywords_are_members__write_scope_s_of_x_or_this> \
    requires((Operand<X> || Extent<X>) || ...)                                              \
  mistake<Reason> f(const X&...) KILN_MISTAKE(KILN_REASONS_MISUSE);
KILN_X(kernel)
KILN_X(loop)
KILN_X(when)
KILN_X(otherwise)
KILN_X(var)
KILN_X(break_if)
KILN_X(continue_if)
#undef KILN_X

}  // namespace kiln::dsl

// With two operands of one type std's own declaration matches as well, and the constraint decides for this one.
#define KILN_SAME(f)                                                     \
  template <kiln::dsl::Operand X>                                        \
  kiln::dsl::mistake<KILN_STD_AND_C> f(const X&, const X&) KILN_DELETED( \
      "kiln: functions of std know no captured values: write kiln's, without std: max(a, b), abs(x), sqrt(x), pow(x, y)");

namespace std {  // NOLINT(cert-dcl58-cpp)
KILN_SAME(max)
KILN_SAME(min)
KILN_SAME(minmax)
template <kiln::dsl::Operand X,
          kiln::dsl::why Reason = kiln::dsl::why::a_captured_value_is_not_printed__write_it_to_an_out_parameter>
kiln::dsl::mistake<Reason> to_string(const X&) KILN_MISTAKE(KILN_REASONS_MISUSE);
template <kiln::dsl::Operand A, kiln::dsl::Operand B,
          kiln::dsl::why Reason = kiln::dsl::why::a_captured_value_is_not_swapped__write_auto_t_of_var_and_assign>
kiln::dsl::mistake<Reason> swap(A&&, B&&) KILN_MISTAKE(KILN_REASONS_MISUSE);
// std's own swap and exchange copy a parameter to keep its old elements. But the copy names the same tensor. A copy of a
// variable has the old elements, so both functions work for variables.
template <kiln::dsl::written_parameter X>
kiln::dsl::mistake<KILN_NOT_SWAPPED> swap(X&, X&)
    KILN_DELETED("kiln: no std::swap of whole tensors: auto t = var(a); a = b; b = t;");
template <kiln::dsl::written_parameter X, class U = X>
kiln::dsl::mistake<KILN_NOT_SWAPPED> exchange(X&, U&&)
    KILN_DELETED("kiln: no std::exchange of whole tensors: auto t = var(a); a = e; then t has the old elements");
template <class... X, kiln::dsl::why Reason = kiln::dsl::why::a_captured_value_is_not_printed__write_it_to_an_out_parameter>
  requires(kiln::dsl::Operand<X> || ...)
kiln::dsl::mistake<Reason> printf(const char*, const X&...) KILN_MISTAKE(KILN_REASONS_MISUSE);
KILN_FOREIGN_1(KILN_X1)
KILN_FOREIGN_2(KILN_X2)
KILN_FOREIGN_3(KILN_X3)
KILN_MISSING_1(KILN_NO_1)
KILN_MISSING_2(KILN_NO_2)
}  // namespace std
