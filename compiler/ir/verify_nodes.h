// The verifier's rules for single nodes, which concern a node and its direct sources. See verify_loops.h
// for who uses them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/ir/program.h"
#include "compiler/ir/verify.h"

namespace kiln::compiler {

// Throws E-verify at the node, with the text "expected " + expected.
[[noreturn]] void violated(const Graph& g, Id id, std::string_view rule, const std::string& expected);

// Whether the extents of a PARAM equal those of the program's parameter. A segment of component_versions has constants in place
// of some symbols; such extents count as equal.
bool has_extents(const Graph& g, const Program& p, std::size_t slot, Id param);

void check_node(const Graph& g, Level level, Id id);
std::span<const VerifyRule> node_rules();

}  // namespace kiln::compiler
