// Random tensor programs with every operation and element type. Shapes come first: an operation is chosen, then operands and
// extents that fit it. Each program draws a subset of the features (swarm testing), so that no operation is tested only in
// the company of all others.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/program.h"

namespace kiln::compiler::testing {

// The program for this seed. If it has symbols, a parameter defines each of them.
Program random_program(Graph& g, std::uint64_t seed, bool symbolic);

// Draws numbers, which are the same on every platform.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::uint64_t bits() { return random_(); }
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  int between(int a, int b) { return a + below(b - a + 1); }
  bool one_in(int n) { return below(n) == 0; }
  template <class C>
  auto of(const C& c) {
    return c[static_cast<std::size_t>(below(static_cast<int>(std::size(c))))];
  }

 private:
  std::mt19937_64 random_;
};

// The data that every maker of operations needs: the values so far, and their shapes.
class ProgramState {
 public:
  ProgramState(Graph& graph, std::uint64_t seed, bool with_symbols);

  Id any();       // any value, late ones more often
  Id like(Id x);  // a value of x's type that broadcasts with x: an existing one, a reduction of x, a constant
  Id as(Id x, DType d) { return g.dtype(x) == d ? x : b.cast(x, d); }
  Id number(DType d, std::int64_t v);  // a constant
  Id special(DType d);                 // a constant of any kind
  Id extent();                         // a new extent
  double size(Id extent);              // at typical values of the symbols
  double elements(const std::vector<Id>& shape);
  std::vector<std::int64_t> some_axes(int rank);  // ascending; at least one axis
  DType dtype();
  std::vector<Id> shape(int rank);

  Graph& g;
  Builder b;
  Draw draw;
  std::vector<Symbol> symbols;
  std::vector<DType> dtypes;
  std::vector<Id> values;
  double most_elements = 3000;
};

// A maker builds a new value from x. It may return x itself if nothing fits.
using Maker = Id (*)(ProgramState&, Id x);
struct WeightedMaker {
  Maker make;
  int weight;
};
std::vector<WeightedMaker> elementwise_makers();
std::vector<WeightedMaker> movement_makers();
std::vector<WeightedMaker> reduction_makers();
std::vector<WeightedMaker> network_makers();
std::vector<WeightedMaker> counting_makers();
std::vector<WeightedMaker> table_makers();
std::vector<WeightedMaker> vector_makers();

Id small_integers(ProgramState& s, Id x);  // x in i32, but within the range of a type of at most 16 bits
Id flipped(ProgramState& s, Id x);         // flips some axes
// With windows of random sizes, steps and dilations, along one or two axes. They return x if nothing fits.
Id pool(ProgramState& s, Id x);      // the maximum, minimum or sum of each window
Id convolve(ProgramState& s, Id x);  // [.., C, H] with a filter [O, C, K]: sums of products, perhaps with a border and a bias

// Makes a value from new, large parameters.
using ParameterMaker = std::function<Id(std::vector<Id> extents)>;
Id large_value(ProgramState& s, const ParameterMaker& parameter);

}  // namespace kiln::compiler::testing
