// The derivatives of SCAN, in both modes.
//
// sum: a sum from the other end. max, min: a result depends on the element that the running extreme took, the first of equal
// ones, whose place is a running maximum of places. prod: a product of the elements other than 0 times a running sum, chosen by
// the number of zeros; an axis of at most 16 elements is written out as multiplications instead, whose own derivatives are
// exact for zeros too.
#pragma once

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

// The contribution to the adjoint of the operand from that of the result.
Id scan_adjoint(Rules& rules, Id derivative, Id scan, Id adjoint);
// The tangent of the result from that of the operand. lead: the extent of the tangent's axis of directions; no_id: none.
Id scan_tangent(Rules& rules, Id derivative, Id lead, Id scan, Id tangent);

}  // namespace kiln::compiler::autodiff
