// Evaluates index nodes: exact integers under floor division.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

class IndexValues {
 public:
  // A symbol that is missing makes every expression of it unknown. Reads both when called.
  IndexValues(const Graph& g, const std::map<std::string, std::int64_t>& symbols) : graph_(g), symbols_(symbols) {}
  IndexValues(const Graph& g, std::map<std::string, std::int64_t>&& symbols) = delete;

  // Keeps up with nodes that the graph gained since the last call.
  std::optional<std::int64_t> operator()(Id id);

 private:
  std::optional<std::int64_t> evaluate(Id id) const;

  const Graph& graph_;
  const std::map<std::string, std::int64_t>& symbols_;
  std::vector<std::optional<std::int64_t>> values_;
};

}  // namespace kiln::compiler
