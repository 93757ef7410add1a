// What lowering and code generation may assume of the machine. The default is x86-64-v3 (AVX2, FMA, F16C).
#pragma once

#include <string>

namespace kiln::compiler {

struct Target {
  std::string triple = "x86_64-unknown-linux-gnu";
  std::string cpu = "x86-64-v3";  // LLVM's name
  std::string features;           // LLVM's "+a,-b", added to those of the cpu
  int index_bits = 32;            // narrowest type of index arithmetic: 32, or 64 for none below 64
  int vector_bytes = 32;          // width of a vector register
  int vector_registers = 16;
};

}  // namespace kiln::compiler
