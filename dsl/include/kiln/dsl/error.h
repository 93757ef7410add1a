// Mistakes, in words. A function of the DSL has a constrained overload and a twin that takes the ill-formed calls. At the
// user's own line g++ names the reason as the return type of the deleted twin, and clang prints the text. Both contain the
// remedy: in a name it follows `__`.
#pragma once

#include "kiln/dsl/str.h"

namespace kiln::dsl {

// X(reason, text)
// clang-format off
#define KILN_REASONS_OPERAND(X) \
  X(dtypes_differ__write_cast_or_sum_and_matmul_of_a_dtype, "operands have different dtypes: write cast<...>(x); to add up in the wider dtype, sum<...>(x), matmul<...>(a, b)") \
  X(shapes_do_not_broadcast__write_unsqueeze_expand_or_reshape, "shapes do not broadcast: extents, from the last axis on, must be equal or 1: unsqueeze<1>(x), expand, reshape") \
  X(a_bool_is_compared_with_a_number__write_a_less_b_and_b_less_c, "a bool is compared with a number: 0 < x && x < 1 for 0 < x < 1") \
  X(literal_does_not_fit_the_dtype__write_cast_or_a_literal_of_its_kind, "the literal does not fit the dtype of the tensor: integers take 2, floating point 2 and 0.5, bool true; cast<f32>(x) * 0.5 or sum<f32>(x) * 0.5 for an integer x") \
  X(arithmetic_on_bool__write_cast, "no arithmetic on bool: write cast<i32>(x) or select(x, a, b)") \
  X(operands_must_be_integers__write_cast_floor_or_pow, "operands must be integers: cast<i32>(x); of floating point x - floor(x / y) * y") \
  X(operands_must_be_integers_or_bool__write_cast_or_pow, "operands must be integers or bool: cast<i32>(x); a power is pow(x, 2) or x * x") \
  X(operands_must_be_bool__write_x_not_equal_0, "operands must be bool: x != 0") \
  X(operand_must_be_floating_point__write_cast, "the operand must be floating point: write cast<f32>(x)") \
  X(condition_must_be_bool, "the condition must be a bool tensor") \
  X(two_literals_have_no_dtype__write_select_of_dtype, "two literals have no dtype: write select<f32>(c, a, b)") \
  X(operand_must_be_a_tensor__write_var_full_or_size, "needs a tensor of the program, not a plain C++ value: var(1.0f), full<f32, N>(1), size<N, i32>()") \
  X(computed_extent_is_a_template_argument__write_size_of_extent, "a computed extent is a template argument: size<N - 1, i32>(), or x.size<0>() - 1") \
  X(an_array_is_read_by_element__write_a_of_i, "an array of a kernel is read by element: a(i)")
#define KILN_REASONS_ASSIGN(X) \
  X(an_in_parameter_is_read_only__declare_it_out_or_inout, "an in<> parameter is read-only: declare it inout<> or out<>") \
  X(assigned_value_has_another_dtype__write_cast_or_sum_and_matmul_of_that_dtype, "the assigned value has another dtype: write cast<...>(x); to add up in the wider dtype, sum<...>(x), matmul<...>(a, b)") \
  X(assigned_value_has_another_shape__write_sum_expand_or_reshape, "the shape of the assigned value does not broadcast to the shape on the left: sum<1>(x), x(i), unsqueeze<1>(x), expand, reshape") \
  X(computed_extent_is_a_template_argument__write_size_of_extent, "a computed extent is a template argument: size<N - 1, i32>(), or x.size<0>() - 1") \
  X(an_array_is_read_by_element__write_a_of_i, "an array of a kernel is read by element: a(i)") \
  X(an_array_is_written_by_element__write_a_of_i, "an array of a kernel is written by element: a(i) = e") \
  X(a_value_keeps_what_it_was__write_var, "an element that was read is a value and keeps what it was: auto v = var(x(i)), then v += e; y(i) += e writes the element") \
  X(left_side_is_a_computed_value__write_t_of_i_j_of_a_parameter, "the left side is a computed value, not an out<> or inout<> parameter: y = e, y(i, j) = e") \
  X(the_type_of_a_value_never_changes__give_the_result_a_new_name, "a value keeps its dtype and shape: give the result a new name") \
  X(literal_does_not_fit_the_dtype__write_cast_or_a_literal_of_its_kind, "the literal does not fit the dtype of the tensor: integers take 2, floating point 2 and 0.5, bool true; cast<f32>(x) * 0.5 or sum<f32>(x) * 0.5 for an integer x") \
  X(arithmetic_on_bool__write_cast, "no arithmetic on bool: write cast<i32>(x) or select(x, a, b)") \
  X(operands_must_be_integers__write_cast_floor_or_pow, "operands must be integers: cast<i32>(x); of floating point x - floor(x / y) * y") \
  X(operands_must_be_integers_or_bool__write_cast_or_pow, "operands must be integers or bool: cast<i32>(x); a power is pow(x, 2) or x * x")
#define KILN_REASONS_AXIS(X) \
  X(axis_out_of_range, "axis out of range for the rank of the tensor") \
  X(axis_is_named_twice, "an axis is named twice") \
  X(permutation_must_name_every_axis_once, "a permutation must name every axis once") \
  X(squeezed_axis_must_have_extent_1, "only an axis of static extent 1 can be squeezed") \
  X(operand_must_be_a_tensor__write_var_full_or_size, "needs a tensor of the program, not a plain C++ value: var(1.0f), full<f32, N>(1), size<N, i32>()")
#define KILN_REASONS_INDEX(X) \
  X(axis_out_of_range, "axis out of range for the rank of the tensor") \
  X(indices_are_numbers__name_another_dtype, "indices are numbers, not bool: name an integer or floating dtype")
#define KILN_REASONS_REDUCE(X) \
  KILN_REASONS_AXIS(X) \
  X(an_array_is_read_by_element__write_a_of_i, "an array of a kernel is read by element: a(i)") \
  X(axes_are_template_arguments__write_sum_of_axis, "axes are template arguments: write sum<0>(x), softmax<1>(x)") \
  X(arithmetic_on_bool__write_cast, "no arithmetic on bool: write cast<i32>(x) or select(x, a, b)") \
  X(operands_must_be_bool__write_x_not_equal_0, "operands must be bool: x != 0") \
  X(the_named_dtype_does_not_hold_every_element__write_cast, "the named dtype does not hold every element: a wider one, or sum(cast<...>(x))") \
  X(this_reduction_names_no_dtype__write_cast, "this reduction names no dtype, only sum, prod, mean, dot and matmul do: max(cast<f64>(x))") \
  X(operand_must_be_floating_point__write_cast, "the operand must be floating point: write cast<f32>(x)") \
  X(a_scan_is_along_one_axis__write_cumsum_of_axis, "a scan is along one axis: cumsum<1>(x)") \
  X(reduction_of_an_empty_axis_has_no_value, "min, max, argmin, argmax and mean of an axis of extent 0 have no value")
#define KILN_REASONS_MOVE(X) \
  KILN_REASONS_AXIS(X) \
  X(reshape_changes_the_number_of_elements, "reshape must keep the number of elements") \
  X(only_one_extent_may_be_inferred, "only one extent of a reshape may be -1") \
  X(inferred_extent_does_not_divide, "the extent -1 cannot be inferred: the other extents do not divide the number of elements") \
  X(extents_do_not_expand, "expand: each extent must stay or grow from 1") \
  X(slice_is_out_of_range, "slice bounds are outside the axis") \
  X(only_integers_count_from_the_end__write_n_minus_q, "only integers count from the end: for a bound of -Q write N - Q, slice<0, P, N - Q>(x)") \
  X(slice_step_is_zero, "the step of a slice must not be 0") \
  X(padding_is_negative__write_slice, "padding must not be negative: slice<0, 2, -1>(x) takes two elements away in front and one behind") \
  X(padding_is_larger_than_the_axis, "edge, reflect or wrap padding is larger than the axis allows") \
  X(number_of_parts_does_not_divide_the_axis, "the axis does not split into that many equal parts") \
  X(parts_do_not_add_up_to_the_axis, "the sizes of the parts do not add up to the axis") \
  X(repeat_count_is_negative, "a repeat count must not be negative") \
  X(extents_differ_outside_the_joined_axis, "the extents must be equal on every axis but the joined one") \
  X(ranks_differ, "the tensors must have the same rank") \
  X(dtypes_differ__write_cast_or_sum_and_matmul_of_a_dtype, "operands have different dtypes: write cast<...>(x); to add up in the wider dtype, sum<...>(x), matmul<...>(a, b)") \
  X(literal_does_not_fit_the_dtype__write_cast_or_a_literal_of_its_kind, "the literal does not fit the dtype of the tensor: integers take 2, floating point 2 and 0.5, bool true; cast<f32>(x) * 0.5 or sum<f32>(x) * 0.5 for an integer x")
#define KILN_REASONS_CONTRACT(X) \
  X(the_named_dtype_does_not_hold_every_element__write_cast, "the named dtype does not hold every element: a wider one, or sum(cast<...>(x))") \
  X(inner_extents_of_matmul_differ, "matmul(a, b) needs a[.., K] and b[.., K, N] with the same K") \
  X(batch_extents_do_not_broadcast, "the batch extents of matmul do not broadcast") \
  X(matmul_needs_rank_1_or_more, "matmul needs tensors of rank 1 or more") \
  X(dot_needs_two_vectors_of_the_same_extent, "dot(a, b) needs two vectors of the same extent") \
  X(image_must_be_batch_channels_height_width, "the image must have rank 4: [batch, channels, height, width]") \
  X(filter_must_be_out_in_height_width, "the filter must have rank 4 and static height and width: [out, in / groups, kh, kw]") \
  X(channels_do_not_match_the_filter, "channels of the image must be groups times the filter's input channels") \
  X(groups_do_not_divide_the_channels, "groups must divide the channels of image and filter") \
  X(window_does_not_fit_the_image, "the window does not fit the padded image") \
  X(stride_and_dilation_must_be_positive, "stride, dilation and kernel must be at least 1, padding at least 0") \
  X(bias_must_have_one_element_per_output_channel, "the bias must be [out]") \
  X(dtypes_differ__write_cast_or_sum_and_matmul_of_a_dtype, "operands have different dtypes: write cast<...>(x); to add up in the wider dtype, sum<...>(x), matmul<...>(a, b)") \
  X(arithmetic_on_bool__write_cast, "no arithmetic on bool: write cast<i32>(x) or select(x, a, b)") \
  X(operand_must_be_floating_point__write_cast, "the operand must be floating point: write cast<f32>(x)")
#define KILN_REASONS_CAST(X) \
  X(cpp_types_are_no_dtypes__write_f32_f64_i32_i64_u8, "types of C++ are no dtypes: f32 for float, f64 for double, i32 for int, i64 for long, u8 for unsigned char") \
  X(the_dtype_is_a_template_argument__write_cast_of_dtype, "the dtype is a template argument: cast<f32>(x)") \
  X(bitcast_needs_the_same_width, "bitcast needs dtypes of the same width") \
  X(bitcast_of_bool__write_cast, "bitcast does not take bool: write cast") \
  X(operand_must_be_a_tensor__write_var_full_or_size, "needs a tensor of the program, not a plain C++ value: var(1.0f), full<f32, N>(1), size<N, i32>()")
#define KILN_REASONS_SCOPE(X) \
  X(bound_must_be_a_scalar_integer__write_for_auto_i_kernel_of_an_extent, "a bound is an integer, a symbolic extent or a scalar of i32 or i64: for (auto [i] : kernel(N)), no lambda") \
  X(computed_extent_is_a_template_argument__write_kernel_or_loop_in_angle_brackets, "a computed extent is a template argument: kernel<N / 2>(), loop<1, N - 1>()") \
  X(kernel_takes_one_to_four_extents, "kernel(n, m) takes one to four extents") \
  X(loop_takes_one_to_three_bounds, "loop(end), loop(begin, end), loop(begin, end, step)") \
  X(bound_of_i64_needs_a_kernel_of_i64, "an extent of i64 needs kernel<i64>(...), or cast<i32>") \
  X(condition_must_be_a_bool_scalar__write_x_greater_0_or_any, "the condition must be a bool scalar of the program: x(i) > 0, any(x > 0); for a tensor select(c, a, b)") \
  X(a_check_needs_a_text__write_check_of_condition_and_text, "a check needs a text: check(x(i) > 0, \"x is positive\")") \
  X(local_array_needs_static_extents, "a local or shared array needs static extents") \
  X(workgroup_needs_a_size_from_1_to_4096_for_each_extent, "a workgroup needs a size from 1 to 4096 for each extent, at most three: kernel(N, M).workgroup<16, 16>()") \
  X(work_item_is_not_of_a_kernel_with_workgroups, "local_id and group_id take a work item of kernel(...).workgroup<...>()") \
  X(extents_are_template_arguments__write_local_of_extents, "extents of an array and sizes of workgroups are template arguments: local<f32, 4>(), kernel(n).workgroup<64>()") \
  X(an_array_is_read_by_element__write_a_of_i, "an array of a kernel is read by element: a(i)") \
  X(cpp_types_are_no_dtypes__write_f32_f64_i32_i64_u8, "types of C++ are no dtypes: f32 for float, f64 for double, i32 for int, i64 for long, u8 for unsigned char") \
  X(assigned_value_has_another_dtype__write_cast_or_sum_and_matmul_of_that_dtype, "the assigned value has another dtype: write cast<...>(x); to add up in the wider dtype, sum<...>(x), matmul<...>(a, b)") \
  X(assigned_value_has_another_shape__write_sum_expand_or_reshape, "the shape of the assigned value does not broadcast to the shape on the left: sum<1>(x), x(i), unsqueeze<1>(x), expand, reshape") \
  X(a_variable_needs_a_value__write_var_of_value, "a variable needs a value or a dtype: var(0.0f), var(x), var<f32, 4>()") \
  X(literal_does_not_fit_the_dtype__write_cast_or_a_literal_of_its_kind, "the literal does not fit the dtype of the tensor: integers take 2, floating point 2 and 0.5, bool true; cast<f32>(x) * 0.5 or sum<f32>(x) * 0.5 for an integer x")
#define KILN_REASONS_ELEMENT(X) \
  X(index_must_be_an_integer__write_cast_or_select, "an index is an integer, or a scalar or tensor of an integer dtype: cast<i32>(x); for a mask select(c, a, b)") \
  X(computed_extent_is_a_template_argument__write_size_of_extent, "a computed extent is a template argument: size<N - 1, i32>(), or x.size<0>() - 1") \
  X(work_items_of_a_kernel_come_in_brackets__write_for_auto_i, "the work items of a kernel come in brackets: for (auto [i] : kernel(n))") \
  X(at_takes_a_mode__write_at_of_mode, "at names a mode: x.at<mode::wrap>(i); x(i) takes the nearest element") \
  X(elements_are_in_parentheses__write_t_of_i, "elements are in parentheses: t(i), t(i, j)") \
  X(an_atomic_is_of_an_element__write_t_of_i, "an atomic is of an element: t(i).atomic_add(e), of a scalar s().atomic_add(e)") \
  X(axis_of_a_size_is_a_template_argument__write_size_of_axis, "the axis of a size is a template argument: x.size<0>()") \
  X(axis_out_of_range, "axis out of range for the rank of the tensor") \
  X(at_most_one_index_for_each_axis, "t(i, j) takes at least one index and at most one for each axis") \
  X(at_most_four_indices_where_one_is_a_tensor, "t(i, j) takes at most four indices where one is a tensor or axes follow") \
  X(the_length_of_a_range_is_a_template_argument__write_range_of_length_or_loop, "the length of a range is a template argument: x(range<4>(k)) for k .. k + 3; to repeat, for (auto i : loop(n))") \
  X(a_range_stands_beside_ranges_and_single_indices, "beside a range stand ranges and single indices, no tensor of indices") \
  X(shapes_of_the_indices_do_not_broadcast, "the shapes of the indices do not broadcast: extents must be equal or 1") \
  X(mode_constant_takes_the_value_outside_after_the_indices, "x.at<mode::constant>(i, j, value) takes the value outside after the indices")
// Expressions that C++ accepts for its own values and that have no meaning for captured ones.
#define KILN_REASONS_MISUSE(X) \
  X(std_and_c_know_no_captured_values__write_max_abs_sqrt_pow_of_kiln_without_std, "functions of std and C know no captured values: write kiln's, without std: max(a, b), abs(x), sqrt(x), pow(x, y)") \
  X(kiln_has_no_such_function__write_it_with_erf_or_max, "no such function in kiln: erfc(x) is 1 - erf(x), fdim(a, b) is max(a - b, 0); lgamma and tgamma are missing") \
  X(a_captured_value_is_not_printed__write_it_to_an_out_parameter, "a captured value is not printed: it has a value only when the program runs; write it to an out<> parameter and print that") \
  X(a_captured_value_is_not_swapped__write_auto_t_of_var_and_assign, "no std::swap or std::exchange: of elements auto t = y(i); y(i) = y(j); y(j) = t; of whole tensors auto t = var(a); a = b; b = t;") \
  X(an_array_of_cpp_has_no_captured_index_or_length__write_local, "arrays and containers of C++ hold no captured values: auto a = local<f32, 4>(), elements a(i)") \
  X(functions_are_no_members__write_sum_of_x, "functions are no members: write sum(x), max<0>(x), reshape<N, M>(x), cast<f32>(x), transpose<0, 1>(x), y = 0") \
  X(an_operand_is_a_tensor_a_number_or_an_extent, "an operand is a tensor, a number or an extent") \
  X(a_variable_of_cpp_is_no_variable_of_the_program__write_var, "a variable of C++ does not change while the program runs: auto t = var(0.0f), then t += e") \
  X(three_operands__write_fma_a_b_c_clamp_x_lo_hi, "three operands: fma(a, b, c) is a * b + c, clamp(x, lo, hi)") \
  X(axes_stay_by__write_sum_of_x_keepdims, "reduced axes stay with extent 1 by keepdims: sum<1>(x, keepdims)") \
  X(select_takes_a_condition_and_two_values__write_select_c_a_b, "select takes a condition and two values: select(c, a, b)") \
  X(loops_and_kernels_repeat__write_for_auto, "loops, kernels and once are a for: for (auto i : loop(n)), for (auto [i] : kernel(n)), for (auto o : once()); a condition is if (auto c = when(p))") \
  X(keywords_are_members__write_scope_s_of_x_or_this, "kernel, loop, when, var are members of a program: in a helper function scope s(x); s.kernel(N), in a program template this->kernel(N)") \
  X(increment_has_no_meaning__write_plus_equals_1, "no ++ and --: write v += 1") \
  X(cpp_sees_no_extents_and_elements__write_kernel_loop_or_size, "C++ sees no extents and elements: for (auto [i] : kernel(N)), for (auto i : loop(N)); the extent as a value is size<N, i32>()") \
  X(a_slice_at_a_value_is_a_range__write_x_of_range, "a slice at a place that a value decides has a range as its index: x(range<4>(k)), x(i, range<4>(k))") \
  X(axes_and_extents_are_template_arguments__write_arange_of_n_in_angle_brackets, "axes and extents are template arguments: reshape<N, M>(x), concat<0>(a, b), pad<0, 1, 1>(x), arange<N>(), full<f32, N>(1), grid<N, M>()")
#define KILN_REASONS_GRADIENT(X) \
  X(gradient_is_of_a_scalar__write_grad_of_sum, "a gradient is of a scalar: grad(sum(y), x); of all elements at once vjp(y, x, c)") \
  X(gradient_needs_floating_point__write_cast, "derivatives are of floating point, with respect to floating point: cast<f32>(x)") \
  X(gradient_is_of_a_value_or_parameter__write_it_without_literals, "a derivative is of a value, parameter, variable or element, with respect to such: grad(loss, w), grad(d, a(i)); no literal, extent or array") \
  X(cotangent_has_another_type__write_it_with_dtype_and_shape_of_y, "the cotangent of vjp(y, x, c) has the dtype and the shape of y: cast<...>(c), expand<...>(c)") \
  X(direction_has_another_shape__write_that_of_x_or_one_more_leading_axis, "a direction of x has the dtype and the shape of x, or one more leading axis, of one extent for all: expand<...>(v), unsqueeze<0>(v)") \
  X(derivative_lacks_an_argument__write_grad_l_x_or_vjp_y_x_c_or_jvp_y_x_v_or_hvp_l_x_v, "a derivative needs the value to differentiate by: grad(l, x), vjp(y, x, c), jvp(y, x, v), hvp(l, x, v), laplacian(y, x)") \
  X(gradient_is_of_values_or_of_one_module__write_grad_l_a_b_or_grad_l_model, "a gradient is with respect to values, one after the other, or to one module: grad(l, a, b), grad(l, model)") \
  X(a_module_is_no_value__write_stop_gradient_of_model_w_or_grad_l_model, "a module is no value: stop_gradient(model.w); the gradients of a module are auto l = f(model); auto g = grad(l, model); g(model.w)") \
  X(argument_is_no_function_of_one_value__write_a_lambda_of_x, "the first argument is a function of one value, the second one is that value: checkpoint([&](auto p) { return exp(p); }, x)") \
  X(kiln_makes_no_matrix_of_derivatives__write_jvp_along_several_directions_or_hvp, "kiln makes no matrix of derivatives: jvp(y, x, v) along a list of directions has its columns, vjp(y, x, c) a row, hvp(l, x, v) of second derivatives") \
  X(unused_is_zero_is_of_a_derivative__write_unused_is_zero_of_grad, "unused_is_zero takes what grad, vjp, jvp and hvp return: unused_is_zero(grad(y, x))") \
  X(module_has_no_trainable_parameter__declare_it_inout, "the module has no trainable parameter: inout<f32, N> w; an in<> is constant") \
  X(parameter_is_not_of_this_module__write_g_of_model_w, "the gradients of a module are of its inout<> parameters of floating point: auto g = grad(loss, model); g(model.w)") \
  X(custom_derivative_returns_other_types__write_pack_with_the_type_of_each_x, "the function of custom_vjp(y, f, x, w) returns a derivative for each x, with the dtype and the shape of x: return pack(dx, dw)") \
  X(gradient_of_a_large_tensor_in_a_kernel__write_it_outside, "inside a kernel, a derivative has at most 16 elements with static extents: grad(d, x(i)), or grad outside of the kernel") \
  X(laplacian_is_of_a_value_with_the_first_axes_of_x__write_sum_of_the_others, "laplacian(y, x) is of a y with the first axes of x, whose other axes are static: y[N] for x[N, 3]; sum<1>(y)") \
  X(dtypes_differ__write_cast_or_sum_and_matmul_of_a_dtype, "operands have different dtypes: write cast<...>(x); to add up in the wider dtype, sum<...>(x), matmul<...>(a, b)") \
  X(shapes_do_not_broadcast__write_unsqueeze_expand_or_reshape, "shapes do not broadcast: extents, from the last axis on, must be equal or 1: unsqueeze<1>(x), expand, reshape")
// Mistakes in the structure of a program, and causes for which its body cannot be evaluated.
#define KILN_REASONS_PROGRAM(X) \
  X(base_is_not_program_of_itself__write_struct_p_program_of_p, "the base of a program is program of itself: struct p : program<p>") \
  X(program_is_no_plain_struct__write_struct_public_without_constructor_virtual_private, "a program is a plain struct, not a class: public base and members, no constructor, nothing virtual: struct p : program<p> { .. };") \
  X(body_is_missing_or_private__write_constexpr_void_body_in_a_public_place, "a program has a public body() without parameters: constexpr void body() { .. }") \
  X(member_is_no_parameter__write_in_out_inout_or_static_constexpr, "members of a program are in<f32, N>, out<>, inout<> and modules (structs) of them, no arrays, references or const; a constant is static constexpr") \
  X(body_cannot_run_while_compiling__write_constexpr_everywhere_loop_or_forever_print_nothing, "the body cannot run while compiling: body and helper functions must be constexpr, endless loops of C++ are loop(n) or forever(), nothing is printed; clang evaluates no lambda that captures a name of auto [i, j]: auto k = i + 0; before it") \
  X(body_is_too_large__write_loop_or_kernel, "the body records too many operations: write C++ loops as loop(n) or kernel(n)")
// Mistakes found while the body is evaluated.
#define KILN_REASONS_CAPTURE(X) \
  X(an_array_is_written_by_element__write_a_of_i, "an array of a kernel is written by element: a(i) = e") \
  X(break_or_continue_outside_a_loop__write_loop_or_forever, "break or continue outside of a loop (a kernel ends the loops around it): for (auto i : loop(n)), for (auto t : forever())") \
  X(else_of_cpp_after_a_when__write_otherwise, "`else` after a when is never recorded: if (auto c = otherwise())") \
  X(otherwise_does_not_follow_a_when, "otherwise() does not follow a when") \
  X(scope_is_left_by_a_jump_of_cpp__write_break_or_continue_if, "a scope is left by a jump of C++: write break_if, continue_if") \
  X(scope_is_not_entered__write_for_or_if, "a scope is opened without a body: for (auto [i] : kernel(n)), for (auto i : loop(n)), if (auto c = when(p))") \
  X(value_of_a_closed_scope_is_used_outside__write_var, "a value of a closed scope is used outside: declare a var before the scope") \
  X(work_item_or_counter_is_assigned__write_a_value_of_its_own, "the work item of a kernel or the counter of a loop is assigned: auto k = i + 1, loop(begin, end, step)") \
  X(value_is_rebound_inside_a_scope__write_var, "a value is rebound inside a scope: declare it with var(...)") \
  X(forever_has_no_break__write_break_if, "forever() without a break_if or break_ in it never ends: break_if(c)") \
  X(step_of_a_loop_is_0, "the step of a loop is 0") \
  X(kernel_inside_a_kernel__write_kernel_of_n_m_or_loop, "a kernel inside a kernel: for (auto [i, j] : kernel(N, M)), or a loop inside") \
  X(barrier_outside_of_a_kernel_with_workgroups, "a barrier outside of a kernel with workgroups: for (auto [i] : kernel(n).workgroup<256>())") \
  X(shared_array_outside_of_a_kernel_with_workgroups, "a shared array outside of a kernel with workgroups: for (auto [i] : kernel(n).workgroup<256>())") \
  X(variable_of_outside_is_set_inside_a_kernel__write_atomic_add_sum_or_once, "a variable of outside is set inside a kernel, whose work items run at once: total().atomic_add(e), sum(x) without a kernel, or for (auto o : once())") \
  X(elements_inside_a_kernel_are_at_most_16_with_static_extents, "inside a kernel, t(i) names at most 16 elements with static extents") \
  X(gradient_of_a_large_tensor_in_a_kernel__write_it_outside, "inside a kernel, a derivative has at most 16 elements with static extents: grad(d, x(i)), or grad outside of the kernel") \
  X(parameter_is_not_of_this_module__write_g_of_model_w, "the gradients of a module are of its inout<> parameters of floating point: auto g = grad(loss, model); g(model.w)") \
  X(unused_is_zero_is_of_a_derivative__write_unused_is_zero_of_grad, "unused_is_zero takes what grad, vjp, jvp and hvp return: unused_is_zero(grad(y, x))") \
  X(stored_inside_a_kernel, "stored(x) inside a kernel: values there have no buffers") \
  X(whole_tensor_is_assigned_inside_a_kernel__write_its_elements_also_of_a_scalar_or_atomic_add, "a whole tensor is assigned inside a kernel: write its elements, y(i) = e, of a scalar y() = e; a sum over work items is total().atomic_add(e)") \
  X(literal_is_out_of_range_of_the_dtype, "a literal is out of range of the dtype") \
  X(value_is_used_before_it_has_one, "a value is used before it has one") \
  X(out_parameter_is_read_before_it_is_assigned__assign_it_first_or_declare_it_inout, "an out<> parameter is read before it is assigned: write y = 0 first, or declare it inout<> to read what the caller gives") \
  X(out_parameter_is_never_assigned__write_y_equals_or_y_of_i, "the out<> parameter named below is never assigned: y = e, or y(i) = e in a kernel") \
  X(symbolic_extent_is_not_an_extent_of_any_parameter, "a symbolic extent is not an extent of any parameter") \
  X(no_argument_gives_a_symbolic_extent__declare_it_as_an_axis, "no argument gives a symbolic extent: it is the extent of an axis nowhere, neither alone nor as in 2 * N + 1 (N * M says neither N nor M, N / 2 does not say N)") \
  X(symbolic_extent_has_two_different_sets_of_facts, "a symbolic extent has two different sets of facts") \
  X(facts_of_a_dim_that_no_parameter_declares__use_one_dim_for_both, "the dim named below has facts here that no parameter declares: use one dim for both") \
  X(extent_is_negative, "an extent is negative") \
  X(two_parameters_have_the_same_name, "two parameters have the same name, given below: rename a member")
// Mistakes that types show in most places and the evaluation of the body in the others.
#define KILN_REASONS_LATE(X) \
  X(work_item_is_not_of_a_kernel_with_workgroups, "local_id and group_id take a work item of kernel(...).workgroup<...>()") \
  X(an_in_parameter_is_read_only__declare_it_out_or_inout, "an in<> parameter is read-only: declare it inout<> or out<>")
// clang-format on

enum class why : unsigned char {
  ok,
  not_ours,
#define KILN_X(e, t) e,
  dtypes_differ__write_cast_or_sum_and_matmul_of_a_dtype,
  shapes_do_not_broadcast__write_unsqueeze_expand_or_reshape,
  literal_does_not_fit_the_dtype__write_cast_or_a_literal_of_its_kind,
  arithmetic_on_bool__write_cast,
  a_bool_is_compared_with_a_number__write_a_less_b_and_b_less_c,
  operands_must_be_integers__write_cast_floor_or_pow,
  operands_must_be_integers_or_bool__write_cast_or_pow,
  operands_must_be_bool__write_x_not_equal_0,
  operand_must_be_floating_point__write_cast,
  condition_must_be_bool,
  two_literals_have_no_dtype__write_select_of_dtype,
  operand_must_be_a_tensor__write_var_full_or_size,
  an_in_parameter_is_read_only__declare_it_out_or_inout,
  assigned_value_has_another_dtype__write_cast_or_sum_and_matmul_of_that_dtype,
  assigned_value_has_another_shape__write_sum_expand_or_reshape,
  left_side_is_a_computed_value__write_t_of_i_j_of_a_parameter,
  the_type_of_a_value_never_changes__give_the_result_a_new_name,
  axis_out_of_range,
  axis_is_named_twice,
  permutation_must_name_every_axis_once,
  squeezed_axis_must_have_extent_1,
  indices_are_numbers__name_another_dtype,
  axes_are_template_arguments__write_sum_of_axis,
  reduction_of_an_empty_axis_has_no_value,
  the_named_dtype_does_not_hold_every_element__write_cast,
  this_reduction_names_no_dtype__write_cast,
  a_scan_is_along_one_axis__write_cumsum_of_axis,
  reshape_changes_the_number_of_elements,
  only_one_extent_may_be_inferred,
  inferred_extent_does_not_divide,
  extents_do_not_expand,
  slice_is_out_of_range,
  only_integers_count_from_the_end__write_n_minus_q,
  slice_step_is_zero,
  padding_is_negative__write_slice,
  padding_is_larger_than_the_axis,
  number_of_parts_does_not_divide_the_axis,
  parts_do_not_add_up_to_the_axis,
  repeat_count_is_negative,
  extents_differ_outside_the_joined_axis,
  ranks_differ,
  inner_extents_of_matmul_differ,
  batch_extents_do_not_broadcast,
  matmul_needs_rank_1_or_more,
  dot_needs_two_vectors_of_the_same_extent,
  image_must_be_batch_channels_height_width,
  filter_must_be_out_in_height_width,
  channels_do_not_match_the_filter,
  groups_do_not_divide_the_channels,
  window_does_not_fit_the_image,
  stride_and_dilation_must_be_positive,
  bias_must_have_one_element_per_output_channel,
  bitcast_needs_the_same_width,
  bitcast_of_bool__write_cast,
  no_value_while_compiling__write_when_select_forever_break_if_loop_or_max,
  scope_has_no_name__write_if_auto_c_when,
  bound_must_be_a_scalar_integer__write_for_auto_i_kernel_of_an_extent,
  computed_extent_is_a_template_argument__write_kernel_or_loop_in_angle_brackets,
  kernel_takes_one_to_four_extents,
  loop_takes_one_to_three_bounds,
  bound_of_i64_needs_a_kernel_of_i64,
  condition_must_be_a_bool_scalar__write_x_greater_0_or_any,
  a_check_needs_a_text__write_check_of_condition_and_text,
  local_array_needs_static_extents,
  workgroup_needs_a_size_from_1_to_4096_for_each_extent,
  work_item_is_not_of_a_kernel_with_workgroups,
  index_must_be_an_integer__write_cast_or_select,
  at_most_one_index_for_each_axis,
  at_most_four_indices_where_one_is_a_tensor,
  the_length_of_a_range_is_a_template_argument__write_range_of_length_or_loop,
  a_range_stands_beside_ranges_and_single_indices,
  a_slice_at_a_value_is_a_range__write_x_of_range,
  shapes_of_the_indices_do_not_broadcast,
  mode_constant_takes_the_value_outside_after_the_indices,
  computed_extent_is_a_template_argument__write_size_of_extent,
  an_array_is_read_by_element__write_a_of_i,
  work_items_of_a_kernel_come_in_brackets__write_for_auto_i,
  at_takes_a_mode__write_at_of_mode,
  elements_are_in_parentheses__write_t_of_i,
  an_atomic_is_of_an_element__write_t_of_i,
  axis_of_a_size_is_a_template_argument__write_size_of_axis,
  extents_are_template_arguments__write_local_of_extents,
  a_variable_needs_a_value__write_var_of_value,
  std_and_c_know_no_captured_values__write_max_abs_sqrt_pow_of_kiln_without_std,
  kiln_has_no_such_function__write_it_with_erf_or_max,
  a_captured_value_is_not_printed__write_it_to_an_out_parameter,
  a_captured_value_is_not_swapped__write_auto_t_of_var_and_assign,
  an_array_of_cpp_has_no_captured_index_or_length__write_local,
  functions_are_no_members__write_sum_of_x,
  not_a_name_of_kiln__write_max_min_select_full_loop_or_operators,
  not_a_name_of_kiln__write_permute_transpose_unsqueeze_expand_reshape_concat_split,
  products_are_matmul_dot_or_sums__write_sum_of_axis_of_a_product,
  not_a_name_of_kiln__write_max_sum_mean_or_sqrt_of_sum_of_x_times_x,
  kiln_sorts_nothing__write_max_argmax_a_loop_of_exchanges_or_cumsum,
  not_a_name_of_kiln__write_select_of_positions_iota_or_arange,
  an_activation_is_a_few_operations__write_max_select_exp_log1p_or_clamp,
  a_loss_is_a_few_operations__write_mse_or_mean_of_abs_or_of_log_softmax,
  a_normalisation_is_layer_norm_or_a_few_operations__write_mean_of_axes_keepdims,
  windows_have_two_axes__write_conv2d_of_unsqueeze_of_2_or_a_loop_in_a_kernel,
  kiln_draws_no_random_numbers__write_select_of_a_mask_parameter,
  elements_at_places__write_x_of_places,
  options_are_in_angle_brackets__write_conv2d_of_conv_stride_padding_or_max_pool2d_of_pool_kernel,
  an_operand_is_a_tensor_a_number_or_an_extent,
  loops_and_kernels_repeat__write_for_auto,
  keywords_are_members__write_scope_s_of_x_or_this,
  a_variable_of_cpp_is_no_variable_of_the_program__write_var,
  three_operands__write_fma_a_b_c_clamp_x_lo_hi,
  axes_stay_by__write_sum_of_x_keepdims,
  select_takes_a_condition_and_two_values__write_select_c_a_b,
  cpp_types_are_no_dtypes__write_f32_f64_i32_i64_u8,
  the_dtype_is_a_template_argument__write_cast_of_dtype,
  a_captured_value_is_no_cpp_value__write_cast_of_f32_or_auto,
  a_value_keeps_what_it_was__write_var,
  a_const_tensor_is_not_written__write_auto_and_without_const,
  increment_has_no_meaning__write_plus_equals_1,
  cpp_sees_no_extents_and_elements__write_kernel_loop_or_size,
  axes_and_extents_are_template_arguments__write_arange_of_n_in_angle_brackets,
  gradient_is_of_a_scalar__write_grad_of_sum,
  gradient_needs_floating_point__write_cast,
  gradient_is_of_a_value_or_parameter__write_it_without_literals,
  cotangent_has_another_type__write_it_with_dtype_and_shape_of_y,
  direction_has_another_shape__write_that_of_x_or_one_more_leading_axis,
  derivative_lacks_an_argument__write_grad_l_x_or_vjp_y_x_c_or_jvp_y_x_v_or_hvp_l_x_v,
  gradient_is_of_values_or_of_one_module__write_grad_l_a_b_or_grad_l_model,
  a_module_is_no_value__write_stop_gradient_of_model_w_or_grad_l_model,
  argument_is_no_function_of_one_value__write_a_lambda_of_x,
  kiln_makes_no_matrix_of_derivatives__write_jvp_along_several_directions_or_hvp,
  module_has_no_trainable_parameter__declare_it_inout,
  custom_derivative_returns_other_types__write_pack_with_the_type_of_each_x,
  laplacian_is_of_a_value_with_the_first_axes_of_x__write_sum_of_the_others,
  a_dtype_is_no_variable__write_auto_or_var,
  a_value_of_cpp_belongs_to_no_program__write_var,
  this_name_means_a_program_here__write_kiln_dsl_name_for_the_function,
  this_name_means_a_dim_here__write_kiln_dsl_name_for_the_function,
  KILN_REASONS_PROGRAM(KILN_X) KILN_REASONS_CAPTURE(KILN_X)
#undef KILN_X
};

// A template argument of every captured value's type. A message of the compiler's own prints the type and with it the remedy.
struct known_when_it_runs__write_auto_var_cast_local_when_select_loop_max;
template <class>
concept no_value_of_cpp__write_auto_var_cast_or_local = false;

namespace detail {

constexpr bool wrong(why w) { return w > why::not_ours; }

template <class>
struct hint {
  using type = known_when_it_runs__write_auto_var_cast_local_when_select_loop_max;
};

}  // namespace detail

// The result of an ill-formed call. It takes any assignment, so that one mistake gives one error.
template <why>
struct mistake {
  using is_mistake = void;
  template <class T>
  constexpr void operator=(const T&) const {}
};

// A twin is declared as:  template <..., why Reason = check<...>> requires(detail::wrong(Reason))
//                         mistake<Reason> name(...) KILN_MISTAKE(KILN_REASONS_...);
#if defined(__clang__)
#define KILN_DIAGNOSE(e, text) __attribute__((diagnose_if(Reason == kiln::dsl::why::e, "kiln: " text, "error")))
#define KILN_MISTAKE(list) list(KILN_DIAGNOSE)
#define KILN_DELETED(text)                                                                      \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wc++26-extensions\"") = \
      delete (text)_Pragma("clang diagnostic pop")
#else
#define KILN_MISTAKE(list) = delete
#define KILN_DELETED(text) = delete
#endif
// A function of any arguments. Every other function of its name is a better match, also if it converts its arguments.
#if defined(__clang__)
#define KILN_DELETED_BEGIN _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wc++26-extensions\"")
#define KILN_DELETED_END _Pragma("clang diagnostic pop")
#define KILN_ELSEWHERE(f, reason, text) \
  template <auto...>                    \
  mistake<why::reason> f(...) = delete ("kiln: " text);
#define KILN_ELSEWHERE_OF_TEXT(f, reason, text) \
  template <str, auto...>                       \
  mistake<why::reason> f(...) = delete ("kiln: " text);
#else
#define KILN_DELETED_BEGIN
#define KILN_DELETED_END
#define KILN_ELSEWHERE(f, reason, text) \
  template <auto...>                    \
  mistake<why::reason> f(...) = delete;
#define KILN_ELSEWHERE_OF_TEXT(f, reason, text) \
  template <str, auto...>                       \
  mistake<why::reason> f(...) = delete;
#endif
#define KILN_HIDDEN_BY(what) \
  KILN_DELETED("kiln: this name means a " what " here: for the function write kiln::dsl::NAME(x), as kiln::dsl::relu(x)")

}  // namespace kiln::dsl
