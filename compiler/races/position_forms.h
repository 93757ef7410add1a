// Places of a kernel's accesses as index arithmetic over ranges, symbols and names, so that two positions of the kernel can be
// compared. Integers are read as exact numbers where nothing can wrap. What is not understood (data, results of loops, what may
// wrap) gets a name of its own: a SYM that may have any value of the type.
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

// Begins the names of numbers of turns by 2^width that a result has wrapped.
inline constexpr std::string_view turns_prefix = "$turns";

struct NamedValue {
  Id name, value;  // SYM; the node of the program
};

// value == 0 (mod modulus)
struct Multiple {
  Id value;
  std::int64_t modulus;
  auto operator<=>(const Multiple&) const = default;
};

// What a condition says where it holds.
struct Conditions {
  std::vector<Id> zero, nonnegative, nonzero;
  std::vector<Multiple> multiples;
  std::vector<Id> either;  // forms of conditions that hold: `or`, or `not` of `and`
  auto operator<=>(const Conditions&) const = default;

  // f: of each index value, and of each condition.
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

class PositionForms {
 public:
  // facts: gains the bounds of names. loop: the FOR of a range, no_id for other ranges.
  PositionForms(Graph& g, Facts& facts, std::function<Id(Id range)> loop)
      : g_(g), facts_(facts), simplify_(g, facts), loop_(std::move(loop)) {}

  Id operator()(Id value);  // of an index or an integer: the index that equals it
  void add(Conditions& to, Id condition, bool holds);

  const std::vector<NamedValue>& names() const { return names_; }
  bool may_wrap(Id value) const { return wrapping_.contains(value); }  // arithmetic in a type that may be too narrow
  // What names of such arithmetic are where it is not.
  const std::vector<NamedValue>& exact() const { return exact_; }
  const std::vector<NamedValue>& ranges() const { return ranges_; }  // the RANGE of the form, and of the program

 private:
  static constexpr std::int64_t limit = std::int64_t{1} << 61;  // sums of two such values fit 64 bits
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
  std::unordered_set<Id> powers_;  // SYMs that are powers of two
  std::vector<NamedValue> names_, ranges_, exact_;
};

}  // namespace kiln::compiler
