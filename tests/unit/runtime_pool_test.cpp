// The default pool runs every iteration once, also in nested and concurrent calls and after a fork.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "kiln/pool.h"

namespace {

struct Counts {
  std::vector<std::atomic<int>> seen;
  std::int64_t alignment;
  std::atomic<int> chunks{0}, bad_bounds{0};
  Counts(std::int64_t n, std::int64_t a) : seen(static_cast<std::size_t>(n)), alignment(a) {}
};

void count(void* data, std::int64_t begin, std::int64_t end) {
  auto* c = static_cast<Counts*>(data);
  c->chunks++;
  if (begin % c->alignment != 0) c->bad_bounds++;
  for (std::int64_t i = begin; i < end; ++i) c->seen[static_cast<std::size_t>(i)]++;
}

void run_once(kiln_executor* e, std::int64_t n, std::int64_t alignment, std::int32_t max_chunks) {
  Counts c(n, alignment);
  e->parallel_for(e, n, alignment, max_chunks, count, &c);
  for (const auto& s : c.seen) ASSERT_EQ(s, 1);
  ASSERT_EQ(c.bad_bounds, 0);
  ASSERT_LE(c.chunks, max_chunks < 1 ? 1 : max_chunks);
}

TEST(Pool, AtMostSoManyWorkers) {
  kiln::pool pool(2'000'000'000);
  EXPECT_LE(pool.workers(), KILN_MAX_WORKERS);
  run_once(pool.executor(), 1000, 1, 16);
}

TEST(Pool, EveryIterationOnce) {
  kiln::pool pool(4);
  for (std::int64_t n : {0, 1, 7, 64, 1000, 10007})
    for (std::int64_t alignment : {1, 8, 64})
      for (std::int32_t chunks : {0, 1, 3, 16}) run_once(pool.executor(), n, alignment, chunks);
}

// The share of a thread is the iterations that are left, divided by the number of threads. A chunk is half of a share. Chunks
// become short, so the last chunk of a slow thread is short too.
TEST(Pool, LaterChunksAreSmaller) {
  kiln::pool pool(2);
  struct Chunks {
    std::atomic<int> count{0};
    std::vector<std::pair<std::int64_t, std::int64_t>> bounds{64};
  } chunks;
  const auto note = [](void* data, std::int64_t begin, std::int64_t end) {
    auto* c = static_cast<Chunks*>(data);
    c->bounds[static_cast<std::size_t>(c->count++)] = {begin, end};
  };
  pool.executor()->parallel_for(pool.executor(), 1000, 8, 32, note, &chunks);
  chunks.bounds.resize(static_cast<std::size_t>(chunks.count.load()));
  std::sort(chunks.bounds.begin(), chunks.bounds.end());
  EXPECT_EQ(chunks.bounds.front(), (std::pair<std::int64_t, std::int64_t>{0, 256})) << "250 iterations, up to a multiple of 8";
  for (std::size_t i = 1; i < chunks.bounds.size(); ++i) {
    const auto [begin, end] = chunks.bounds[i];
    EXPECT_LE(end - begin, chunks.bounds[i - 1].second - chunks.bounds[i - 1].first);
    EXPECT_TRUE(end - begin >= 32 || end == 1000) << begin;
  }
}

TEST(Pool, NoNumberOverflows) {
  kiln::pool pool(2);
  for (const std::int64_t n : {INT64_MAX, INT64_MAX - 3}) {
    std::atomic<std::int64_t> done{0};
    const auto add = [](void* data, std::int64_t begin, std::int64_t end) {
      *static_cast<std::atomic<std::int64_t>*>(data) += end - begin;
    };
    for (const std::int32_t chunks : {1, 2, 16}) {
      done = 0;
      pool.executor()->parallel_for(pool.executor(), n, 8, chunks, add, &done);
      EXPECT_EQ(done, n);
    }
  }
}

TEST(Pool, Stress) {
  kiln::pool pool(4);
  for (int i = 0; i < 5000; ++i) run_once(pool.executor(), 100 + i % 7, 1, 1 + i % 16);
}

TEST(Pool, SleepsAndWakes) {
  kiln::pool pool(3);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    run_once(pool.executor(), 1000, 8, 12);
  }
}

TEST(Pool, ConcurrentCallers) {
  kiln::pool pool(3);
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) run_once(pool.executor(), 333, 4, 12);
    });
  for (auto& t : callers) t.join();
}

TEST(Pool, NestedCallsRunInline) {
  kiln::pool pool(4);
  struct Nested {
    kiln_executor* executor;
    std::atomic<int> inner{0};
  } nested{pool.executor()};
  const auto outer = [](void* data, std::int64_t begin, std::int64_t end) {
    auto* n = static_cast<Nested*>(data);
    for (std::int64_t i = begin; i < end; ++i)
      n->executor->parallel_for(
          n->executor, 10, 1, 4,
          [](void* d, std::int64_t b, std::int64_t e) { static_cast<Nested*>(d)->inner += static_cast<int>(e - b); }, n);
  };
  pool.executor()->parallel_for(pool.executor(), 100, 1, 16, outer, &nested);
  EXPECT_EQ(nested.inner, 1000);
}

TEST(Pool, LongTaskMakesTheCallerSleep) {
  kiln::pool pool(4);
  std::atomic<int> done{0};
  pool.executor()->parallel_for(
      pool.executor(), 4, 1, 4,
      [](void* d, std::int64_t begin, std::int64_t end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5 * begin));
        *static_cast<std::atomic<int>*>(d) += static_cast<int>(end - begin);
      },
      &done);
  EXPECT_EQ(done, 4);
}

// Programs that keep CPUs busy take them from workers for time slices. The pool then moves workers to other CPUs. When a chunk
// begins, a worker may use all of its CPUs again.
TEST(Pool, BusyCpus) {
  struct Busy {
    cpu_set_t all;
    std::atomic<bool> stop{false};
    std::atomic<int> iterations{0}, other_masks{0};
  } busy;
  ASSERT_EQ(sched_getaffinity(0, sizeof busy.all, &busy.all), 0);
  std::vector<std::thread> others;
  for (int c = 0, kept = 0; c < CPU_SETSIZE && others.size() < 3; ++c)
    if (CPU_ISSET(c, &busy.all) && kept++ > 0)
      others.emplace_back([&busy, c] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(c, &one);
        sched_setaffinity(0, sizeof one, &one);
        while (!busy.stop) {
        }
      });
  kiln::pool pool(static_cast<int>(others.size()) + 1);
  for (int job = 0; job < 200; ++job)
    pool.executor()->parallel_for(
        pool.executor(), 64, 1, 16,
        [](void* data, std::int64_t begin, std::int64_t end) {
          auto* b = static_cast<Busy*>(data);
          cpu_set_t mask;
          if (sched_getaffinity(0, sizeof mask, &mask) != 0 || !CPU_EQUAL(&mask, &b->all)) ++b->other_masks;
          const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(50 * (end - begin));
          while (std::chrono::steady_clock::now() < until) {
          }
          b->iterations += static_cast<int>(end - begin);
        },
        &busy);
  busy.stop = true;
  for (auto& t : others) t.join();
  EXPECT_EQ(busy.iterations, 200 * 64);
  EXPECT_EQ(busy.other_masks, 0);
}

TEST(Pool, DefaultCountIsTheAffinityMask) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int c = 0; c < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++c)
    if (CPU_ISSET(c, &before)) CPU_SET(c, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(kiln::pool().workers(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(kiln::pool().workers(), CPU_COUNT(&before));
}

TEST(Pool, ChildOfForkRunsSerially) {
  auto pool = std::make_unique<kiln::pool>(3);
  run_once(pool->executor(), 1000, 1, 12);
  const pid_t child = fork();
  if (child == 0) {
    Counts c(1000, 1);
    pool->executor()->parallel_for(pool->executor(), 1000, 1, 12, count, &c);
    bool right = true;
    for (const auto& s : c.seen) right = right && s == 1;
    pool.reset();
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  run_once(pool->executor(), 1000, 1, 12);
}

}  // namespace
