// Which values get a buffer, by the cost of one element and by how often the readers need it. The thresholds are the constants
// of staging.cpp.
#include <gtest/gtest.h>

#include "compiler/rangeify/staging.h"

namespace kiln::compiler {
namespace {

using Stored = StagingModel::Stored;

constexpr ValueCost reduction{.operations = 30, .contains_reduce = true, .contains_loop = true};
constexpr ValueCost short_reduction{.operations = 3, .contains_reduce = true};

Stored stored(const ValueCost& cost, const ValueUse& use) { return StagingModel::needs_storage(cost, use); }
ValueCost elementwise(double operations) { return {.operations = operations}; }

TEST(Staging, AValueReadOnceIsFused) {
  const ValueUse once{.maps = 1, .hoisted = 100, .elements = 100};
  EXPECT_EQ(stored(elementwise(1e9), once), Stored::no);
  EXPECT_EQ(stored({.operations = 1e9, .contains_reduce = true}, once), Stored::no);
}

TEST(Staging, AReductionIsNotRepeated) {
  EXPECT_EQ(stored(reduction, {.maps = 2, .hoisted = 200, .elements = 100}), Stored::reduction);
  // A broadcast along the inner loop: the reduction is hoisted out of it.
  EXPECT_EQ(stored(reduction, {.maps = 1, .hoisted = 100, .elements = 100}), Stored::no);
  // Without a loop it may be repeated for a few readers, but not for each term of a product.
  EXPECT_EQ(stored(short_reduction, {.maps = 2, .hoisted = 200, .elements = 100}), Stored::no);
  EXPECT_EQ(stored(short_reduction, {.maps = 1, .hoisted = 6400, .elements = 100}), Stored::reduction);
}

TEST(Staging, ElementwiseRepeatsWhileItIsCheap) {
  EXPECT_EQ(stored(elementwise(9), {.maps = 25, .hoisted = 2500, .elements = 100}), Stored::no);
  EXPECT_EQ(stored(elementwise(21), {.maps = 2, .hoisted = 200, .elements = 100}), Stored::no);
  EXPECT_EQ(stored(elementwise(21), {.maps = 5, .hoisted = 500, .elements = 100}), Stored::repeated);
  // Loops that the value does not depend on stay outside.
  EXPECT_EQ(stored(elementwise(500), {.maps = 1, .hoisted = 100, .elements = 100}), Stored::no);
}

// A product reads each element of a factor many times, and a division takes as long as many of its multiply-adds.
TEST(Staging, AQuotientIsStoredForAProduct) {
  const ValueUse many{.maps = 1, .hoisted = 6400, .elements = 100};
  EXPECT_EQ(stored(elementwise(12), many), Stored::no);
  EXPECT_EQ(stored({.operations = 12, .divides = true}, many), Stored::repeated);
  EXPECT_EQ(stored({.operations = 12, .divides = true}, {.maps = 3, .hoisted = 300, .elements = 100}), Stored::no);
}

// max<1>(a @ b) with 64 x 128 sums of 12 terms, and of 32 terms.
TEST(Staging, AReductionInsideOfAnotherIsStored) {
  const ValueCost product{.contains_reduce = true, .reductions = 1, .terms = 12, .most_loaded = 1536};
  const ValueUse use{.maps = 1, .hoisted = 8192, .elements = 8192, .in_reduction = true};
  const auto changed = [](auto part, auto change) {
    change(part);
    return part;
  };
  EXPECT_EQ(stored(product, use), Stored::inner_reduction);
  EXPECT_EQ(stored(product, changed(use, [](ValueUse& u) { u.in_reduction = false; })), Stored::no);
  EXPECT_EQ(stored(product, changed(use, [](ValueUse& u) { u.hoisted = u.elements = 500; })), Stored::no);
  EXPECT_EQ(stored(product, changed(use, [](ValueUse& u) { u.hoisted = u.elements = 1e9; })), Stored::no);
  EXPECT_EQ(stored(changed(product, [](ValueCost& c) { c.reductions = 2; }), use), Stored::no);
  EXPECT_EQ(stored(changed(product, [](ValueCost& c) { c.from_positions = true; }), use), Stored::no);
  EXPECT_EQ(stored(changed(product, [](ValueCost& c) { c.terms = 3; }), use), Stored::no);
  EXPECT_EQ(stored(changed(product, [](ValueCost& c) { c.most_loaded = 12 * 8192; }), use), Stored::no);
  const ValueCost sum{.contains_reduce = true, .contains_loop = true, .reductions = 1, .terms = 32, .most_loaded = 32 * 8192};
  EXPECT_EQ(stored(sum, use), Stored::inner_reduction);
  EXPECT_EQ(stored(sum, changed(use, [](ValueUse& u) { u.is_partial = true; })), Stored::inner_reduction);
  const ValueCost long_sum{
      .contains_reduce = true, .contains_loop = true, .reductions = 1, .terms = 64, .most_loaded = 64 * 8192};
  EXPECT_EQ(stored(long_sum, use), Stored::inner_reduction);
  EXPECT_EQ(stored(long_sum, changed(use, [](ValueUse& u) { u.is_partial = true; })), Stored::no);
}

// Means of 14 x 14 planes, in a normalization of the planes.
TEST(Staging, ShortReductionsOfARowAreStored) {
  const ValueUse hoisted{.maps = 1, .hoisted = 100, .elements = 100, .is_hoisted = true};
  EXPECT_EQ(stored({.operations = 500, .contains_reduce = true, .terms = 196}, hoisted), Stored::short_reductions);
  EXPECT_EQ(stored({.operations = 30, .contains_reduce = true, .terms = 14}, hoisted), Stored::no);
  EXPECT_EQ(stored({.operations = 500, .contains_reduce = true, .terms = 196}, {.maps = 1, .hoisted = 100, .elements = 100}),
            Stored::no);
}

TEST(Staging, OperandsOfProductsAreComputedOnce) {
  const ValueUse many{.maps = 1, .hoisted = 64000, .elements = 1000, .in_reduction = true};
  const ValueUse few{.maps = 1, .hoisted = 64000, .elements = 16000, .in_reduction = true};
  EXPECT_EQ(stored({.operations = 3, .is_computed = true}, many), Stored::repeated);
  EXPECT_EQ(stored({.operations = 3, .is_computed = true}, few), Stored::no);
  EXPECT_EQ(stored({.operations = 3}, many), Stored::no);  // a cast
  EXPECT_EQ(stored(elementwise(3), {.maps = 1, .hoisted = 64000, .elements = 1000}), Stored::no);
}

// Pieces of a concatenation, and axes that a reshape splits.
TEST(Staging, SelectionsForProductsAreStored) {
  EXPECT_EQ(stored({}, {.maps = 1, .hoisted = 64000, .elements = 1000, .in_reduction = true, .selects = true}),
            Stored::selection);
  EXPECT_EQ(stored({}, {.maps = 1, .hoisted = 64000, .elements = 16000, .in_reduction = true, .selects = true}), Stored::no);
  EXPECT_EQ(stored({}, {.maps = 1, .hoisted = 64000, .elements = 1000, .selects = true}), Stored::no);
}

// reshape<8192>(a @ b) with sums of 32 terms.
TEST(Staging, AProductInAnotherOrderIsStored) {
  const ValueCost product{.contains_reduce = true, .contains_loop = true, .reductions = 1, .terms = 32, .most_loaded = 4096};
  const ValueCost sum{.contains_reduce = true, .contains_loop = true, .reductions = 1, .terms = 32, .most_loaded = 32 * 8192};
  const ValueUse flat{.maps = 1, .hoisted = 8192, .elements = 8192, .splits_columns = true};
  EXPECT_EQ(stored(product, flat), Stored::inner_reduction);
  EXPECT_EQ(stored(sum, flat), Stored::no);
}

TEST(Staging, BytesAndTheKernelItselfCost) {
  EXPECT_EQ(stored(elementwise(21), {.maps = 2, .hoisted = 2000, .elements = 1000, .bytes = 1}), Stored::repeated);
  EXPECT_EQ(stored(elementwise(21), {.maps = 2, .hoisted = 2000, .elements = 1000, .bytes = 8}), Stored::no);
  EXPECT_EQ(stored(elementwise(21), {.maps = 2, .hoisted = 20, .elements = 10, .bytes = 1}), Stored::no);
}

TEST(Staging, WrittenOutCodeIsBounded) {
  EXPECT_EQ(stored(elementwise(20), {.maps = 30, .hoisted = 30, .elements = 3000}), Stored::many_copies);
}

TEST(Staging, LongIndicesAreCutByACopy) {
  EXPECT_EQ(stored({}, {.maps = 1, .hoisted = 10, .elements = 10, .index_operations = 65}), Stored::long_index);
  EXPECT_EQ(stored({}, {.maps = 1, .hoisted = 10, .elements = 10, .index_operations = 64}), Stored::no);
}

}  // namespace
}  // namespace kiln::compiler
