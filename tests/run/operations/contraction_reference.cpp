#include "tests/run/operations/operations.h"

namespace kiln::compiler::testing {
namespace {

// The coordinate for step k of a sum over a(coordinate, k) * b(coordinate, k). k is the last axis of input `a`.
using Source = std::function<Extents(const Extents& c, std::int64_t k)>;
// The sum of `count` products in some order.
using Order = decltype(expected_chain);
Reference products(Order* sum, const char* a, const char* b, Source in_a, Source in_b) {
  return [=](const Call& call) {
    const Tensor &x = call[a], &y = call[b];
    return exactly(tabulate(call.result, call.extents, [&](const Extents& c) {
      return sum(
          call.result, x.extents.back(), [&](std::int64_t k) { return x.at(in_a(c, k)); },
          [&](std::int64_t k) { return y.at(in_b(c, k)); });
    }));
  };
}

Reference chain(const char* a, const char* b, Source in_a, Source in_b) {
  return products(expected_chain, a, b, std::move(in_a), std::move(in_b));
}
// The right operand is a vector.
Reference stripes(const char* a, const char* b, Source in_a) {
  return products(expected_dot, a, b, std::move(in_a), [](const Extents&, std::int64_t k) { return Extents{k}; });
}

Family contractions() {
  using E = const Extents&;
  using I = std::int64_t;
  const auto k_only = [](E, I k) { return Extents{k}; };
  const auto row = [](E c, I k) { return Extents{c[c.size() - 2], k}; };
  const auto batch_column = [](E c, I k) { return Extents{c[c.size() - 3], k, c.back()}; };
  const std::string matmul = "matmul(a, b)";
  return {"contractions",
          Fill::random,
          {{"product", matmul, chain("a", "b", row, [](E c, I k) { return Extents{k, c[1]}; })},
           {"by_vector", matmul, stripes("a", "v", [](E c, I k) { return Extents{c[0], k}; })},
           {"batch_by_vector", matmul, stripes("batch", "v", [](E c, I k) { return Extents{c[0], c[1], k}; })},
           {"vector_by", matmul, chain("u", "b", k_only, [](E c, I k) { return Extents{k, c[0]}; })},
           {"vectors", matmul, stripes("u", "v", k_only)},
           {"inner", "dot(a, b)", stripes("u", "v", k_only)},
           {"batched", matmul,
            chain(
                "batch", "right", [](E c, I k) { return Extents{c[0], c[1], k}; }, batch_column)},
           {"one_left", matmul, chain("a", "right", row, batch_column)},
           {"both_batches", matmul, chain("left", "right", [](E c, I k) { return Extents{c[0], 0, c[2], k}; }, batch_column)}}};
}

struct Window {
  std::int64_t stride = 1, padding = 0, dilation = 1;
};

// The element of x at channel, row and column of the padded image; `outside` if it is padding.
Bits inside(const Tensor& x, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w, Bits outside) {
  const bool in = h >= 0 && w >= 0 && h < x.extents[2] && w < x.extents[3];
  return in ? x.at({n, c, h, w}) : outside;
}

Reference convolved(const char* filter, Window o, std::int64_t groups, bool bias) {
  return [=](const Call& call) {
    const Tensor &x = call["x"], &w = call[filter];
    const std::int64_t channels = w.extents[1], kh = w.extents[2], kw = w.extents[3];
    return exactly(tabulate(call.result, call.extents, [&](const Extents& c) {
      const std::int64_t group = c[1] / (w.extents[0] / groups);
      const auto image = [&](std::int64_t k) {
        const std::int64_t channel = k / (kh * kw), i = k / kw % kh, j = k % kw;
        return inside(x, c[0], group * channels + channel, c[2] * o.stride + i * o.dilation - o.padding,
                      c[3] * o.stride + j * o.dilation - o.padding, 0);
      };
      const auto weight = [&](std::int64_t k) { return w.at({c[1], k / (kh * kw), k / kw % kh, k % kw}); };
      const Bits sum = expected_chain(call.result, channels * kh * kw, image, weight);
      if (!bias) return sum;
      return expected_element(Op::ADD, call.result, call.result, {sum, call["bias"].at({c[1]})}).exact;
    }));
  };
}

Family convolutions() {
  return {"convolutions",
          Fill::random,
          {{"plain", "conv2d(x, w)", convolved("w", {}, 1, false)},
           {"with_bias", "conv2d(x, w, bias)", convolved("w", {}, 1, true)},
           {"strided", "conv2d<conv{.stride, .padding}>(x, w)", convolved("w", {2, 1, 1}, 1, false)},
           {"dilated", "conv2d<conv{.dilation}>(x, w)", convolved("w", {1, 1, 2}, 1, false)},
           {"groups", "conv2d<conv{.groups}>(x, w)", convolved("grouped", {}, 2, false)}}};
}

Bits lowest(DType d) {
  if (is_float(d)) return real_bits(d, -__builtin_infl());
  return is_signed_int(d) ? Bits{1} << (bits(d) - 1) : 0;
}
// Windows as [N, C, KH, OH, KW, OW]. The order of a sum is the order of a reduction over axes 2 and 4.
Reference pooled(ReduceKind kind, std::int64_t kernel, Window o) {
  return [=](const Call& call) {
    const Tensor& x = call["x"];
    const DType d = call.result;
    const Bits outside = kind == ReduceKind::max ? lowest(d) : 0;
    const Extents& e = call.extents;
    const Tensor windows = tabulate(d, {e[0], e[1], kernel, e[2], kernel, e[3]}, [&](const Extents& c) {
      return inside(x, c[0], c[1], c[3] * o.stride + c[2] * o.dilation - o.padding,
                    c[5] * o.stride + c[4] * o.dilation - o.padding, outside);
    });
    Tensor r = expected_reduce(kind, windows, {2, 4});
    if (kind == ReduceKind::sum)
      for (Bits& b : r.elements)
        b = expected_element(Op::FDIV, d, d, {b, real_bits(d, static_cast<long double>(kernel * kernel))}).exact;
    return exactly(r);
  };
}
Family pools(const char* name, ReduceKind kind, const std::string& spelling) {
  return {name,
          Fill::random,
          {{"halves", spelling, pooled(kind, 2, {2, 0, 1})},
           {"overlapping", spelling, pooled(kind, 3, {2, 1, 1})},
           {"dilated", spelling, pooled(kind, 2, {1, 0, 2})}}};
}

}  // namespace

std::vector<Family> contraction_families() {
  return {contractions(), convolutions(),
          pools("maxpools", ReduceKind::max, "max_pool2d<pool{.kernel, .stride, .padding, .dilation}>(x)"),
          pools("averagepools", ReduceKind::sum, "avg_pool2d<pool{.kernel, .stride, .padding, .dilation}>(x)")};
}

}  // namespace kiln::compiler::testing
