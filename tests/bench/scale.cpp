// Time and memory of the generator by size: scale_bench [--nodes N,...] [--family NAME,...] [--passes | --text] Reads a
// program's text (--text: prints it instead) and compiles it to an object. Prints seconds of processor time, which hardly
// depend on other programs of the machine, peak memory, kernels and functions. Fails if ten times the nodes take more than
// thirty times the seconds or memory, not counting the cost of a small program. Sizes beyond a limit of the
// language are left out.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/pipeline/compile.h"
#include "tests/bench/scale_programs.h"

using namespace kiln::compiler;

namespace {

struct Cost {
  double seconds = 0;
  long mebibytes = 0;  // peak since the last reset
};

class Meter {
 public:
  Meter() { reset(); }
  Cost lap() {
    const Cost c{static_cast<double>(std::clock() - last_) / CLOCKS_PER_SEC, peak()};
    reset();
    return c;
  }

 private:
  void reset() {
    std::ofstream("/proc/self/clear_refs") << "5";  // resets VmHWM
    last_ = std::clock();
  }
  static long peak() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return std::strtol(line.c_str() + 6, nullptr, 10) / 1024;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
  }
  std::clock_t last_ = 0;
};

void print_pass(const char* pass, Cost c) { std::printf("    %-20s %8.3f s %6ld MiB\n", pass, c.seconds, c.mebibytes); }

// Compiles in a process of its own, so that the memory is this program's.
Cost compile_apart(const std::string& text, const char* family, std::size_t nodes, bool passes) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    Meter meter;
    Cost whole;
    const auto lap = [&](std::string_view pass) {
      const Cost c = meter.lap();
      whole.seconds += c.seconds;
      whole.mebibytes = std::max(whole.mebibytes, c.mebibytes);
      if (passes) print_pass(std::string(pass).c_str(), c);
    };
    Graph g;
    const Program p = read_program(g, text);
    lap("read");
    verify(g, p);
    lap("verify");
    CompileOptions options;
    options.done = lap;
    const Compiled c = compile(g, p, options);
    const Schedule& s = c.variants[0].schedule;
    const auto first = kernel_functions(c.variants[0].graph, s, s.lowered);
    std::printf("%-12s %7zu nodes %8.3f s %6ld MiB %6zu kernels %5zu functions %8zu bytes\n", family, nodes, whole.seconds,
                whole.mebibytes, s.kernels.size(), std::set<std::size_t>(first.begin(), first.end()).size(),
                c.code.object.size());
    std::fflush(stdout);
    if (write(ends[1], &whole, sizeof whole) != sizeof whole) _exit(1);
    _exit(0);
  }
  close(ends[1]);
  Cost whole{-1, -1};
  if (read(ends[0], &whole, sizeof whole) != sizeof whole) whole.seconds = -1;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return whole;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  std::stringstream s(list);
  for (std::string part; std::getline(s, part, ',');) out.push_back(part);
  return out;
}

// The time that every program costs. Smaller differences mean nothing.
constexpr double small_seconds = 0.5;
constexpr long small_mebibytes = 100;

bool is_linear(Cost less, Cost more, double times) {
  return more.seconds <= 3 * times * std::max(less.seconds, small_seconds / times) &&
         static_cast<double>(more.mebibytes) <= 3 * times * static_cast<double>(std::max(less.mebibytes, small_mebibytes));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> sizes = {"1000", "10000", "100000"}, only;
  bool passes = false, texts = false, ok = true;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--passes") == 0) passes = true;
    if (std::strcmp(argv[i], "--text") == 0) texts = true;
    if (std::strcmp(argv[i], "--nodes") == 0 && i + 1 < argc) sizes = split(argv[++i]);
    if (std::strcmp(argv[i], "--family") == 0 && i + 1 < argc) only = split(argv[++i]);
  }
  for (const testing::ScaleFamily& family : testing::scale_families()) {
    if (!only.empty() && std::ranges::find(only, family.name) == only.end()) continue;
    Cost last;
    std::size_t last_nodes = 0;
    for (const std::string& size : sizes) {
      const std::size_t nodes = std::stoul(size);
      if (nodes > family.most) continue;
      if (texts) {
        std::fputs(family.text(nodes).c_str(), stdout);
        continue;
      }
      const Cost c = compile_apart(family.text(nodes), std::string(family.name).c_str(), nodes, passes);
      const bool fits = c.seconds >= 0 &&
                        (last_nodes == 0 || is_linear(last, c, static_cast<double>(nodes) / static_cast<double>(last_nodes)));
      if (!fits) std::printf("%s of %zu nodes: not linear, or it failed\n", std::string(family.name).c_str(), nodes);
      ok = ok && fits;
      last = c;
      last_nodes = nodes;
    }
  }
  return ok ? 0 : 1;
}
