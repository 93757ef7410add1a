// One RANGE of a reduction: what depends on it, and which of its iterations a condition selects. Conditions are solved for the
// range: k*r + x < y, with everything else outside the loop, becomes r < ceil((y - x) / k).
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

// The iterations begin <= r < end where `when` holds, and none where it does not.
struct Stretch {
  Id begin, end;
  Id when = no_id;     // no_id: always
  bool point = false;  // end = begin + 1
};

struct Line {
  std::int64_t factor;
  Id rest;  // index value
};

class OneRange {
 public:
  OneRange(Graph& g, Simplifier& simplify, Id range);

  Id range() const { return range_; }
  Id extent() const { return g_.src(range_, 0); }
  bool depends(Id node);

  // The clauses that hold together when these do: conjunctions opened, negations of disjunctions too.
  std::vector<Clause> opened(std::span<const Clause> clauses) const;
  std::optional<Stretch> region(const Clause& c);
  // Where all of these hold: inside the loop's begin and end. nullopt: not an interval.
  std::optional<Stretch> common(std::span<const Clause> clauses);
  Id iterations(const Stretch& r);  // of a common region
  // For how many iterations all of these hold, as an index value; nullopt: not known without the loop.
  std::optional<Id> count(std::span<const Clause> clauses, int hard_clauses = 3);
  Id as_condition(const Clause& c);
  // An integer or index value as factor*r + rest, exact; nullopt: not of this form, or its type is too narrow.
  std::optional<Line> line(Id value);
  // The index value behind a solved end.
  Id uncut(Id index) const { return exact_.uncut(index); }

 private:
  std::optional<Stretch> solved(Op op, Id x, Id y);
  std::optional<Line> line_of(const symbolic::Sum& all);
  std::optional<std::size_t> unsolved(std::span<const Clause> opened, Stretch& r);
  Id index(Op op, Id a, Id b) { return g_.make(op, DType::index, {a, b}); }

  Graph& g_;
  Simplifier& simplify_;
  ExactIndex exact_;
  Id range_;
  std::unordered_map<Id, bool> depends_;
};

}  // namespace kiln::compiler
