// Convolutions of symbolic extents. They are apart from the other programs, because kiln-opt prove cannot decide whether an
// index such as (c * (H + 2) + y) * (W + 2) + x stays inside its buffer: the products of two symbols are beyond Z3's linear
// arithmetic.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"B"> B;
inline constexpr dim<"H", facts{.min = 5}> H;
inline constexpr dim<"W", facts{.min = 5}> W;

template <dsl::conv O>
struct symbolic_convolution : program<symbolic_convolution<O>> {
  in<f32, B, 3, H, W> x;
  in<f32, 8, 3, 3, 3> w;
  out<f32, B, 8, (H + (2 * O.padding.h - 2 * O.dilation.h - 1)) / O.stride.h + 1,
      (W + (2 * O.padding.w - 2 * O.dilation.w - 1)) / O.stride.w + 1>
      y;
  constexpr void body() { y = conv2d<O>(x, w); }
};

static const programs<symbolic_convolution<dsl::conv{.padding = 1}>, symbolic_convolution<dsl::conv{.stride = 2, .padding = 1}>,
                      symbolic_convolution<dsl::conv{.stride = 2}>,
                      symbolic_convolution<dsl::conv{.padding = 2, .dilation = 2}>>
    exported;
