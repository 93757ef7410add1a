// Which element types an operation takes and gives: one table for the builder, the text reader and the verifier.
#pragma once

#include <span>
#include <string>

#include "compiler/ir/dtype.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

inline constexpr int max_rank = 16;

// Types of an elementwise operation's operands, in order. Returns the result's type; CAST and BITCAST need `target`.
// On a mistake: DType::none, and `problem` says what was expected and got. Type `none` among the operands matches anything
// (INVALID in a gated index).
DType elementwise_dtype(Op op, std::span<const DType> operands, DType target, std::string& problem);

// The same for a reduction of `operand` (both operands of fma have this type).
DType reduce_dtype(ReduceKind k, DType operand, std::string& problem);

// Empty when ATOMIC of this kind is defined on elements of type `d`, else the problem.
std::string atomic_problem(AtomicKind k, DType d);

// Data-driven facts: "BIFX" letters for bool, integers, floats, index that the operation's operands may have; WHERE: of a and
// b.
std::string_view operand_classes(Op op);
bool in_classes(std::string_view classes, DType d);
std::string classes_text(std::string_view classes);  // "an integer or float type"

}  // namespace kiln::compiler
