#include "compiler/target/target.h"

#include <algorithm>

#include "compiler/ir/diagnostic.h"
#include "kiln/cpu.h"

namespace kiln::compiler {
namespace {

template <class... Set>
constexpr std::uint64_t bits(Set... set) {
  return (... | (std::uint64_t{1} << set));
}

// The levels of the x86-64 psABI. OSXSAVE, which v3 names, is a condition of AVX in the runtime's detection.
constexpr std::uint64_t v2 =
    bits(KILN_CPU_SSE3, KILN_CPU_SSSE3, KILN_CPU_CX16, KILN_CPU_SSE41, KILN_CPU_SSE42, KILN_CPU_POPCNT, KILN_CPU_SAHF);
constexpr std::uint64_t v3 = v2 | bits(KILN_CPU_AVX, KILN_CPU_F16C, KILN_CPU_FMA, KILN_CPU_MOVBE, KILN_CPU_LZCNT, KILN_CPU_BMI,
                                       KILN_CPU_AVX2, KILN_CPU_BMI2);
constexpr std::uint64_t v4 =
    v3 | bits(KILN_CPU_AVX512F, KILN_CPU_AVX512DQ, KILN_CPU_AVX512CD, KILN_CPU_AVX512BW, KILN_CPU_AVX512VL);
// What a CPU has beyond its level.
constexpr std::uint64_t zen4 =
    bits(KILN_CPU_AVX512VBMI, KILN_CPU_AVX512VBMI2, KILN_CPU_AVX512VNNI, KILN_CPU_AVX512BITALG, KILN_CPU_AVX512VPOPCNTDQ);
constexpr std::uint64_t sapphire_rapids = zen4 | bits(KILN_CPU_AVX512FP16);

// LLVM may use only instruction sets that a call checks. So a CPU is a level with some more sets and the timing of the CPU.
struct Row {
  std::string_view name, level;
  std::uint64_t level_sets, more;
  std::string_view tune;
  int vector_bytes, vector_registers;
};

constexpr Row rows[] = {
    {"x86-64-v2", "x86-64-v2", v2, 0, "", 16, 16},
    {"x86-64-v3", "x86-64-v3", v3, 0, "", 32, 16},
    {"haswell", "x86-64-v3", v3, 0, "haswell", 32, 16},
    {"x86-64-v4", "x86-64-v4", v4, 0, "", 64, 32},
    {"skylake-server", "x86-64-v4", v4, 0, "skylake-avx512", 64, 32},
    {"znver4", "x86-64-v4", v4, zen4, "znver4", 64, 32},
    {"sapphirerapids", "x86-64-v4", v4, sapphire_rapids, "sapphirerapids", 64, 32},
};

constexpr std::string_view set_names[] = {
#define KILN_X(code, name, word, bit, state) name,
    KILN_CPU_SETS(KILN_X)
#undef KILN_X
};

std::string features(std::uint64_t sets) {
  std::string out;
  for (std::size_t i = 0; i < std::size(set_names); ++i)
    if ((sets >> i & 1) != 0) out += (out.empty() ? "+" : ",+") + std::string(set_names[i]);
  return out;
}

Target target_of(const Row& r) {
  Target t;
  t.name = r.name;
  t.cpu = r.level;
  t.features = features(r.more);
  t.tune = r.tune;
  t.cpu_sets = r.level_sets | r.more;
  t.vector_bytes = r.vector_bytes;
  t.vector_registers = r.vector_registers;
  t.has_fma = (t.cpu_sets & KILN_CPU_BIT(FMA)) != 0;
  t.has_half = (t.cpu_sets & KILN_CPU_BIT(F16C)) != 0;
  return t;
}

}  // namespace

int Target::narrowest_permuted() const {
  if ((cpu_sets & KILN_CPU_BIT(AVX512VBMI)) != 0) return 1;
  return vector_bytes >= 64 ? 2 : 4;
}

std::vector<std::string> target_names() {
  std::vector<std::string> out;
  for (const Row& r : rows) out.emplace_back(r.name);
  return out;
}

std::vector<std::string> default_target_names() { return {"x86-64-v3", "x86-64-v4"}; }

Target target_named(std::string_view name) {
  const Row* r = std::ranges::find(rows, name, &Row::name);
  if (r == std::end(rows)) throw Diagnostic("E-target", "", "expected a CPU level or a CPU, got '" + std::string(name) + "'");
  return target_of(*r);
}

std::vector<Target> targets_named(std::span<const std::string> names) {
  for (const std::string& n : names) target_named(n);
  std::vector<Target> out;
  for (std::size_t i = std::size(rows); i-- > 0;)
    if (std::ranges::find(names, rows[i].name) != names.end()) out.push_back(target_of(rows[i]));
  return out;
}

}  // namespace kiln::compiler
