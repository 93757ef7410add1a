// Changes of one factor of a Product. Internal to product.cpp and product_value.cpp.
#pragma once

#include "compiler/autodiff/product.h"

namespace kiln::compiler::autodiff {

// The axes of extents other than 1.
std::vector<int> wide_axes(const Emit& e, const Extents& extents);
// Whether the RESHAPE that is the base only adds and removes axes of extent 1. Then the factor becomes its source.
bool peel_reshape(Emit& e, Factor& f);
// Replaces axes of the base by others, by axis; -1: none.
void follow(Factor& f, const std::vector<int>& to);
// Removes the axes of base that the space does not have.
void keep_listed_axes(Emit& e, Factor& f);
// The same, and gives the others the order of the space.
void put_in_order(Emit& e, Factor& f);
// Repeats the factor along an axis of the space that its base lacks.
void give_axis(Emit& e, Factor& f, int axis, Id extent);

}  // namespace kiln::compiler::autodiff
