// The element types that operations take and give. The builder, the text reader and the verifier share this table.
#pragma once

#include <span>
#include <string>

#include "compiler/ir/dtype.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

inline constexpr int max_rank = 16;

// Returns the result type of an elementwise operation on operands of these types; CAST and BITCAST need `target`. A mistake
// gives DType::none and a text in `problem`. An operand of type `none` matches any type (INVALID in a gated index).
DType elementwise_dtype(Op op, std::span<const DType> operands, DType target, std::string& problem);

// The same for a reduction of `operand` (both operands of fma have this type).
DType reduce_dtype(ReduceKind k, DType operand, std::string& problem);

// The same for a scan.
DType scan_dtype(ReduceKind k, DType operand, std::string& problem);

// Empty if ATOMIC of this kind is defined for elements of type `d`, else a text of the problem.
std::string atomic_problem(AtomicKind k, DType d);

// The types that an operation's operands may have, as letters: B bool, I integers, F floats, X index. For WHERE: types of a and
// b.
std::string_view operand_classes(Op op);
bool in_classes(std::string_view classes, DType d);
std::string classes_text(std::string_view classes);  // "an integer or float type"

}  // namespace kiln::compiler
