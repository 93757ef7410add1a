// The text form of graphs, programs and schedules; docs/reference/ir.md, ir-scopes.md and ir-schedules.md describe it. Written
// text reads back to the same structure. Both directions are linear and iterative. Malformed text throws Diagnostic E-text at
// its own file:line:col. A well-formed line that breaks a rule of the level throws the builder's diagnostic (E-shape, ...).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/program.h"
#include "compiler/ir/schedule.h"

namespace kiln::compiler {

struct TextOptions {
  bool locations = true;  // appends @ "file":line:col to each node
};

// The Graph is not const because deriving shapes may create extent nodes.
std::string write_program(Graph& g, const Program& p, TextOptions options = {});
Program read_program(Graph& g, std::string_view text, std::string_view file = "text");

// Nodes of any level in the generic form `%n = op dtype[xlanes] {args} %srcs "name"`, then `root %n` per root.
std::string write_nodes(const Graph& g, std::span<const Id> roots, TextOptions options = {});
std::vector<Id> read_nodes(Graph& g, std::string_view text, std::string_view file = "text");

std::string write_schedule(const Graph& g, const Schedule& s, TextOptions options = {});
Schedule read_schedule(Graph& g, std::string_view text, std::string_view file = "text");

}  // namespace kiln::compiler
