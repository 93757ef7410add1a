#include <gtest/gtest.h>

#include "compiler/rangeify/staging.h"

namespace kiln::compiler {
namespace {

TEST(Staging, AValueReadOnceIsFused) {
  EXPECT_FALSE(StagingModel::needs_storage({1e9, false}, {1, 100, 100}));
  EXPECT_FALSE(StagingModel::needs_storage({1e9, true}, {1, 100, 100}));
}

TEST(Staging, AReductionIsNotRepeated) {
  EXPECT_TRUE(StagingModel::needs_storage({3, true}, {2, 200, 100}));
  EXPECT_FALSE(StagingModel::needs_storage({3, true}, {1, 100, 100}));  // broadcast along the inner loop, so hoisted out of it
}

TEST(Staging, ElementwiseRepeatsWhileItIsCheap) {
  EXPECT_FALSE(StagingModel::needs_storage({9, false}, {25, 2500, 100}));
  EXPECT_FALSE(StagingModel::needs_storage({21, false}, {2, 200, 100}));
  EXPECT_TRUE(StagingModel::needs_storage({21, false}, {5, 500, 100}));
  EXPECT_FALSE(StagingModel::needs_storage({500, false}, {1, 100, 100}));  // the other loops stay outside
}

TEST(Staging, BytesAndTheKernelItselfCost) {
  EXPECT_TRUE(StagingModel::needs_storage({21, false}, {2, 2000, 1000, 1}));
  EXPECT_FALSE(StagingModel::needs_storage({21, false}, {2, 2000, 1000, 8}));
  EXPECT_FALSE(StagingModel::needs_storage({21, false}, {2, 20, 10, 1}));
}

TEST(Staging, WrittenOutCodeIsBounded) { EXPECT_TRUE(StagingModel::needs_storage({20, false}, {30, 30, 3000})); }

}  // namespace
}  // namespace kiln::compiler
