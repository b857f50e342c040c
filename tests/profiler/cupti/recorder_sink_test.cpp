#include "profiler/cupti/recorder_sink.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include "profiler/cupti/activity_join.h"
#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler::cupti {
namespace {

constexpr std::string_view kNccl = "_Z23ncclDevKernel_AllReduceP11ncclDevComm";

TEST(RecorderSink, WritesKernelsCopiesLaunchesAndCollectives) {
  RecordedRun run;
  RecorderSink sink(run.recorder());
  ActivityJoin join(sink);
  queue::CollectiveCall call;
  call.tag_kind = trace::model::TagKind::kBucket;
  call.tag_index = 4;
  const auto handle = run.recorder().enter_collective(call);
  const std::int64_t now = recorder::Recorder::now_ns();
  join.add(KernelActivity{{0, 1, 7}, now, now + 100, 1, 0, "_Z4gemmPf"}, now);
  join.add(LaunchActivity{55, now - 50, now - 40, 1, "cuLaunchKernel"}, now);
  join.add(CopyActivity{{0, 1, 8}, now, now + 10, 2, 4096, "copy host to device"}, now);
  join.add(KernelActivity{{0, 1, 9}, now + 5, now + 95, 3, 0, kNccl}, now);
  run.recorder().launch_collective(handle, {.launch = 70});
  join.add(ExternalActivity{kLaunchCorrelation, 70, 3}, now);

  const auto content = run.finish();
  ASSERT_EQ(content.rows.collectives.size(), 1u);
  EXPECT_EQ(content.rows.collectives[0].tag_index, 4);
  EXPECT_EQ(content.rows.collectives[0].end_ns, now + 95);
  int kernels = 0;
  for (const auto& events : content.rows.events)
    for (const trace::model::Event& event : events.events) {
      if (events.kind == trace::model::EventKind::kCopy) {
        EXPECT_EQ(event.value, 4096);
      }
      if (events.kind == trace::model::EventKind::kLaunch) {
        EXPECT_EQ(event.correlation, 1u);
      }
      if (events.kind != trace::model::EventKind::kKernel) continue;
      ++kernels;
      const bool is_gemm = content.text(event.name) == "gemm(float*)";
      EXPECT_EQ((event.flags & trace::model::kEventCompute) != 0, is_gemm);
    }
  EXPECT_EQ(kernels, 2);
  EXPECT_EQ(content.rows.events.size(), 4u) << "a lane each";
}

// So that the kernels of an operator are found by what its thread launched meanwhile.
TEST(RecorderSink, PutsLaunchesBesideTheOperatorsOfTheirThread) {
  RecordedRun run;
  RecorderSink sink(run.recorder());
  const int lane = run.recorder().add_lane(trace::model::LaneKind::kOperators, "main thread");
  run.recorder().set_lane_of_this_thread(lane);
  const std::int64_t now = recorder::Recorder::now_ns();
  const auto own = static_cast<std::uint32_t>(pthread_self());
  sink.launch({own, now, now + 10, 1, "cuLaunchKernel"});
  sink.launch({own + 1, now, now + 10, 2, "cuLaunchKernel"});
  const auto content = run.finish();
  ASSERT_EQ(content.rows.events.size(), 2u);
  for (const auto& events : content.rows.events) {
    const bool is_own = events.events[0].correlation == 1;
    EXPECT_EQ(events.lane == lane, is_own);
  }
}

TEST(RecorderSink, LeavesOutWhatBeganOutsideTheScheduleAlthoughItComesLate) {
  recorder::RecorderOptions options;
  options.schedule = {.first = 1, .last = 2, .every = 1};
  RecordedRun run(std::move(options));
  recorder::Recorder& recorder = run.recorder();
  std::vector<std::int64_t> inside;
  const std::int64_t before = recorder::Recorder::now_ns();
  for (int step = 0; step < 4; ++step) {
    recorder.begin_step(step);
    inside.push_back(recorder::Recorder::now_ns());
    recorder.end_step({});
  }
  const std::int64_t after = recorder::Recorder::now_ns();
  RecorderSink sink(recorder);
  std::vector<std::int64_t> starts = inside;
  starts.insert(starts.end(), {before, after});
  for (const std::int64_t start : starts) {
    sink.kernel({{0, 1, 7}, start, start + 10, 1, 0, "gemm"});
    sink.copy({{0, 1, 7}, start, start + 10, 2, 8, "set memory"});
    sink.launch({5, start, start + 10, 1, "cuLaunchKernel"});
  }
  const auto content = run.finish();
  ASSERT_EQ(content.rows.events.size(), 3u) << "kernels, copies and launches";
  for (const auto& events : content.rows.events) {
    ASSERT_EQ(events.events.size(), 2u);
    EXPECT_EQ(events.events[0].start_ns, inside[1]);
    EXPECT_EQ(events.events[1].start_ns, inside[2]);
  }
}

}  // namespace
}  // namespace shardlens::profiler::cupti
