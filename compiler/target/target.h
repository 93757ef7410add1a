// The properties of the machine that lowering and code generation rely on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::compiler {

// The default is x86-64-v3 (AVX2, FMA, F16C).
struct Target {
  std::string name = "x86-64-v3";  // the variant's name
  std::string triple = "x86_64-unknown-linux-gnu";
  std::string cpu = "x86-64-v3";  // LLVM's name of the cpu
  std::string features;           // in LLVM's form "+a,-b", in addition to the features of the cpu
  std::string tune;               // LLVM's name of the cpu whose timing counts; empty: `cpu`
  std::uint64_t cpu_sets = 0;     // instruction sets that a call checks (kiln/cpu.h)
  int index_bits = 32;            // width of the narrowest type of index arithmetic: 32 or 64
  int vector_bytes = 32;          // size of a vector register
  int vector_registers = 16;
  bool has_fma = true;   // fused multiply-add of floats
  bool has_half = true;  // conversions between f16 and f32

  // An instruction for SCALE on scalars and on vectors of every size: vscalef of AVX-512.
  bool has_scale() const { return vector_bytes >= 64; }
  // Masks have registers of their own, as in AVX-512. If not, a mask takes a vector register.
  bool has_mask_registers() const { return vector_bytes >= 64; }
  // The size of the narrowest elements that loads and stores under a mask may have: AVX-512 has them for all sizes.
  int narrowest_masked() const { return vector_bytes >= 64 ? 1 : 4; }
  // The size of the narrowest elements of a register that one instruction brings into any order: vpermb, vpermw or vpermd.
  int narrowest_permuted() const;
};

// The CPU levels and CPUs that users may name, from the lowest to the highest.
std::vector<std::string> target_names();
// The names for a user who gives none.
std::vector<std::string> default_target_names();
// The target of such a name. Throws E-target for any other name.
Target target_named(std::string_view name);
// The targets of the names: the highest first, each once.
std::vector<Target> targets_named(std::span<const std::string> names);

}  // namespace kiln::compiler
