// Product: an adjoint that is a sum of products and is not made yet. The transposes of movement operations pass it on to their
// source by moving both factors. So the derivative of a contraction is a contraction, and no tensor of all products is made.
//
// The products have axes, the space. A factor is a tensor `base`; it has the same elements along the axes of the space that
// base lacks. `value` lists the axes that the adjoint keeps; the products are summed over the others, in row-major order of
// the space, by one chain of fused multiply-adds; the sum along long rows of both factors may come last, as numbers.md says.
// The space has the axes of the contraction in the order of its operands.
#pragma once

#include <variant>

#include "compiler/autodiff/emit.h"

namespace kiln::compiler::autodiff {

struct Factor {
  Id base = no_id;
  std::vector<int> axis;  // by axis of the space: the axis of base, or -1. An axis of base that is not listed has extent 1
};

// An axis of the adjoint that is made of parts: element h = stride * h' + r - begin is element h' of part r. The space has the
// axis h', an axis of the parts, and an axis of taps, of which part r uses the last ones: tap k' of it is the window's tap
// stride * k' + r, counted from the end.
struct Split {
  std::size_t axis;           // of the adjoint
  int part, tap;              // axes of the space
  std::int64_t stride, taps;  // taps: of the whole window
  std::int64_t begin;         // elements that a slice left out before the axis
  Id n;                       // the extent of the axis
};

struct Product {
  static constexpr int unit = -1;
  Factor p, q;  // p contains the adjoint of the contraction
  Extents space;
  std::vector<int> value;     // by axis of the adjoint: an axis of the space, or `unit` for an axis of extent 1
  std::vector<Split> splits;  // only permute, sum_windows and slice move a product with splits
};

using Adjoint = std::variant<Id, Product>;

// The adjoint of one operand of a contraction over `axes`. adjoint: of the result. other: the other operand.
Product product_of(Emit& e, Id adjoint, Id other, std::span<const std::int64_t> axes);
Id value_of(Emit& e, const Product& p);
Id value_of(Emit& e, const Adjoint& a);

// The movement of the whole adjoint. false: it cannot be moved in its factors, and nothing changed.
bool reshape(Emit& e, Product& p, const Extents& to);
void permute(Product& p, std::span<const std::int64_t> axes);
void sum_to_unit(Product& p, std::size_t axis);
bool unslice(Emit& e, Product& p, std::size_t axis, Id begin, std::int64_t step, Id n);
bool slice(Emit& e, Product& p, std::size_t axis, Id begin, std::int64_t step, Id extent);
// args: of the SHEAR or UNSHEAR that gives the result. extent: the result's of axis o.
bool shear(Emit& e, Product& p, Op op, std::span<const std::int64_t> args, Id extent);
// The sum over the windows (k, o) at axes k and k + 1 of the value that contain each of n elements. The axes become one. The
// taps k are added from the last one on: the product is then a convolution of the padded factor with the reversed other one,
// which has the form of a forward convolution. With a stride the axis is split, so that each part is a convolution by its own
// taps. With a dilation too the elements of the factor are spread instead, with zeros between them.
bool sum_windows(Emit& e, Product& p, std::size_t k, std::int64_t stride, std::int64_t dilation, Id n);

}  // namespace kiln::compiler::autodiff
