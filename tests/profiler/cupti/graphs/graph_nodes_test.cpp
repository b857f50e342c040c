#include "profiler/cupti/graphs/graph_nodes.h"

#include <gtest/gtest.h>

namespace shardlens::profiler::cupti {
namespace {

TEST(GraphNodes, AClonedGraphHasTheLaunchesOfItsOriginal) {
  GraphNodes nodes;
  nodes.created(1, {11, 0});
  nodes.cloned(101, 1);
  nodes.cloned(201, 1);
  nodes.cloned(301, 101);  // a graph within another
  nodes.cloned(102, 2);
  EXPECT_EQ(nodes.launch_of(101).launch, 11u);
  EXPECT_EQ(nodes.launch_of(201).launch, 11u) << "instantiated twice";
  EXPECT_EQ(nodes.launch_of(301).launch, 11u);
  EXPECT_EQ(nodes.launch_of(102).launch, 0u) << "of no marked launch";
  EXPECT_EQ(nodes.launch_of(999).launch, 0u);
}

TEST(GraphNodes, AnIdThatComesAgainIsTheNewNodes) {
  GraphNodes nodes;
  nodes.created(1, {11, 0});
  nodes.cloned(101, 1);
  nodes.cloned(101, 2);
  EXPECT_EQ(nodes.launch_of(101).launch, 0u);
  nodes.created(1, {22, 0});
  nodes.cloned(101, 1);
  EXPECT_EQ(nodes.launch_of(101).launch, 22u);
}

TEST(GraphNodes, AChangeLeavesNothingThatIsSure) {
  GraphNodes nodes;
  EXPECT_FALSE(nodes.take_forgotten().by_change);
  nodes.forget_all();
  EXPECT_FALSE(nodes.take_forgotten().by_change) << "there was none";
  nodes.created(1, {11, 0});
  nodes.cloned(101, 1);
  nodes.forget_all();
  nodes.cloned(201, 1);
  EXPECT_EQ(nodes.launch_of(101).launch, 0u);
  EXPECT_EQ(nodes.launch_of(201).launch, 0u) << "the original may have been what was changed";
  EXPECT_TRUE(nodes.take_forgotten().by_change);
  EXPECT_FALSE(nodes.take_forgotten().by_change) << "told once";
}

TEST(GraphNodes, OfVeryManyTheOldestAreForgotten) {
  GraphNodes nodes;
  for (std::uint64_t node = 1; node <= GraphNodes::kMostNodes + 10; ++node)
    nodes.created(node, {node, 0});
  EXPECT_TRUE(nodes.take_forgotten().by_number);
  EXPECT_EQ(nodes.launch_of(10).launch, 0u);
  EXPECT_EQ(nodes.launch_of(11).launch, 11u);
  EXPECT_EQ(nodes.launch_of(GraphNodes::kMostNodes + 10).launch, GraphNodes::kMostNodes + 10);
}

}  // namespace
}  // namespace shardlens::profiler::cupti
