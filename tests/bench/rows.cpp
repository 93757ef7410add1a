// Programs of rows: each as compiled, without the pass fuse_rows, and as plain C++ loops at -O3. One thread, alternating runs,
// least of several runs. Prints kernels, workspace and milliseconds. The times are not tested.
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/interp/index_value.h"
#include "compiler/ir/text.h"
#include "compiler/pipeline/compile.h"
#include "tests/bench/rows_loops.h"
#include "tests/run/compiled.h"
#include "tests/run/fuse_rows_programs.h"

using namespace kiln::compiler;
using testing::CompiledProgram;
using testing::Sizes;

namespace {

constexpr int runs = 7;

struct alignas(64) Line {
  char bytes[64];
};
using Workspace = std::vector<Line>;

// A program with its arguments. `by_hand` gets their data in the same order.
struct Case {
  const char* name;
  std::string text;
  Sizes sizes;
  std::function<void(const std::vector<float*>&)> by_hand;
};

struct Arguments {
  std::vector<Array> arrays;
  std::vector<kiln_tensor> tensors;
  std::vector<float*> data;

  Arguments(Graph& g, const Program& p, const Sizes& sizes) {
    std::map<std::string, std::int64_t> symbols(sizes.begin(), sizes.end());
    IndexValues value(g, symbols);
    for (const Parameter& q : p.params) {
      Array& a = arrays.emplace_back(Array{q.dtype, {}, {}});
      for (const Id e : q.extents) a.extents.push_back(value(e).value());
      a.data.resize(a.elements() * static_cast<std::size_t>(bytes(q.dtype)));
      data.push_back(reinterpret_cast<float*>(a.data.data()));
      for (std::size_t i = 0; q.dtype == DType::f32 && i < a.elements(); ++i)
        data.back()[i] = static_cast<float>(i * 7919 % 1000) * 0.002F - 1;
    }
    for (Array& a : arrays)
      tensors.push_back({a.data.data(), a.extents.data(), nullptr, static_cast<std::int32_t>(a.dtype),
                         static_cast<std::int32_t>(a.extents.size())});
  }
};

std::unique_ptr<CompiledProgram> without_fusion(const Graph& g, const Program& p) {
  CompileOptions options;
  options.symbol_prefix.assign(1, 't').append(1, '_');
  options.disabled = {"fuse_rows"};
  return std::make_unique<CompiledProgram>(p, compile(g, p, options).code.object);
}

double milliseconds(const std::function<void()>& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void call(const CompiledProgram& p, Arguments& a, Workspace& workspace) {
  const kiln_context context{nullptr, workspace.data(), static_cast<std::int64_t>(workspace.size() * sizeof(Line)),
                             nullptr, nullptr,          nullptr};
  if (p.call(a.tensors, &context).code != KILN_OK) std::abort();
}

Workspace workspace_of(const CompiledProgram& p, Arguments& a) {
  std::int64_t need = 0;
  kiln_workspace_bytes(p.description(), a.tensors.data(), static_cast<std::int32_t>(a.tensors.size()), &need);
  return Workspace(static_cast<std::size_t>(need) / sizeof(Line) + 1);
}

void measure(const Case& c) {
  Graph g;
  const Program p = read_program(g, c.text, c.name);
  const CompiledProgram fused(g, p);
  const auto apart = without_fusion(g, p);
  Arguments a(g, p, c.sizes);
  Workspace fused_workspace = workspace_of(fused, a), apart_workspace = workspace_of(*apart, a);
  double times[3] = {1e30, 1e30, 1e30};
  for (int i = 0; i < runs; ++i) {
    times[0] = std::min(times[0], milliseconds([&] { call(fused, a, fused_workspace); }));
    times[1] = std::min(times[1], milliseconds([&] { call(*apart, a, apart_workspace); }));
    times[2] = std::min(times[2], milliseconds([&] { c.by_hand(a.data); }));
  }
  std::printf("%-34s %2d %9.1f %9.2f | %2d %9.1f %9.2f | %9.2f | %5.2f %5.2f\n", c.name, fused.description()->n_kernels,
              static_cast<double>(fused_workspace.size()) / 16, times[0], apart->description()->n_kernels,
              static_cast<double>(apart_workspace.size()) / 16, times[1], times[2], times[1] / times[0], times[2] / times[0]);
}

}  // namespace

// --sample: without the largest image.
int main(int argc, char** argv) {
  const std::int64_t m = 4096, n = 1024, s = 1024, d = 64, h = 1080, w = 1920, large_side = 4096;
  const Sizes rows = {{"M", m}, {"N", n}}, layer = {{"M", 256}, {"K", 512}, {"N", 512}}, heads = {{"M", s}, {"N", s}, {"K", d}},
              image = {{"M", h}, {"N", w}}, large = {{"M", large_side}, {"N", large_side}};
  std::printf("%-34s %22s | %22s | %9s | %s\n", "", "fused", "apart", "C++", "apart, C++");
  std::printf("%-34s %2s %9s %9s | %2s %9s %9s | %9s | %s\n", "program", "k", "KiB", "ms", "k", "KiB", "ms", "ms", "by fused");
  std::vector<Case> cases = {
      {"softmax 4096x1024", testing::softmax_text(), rows, [&](auto& x) { softmax_by_hand(x[0], x[1], m, n); }},
      {"layer norm 4096x1024", testing::layer_norm_text(), rows,
       [&](auto& x) { layer_norm_by_hand(x[0], x[1], x[2], x[3], m, n); }},
      {"argmax 4096x1024", testing::argmax_text(), rows,
       [&](auto& x) { argmax_by_hand(x[0], reinterpret_cast<std::int32_t*>(x[1]), m, n); }},
      {"gelu(A*B + bias) 256x512x512", testing::gelu_layer_text(), layer,
       [&](auto& x) { gelu_layer_by_hand(x[0], x[1], x[2], x[3], 256, 512, 512); }},
      {"attention 1024x1024x64", testing::attention_text(), heads,
       [&](auto& x) { attention_by_hand(x[0], x[1], x[2], x[3], s, s, d); }},
      {"blur, Sobel 1080x1920", testing::blur_sobel_text("edge"), image,
       [&](auto& x) { blur_sobel_by_hand(x[0], x[1], h, w); }},
      {"blur, Sobel 4096x4096", testing::blur_sobel_text("edge"), large,
       [&](auto& x) { blur_sobel_by_hand(x[0], x[1], large_side, large_side); }},
  };
  if (argc > 1 && std::string_view(argv[1]) == "--sample") cases.pop_back();
  for (const Case& c : cases) {
    measure(c);
    Case fixed = c;
    const std::string name = std::string(c.name) + " static";
    fixed.name = name.c_str();
    fixed.text = testing::with_sizes(c.text, c.sizes);
    measure(fixed);
  }
  return 0;
}
