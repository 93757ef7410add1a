// IndexForms: rewrites the indices and conditions of a kernel's accesses as exact index arithmetic over RANGEs, SYMs and
// names, so that two work items of the kernel can be compared.
//
// Integers are read as exact numbers where nothing can wrap. A value without such a form (data, the result of a loop) gets a
// name: a SYM that may have any value of the type. A sum, product or left shift of at most 32 bits that may wrap is its exact
// value minus 2^width times a name.
// Example: i & 15 becomes i % 16. In i32, p(i) + 1 becomes $7 + 1 - 2^32 * $wraps9, where $7 is the data and $wraps9 the wraps.
#pragma once

#include <compare>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

// Prefix of the names that count wraps: a result that may wrap is its exact value minus 2^width * name.
inline constexpr std::string_view wraps_prefix = "$wraps";

struct NamedValue {
  Id name, value;  // a SYM of the form, and the node that it stands for
};

// value == 0 (mod modulus)
struct Multiple {
  Id value;
  std::int64_t modulus;
  auto operator<=>(const Multiple&) const = default;
};

// The facts that follow from conditions.
struct Conditions {
  std::vector<Id> zero, nonnegative, nonzero;
  std::vector<Multiple> multiples;
  std::vector<Id> either;  // alternatives, as forms: `a or b`, or `not (a and b)`
  auto operator<=>(const Conditions&) const = default;

  // Calls f with each index value and each alternative.
  template <class F>
  void for_each(F f) {
    for (auto* ids : {&zero, &nonnegative, &nonzero, &either})
      for (Id& id : *ids) f(id);
    for (Multiple& x : multiples) f(x.value);
  }
  void append(const Conditions& more) {
    const auto add = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    add(zero, more.zero), add(nonnegative, more.nonnegative), add(nonzero, more.nonzero);
    add(multiples, more.multiples), add(either, more.either);
  }
};

class IndexForms {
 public:
  // facts: receives the bounds of all names. loop: returns the FOR of a range, or no_id if the range belongs to a KERNEL.
  IndexForms(Graph& g, Facts& facts, std::function<Id(Id range)> loop)
      : g_(g), facts_(facts), simplify_(g, facts), loop_(std::move(loop)) {}

  Id operator()(Id value);                             // the form: an index value that equals this index or integer
  void add(Conditions& to, Id condition, bool holds);  // adds the facts that follow if the condition is `holds`

  const std::vector<NamedValue>& names() const { return names_; }
  bool may_wrap(Id value) const { return wrapping_.contains(value); }  // whether it may exceed its type
  // Results that may wrap and got a name: the name, and the exact form.
  const std::vector<NamedValue>& exact() const { return exact_; }
  const std::vector<NamedValue>& ranges() const { return ranges_; }  // name: a RANGE in forms; value: that of the program

 private:
  void needs(Id id, std::vector<Id>& out);
  Id made(Id id);
  Id form(Op op, std::span<const Id> x, DType d, Id id);
  Id power(Id shift, Id count, int width);
  Id masked(Id x, Id mask);
  Id range(Id id);
  Id loop_end(Id range) const;
  Id loop_of(Id carry) const;
  Id carried(Id carry);
  Id named(Id value);
  Id named(Id value, Interval bounds);
  Id wrapped(Id id, Id exact);
  Id condition(Id id);
  bool fits(Id index, DType d);
  Id loose(Id value);
  void compare(Conditions& to, Op op, Id a, Id b, bool holds);
  bool remainder(Conditions& to, Id x, Id c, bool equal);
  Id quotient(Op op, Id x, Id d);

  Graph& g_;
  Facts& facts_;
  Simplifier simplify_;
  std::function<Id(Id range)> loop_;
  std::unordered_map<Id, Id> done_;
  std::unordered_set<Id> wrapping_;
  std::unordered_set<Id> powers_;  // names of powers of two
  std::vector<NamedValue> names_, ranges_, exact_;
};

}  // namespace kiln::compiler
