// Expressions of C++ that have no meaning for tensors and extents: a program's author wrote them as for values of C++.
#pragma once

#include "kiln/dsl/elements.h"

namespace kiln::dsl {

namespace detail {

template <class X>
concept tensor_or_array = Operand<X> || kernel_array<X>;

}  // namespace detail

#define KILN_X(name)                                                                                    \
  template <detail::tensor_or_array X, why Reason = why::increment_has_no_meaning__write_plus_equals_1> \
  mistake<Reason> operator name(const X&) KILN_MISTAKE(KILN_REASONS_MISUSE);                            \
  template <detail::tensor_or_array X, why Reason = why::increment_has_no_meaning__write_plus_equals_1> \
  mistake<Reason> operator name(const X&, int) KILN_MISTAKE(KILN_REASONS_MISUSE);
KILN_X(++)
KILN_X(--)
#undef KILN_X

#define KILN_X(name)                                                                                \
  template <class X, why Reason = why::cpp_sees_no_extents_and_elements__write_kernel_loop_or_size> \
    requires(detail::tensor_or_array<X> || Extent<X>)                                               \
  mistake<Reason> name(const X&) KILN_MISTAKE(KILN_REASONS_MISUSE);
KILN_X(begin)
KILN_X(end)
#undef KILN_X

// for (int i = 0; i < N; ++i)
#define KILN_X(name)                                                                                                 \
  template <ExtentArg A, ExtentArg B, why Reason = why::cpp_sees_no_extents_and_elements__write_kernel_loop_or_size> \
    requires(Extent<A> || Extent<B>)                                                                                 \
  mistake<Reason> operator name(A, B) KILN_MISTAKE(KILN_REASONS_MISUSE);
KILN_X(<)
KILN_X(<=)
KILN_X(>)
KILN_X(>=)
KILN_X(!=)
KILN_X(==)
#undef KILN_X

// 1.0f / N
#define KILN_X(name)                                                                                          \
  template <class A, Extent B, why Reason = why::cpp_sees_no_extents_and_elements__write_kernel_loop_or_size> \
    requires(std::is_floating_point_v<A>)                                                                     \
  mistake<Reason> operator name(A, B) KILN_MISTAKE(KILN_REASONS_MISUSE);                                      \
  template <Extent A, class B, why Reason = why::cpp_sees_no_extents_and_elements__write_kernel_loop_or_size> \
    requires(std::is_floating_point_v<B>)                                                                     \
  mistake<Reason> operator name(A, B) KILN_MISTAKE(KILN_REASONS_MISUSE);
KILN_X(+)
KILN_X(-)
KILN_X(*)
KILN_X(/)
#undef KILN_X

// reshape(x, N), transpose(x, 0, 1), slice(x, 1, 3)
#define KILN_X(name)                                                                                        \
  template <Operand X, class Y, class... More,                                                              \
            why Reason = why::axes_and_extents_are_template_arguments__write_arange_of_n_in_angle_brackets> \
    requires(detail::arithmetic<Y> || Extent<Y>)                                                            \
  mistake<Reason> name(const X&, const Y&, const More&...) KILN_MISTAKE(KILN_REASONS_MISUSE);
KILN_X(reshape)
KILN_X(expand)
KILN_X(permute)
KILN_X(transpose)
KILN_X(squeeze)
KILN_X(unsqueeze)
KILN_X(slice)
KILN_X(flip)
KILN_X(roll)
#undef KILN_X
// slice<0>(x, k, k + 4)
template <int Axis, Operand X, class Y, class... More, why Reason = why::a_slice_at_a_value_is_a_range__write_x_of_range>
  requires(Operand<Y> || detail::arithmetic<Y> || Extent<Y>)
mistake<Reason> slice(const X&, const Y&, const More&...) KILN_MISTAKE(KILN_REASONS_MISUSE);
// concat(a, b)
#define KILN_X(name)                                                                                        \
  template <Operand X, Operand... More,                                                                     \
            why Reason = why::axes_and_extents_are_template_arguments__write_arange_of_n_in_angle_brackets> \
  mistake<Reason> name(const X&, const More&...) KILN_MISTAKE(KILN_REASONS_MISUSE);
KILN_X(concat)
KILN_X(stack)
#undef KILN_X

}  // namespace kiln::dsl
