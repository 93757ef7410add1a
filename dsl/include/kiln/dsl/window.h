// Windows over images [batch, channels, height, width]: conv2d, max_pool2d, avg_pool2d. A window view is movement only: the
// axis is tiled and cut into rows one longer than the axis (by the dilation), so row k starts k * dilation further; element k,
// o of the view is element o * stride + k * dilation of the axis. The compiler's index arithmetic undoes the tiling.
#pragma once

#include "kiln/dsl/contract.h"

namespace kiln::dsl {

// Two extents, of height and width; one number means both.
struct hw {
  int h = 0, w = 0;
  constexpr hw() = default;
  constexpr hw(int both) : h(both), w(both) {}  // NOLINT(google-explicit-constructor)
  constexpr hw(int h_, int w_) : h(h_), w(w_) {}
};
// conv2d<conv{.stride = 2, .padding = 1}>(x, w)
struct conv {
  hw stride = 1, padding = 0, dilation = 1;
  int groups = 1;
};
// max_pool2d<pool{.kernel = 3, .stride = 2, .padding = 1}>(x); a stride of 0 is the kernel's extent.
struct pool {
  hw kernel = 2, stride = 0, padding = 0, dilation = 1;
};

constexpr ext kiln_window_count(const ext& n, int kernel, int stride, int dilation) {
  return kiln_add(kiln_floor_div(kiln_add(n, kiln_ext(-dilation * (kernel - 1) - 1)), stride), kiln_ext(1));
}
// Axis -> [kernel, count] in its place.
template <int Axis, int Kernel, int Stride, int Dilation, class X>
constexpr auto kiln_windows(const X& x, const sloc& l) {
  using S = shape_of<X>;
  constexpr ext n = ext_at<S, Axis>;
  constexpr ext count = kiln_window_count(n, Kernel, Stride, Dilation);
  constexpr ints at = kiln_only(Axis);
  using One = typename kiln_inserted<S, at>::type;  // [.., 1, n, ..]
  constexpr ext kernel = kiln_ext(Kernel);
  if constexpr (Kernel == 1) {
    return kiln_cut<Axis + 1, kiln_ext(0), count, Stride>(kiln_reshaped<One>(x, l), l);
  } else if constexpr (Dilation == 1 && Kernel == Stride) {
    constexpr ext used = kiln_mul(count, kernel);
    const auto cut = kiln_cut<Axis, kiln_ext(0), used, 1>(x, l);
    using Rows = typename kiln_replace<One, Axis, count>::type;
    using Parts = typename kiln_replace<Rows, Axis + 1, kernel>::type;
    constexpr ints order = kiln_exchange(S::rank + 1, Axis, Axis + 1);
    return kiln_permuted<order>(kiln_reshaped<Parts>(cut, l), l);
  } else {
    // ceil(kernel * (n + dilation) / n) copies; with a symbolic n >= 1 at most kernel * (1 + dilation).
    constexpr std::int64_t size = kiln_static(n) ? kiln_value(n) : 1;
    constexpr std::int64_t copies = (Kernel * (size + Dilation) + size - 1) / size;
    constexpr ext row = kiln_add(n, kiln_ext(Dilation));
    constexpr ext used = kiln_mul(row, kernel);
    const auto tiled = kiln_repeated<Axis, Axis, kiln_ext(copies)>(x, l);
    const auto cut = kiln_cut<Axis, kiln_ext(0), used, 1>(tiled, l);
    using Kernels = typename kiln_replace<One, Axis, kernel>::type;
    using Rows = typename kiln_replace<Kernels, Axis + 1, row>::type;
    return kiln_cut<Axis + 1, kiln_ext(0), count, Stride>(kiln_reshaped<Rows>(cut, l), l);
  }
}
template <hw Padding, class X, class V>
constexpr auto kiln_frame(const X& x, const V& value, const sloc& l) {
  if constexpr (Padding.h == 0 && Padding.w == 0) {
    return kiln_as_value(x, l);
  } else {
    const auto rows = kiln_padded<2, kiln_ext(Padding.h), kiln_ext(Padding.h), pad_mode::constant>(x, value, l);
    return kiln_padded<3, kiln_ext(Padding.w), kiln_ext(Padding.w), pad_mode::constant>(rows, value, l);
  }
}
// [N, C, H, W] -> [N, C, KH, OH, KW, OW]
template <hw K, hw Stride, hw Dilation, class X>
constexpr auto kiln_windows2(const X& x, const sloc& l) {
  return kiln_windows<4, K.w, Stride.w, Dilation.w>(kiln_windows<2, K.h, Stride.h, Dilation.h>(x, l), l);
}
constexpr bool kiln_window_fits(const record::extent& n, int padding, int kernel, int dilation) {
  return n.text != nullptr || n.value + 2 * padding >= dilation * (kernel - 1) + 1;
}
constexpr why kiln_window_why(const record::shape& s, hw k, hw stride, hw padding, hw dilation) {
  const bool positive = stride.h > 0 && stride.w > 0 && dilation.h > 0 && dilation.w > 0 && padding.h >= 0 && padding.w >= 0 &&
                        k.h > 0 && k.w > 0;
  if (!positive) return why::stride_and_dilation_must_be_positive;
  const bool fits =
      kiln_window_fits(s.extents[2], padding.h, k.h, dilation.h) && kiln_window_fits(s.extents[3], padding.w, k.w, dilation.w);
  return fits ? why::ok : why::window_does_not_fit_the_image;
}

template <class X, class W, conv O>
constexpr why kiln_conv_why() {
  if constexpr (!Operand<X> || !Operand<W>) {
    return why::not_ours;
  } else {
    if (!std::is_same_v<dtype_of<X>, dtype_of<W>>) return why::dtypes_differ__write_cast;
    if (kiln_is_bool<dtype_of<X>>) return why::arithmetic_on_bool__write_cast;
    if (rank_of<X> != 4) return why::image_must_be_batch_channels_height_width;
    const record::shape &x = *shape_v<shape_of<X>>, &w = *shape_v<shape_of<W>>;
    if (w.rank != 4 || w.extents[2].text != nullptr || w.extents[3].text != nullptr)
      return why::filter_must_be_out_in_height_width;
    if (O.groups < 1) return why::groups_do_not_divide_the_channels;
    if constexpr (rank_of<X> == 4 && rank_of<W> == 4) {
      constexpr ext in = kiln_mul(ext_at<shape_of<W>, 1>, kiln_ext(O.groups));
      if (!kiln_same(in, ext_at<shape_of<X>, 1>)) return why::channels_do_not_match_the_filter;
      if (kiln_exact_div(ext_at<shape_of<W>, 0>, kiln_ext(O.groups)).text[0] == 0)
        return why::groups_do_not_divide_the_channels;
    }
    const hw k(static_cast<int>(w.extents[2].value), static_cast<int>(w.extents[3].value));
    return kiln_window_why(x, k, O.stride, O.padding, O.dilation);
  }
}
template <class X, class W, conv O>
inline constexpr why conv_why = kiln_conv_why<X, W, O>();

// x[N, C, H, W] with w[O, C / groups, KH, KW] -> [N, O, OH, OW]; sums over channel, kernel row, kernel column, in that order.
template <conv O, class X, class W>
constexpr auto kiln_conv2d(const X& x, const W& w, const sloc& l) {
  constexpr hw k(static_cast<int>(extent_at<shape_of<W>, 2>), static_cast<int>(extent_at<shape_of<W>, 3>));
  const auto view6 = kiln_windows2<k, O.stride, O.dilation>(kiln_frame<O.padding>(x, 0, l), l);
  using V = shape_of<decltype(view6)>;  // [N, C, KH, OH, KW, OW]
  constexpr ext groups = kiln_ext(O.groups), per_group = kiln_exact_div(ext_at<shape_of<W>, 0>, groups);
  constexpr long kh = k.h, kw = k.w, g = O.groups;
  constexpr auto n = extent_at<V, 0>;
  constexpr auto c = extent_at<shape_of<W>, 1>;
  constexpr auto oh = extent_at<V, 3>;
  constexpr auto ow = extent_at<V, 5>;
  constexpr auto o = kiln_norm<per_group>;
  const auto view7 = kiln_reshaped<sh<n, g, c, kh, oh, kw, ow>>(view6, l);
  const auto ordered = permute<0, 1, 4, 6, 2, 3, 5>(view7, l);  // [N, G, OH, OW, C, KH, KW]
  using Full = sh<n, g, o, oh, ow, c, kh, kw>;
  const auto left = kiln_expanded_to<Full>(unsqueeze<2>(ordered, l), l);
  const auto right = kiln_expanded_to<Full>(kiln_reshaped<sh<g, o, 1L, 1L, c, kh, kw>>(w, l), l);
  constexpr ints axes = [] {
    ints r;
    r.add(5);
    r.add(6);
    r.add(7);
    return r;
  }();
  return kiln_reshaped<sh<n, extent_at<shape_of<W>, 0>, oh, ow>>(kiln_fma_reduce<axes>(left, right, l), l);
}
template <conv O = conv{}, class X, class W>
  requires(conv_why<X, W, O> == why::ok)
constexpr auto conv2d(const X& x, const W& w, sloc l = sloc::current()) {
  return kiln_conv2d<O>(x, w, l);
}
template <class X, class W, class B, conv O>
constexpr why kiln_conv_bias_why() {
  if constexpr (kiln_wrong(conv_why<X, W, O>) || !Operand<B>)
    return conv_why<X, W, O>;
  else if constexpr (rank_of<B> != 1)
    return why::bias_must_have_one_element_per_output_channel;
  else
    return !std::is_same_v<dtype_of<X>, dtype_of<B>>                   ? why::dtypes_differ__write_cast
           : kiln_same(ext_at<shape_of<B>, 0>, ext_at<shape_of<W>, 0>) ? why::ok
                                                                       : why::bias_must_have_one_element_per_output_channel;
}
template <conv O = conv{}, class X, class W, Operand B>
  requires(kiln_conv_bias_why<X, W, B, O>() == why::ok)
constexpr auto conv2d(const X& x, const W& w, const B& bias, sloc l = sloc::current()) {
  const auto y = kiln_conv2d<O>(x, w, l);
  return kiln_binary<void>(op::add, l, y, unsqueeze<1, 2>(bias, l));
}
template <conv O = conv{}, class X, class W, why Reason = conv_why<X, W, O>>
  requires(kiln_wrong(Reason))
mistake<Reason> conv2d(const X&, const W&) KILN_MISTAKE(KILN_REASONS_CONTRACT);
template <conv O = conv{}, class X, class W, Operand B, why Reason = kiln_conv_bias_why<X, W, B, O>()>
  requires(kiln_wrong(Reason))
mistake<Reason> conv2d(const X&, const W&, const B&) KILN_MISTAKE(KILN_REASONS_CONTRACT);

constexpr hw kiln_stride(const pool& p) {
  return {p.stride.h == 0 ? p.kernel.h : p.stride.h, p.stride.w == 0 ? p.kernel.w : p.stride.w};
}
template <class X, pool P, klass K>
constexpr why kiln_pool_why() {
  if constexpr (!Operand<X>) {
    return why::not_ours;
  } else {
    if (rank_of<X> != 4) return why::image_must_be_batch_channels_height_width;
    if (kiln_wrong(kiln_class_why<dtype_of<X>>(K))) return kiln_class_why<dtype_of<X>>(K);
    return kiln_window_why(*shape_v<shape_of<X>>, P.kernel, kiln_stride(P), P.padding, P.dilation);
  }
}
template <class X, pool P, klass K>
inline constexpr why pool_why = kiln_pool_why<X, P, K>();

// The value below every other of D: -inf or the lowest integer.
template <class D>
constexpr int kiln_lowest_id(builder* b, const sloc& l) {
  kiln_literal v;
  if constexpr (kiln_is_float<D>)
    v = kiln_encode<D>(-__builtin_inf());
  else if constexpr (kiln_is_signed<D>)
    v.bits = ~std::uint64_t{0} << (kiln_bits<D> - 1);
  return kiln_constant_id<D>(b, v, l);
}
inline constexpr ints kiln_pool_axes = [] {
  ints r;
  r.add(2);
  r.add(4);
  return r;
}();
// The maximum of each window; padding never wins.
template <pool P, Operand X>
  requires(pool_why<X, P, klass::number> == why::ok)
constexpr auto max_pool2d(const X& x, sloc l = sloc::current()) {
  using D = dtype_of<X>;
  const expr_<D, sh<>> low(x.b, kiln_lowest_id<D>(x.b, l));
  const auto view6 = kiln_windows2<P.kernel, kiln_stride(P), P.dilation>(kiln_frame<P.padding>(x, low, l), l);
  return kiln_reduce<reduce_kind::max, D, kiln_pool_axes>(view6, l);
}
// The mean of each window, padding counted as zeros.
template <pool P, Operand X>
  requires(pool_why<X, P, klass::floating> == why::ok)
constexpr auto avg_pool2d(const X& x, sloc l = sloc::current()) {
  using D = dtype_of<X>;
  const auto view6 = kiln_windows2<P.kernel, kiln_stride(P), P.dilation>(kiln_frame<P.padding>(x, 0, l), l);
  const auto total = kiln_reduce<reduce_kind::sum, D, kiln_pool_axes>(view6, l);
  return kiln_binary<void>(op::fdiv, l, total, P.kernel.h * P.kernel.w);
}
template <pool P, class X, why Reason = pool_why<X, P, klass::number>>
  requires(kiln_wrong(Reason))
mistake<Reason> max_pool2d(const X&) KILN_MISTAKE(KILN_REASONS_CONTRACT);
template <pool P, class X, why Reason = pool_why<X, P, klass::floating>>
  requires(kiln_wrong(Reason))
mistake<Reason> avg_pool2d(const X&) KILN_MISTAKE(KILN_REASONS_CONTRACT);

}  // namespace kiln::dsl
