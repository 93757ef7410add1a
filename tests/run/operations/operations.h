// Expected outputs of the operation table's programs. Families are in *_programs.h (the DSL) and *_reference.cpp (plain loops
// over coordinates, wide integers, long double). An output's name links the two.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/run/values.h"

namespace kiln::compiler::testing {

// One call: the inputs, and the wanted output.
struct Call {
  const std::map<std::string, Tensor>& inputs;  // by parameter, with their values before the call; inout ones too
  std::string output;
  DType result;
  Extents extents;  // of the output, as declared in the program

  const Tensor& operator[](const std::string& name) const { return inputs.at(name); }
};

// The expected contents: each element exactly, or as a real number with the allowed distance of the result.
struct Expectation {
  DType dtype;
  Extents extents;
  std::vector<Expected> elements;
};
Expectation exactly(const Tensor& t);
// "", or the first wrong element in words.
std::string difference(const Expectation& expected, const Tensor& got);

using Reference = std::function<Expectation(const Call&)>;

// One coordinate of an elementwise operation. Inputs are broadcast.
class Point {
 public:
  Point(const Call& call, const Extents& at) : call_(call), at_(at), type(call["x"].dtype), result(call.result) {}
  Bits operator[](const std::string& name) const;
  Bits op(Op o, Bits a, Bits b = 0, Bits c = 0) const;  // on values of x's dtype; exact operations only
  Bits literal(long double v) const;                    // as x's dtype
  long double real(const std::string& name) const { return real_value(type, (*this)[name]); }

 private:
  const Call& call_;
  const Extents& at_;

 public:
  DType type, result;
};
Reference each(std::function<Expected(const Point&)> element);
Reference each(Op o, std::vector<std::string> operands);

struct Operation {
  std::string output;    // name of the program's parameter
  std::string spelling;  // as the table shows it
  Reference reference;
};
enum class Fill { combinations, random };
struct Family {
  std::string name;  // of the struct template
  Fill fill;
  std::vector<Operation> operations;
};
std::vector<Family> elementwise_families();
std::vector<Family> movement_families();
std::vector<Family> reduction_families();

// For each spelling and dtype: whether a program with it compiles.
struct Accepted {
  std::string spelling;
  std::vector<bool> dtypes;
};
std::vector<Accepted> accepted();

// Unit roundoff: half the distance from 1 to the next value.
long double roundoff(DType d);
long double largest(DType d);
// The allowed error of transcendental functions, as in reference.h.
double allowed_ulps(DType d);

}  // namespace kiln::compiler::testing
