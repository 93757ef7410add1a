// Convolutions, pools, elementwise functions, reductions and permutations by oneDNN. A convolution's images and weights are
// brought into the layout that the variant names before the measurement, and its result back after it.
#include "tests/bench/headline/peers/onednn.h"
#include "tests/bench/headline/windows.h"

namespace kiln::headline::onednn {
namespace {

using tag = dnnl::memory::format_tag;
constexpr auto inference = dnnl::prop_kind::forward_inference;

template <tag images, dnnl::algorithm algorithm>
job convolution(problem& p) {
  const conv_shape s(*p.row);
  const dims window = s.groups == 1 ? dims{s.o, s.c, s.r, s.r} : dims{s.groups, s.o / s.groups, s.c / s.groups, s.r, s.r};
  const dims in{s.n, s.c, s.h, s.w}, out{s.n, s.o, s.oh, s.ow}, both_strides{s.stride, s.stride}, border{s.padding, s.padding};
  constexpr auto f32 = dnnl::memory::data_type::f32;
  const dnnl::convolution_forward::desc d(inference, algorithm, desc(in, f32, images), desc(window, f32, tag::any),
                                          desc(out, f32, images), both_strides, border, border);
  const dnnl::convolution_forward::primitive_desc c(d, engine());
  const auto x = reordered(memory(p.in[0], of(p.in[0])), c.src_desc());
  const auto w = reordered(memory(p.in[1], shaped(p.in[1], window)), c.weights_desc());
  const auto y = memory(c.dst_desc()), result = memory(p.out[0], of(p.out[0]));
  return run({{dnnl::convolution_forward(c), {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, y}}}}, [y, result] {
    dnnl::memory from = y, to = result;
    dnnl::reorder(from, to).execute(stream(), from, to);
    stream().wait();
  });
}
bool fits_winograd(const workload& w) {
  const conv_shape s(w);
  return s.r == 3 && s.stride == 1 && s.groups == 1;
}

template <tag images>
job max_pool(problem& p) {
  const dims in(p.in[0].shape), out(p.out[0].shape), two{2, 2}, three{3, 3}, one{1, 1};
  constexpr auto f32 = dnnl::memory::data_type::f32;
  const std::int64_t h = p.e(1), w = p.e(2);
  const dims end{2 * (out[2] - 1) + 2 - h, 2 * (out[3] - 1) + 2 - w};
  const dnnl::pooling_forward::desc d(inference, dnnl::algorithm::pooling_max, desc(in, f32, images), desc(out, f32, images),
                                      two, three, one, end);
  const dnnl::pooling_forward::primitive_desc c(d, engine());
  const auto x = reordered(memory(p.in[0], of(p.in[0])), c.src_desc());
  const auto y = memory(c.dst_desc()), result = memory(p.out[0], of(p.out[0]));
  return run({{dnnl::pooling_forward(c), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}}}}, [y, result] {
    dnnl::memory from = y, to = result;
    dnnl::reorder(from, to).execute(stream(), from, to);
    stream().wait();
  });
}

template <dnnl::algorithm algorithm>
job elementwise(problem& p) {
  const dnnl::eltwise_forward::primitive_desc d(dnnl::eltwise_forward::desc(inference, algorithm, of(p.in[0]), 0, 0), engine());
  return run({{dnnl::eltwise_forward(d),
               {{DNNL_ARG_SRC, memory(p.in[0], of(p.in[0]))}, {DNNL_ARG_DST, memory(p.out[0], of(p.in[0]))}}}});
}
// Reduces axis 0.
template <dnnl::algorithm algorithm>
job reduction(problem& p) {
  dims result(p.in[0].shape);
  result[0] = 1;
  const desc in = of(p.in[0]), out = shaped(p.in[0], result);
  const dnnl::reduction::primitive_desc d(dnnl::reduction::desc(algorithm, in, out, 0, 0), engine());
  return run({{dnnl::reduction(d), {{DNNL_ARG_SRC, memory(p.in[0], in)}, {DNNL_ARG_DST, memory(p.out[0], out)}}}});
}
job softmax_rows(problem& p) {
  const dnnl::softmax_forward::primitive_desc d(dnnl::softmax_forward::desc(inference, of(p.in[0]), 1), engine());
  return run({{dnnl::softmax_forward(d),
               {{DNNL_ARG_SRC, memory(p.in[0], of(p.in[0]))}, {DNNL_ARG_DST, memory(p.out[0], of(p.out[0]))}}}});
}
job layer_norm_rows(problem& p) {
  using flags = dnnl::normalization_flags;
  const dnnl::layer_normalization_forward::primitive_desc d(
      dnnl::layer_normalization_forward::desc(inference, of(p.in[0]), 1e-5f, flags::use_scale | flags::use_shift), engine());
  return run({{dnnl::layer_normalization_forward(d),
               {{DNNL_ARG_SRC, memory(p.in[0], of(p.in[0]))},
                {DNNL_ARG_SCALE, memory(p.in[1], of(p.in[1]))},
                {DNNL_ARG_SHIFT, memory(p.in[2], of(p.in[2]))},
                {DNNL_ARG_DST, memory(p.out[0], of(p.out[0]))}}}});
}

// A permutation is a copy between two layouts of the input's axes: axis r of the result is axis order[r].
template <int... order>
job permuted(problem& p) {
  constexpr int axes[] = {order...};
  const dims strides = dense(dims(p.out[0].shape));
  dims to(strides.size());
  for (std::size_t r = 0; r < to.size(); ++r) to[static_cast<std::size_t>(axes[r])] = strides[r];
  const auto x = memory(p.in[0], of(p.in[0])), y = memory(p.out[0], shaped(p.out[0], dims(p.in[0].shape), to));
  return run({{dnnl::reorder(x, y), {{DNNL_ARG_FROM, x}, {DNNL_ARG_TO, y}}}});
}

using enum dnnl::algorithm;
const peers here{
    {"convolution", "f32", "nchw", convolution<tag::nchw, convolution_direct>},
    {"convolution", "f32", "nhwc", convolution<tag::nhwc, convolution_direct>},
    {"convolution", "f32", "blocked", convolution<tag::any, convolution_direct>},
    {"convolution", "f32", "winograd", convolution<tag::any, convolution_winograd>, fits_winograd},
    {"max_pool", "f32", "nchw", max_pool<tag::nchw>},
    {"max_pool", "f32", "nhwc", max_pool<tag::nhwc>},
    {"max_pool", "f32", "blocked", max_pool<tag::nChw16c>},
    {"exponential", "f32", "", elementwise<eltwise_exp>},
    {"gelu_tanh", "f32", "", elementwise<eltwise_gelu_tanh>},
    {"total", "f32", "", reduction<reduction_sum>},
    {"lowest", "f32", "", reduction<reduction_min>},
    {"sum_columns", "f32", "", reduction<reduction_sum>},
    {"max_columns", "f32", "", reduction<reduction_max>},
    {"softmax_rows", "f32", "", softmax_rows},
    {"layer_norm_rows", "f32", "", layer_norm_rows},
    {"transposed", "f32", "", permuted<1, 0>},
    {"permuted_0231", "f32", "", permuted<0, 2, 3, 1>},
    {"permuted_021", "f32", "", permuted<0, 2, 1>},
    {"permuted_210", "f32", "", permuted<2, 1, 0>},
    {"permuted_102", "f32", "", permuted<1, 0, 2>},
    {"planar", "u8", "", permuted<2, 0, 1>},
};

}  // namespace
}  // namespace kiln::headline::onednn
