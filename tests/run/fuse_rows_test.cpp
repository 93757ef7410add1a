// The number of kernels that well-known programs become, and their results, which equal the interpreter's bit for bit: with
// symbols and with numbers, on one thread and on three.
#include <gtest/gtest.h>

#include <random>

#include "compiler/interp/index_value.h"
#include "compiler/interp/interpret.h"
#include "compiler/ir/text.h"
#include "compiler/pipeline/run_passes.h"
#include "tests/run/array_of_elements.h"
#include "tests/run/compiled.h"
#include "tests/run/fuse_rows_programs.h"

namespace kiln::compiler::testing {
namespace {

void run(Graph& g, const Program& p, const CompiledProgram& compiled, const Sizes& sizes) {
  std::map<std::string, std::int64_t> symbols;
  for (const Symbol& s : p.symbols) symbols[s.name] = sizes.at(s.name);
  IndexValues value(g, symbols);
  std::mt19937 random(7);
  std::vector<Array> arguments;
  for (const Parameter& q : p.params) {
    std::vector<std::int64_t> extents;
    for (const Id e : q.extents) extents.push_back(value(e).value());
    arguments.push_back(array_of_elements(q.dtype, std::move(extents), [&] {
      return is_float(q.dtype) ? static_cast<double>(static_cast<int>(random() % 2001) - 1000) / 371
                               : static_cast<double>(random() % 12);
    }));
  }
  const auto expected = interpret(g, p, arguments);
  for (const int workers : {1, 3}) {
    const auto got = compiled(arguments, workers);
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(difference(expected[i], got[i]), "")
          << p.params[i].name << ", sizes " << ::testing::PrintToString(symbols) << ", workers " << workers;
  }
}

// most_kernels: without versions of kernels for small extents (product_versions). sizes: values for the symbols. The first two
// are also tried as numbers in the text. split: kernels more in the text with symbols (split_chains).
void check(const std::string& text, std::size_t most_kernels, const std::vector<Sizes>& sizes, std::size_t split = 0) {
  SCOPED_TRACE(text);
  const auto compiled_as = [&](const std::string& source, std::span<const Sizes> values, std::size_t most) {
    Graph g;
    const Program p = read_program(g, source, "fusion.kiln");
    EXPECT_LE(run_passes(g, p, {.disabled = {"component_versions", "product_versions"}}).schedule.kernels.size(), most);
    const CompiledProgram compiled(g, p);
    for (const Sizes& s : values) run(g, p, compiled, s);
  };
  compiled_as(text, sizes, most_kernels + split);
  for (const Sizes& s : std::span(sizes).first(2)) compiled_as(with_sizes(text, s), std::span(&s, 1), most_kernels);
}

const std::vector<Sizes> rows = {{{"M", 200}, {"N", 64}}, {{"M", 37}, {"N", 131}}, {{"M", 1}, {"N", 5}},
                                 {{"M", 3}, {"N", 1}},    {{"M", 0}, {"N", 7}},    {{"M", 9}, {"N", 0}},
                                 {{"M", 1000}, {"N", 33}}};
const std::vector<Sizes> products = {{{"M", 64}, {"N", 48}, {"K", 32}}, {{"M", 37}, {"N", 29}, {"K", 19}},
                                     {{"M", 1}, {"N", 8}, {"K", 3}},    {{"M", 0}, {"N", 4}, {"K", 4}},
                                     {{"M", 5}, {"N", 0}, {"K", 4}},    {{"M", 5}, {"N", 4}, {"K", 0}},
                                     {{"M", 531}, {"N", 17}, {"K", 9}}};
const std::vector<Sizes> images = {{{"M", 48}, {"N", 64}}, {{"M", 37}, {"N", 29}}, {{"M", 1}, {"N", 1}},
                                   {{"M", 2}, {"N", 40}},  {{"M", 17}, {"N", 2}},  {{"M", 16}, {"N", 16}},
                                   {{"M", 1030}, {"N", 9}}};

TEST(Fusion, ElementwiseChainIsOne) { check(elementwise_chain_text(), 1, rows); }
TEST(Fusion, SoftmaxIsOne) { check(softmax_text(), 1, rows); }
TEST(Fusion, LayerNormIsOne) { check(layer_norm_text(), 1, rows); }
// Rows of a few elements: a tile has 64 of them, which become lanes.
TEST(Fusion, ShortRows) {
  const std::vector<Sizes> short_rows = {{{"M", 100}, {"N", 10}}, {{"M", 64}, {"N", 16}}, {{"M", 65}, {"N", 9}},
                                         {{"M", 2}, {"N", 3}},    {{"M", 0}, {"N", 10}},  {{"M", 700}, {"N", 17}}};
  for (std::size_t i = 0; i + 1 < short_rows.size(); ++i) {
    check(softmax_text(), 1, {short_rows[i], short_rows[i + 1]});
    check(layer_norm_text(), 1, {short_rows[i], short_rows[i + 1]});
  }
}
TEST(Fusion, ArgmaxIsOne) { check(argmax_text(), 1, rows); }
// Of rows whose length only the call knows, the logarithms are a kernel of their own: they have lanes there.
TEST(Fusion, CrossEntropyIsAtMostTwo) { check(cross_entropy_text(), 2, rows, 1); }
TEST(Fusion, TwoProductsAreTwo) { check(two_products_text(), 2, products); }
TEST(Fusion, GeluOfAProductWithBiasIsOne) { check(gelu_layer_text(), 1, products); }
TEST(Fusion, RunningSumIsOne) { check(running_sum_text(), 1, {{{"N", 1000}}, {{"N", 33}}, {{"N", 1}}, {{"N", 2}}}); }
TEST(Fusion, BlurThenSobelIsOne) {
  for (const char* mode : {"edge", "constant"}) check(blur_sobel_text(mode), 1, images);
}
// exp of the sums of three rows, and then sums of three rows of these. Each stencil has two rows less than its operand.
std::string stencils_without_padding(const std::string& also = "") {
  std::string text = "program stencils\nsymbol M min 4 max 4096\nsymbol N\nin f32 [M, N] x\nout f32 [M - 4, N] y\n";
  if (!also.empty()) text += "out f32 [M - 2, N] z\n";
  const auto sums = [&](int first, const std::string& operand, const std::string& count) {
    const auto name = [&](int i) { return "%" + std::to_string(first + i); };
    for (int i = 0; i < 3; ++i)
      text += name(i) + " = slice f32 [" + count + ", N] " + operand + ", begin [" + std::to_string(i) + ", 0], step [1, 1]\n";
    text += name(3) + " = add " + name(0) + ", " + name(1) + "\n" + name(4) + " = add " + name(3) + ", " + name(2) + "\n";
    return name(4);
  };
  text += "%0 = param x\n";
  text += "%6 = exp " + sums(1, "%0", "M - 2") + "\n";
  text += "store y, " + sums(7, "%6", "M - 4") + "\n";
  return also.empty() ? text : text + "store z, %6\n";
}

TEST(Fusion, StencilsWithoutPadding) {
  std::vector<Sizes> sizes;
  for (const std::int64_t m : {4, 5, 6, 19, 20, 21, 36, 37, 100})
    for (const std::int64_t n : {0, 1, 70, 300}) sizes.push_back({{"M", m}, {"N", n}});
  check(stencils_without_padding(), 1, sizes);
  check(stencils_without_padding("z"), 2, sizes);
  Graph g;  // apart, because rows of z that two tiles need would be stored twice
  const Program p = read_program(g, stencils_without_padding("z"), "fusion.kiln");
  EXPECT_EQ(run_passes(g, p, {.disabled = {"component_versions", "product_versions"}}).schedule.kernels.size(), 2U);
}

TEST(Fusion, AttentionIsAtMostTwo) { check(attention_text(), 2, products); }

// A tile has rows of one head, also if 8 does not divide a head's rows.
TEST(Fusion, HeadsAreAtMostTwo) {
  check(heads_text(), 2,
        {{{"M", 4}, {"N", 40}, {"K", 16}},
         {{"M", 3}, {"N", 29}, {"K", 19}},
         {{"M", 1}, {"N", 9}, {"K", 3}},
         {{"M", 0}, {"N", 4}, {"K", 4}},
         {{"M", 5}, {"N", 0}, {"K", 4}},
         {{"M", 5}, {"N", 4}, {"K", 0}},
         {{"M", 61}, {"N", 17}, {"K", 9}},
         {{"M", 2}, {"N", 1}, {"K", 9}}});
}

// Derivatives by k and v are sums over the rows of a head. Each tile of 9 rows adds its terms, and no scores are stored.
TEST(Fusion, DerivativesOfHeadsKeepRowsOnly) {
  // 16 does not divide the number of rows of the second sizes, which are so large that their copies have panels.
  for (const Sizes& sizes : {Sizes{{"M", 9}, {"N", 207}, {"K", 8}}, {{"M", 8}, {"N", 1000}, {"K", 64}}}) {
    Graph g;
    const Program p = read_program(g, with_sizes(heads_text(true), sizes), "heads.kiln");
    Scheduled end = run_passes(g, p, {.last = std::string(last_pass(Form::planned))});
    const std::map<std::string, std::int64_t> no_symbols;
    IndexValues value(end.graph, no_symbols);
    const std::int64_t n = sizes.at("N"), scores = sizes.at("M") * n * n * 4;
    EXPECT_LE(value(end.schedule.workspace_bytes).value(), scores / 2);
    EXPECT_LE(end.schedule.kernels.size(), n < 300 ? 3 : 7);
    if (n < 300) run(g, p, CompiledProgram(g, p), {});
  }
}

// The workspace is linear in the length of the sequence, not quadratic.
TEST(Fusion, AttentionKeepsRowsOnly) {
  Graph g;
  const Program p = read_program(g, attention_text(), "attention.kiln");
  Scheduled end = run_passes(g, p, {.last = std::string(last_pass(Form::planned))});
  const auto workspace = [&](std::int64_t length) {
    const std::map<std::string, std::int64_t> symbols{{"M", length}, {"N", length}, {"K", 64}};
    IndexValues value(end.graph, symbols);
    return value(end.schedule.workspace_bytes).value();
  };
  EXPECT_LE(workspace(4096), 4096 * 4096 * 4 / 2);
  EXPECT_LE(workspace(4096), 2 * workspace(2048) + 4096);
}

}  // namespace
}  // namespace kiln::compiler::testing
