#include "tests/bench/speed.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <stdexcept>

#include "generator/import.h"
#include "generator/registry.h"

namespace kiln::bench {

int lanes() { return __builtin_cpu_supports("avx512f") != 0 ? 16 : 8; }

compiler::testing::CompiledProgram compiled(const dsl::record::program& p) {
  compiler::Graph g;
  const compiler::Program program = generator::import_program(g, p);
  return {g, program, std::vector<std::string>{lanes() == 16 ? "x86-64-v4" : "x86-64-v3"}};
}
compiler::testing::CompiledProgram compiled(std::string_view name) {
  for (const dsl::record::program* p : generator::registered_programs())
    if (p->name == name) return compiled(*p);
  throw std::runtime_error("no program " + std::string(name));
}

double seconds(const std::function<void()>& f) {
  const std::clock_t t = std::clock();
  f();
  return static_cast<double>(std::clock() - t) / CLOCKS_PER_SEC;
}
double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

void print_head() {
  std::ifstream info("/proc/cpuinfo");
  std::string line, processor = "unknown processor";
  while (std::getline(info, line) && !line.starts_with("model name")) continue;
  if (const std::size_t colon = line.find(": "); colon != line.npos) processor = line.substr(colon + 2);
  std::printf("Kiln, C++: this machine (%s, %d lanes of f32), one thread, processor time, interleaved.\n", processor.c_str(),
              lanes());
  std::printf(
      "TensorFrost 0.7.4: as a survey measured it, not run here: AMD EPYC, 4 virtual CPUs, AVX-512, other jobs running;\n");
  std::printf("  (a) processor time of one thread, (b) wall clock of four threads.\n");
}
void print_line(const char* name, double ours, const char* other, double theirs, double asked) {
  std::printf("%-36s Kiln %8.2f ms   %-17s %8.2f ms   %6.2fx", name, 1e3 * ours, other, 1e3 * theirs, theirs / ours);
  if (asked > 0) std::printf("   asked for: %4.1fx%s", asked, theirs / ours >= asked ? "" : ", missed");
  std::printf("\n");
}
int result(bool right) {
  if (!right) std::printf("a result is wrong\n");
  return right ? 0 : 1;
}

}  // namespace kiln::bench
