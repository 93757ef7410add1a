// A Meeting as linear rows over integers: each index value that is no sum, and each product of such values, is a variable, with
// what bounds, divisions, minima and loops say of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/races/integer_system.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler {

struct Meeting;

class LinearMeeting {
 public:
  // bounds: with what holds in the meeting.
  LinearMeeting(Graph& g, Bounds& bounds, const Meeting& m) : g_(g), bounds_(bounds), m_(m) {}

  bool is_impossible();

 private:
  using Row = IntegerSystem::Row;
  using Terms = std::vector<Id>;  // the factors of a product, or the one value

  std::optional<Row> row(const symbolic::Sum& s);
  std::optional<Row> row(Id index);
  int variable(const symbolic::Atoms& atoms);
  void add_nonnegative(const std::optional<symbolic::Sum>& s);
  void add_zero(const std::optional<symbolic::Sum>& s);
  void define_pending();
  void define(const Terms& factors, int variable);
  void define_value(Id value);
  void define_division(Id value);
  void define_product(Id a, Id b);
  bool some_axis_differs(const IntegerSystem& same) const;

  static constexpr std::size_t most_variables = 150;
  Graph& g_;
  Bounds& bounds_;
  const Meeting& m_;
  IntegerSystem system_;
  std::map<Terms, int> variables_;
  std::vector<Terms> pending_;  // variables of which nothing is said yet
  std::vector<Row> apart_;      // on each axis
};

}  // namespace kiln::compiler
