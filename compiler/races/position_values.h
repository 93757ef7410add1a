// What a program computes at one position of a kernel, for given extents, arguments and turns of the loops around: exactly, as
// the interpreter does. Results of loops, of other kernels and of whole tensors are unknown.
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

// A number as the interpreter keeps it. It reads and writes the bytes as numbers of up to 64 bits.
struct alignas(std::uint64_t) Scalar : std::array<std::byte, 8> {};

// What the arguments hold: what is asked for first decides, then it stays.
class ArgumentValues {
 public:
  explicit ArgumentValues(std::uint64_t seed) : seed_(seed) {}
  // wanted: the number that an element is to be if it is not known yet.
  Scalar element(std::int64_t param, const std::vector<std::int64_t>& index, DType d, std::optional<std::int64_t> wanted);

 private:
  std::uint64_t seed_;
  std::map<std::pair<std::int64_t, std::vector<std::int64_t>>, std::int64_t> numbers_;
};

class PositionValues {
 public:
  using Numbers = std::unordered_map<Id, std::int64_t>;
  // loops: by range. numbers: of RANGEs, and of data what it is to be.
  PositionValues(const Graph& g, const Regions& regions, const std::map<Id, Id>& loops,
                 const std::map<std::string, std::int64_t, std::less<>>& extents, const Numbers& numbers,
                 ArgumentValues& arguments)
      : g_(g), regions_(regions), loops_(loops), extents_(extents), numbers_(numbers), arguments_(arguments) {}

  // The element, where the access happens; nullopt also where that is unknown.
  std::optional<std::vector<std::int64_t>> element(const PositionAccess& a);

 private:
  using Value = std::optional<Scalar>;
  Value value(Id root);
  std::optional<std::int64_t> integer(Id id);  // of an index, an integer or a bool
  Value made(Id id);
  Value elementwise(Id id);
  Value read(Id index);
  bool loop_has_turn(Id loop);
  const Value* known(Id id);
  bool is_first_turn(Id range);

  const Graph& g_;
  const Regions& regions_;
  const std::map<Id, Id>& loops_;
  const std::map<std::string, std::int64_t, std::less<>>& extents_;
  const Numbers& numbers_;
  ArgumentValues& arguments_;
  std::unordered_map<Id, Value> done_;
  std::vector<Id> wanted_;  // by the node that is being made
};

}  // namespace kiln::compiler
