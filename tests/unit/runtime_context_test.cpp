// The workspace that a thread keeps between calls (kiln/context.h).
#include "kiln/context.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <thread>

namespace {

using kiln::detail::kept_workspace;
constexpr std::size_t mib = std::size_t{1} << 20;

// Takes `bytes`, writes to all of them and gives them back. Returns their address.
void* use(kept_workspace& w, std::size_t bytes) {
  void* p = w.take(bytes);
  EXPECT_NE(p, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % KILN_WORKSPACE_ALIGNMENT, 0u);
  std::memset(p, 1, bytes);
  w.give_back(p);
  return p;
}

long page_faults() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

TEST(Workspace, StaysForTheNextCall) {
  kept_workspace w;
  void* first = use(w, 3 * mib);
  EXPECT_EQ(use(w, 3 * mib), first);
  EXPECT_EQ(use(w, 2 * mib), first);
  EXPECT_EQ(use(w, 64), first);
}

TEST(Workspace, ALaterCallTouchesNoFreshPage) {
  kept_workspace w;
  for (const std::size_t bytes : {mib, 32 * mib}) {
    use(w, bytes);
    const long before = page_faults();
    for (int call = 0; call < 10; ++call) use(w, bytes);
    EXPECT_LT(page_faults() - before, 16) << bytes;
  }
}

TEST(Workspace, SmallCallsFreeALargeBlock) {
  kept_workspace w;
  use(w, 64 * mib);
  for (int call = 1; call < kept_workspace::small_calls; ++call) use(w, mib);
  use(w, 32 * mib);  // needs the block: the count begins again
  const long before = page_faults();
  use(w, 64 * mib);
  EXPECT_LT(page_faults() - before, 16);
  for (int call = 0; call <= kept_workspace::small_calls; ++call) use(w, mib);
  const long freed = page_faults();
  use(w, 64 * mib);
  EXPECT_GT(page_faults() - freed, 16);
}

TEST(Workspace, ACallInsideOfAnotherHasItsOwnBlock) {
  kept_workspace w;
  use(w, mib);
  void* outer = w.take(mib);
  void* inner = w.take(2 * mib);
  EXPECT_NE(outer, inner);
  std::memset(outer, 1, mib);
  std::memset(inner, 2, 2 * mib);
  EXPECT_EQ(static_cast<unsigned char*>(outer)[mib - 1], 1);
  w.give_back(inner);
  w.give_back(outer);
  EXPECT_EQ(use(w, 2 * mib), inner) << "the larger block stays";
}

TEST(Workspace, TooMuchIsNull) {
  kept_workspace w;
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2}) EXPECT_EQ(w.take(bytes), nullptr);
  use(w, 64);
}

TEST(Workspace, BelongsToOneThread) {
  void *here = use(kiln::detail::workspace_of_thread(), mib), *there = nullptr;
  void* mine = kiln::detail::workspace_of_thread().take(mib);
  EXPECT_EQ(mine, here);
  std::thread([&] { there = use(kiln::detail::workspace_of_thread(), mib); }).join();
  EXPECT_NE(there, mine);
  kiln::detail::workspace_of_thread().give_back(mine);
  kiln::trim_workspace();
}

}  // namespace
