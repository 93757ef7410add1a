// WorkItemValues: evaluates one work item of a kernel exactly as the interpreter does, for given extents, arguments and
// iterations of the loops around. It confirms that an example of a race is real.
//
// Results of loops, of other kernels and of operations on whole tensors are unknown.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/regions.h"
#include "compiler/races/accesses.h"

namespace kiln::compiler {

// One element in the layout of the interpreter, which accesses the bytes as a number of up to 64 bits.
struct alignas(std::uint64_t) Scalar : std::array<std::byte, 8> {};

// The contents of the arguments. The first request for an element chooses its value, which then stays.
class ArgumentValues {
 public:
  explicit ArgumentValues(std::uint64_t seed) : seed_(seed) {}
  // wanted: the value of the element if this is the first request.
  Scalar element(std::size_t param, const std::vector<std::int64_t>& index, DType d, std::optional<std::int64_t> wanted);

 private:
  std::uint64_t seed_;
  std::map<std::pair<std::size_t, std::vector<std::int64_t>>, std::int64_t> numbers_;
};

class WorkItemValues {
 public:
  using Numbers = std::unordered_map<Id, std::int64_t>;
  // loops: FOR by its RANGE. numbers: values of RANGEs, and wanted values of loads and scalar parameters.
  WorkItemValues(const Graph& g, const Regions& regions, const std::map<Id, Id>& loops,
                 const std::map<std::string, std::int64_t, std::less<>>& extents, const Numbers& numbers,
                 ArgumentValues& arguments)
      : g_(g), regions_(regions), loops_(loops), extents_(extents), numbers_(numbers), arguments_(arguments) {}

  // The index of the element that the access touches; nullopt if the access does not happen or is not known to happen.
  std::optional<std::vector<std::int64_t>> element(const WorkItemAccess& a);

 private:
  using Value = std::optional<Scalar>;
  Value value(Id root);
  std::optional<std::int64_t> integer(Id id);  // value of an index, an integer or a bool
  Value made(Id id);
  Value elementwise(Id id);
  Value read(Id index);
  bool loop_has_iteration(Id loop);
  const Value* known(Id id);
  bool is_first_iteration(Id range);

  const Graph& g_;
  const Regions& regions_;
  const std::map<Id, Id>& loops_;
  const std::map<std::string, std::int64_t, std::less<>>& extents_;
  const Numbers& numbers_;
  ArgumentValues& arguments_;
  std::unordered_map<Id, Value> done_;
  std::vector<Id> wanted_;  // sources whose values the node under evaluation lacks
};

}  // namespace kiln::compiler
