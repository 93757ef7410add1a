// A step of examples/fluid on 256 x 512 cells, one thread, in processor time.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "generator/import.h"
#include "generator/registry.h"
#include "kiln/view.h"
#include "tests/run/compiled.h"

namespace {

using namespace kiln;

constexpr std::int64_t n = 256, m = 512;

struct arguments {
  std::vector<std::vector<float>> data;
  std::vector<std::vector<std::int64_t>> extents;
  std::vector<kiln_tensor> list;

  void add(std::vector<std::int64_t> shape, std::vector<float> values = {}) {
    std::int64_t size = 1;
    for (const std::int64_t e : shape) size *= e;
    values.resize(static_cast<std::size_t>(size));
    data.push_back(std::move(values));
    extents.push_back(std::move(shape));
  }
  void finish() {
    for (std::size_t i = 0; i < data.size(); ++i)
      list.push_back({data[i].data(), extents[i].data(), nullptr, KILN_F32, static_cast<std::int32_t>(extents[i].size())});
  }
};

arguments fluid_arguments() {
  arguments a;
  for (int i = 0; i < 3; ++i) a.add({n, m});
  a.add({5}, {256, 128, 0.5f, 2, 1});
  for (const float value : {1.0f, 0.02f, 0.999f, 0.999f, 0.5f}) a.add({}, {value});
  for (int i = 0; i < 7; ++i) a.add({n, m});
  for (int i = 0; i < 2; ++i) a.add({n / 2, m / 2});
  for (int i = 0; i < 2; ++i) a.add({n / 4, m / 4});
  a.finish();
  return a;
}

double step_time(const compiler::testing::CompiledProgram& p, arguments& a, const kiln_context* memory) {
  const std::clock_t t = std::clock();
  (void)p.call(a.list, memory);
  const double seconds = static_cast<double>(std::clock() - t) / CLOCKS_PER_SEC;
  for (std::size_t k = 0; k < 3; ++k) a.data[k].swap(a.data[9 + k]);
  for (std::size_t k = 0; k < a.data.size(); ++k) a.list[k].data = a.data[k].data();
  return seconds;
}

}  // namespace

int main() {
  for (const record::program* captured : generator::registered_programs()) {
    if (std::strcmp(captured->name, "step") != 0) continue;
    compiler::Graph g;
    const compiler::Program program = generator::import_program(g, *captured);
    const compiler::testing::CompiledProgram p(g, program, __builtin_cpu_supports("avx512f") != 0 ? "x86-64-v4" : "x86-64-v3");
    arguments a = fluid_arguments();
    const kiln::context memory;
    std::vector<double> times;
    for (int k = 0; k < 60; ++k) times.push_back(step_time(p, a, memory.get()));
    std::sort(times.begin() + 20, times.end());  // behind the first steps, from rest
    std::printf("fluid step 256 x 512: %.2f ms, %d kernels\n", 1e3 * times[40], p.description()->n_kernels);
  }
}
