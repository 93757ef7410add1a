// The selection of a variant, and what decides about it: the instruction sets of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "cpu.h"
#include "kiln/variants.h"
#include "runtime_program.h"

namespace {

constexpr std::uint64_t avx512 = 0xe7, avx = 7, sse = 3;  // XCR0

// A word that has the bits of all sets in it.
std::vector<std::uint32_t> everything() { return std::vector<std::uint32_t>(5, ~std::uint32_t{0}); }

std::uint64_t all_sets() {
  std::uint64_t all = 0;
#define KILN_X(code, name, word, bit, state) all |= KILN_CPU_BIT(code);
  KILN_CPU_SETS(KILN_X)
#undef KILN_X
  return all;
}

TEST(CpuSets, AreThoseThatTheOperatingSystemSaves) {
  const std::uint64_t with_zmm = kiln_cpu_sets_of(everything().data(), avx512);
  EXPECT_EQ(with_zmm, all_sets());
  const std::uint64_t with_ymm = kiln_cpu_sets_of(everything().data(), avx);
  EXPECT_NE(with_ymm & KILN_CPU_BIT(FMA), 0u);
  EXPECT_EQ(with_ymm & KILN_CPU_BIT(AVX512F), 0u);
  for (const std::uint64_t xcr0 : {sse, std::uint64_t{0}}) {
    const std::uint64_t without = kiln_cpu_sets_of(everything().data(), xcr0);
    EXPECT_EQ(without & (KILN_CPU_BIT(AVX) | KILN_CPU_BIT(AVX2) | KILN_CPU_BIT(FMA) | KILN_CPU_BIT(F16C)), 0u);
    EXPECT_NE(without & KILN_CPU_BIT(SSE42), 0u);
    EXPECT_NE(without & KILN_CPU_BIT(BMI2), 0u);
  }
  EXPECT_EQ(kiln_cpu_sets_of(std::vector<std::uint32_t>(5, 0).data(), avx512), 0u);
}

TEST(CpuSets, EachHasABitOfItsOwn) {
  std::uint64_t found = 0;
  for (std::size_t word = 0; word < 5; ++word)
    for (int bit = 0; bit < 32; ++bit) {
      std::vector<std::uint32_t> words(5, 0);
      words[word] = std::uint32_t{1} << bit;
      const std::uint64_t sets = kiln_cpu_sets_of(words.data(), avx512);
      EXPECT_LE(__builtin_popcountll(sets), 1) << word << " " << bit;
      EXPECT_EQ(found & sets, 0u);
      found |= sets;
    }
  EXPECT_EQ(found, all_sets());
}

// The compiler's own detection is another reader of CPUID.
TEST(CpuSets, AgreeWithTheCompilersDetection) {
  const std::uint64_t here = kiln_cpu_sets();
  EXPECT_EQ((here & KILN_CPU_BIT(SSE42)) != 0, __builtin_cpu_supports("sse4.2") != 0);
  EXPECT_EQ((here & KILN_CPU_BIT(POPCNT)) != 0, __builtin_cpu_supports("popcnt") != 0);
  EXPECT_EQ((here & KILN_CPU_BIT(AVX2)) != 0, __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ((here & KILN_CPU_BIT(FMA)) != 0, __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ((here & KILN_CPU_BIT(BMI2)) != 0, __builtin_cpu_supports("bmi2") != 0);
  EXPECT_EQ((here & KILN_CPU_BIT(AVX512F)) != 0, __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ((here & KILN_CPU_BIT(AVX512BW)) != 0, __builtin_cpu_supports("avx512bw") != 0);
  EXPECT_EQ((here & KILN_CPU_BIT(AVX512VBMI)) != 0, __builtin_cpu_supports("avx512vbmi") != 0);
  EXPECT_EQ((here & KILN_CPU_BIT(AVX512VBMI2)) != 0, __builtin_cpu_supports("avx512vbmi2") != 0);
}

// Two variants of the program of runtime_program.h; the better one needs instruction sets that no CPU has, if asked.
struct Table {
  explicit Table(std::uint64_t better_needs = 0, std::uint64_t lesser_needs = 0) {
    better.variant = "better";
    better.cpu_sets = better_needs;
    lesser.variant = "lesser";
    lesser.cpu_sets = lesser_needs;
  }
  std::string message(kiln_status s) const { return kiln::status(s, &better).message(); }

  kiln_program_desc better = *row_sum_desc(), lesser = *row_sum_desc();
  const kiln_program_desc* list[2] = {&better, &lesser};
  const kiln_program_desc* selected = nullptr;
  kiln_variants variants{KILN_ABI_VERSION, 2, list, &selected};
};

constexpr std::uint64_t nobody_has = std::uint64_t{1} << 62;

TEST(Variants, TheFirstThatRunsIsSelected) {
  Table both, one(nobody_has);
  EXPECT_EQ(both.selected, nullptr);
  EXPECT_EQ(kiln_selected_variant(&both.variants), &both.better);
  EXPECT_EQ(both.selected, &both.better);
  EXPECT_EQ(kiln_selected_variant(&one.variants), &one.lesser);
  EXPECT_EQ(one.selected, &one.lesser);
}

TEST(Variants, NoneRuns) {
  Table t(nobody_has, nobody_has | KILN_CPU_BIT(SSE3));
  EXPECT_EQ(kiln_selected_variant(&t.variants), &t.lesser);
  EXPECT_EQ(t.selected, nullptr) << "nothing is selected, so that no entry of a variant runs";
  const kiln_status s = kiln_call(kiln_selected_variant(&t.variants), nullptr, 4, nullptr);
  EXPECT_EQ(s.code, KILN_R_CPU);
  EXPECT_EQ(static_cast<std::uint64_t>(s.got), nobody_has);
  std::int64_t bytes = 0;
  EXPECT_EQ(kiln_workspace_bytes(&t.lesser, nullptr, 4, &bytes).code, KILN_R_CPU);
}

TEST(Variants, AreForced) {
  Table t;
  kiln::variants v(&t.variants);
  EXPECT_EQ(v.selected(), "better");
  EXPECT_TRUE(v.force("lesser").ok());
  EXPECT_EQ(v.selected(), "lesser");
  EXPECT_TRUE(v.force(nullptr).ok());
  EXPECT_EQ(v.selected(), "better");
  EXPECT_EQ(v.list().size(), 2u);
  EXPECT_STREQ(v.list()[1]->variant, "lesser");
}

TEST(Variants, AWrongForceChangesNothing) {
  Table t(nobody_has);
  kiln::variants v(&t.variants);
  EXPECT_EQ(v.selected(), "lesser");
  EXPECT_FALSE(kiln::variants::runs(t.better));
  const kiln::status cpu = v.force("better"), name = v.force("bettr");
  EXPECT_EQ(cpu.code(), KILN_R_CPU);
  EXPECT_EQ(name.code(), KILN_R_VARIANT);
  EXPECT_EQ(name.message(), "R-variant: program row_sum: the program has no variant of this name");
  EXPECT_EQ(v.selected(), "lesser");
}

TEST(Variants, MissingSetsAreNamed) {
  const Table t;
  const auto missing = static_cast<std::int64_t>(KILN_CPU_BIT(AVX2) | KILN_CPU_BIT(FMA) | KILN_CPU_BIT(AVX512VPOPCNTDQ));
  EXPECT_EQ(t.message({KILN_R_CPU, -1, -1, -1, -1, missing}),
            "R-cpu: program row_sum: this CPU lacks fma avx2 avx512vpopcntdq");
  EXPECT_EQ(t.message({KILN_R_CPU, -1, -1, -1, -1, -1}), "R-cpu: program row_sum: this CPU lacks what the kernel needs");
}

TEST(Variants, OfAnotherAbiAreRefused) {
  Table t;
  t.variants.abi_version = KILN_ABI_VERSION - 1;
  t.variants.list = nullptr;  // it may lie elsewhere in another version
  EXPECT_EQ(kiln_call(kiln_selected_variant(&t.variants), nullptr, 4, nullptr).code, KILN_R_ABI);
  EXPECT_EQ(kiln_force_variant(&t.variants, "better").code, KILN_R_ABI);
}

}  // namespace
