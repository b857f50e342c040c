// Collectives that CUDA graphs capture, in NCCL 2.28's order of events: enqueue.cc, group.cc and
// plugin/profiler.cc there.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "profiler/nccl/nccl_plugin.h"
#include "tests/profiler/nccl/fake_nccl.h"
#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler::nccl {
namespace {

class GraphCaptureTest : public testing::Test {
 protected:
  GraphCaptureTest() {
    FakeMarks::reset();
    LaunchMarker marker = FakeMarks::marker();
    marker.sees_replays = true;
    auto attached = NcclPlugin::attach(run_.recorder(), 0, marker);
    EXPECT_TRUE(attached);
    if (attached) plugin_ = std::move(*attached);
  }
  static void* capture(FakeNccl& nccl, const char* function, std::size_t count) {
    return nccl.call(function, count, "ncclFloat32", /*is_captured=*/true);
  }
  static std::uint64_t last_launch() { return FakeMarks::launches.back(); }
  void replay(std::uint64_t launch, std::int64_t number, std::int64_t start_ns = 1'000,
              std::int64_t place = 0) {
    run_.recorder().end_replay({.launch = launch,
                                .place = place,
                                .number = number,
                                .called_ns = start_ns - 100,
                                .lane = 9,
                                .start_ns = start_ns,
                                .end_ns = start_ns + 50});
  }
  RecordedRun::Content finish() {
    plugin_.reset();
    auto content = run_.finish();
    EXPECT_TRUE(content.rows.pending->empty());
    EXPECT_TRUE(content.rows.lost.empty());
    return content;
  }
  static std::vector<std::int64_t> bytes_of(const RecordedRun::Content& content) {
    std::vector<std::int64_t> bytes;
    for (const trace::model::Collective& row : content.rows.collectives) bytes.push_back(row.bytes);
    return bytes;
  }

  RecordedRun run_;
  std::unique_ptr<NcclPlugin> plugin_;
};

// On one machine NCCL tells what a launch carries when it is captured, and nothing ever after.
TEST_F(GraphCaptureTest, EveryReplayIsARowOfWhatWasAskedFor) {
  FakeNccl nccl(0xabc, 4, 1, "data parallel");
  void* call = capture(nccl, "AllReduce", 1024);
  nccl.launch();
  nccl.carry_out(call, "TREE", "LL", 8);
  for (int i = 0; i < 3; ++i) replay(last_launch(), i, 1'000 * (i + 1));
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 3u);
  const trace::model::Collective& row = content.rows.collectives[1];
  EXPECT_EQ(row.process_group, nccl_group_id(0xabc, NcclGroup::kGraphs));
  EXPECT_NE(row.process_group, nccl_group_id(0xabc));
  EXPECT_EQ(row.function, trace::model::CollectiveFunction::kAllReduce);
  EXPECT_EQ(row.bytes, 4096);
  EXPECT_EQ(content.text(row.data_type), "float32");
  EXPECT_EQ(content.text(row.algorithm), "TREE");
  EXPECT_EQ(content.text(row.protocol), "LL");
  EXPECT_EQ(row.channels, 8);
  EXPECT_EQ(row.lane, 9);
  EXPECT_EQ(row.enqueued_ns, 1'900);
  EXPECT_EQ(row.start_ns, 2'000);
  EXPECT_EQ(row.end_ns, 2'050);
  ASSERT_EQ(content.rows.process_groups.size(), 1u);
  EXPECT_NE(content.text(content.rows.process_groups[0].name).find("CUDA graphs"),
            std::string::npos);
  ASSERT_EQ(content.rows.log.size(), 1u);
}

// From 2.29.2 on NCCL tells of no launch for a broadcast, as of a model's buffers.
TEST_F(GraphCaptureTest, ABroadcastWithoutALaunchIsNoneOfTheNextOne) {
  FakeNccl nccl(0xabc, 4, 1);
  nccl.run_untold("Broadcast", 1024, "ncclFloat32", /*is_captured=*/true);
  void* group = nccl.start(FakeNccl::of_type(nccl::kGroupCall));
  void* call = capture(nccl, "AllReduce", 512);
  nccl.launch();
  nccl.carry_out(call);
  nccl.stop(group);
  replay(last_launch(), 0);
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 1u);
  EXPECT_EQ(content.rows.collectives[0].function, trace::model::CollectiveFunction::kAllReduce);
  EXPECT_EQ(content.rows.collectives[0].sequence, 0);
}

TEST_F(GraphCaptureTest, LaunchesAreInTheOrderOfTheirCommunicatorWhereAllRanksMakeThem) {
  FakeNccl nccl(0xabc, 2, 0);
  capture(nccl, "AllReduce", 10);
  nccl.launch();
  nccl.call_point_to_point("Send", 8, "ncclFloat32", /*is_captured=*/true);
  nccl.launch();
  capture(nccl, "AllReduce", 10);
  nccl.call_point_to_point("Send", 8, "ncclFloat32", /*is_captured=*/true);
  nccl.launch();
  EXPECT_EQ(FakeMarks::orders,
            (std::vector<std::uint64_t>{0xabc, LaunchMarker::kNoOrder, LaunchMarker::kUnsure}));
}

// A rank may call more in between, or capture what it never replays.
TEST_F(GraphCaptureTest, TheNumberDependsOnTheReplayAndTheGroupAlone) {
  std::vector<std::int64_t> sequences;
  FakeNccl nccl(0xabc, 2, 0);
  for (int calls_before = 0; calls_before < 2; ++calls_before) {
    if (calls_before > 0) nccl.run("AllReduce", 99, "ncclFloat32");
    if (calls_before > 0) capture(nccl, "AllReduce", 5);
    if (calls_before > 0) nccl.launch();
    void* first = capture(nccl, "AllReduce", 10);
    void* second = capture(nccl, "AllReduce", 20);
    nccl.launch();
    nccl.carry_out(second);
    nccl.carry_out(first);
    replay(last_launch(), 3, 1'000, /*place=*/7);
  }
  for (const auto launch : FakeMarks::launches) run_.recorder().end_launch(launch, 9, 1, 2);
  std::map<std::int64_t, std::multiset<std::int64_t>> bytes;
  for (const trace::model::Collective& row : finish().rows.collectives)
    if (row.process_group == nccl_group_id(0xabc, NcclGroup::kGraphs))
      bytes[row.sequence].insert(row.bytes);
  ASSERT_EQ(bytes.size(), 2u);
  EXPECT_EQ(bytes.begin()->second, (std::multiset<std::int64_t>{40, 40}));
  EXPECT_EQ(bytes.rbegin()->second, (std::multiset<std::int64_t>{80, 80}));
}

TEST_F(GraphCaptureTest, AReplayThatIsNotSureHasNoNumber) {
  FakeNccl nccl(0xabc, 2, 0);
  capture(nccl, "AllReduce", 10);
  nccl.launch();
  replay(last_launch(), -1, 1'000, -1);
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 1u);
  EXPECT_EQ(content.rows.collectives[0].sequence, -1);
}

TEST_F(GraphCaptureTest, AGroupsCollectivesShareTheirKernel) {
  FakeNccl nccl(0xabc, 2, 0);
  void* first = capture(nccl, "AllReduce", 10);
  void* second = capture(nccl, "ReduceScatter", 20);
  nccl.launch();
  nccl.carry_out(first);
  nccl.carry_out(second);
  replay(last_launch(), 0);
  const auto content = finish();
  EXPECT_EQ(bytes_of(content), (std::vector<std::int64_t>{40, 160}));
  EXPECT_NE(content.rows.collectives[0].sequence, content.rows.collectives[1].sequence);
}

TEST_F(GraphCaptureTest, AGroupOfTwoKernelsGivesEachItsOwn) {
  FakeNccl nccl(0xabc, 2, 0);
  void* first = capture(nccl, "AllReduce", 10);
  void* second = capture(nccl, "AllReduce", 20);
  nccl.launch();
  nccl.carry_out(second);  // NCCL sorts by size
  nccl.launch();
  nccl.carry_out(first);
  replay(FakeMarks::launches[0], 0);
  EXPECT_EQ(bytes_of(finish()), std::vector<std::int64_t>{80});
}

// Across machines a host function in the graph tells it, on a thread of CUDA's, before each kernel.
TEST_F(GraphCaptureTest, WhatIsToldWithTheReplaysCompletesTheRows) {
  FakeNccl nccl(0xabc, 2, 0);
  void* call = capture(nccl, "AllReduce", 1024);
  nccl.launch();
  const std::uint64_t launch = last_launch();
  std::thread([&] {
    for (int i = 0; i < 3; ++i) {
      nccl.stop(nccl.start(FakeNccl::of_type(nccl::kGroup)));
      nccl.carry_out(call, "RING", "SIMPLE", 4);
    }
  }).join();
  for (int i = 0; i < 3; ++i) replay(launch, i);
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 3u);
  EXPECT_EQ(content.text(content.rows.collectives[2].protocol), "SIMPLE");
  EXPECT_EQ(content.rows.collectives[2].channels, 4);
}

TEST_F(GraphCaptureTest, TwoKernelsOfWhichNothingIsToldAtOnceStayKernels) {
  FakeNccl nccl(0xabc, 2, 0);
  void* first = capture(nccl, "AllReduce", 10);
  void* second = capture(nccl, "AllReduce", 20);
  nccl.launch();
  nccl.launch();
  std::thread([&] {
    nccl.carry_out(first);
    nccl.carry_out(second);
  }).join();
  for (const std::uint64_t launch : FakeMarks::launches) replay(launch, 0);
  EXPECT_TRUE(finish().rows.collectives.empty()) << "which is which is not known";
}

TEST_F(GraphCaptureTest, SendsAndReceivesHaveNoNumber) {
  FakeNccl nccl(0xabc, 2, 0);
  void* call = nccl.call_point_to_point("Send", 8, "ncclFloat32", /*is_captured=*/true);
  nccl.launch();
  nccl.carry_out_point_to_point(call);
  replay(last_launch(), 0);
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 1u);
  EXPECT_EQ(content.rows.collectives[0].sequence, -1);
}

TEST_F(GraphCaptureTest, ALaunchThatFollowsACallOfTheHostIsTheHosts) {
  FakeNccl nccl(0xabc, 2, 0);
  void* call = capture(nccl, "AllReduce", 10);
  nccl.launch();
  nccl.carry_out(call);
  nccl.run("AllReduce", 20, "ncclFloat32");
  run_.recorder().end_launch(last_launch(), 9, 100, 200);
  EXPECT_EQ(bytes_of(finish()), std::vector<std::int64_t>{80});
}

}  // namespace
}  // namespace shardlens::profiler::nccl
