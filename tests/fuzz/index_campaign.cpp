// index_campaign [--count N] [--seed S] [--jobs J]: simplifies random index expressions. The simplified form has the same
// value at all tried points (all points of small domains, else corners and random points), bounds hold for every part,
// simplifying again changes nothing (with a new simplifier), and rewriting settles. A failure is shrunk, printed with its
// seed, and ends the run with 1.
#include <atomic>
#include <iostream>
#include <mutex>
#include <thread>

#include "tests/fuzz/command_line.h"
#include "tests/fuzz/index_check.h"

int main(int argc, char** argv) {
  constexpr int per_seed = 100;  // expressions that share a graph, as the expressions of a kernel do
  std::uint64_t count = 1'000'000, seed = 0;
  int jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  bool keep_going = false;
  kiln::test::CommandLine line("Random index expressions against their simplified form.");
  line.option("--count", count, "Expressions");
  line.option("--seed", seed, "The first seed; each makes 100 expressions");
  line.option("--jobs", jobs, "Threads");
  line.flag("--keep-going", keep_going, "Look for more after a fault");
  if (const auto status = line.parse(argc, argv)) return *status;
  const std::uint64_t seeds = (count + per_seed - 1) / per_seed;
  std::atomic<std::uint64_t> next = 0, faults = 0, done = 0;
  std::mutex telling;
  const auto work = [&] {
    for (std::uint64_t i = next++; i < seeds && (keep_going || faults == 0); i = next++) {
      const std::string wrong = kiln::test::try_seed(seed + i, per_seed);
      const std::uint64_t so_far = ++done;
      const bool report = so_far % 100'000 == 0;
      if (wrong.empty() && !report) continue;
      const std::lock_guard lock(telling);
      if (!wrong.empty()) {
        ++faults;
        std::cout << wrong << '\n';
      }
      if (report) std::cout << so_far * per_seed << " expressions, " << faults << " faults so far" << std::endl;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < jobs; ++i) threads.emplace_back(work);
  }
  std::cout << done * per_seed << " expressions, " << faults << " faults\n";
  return faults == 0 ? 0 : 1;
}
