// Bounds of index and bool values: an interval, and a congruence value == offset (mod stride). The bounds of a node hold
// wherever it is evaluated: they assume 0 <= r < end for each RANGE r under it. A loop without iterations evaluates nothing,
// so no bounds are wrong in it.
#pragma once

#include "compiler/index/poly.h"
#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"
#include "compiler/symbolic/id_map.h"
#include "compiler/symbolic/known.h"

namespace kiln::compiler {

class Bounds {
 public:
  Bounds(const Graph& g, const Facts& facts);

  Interval operator()(Id id) { return known(id).interval; }
  Congruence residue(Id id) { return known(id).residue; }
  symbolic::Known known(Id id) {
    const symbolic::Known* k = memo_.find(id);
    return k != nullptr ? *k : derived(id);
  }
  const Facts& facts() const { return facts_; }
  const std::vector<Poly>& relations() const { return relations_; }  // facts that are not constant, as sums that are >= 0
  bool symbolic_loops() const { return symbolic_loops_; }            // whether some RANGE so far ends at an expression

 private:
  symbolic::Known derived(Id root);
  const symbolic::Known& settle(Id id);
  symbolic::Known derive(Id id) const;  // uses the entries of its sources
  symbolic::Known leaf(Id id) const;
  void give(const Poly& fact);

  const Graph& graph_;
  const Facts& facts_;
  IdMap<symbolic::Known> memo_;
  IdMap<Interval> given_;  // by node: the interval from facts
  std::vector<Poly> relations_;
  std::vector<Id> stack_;
  bool symbolic_loops_ = false;
};

}  // namespace kiln::compiler
