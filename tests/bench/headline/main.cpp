// main of every peer: `list` prints its workloads and variants, `run WORKLOAD VARIANT SECONDS THREADS` measures one. The
// result is compared with the reference first. Prints a JSON object: times in milliseconds, or why there are none. `describe`
// prints what the workloads cost at least.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {

static std::vector<peer>& peer_list() {
  static std::vector<peer> list;
  return list;
}
void add(const peer& p) { peer_list().push_back(p); }

static int thread_count = 1;
int threads() { return thread_count; }

static bool takes(const peer& p, const workload& w) {
  if (p.family != "*" && p.family != w.family) return false;
  const std::string types = " " + std::string(p.types) + " ";
  return (p.types == "*" || types.find(" " + std::string(w.type) + " ") != types.npos) && (p.takes == nullptr || p.takes(w));
}

static double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Times of one run, in seconds. Runs below 20 microseconds are timed in batches.
static std::vector<double> measure(const std::function<void()>& run, double budget) {
  const auto timed = [&](int n) {
    const double begin = now();
    for (int i = 0; i < n; ++i) run();
    return (now() - begin) / n;
  };
  double once = timed(1);
  if (once < 1e-3) once = std::min(once, timed(10));
  const int batch = static_cast<int>(std::clamp(20e-6 / once, 1.0, 100000.0));
  std::vector<double> samples;
  const double begin = now();  // at least three samples, unless they take seconds
  do samples.push_back(timed(batch));
  while ((now() < begin + budget || (samples.size() < 3 && now() < begin + 3)) && samples.size() < 100000);
  return samples;
}

static void list() {
  for (const workload& w : workloads()) {
    for (const peer& p : peer_list())
      if (takes(p, w)) std::printf("%s %s\n", w.name.data(), p.variant.empty() ? "-" : p.variant.data());
  }
}

static void describe() {
  for (const workload& w : workloads()) {
    problem p;
    p.row = &w;
    find_family(w.family).arguments(w, p);
    const family& f = find_family(w.family);
    std::printf("%s %s %s %.0f %.0f %.0f %g ", w.name.data(), w.family.data(), w.type.data(), f.work(w), bytes_of(p),
                written_of(p), f.tolerance);
    for (std::size_t i = 0; i < w.e.size(); ++i) std::printf("%s%lld", i == 0 ? "" : "_", static_cast<long long>(w.e[i]));
    std::printf("\n");
  }
}

static int run(const char* name, std::string_view variant, double budget) {
  const workload& w = find_workload(name);
  const auto found = std::ranges::find_if(
      peer_list(), [&](const peer& p) { return (p.variant.empty() ? "-" : p.variant) == variant && takes(p, w); });
  if (found == peer_list().end()) throw std::runtime_error("not a workload of this peer");
  problem p = make_problem(w);
  job j;
  try {
    j = found->make(p);
    j.run();
  } catch (const std::exception& e) {
    return std::printf("{\"refused\": \"%s\"}\n", e.what()), 2;
  }
  if (j.finish) j.finish();
  if (const std::string wrong = check(p); !wrong.empty()) return std::printf("{\"wrong\": \"%s\"}\n", wrong.c_str()), 1;
  std::vector<double> t = measure(j.run, budget);
  std::ranges::sort(t);
  std::printf("{\"min\": %.9g, \"median\": %.9g, \"samples\": %zu}\n", 1e3 * t.front(), 1e3 * t[t.size() / 2], t.size());
  return 0;
}

}  // namespace kiln::headline

int main(int argc, char** argv) try {
  using namespace kiln::headline;
  if (argc == 2 && std::strcmp(argv[1], "list") == 0) return list(), 0;
  if (argc == 2 && std::strcmp(argv[1], "describe") == 0) return describe(), 0;
  if (argc != 6 || std::strcmp(argv[1], "run") != 0)
    return std::fprintf(stderr, "usage: %s list | describe | run WORKLOAD VARIANT SECONDS THREADS\n", argv[0]), 64;
  thread_count = std::max(1, std::atoi(argv[5]));
  return run(argv[2], argv[3], std::atof(argv[4]));
} catch (const std::exception& e) {
  std::printf("{\"refused\": \"%s\"}\n", e.what());
  return 2;
}
