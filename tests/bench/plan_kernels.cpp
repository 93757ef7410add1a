#include "tests/bench/plan_kernels.h"

#include "tests/bench/headline/programs/elementwise.h"
#include "tests/bench/headline/programs/movement.h"
#include "tests/bench/headline/programs/products.h"
#include "tests/bench/headline/programs/reductions.h"
#include "tests/bench/headline/programs/windows.h"

namespace {

template <class D, auto M, auto N>
struct sum_rows : program<sum_rows<D, M, N>> {
  in<D, M, N> x;
  out<D, M> y;
  constexpr void body() { y = sum<1>(x); }
};
template <class D, auto M, auto N>
struct distinct_rows : program<distinct_rows<D, M, N>> {  // rows of a table by number; the table has a row for each byte
  in<D, 256, N> table;
  in<u8, M> rows;
  out<D, M, N> y;
  constexpr void body() { y = table(cast<i32>(rows)); }
};
// The pull of all bodies on each one, along one axis.
template <class D, auto N>
struct pulls : program<pulls<D, N>> {
  in<D, N> x, y;
  out<D, N> a;
  constexpr void body() {
    auto dx = unsqueeze<0>(x) - unsqueeze<1>(x), dy = unsqueeze<0>(y) - unsqueeze<1>(y);
    auto d2 = dx * dx + dy * dy + 1e-3;
    a = sum<1>(dx / (d2 * sqrt(d2)));
  }
};

}  // namespace

namespace kiln::bench {

std::span<const plan_kernel> plan_kernels() {
  static constexpr plan_kernel all[] = {
      {"saxpy", &ir<saxpy<f32, 65536>>},
      {"chain", &ir<chain20<f32, 65536>>},
      {"gelu", &ir<gelu_tanh<f32, 65536>>},
      {"product_64", &ir<product<f32, 64, 64, 64>>},
      {"product_256", &ir<product<f32, 256, 256, 256>>},
      {"product_128x784x512", &ir<product<f32, 128, 784, 512>>},
      {"product_a_bt", &ir<product_a_bt<f32, 256, 256, 256>>},
      {"matvec", &ir<matvec<f32, 768, 3072>>},
      {"sum_rows", &ir<sum_rows<f32, 1000, 1000>>},
      {"sum_columns", &ir<sum_columns<f32, 1000, 1000>>},
      {"max_columns", &ir<max_columns<f32, 1000, 1000>>},
      {"softmax", &ir<softmax_rows<f32, 512, 1000>>},
      {"argmin_rows", &ir<argmin_rows<f32, 1000, 1000>>},
      {"transpose", &ir<transposed<f32, 500, 500>>},
      {"nchw_to_nhwc", &ir<permuted_0231<f32, 2, 64, 56, 56>>},
      {"stencil_3x3", &ir<gauss<f32, 200, 320>>},
      {"jacobi", &ir<jacobi<f32, 500, 500>>},
      {"depthwise", &ir<convolution<f32, 1, 128, 56, 56, 128, 3, 1, 1, 128>>},
      {"convolution", &ir<convolution<f32, 1, 64, 28, 28, 64, 3, 1, 1, 1>>},
      {"max_pool", &ir<max_pool<f32, 64, 112, 112>>},
      {"distances", &ir<distances<f32, 500, 24>>},
      {"pulls", &ir<pulls<f32, 1000>>},
      {"u8_cast", &ir<grey<u8, 500, 500>>},
      {"u8_planes", &ir<planar<u8, 500, 500>>},
      {"i8_cast", &ir<restored<i8, 500, 500>>},
      {"gather", &ir<distinct_rows<f32, 5000, 64>>},
  };
  return all;
}

}  // namespace kiln::bench
