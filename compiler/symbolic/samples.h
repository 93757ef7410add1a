// Values of nodes at a few points that satisfy the facts. If a statement is false at one of these points, no proof is tried.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/id_map.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler::symbolic {

class Samples {
 public:
  static constexpr unsigned points = 8;
  struct Values {
    std::array<std::int64_t, points> value{};  // 0 without a value; else within 2^61, so that a sum of two does not overflow
    unsigned known = 0;                        // bit i: point i has a value. No value: overflow, or a loop without iterations
  };

  Samples(const Graph& g, const Bounds& b) : graph_(g), facts_(b.facts()), relations_(b.relations()) {}

  // Whether p is negative at a point where the loops around all of `inside` have iterations.
  bool some_negative(const Poly& p, std::span<const Id> inside);

  bool differ(Id a, Id b);  // whether a and b differ at a point where both have a value

  const Values& at(Id root);
  Values of(const Poly& p);
  unsigned around(Id id);  // points where the facts hold and the loops around the node have iterations
  // Whether f is true for the value at one of the points in `where`.
  template <class F>
  static bool some_at(unsigned where, const Values& v, F f) {
    for (std::size_t i = 0; i < points; ++i)
      if (((where & v.known) >> i & 1) != 0 && f(v.value[i])) return true;
    return false;
  }
  static Values constant(std::int64_t v);
  static Values computed(Op op, const Values& a, const Values& b, const Values& c);

 private:
  Values derive(Id id) const;
  Values symbol(Id id) const;
  Values range(Id id) const;
  void choose_points();
  void solve(const Poly& f, const Poly& g);
  unsigned facts_hold();

  const Graph& graph_;
  const Facts& facts_;
  const std::vector<Poly>& relations_;
  IdMap<Values> memo_;
  std::vector<Id> stack_;
  std::array<unsigned, points> ways_{};  // by point: a number that selects the values of the leaves
  unsigned allowed_ = 0;                 // points where the facts hold
  Id asked_ = no_id;                     // the last argument of around(), with its result
  unsigned answer_ = 0;
  bool chosen_ = false;
  std::vector<std::pair<Id, Poly>> solved_;  // symbols that facts determine, with their values
};

}  // namespace kiln::compiler::symbolic
