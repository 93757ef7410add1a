// The properties of the machine that lowering and code generation rely on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::compiler {

// The default is x86-64-v3 (AVX2, FMA, F16C).
struct Target {
  std::string triple = "x86_64-unknown-linux-gnu";
  std::string cpu = "x86-64-v3";  // LLVM's name of the cpu
  std::string features;           // in LLVM's form "+a,-b", in addition to the features of the cpu
  int index_bits = 32;            // width of the narrowest type of index arithmetic: 32 or 64
  int vector_bytes = 32;          // size of a vector register
  int vector_registers = 16;

  bool has_scale() const {
    return vector_bytes >= 64;
  }  // an instruction for SCALE on scalars and all vectors: vscalef of AVX-512
};

// The CPU levels that users may name, from the lowest to the highest.
std::vector<std::string> target_names();
// The target of such a name. Throws E-target for any other name.
Target target_named(std::string_view name);

}  // namespace kiln::compiler
