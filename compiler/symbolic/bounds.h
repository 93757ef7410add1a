// Bounds of index and bool values: an interval, and a congruence value == offset (mod stride). A RANGE is taken to be inside
// its loop, so a node that uses it has bounds only for iterations that happen; an empty loop leaves nothing to be wrong about.
#pragma once

#include <unordered_map>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"
#include "compiler/symbolic/interval.h"

namespace kiln::compiler {

// stride 0: the value is `offset`. stride 1: nothing is known. Otherwise 0 <= offset < stride.
struct Congruence {
  std::int64_t stride, offset;
  bool operator==(const Congruence&) const = default;
};

class Bounds {
 public:
  Bounds(const Graph& g, const Facts& facts) : graph_(g), facts_(facts) {}

  Interval operator()(Id id) { return at(id).interval; }
  Congruence residue(Id id) { return at(id).residue; }
  const Facts& facts() const { return facts_; }

 private:
  struct Entry {
    Interval interval;
    Congruence residue;
  };
  Entry at(Id id);
  Entry derive(Id id) const;  // of its sources' entries
  Interval interval_of(Id id) const;
  Congruence residue_of(Id id) const;

  const Graph& graph_;
  const Facts& facts_;
  std::unordered_map<Id, Entry> memo_;
};

}  // namespace kiln::compiler
