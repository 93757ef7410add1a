// The layout of a Product's loops and factors: the order of the axes of the space, and copies of a factor whose neighbours in
// memory are not neighbours along the loop that gets lanes. Internal to product_value.cpp. It changes no sum: the products of
// each element stay in row-major order of the summed axes.
#pragma once

#include "compiler/autodiff/product.h"

namespace kiln::compiler::autodiff {

struct LaidOut {
  Product p;
  bool staged;  // the contraction is a tensor in the order of the space, from which another loop makes the order of the value
};
// p: without axes of extent 1.
LaidOut laid_out(Emit& e, const Product& p);

// The same without axes of extent 1 in the space.
Product without_units(const Emit& e, const Product& p);
// The same product with the axes of the space in this order.
Product reordered(const Product& p, const std::vector<int>& order);

// Whether no axis of the value is this axis of the space.
bool is_summed(const Product& p, int axis);
// The axis along which neighbours are neighbours in memory, if x moves a tensor that is stored in row-major order; -1: not
// known.
int contiguous_axis(Emit& e, Id x);

}  // namespace kiln::compiler::autodiff
