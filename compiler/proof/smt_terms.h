// Index expressions as terms of SMT-LIB, with the declarations and facts that they need.
//
// Division and remainder become witnesses, one pair for each (dividend, divisor): x = n*q + r with r between 0 and n, and 0 for
// both where n is 0, as the IR defines them. They are unique, so a question that uses them stays the same.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/proof/quotients.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

class SmtTerms {
 public:
  // Symbols obey the facts; without facts they are any integers. RANGEs are inside their loops; loaded values are any integers.
  // Opaque products are integers of which only what relate_multiples() says is known: the question becomes linear, quickly
  // answered, and easier to satisfy than it should be.
  explicit SmtTerms(const Graph& g, const Facts* facts = nullptr, bool opaque_products = false)
      : g_(g), facts_(facts), opaque_(opaque_products) {}

  // The node's value as a term; false: it has none (bit operations on two variables).
  bool define(Id root);
  const std::string& operator[](Id id) const { return terms_.at(id); }
  const std::string& declarations() const { return declarations_; }

  // Terms whose signs decide what a division means, except numbers. With all their signs given first (they are assumed, not
  // asserted), a remainder needs no variable of its own, so products with it multiply out.
  using Signs = std::map<std::string, int>;
  const std::vector<std::string>& deciding() const { return deciding_; }
  void assume(Signs signs) { signs_ = std::move(signs); }

  // Facts of arithmetic that a solver seldom finds by itself: n*u + n <= n*v for n > 0 and u < v (and so for n < 0),
  // for all pairs that a term n multiplies, and for two quotients of which one is the other plus a polynomial.
  void relate_multiples();
  void relate_everything();  // for every divisor: all quotients, remainders and divisors
  // The sides of what is to be shown, lhs == rhs, join what every divisor multiplies: equal quotients are told by them.
  void relate_goal(Id lhs, Id rhs);
  void relate_quotients(const QuotientPair& p);

 private:
  std::string at(Id id, std::size_t i) const { return terms_.at(g_.src(id, i)); }
  std::string quotient(Id division) { return divided(at(division, 0), at(division, 1), false).first; }
  std::string name(Id id, const std::string& term);
  std::string term(Id id);
  std::string condition(Id id);
  std::string symbol(Id id);
  std::string range(Id id);
  std::string variable(const std::string& name);
  std::string product(Id id);
  std::string times(const std::string& a, const std::string& b);
  std::string masked(Id id);
  std::string shifted(Id id);
  std::pair<std::string, std::string> divided(const std::string& x, const std::string& n, bool toward_zero);
  void divide_in_case(const std::string& x, const std::string& n, bool toward_zero,
                      const std::pair<std::string, std::string>& known);
  void relate(const std::string& n, const std::string& u, const std::string& v);

  const Graph& g_;
  const Facts* facts_;
  bool opaque_;
  std::map<std::pair<std::string, std::string>, std::string> products_;  // opaque ones
  std::string declarations_;
  std::vector<std::string> deciding_;
  Signs signs_;
  std::map<Id, std::string> terms_;
  std::map<std::tuple<std::string, std::string, bool>, std::pair<std::string, std::string>> witnesses_;
  std::map<std::string, std::vector<std::string>> multiplied_;
};

}  // namespace kiln::compiler
