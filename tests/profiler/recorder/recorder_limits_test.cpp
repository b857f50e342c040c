// What the recorder leaves out: by its schedule, its size limit, a full queue or disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "profiler/recorder/recorder.h"
#include "tests/file_size_limit.h"
#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler {
namespace {

using trace::base::Phase;
using trace::model::EventKind;
using trace::model::LaneKind;

TEST(Recorder, FollowsTheScheduleForDetailAndAlwaysKeepsSteps) {
  recorder::RecorderOptions options;
  options.schedule = {.first = 2, .last = 3, .every = 1};
  RecordedRun run(std::move(options));
  recorder::Recorder& recorder = run.recorder();
  EXPECT_FALSE(recorder.recording_detail()) << "outside of steps only if every step is recorded";
  std::vector<bool> detail;
  for (int step = 0; step < 5; ++step) {
    recorder.begin_step(step);
    detail.push_back(recorder.recording_detail());
    const recorder::PhaseScope phase(recorder, Phase::kBackward);
    recorder.end_collective(recorder.enter_collective(bucket_call(step)),
                            recorder::Recorder::now_ns());
    recorder.end_step({});
  }
  EXPECT_EQ(detail, (std::vector<bool>{false, false, true, true, false}));
  const auto content = run.finish();
  ASSERT_EQ(content.rows.steps.size(), 5u);
  EXPECT_EQ(content.rows.spans.size(), 5u);
  ASSERT_EQ(content.rows.collectives.size(), 2u);
  EXPECT_EQ(content.rows.collectives[0].step, 2);
  EXPECT_FALSE(content.rows.steps[1].full_detail);
  EXPECT_TRUE(content.rows.steps[2].full_detail);
  EXPECT_EQ(recorder.lost(), 0) << "what the schedule leaves out is not lost";
}

TEST(Recorder, ShowsHowFarARankCameThatWaitsOutsideTheSchedule) {
  recorder::RecorderOptions options;
  options.schedule = {.first = 0, .last = 0, .every = 1};
  RecordedRun run(std::move(options));
  recorder::Recorder& recorder = run.recorder();
  for (int step = 0; step < 3; ++step) {
    recorder.begin_step(step);
    recorder.end_collective(recorder.enter_collective(bucket_call(step)),
                            recorder::Recorder::now_ns());
    recorder.end_step({});
  }
  recorder.begin_step(3);
  recorder.enter_collective(bucket_call(3));
  EXPECT_TRUE(RecordedRun::within_a_minute([&] {
    const auto pending = run.read().rows.pending;
    return pending && pending->size() == 2u;
  }));
  const auto rows = run.finish().rows;
  std::vector<std::int64_t> sequences;
  for (const auto& row : rows.collectives) sequences.push_back(row.sequence);
  EXPECT_EQ(sequences, (std::vector<std::int64_t>{0})) << "what has no detail is no collective";
  ASSERT_TRUE(rows.pending && rows.pending->size() == 2u);
  EXPECT_EQ(rows.pending->at(0).sequence, 3);
  EXPECT_EQ(rows.pending->at(0).end_ns, 0);
  EXPECT_EQ(rows.pending->at(1).sequence, 2);
  EXPECT_GT(rows.pending->at(1).end_ns, 0);
}

// An exception that ends the job ends the calls that waited, too.
TEST(Recorder, ShowsHowFarARankCameThatEndedOutsideTheSchedule) {
  recorder::RecorderOptions options;
  options.schedule = {.first = 0, .last = 0, .every = 1};
  RecordedRun run(std::move(options));
  recorder::Recorder& recorder = run.recorder();
  for (int step = 0; step < 2; ++step) {
    recorder.begin_step(step);
    recorder.end_collective(recorder.enter_collective(bucket_call(step)),
                            recorder::Recorder::now_ns());
    recorder.end_step({});
  }
  const auto rows = run.finish().rows;
  ASSERT_TRUE(rows.pending && rows.pending->size() == 1u);
  EXPECT_EQ(rows.pending->front().sequence, 1);
  EXPECT_GT(rows.pending->front().end_ns, 0);
}

TEST(Recorder, EndsDetailAtItsSizeLimitAndSaysSo) {
  recorder::RecorderOptions options;
  options.size_limit_bytes = 1;  // any file is larger
  RecordedRun run(std::move(options));
  recorder::Recorder& recorder = run.recorder();
  recorder.begin_step(0);
  recorder.end_step({});
  EXPECT_TRUE(RecordedRun::within_a_minute([&] { return !recorder.recording_detail(); }));
  recorder.begin_step(1);
  EXPECT_FALSE(recorder.wanted_detail_at(recorder::Recorder::now_ns()))
      << "what a GPU did ends as well";
  recorder.end_collective(recorder.enter_collective(bucket_call(0)), recorder::Recorder::now_ns());
  recorder.launch_captured(recorder.capture_collective(bucket_call(0)), {.launch = 7});
  recorder.end_replay({.launch = 7});
  recorder.end_step({});
  const auto content = run.finish();
  EXPECT_EQ(content.rows.steps.size(), 2u);
  EXPECT_FALSE(content.rows.steps[1].full_detail);
  EXPECT_TRUE(content.rows.collectives.empty());
  EXPECT_EQ(content.lost("size limit"), 2);
  ASSERT_FALSE(content.rows.log.empty());
  EXPECT_THAT(content.rows.log[0].text, testing::HasSubstr("size limit"));
}

TEST(Recorder, CountsWhatAFullQueueLoses) {
  recorder::RecorderOptions options;
  options.event_queue_capacity = 16;
  RecordedRun run(std::move(options));
  recorder::Recorder& recorder = run.recorder();
  const int lane = recorder.add_lane(LaneKind::kOperators, "main thread");
  constexpr int kEvents = 100'000;
  for (int i = 1; i <= kEvents; ++i)
    recorder.add_event(lane, EventKind::kOperator, {.start_ns = i, .duration_ns = 1});
  recorder.begin_step(0);
  recorder.end_step({});
  const auto content = run.finish();
  const auto kept = static_cast<std::int64_t>(event_count(content.rows));
  EXPECT_GE(kept, 16);
  EXPECT_LT(kept, kEvents);
  EXPECT_EQ(content.lost("event queue full"), kEvents - kept);
  EXPECT_EQ(recorder.lost(), kEvents - kept);
  EXPECT_EQ(content.rows.steps.size(), 1u) << "rows have a queue of their own";
}

TEST(Recorder, RefusesAFileThatItCannotCreate) {
  recorder::RecorderOptions options;
  options.file = "/proc/nowhere/rank_0.sqlite";
  const auto started = recorder::Recorder::start(std::move(options));
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, testing::HasSubstr("rank_0.sqlite"));
}

TEST(Recorder, EndsRecordingButNotTheRunWhenTheDiskIsFull) {
  RecordedRun run;
  recorder::Recorder& recorder = run.recorder();
  const int lane = recorder.add_lane(LaneKind::kOperators, "main thread");
  std::int64_t pushed = 0;
  {
    const trace::test::FileSizeLimit limit(400'000);
    std::uint64_t random = 1;
    for (int round = 0; round < 100 && recorder.failure().empty(); ++round) {
      for (int i = 0; i < 20'000; ++i) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        const auto duration = static_cast<std::int64_t>(random >> 32);
        recorder.add_event(lane, EventKind::kOperator,
                           {.start_ns = i + 1, .duration_ns = duration, .correlation = random});
      }
      pushed += 20'000;
      const std::int64_t sent = recorder::Recorder::now_ns();
      EXPECT_TRUE(RecordedRun::within_a_minute(
          [&] { return !recorder.failure().empty() || run.has_written_since(sent); }));
    }
    EXPECT_FALSE(recorder.failure().empty());
    recorder.begin_step(0);
    // Sources go on, or nobody would know how much is missing.
    EXPECT_TRUE(recorder.recording_detail());
    EXPECT_TRUE(recorder.wanted_detail_at(recorder::Recorder::now_ns()));
    for (int i = 0; i < 1'000; ++i) {
      recorder.add_event(lane, EventKind::kOperator, {.start_ns = i + 1, .duration_ns = 1});
    }
    pushed += 1'000;
    recorder.end_step({});
  }
  const auto stopped = recorder.stop();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message, recorder.failure());
  EXPECT_FALSE(recorder.recording_detail());
  const trace::model::UnwrittenRecords missing = recorder.unwritten();
  EXPECT_EQ(missing.steps, 1);
  EXPECT_EQ(static_cast<std::int64_t>(event_count(run.read().rows)) + missing.events, pushed);
}

}  // namespace
}  // namespace shardlens::profiler
