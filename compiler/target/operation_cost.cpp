#include "compiler/target/operation_cost.h"

namespace kiln::compiler {
namespace {

// recompute, lane, work. Where they differ, one number would change generated code: 2 in the lane column of memory_access the
// code of tests/golden/passes/fold_stages/fold_cheap, 8 in the work column of floor_division that of fold_then_collapse.
constexpr OperationCost free_of_cost = {0, 0, 0};  // constants, and movement: a change of the index
constexpr OperationCost structure = {1, 0, 0};     // loops, ranges, reductions; a copied value contains a copy of each
constexpr OperationCost arithmetic = {1, 1, 1};    // everything else on values
constexpr OperationCost memory_access = {2, 1, 2};
constexpr OperationCost division = {8, 8, 8};  // division, square root
constexpr OperationCost floor_division = {8, 8, 1};
constexpr OperationCost transcendental = {32, 32, 32};  // the size of a typical expansion

}  // namespace

OperationCost operation_cost(Op op) {
  switch (op) {
    case Op::CONST:
    case Op::RESHAPE:
    case Op::EXPAND:
    case Op::PERMUTE:
    case Op::SLICE: return free_of_cost;
    case Op::PARAM:
    case Op::GATHER:
    case Op::INDEX:
    case Op::LOAD:
    case Op::STORE: return memory_access;
    case Op::FDIV:
    case Op::CDIV:
    case Op::CMOD:
    case Op::SQRT:
    case Op::RSQRT: return division;
    case Op::FLOORDIV:
    case Op::FLOORMOD: return floor_division;
    default: return is_math(op) ? transcendental : is_elementwise(op) ? arithmetic : structure;
  }
}

}  // namespace kiln::compiler
