// OneRange: solves conditions for one RANGE r of a reduction, to find and count the iterations that they select.
//
// A comparison can be solved if the difference of its sides is k*r + x, with x independent of r: for k > 0, k*r + x < y selects
// r < ceil((y - x) / k). A conjunction of solved comparisons selects an interval.
// Example: 3*r < i + 7 selects r < (i + 9) // 3.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/rangeify/exact_index.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler {

// A condition, or its negation.
struct Clause {
  Id condition;
  bool negated = false;
};

// An interval of iterations: begin <= r < end if `when` holds, else empty.
struct IndexInterval {
  Id begin, end;
  Id when = no_id;     // bool; no_id: always true
  bool point = false;  // whether end is begin + 1
};

// factor*r + rest.
struct Line {
  std::int64_t factor;  // not 0
  Id rest;              // index value that does not depend on r
};

class OneRange {
 public:
  OneRange(Graph& g, Simplifier& simplify, Id range);

  Id range() const { return range_; }
  Id extent() const { return g_.end(range_); }
  bool depends(Id node);

  // The same clauses, with each `a and b` and each negated `a or b` split in two.
  std::vector<Clause> opened(std::span<const Clause> clauses) const;
  // The iterations where the clause holds, perhaps beyond the range's ends; nullopt: it cannot be solved for r.
  std::optional<IndexInterval> region(const Clause& c);
  // The iterations of the range where all clauses hold; nullopt: they are not known to be an interval.
  std::optional<IndexInterval> common(std::span<const Clause> clauses);
  Id iterations(const IndexInterval& r);  // their number, for a result of common()
  // The number of iterations where all clauses hold, as an index value; nullopt: unknown without the loop. Up to hard_clauses
  // clauses that cannot be solved are counted by inclusion and exclusion: count(a and b) = count(a) - count(a and not b).
  std::optional<Id> count(std::span<const Clause> clauses, int hard_clauses = 3);
  Id as_condition(const Clause& c);
  // The integer or index value as factor*r + rest, exactly; nullopt: it has another form, or its type is too narrow.
  std::optional<Line> line(Id value);
  // An end of a result of region(), without the clamp of ExactIndex.
  Id uncut(Id index) const { return exact_.uncut(index); }

 private:
  std::optional<IndexInterval> solved(Op op, Id x, Id y);
  std::optional<Line> line_of(const Poly& all);
  std::optional<std::size_t> unsolved(std::span<const Clause> opened, IndexInterval& r);
  Id index(Op op, Id a, Id b) { return g_.make(op, DType::index, {a, b}); }

  Graph& g_;
  Simplifier& simplify_;
  ExactIndex exact_;
  Id range_;
  std::unordered_map<Id, bool> depends_;
};

}  // namespace kiln::compiler
