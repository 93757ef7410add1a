// The proof search behind prove.h, on sums. False means "not proven".
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/samples.h"

namespace kiln::compiler::symbolic {

class Prover {
 public:
  // Statements that are false at a sample are not tried.
  void use(Samples& samples) { samples_ = &samples; }
  // context: the RANGEs under these nodes have at least one iteration, so their ends are positive.
  Prover(const Graph& g, Bounds& bounds, std::span<const Id> context)
      : g_(g), bounds_(bounds), context_(context.begin(), context.end()) {}

  bool ge0(const Poly& p);
  bool gt0(const Poly& p);
  bool lt(const Poly& a, const Poly& b);
  bool in_range(const Poly& x, const Poly& end);  // 0 <= x < end

 private:
  static constexpr int max_depth = 12, max_sums = 64, max_learned = 4;
  bool ge0(const Poly& p, int depth);
  bool hopeless(const Poly& p);
  std::int64_t low(const Poly& p);  // a lower bound; -unbounded: none
  std::int64_t low_shifted(const Poly& p);
  Interval atom(Id a);
  void learn();
  Id end_of(Id range) const;
  void learn(Id range);
  void learn(Id atom, std::int64_t least);
  bool eliminate(const Poly& p, Id atom, int depth, bool& proven);
  void inner_first(Atoms& atoms) const;
  bool by_facts(const Poly& p, int depth);
  std::optional<Poly> without_division(const Poly& p, Id q, const Poly& factor, const Poly& rest, int sign);

  const Graph& g_;
  Bounds& bounds_;
  std::vector<Id> context_;
  Samples* samples_ = nullptr;
  bool learned_ = false;
  std::vector<std::pair<Id, std::int64_t>> at_least_;
  int budget_ = 0;                     // number of sums that the search may still try
  std::vector<std::uint64_t> failed_;  // hashes of sums tried: other orders of elimination reach them again
};

}  // namespace kiln::compiler::symbolic
