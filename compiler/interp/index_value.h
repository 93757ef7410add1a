// Evaluates index nodes to exact integers; division rounds down. The interpreter is the reference for compiled programs.
// Therefore it computes with scalar.h, and not with compiler/ir/index_operation.h, which the compiler uses.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

class IndexValues {
 public:
  // The value of an expression with a missing symbol is unknown. Keeps references to both arguments.
  IndexValues(const Graph& g, const std::map<std::string, std::int64_t>& symbols) : graph_(g), symbols_(symbols) {}
  IndexValues(const Graph& g, std::map<std::string, std::int64_t>&& symbols) = delete;

  // The graph may gain nodes between calls.
  std::optional<std::int64_t> operator()(Id id);

 private:
  std::optional<std::int64_t> evaluate(Id id) const;

  const Graph& graph_;
  const std::map<std::string, std::int64_t>& symbols_;
  std::vector<std::optional<std::int64_t>> values_;
};

}  // namespace kiln::compiler
