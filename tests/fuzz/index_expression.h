// Random index expressions, with the known facts of their leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"
#include "tests/fuzz/random.h"

namespace kiln::test {

using compiler::Graph;
using compiler::Id;
using compiler::Op;

// A leaf has the values min, min + step, ...: at most `count`. A RANGE has fewer if its end has a smaller value.
struct Leaf {
  Id id;
  std::int64_t min, step, count;
};

// Symbols with intervals (negative ones, multiples, in some seeds near the ends of 64 bits); loops with constant, symbolic and
// empty ends; in some seeds also assumptions that relate symbols.
class IndexExpressions {
 public:
  IndexExpressions(Graph& g, std::uint64_t seed);

  const compiler::Facts& facts() const { return facts_; }  // includes the assumptions
  const std::vector<Leaf>& leaves() const { return leaves_; }
  const std::vector<Id>& assumptions() const { return assumptions_; }
  Id next();  // of dtype index, or a condition

 private:
  std::int64_t constant(std::int64_t min, std::int64_t max);
  Id symbol(std::size_t i) const { return leaves_[i].id; }
  Id leaf();
  Id range();
  Id value(int size);
  Id binary(int size, std::int64_t kind);
  Id choice(int size);
  Id condition(int size);
  Id reshaped();
  Id view(Id x);
  Id views(Id x);
  Id gate(Id x);
  Id related();
  Id make(Op op, Id a, Id b);
  void add_symbol(const char* name, std::int64_t min, std::int64_t max, std::int64_t multiple);
  void add_range(Id end, std::int64_t most);
  void add_assumption();

  Graph& g_;
  Random random_;
  bool wide_;  // some constants and symbols are near the ends of 64 bits
  compiler::Facts facts_;
  std::vector<Leaf> leaves_;  // symbols, then ranges
  std::vector<Id> assumptions_;
};

}  // namespace kiln::test
