// The names that `using namespace kiln` brings in: words of the declarations of programs, modules and helper functions. C++
// looks for a name in kiln and in the user's global namespace at once, so each of these words is taken: no program, module or
// dim can have its name (docs/reference/names.md). All other names therefore stay in kiln::dsl. C++ finds a function by the
// namespace of its arguments, here the tensors. Scopes, and the options of conv2d, max_pool2d and at, are members of program.
#pragma once

#include "kiln/dsl/exported.h"

namespace kiln {

using dsl::dim;
using dsl::facts;
using dsl::program;
using dsl::programs;

using dsl::expr;
using dsl::in;
using dsl::inout;
using dsl::out;
using dsl::pitched;
using dsl::strided;

using dsl::bf16;
using dsl::f16;
using dsl::f32;
using dsl::f64;
using dsl::i16;
using dsl::i32;
using dsl::i64;
using dsl::i8;
using dsl::u16;
using dsl::u32;
using dsl::u64;
using dsl::u8;

using dsl::DType;
using dsl::Operand;

using dsl::exclusive;
using dsl::keepdims;
using dsl::none;
using dsl::pad_mode;
using dsl::reverse;
using dsl::to_end;

using dsl::checkpoint;
using dsl::independent;
using dsl::stop_gradient;
using dsl::value_and_grad;

using dsl::count_nodes;
using dsl::count_ops;
using dsl::ir;
using dsl::op;

}  // namespace kiln
