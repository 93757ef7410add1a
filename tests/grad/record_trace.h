// The trace of one execution of a captured program: values in the order in which they were made, without control flow. Equal
// values are one node.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kiln/record.h"
#include "tests/grad/dual_number.h"
#include "tests/unit/dsl_eval.h"

namespace grad_test {

using dsl_test::op;
using dsl_test::Shape;
using dsl_test::Tensor;

struct DualTensor {
  Shape shape;
  std::vector<Dual> v;
};

// Every movement operation, read and write is a pick: element i of the result is element `at` of source `from`.
struct Pick {
  int from;
  std::int64_t at;
};
enum class Kind { leaf, constant, pick, elementwise, reduce, mark, straight, gradient, tangent, laplacian, custom, cotangent };

struct Value {
  Kind kind;
  op o = op::param;  // elementwise
  Shape shape;
  bool is_float = true;
  std::vector<int> sources;
  std::vector<Pick> picks;
  std::vector<std::int64_t> attributes;  // reduce: the kind, then the axes. custom, cotangent, mark: the number
  std::vector<double> elements;          // leaf, constant
};

class Trace {
 public:
  int add(Value v);
  int constant(Tensor t, bool is_float);
  int leaf(const Tensor& t, bool is_float);  // a value of its own
  int pick(Shape shape, std::vector<int> sources, std::vector<Pick> picks);
  int broadcast(int x, const Shape& shape);
  int elementwise(op o, std::vector<int> sources, bool is_float);

  const Value& at(int id) const { return values_[static_cast<std::size_t>(id)]; }
  int size() const { return static_cast<int>(values_.size()); }
  Tensor now(int id) const;  // the elements of a value
  double scalar(int id) const { return now(id).v[0]; }

 private:
  std::vector<Value> values_;
  std::vector<DualTensor> known_;
  std::map<std::string, int> ids_;
  friend class Sweep;
};

// Values of a trace when some of them are changed by infinitesimal amounts. A sweep inside of another one adds its changes to
// those of the outer one.
class Sweep {
 public:
  Sweep(const Trace& t, const Sweep* outer, std::size_t generator) : t_(t), outer_(outer), generator_(generator) {}
  void change(int id, DualTensor by) { changes_.emplace_back(id, std::move(by)); }
  void fix(int id, DualTensor value) { fixed_.emplace_back(id, std::move(value)); }  // of a cotangent
  const DualTensor& value(int id);

 private:
  const DualTensor& known(int id) const;
  bool touches(int id);
  DualTensor compute(int id);
  DualTensor elementwise(const Value& x);
  DualTensor reduce(const Value& x);
  DualTensor gradient(const Value& x);
  DualTensor tangent(const Value& x);
  DualTensor laplacian(const Value& x);
  DualTensor custom(int id, const Value& x);
  bool is_literal(int id) const;

  const Trace& t_;
  const Sweep* outer_;
  std::size_t generator_;  // the first one that is not used
  std::vector<std::pair<int, DualTensor>> changes_, fixed_;
  std::map<int, DualTensor> values_;
  std::vector<char> touched_;
};

}  // namespace grad_test
