// Limits of one run: a program's numbers, and a kernel's buffers (E-limit).
#include <gtest/gtest.h>

#include "compiler/ir/call_symbols.h"
#include "compiler/ir/diagnostic.h"

namespace kiln::compiler {
namespace {

// The error of check_run for a schedule with this many element symbols, and one kernel with this many buffers.
std::string said_of(std::size_t numbers, std::size_t buffers) {
  Graph g;
  Schedule s;
  s.program.name = "p";
  for (std::size_t i = 0; i < numbers; ++i)
    s.program.symbols.push_back({.name = "v" + std::to_string(i), .kind = Symbol::Kind::element});
  s.kernels.emplace_back();
  s.kernels[0].name = "p_k0";
  s.kernels[0].buffers.resize(buffers);
  try {
    check_run(g, s);
  } catch (const Diagnostic& d) {
    return d.what();
  }
  return "";
}

TEST(Limits, NumbersOfARun) {
  EXPECT_EQ(said_of(960, 0), "");
  EXPECT_NE(said_of(961, 0).find("E-limit: counters and bounds of loops that program `p` keeps: expected at most 960, got 961"),
            std::string::npos)
      << said_of(961, 0);
}

TEST(Limits, BuffersOfAKernel) {
  EXPECT_EQ(said_of(0, 1024), "");
  EXPECT_NE(said_of(0, 1025).find("E-limit: buffers of kernel `p_k0`: expected at most 1024, got 1025"), std::string::npos)
      << said_of(0, 1025);
}

}  // namespace
}  // namespace kiln::compiler
