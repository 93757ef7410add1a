// Values by node, as an array over all ids and, for few nodes of a large graph, by search.
#include "compiler/ir/node_table.h"

#include <gtest/gtest.h>

namespace kiln::compiler {
namespace {

void expect_own_values(std::span<const Id> nodes) {
  NodeTable table(nodes, 7);
  for (const Id id : nodes) EXPECT_EQ(table[id], 7) << id;
  for (std::size_t i = 0; i < nodes.size(); ++i) table[nodes[i]] = static_cast<int>(i);
  for (std::size_t i = 0; i < nodes.size(); ++i) EXPECT_EQ(table[nodes[i]], static_cast<int>(i)) << nodes[i];
}

TEST(NodeTable, EachNodeHasAValueOfItsOwn) {
  expect_own_values({});
  expect_own_values(std::vector<Id>{0});
  expect_own_values(std::vector<Id>{5, 6, 7, 9});  // an array: 10 ids for 4 nodes
  expect_own_values(std::vector<Id>{15});          // 16 ids for one node, still an array
  expect_own_values(std::vector<Id>{16});          // by search from here on
  expect_own_values(std::vector<Id>{3, 1000, 1001, 1'000'000, 2'000'000'000});
}

TEST(NodeTable, OfAWholeGraph) {
  NodeTable<Id> table(3, no_id);
  table[1] = 4;
  EXPECT_EQ(table[0], no_id);
  EXPECT_EQ(table[1], 4U);
  EXPECT_EQ(table[2], no_id);
}

}  // namespace
}  // namespace kiln::compiler
