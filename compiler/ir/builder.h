// Builds tensor-level nodes with checks. Every call checks types and shapes, and throws Diagnostic at the graph's current
// location.
//
// The sources of an elementwise node have equal shapes (the same extent nodes) or rank 0, which broadcasts implicitly. For
// other operands, elementwise() adds the RESHAPE and EXPAND nodes of NumPy's broadcasting. Calls never fold constants.
// Spans given to calls must not point into the graph (src(), args()), because calls create nodes.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/index_bounds.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/program.h"
#include "compiler/ir/shapes.h"
#include "compiler/ir/typing.h"

namespace kiln::compiler {

class Builder {
 public:
  explicit Builder(Graph& g) : graph_(g), shapes_(g) {}

  Graph& graph() { return graph_; }
  Shapes& shapes() { return shapes_; }
  std::vector<Id> shape_of(Id x) { return shapes_.of(x); }

  // Declares facts of a symbol for proofs of bounds and for index arithmetic (Graph::set_multiple). The minimum of a symbol
  // that is not declared is 0.
  void declare(const Symbol& s);
  // From here on, a proof that fails only for small values of a symbol raises the symbol's minimum. The entry check of the
  // compiled program rejects smaller values. apply_minimums() writes the raised minimums into the program's symbols.
  void infer_minimums() { infer_ = true; }
  void apply_minimums(Program& p) const;
  // From here on, calls do not prove the bounds of slices and pads. A caller that builds nodes again whose bounds were
  // proven needs no second proof.
  void trust_bounds() { trust_bounds_ = true; }

  Id constant(DType d, std::uint64_t bits);  // bits: in the form of CONST in op.h
  Id param(Arg slot, const Parameter& p);    // value of the parameter at entry
  Id iota(DType d, Id extent);               // 0, 1, ..., extent-1
  Id extent_value(DType d, Id extent);       // an extent as a rank-0 tensor: CAST(index)

  // NumPy broadcasting of the operands, then the operation. CAST and BITCAST need `target`.
  Id elementwise(Op op, std::span<const Id> sources, DType target = DType::none);
  Id elementwise(Op op, std::initializer_list<Id> sources) {
    return elementwise(op, std::span(sources.begin(), sources.size()));
  }
  Id cast(Id x, DType to) { return elementwise(Op::CAST, std::span(&x, 1), to); }
  Id bitcast(Id x, DType to) { return elementwise(Op::BITCAST, std::span(&x, 1), to); }

  Id reshape(Id x, std::span<const Id> extents);
  Id expand(Id x, std::span<const Id> extents);          // same rank; axes of extent 1 grow
  Id broadcast_to(Id x, std::span<const Id> extents);    // NumPy: leading axes are added; x itself if nothing changes
  Id permute(Id x, std::span<const std::int64_t> axes);  // result axis i reads axis axes[i]
  Id slice(Id x, std::span<const Id> begin, std::span<const std::int64_t> step, std::span<const Id> extents);
  Id pad(Id x, Id value, PadMode mode, std::span<const Id> before, std::span<const Id> extents);  // extents: of the result
  Id concat(std::span<const Id> parts, std::int64_t axis);
  Id gather(Id x, std::span<const Id> index);  // index: of the first axes of x; integers, shapes broadcast
  Id stage(Id x);                              // x, computed once into a buffer
  Id reduce(ReduceKind k, Id x, std::span<const std::int64_t> axes);        // axes ascending; they are removed
  Id reduce(ReduceKind k, Id a, Id b, std::span<const std::int64_t> axes);  // fma, dot
  Id reduce_fma(Id a, Id b, std::span<const std::int64_t> axes) { return reduce(ReduceKind::fma, a, b, axes); }
  Id reduce_dot(Id a, Id b, std::span<const std::int64_t> axes) { return reduce(ReduceKind::dot, a, b, axes); }

  // Element i of the result combines elements 0 to i of the axis; exclusive: those before i; reversed: from the end.
  Id scan(ReduceKind k, Id x, std::int64_t axis, bool exclusive = false, bool reversed = false);

  // Axes k and o and the result's extent of axis o; op.h describes both.
  Id shear(Id x, std::int64_t k, std::int64_t o, std::int64_t stride, std::int64_t dilation, Id extent);
  Id unshear(Id x, std::int64_t k, std::int64_t o, std::int64_t stride, std::int64_t dilation, Id extent);

  // Derivatives; op.h describes the operations. or_zero: 0, not an error, if y does not depend on x.
  Id gradient(Id y, Id cotangent, Id x, bool or_zero = false);
  Id tangent(Id y, std::span<const Id> x_and_v, bool or_zero = false);  // x1, v1, x2, v2, ...
  Id laplacian(Id y, Id x, bool or_zero = false);
  Id mark(Id x, MarkKind kind, std::int64_t number);
  Id straight(Id value, Id x);
  Id custom(Id y, std::span<const Id> x, std::span<const Id> d, std::int64_t number);
  Id cotangent(DType d, std::span<const Id> extents, std::int64_t number);

  // Scopes; op.h describes the operations. Index values are of type index and rank 0.
  Id index_of(Id integer);                                            // an integer of rank 0 as an index value
  Id element(Id tensor, std::span<const Id> index, Id gate = no_id);  // no read if the gate is false
  // gate no_id: always. unique: a promise that no other work item of the kernel, or of the workgroup between two barriers,
  // writes or reads the element.
  Id update(Id state, Id gate, Id value, std::span<const Id> index, bool unique = false);
  Id atomic(AtomicKind k, Id state, Id gate, Id value, std::span<const Id> index, Id expected = no_id);
  Id old(Id atomic);
  Id range(Id end, std::int64_t number, RangeKind kind = RangeKind::loop);
  Id carry(Id range, Id init, Arg slot);
  Id local(DType d, Id range, std::span<const Id> extents, std::int64_t number);
  Id loop(Id range, Id begin, Id end, std::span<const Id> init, std::span<const Id> yield, std::int64_t step = 1,
          bool conditional = false);
  Id kernel(std::span<const Id> ranges, std::span<const Id> init, std::span<const Id> final);
  Id get(Id scope, Arg slot);

  Id store(Id param, const Parameter& p, Id value);                        // value: of the parameter's shape, or of rank 0
  Id sink(std::span<const Parameter> params, std::span<const Id> stores);  // E-store: an output without a store

  std::string shape_text(std::span<const Id> extents) const;  // "[N, 768]"
  [[noreturn]] void fail(std::string id, const std::string& text) const;

 private:
  std::vector<Id> broadcast_shape(Op op, std::span<const Id> sources);
  Id movement(Op op, std::span<const Id> data, std::initializer_list<std::span<const Id>> operands,
              std::span<const std::int64_t> args = {});
  Id reduction(ReduceKind k, DType d, std::span<const Id> operands, std::span<const std::int64_t> axes);
  void check_rank(std::size_t rank) const;
  void check_extents(std::span<const Id> extents);
  void check_axes(std::span<const std::int64_t> axes, std::ptrdiff_t rank, std::string_view what) const;
  bool nonnegative(Id v);
  bool symbolic(Id v);
  void check_op(Id x, Op op, std::string_view what) const;
  void check_scalar(Id x, DType d, std::string_view what);
  void check_index(Op op, Id tensor, std::span<const Id> index);
  void check_slots(Op op, std::span<const Id> init, std::span<const Id> next);
  void check_shear(std::string_view what, Id x, std::int64_t k, std::int64_t o, std::int64_t stride, std::int64_t dilation,
                   Id windows, Id elements);
  void check_like(std::string_view what, Id x, Id like);
  void check_slice_axis(std::size_t axis, Id n, Id begin, std::int64_t step, Id extent);
  void check_pad_axis(std::size_t axis, PadMode mode, Id n, Id before, Id extent);

  Graph& graph_;
  Shapes shapes_;
  std::vector<SymbolFacts> facts_;
  std::unordered_set<Id> nonnegative_;  // nodes that are >= 0: proven, or by a raised minimum
  std::unordered_set<Id> symbolic_;     // nodes that depend on constants and symbols only
  bool trust_bounds_ = false, infer_ = false;
};

}  // namespace kiln::compiler
