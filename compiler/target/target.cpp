#include "compiler/target/target.h"

#include <algorithm>

#include "compiler/ir/diagnostic.h"

namespace kiln::compiler {
namespace {

struct Level {
  std::string_view name;
  int vector_bytes, vector_registers;
};

constexpr Level cpu_levels[] = {
    {"x86-64-v3", 32, 16},
    {"x86-64-v4", 64, 32},
};

}  // namespace

std::vector<std::string> target_names() {
  std::vector<std::string> out;
  for (const Level& l : cpu_levels) out.emplace_back(l.name);
  return out;
}

Target target_named(std::string_view name) {
  const Level* l = std::ranges::find(cpu_levels, name, &Level::name);
  if (l == std::end(cpu_levels)) throw Diagnostic("E-target", "", "expected a CPU level, got '" + std::string(name) + "'");
  Target t;
  t.cpu = l->name;
  t.vector_bytes = l->vector_bytes;
  t.vector_registers = l->vector_registers;
  return t;
}

}  // namespace kiln::compiler
