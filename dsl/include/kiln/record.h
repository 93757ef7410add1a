// The constant tables of a captured program, which the C++ compiler makes by evaluating it. Only the generator reads them.
#pragma once

#include <cstdint>

#include "kiln/dtype.h"
#include "kiln/program.h"

namespace kiln::dsl::record {

// One line per operation; the names are those of the IR's text form (docs/reference/ir.md gives the semantics).
// clang-format off
#define KILN_RECORD_OPS(X) \
  X(param) X(constant) X(dim) X(iota) X(store) \
  X(neg) X(not_) X(abs) X(sign) X(sqrt) X(rsqrt) X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(cbrt) \
  X(sigmoid) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(erf) \
  X(floor) X(ceil) X(round) X(trunc) X(popcount) X(clz) X(cast) X(bitcast) \
  X(add) X(sub) X(mul) X(fdiv) X(cdiv) X(cmod) X(floordiv) X(floormod) X(pow) X(atan2) X(fmod) X(min) X(max) X(and_) X(or_) X(xor_) X(shl) X(shr) \
  X(lt) X(le) X(eq) X(ne) X(where) X(fma) \
  X(reshape) X(expand) X(permute) X(slice) X(pad) X(roll) X(shear) X(concat) X(stage) \
  X(reduce) X(scan) \
  X(gradient) X(tangent) X(mark) X(custom) X(cotangent) X(laplacian) \
  X(kernel) X(kernel_end) X(index) X(loop) X(loop_end) X(counter) X(when) X(otherwise) X(when_end) X(break_) X(continue_) \
  X(var) X(set) X(get) X(local) X(element) X(put) X(atomic) X(barrier) X(accumulate) X(check)
// clang-format on

enum class op : std::uint8_t {
#define KILN_X(n) n,
  KILN_RECORD_OPS(KILN_X)
#undef KILN_X
};

// A static extent (text null) or a canonical polynomial of symbolic extents, such as "N", "2*H*W" or "N-2".
//   text = ["-"] term {("+" | "-") term};  term = integer {"*" atom} | atom {"*" atom}
//   atom = name | "(" text ")//" integer            floor division by a positive integer: "(N+1)//2"; "2*(N)//2" is 2*(N//2)
// An attribute may be such a text too (begin of a slice, before of a pad). The entry check of a call refuses extents that are
// negative there (a slice past the end).
struct symbol;
struct extent {
  std::int64_t value = 0;
  const char* text = nullptr;
  const symbol* const* known = nullptr;  // the symbols whose facts it was simplified with, and a null; null: there is none
};

// The meaning of an index outside of its axis (subscript.h). skip is for writes, constant for reads.
enum class index_mode : std::uint8_t { clamp, wrap, mirror, constant, unchecked, skip };
// The generator casts these kinds to the IR's enums, whose names are equal.
#define KILN_REDUCE_KINDS(X) X(sum) X(prod) X(max) X(min) X(any) X(all) X(argmax) X(argmin) X(fma) X(dot)
#define KILN_PAD_MODES(X) X(constant) X(edge) X(reflect) X(wrap)
// The meaning of a mark.
#define KILN_MARK_KINDS(X) X(independent) X(stop) X(again)
// compare_exchange writes the value if the element equals the expected value.
#define KILN_ATOMIC_KINDS(X) X(add) X(min) X(max) X(bit_and) X(bit_or) X(bit_xor) X(exchange) X(compare_exchange)
#define KILN_X(n) n,
enum class reduce_kind : std::uint8_t { KILN_REDUCE_KINDS(KILN_X) };
enum class pad_mode : std::uint8_t { KILN_PAD_MODES(KILN_X) };
enum class atomic_kind : std::uint8_t { KILN_ATOMIC_KINDS(KILN_X) };
enum class mark_kind : std::uint8_t { KILN_MARK_KINDS(KILN_X) straight };
#undef KILN_X
inline constexpr std::uint64_t local_tensors = 1000, variable_tensors = 1u << 20, computed_tensor = 0x7fffffff;
inline constexpr std::uint64_t shared_array = std::uint64_t{1} << 32;
inline constexpr std::uint64_t unique_write = std::uint64_t{1} << 56;
inline constexpr std::uint64_t unused_is_zero = 1;
inline constexpr std::uint64_t within_workgroup = 1 << 8, of_workgroup = 2 << 8;

struct shape {
  int rank = 0;
  const extent* extents = nullptr;
};

struct source_loc {
  const char* file = "";
  std::uint32_t line = 0, column = 0;
};

// Sources are node numbers below this node's own, in sources[source_begin ..]. Attributes, in extents[attr_begin ..], by
// operation:
//   param: imm = slot                         constant: imm = bits (zero- or sign-extended to 64), rank 0
//   dim: attr {value}, rank 0, integer dtype  iota: rank 1, extent from the shape
//   store: imm = slot, source {value}; order of stores is program order, a later store to a slot wins
//   reshape, expand: new extents = the shape  permute: attr[i] = source axis of result axis i
//   slice: attr {begin...} then {step...}
//   pad: attr {before...} then {mode} (0 constant 1 edge 2 reflect 3 wrap), sources {x, value}
//   roll: attr {axis, shift}                  stage: source {x}, computed once into a buffer
//   shear: attr {axis k, axis o, stride, dilation}: element (k, o) is element (k, o * stride + k * dilation) of x
//   concat: attr {axis}
//   reduce: attr {kind, axes ascending...} (kinds: IR's ReduceKind); fma and dot have two sources
//   scan: attr {kind, axis, exclusive, reversed}
//
// Derivatives. Each belongs to the value of its sources, not to their names.
//   gradient: source {y, ct, x}, the derivative of sum(y * ct) with respect to x; x's type. imm: unused_is_zero, or 0: it is an
//             error if y does not depend on x
//   tangent: source {y, x, v, x, v, ...}, the derivative of y along the directions v; y's type. If the directions have one axis
//            more than their x, the result has that leading axis too. imm as of gradient
//   mark: source {x} or, of straight, {value, x}; imm = kind << 32 | number
//   custom: source {y, x..., dx...}: y, whose derivative with respect to each x is the dx at the same place; imm = number
//   laplacian: source {y, x}, the sum of second derivatives of y by the axes of x that y lacks; y's type. The axes of y are the
//              first ones of x. imm as of gradient
//   cotangent: imm = number of the custom in whose dx it stands for the cotangent of y
//
// A scope is a pair of nodes in the list; the scope repeats the nodes between them. A bound is an extent or, where the
// attribute is -1 without a text, the next source, a rank-0 integer (i32 or i64); a literal -1 is a source too.
//   kernel: imm = rank | size of its workgroups along each axis << (8 + 16 * axis), 0 without workgroups; attr {extent...}
//           ... kernel_end
//   index: imm = axis, source {kernel}, i32 or i64: the work item's position in the kernel
//          | within_workgroup: its position in its workgroup; | of_workgroup: the position of its workgroup
//   barrier: in a kernel of workgroups; every work item of the workgroup has passed the nodes before it
//   loop: attr {begin, end, step}; imm = 1: no end ... loop_end           counter: source {loop}, i32 or i64
//   when: source {rank-0 bool} ... when_end
//   otherwise: source {} or {rank-0 bool} ... when_end; follows a when_end, with only values between them; runs if the first
//              when of this sequence and every otherwise before this one did not run
//   break_, continue_: source {} or {rank-0 bool}; of the innermost loop
//   var: imm = number, source {initial value}    set: imm = number, source {value}    get: imm = number: the value now
//   local: imm = number; an array of zeros with the shape, static extents, new each time that the scope runs the node
//          | shared_array: one for all work items of a workgroup
// Elements of a tensor: slot, or local_tensors + number of a local array, or variable_tensors + number of a variable, or
// computed_tensor, which is then the first source. Indices are integers, at most one for each axis; their shapes broadcast. The
// shape `s` of the elements is that of the indices, then the axes without an index.
//   element: imm = mode << 32 | tensor, sources {index... [, value outside of mode constant]}
//   put: imm = mode << 32 | tensor, sources {value, index...}
//   put, accumulate: | unique_write: no other work item of the kernel touches the elements
//   atomic: imm = kind << 40 | mode << 32 | tensor, sources {value [, expected], index...}: the element before
//   accumulate: imm = op << 40 | mode << 32 | tensor, sources {value, index...}: one after another, op(element, value)
//   check: imm = number << 40 | slot after the last parameter, source {rank-0 bool}: the call fails with this check if
//          the source is false. The slot holds an i32, the least number of a failed check, or KILN_NO_CHECK
// A param node that comes after a store to its slot reads the stored value. Binary operations may have sources whose shapes
// broadcast (NumPy rule); the result's shape is `s`. All other sources have exactly the shapes that the IR needs.
struct node {
  op o;
  kiln_dtype d;
  std::int32_t n_sources, source_begin;
  std::int32_t n_attrs, attr_begin;
  std::uint64_t imm;
  const shape* s;
  source_loc loc;
};

struct parameter {
  const char* name;  // field name, modules joined by '_'
  int direction;     // KILN_IN, KILN_OUT or KILN_INOUT
  kiln_dtype d;
  const shape* s;
  int free_strides = 0;  // the number of leading axes whose strides the call gives; the axes after them are dense
};

// Facts of a symbolic extent, from dim<"N">{}.min / max / multiple_of when declared.
struct symbol {
  const char* name;
  std::int64_t min, max, multiple_of;
};

// A condition that the program states about its data.
struct check {
  const char* text;
  source_loc loc;
};

struct program {
  const char* name;
  int n_params, n_nodes, n_symbols;
  const parameter* params;
  const node* nodes;
  const std::int32_t* sources;
  const extent* attrs;
  const symbol* symbols;
  source_loc loc;
  int n_checks = 0;
  const check* checks = nullptr;
};

// Programs that this executable exports, in order of registration within a translation unit. Defined by the generator library.
void register_programs(const program* const* list, int count);

}  // namespace kiln::dsl::record
