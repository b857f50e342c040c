#include "profiler/cupti/graphs/graph_watch.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/profiler/cupti/fake_cupti.h"

namespace shardlens::profiler::cupti {
namespace {

class GraphWatchTest : public testing::Test {
 protected:
  ~GraphWatchTest() override { GraphWatch::mark_launch({}); }

  void capture(std::uint64_t node, std::uint64_t launch,
               CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL) {
    GraphWatch::mark_launch({launch, 5});
    cupti_.call_back_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, node, 0, type);
    GraphWatch::mark_launch({});
  }
  void clone(std::uint64_t node, std::uint64_t original) {
    cupti_.call_back_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, node);
    cupti_.call_back_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, node, original);
  }

  FakeCupti cupti_;
  CuptiApi api_ = FakeCupti::api();
  GraphWatch watch_{api_};
};

TEST_F(GraphWatchTest, FindsTheMarkedKernelsOfExecutableGraphs) {
  EXPECT_EQ(watch_.start(), "");
  capture(0x10, 11);
  capture(0x20, 0);
  capture(0x30, 33, CU_GRAPH_NODE_TYPE_MEMSET);
  for (const std::uint64_t node : {0x10, 0x20, 0x30}) clone(0x1000 + node, node);
  EXPECT_EQ(watch_.nodes().launch_of(0x1010).launch, 11u);
  EXPECT_EQ(watch_.nodes().launch_of(0x1010).order, 5u);
  EXPECT_EQ(watch_.nodes().launch_of(0x1020).launch, 0u);
  EXPECT_EQ(watch_.nodes().launch_of(0x1030).launch, 0u) << "no kernel";
}

// Nobody says in which order a new node is told to be created and to be a clone.
TEST_F(GraphWatchTest, TakesACloneThatIsSaidToBeCreatedAfterwards) {
  EXPECT_EQ(watch_.start(), "");
  capture(0x10, 11);
  cupti_.call_back_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, 0x1010, 0x10);
  cupti_.call_back_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 0x1010);
  EXPECT_EQ(watch_.nodes().launch_of(0x1010).launch, 11u);
}

TEST_F(GraphWatchTest, TheMarkIsTheCapturingThreadsOwn) {
  EXPECT_EQ(watch_.start(), "");
  GraphWatch::mark_launch({11, 5});
  std::thread([&] { cupti_.call_back_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 0x10); }).join();
  EXPECT_EQ(watch_.nodes().launch_of(0x10).launch, 0u);
}

TEST_F(GraphWatchTest, ForgetsWhatAProgramChangesAfterwards) {
  EXPECT_EQ(watch_.start(), "");
  const std::pair<CUpti_CallbackDomain, CUpti_CallbackId> changes[] = {
      {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecUpdate_v10020},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2},
  };
  for (const auto& [domain, call] : changes) {
    capture(0x10, 11);
    clone(0x1010, 0x10);
    ASSERT_EQ(watch_.nodes().launch_of(0x1010).launch, 11u);
    cupti_.call_back(domain, call);
    EXPECT_EQ(watch_.nodes().launch_of(0x1010).launch, 0u) << call;
  }
}

TEST_F(GraphWatchTest, AnOlderCuptiNeedNotKnowAllChanges) {
  cupti_.refuse_callback.insert(
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams});
  EXPECT_EQ(watch_.start(), "");
  EXPECT_TRUE(cupti_.has_subscriber);
}

TEST_F(GraphWatchTest, SaysWhyThereIsNone) {
  cupti_.refuse_subscriber = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  EXPECT_NE(watch_.start().find("CUPTI_ERROR_OF_THE_TEST"), std::string::npos);
}

TEST_F(GraphWatchTest, LeavesNothingBehindWhereNodesAreNotTold) {
  cupti_.refuse_callback.insert({CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED});
  EXPECT_NE(watch_.start(), "");
  EXPECT_FALSE(cupti_.has_subscriber);
}

TEST_F(GraphWatchTest, DoesWithoutWhereCuptiHasNoCallbacks) {
  api_.get_graph_node_id = nullptr;
  EXPECT_NE(watch_.start(), "");
  EXPECT_FALSE(cupti_.has_subscriber);
}

}  // namespace
}  // namespace shardlens::profiler::cupti
