// Translates index expressions into terms of SMT-LIB, with the declarations and facts that they need.
//
// Each pair (dividend x, divisor n) has two variables for its quotient q and remainder r: x = n*q + r with r between 0 and n,
// and q = r = 0 for n = 0, as the IR defines them. These values are unique, so the question does not change.
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
  // Symbols obey the facts; without facts they are any integers, and so are loaded values. RANGEs obey the bounds of their
  // loops. opaque_products: products are integers of which only the facts of relate_multiples() are known. The question is
  // then linear and answered quickly, but may have more solutions.
  explicit SmtTerms(const Graph& g, const Facts* facts = nullptr, bool opaque_products = false)
      : g_(g), facts_(facts), opaque_(opaque_products) {}

  // Defines a term for the node's value. False: SMT-LIB's integers cannot express it (bit operations on two variables).
  bool define(Id root);
  const std::string& operator[](Id id) const { return terms_.at(id); }
  const std::string& declarations() const { return declarations_; }

  // Terms whose signs determine the result of a division, without numbers. If assume() gives all these signs first (without
  // asserting them), a remainder needs no variable of its own, and products with the remainder can be multiplied out.
  using Signs = std::map<std::string, int>;
  const std::vector<std::string>& deciding() const { return deciding_; }
  void assume(Signs signs) { signs_ = std::move(signs); }

  // Each of these functions adds facts that a solver seldom finds by itself: n*u + n <= n*v for n > 0 and u < v, and the same
  // for n < 0. relate_multiples() adds them for all pairs u, v that a term n multiplies. relate_quotients() adds them for two
  // quotients that differ by a polynomial.
  void relate_multiples();
  void relate_everything();  // for every divisor: all quotients, remainders and divisors
  // Adds the sides of the goal lhs == rhs to the terms that every divisor multiplies, because they show that quotients are
  // equal.
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
  std::map<std::pair<std::string, std::string>, std::string> products_;  // variables of opaque products, by factors
  std::string declarations_;
  std::vector<std::string> deciding_;
  Signs signs_;
  std::map<Id, std::string> terms_;
  std::map<std::tuple<std::string, std::string, bool>, std::pair<std::string, std::string>> witnesses_;
  std::map<std::string, std::vector<std::string>> multiplied_;
};

}  // namespace kiln::compiler
