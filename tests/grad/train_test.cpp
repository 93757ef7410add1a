// Training by hand-written updates, against numbers that a tape over numpy arrays made.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/grad/models.h"
#include "tests/grad/run.h"
#include "tests/grad/threefry.h"

namespace train_test {

using grad_test::around_zero;
using grad_test::Program;
using grad_test::Tensor;
using grad_test::Tensors;
using models::rule;

namespace {

using Losses = std::vector<std::pair<int, double>>;  // by step

// Weights of Xavier's uniform distribution, of the keys (seed, k); biases 0. The same shapes in m and v, as zeros.
Tensors parameters(const kiln::dsl::record::program& p, std::uint32_t seed, const std::map<std::string, std::uint32_t>& keys) {
  Tensors out;
  for (int i = 0; i < p.n_params; ++i) {
    const auto& q = p.params[i];
    if (q.direction != KILN_INOUT) continue;
    const auto shape = dsl_test::shape_of(*q.s, {});
    const auto key = keys.find(q.name);
    if (key == keys.end()) {
      out[q.name] = dsl_test::make(shape);
      continue;
    }
    const double fans = shape.size() == 2 ? static_cast<double>(shape[0] + shape[1]) : 0,
                 taps = static_cast<double>(shape.size() == 4 ? shape[1] * 9 : 1);
    out[q.name] = around_zero({seed, key->second}, shape, shape.size() == 2 ? std::sqrt(6 / fans) : std::sqrt(.1 / taps));
  }
  return out;
}

struct Synthetic {
  Tensor x = grad_test::normal({7, 0}, {96, 20}), labels = dsl_test::make({96});
  Synthetic() {
    const Tensor w = grad_test::normal({7, 1}, {20, 10});
    for (std::int64_t i = 0; i < 96; ++i) {
      double most = -INFINITY;
      for (std::int64_t k = 0; k < 10; ++k) {
        double sum = 0;
        for (std::int64_t j = 0; j < 20; ++j) sum += x.at({i, j}) * w.at({j, k});
        if (sum > most) most = sum, labels.at({i}) = static_cast<double>(k);
      }
    }
  }
};

// Adam also as an object, which has the bits of the interpreter. The others only interpreted, because compiling takes longer.
template <rule R>
void check_synthetic(const Losses& wanted) {
  const auto& p = kiln::ir<models::synthetic<R>>;
  const Synthetic data;
  Tensors in = parameters(p, 1, {{"model_l0_w", 0}, {"model_l1_w", 1}, {"model_l2_w", 2}});
  in["x"] = data.x;
  in["label"] = data.labels;
  Program program(p);
  const Tensors first = R == rule::adam ? program.run(in) : program.interpret(in);
  EXPECT_NEAR(first.at("loss").v[0], 2.43282742612, 1e-9);
  EXPECT_NEAR(std::sqrt(first.at("squares").v[0]), .690687299417, 1e-9);
  grad_test::expect_near(first.at("samples"), {-.00423757109355, -.0476654936433, -.0127826389598, 1.46548362845e-4}, 1e-9,
                         "gradient");
  std::size_t next = 0;
  for (int step = 0; next < wanted.size(); ++step) {
    Tensors out = R == rule::adam ? program(in) : program.interpret(in);
    if (step == wanted[next].first) {
      const double tolerance = R == rule::lion && step == 100 ? 1e-3 : 1e-9;
      EXPECT_NEAR(out.at("loss").v[0], wanted[next].second, tolerance * wanted[next].second) << p.name << ", step " << step;
      ++next;
    }
    in = std::move(out);
  }
}

TEST(Train, SyntheticMlp) { check_synthetic<rule::sgd>({{1, 2.38584130027}, {10, 2.05702009997}, {100, .782931980391}}); }
TEST(Train, Optimisers) {
  check_synthetic<rule::momentum>({{1, 2.38584130027}, {10, 1.447028751}, {100, .0247519671704}});
  check_synthetic<rule::nesterov>({{1, 2.34480285735}, {10, 1.35754340163}, {100, .0247867690497}});
  check_synthetic<rule::adam>({{1, 2.29726765613}, {10, 1.48717615266}, {100, .0231660418355}});
  check_synthetic<rule::adamw>({{1, 2.29723774124}, {10, 1.48777043293}, {100, .0237395576837}});
  check_synthetic<rule::rmsprop>({{1, 1.69231986496}, {10, .231499608147}, {100, .00672542880306}});
  check_synthetic<rule::adagrad>({{1, 1.89831896805}, {10, .601345970595}, {100, .0252629210222}});
  check_synthetic<rule::lion>({{1, 2.39078754297}, {10, 2.05895736311}, {100, .468999497211}});
}

// The digits of scikit-learn: 1797 lines of 64 pixels and a label. Without the file the test is skipped.
struct Digits {
  Tensor pixels{{0, 64}, {}}, labels{{0}, {}};
  Digits() {
    const char* given = std::getenv("KILN_DIGITS");
    const std::string path = given != nullptr ? given : "/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz";
    if (!std::ifstream(path)) return;
    std::FILE* pipe = popen(("gzip -dc '" + path + "'").c_str(), "r");
    if (pipe == nullptr) return;
    std::string text;
    char part[4096];
    for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, n);
    pclose(pipe);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line); ++pixels.shape[0], ++labels.shape[0]) {
      std::istringstream numbers(line);
      std::string number;
      for (int k = 0; std::getline(numbers, number, ','); ++k)
        k < 64 ? pixels.v.push_back(std::stod(number) / 16) : labels.v.push_back(std::stod(number));
    }
  }
  bool found() const { return labels.v.size() == 1797; }
  void batch(std::size_t first, Tensors& in) const {
    const auto slice = [&](const Tensor& t, std::size_t width, dsl_test::Shape shape) {
      const auto* begin = t.v.data() + first * width;
      return Tensor{std::move(shape), {begin, begin + 128 * width}};
    };
    in["x"] = slice(pixels, 64, {128, 64});
    in["label"] = slice(labels, 1, {128});
  }
};
#define SKIP_WITHOUT_DIGITS(d) \
  if (!(d).found()) GTEST_SKIP() << "no digits.csv.gz: install python3-sklearn, or set KILN_DIGITS to its path"

// Trains on rows 0 .. 1407 in order, 128 at a time.
void train(Program& program, Tensors& in, const Digits& data, const Losses& wanted, double tolerance) {
  std::size_t next = 0;
  for (int step = 0; next < wanted.size(); ++step) {
    data.batch(static_cast<std::size_t>(step) * 128 % 1408, in);
    Tensors out = program(in);
    if (step == wanted[next].first) {
      const double allowed = step > 300 ? 1e-2 : step > 100 ? 1e-4 : tolerance;
      EXPECT_NEAR(out.at("loss").v[0], wanted[next].second, allowed * wanted[next].second) << "step " << step;
      ++next;
    } else {
      in = std::move(out);
      continue;
    }
    if (next < wanted.size()) in = std::move(out);
  }
}

TEST(Train, DigitsMlp) {
  const Digits data;
  SKIP_WITHOUT_DIGITS(data);
  const std::map<std::string, std::uint32_t> keys{{"model_l0_w", 0}, {"model_l1_w", 1}};
  Losses steps{{0, 2.54357502388}, {1, 2.34731795625}, {10, 1.90431848828}, {100, .212592503927}, {1100, .0080376}};
  Program program(kiln::ir<models::digits<kiln::f64>>);
  Tensors in = parameters(kiln::ir<models::digits<kiln::f64>>, 1, keys);
  train(program, in, data, steps, 1e-9);
  int right = 0;
  for (std::size_t i = 1437; i < 1797; ++i) {
    std::vector<double> hidden = in.at("model_l0_b").v, scores = in.at("model_l1_b").v;
    for (std::size_t k = 0; k < 32; ++k) {
      for (std::size_t j = 0; j < 64; ++j) hidden[k] += data.pixels.v[64 * i + j] * in.at("model_l0_w").v[32 * j + k];
      for (std::size_t o = 0; o < 10; ++o) scores[o] += std::max(hidden[k], 0.0) * in.at("model_l1_w").v[10 * k + o];
    }
    right += std::max_element(scores.begin(), scores.end()) - scores.begin() == static_cast<int>(data.labels.v[i]);
  }
  EXPECT_NEAR(right, 328, 2);
}
TEST(Train, DigitsMlpInSingle) {
  const Digits data;
  SKIP_WITHOUT_DIGITS(data);
  Program program(kiln::ir<models::digits<kiln::f32>>);
  Tensors in = parameters(kiln::ir<models::digits<kiln::f32>>, 1, {{"model_l0_w", 0}, {"model_l1_w", 1}});
  train(program, in, data, {{0, 2.54357502388}, {1, 2.34731795625}, {10, 1.90431848828}}, 2e-5);
}

TEST(Train, DigitsCnn) {
  const Digits data;
  SKIP_WITHOUT_DIGITS(data);
  const std::map<std::string, std::uint32_t> keys{{"model_c0_w", 0}, {"model_c1_w", 1}, {"model_l0_w", 2}, {"model_l1_w", 3}};
  Program gradients(kiln::ir<models::digits_cnn_gradients>);
  Tensors in = parameters(kiln::ir<models::digits_cnn_gradients>, 5, keys);
  data.batch(0, in);
  const Tensors first = gradients(in);
  EXPECT_NEAR(first.at("loss").v[0], 2.30249126382, 1e-9);
  EXPECT_NEAR(std::sqrt(first.at("squares").v[0]), .0184914704979, 1e-9 * .0185);
  grad_test::expect_near(first.at("samples"), {-3.91391401238e-4, 7.63926459396e-4, -1.39207131803e-3, 3.54234199937e-5}, 1e-12,
                         "gradient");
  Program program(kiln::ir<models::digits_cnn>);
  in = parameters(kiln::ir<models::digits_cnn>, 5, keys);
  train(program, in, data, {{0, 2.30249126382}, {1, 2.30164430373}, {10, 2.2667008548}, {110, .456504702}}, 1e-9);
}

TEST(Train, KernelCounts) {
  EXPECT_EQ(Program(kiln::ir<models::layer_update>).kernels(), 1);
  EXPECT_LE(Program(kiln::ir<models::mlp_step>).kernels(), 16);
  EXPECT_LE(Program(kiln::ir<models::digits_cnn>).kernels(), 30);
}

}  // namespace

}  // namespace train_test
