// A second meaning of captured programs: their values and derivatives by dual numbers, in f64. It shares nothing with the
// compiler. A program is executed record by record. Each value becomes a node of a trace; equal values are one node. A
// derivative is evaluated forward, from the node that it is with respect to.
#pragma once

#include <map>
#include <string>

#include "kiln/record.h"
#include "tests/unit/dsl_eval.h"

namespace grad_test {

using dsl_test::Shape;
using dsl_test::Symbols;
using dsl_test::Tensor;
using Tensors = std::map<std::string, Tensor>;

// The parameters' values after the program, by name. `in`: the values before. Derivatives in the program are evaluated too.
Tensors evaluate(const kiln::dsl::record::program& p, const Tensors& in, const Symbols& symbols = {});

// The derivatives of all parameters after the program with respect to those before it, along the directions. A parameter
// without a direction does not move.
Tensors directional(const kiln::dsl::record::program& p, const Tensors& in, const Tensors& directions,
                    const Symbols& symbols = {});

}  // namespace grad_test
