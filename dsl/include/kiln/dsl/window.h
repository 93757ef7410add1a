// Windows over images [batch, channels, height, width]: conv2d, max_pool2d, avg_pool2d. A view of windows is movement only:
// element [k, o] of the view is element o * stride + k * dilation of the axis.
#pragma once

#include "kiln/dsl/contract.h"
#include "kiln/dsl/elsewhere.h"

namespace kiln::dsl {

// Two numbers, for height and width; one number means both.
struct hw {
  int h = 0, w = 0;
  constexpr hw() = default;
  constexpr hw(int both) : h(both), w(both) {}  // NOLINT(google-explicit-constructor)
  constexpr hw(int h_, int w_) : h(h_), w(w_) {}
};
// conv2d<conv{.stride = 2, .padding = 1}>(x, w); stride, padding and dilation in pixels.
struct conv {
  hw stride = 1, padding = 0, dilation = 1;
  int groups = 1;
};
// max_pool2d<pool{.kernel = 3, .stride = 2, .padding = 1}>(x), in pixels; a stride of 0 means the kernel's size.
struct pool {
  hw kernel = 2, stride = 0, padding = 0, dilation = 1;
};

namespace detail {

constexpr ext window_count(const ext& n, int kernel, int stride, int dilation) {
  return detail::plus(detail::floor_div(detail::plus(n, detail::to_ext(-dilation * (kernel - 1) - 1)), stride),
                      detail::to_ext(1));
}
// x with the axes [kernel, count] in the place of the axis.
template <int Axis, int Kernel, int Stride, int Dilation, class X>
constexpr auto windows(const X& x, const sloc& l) {
  using S = shape_of<X>;
  constexpr ext n = ext_at<S, Axis>;
  constexpr ext count = detail::window_count(n, Kernel, Stride, Dilation);
  constexpr ints at = only(Axis);
  using One = typename inserted<S, at>::type;  // [.., 1, n, ..]
  constexpr ext kernel = detail::to_ext(Kernel);
  if constexpr (Kernel == 1) {
    return detail::cut<Axis + 1, detail::to_ext(0), count, Stride>(detail::reshaped<One>(x, l), l);
  } else if constexpr (Dilation == 1 && Kernel == Stride) {
    constexpr ext used = detail::times(count, kernel);
    const auto cut = detail::cut<Axis, detail::to_ext(0), used, 1>(x, l);
    using Rows = typename replaced<One, Axis, count>::type;
    using Parts = typename replaced<Rows, Axis + 1, kernel>::type;
    constexpr ints order = detail::exchanged(S::rank + 1, Axis, Axis + 1);
    return detail::permuted<order>(detail::reshaped<Parts>(cut, l), l);
  } else {
    using Taps = typename replaced<One, Axis, kernel>::type;  // [.., kernel, n, ..]
    const auto copies = detail::expanded_to<Taps>(detail::reshaped<One>(x, l), l);
    using Windows = typename replaced<Taps, Axis + 1, count>::type;
    const auto windows = detail::move_node<Windows>(op::shear, copies, l);
    for (const int a : {Axis, Axis + 1, Stride, Dilation}) x.b->attr(a);
    return windows;
  }
}
template <hw Padding, class X, class V>
constexpr auto framed(const X& x, const V& value, const sloc& l) {
  if constexpr (Padding.h == 0 && Padding.w == 0) {
    return detail::as_value(x, l);
  } else {
    const auto rows = detail::padded<2, detail::to_ext(Padding.h), detail::to_ext(Padding.h), pad_mode::constant>(x, value, l);
    return detail::padded<3, detail::to_ext(Padding.w), detail::to_ext(Padding.w), pad_mode::constant>(rows, value, l);
  }
}
// [N, C, H, W] -> [N, C, KH, OH, KW, OW]
template <hw K, hw Stride, hw Dilation, class X>
constexpr auto windows2(const X& x, const sloc& l) {
  return detail::windows<4, K.w, Stride.w, Dilation.w>(detail::windows<2, K.h, Stride.h, Dilation.h>(x, l), l);
}
constexpr bool window_fits(const record::extent& n, int padding, int kernel, int dilation) {
  return n.text != nullptr || n.value + 2 * padding >= dilation * (kernel - 1) + 1;
}
constexpr why window_why(const record::shape& s, hw k, hw stride, hw padding, hw dilation) {
  const bool positive = stride.h > 0 && stride.w > 0 && dilation.h > 0 && dilation.w > 0 && padding.h >= 0 && padding.w >= 0 &&
                        k.h > 0 && k.w > 0;
  if (!positive) return why::stride_and_dilation_must_be_positive;
  const bool fits = detail::window_fits(s.extents[2], padding.h, k.h, dilation.h) &&
                    detail::window_fits(s.extents[3], padding.w, k.w, dilation.w);
  return fits ? why::ok : why::window_does_not_fit_the_image;
}

template <class X, class W, conv O>
constexpr why check_conv() {
  if constexpr (!Operand<X> || !Operand<W>) {
    return why::not_ours;
  } else {
    if (!std::is_same_v<dtype_of<X>, dtype_of<W>>) return why::dtypes_differ__write_cast_or_sum_and_matmul_of_a_dtype;
    if (is_bool<dtype_of<X>>) return why::arithmetic_on_bool__write_cast;
    if (rank_of<X> != 4) return why::image_must_be_batch_channels_height_width;
    const record::shape &x = *shape_v<shape_of<X>>, &w = *shape_v<shape_of<W>>;
    if (w.rank != 4 || w.extents[2].text != nullptr || w.extents[3].text != nullptr)
      return why::filter_must_be_out_in_height_width;
    if (O.groups < 1) return why::groups_do_not_divide_the_channels;
    if constexpr (rank_of<X> == 4 && rank_of<W> == 4) {
      constexpr ext in = detail::times(ext_at<shape_of<W>, 1>, detail::to_ext(O.groups));
      if (!detail::same(in, ext_at<shape_of<X>, 1>)) return why::channels_do_not_match_the_filter;
      if (detail::exact_div(ext_at<shape_of<W>, 0>, detail::to_ext(O.groups)).text[0] == 0)
        return why::groups_do_not_divide_the_channels;
    }
    const hw k(static_cast<int>(w.extents[2].value), static_cast<int>(w.extents[3].value));
    return detail::window_why(x, k, O.stride, O.padding, O.dilation);
  }
}

template <conv O, class X, class W>
constexpr auto convolved(const X& x, const W& w, const sloc& l) {
  constexpr hw k(static_cast<int>(extent_at<shape_of<W>, 2>), static_cast<int>(extent_at<shape_of<W>, 3>));
  const auto view6 = detail::windows2<k, O.stride, O.dilation>(detail::framed<O.padding>(x, 0, l), l);
  using V = shape_of<decltype(view6)>;  // [N, C, KH, OH, KW, OW]
  constexpr ext groups = detail::to_ext(O.groups), per_group = detail::exact_div(ext_at<shape_of<W>, 0>, groups);
  constexpr long kh = k.h, kw = k.w, g = O.groups;
  constexpr auto n = extent_at<V, 0>;
  constexpr auto c = extent_at<shape_of<W>, 1>;
  constexpr auto oh = extent_at<V, 3>;
  constexpr auto ow = extent_at<V, 5>;
  constexpr auto o = extent_v<per_group>;
  const auto view7 = detail::reshaped<sh<n, g, c, kh, oh, kw, ow>>(view6, l);
  const auto ordered = permute<0, 1, 4, 6, 2, 3, 5>(view7, l);  // [N, G, OH, OW, C, KH, KW]
  using Full = sh<n, g, o, oh, ow, c, kh, kw>;
  const auto left = detail::expanded_to<Full>(unsqueeze<2>(ordered, l), l);
  const auto right = detail::expanded_to<Full>(detail::reshaped<sh<g, o, 1L, 1L, c, kh, kw>>(w, l), l);
  constexpr ints axes = [] {
    ints r;
    r.add(5);
    r.add(6);
    r.add(7);
    return r;
  }();
  return detail::reshaped<sh<n, extent_at<shape_of<W>, 0>, oh, ow>>(
      detail::sum_of_products<reduce_kind::fma, axes>(left, right, l), l);
}

template <class X, class W, class B, conv O>
constexpr why conv_bias_why() {
  if constexpr (!Operand<B>)
    return why::not_ours;
  else if constexpr (detail::wrong(detail::check_conv<X, W, O>()))
    return detail::check_conv<X, W, O>();
  else if constexpr (rank_of<B> != 1)
    return why::bias_must_have_one_element_per_output_channel;
  else
    return !std::is_same_v<dtype_of<X>, dtype_of<B>> ? why::dtypes_differ__write_cast_or_sum_and_matmul_of_a_dtype
           : detail::same(ext_at<shape_of<B>, 0>, ext_at<shape_of<W>, 0>) ? why::ok
                                                                          : why::bias_must_have_one_element_per_output_channel;
}

constexpr hw pool_stride(const pool& p) {
  return {p.stride.h == 0 ? p.kernel.h : p.stride.h, p.stride.w == 0 ? p.kernel.w : p.stride.w};
}
template <class X, pool P, klass K>
constexpr why check_pool() {
  if constexpr (!Operand<X>) {
    return why::not_ours;
  } else {
    if (rank_of<X> != 4) return why::image_must_be_batch_channels_height_width;
    if (detail::wrong(detail::class_why<dtype_of<X>>(K))) return detail::class_why<dtype_of<X>>(K);
    return detail::window_why(*shape_v<shape_of<X>>, P.kernel, detail::pool_stride(P), P.padding, P.dilation);
  }
}

// The least value of D: -inf or the lowest integer.
template <class D>
constexpr int lowest_id(builder* b, const sloc& l) {
  detail::literal v;
  if constexpr (is_float<D>)
    v = detail::encode<D>(-__builtin_inf());
  else if constexpr (is_signed<D>)
    v.bits = ~std::uint64_t{0} << (detail::bits<D> - 1);
  return detail::constant_id<D>(b, v, l);
}
inline constexpr ints pool_axes = [] {
  ints r;
  r.add(2);
  r.add(4);
  return r;
}();

}  // namespace detail

template <class X, class W, conv O>
inline constexpr why conv_why = detail::check_conv<X, W, O>();

// conv2d(x, w): x[N, C, H, W] and w[O, C / groups, KH, KW] give [N, O, OH, OW]; conv2d(x, w, bias) adds bias[O]. Numbers of one
// dtype; KH and KW are static. The sum is accumulated by fma over channel, kernel row and kernel column, in that order.
template <conv O = conv{}, class X, class W>
  requires(conv_why<X, W, O> == why::ok)
constexpr auto conv2d(const X& x, const W& w, sloc l = sloc::current()) {
  return detail::convolved<O>(x, w, l);
}
template <conv O = conv{}, class X, class W, class B>
  requires(detail::conv_bias_why<X, W, B, O>() == why::ok)
constexpr auto conv2d(const X& x, const W& w, const B& bias, sloc l = sloc::current()) {
  const auto y = detail::convolved<O>(x, w, l);
  return detail::binary_node<void>(op::add, l, y, unsqueeze<1, 2>(bias, l));
}
template <conv O = conv{}, class X, class W, why Reason = conv_why<X, W, O>>
  requires(detail::wrong(Reason))
mistake<Reason> conv2d(const X&, const W&) KILN_MISTAKE(KILN_REASONS_CONTRACT);
template <conv O = conv{}, class X, class W, class B, why Reason = detail::conv_bias_why<X, W, B, O>()>
  requires(detail::wrong(Reason))
mistake<Reason> conv2d(const X&, const W&, const B&) KILN_MISTAKE(KILN_REASONS_CONTRACT);

template <class X, pool P, klass K>
inline constexpr why pool_why = detail::check_pool<X, P, K>();

// max_pool2d<pool{..}>(x): x[N, C, H, W] gives the maximum of each window, [N, C, OH, OW]; padding never wins. Numbers.
template <pool P, Operand X>
  requires(pool_why<X, P, klass::number> == why::ok)
constexpr auto max_pool2d(const X& x, sloc l = sloc::current()) {
  using D = dtype_of<X>;
  const expr_<D, sh<>> low(x.b, detail::lowest_id<D>(x.b, l));
  const auto view6 = detail::windows2<P.kernel, detail::pool_stride(P), P.dilation>(detail::framed<P.padding>(x, low, l), l);
  return detail::reduce_node<reduce_kind::max, D, detail::pool_axes>(view6, l);
}
// avg_pool2d<pool{..}>(x): the mean of each window, [N, C, OH, OW]; padding counts as zeros. Floating point.
template <pool P, Operand X>
  requires(pool_why<X, P, klass::floating> == why::ok)
constexpr auto avg_pool2d(const X& x, sloc l = sloc::current()) {
  using D = dtype_of<X>;
  const auto view6 = detail::windows2<P.kernel, detail::pool_stride(P), P.dilation>(detail::framed<P.padding>(x, 0, l), l);
  const auto total = detail::reduce_node<reduce_kind::sum, D, detail::pool_axes>(view6, l);
  return detail::binary_node<void>(op::fdiv, l, total, P.kernel.h * P.kernel.w);
}
template <pool P, class X, why Reason = pool_why<X, P, klass::number>>
  requires(detail::wrong(Reason))
mistake<Reason> max_pool2d(const X&) KILN_MISTAKE(KILN_REASONS_CONTRACT);
template <pool P, class X, why Reason = pool_why<X, P, klass::floating>>
  requires(detail::wrong(Reason))
mistake<Reason> avg_pool2d(const X&) KILN_MISTAKE(KILN_REASONS_CONTRACT);

// conv2d(x, w, 1, 1), max_pool2d<2>(x)
// clang-format off
KILN_DELETED_BEGIN
#define KILN_X(f) KILN_ELSEWHERE(f, options_are_in_angle_brackets__write_conv2d_of_conv_stride_padding_or_max_pool2d_of_pool_kernel, \
  "the options are in angle brackets, with their names: conv2d<conv{.stride = 1, .padding = 1}>(x, w), also (x, w, bias), max_pool2d<pool{.kernel = 2}>(x)")
KILN_X(conv2d)
KILN_X(max_pool2d)
KILN_X(avg_pool2d)
#undef KILN_X
KILN_DELETED_END
// clang-format on

}  // namespace kiln::dsl
