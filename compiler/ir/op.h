// The operations of the IR, one line each. Levels: T tensor graph, K kernel graph (after rangeify), P program (after lowering).
// docs/reference/ir.md has the semantics. `src` are the operands. `args` are 64-bit integers that are part of a node's
// identity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln::compiler {

// X(enumerator, text name, levels, arity)   arity -1: variable
// clang-format off
#define KILN_OPS(X) \
  /* leaves */ \
  X(CONST,    "const",    "TKP", 0)  /* args {bits}: value bits zero-extended (signed ints sign-extended) to 64; index: the integer */ \
  X(SYM,      "sym",      "TKP", 0)  /* name: symbolic extent, dtype index, value >= 0 */ \
  X(PARAM,    "param",    "T",   -1) /* args {slot}, name; src = extents. Value of program parameter `slot` at entry */ \
  X(IOTA,     "iota",     "T",   1)  /* src {n}: 1-D 0,1,..,n-1 in dtype (integers wrap, floats round) */ \
  X(BUFFER,   "buffer",   "KP",  0)  /* args {kernel-local slot}; dtype = element type */ \
  X(INVALID,  "invalid",  "TK",  0)  /* poison index: WHERE(c, i, INVALID) is a gated index */ \
  X(RANGE,    "range",    "TKP", 1)  /* src {end}; args {id, RangeKind}; dtype index: 0..end-1 */ \
  /* elementwise unary */ \
  X(NEG,      "neg",      "TKP", 1) X(NOT, "not", "TKP", 1) X(ABS, "abs", "TKP", 1) X(SIGN, "sign", "TKP", 1) \
  X(SQRT,     "sqrt",     "TKP", 1) X(RSQRT, "rsqrt", "TK", 1) \
  X(EXP,      "exp",      "TK",  1) X(EXP2, "exp2", "TK", 1) X(LOG, "log", "TK", 1) X(LOG2, "log2", "TK", 1) \
  X(LOG10,    "log10",    "TK",  1) X(CBRT, "cbrt", "TK", 1) /* the real cube root */ \
  X(SIGMOID,  "sigmoid",  "TK",  1)  /* 1 / (1 + exp(-x)) without the roundings of the terms */ \
  X(EXPM1,    "expm1",    "TK",  1)  /* exp(x) - 1 without the rounding of exp(x) */ \
  X(LOG1P,    "log1p",    "TK",  1)  /* log(1 + x) without the rounding of 1 + x */ \
  X(SIN,      "sin",      "TK",  1) X(COS, "cos", "TK", 1) X(TAN, "tan", "TK", 1) \
  X(ASIN,     "asin",     "TK",  1) X(ACOS, "acos", "TK", 1) X(ATAN, "atan", "TK", 1) \
  X(SINH,     "sinh",     "TK",  1) X(COSH, "cosh", "TK", 1) X(TANH, "tanh", "TK", 1) \
  X(ASINH,    "asinh",    "TK",  1) X(ACOSH, "acosh", "TK", 1) X(ATANH, "atanh", "TK", 1) X(ERF, "erf", "TK", 1) \
  X(FLOOR,    "floor",    "TKP", 1) X(CEIL, "ceil", "TKP", 1) X(ROUND, "round", "TKP", 1) /* half to even */ X(TRUNC, "trunc", "TKP", 1) \
  X(POPCOUNT, "popcount", "TKP", 1)  /* integer: the number of bits that are 1 */ \
  X(CLZ,      "clz",      "TKP", 1)  /* integer: the number of zero bits above the highest bit that is 1; the width for 0 */ \
  X(CAST,     "cast",     "TKP", 1)  /* to the node's dtype; float->int saturates, NaN->0; from index allowed */ \
  X(BITCAST,  "bitcast",  "TKP", 1)  /* same width */ \
  /* elementwise binary: both operands have the result's dtype, comparisons give bool */ \
  X(ADD,      "add",      "TKP", 2) X(SUB, "sub", "TKP", 2) X(MUL, "mul", "TKP", 2) X(FDIV, "fdiv", "TKP", 2) \
  X(CDIV,     "cdiv",     "TKP", 2)  /* integer, toward zero; x/0 = 0, min/-1 wraps */ \
  X(CMOD,     "cmod",     "TKP", 2)  /* x - cdiv(x,y)*y; x%0 = 0 */ \
  X(FLOORDIV, "floordiv", "TKP", 2) X(FLOORMOD, "floormod", "TKP", 2) /* integer or index, toward -inf; by 0 gives 0 */ \
  X(POW,      "pow",      "TK",  2) \
  X(ATAN2,    "atan2",    "TK",  2)  /* {y, x}: the angle of the point (x, y), as in C */ \
  X(FMOD,     "fmod",     "TK",  2)  /* x - n * y, n = x / y toward zero; exact, with the sign of x */ \
  X(SCALE,    "scale",    "KP",  2)  /* floats {x, n}: x * 2^n with one rounding; x: NaN, or 1/2 <= |x| <= 2; n: NaN, or an integer, |n| <= twice the largest exponent */ \
  X(DOT2,     "dot2",     "KP",  2)  /* i32 words of two i16: the product of the low halves plus that of the high halves; the sum wraps */ \
  X(MIN,      "min",      "TKP", 2) X(MAX, "max", "TKP", 2) /* floats: NaN if either is NaN; -0 < +0 */ \
  X(AND,      "and",      "TKP", 2) X(OR, "or", "TKP", 2) X(XOR, "xor", "TKP", 2) \
  X(SHL,      "shl",      "TKP", 2) X(SHR, "shr", "TKP", 2) /* count masked to width; SHR arithmetic on signed */ \
  X(LT,       "lt",       "TKP", 2) X(LE, "le", "TKP", 2) X(EQ, "eq", "TKP", 2) X(NE, "ne", "TKP", 2) \
  /* elementwise ternary */ \
  X(WHERE,    "where",    "TKP", 3)  /* {bool c, a, b} */ \
  X(FMA,      "fma",      "TKP", 3)  /* a*b+c, one rounding; integers wrap */ \
  /* movement (T): first src is the data, then extents/offsets as index values */ \
  X(RESHAPE,  "reshape",  "T",   -1) /* {x, extents...} */ \
  X(EXPAND,   "expand",   "T",   -1) /* {x, extents...}: same rank, size-1 axes grow */ \
  X(PERMUTE,  "permute",  "T",   1)  /* args: out axis i reads in axis args[i] */ \
  X(SLICE,    "slice",    "T",   -1) /* {x, begin..., extents...}; args: step per axis (!= 0); in = begin + out*step */ \
  X(PAD,      "pad",      "T",   -1) /* {x, value (rank 0), before..., extents... of the result}; args {PadMode}; value used by constant mode */ \
  X(SHEAR,    "shear",    "T",   2)  /* {x, extent of axis o}; args {axis k, axis o, stride, dilation}: element (k, o) is element (k, o * stride + k * dilation) of x */ \
  X(UNSHEAR,  "unshear",  "T",   2)  /* {x, extent of axis o}; args as SHEAR: element (k, o * stride + k * dilation) is element (k, o) of x; the other elements are 0 */ \
  X(CONCAT,   "concat",   "T",   -1) /* {x0, x1, ...}; args {axis} */ \
  X(GATHER,   "gather",   "T",   -1) /* {x, i...}: integer tensors of equal shapes or rank 0, at most one per axis; result [shape of i, the other axes of x]: x[i...]; an index outside of x reads the nearest element; 0 if x has no elements */ \
  /* derivatives: the pass `differentiate` replaces them */ \
  X(GRADIENT, "gradient", "T",   3)  /* {y, cotangent of y, x}; args {1}: 0 if y does not depend on x. The sum of cotangent * y, differentiated by x */ \
  X(TANGENT,  "tangent",  "T",   -1) /* {y, x, v, x, v, ...}; args {1}: as GRADIENT. The derivative of y along the directions v. Each v may have one more leading axis of K directions, then the result has it */ \
  X(LAPLACIAN, "laplacian", "T", 2)  /* {y, x}; args {1}: as GRADIENT. The sum of second derivatives by the axes of x that y lacks */ \
  X(MARK,     "mark",     "T",   1)  /* {x}; args {MarkKind, number}: x */ \
  X(STRAIGHT, "straight", "T",   2)  /* {value, x}: value, with the derivative of x */ \
  X(CUSTOM,   "custom",   "T",   -1) /* {y, x1, ..., xn, d1, ..., dn}; args {number}: y. Its derivative by xi is di, an expression of the COTANGENT of this number; y's own derivative does not count */ \
  X(COTANGENT, "cotangent", "T", -1) /* src = extents; args {number}: the adjoint of the CUSTOM of this number */ \
  /* reductions */ \
  X(REDUCE,   "reduce",   "TK",  -1) /* T: {x} or {a,b} for fma and dot; args {ReduceKind, axes... ascending}; the axes are removed. K: {x[,b], RANGEs...}; args {ReduceKind, ReduceOrder} */ \
  /* kernel graph */ \
  X(SCAN,     "scan",     "TK",  -1) /* T: {x}; args {ReduceKind sum, prod, max or min, axis, exclusive, reversed}: reductions of the first elements along the axis. K: {value, RANGE of the FOR around}; args {ReduceKind, exclusive} */ \
  X(STAGE,    "stage",    "TK",  -1) /* T: {x}: computed once, into a buffer. K: {value, RANGEs...}: value needs storage over the ranges. args {0}: made from a STAGE of level T. args {n, i}: initial state i, of rank 0, of the KERNEL with RANGE number n */ \
  X(INDEX,    "index",    "TK",  -1) /* {tensor, i...}: element; K: of STAGE, PARAM, GET. First index WHERE(gate, i, INVALID): read only where gate */ \
  X(LOAD,     "load",     "KP",  -1) /* {BUFFER, linear index [, alt, gate]} */ \
  X(STORE,    "store",    "TKP", -1) /* T: {PARAM, value}; K, P: {BUFFER, linear index, value [, gate]}; P: args {1}: past the caches, to the address of a whole register */ \
  X(END,      "end",      "K",   -1) /* {STORE, RANGEs... outermost first} */ \
  X(SINK,     "sink",     "TKP", -1) /* {effects...} */ \
  /* regions: a node belongs to the deepest KERNEL or FOR on whose RANGE or CARRY it depends. The state of memory is a tensor value */ \
  X(KERNEL,   "kernel",   "TK",  -1) /* {RANGE x n, init x m, final x m}; args {n, m}. All work items of the ranges, in any order; each applies its writes to the tensors init */ \
  X(FOR,      "for",      "TKP", -1) /* {RANGE, begin, end, init x n, yield x n, effects...}; args {n, step [, 1]}. Value: tuple of n carried values. args[2] == 1: also ends when carried value 0 is false */ \
  X(CARRY,    "carry",    "TKP", 2)  /* {RANGE, init}; args {i}: carried value i inside the FOR of that RANGE, or state i at entry of a work item of the KERNEL with that first RANGE */ \
  X(GET,      "get",      "TKP", 1)  /* {FOR or KERNEL}; args {i}: carried value or state i after it */ \
  X(LOCAL,    "local",    "TKP", -1) /* {RANGE, extents...}; args {id}: an array of one iteration of the RANGE's region, all zero */ \
  X(UPDATE,   "update",   "TK",  -1) /* {state, gate, value, i...}: the tensor with one element replaced, if gate; args {1}: promise that no other work item accesses the element, in the KERNEL or, for a LOCAL, between two barriers */ \
  X(ATOMIC,   "atomic",   "TKP", -1) /* {state, gate, value [, expected], i...}; args {AtomicKind}: as UPDATE with kind(old, value), indivisible */ \
  X(OLD,      "old",      "TKP", 1)  /* {ATOMIC}: the element before; 0 where its gate is false */ \
  X(ENTRY,    "entry",    "KP",  -1) /* {BUFFER or LOCAL, index...}: its state when the iteration at these indices begins. States have no type at K, P */ \
  /* program: vectors (lanes > 1) */ \
  X(BROADCAST,"broadcast","P",   1)  /* scalar to lanes */ \
  X(RAMP,     "ramp",     "P",   1)  /* {base}; args {stride}: base + stride*lane */ \
  X(LANE,     "lane",     "P",   1)  /* {vector}; args {i} */ \
  X(SHUFFLE,  "shuffle",  "P",   -1) /* {vectors of equal lanes...}; args: per result lane, its lane in the vectors side by side */ \
  X(PAIRS,    "pairs",    "P",   1)  /* {i16 vector}: i32 words for DOT2. The halves of word i are lanes 2 * i (low) and 2 * i + 1 */
// clang-format on

// Scopes at tensor level. There are no sub-graphs: a node belongs to the region of the innermost FOR or KERNEL whose RANGE (or
// CARRY of that RANGE) it depends on, else to the root region. One FOR or KERNEL owns a RANGE (kind loop or workgroup).
// - FOR: iteration t has RANGE = begin + t * step (step > 0). Before each iteration, RANGE < end is tested and, with the while
//   flag, carried value 0 (a bool). The RANGE's own end is an upper bound of RANGE for proofs only.
// - UPDATE, ATOMIC: `gate` is a rank-0 bool, `value` and `expected` rank 0 of the state's dtype; one index value per axis. If
//   the gate is true, the indices must be inside the tensor. If the gate is false, the result is the state itself.
// - A KERNEL's final state k is a chain of UPDATE, ATOMIC and GET of FORs that ends in CARRY{first RANGE, init k} {k}.
//   INDEX of that CARRY or of a later state reads the tensor that all work items share. INDEX of init k reads the contents
//   at entry. Results may not depend on the order of the work items (row-major in the interpreter). RANGE ends may not
//   depend on own ranges.
// - Inside a KERNEL a state has at most one writer, and every INDEX of a state comes before its writer, because a state is
//   the contents at one moment. Outside of kernels tensors are plain values: two writers of one tensor give two tensors.

enum class Op : std::uint8_t {
#define KILN_X(e, t, l, a) e,
  KILN_OPS(KILN_X)
#undef KILN_X
};
// The size of an array that is indexed by operation.
#define KILN_X(e, t, l, a) +1
inline constexpr std::size_t op_count = 0 KILN_OPS(KILN_X);
#undef KILN_X

// loop: a "LOOP range" in comments. workgroup: of a FOR over the work items of a barrier interval, which become lanes.
enum class RangeKind : std::int64_t { loop, reduce, vector, thread, unroll, workgroup };
// fma and dot: the sum of a * b, by fused multiply-adds. fma is one chain. dot is striped, over one range; at level T its axis
// is the last one.
enum class ReduceKind : std::int64_t { sum, prod, max, min, any, all, argmax, argmin, fma, dot };
// sequential: acc = op(acc, x[k]) for k ascending. striped: blocks of 65536 elements. A block has 32 accumulators; element k
// belongs to accumulator k % 32, and a halving tree combines them (j with j+16, +8, +4, +2, +1). Block results are striped
// again. dot: only the accumulators take products; the rest of the order is that of sum. See docs/reference/numbers.md.
enum class ReduceOrder : std::int64_t { sequential, striped };
// The new element of an ATOMIC: kind(element, value). exchange: the value. compare_exchange: the value if the element's bits
// equal the bits of `expected`, else the element. Types: add: numbers; min, max: numbers and bool; and, or, xor: bool and
// integers; the exchanges: every dtype.
enum class AtomicKind : std::int64_t { add, min, max, bit_and, bit_or, bit_xor, exchange, compare_exchange };
// The operation that a reduction repeats. Not for argmax and argmin, which are several operations.
Op operation_of(ReduceKind kind);
// The number of values that a reduction reads for one element.
constexpr std::size_t operands_of(ReduceKind kind) { return kind == ReduceKind::fma || kind == ReduceKind::dot ? 2 : 1; }
// The operation that combines the element with the value. Not for the exchanges, which combine nothing.
Op operation_of(AtomicKind kind);
enum class PadMode : std::int64_t { constant, edge, reflect, wrap };
// Each mark has the value of x. independent: a derivative by the mark does not count other uses of x. stop: the derivative of
// the mark is 0. again: a node computed from the mark is another node than the same one computed from x.
enum class MarkKind : std::int64_t { independent, stop, again };

// A SCAN combines elements in groups, by the steps w = 1, 2, 4.. below the size of a group: position i of a group, with i / w
// odd, becomes op(element (i / w) * w - 1, element i). A block is a number of groups. The groups of a block are one chain, and
// so are the results of blocks. See docs/reference/numbers.md.
inline constexpr int scan_group = 16;
inline constexpr std::int64_t scan_block = 4096;
constexpr bool is_scan_kind(ReduceKind k) { return k <= ReduceKind::min; }

inline constexpr int reduce_stripes = 32;
inline constexpr std::int64_t reduce_block = 65536;

std::string_view name(Op op);
std::string_view levels(Op op);
int arity(Op op);
std::optional<Op> op_from_name(std::string_view s);
constexpr bool is_unary(Op op) { return op >= Op::NEG && op <= Op::BITCAST; }    // elementwise, one source
constexpr bool is_binary(Op op) { return op >= Op::ADD && op <= Op::NE; }        // elementwise, two sources
constexpr bool is_elementwise(Op op) { return op >= Op::NEG && op <= Op::FMA; }  // unary, binary, WHERE, FMA
constexpr bool is_comparison(Op op) { return op >= Op::LT && op <= Op::NE; }
constexpr bool is_math(Op op) {  // compiler/math expands it
  return (op >= Op::RSQRT && op <= Op::ERF) || (op >= Op::POW && op <= Op::FMOD);
}
constexpr bool is_movement(Op op) { return op >= Op::RESHAPE && op <= Op::CONCAT; }
constexpr bool is_derivative(Op op) { return op >= Op::GRADIENT && op <= Op::COTANGENT; }  // only before `differentiate`
// Operations that compute on integers the same as on index values, if operands and result are in range.
constexpr bool is_index_arithmetic(Op op) {
  switch (op) {
    case Op::NEG:
    case Op::ADD:
    case Op::SUB:
    case Op::MUL:
    case Op::MIN:
    case Op::MAX:
    case Op::FLOORDIV:
    case Op::FLOORMOD:
    case Op::CDIV:
    case Op::CMOD:
    case Op::SHL:
    case Op::SHR:
    case Op::AND: return true;
    default: return false;
  }
}
// Operations of extents besides sums and products.
constexpr bool is_extent_operation(Op op) { return op == Op::FLOORDIV || op == Op::FLOORMOD || op == Op::MIN || op == Op::MAX; }
constexpr bool is_commutative(Op op) {
  switch (op) {
    case Op::ADD:
    case Op::MUL:
    case Op::DOT2:
    case Op::MIN:
    case Op::MAX:
    case Op::AND:
    case Op::OR:
    case Op::XOR:
    case Op::EQ:
    case Op::NE: return true;
    default: return false;
  }
}

std::string_view name(ReduceKind k);
std::optional<ReduceKind> reduce_kind_from_name(std::string_view s);
std::string_view name(AtomicKind k);
std::optional<AtomicKind> atomic_kind_from_name(std::string_view s);
std::string_view name(PadMode m);
std::optional<PadMode> pad_mode_from_name(std::string_view s);
std::string_view name(MarkKind k);
std::optional<MarkKind> mark_kind_from_name(std::string_view s);
std::string_view name(RangeKind k);
std::optional<RangeKind> range_kind_from_name(std::string_view s);

}  // namespace kiln::compiler
