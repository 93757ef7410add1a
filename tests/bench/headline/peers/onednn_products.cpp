// Products, networks and attention by oneDNN.
#include "tests/bench/headline/peers/onednn.h"

namespace kiln::headline::onednn {
namespace {

template <bool ta, bool tb, bool packed>
job product(problem& p) {
  const std::int64_t m = p.e(0), k = p.e(1), n = p.e(2);
  const auto a = memory(p.in[0], shaped(p.in[0], {m, k}, ta ? dims{1, m} : dims{k, 1}));
  const auto b = memory(p.in[1], shaped(p.in[1], {k, n}, tb ? dims{1, k} : dims{n, 1}));
  return run({matmul(a, b, memory(p.out[0], of(p.out[0])), {.packed = packed})});
}
job batched(problem& p) {
  return run({matmul(memory(p.in[0], of(p.in[0])), memory(p.in[1], of(p.in[1])), memory(p.out[0], of(p.out[0])))});
}
template <dnnl::algorithm activation, bool packed>
job dense_layer(problem& p) {
  const auto bias = memory(p.in[2], shaped(p.in[2], {1, p.e(2)}));
  return run({matmul(memory(p.in[0], of(p.in[0])), memory(p.in[1], of(p.in[1])), memory(p.out[0], of(p.out[0])),
                     {.attributes = then(activation), .packed = packed, .bias = &bias})});
}
job matvec(problem& p) {
  const auto x = memory(p.in[1], shaped(p.in[1], {p.e(1), 1})), y = memory(p.out[0], shaped(p.out[0], {p.e(0), 1}));
  return run({matmul(memory(p.in[0], of(p.in[0])), x, y)});
}
template <bool packed>
job mlp(problem& p) {
  std::vector<step> steps;
  dnnl::memory x = memory(p.in[0], of(p.in[0]));
  const std::size_t layers = p.row->e.size() - 2;
  for (std::size_t l = 1; l <= layers; ++l) {
    const std::int64_t n = p.e(l + 1);
    const auto bias = memory(p.in[2 * l], shaped(p.in[2 * l], {1, n}));
    const auto y = l == layers ? memory(p.out[0], of(p.out[0])) : memory(shaped(p.out[0], {p.e(0), n}));
    steps.push_back(matmul(x, memory(p.in[2 * l - 1], of(p.in[2 * l - 1])), y,
                           {.attributes = l < layers ? then(dnnl::algorithm::eltwise_relu) : dnnl::primitive_attr(),
                            .packed = packed,
                            .bias = &bias}));
    x = y;
  }
  return run(steps);
}
job attention(problem& p) {
  const std::int64_t heads = p.e(0) * p.e(1), s = p.e(2), d = p.e(3);
  const dims rows{heads, s, d};
  const auto q = memory(p.in[0], shaped(p.in[0], rows)), v = memory(p.in[2], shaped(p.in[2], rows));
  const auto k = memory(p.in[1], shaped(p.in[1], {heads, d, s}, {s * d, 1, d}));
  const auto score = memory(shaped(p.in[0], {heads, s, s}));
  dnnl::primitive_attr scaled;
  scaled.set_output_scales(0, {0.125f});
  const dnnl::softmax_forward::primitive_desc softmax(
      dnnl::softmax_forward::desc(dnnl::prop_kind::forward_inference, score.get_desc(), 2), engine());
  return run({matmul(q, k, score, {.attributes = scaled}),
              {dnnl::softmax_forward(softmax), {{DNNL_ARG_SRC, score}, {DNNL_ARG_DST, score}}},
              matmul(score, v, memory(p.out[0], shaped(p.out[0], rows)))});
}

constexpr auto relu = dnnl::algorithm::eltwise_relu, gelu = dnnl::algorithm::eltwise_gelu_tanh;
const peers here{
    {"product", "f32 bf16", "", product<false, false, false>},
    {"product", "f32 bf16", "packed", product<false, false, true>},
    {"product_u8_i8", "u8", "", product<false, false, false>},
    {"product_u8_i8", "u8", "packed", product<false, false, true>},
    {"product_at_b", "f32", "", product<true, false, false>},
    {"product_a_bt", "f32", "", product<false, true, false>},
    {"product_at_bt", "f32", "", product<true, true, false>},
    {"batched", "f32", "", batched},
    {"dense_relu", "f32", "", dense_layer<relu, false>},
    {"dense_relu", "f32", "packed", dense_layer<relu, true>},
    {"dense_gelu", "f32", "", dense_layer<gelu, false>},
    {"dense_gelu", "f32", "packed", dense_layer<gelu, true>},
    {"matvec", "f32", "", matvec},
    {"mlp", "f32", "", mlp<false>},
    {"mlp", "f32", "packed", mlp<true>},
    {"attention", "f32", "", attention},
};

}  // namespace
}  // namespace kiln::headline::onednn
