// Gradients of layers, against numbers that a tape over numpy arrays made (f64). The loss is the sum of a layer's results times
// uniform numbers.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include "tests/grad/run.h"
#include "tests/grad/threefry.h"

namespace layers_test {

using namespace kiln;
using grad_test::around_zero;
using grad_test::Tensor;
using grad_test::Tensors;

namespace {

Tensor data(std::uint32_t k, dsl_test::Shape shape) { return around_zero({61, k}, std::move(shape)); }

// Runs the program. Inputs are the data of these numbers. Compares the loss `l` and the norms of the gradients.
void check(const dsl::record::program& p, const std::map<std::string, std::uint32_t>& numbers, double loss,
           const std::vector<double>& norms, Tensors more = {}) {
  std::vector<std::string> gradients;
  for (int i = 0; i < p.n_params; ++i) {
    const auto& q = p.params[i];
    if (const auto it = numbers.find(q.name); it != numbers.end())
      more[q.name] = data(it->second, dsl_test::shape_of(*q.s, {}));
    if (q.direction == KILN_OUT && std::string(q.name) != "l") gradients.push_back(q.name);
  }
  const Tensors r = grad_test::Program(p).run(more);
  EXPECT_NEAR(r.at("l").v[0], loss, 1e-9 * std::abs(loss)) << p.name;
  ASSERT_EQ(gradients.size(), norms.size());
  for (std::size_t i = 0; i < norms.size(); ++i)
    EXPECT_NEAR(grad_test::norm(r.at(gradients[i])), norms[i], 1e-9 * norms[i]) << p.name << "." << gradients[i];
}

struct layer_norms : program<layer_norms> {
  in<f64, 4, 6> x, c;
  in<f64, 6> g, b;
  out<f64> l;
  out<f64, 4, 6> dx;
  out<f64, 6> dg, db;
  constexpr void body() {
    auto loss = sum(layer_norm(x, g, b) * c);
    auto [gx, gg, gb] = grad(loss, x, g, b);
    l = loss;
    dx = gx;
    dg = gg;
    db = gb;
  }
};
struct rms_norms : program<rms_norms> {
  in<f64, 4, 6> x, c;
  in<f64, 6> g;
  out<f64> l;
  out<f64, 4, 6> dx;
  out<f64, 6> dg;
  constexpr void body() {
    auto loss = sum(x / sqrt(mean<1>(x * x, keepdims) + 1e-5) * g * c);
    auto [gx, gg] = grad(loss, x, g);
    l = loss;
    dx = gx;
    dg = gg;
  }
};
struct batch_norms : program<batch_norms> {
  in<f64, 8, 5> x, c;
  in<f64, 5> g, b;
  out<f64> l;
  out<f64, 8, 5> dx;
  out<f64, 5> dg, db;
  constexpr void body() {
    auto loss = sum((layer_norm<0>(x) * g + b) * c);
    auto [gx, gg, gb] = grad(loss, x, g, b);
    l = loss;
    dx = gx;
    dg = gg;
    db = gb;
  }
};
TEST(GradLayers, Norms) {
  check(ir<layer_norms>, {{"x", 0}, {"g", 1}, {"b", 2}, {"c", 99}}, -0.850564914771,
        {2.81344454009, 2.14032618127, 2.52310025838});
  check(ir<rms_norms>, {{"x", 0}, {"g", 1}, {"c", 99}}, -0.336091141211, {2.40138562479, 2.33624118643});
  check(ir<batch_norms>, {{"x", 3}, {"g", 4}, {"b", 5}, {"c", 99}}, -0.338823879928,
        {5.42019299302, 3.55468770663, 5.25359375186});
}

template <bool Causal>
struct attention : program<attention<Causal>> {
  in<f64, 5, 4> q, k, v, c;
  out<f64> l;
  out<f64, 5, 4> dq, dk, dv;
  constexpr void body() {
    auto s = matmul(q, transpose(k)) * 0.5;
    auto later = iota<1>(s) > iota<0>(s);
    auto p = softmax(Causal ? select(later, s - 1e9, s) : s);
    auto loss = sum(matmul(p, v) * c);
    auto [gq, gk, gv] = grad(loss, q, k, v);
    l = loss;
    dq = gq;
    dk = gk;
    dv = gv;
  }
};
TEST(GradLayers, Attention) {
  check(ir<attention<false>>, {{"q", 6}, {"k", 7}, {"v", 8}, {"c", 99}}, 0.280218216613,
        {0.351818171143, 0.218942831502, 1.32836859951});
  check(ir<attention<true>>, {{"q", 6}, {"k", 7}, {"v", 8}, {"c", 99}}, -0.25238735587,
        {0.278455008139, 0.216872887619, 1.67893033536});
}

struct strided_groups : program<strided_groups> {
  in<f64, 2, 4, 9, 9> x;
  in<f64, 6, 2, 3, 3> w;
  in<f64, 2, 6, 5, 5> c;
  out<f64> l;
  out<f64, 2, 4, 9, 9> dx;
  out<f64, 6, 2, 3, 3> dw;
  constexpr void body() {
    auto loss = sum(conv2d<conv{.stride = 2, .padding = 1, .groups = 2}>(x, w) * c);
    auto [gx, gw] = grad(loss, x, w);
    l = loss;
    dx = gx;
    dw = gw;
  }
};
struct dilated : program<dilated> {
  in<f64, 2, 4, 9, 9> x;
  in<f64, 6, 4, 3, 3> w;
  in<f64, 2, 6, 9, 9> c;
  out<f64> l;
  out<f64, 2, 4, 9, 9> dx;
  out<f64, 6, 4, 3, 3> dw;
  constexpr void body() {
    auto loss = sum(conv2d<conv{.padding = 2, .dilation = 2}>(x, w) * c);
    auto [gx, gw] = grad(loss, x, w);
    l = loss;
    dx = gx;
    dw = gw;
  }
};
template <bool Most>
struct pooled : program<pooled<Most>> {
  in<f64, 1, 2, 7, 7> x;
  in<f64, 1, 2, 4, 4> c;
  out<f64> l;
  out<f64, 1, 2, 7, 7> dx;
  constexpr void body() {
    constexpr dsl::pool windows{.kernel = 3, .stride = 2, .padding = 1};
    if constexpr (Most)
      l = sum(max_pool2d<windows>(x) * c);
    else
      l = sum(avg_pool2d<windows>(x) * c);
    auto loss = l * 1.0;
    dx = grad(loss, x);
  }
};
TEST(GradLayers, Windows) {
  check(ir<strided_groups>, {{"x", 9}, {"w", 10}, {"c", 99}}, 16.7275537307, {22.7500068921, 22.9843733508});
  check(ir<dilated>, {{"x", 9}, {"w", 11}, {"c", 99}}, 18.6944153707, {54.0857642282, 56.6017286023});
  check(ir<pooled<true>>, {{"x", 12}, {"c", 99}}, 0.686393816324, {2.89202781682});
  check(ir<pooled<false>>, {{"x", 12}, {"c", 99}}, -0.0371526124667, {0.829658510251});
}

struct embedded : program<embedded> {
  in<f64, 7, 3> table;
  in<i32, 6> words;
  in<f64, 6, 3> c;
  out<f64> l;
  out<f64, 7, 3> dt;
  constexpr void body() {
    auto loss = sum(table(words) * c);
    l = loss;
    dt = grad(loss, table);
  }
};
TEST(GradLayers, Embedding) {
  check(ir<embedded>, {{"table", 13}, {"c", 99}}, -2.63387871856, {2.46454068523}, {{"words", {{6}, {2, 0, 2, 5, 2, 0}}}});
}

struct gru : program<gru> {
  in<f64, 5, 2, 3> x;
  in<f64, 2, 4> h, c;
  in<f64, 3, 12> w;
  in<f64, 4, 12> u;
  out<f64> l;
  out<f64, 5, 2, 3> dx;
  out<f64, 2, 4> dh;
  out<f64, 3, 12> dw;
  out<f64, 4, 12> du;
  constexpr void body() {
    expr<f64, 2, 4> state = h;
    for (int turn = 0; turn < 5; ++turn) {
      auto now = x(turn);
      auto [a, b, d] = split<1, 3>(matmul(now, w));
      auto [e, f, g] = split<1, 3>(matmul(state, u));
      auto z = sigmoid(a + e);
      auto r = sigmoid(b + f);
      auto candidate = tanh(d + r * g);
      state = (1 - z) * candidate + z * state;
    }
    auto loss = sum(state * c);
    auto [gx, gh, gw, gu] = grad(loss, x, h, w, u);
    l = loss;
    dx = gx;
    dh = gh;
    dw = gw;
    du = gu;
  }
};
TEST(GradLayers, Recurrent) {
  check(ir<gru>, {{"x", 14}, {"h", 15}, {"w", 16}, {"u", 17}, {"c", 99}}, -0.0698446586258,
        {0.545486366561, 0.176298303426, 0.536301567035, 0.32448469306});
}

}  // namespace

}  // namespace layers_test
