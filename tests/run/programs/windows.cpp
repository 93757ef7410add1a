// Convolutions and pools that are large enough for a copy of their padded input.
#include <kiln/dsl.h>

using namespace kiln;

template <class D, dsl::conv O, int C, int K, int R>
struct convolution : program<convolution<D, O, C, K, R>> {
  static constexpr int height = (23 + 2 * O.padding.h - O.dilation.h * (R - 1) - 1) / O.stride.h + 1;
  static constexpr int width = (41 + 2 * O.padding.w - O.dilation.w * (R - 1) - 1) / O.stride.w + 1;
  in<D, 2, C, 23, 41> x;
  in<D, K, C / O.groups, R, R> w;
  in<D, K> bias;
  out<D, 2, K, height, width> y;
  constexpr void body() { y = max(conv2d<O>(x, w, bias), 0); }
};

// Each channel of a small plane by itself, and sums over all channels with an element for each column.
template <class D, int H, int W, int R, int Stride, int Padding>
struct small_planes : program<small_planes<D, H, W, R, Stride, Padding>> {
  static constexpr int height = (H + 2 * Padding - R) / Stride + 1, width = (W + 2 * Padding - R) / Stride + 1;
  in<D, 2, 6, H, W> x;
  in<D, 6, 1, R, R> w;
  in<D, 8, 6, R, R> v;
  in<D, width> columns;
  out<D, 2, 6, height, width> each;
  out<D, 2, 8, height, width> all, with_columns;
  constexpr void body() {
    each = clamp(conv2d<dsl::conv{.stride = Stride, .padding = Padding, .groups = 6}>(x, w), -1, 1);
    auto sums = conv2d<dsl::conv{.stride = Stride, .padding = Padding}>(x, v);
    all = max(sums, 0);
    with_columns = sums + columns;
  }
};

template <dsl::pool O, int Height, int Width>
struct pools : program<pools<O, Height, Width>> {
  in<f32, 8, 6, 37, 75> x;
  out<f32, 8, 6, Height, Width> largest, average;
  constexpr void body() {
    largest = max_pool2d<O>(x);
    average = avg_pool2d<O>(x);
  }
};

// The channels are innermost, and the windows are views of both axes.
struct channels_last : program<channels_last> {
  in<f32, 20, 40, 8> x;
  in<f32, 8, 3, 3, 32> w;
  out<f32, 32, 20, 40> y;
  constexpr void body() {
    auto planes = reshape<1, 8, 20, 40>(permute<2, 0, 1>(x));
    y = reshape<32, 20, 40>(conv2d<conv{.padding = 1}>(planes, permute<3, 0, 1, 2>(w)));
  }
};

// Reductions of the sums: a pool, and the largest channel.
struct pooled_convolution : program<pooled_convolution> {
  in<f32, 1, 3, 40, 40> x;
  in<f32, 8, 3, 7, 7> w;
  in<f32, 8, 3, 3, 3> v;
  out<f32, 1, 8, 10, 10> pooled;
  out<f32, 1, 40, 40> largest;
  constexpr void body() {
    pooled = max_pool2d<pool{.kernel = 2}>(max(conv2d<conv{.stride = 2, .padding = 3}>(x, w), 0.0f));
    largest = max<1>(conv2d<conv{.padding = 1}>(x, v));
  }
};

// The derivatives of a convolution of N x C planes of H x H by K filters of R x R.
template <dsl::conv O, int N, int C, int H, int K, int R>
struct derivatives : program<derivatives<O, N, C, H, K, R>> {
  static constexpr int side = (H + 2 * O.padding.h - R) / O.stride.h + 1;
  in<f32, N, C, H, H> x;
  in<f32, K, C / O.groups, R, R> w;
  in<f32, N, K, side, side> c;
  out<f32, N, C, H, H> by_image;
  out<f32, K, C / O.groups, R, R> by_filters;
  constexpr void body() {
    by_image = vjp(conv2d<O>(x, w), x, c);
    by_filters = vjp(conv2d<O>(x, w), w, c);
  }
};

static const programs<
    derivatives<dsl::conv{.padding = 1}, 1, 4, 3, 48, 3>,  // a copy of all windows
    derivatives<dsl::conv{.padding = 1}, 2, 5, 9, 32, 3>,  // panels of the adjoint
    derivatives<dsl::conv{.padding = 1}, 1, 3, 5, 8, 3>,   // short sums
    derivatives<dsl::conv{}, 1, 16, 7, 12, 1>,             // one row for each plane, a copy of the image
    derivatives<dsl::conv{}, 1, 40, 12, 6, 1>,             // and of the adjoint
    derivatives<dsl::conv{}, 2, 24, 6, 32, 1>,             // rows of several planes
    derivatives<dsl::conv{.padding = 1, .groups = 12}, 1, 12, 14, 12, 3>,
    derivatives<dsl::conv{.stride = 2, .padding = 2, .groups = 9}, 2, 9, 15, 9, 5>,
    derivatives<dsl::conv{.stride = 2, .padding = 1, .groups = 5}, 1, 5, 45, 5, 3>,
    convolution<f32, dsl::conv{.padding = 1}, 4, 16, 3>, convolution<f64, dsl::conv{.stride = 2, .padding = 1}, 3, 8, 3>,
    convolution<f16, dsl::conv{.stride = 2, .padding = 3}, 3, 8, 7>, convolution<i32, dsl::conv{.stride = 3}, 4, 8, 5>,
    convolution<f32, dsl::conv{.stride = dsl::hw{1, 2}, .padding = dsl::hw{2, 0}}, 4, 16, 3>,
    convolution<f32, dsl::conv{.padding = 2, .dilation = 2}, 4, 16, 3>,
    convolution<f32, dsl::conv{.stride = 2, .padding = 2, .dilation = 3}, 4, 8, 3>,
    convolution<f32, dsl::conv{.stride = 2, .padding = 1, .groups = 2}, 8, 16, 3>,
    convolution<f32, dsl::conv{.stride = 2, .padding = 1, .groups = 16}, 16, 16, 3>,
    pools<dsl::pool{.kernel = 3, .stride = 2, .padding = 1}, 19, 38>, pools<dsl::pool{.kernel = 5, .stride = 2}, 17, 36>,
    small_planes<f32, 7, 7, 3, 1, 1>, small_planes<f32, 9, 7, 5, 1, 2>, small_planes<f32, 6, 14, 3, 1, 1>,
    small_planes<f32, 13, 13, 3, 2, 1>, small_planes<f32, 14, 11, 5, 2, 2>, small_planes<f64, 5, 3, 3, 1, 1>,
    small_planes<f32, 5, 5, 3, 1, 1>, small_planes<f16, 7, 6, 3, 1, 1>, channels_last, pooled_convolution>
    exported;
