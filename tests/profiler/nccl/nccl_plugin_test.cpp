#include "profiler/nccl/nccl_plugin.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/profiler/nccl/fake_nccl.h"
#include "tests/profiler/nccl/nccl_plugin_fixture.h"
#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler::nccl {
namespace {

using trace::model::CollectiveFunction;

TEST_F(NcclPluginTest, GivesTheHostsCollectiveItsKernelAndWhatNcclChose) {
  attach();
  FakeNccl nccl(0xabc, 4, 1);
  const auto handle = run_.recorder().enter_collective(bucket_call(3));
  {
    const HostCollectiveScope scope(handle);
    nccl.run("AllReduce", 1024, "ncclFloat32");
  }
  ASSERT_EQ(FakeMarks::told.size(), 1u);
  run_.recorder().observe_collective(handle, 1, 10, 900);
  end_launch(FakeMarks::told[0], 100, 250);
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 1u);
  const trace::model::Collective& row = content.rows.collectives[0];
  EXPECT_EQ(row.tag_index, 3);
  EXPECT_EQ(row.bytes, 1 << 20) << "the host's, not NCCL's";
  EXPECT_EQ(row.start_ns, 100);
  EXPECT_EQ(row.end_ns, 250);
  EXPECT_EQ(row.lane, 9);
  EXPECT_EQ(content.text(row.algorithm), "RING");
  EXPECT_EQ(content.text(row.protocol), "LL128");
  EXPECT_EQ(row.channels, 16);
  EXPECT_TRUE(content.rows.process_groups.empty()) << "the host has announced its own";
}

TEST_F(NcclPluginTest, MarksTheLaunchAndOnlyTheLaunch) {
  attach();
  FakeNccl nccl(0xabc, 2, 0);
  void* launch = nccl.start_launch();
  ASSERT_NE(launch, nullptr);
  EXPECT_EQ(FakeMarks::depth, 1);
  nccl.stop(launch);
  EXPECT_EQ(FakeMarks::depth, 0);
  nccl.stop(launch);
  EXPECT_EQ(FakeMarks::depth, 0) << "stopped twice";
}

TEST_F(NcclPluginTest, EndsAMarkWhoseStopIsMissing) {
  attach();
  FakeNccl nccl(0xabc, 2, 0);
  nccl.start_launch();
  void* second = nccl.start_launch();
  EXPECT_EQ(FakeMarks::deepest, 1);
  nccl.stop(second);
  EXPECT_EQ(FakeMarks::depth, 0);
}

TEST_F(NcclPluginTest, MakesRowsOfAForeignCommunicator) {
  attach();
  FakeNccl nccl(0x1234, 4, 0, "tensor parallel");
  run_.recorder().begin_step(7);
  run_.recorder().begin_phase(trace::base::Phase::kForward);
  nccl.run("AllReduce", 1000, "ncclBfloat16");
  nccl.run("AllGather", 1000, "ncclFloat32");
  nccl.run("ReduceScatter", 1000, "ncclFloat32");
  run_.recorder().end_phase();
  run_.recorder().end_step({});
  ASSERT_EQ(FakeMarks::told.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto time = static_cast<std::int64_t>(100 * (i + 1));
    end_launch(FakeMarks::told[i], time, time + 50);
  }
  const auto content = finish();
  const auto& rows = content.rows.collectives;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].function, CollectiveFunction::kAllReduce);
  EXPECT_EQ(content.text(rows[0].data_type), "bfloat16");
  EXPECT_EQ(rows[0].bytes, 2000);
  EXPECT_EQ(rows[1].bytes, 16'000) << "S is the total over ranks, the count a rank's part";
  EXPECT_EQ(rows[2].bytes, 16'000);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rows[i].sequence, static_cast<std::int64_t>(i)) << "counted over all functions";
    EXPECT_EQ(rows[i].step, 7);
    EXPECT_EQ(rows[i].phase, trace::base::Phase::kForward);
    EXPECT_EQ(rows[i].tag_kind, trace::model::TagKind::kNone);
    EXPECT_EQ(rows[i].process_group, nccl_group_id(0x1234));
  }
  ASSERT_EQ(content.rows.process_groups.size(), 1u) << "announced once";
  const trace::model::ProcessGroup& group = content.rows.process_groups[0];
  EXPECT_EQ(group.id, nccl_group_id(0x1234));
  EXPECT_EQ(content.text(group.name), "nccl0000000000001234 (tensor parallel)");
  EXPECT_EQ(content.text(group.backend), "nccl");
  EXPECT_EQ(group.ranks, (std::vector<int>{-1, -1, -1, 0})) << "itself and three others";
}

TEST_F(NcclPluginTest, CountsTheCollectivesOfEachCommunicatorApart) {
  attach(FakeMarks::marker(), 5);
  FakeNccl world(0x1, 8, 5);
  FakeNccl split(0x2, 4, 1);
  world.run("AllReduce", 1, "ncclFloat32");
  split.run("AllReduce", 1, "ncclFloat32");
  split.run("AllReduce", 1, "ncclFloat32");
  for (const std::uint64_t launch : FakeMarks::told) end_launch(launch, 10, 20);
  const auto content = finish();
  std::set<std::pair<int, std::int64_t>> seen;
  for (const trace::model::Collective& row : content.rows.collectives)
    seen.emplace(row.process_group, row.sequence);
  EXPECT_EQ(seen, (std::set<std::pair<int, std::int64_t>>{
                      {nccl_group_id(1), 0}, {nccl_group_id(2), 0}, {nccl_group_id(2), 1}}));
  ASSERT_EQ(content.rows.process_groups.size(), 2u);
  EXPECT_EQ(content.rows.process_groups[1].ranks, (std::vector<int>{-1, -1, -1, 5}))
      << "nobody says that its ranks are neighbours";
}

TEST_F(NcclPluginTest, KeepsTheHostsCollectiveWhenAnotherThreadLaunches) {
  attach();
  FakeNccl nccl(0xabc, 2, 0);
  const auto handle = run_.recorder().enter_collective(bucket_call(1));
  void* call = nullptr;
  {
    const HostCollectiveScope scope(handle);
    call = nccl.call("AllReduce", 8, "ncclFloat32");
  }
  std::uint64_t launch = 0;
  std::thread([&] {
    FakeMarks::reset();
    nccl.launch();
    nccl.carry_out(call);
    launch = FakeMarks::launches.at(0);
  }).join();
  end_launch(launch, 100, 200);
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 1u);
  EXPECT_EQ(content.rows.collectives[0].tag_index, 1);
  EXPECT_EQ(content.rows.collectives[0].start_ns, 100);
}

TEST_F(NcclPluginTest, ALaunchOfAnotherCommunicatorIsNotTaken) {
  attach();
  FakeNccl one(0x1, 2, 0);
  FakeNccl other(0x2, 2, 0);
  const std::int64_t before = recorder::Recorder::now_ns();
  void* call = one.call("AllReduce", 8, "ncclFloat32");
  other.launch();
  one.carry_out(call);  // as in a host function of CUDA: its own launch is not known
  const std::int64_t after = recorder::Recorder::now_ns();
  end_launch(FakeMarks::launches.at(0), 100, 200);
  run_.wait_until_written();
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 1u);
  EXPECT_GE(content.rows.collectives[0].start_ns, before) << "the host's times, not another's";
  EXPECT_LE(content.rows.collectives[0].end_ns, after);
  EXPECT_EQ(content.text(content.rows.lanes.back().name), "nccl, as called by the host");
  ASSERT_TRUE(content.rows.pending);
  EXPECT_TRUE(content.rows.pending->empty()) << "nothing else would ever end it";
}

TEST_F(NcclPluginTest, CountsCollectivesWithAWrongParent) {
  attach();
  FakeNccl nccl(0xabc, 2, 0);
  void* call = nccl.call("AllReduce", 8, "ncclFloat32");
  nccl.launch();
  nccl.carry_out(call);
  nccl.carry_out(call);
  nccl.carry_out(nullptr);
  nccl.carry_out(reinterpret_cast<void*>(0x7fff'1234'5671));
  EXPECT_EQ(finish().lost("NCCL collective of an unknown call"), 3);
}

TEST_F(NcclPluginTest, CountsCallsThatFindNoFreeSlot) {
  attach();
  FakeNccl nccl(0xabc, 2, 0);
  for (std::size_t i = 0; i < NcclCallPool::kSlots + 5; ++i)
    ASSERT_NE(nccl.call("AllReduce", 8, "ncclFloat32"), nullptr);
  const auto content = finish();
  EXPECT_EQ(content.lost("NCCL call without a free slot"), 5);
  ASSERT_TRUE(content.rows.pending);
  EXPECT_EQ(content.rows.pending->size(), NcclCallPool::kSlots) << "those without have ended";
}

TEST_F(NcclPluginTest, WithoutAFreeSlotTheHostsCollectiveIsStillKnownOnItsThread) {
  attach();
  FakeNccl nccl(0xabc, 2, 0);
  for (std::size_t i = 0; i < NcclCallPool::kSlots; ++i) nccl.call("AllReduce", 8, "ncclFloat32");
  run_.wait_until_written();
  const auto handle = run_.recorder().enter_collective(bucket_call(2));
  {
    const HostCollectiveScope scope(handle);
    nccl.run("AllReduce", 8, "ncclFloat32");
  }
  end_launch(FakeMarks::told.at(0), 100, 200);
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 1u);
  EXPECT_EQ(content.rows.collectives[0].tag_index, 2);
}

TEST_F(NcclPluginTest, WithoutGpuRecordsForeignCallsHaveTheHostsTimes) {
  attach(LaunchMarker{});
  FakeNccl nccl(0xabc, 2, 0);
  const std::int64_t before = recorder::Recorder::now_ns();
  nccl.run("Broadcast", 64, "ncclFloat32");
  const std::int64_t after = recorder::Recorder::now_ns();
  run_.wait_until_written();
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 1u);
  EXPECT_GE(content.rows.collectives[0].start_ns, before);
  EXPECT_LE(content.rows.collectives[0].end_ns, after);
  ASSERT_FALSE(content.rows.lanes.empty());
  EXPECT_EQ(content.text(content.rows.lanes.back().name), "nccl, as called by the host");
}

TEST_F(NcclPluginTest, SaysOnceThatCapturedCollectivesAreNotRecorded) {
  attach();
  FakeNccl nccl(0xabc, 2, 0);
  for (int i = 0; i < 2; ++i) {
    void* call = nccl.call("AllReduce", 8, "ncclFloat32", /*is_captured=*/true);
    for (int replay = 0; replay < 3; ++replay) nccl.carry_out(call);
  }
  const auto content = finish();
  EXPECT_TRUE(content.rows.collectives.empty());
  EXPECT_TRUE(content.rows.pending->empty());
  EXPECT_EQ(content.lost("NCCL collective of an unknown call"), 0);
  ASSERT_EQ(content.rows.log.size(), 1u);
  EXPECT_NE(content.rows.log[0].text.find("CUDA graph"), std::string::npos);
}

TEST_F(NcclPluginTest, TakesEventsOfManyThreadsAtOnce) {
  attach();
  constexpr int kThreads = 4, kCalls = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([this, t] {
      FakeMarks::reset();
      FakeNccl nccl(100 + static_cast<std::uint64_t>(t), 2, 0);
      for (int i = 0; i < kCalls; ++i) nccl.run("AllReduce", 8, "ncclFloat32");
      for (const auto launch : FakeMarks::launches)
        end_launch(launch, static_cast<std::int64_t>(launch) * 10,
                   static_cast<std::int64_t>(launch) * 10 + 5);
    });
  for (std::thread& thread : threads) thread.join();
  const auto content = finish();
  std::map<int, std::set<std::int64_t>> sequences;
  std::set<std::int64_t> starts;
  for (const trace::model::Collective& row : content.rows.collectives) {
    sequences[row.process_group].insert(row.sequence);
    EXPECT_TRUE(starts.insert(row.start_ns).second) << "each launch has one collective";
  }
  ASSERT_EQ(sequences.size(), static_cast<std::size_t>(kThreads));
  for (const auto& [group, numbers] : sequences)
    EXPECT_EQ(numbers.size(), static_cast<std::size_t>(kCalls));
}

TEST_F(NcclPluginTest, ChargesItsCallbacksToTheRecording) {
  static const auto spin = [] {
    const std::int64_t end = recorder::Recorder::now_ns() + 3'000;
    while (recorder::Recorder::now_ns() < end) {
    }
  };
  attach({[](std::uint64_t, std::uint64_t) { spin(); }, [] { spin(); }});
  FakeNccl nccl(0xabc, 2, 0);
  constexpr int kLaunches = 640;
  for (int i = 0; i < kLaunches; ++i) nccl.launch();
  const auto content = finish();
  ASSERT_TRUE(content.rows.cost);
  EXPECT_GT(content.rows.cost->callback_ns, kLaunches * 2'000);
}

TEST_F(NcclPluginTest, IgnoresEventsWhileNothingIsAttached) {
  const int before = NcclPlugin::communicators();
  FakeNccl nccl(0xabc, 2, 0);
  EXPECT_EQ(NcclPlugin::communicators(), before + 1);
  EXPECT_EQ(nccl.start_launch(), nullptr);
  attach();
  EXPECT_NE(nccl.start_launch(), nullptr) << "a communicator may be older than the recording";
  plugin_.reset();
  EXPECT_EQ(nccl.start_launch(), nullptr);
  EXPECT_NE(nccl.mask() & static_cast<int>(nccl::kKernelLaunch), 0);
}

TEST_F(NcclPluginTest, OnlyOneAtATime) {
  attach();
  const auto second = NcclPlugin::attach(run_.recorder(), 0, {});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("one NcclPlugin per process"), std::string::npos);
}

}  // namespace
}  // namespace shardlens::profiler::nccl
