// Functions that other libraries have and Kiln spells in another way, or in a few operations. Any function of a program that
// has such a name is a better match.
#pragma once

#include "kiln/dsl/error.h"

namespace kiln::dsl {

// X(name)
// clang-format off
#define KILN_VALUES_ELSEWHERE(X) \
  X(where) X(maximum) X(minimum) X(range) X(zeros) X(ones) X(zeros_like) X(ones_like) X(full_like) X(power) \
  X(absolute) X(parallel_for) X(add) X(subtract) X(sub) X(multiply) X(mul) X(divide) X(div) X(negative) X(neg) \
  X(square) X(reciprocal) X(equal) X(not_equal) X(greater) X(less) X(logical_and) X(logical_or) X(logical_not) \
  X(clip) X(astype)
#define KILN_MOVEMENT_ELSEWHERE(X) \
  X(concatenate) X(cat) X(vstack) X(hstack) X(moveaxis) X(movedim) X(swapaxes) X(expand_dims) X(broadcast_to) \
  X(ravel) X(chunk) X(narrow) X(fliplr) X(flipud) X(repeat_interleave)
#define KILN_PRODUCTS_ELSEWHERE(X) \
  X(einsum) X(tensordot) X(inner) X(outer) X(bmm) X(mm) X(mv) X(addmm) X(gemm) X(linear) X(kron)
#define KILN_REDUCTIONS_ELSEWHERE(X) \
  X(norm) X(vector_norm) X(variance) X(amax) X(amin) X(average) X(nansum) X(reduce_sum) X(reduce_mean) X(reduce_max) \
  X(reduce_min) X(logsumexp) X(count_nonzero) X(trace)
#define KILN_ORDER_ELSEWHERE(X) \
  X(sort) X(argsort) X(topk) X(top_k) X(unique) X(searchsorted) X(median) X(quantile) X(nonzero) X(argwhere) \
  X(masked_select)
#define KILN_POSITIONS_ELSEWHERE(X) \
  X(one_hot) X(eye) X(tril) X(triu) X(diag) X(diagonal) X(linspace) X(meshgrid)
#define KILN_ACTIVATIONS_ELSEWHERE(X) \
  X(leaky_relu) X(prelu) X(elu) X(selu) X(relu6) X(hardtanh) X(hardswish) X(hardsigmoid) X(softplus) X(softsign) \
  X(log_sigmoid) X(logsigmoid) X(mish) X(swish)
#define KILN_LOSSES_ELSEWHERE(X) \
  X(mse_loss) X(l1_loss) X(smooth_l1_loss) X(huber_loss) X(cross_entropy) X(nll_loss) X(binary_cross_entropy) \
  X(kl_div)
#define KILN_NORMS_ELSEWHERE(X) \
  X(batch_norm) X(group_norm) X(instance_norm) X(rms_norm) X(normalize)
#define KILN_WINDOWS_ELSEWHERE(X) \
  X(conv1d) X(conv3d) X(convolve) X(correlate) X(max_pool1d) X(avg_pool1d) X(max_pool3d) X(avg_pool3d) \
  X(conv_transpose1d) X(conv_transpose2d)
#define KILN_RANDOM_ELSEWHERE(X) \
  X(dropout) X(rand) X(randn) X(rand_like) X(randn_like) X(bernoulli) X(multinomial)
#define KILN_PLACES_ELSEWHERE(X) \
  X(take) X(take_along_axis) X(gather) X(scatter) X(scatter_add) X(index_select) X(index_add) X(embedding) \
  X(bincount)

KILN_DELETED_BEGIN
#define KILN_X(f) KILN_ELSEWHERE(f, not_a_name_of_kiln__write_max_min_select_full_loop_or_operators, \
  "kiln's names: select(c, a, b) for where, max(a, b) for maximum, loop(n) for range, full<f32, N>(0) for zeros, a + b for add, x * x for square")
KILN_VALUES_ELSEWHERE(KILN_X)
#undef KILN_X
#define KILN_X(f) KILN_ELSEWHERE(f, not_a_name_of_kiln__write_permute_transpose_unsqueeze_expand_reshape_concat_split, \
  "kiln's names: permute<0, 2, 1>(x), transpose<0, 1>(x), unsqueeze<0>(x), expand<N, M>(x), reshape<N, M>(x), concat<0>(a, b), split<0, 2>(x), flip<0>(x)")
KILN_MOVEMENT_ELSEWHERE(KILN_X)
#undef KILN_X
#define KILN_X(f) KILN_ELSEWHERE(f, products_are_matmul_dot_or_sums__write_sum_of_axis_of_a_product, \
  "products are matmul(a, b), also of batches and vectors, dot(u, v), and sums over axes of a product: sum<1>(unsqueeze<2>(a) * b); an outer product is unsqueeze<1>(u) * v")
KILN_PRODUCTS_ELSEWHERE(KILN_X)
#undef KILN_X
#define KILN_X(f) KILN_ELSEWHERE_OF_TEXT(f, products_are_matmul_dot_or_sums__write_sum_of_axis_of_a_product, \
  "products are matmul(a, b), also of batches and vectors, dot(u, v), and sums over axes of a product: sum<1>(unsqueeze<2>(a) * b); an outer product is unsqueeze<1>(u) * v")
KILN_X(einsum)
#undef KILN_X
#define KILN_X(f) KILN_ELSEWHERE(f, not_a_name_of_kiln__write_max_sum_mean_or_sqrt_of_sum_of_x_times_x, \
  "kiln's reductions: max<1>(x), sum<1>(x), mean<1>(x); a norm is sqrt(sum<1>(x * x)), a variance mean<1>(d * d) with d = x - mean<1>(x, keepdims), logsumexp m + log(sum(exp(x - m))) with m = max(x)")
KILN_REDUCTIONS_ELSEWHERE(KILN_X)
#undef KILN_X
#define KILN_X(f) KILN_ELSEWHERE(f, kiln_sorts_nothing__write_max_argmax_a_loop_of_exchanges_or_cumsum, \
  "no sort in kiln: the greatest is max<1>(x) at argmax<1>(x); topk is a loop that puts the lowest value there; a sort is loops of exchanges (examples/sort); the places of true elements are cumsum(cast<i32>(c), exclusive)")
KILN_ORDER_ELSEWHERE(KILN_X)
#undef KILN_X
#define KILN_X(f) KILN_ELSEWHERE(f, not_a_name_of_kiln__write_select_of_positions_iota_or_arange, \
  "from positions: tril is select(iota<1>(x) <= iota<0>(x), x, 0), one_hot unsqueeze<1>(k) == arange<10>(), linspace a + arange<N, f32>() * step, eye i == j with auto [i, j] = grid<N, N>()")
KILN_POSITIONS_ELSEWHERE(KILN_X)
#undef KILN_X
#define KILN_X(f) KILN_ELSEWHERE(f, an_activation_is_a_few_operations__write_max_select_exp_log1p_or_clamp, \
  "a few operations: leaky_relu is max(x, 0.1 * x), elu select(x > 0, x, expm1(x)), softplus max(x, 0) + log1p(exp(-abs(x))), relu6 clamp(x, 0, 6), swish silu(x)")
KILN_ACTIVATIONS_ELSEWHERE(KILN_X)
#undef KILN_X
#define KILN_X(f) KILN_ELSEWHERE(f, a_loss_is_a_few_operations__write_mse_or_mean_of_abs_or_of_log_softmax, \
  "losses: mse(a, b); l1 is mean(abs(a - b)), cross entropy -mean(log_softmax(x)(arange<N>(), labels))")
KILN_LOSSES_ELSEWHERE(KILN_X)
#undef KILN_X
#define KILN_X(f) KILN_ELSEWHERE(f, a_normalisation_is_layer_norm_or_a_few_operations__write_mean_of_axes_keepdims, \
  "layer_norm<1>(x, gamma, beta); of other axes (x - m) / sqrt(mean<0, 2, 3>((x - m) * (x - m), keepdims) + 1e-5) with m = mean<0, 2, 3>(x, keepdims)")
KILN_NORMS_ELSEWHERE(KILN_X)
#undef KILN_X
#define KILN_X(f) KILN_ELSEWHERE(f, windows_have_two_axes__write_conv2d_of_unsqueeze_of_2_or_a_loop_in_a_kernel, \
  "windows have two axes: conv1d is conv2d(unsqueeze<2>(x), unsqueeze<2>(w)), pools likewise; for other windows a loop in a kernel")
KILN_WINDOWS_ELSEWHERE(KILN_X)
#undef KILN_X
#define KILN_X(f) KILN_ELSEWHERE(f, kiln_draws_no_random_numbers__write_select_of_a_mask_parameter, \
  "kiln draws no random numbers: dropout is select(keep, x / 0.9, 0) of a parameter in<bool, N> keep")
KILN_RANDOM_ELSEWHERE(KILN_X)
#undef KILN_X
#define KILN_X(f) KILN_ELSEWHERE(f, elements_at_places__write_x_of_places, \
  "elements are read and written at places: x(rows) for take and gather, y(rows) += e for scatter; rows is an integer tensor")
KILN_PLACES_ELSEWHERE(KILN_X)
#undef KILN_X
KILN_DELETED_END
// clang-format on

}  // namespace kiln::dsl
