// Collectives that CUDA graphs capture, in NCCL 2.28's order of events: enqueue.cc, group.cc and
// plugin/profiler.cc there.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "profiler/nccl/nccl_plugin.h"
#include "tests/profiler/nccl/fake_nccl.h"
#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler {
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
  void replay(std::uint64_t launch, std::int64_t number, std::int64_t start_ns = 1'000) {
    run_.recorder().end_replay({.launch = launch,
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
    for (const trace::Collective& row : content.rows.collectives) bytes.push_back(row.bytes);
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
  const trace::Collective& row = content.rows.collectives[1];
  EXPECT_EQ(row.process_group, nccl_group_id(0xabc, NcclGroup::kGraphs));
  EXPECT_NE(row.process_group, nccl_group_id(0xabc));
  EXPECT_EQ(row.function, trace::CollectiveFunction::kAllReduce);
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

TEST_F(GraphCaptureTest, ReplaysAreNumberedWhateverElseIsCalled) {
  // What two ranks do, but that one calls more in between.
  std::map<std::uint64_t, std::vector<std::pair<std::int64_t, std::int64_t>>> seen;
  for (const std::uint64_t hash : {1, 2}) {
    FakeNccl nccl(hash, 2, 0);
    std::vector<std::uint64_t> launches;
    for (const std::size_t count : {10, 20}) {
      if (hash == 2) nccl.run("AllReduce", 99, "ncclFloat32");
      void* call = capture(nccl, "AllReduce", count);
      nccl.launch();
      nccl.carry_out(call);
      launches.push_back(last_launch());
    }
    for (int i = 0; i < 2; ++i)
      for (const std::uint64_t launch : launches) replay(launch, i);
    replay(launches[0], -1);
  }
  for (const auto launch : FakeMarks::launches) run_.recorder().end_launch(launch, 9, 1, 2);
  for (const trace::Collective& row : finish().rows.collectives) {
    for (const std::uint64_t hash : {1, 2})
      if (row.process_group == nccl_group_id(hash, NcclGroup::kGraphs))
        seen[hash].emplace_back(row.sequence, row.bytes);
  }
  for (auto& [hash, rows] : seen) std::ranges::sort(rows);
  ASSERT_EQ(seen[1].size(), 5u);
  EXPECT_EQ(seen[1], seen[2]);
  EXPECT_EQ(seen[1][0], (std::pair<std::int64_t, std::int64_t>{-1, 40})) << "not sure: no number";
  for (std::size_t i = 2; i < 5; ++i) EXPECT_LT(seen[1][i - 1].first, seen[1][i].first);
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
}  // namespace shardlens::profiler
