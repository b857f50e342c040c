// Which kernel each call of a group has, whenever NCCL tells of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <thread>

#include "tests/profiler/nccl/fake_nccl.h"
#include "tests/profiler/nccl/nccl_plugin_fixture.h"
#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler::nccl {
namespace {

using trace::model::CollectiveFunction;

// Of one collective of each function, of which none was lost.
void expect_ends(const RecordedRun::Content& content, std::int64_t all_reduce_ns,
                 std::int64_t all_gather_ns) {
  std::map<CollectiveFunction, std::int64_t> ends;
  for (const trace::model::Collective& row : content.rows.collectives)
    ends[row.function] = row.end_ns;
  EXPECT_EQ(ends, (std::map<CollectiveFunction, std::int64_t>{
                      {CollectiveFunction::kAllReduce, all_reduce_ns},
                      {CollectiveFunction::kAllGather, all_gather_ns}}));
  EXPECT_TRUE(content.rows.lost.empty());
}

TEST_F(NcclPluginTest, GivesAllOfAGroupTheTimesOfTheirCommonKernel) {
  attach();
  FakeNccl nccl(0xabc, 2, 0);
  void* group = nccl.start(FakeNccl::of_type(nccl::kGroupCall));
  void* reduce = nccl.call("AllReduce", 8, "ncclFloat32");
  void* send = nccl.call_point_to_point("Send", 16, "ncclInt64");
  void* receive = nccl.call_point_to_point("Recv", 16, "ncclInt64");
  nccl.launch();
  nccl.carry_out(reduce);
  nccl.carry_out_point_to_point(send);
  nccl.carry_out_point_to_point(receive);
  nccl.stop(group);
  ASSERT_EQ(FakeMarks::told.size(), 1u);
  end_launch(FakeMarks::told[0], 100, 300);
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 3u);
  for (const trace::model::Collective& row : content.rows.collectives) {
    EXPECT_EQ(row.start_ns, 100);
    EXPECT_EQ(row.end_ns, 300);
  }
  EXPECT_EQ(content.rows.collectives[1].function, CollectiveFunction::kSend);
  EXPECT_EQ(content.rows.collectives[1].bytes, 128);
  EXPECT_EQ(content.rows.collectives[1].sequence, -1) << "nothing to match on other ranks";
  EXPECT_EQ(content.rows.collectives[2].function, CollectiveFunction::kReceive);
}

TEST_F(NcclPluginTest, AGroupOfSeveralKernelsGivesEachCollectiveItsOwn) {
  attach();
  FakeNccl nccl(0xabc, 2, 0);
  void* first = nccl.call("AllReduce", 8, "ncclFloat32");
  void* second = nccl.call("AllReduce", 8, "ncclFloat32");
  nccl.launch();
  nccl.carry_out(first);
  nccl.launch();
  nccl.carry_out(second);
  ASSERT_EQ(FakeMarks::launches.size(), 2u);
  end_launch(FakeMarks::launches[0], 100, 200);
  end_launch(FakeMarks::launches[1], 200, 300);
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 2u);
  EXPECT_EQ(content.rows.collectives[0].end_ns, 200);
  EXPECT_EQ(content.rows.collectives[1].end_ns, 300);
}

TEST_F(NcclPluginTest, ABroadcastOfWhichNcclTellsNoKernelHasThatWhichItsGroupLaunched) {
  attach();
  FakeNccl nccl(0xabc, 2, 0);
  const auto handle = run_.recorder().enter_collective(bucket_call(3));
  {
    const HostCollectiveScope scope(handle);
    nccl.run_untold("Broadcast", 64, "ncclFloat32");
  }
  nccl.run_untold("Broadcast", 64, "ncclFloat32");
  EXPECT_EQ(FakeMarks::depth, 0);
  ASSERT_EQ(FakeMarks::launches.size(), 2u);
  end_launch(FakeMarks::launches[0], 100, 200);
  end_launch(FakeMarks::launches[1], 300, 400);
  auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 2u);
  std::ranges::sort(content.rows.collectives, {}, &trace::model::Collective::start_ns);
  const trace::model::Collective& of_host = content.rows.collectives[0];
  EXPECT_EQ(of_host.tag_index, 3);
  EXPECT_EQ(of_host.start_ns, 100);
  EXPECT_EQ(of_host.end_ns, 200);
  const trace::model::Collective& foreign = content.rows.collectives[1];
  EXPECT_EQ(foreign.function, CollectiveFunction::kBroadcast);
  EXPECT_EQ(foreign.start_ns, 300);
  EXPECT_EQ(foreign.end_ns, 400);
  EXPECT_TRUE(content.rows.lost.empty());
}

TEST_F(NcclPluginTest, BroadcastsWithoutAKernelHaveTheHostsTimes) {
  attach(LaunchMarker{});
  FakeNccl nccl(0xabc, 2, 0);
  const std::int64_t before = recorder::Recorder::now_ns();
  void* group = nccl.start(FakeNccl::of_type(nccl::kGroupCall));
  for (int i = 0; i < 3; ++i) nccl.call("Broadcast", 64, "ncclFloat32");
  nccl.stop(group);
  const std::int64_t after = recorder::Recorder::now_ns();
  run_.wait_until_written();
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 3u);
  for (const trace::model::Collective& row : content.rows.collectives) {
    EXPECT_GE(row.start_ns, before);
    EXPECT_LE(row.end_ns, after);
  }
}

TEST_F(NcclPluginTest, EachCallOnSymmetricWindowsHasTheKernelThatItsGroupLaunched) {
  attach();
  FakeNccl nccl(0xabc, 2, 0);
  // As many as would fill the pool, were they kept.
  constexpr std::size_t kCalls = NcclCallPool::kSlots + 8;
  for (std::size_t i = 0; i < kCalls; ++i) {
    nccl.run_untold("AllReduce", 64, "ncclFloat32");
    if (i % 512 == 0) run_.wait_until_written();  // the queue is no larger
  }
  EXPECT_EQ(FakeMarks::depth, 0);
  ASSERT_EQ(FakeMarks::launches.size(), kCalls);
  for (std::size_t i = 0; i < kCalls; ++i) {
    end_launch(FakeMarks::launches[i], 100, 200);
    if (i % 512 == 0) run_.wait_until_written();
  }
  const auto content = finish();
  EXPECT_EQ(content.rows.collectives.size(), kCalls);
  for (const trace::model::Collective& row : content.rows.collectives) {
    ASSERT_EQ(row.start_ns, 100);
    ASSERT_EQ(row.end_ns, 200);
  }
  EXPECT_TRUE(content.rows.pending->empty());
  EXPECT_TRUE(content.rows.lost.empty());
}

TEST_F(NcclPluginTest, InAGroupEachCallHasTheLaunchThatNcclToldElseThatOfTheGroup) {
  attach();
  FakeNccl nccl(0xabc, 2, 0);
  void* group = nccl.start(FakeNccl::of_type(nccl::kGroupCall));
  nccl.call("AllGather", 64, "ncclFloat32");
  void* told = nccl.call("AllReduce", 64, "ncclFloat32");
  nccl.call("Broadcast", 64, "ncclFloat32");
  nccl.launch();
  nccl.carry_out(told);
  nccl.stop(group);
  EXPECT_EQ(FakeMarks::depth, 0);
  ASSERT_EQ(FakeMarks::launches.size(), 2u) << "one for the group, and NCCL's inside";
  end_launch(FakeMarks::launches[0], 100, 200);
  end_launch(FakeMarks::told.at(0), 300, 400);
  const auto content = finish();
  std::map<CollectiveFunction, std::int64_t> ends;
  for (const trace::model::Collective& row : content.rows.collectives)
    ends[row.function] = row.end_ns;
  EXPECT_EQ(ends,
            (std::map<CollectiveFunction, std::int64_t>{{CollectiveFunction::kAllGather, 200},
                                                        {CollectiveFunction::kAllReduce, 400},
                                                        {CollectiveFunction::kBroadcast, 200}}));
  EXPECT_TRUE(content.rows.lost.empty());
}

// NCCL ends the group of a communicator that does not block while its own thread has yet to launch.
TEST_F(NcclPluginTest, OfACommunicatorThatDoesNotBlockLaunchesAreToldAfterTheGroup) {
  attach();
  FakeNccl nccl(0xabc, 2, 0);
  std::uint64_t launch = 0;
  for (int i = 0; i < 2; ++i) {
    void* call = nccl.run_untold("Broadcast", 64, "ncclFloat32");
    std::thread([&] {
      FakeMarks::reset();
      nccl.launch();
      nccl.carry_out(call);
      launch = FakeMarks::told.at(0);
    }).join();
  }
  nccl.run_untold("Broadcast", 64, "ncclFloat32");  // from 2.29.2 on
  nccl.run_untold("AllReduce", 64, "ncclFloat32");
  end_launch(launch, 100, 200);
  auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 3u);
  std::ranges::sort(content.rows.collectives, {}, &trace::model::Collective::sequence);
  const trace::model::Collective& told = content.rows.collectives[1];
  EXPECT_EQ(told.start_ns, 100);
  EXPECT_EQ(told.end_ns, 200);
  EXPECT_EQ(content.text(told.algorithm), "RING");
  const trace::model::Collective& untold = content.rows.collectives[2];
  EXPECT_EQ(untold.end_ns, untold.start_ns) << "known once the next is asked for";
  ASSERT_EQ(content.rows.pending->size(), 1u);
  EXPECT_EQ(content.rows.pending->front().function, CollectiveFunction::kAllReduce);
  EXPECT_EQ(content.lost("NCCL collective of an unknown call"), 1) << "the first";
}

// NCCL uses one where it must wait: across machines once a graph has captured calls of the
// communicator, and with CUDA_LAUNCH_BLOCKING.
TEST_F(NcclPluginTest, WhatAHostFunctionTellsHasTheKernelThatItsGroupLaunched) {
  attach();
  FakeNccl nccl(0xabc, 2, 0);
  enum class Told { kBeforeTheLaunch, kInTheGroup, kAfterTheGroup };
  for (const Told told : {Told::kBeforeTheLaunch, Told::kInTheGroup, Told::kAfterTheGroup}) {
    void* group = nccl.start(FakeNccl::of_type(nccl::kGroupCall));
    void* call = nccl.call("AllReduce", 64, "ncclFloat32");
    const auto tell_if = [&](Told now) {
      if (told == now) std::thread([&] { nccl.carry_out(call); }).join();
    };
    tell_if(Told::kBeforeTheLaunch);
    nccl.launch();
    tell_if(Told::kInTheGroup);
    nccl.stop(group);
    tell_if(Told::kAfterTheGroup);
  }
  ASSERT_EQ(FakeMarks::told.size(), 3u);
  for (const std::uint64_t launch : FakeMarks::told) end_launch(launch, 100, 200);
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 3u);
  for (const trace::model::Collective& row : content.rows.collectives) {
    EXPECT_EQ(row.start_ns, 100);
    EXPECT_EQ(row.end_ns, 200);
    EXPECT_EQ(content.text(row.algorithm), "RING");
    EXPECT_EQ(row.channels, 16);
  }
  EXPECT_TRUE(content.rows.lost.empty());
}

TEST_F(NcclPluginTest, OfSeveralKernelsAHostFunctionDoesNotSayWhichIsWhose) {
  attach();
  FakeNccl nccl(0xabc, 2, 0);
  void* group = nccl.start(FakeNccl::of_type(nccl::kGroupCall));
  void* first = nccl.call("AllReduce", 64, "ncclFloat32");
  void* second = nccl.call("AllReduce", 64, "ncclFloat32");
  nccl.launch();
  std::thread([&] { nccl.carry_out(first); }).join();
  nccl.launch();
  nccl.stop(group);
  std::thread([&] { nccl.carry_out(second); }).join();
  for (const std::uint64_t launch : FakeMarks::launches) end_launch(launch, 100, 200);
  run_.wait_until_written();
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 2u);
  for (const trace::model::Collective& row : content.rows.collectives) {
    EXPECT_EQ(row.end_ns, row.start_ns) << "as called by the host";
    EXPECT_EQ(content.text(row.algorithm), "RING");
  }
  EXPECT_TRUE(content.rows.pending->empty());
  EXPECT_TRUE(content.rows.lost.empty());
}

TEST_F(NcclPluginTest, AHostFunctionTellsOfOneCommunicatorWhileAnotherIsToldAtOnce) {
  attach();
  FakeNccl across_machines(0x1, 2, 0), within_one(0x2, 2, 0);
  void* group = across_machines.start(FakeNccl::of_type(nccl::kGroupCall));
  void* late = across_machines.call("AllReduce", 64, "ncclFloat32");
  void* at_once = within_one.call("AllGather", 64, "ncclFloat32");
  across_machines.launch();
  within_one.launch();
  within_one.carry_out(at_once);
  across_machines.stop(group);
  std::thread([&] { across_machines.carry_out(late); }).join();
  ASSERT_EQ(FakeMarks::told.size(), 2u);
  end_launch(FakeMarks::told[0], 100, 200);
  end_launch(FakeMarks::told[1], 300, 400);
  expect_ends(finish(), 200, 400);
}

TEST_F(NcclPluginTest, OfEachCommunicatorsKernelAHostFunctionTellsWhoseItIs) {
  attach();
  FakeNccl first(0x1, 2, 0), second(0x2, 2, 0);
  void* group = first.start(FakeNccl::of_type(nccl::kGroupCall));
  void* reduce = first.call("AllReduce", 64, "ncclFloat32");
  void* gather = second.call("AllGather", 64, "ncclFloat32");
  first.launch();
  second.launch();
  std::thread([&] { second.carry_out(gather); }).join();
  first.stop(group);
  std::thread([&] { first.carry_out(reduce); }).join();
  ASSERT_EQ(FakeMarks::told.size(), 2u);
  end_launch(FakeMarks::told[0], 100, 200);
  end_launch(FakeMarks::told[1], 300, 400);
  expect_ends(finish(), 200, 400);
}

TEST_F(NcclPluginTest, AGroupWhoseStopIsMissingEndsWithTheNext) {
  attach();
  FakeNccl nccl(0xabc, 2, 0);
  nccl.start(FakeNccl::of_type(nccl::kGroupCall));
  nccl.call("AllReduce", 64, "ncclFloat32");
  nccl.run("AllReduce", 64, "ncclFloat32");
  EXPECT_EQ(FakeMarks::depth, 0);
  ASSERT_EQ(FakeMarks::launches.size(), 3u);
  end_launch(FakeMarks::launches[0], 100, 200);
  end_launch(FakeMarks::told.at(0), 300, 400);
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 2u);
  EXPECT_EQ(content.rows.collectives[0].end_ns + content.rows.collectives[1].end_ns, 600);
}

}  // namespace
}  // namespace shardlens::profiler::nccl
