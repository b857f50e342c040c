#include "profiler/recorder/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <thread>
#include <vector>

#include "tests/profiler/recorded_run.h"
#include "trace/model/untold.h"

namespace shardlens::profiler::recorder {
namespace {

using trace::base::Phase;
using trace::model::EventKind;
using trace::model::LaneKind;

TEST(Recorder, WritesAStepWithItsPhasesAndFigures) {
  RecordedRun run;
  Recorder& recorder = run.recorder();
  EXPECT_EQ(recorder.step(), -1);
  recorder.begin_step(4);
  EXPECT_EQ(recorder.step(), 4);
  {
    PhaseScope forward(recorder, Phase::kForward);
    EXPECT_EQ(recorder.phase(), Phase::kForward);
    const PhaseScope evaluation(recorder, Phase::kEvaluation);
  }
  EXPECT_EQ(recorder.phase(), Phase::kOther);
  queue::StepResult result;
  result.loss = 2.5;
  result.gradient_norm = std::nan("");
  result.learning_rate = 1e-3;
  result.tokens = 1024;
  recorder.end_step(result);

  const auto content = run.finish();
  ASSERT_EQ(content.rows.steps.size(), 1u);
  const trace::model::Step& step = content.rows.steps[0];
  EXPECT_EQ(step.index, 4);
  EXPECT_EQ(step.loss, 2.5);
  EXPECT_TRUE(std::isnan(step.gradient_norm));
  EXPECT_EQ(step.tokens, 1024);
  EXPECT_TRUE(step.full_detail);
  EXPECT_LT(step.start_ns, step.end_ns);
  ASSERT_EQ(content.rows.spans.size(), 2u);
  const trace::model::Span& inner = content.rows.spans[0];
  const trace::model::Span& outer = content.rows.spans[1];
  EXPECT_EQ(content.text(inner.name), "evaluation");
  EXPECT_EQ(inner.depth, 1);
  EXPECT_EQ(inner.phase, Phase::kEvaluation);
  EXPECT_EQ(content.text(outer.name), "forward");
  EXPECT_EQ(outer.depth, 0);
  EXPECT_EQ(outer.step, 4);
  EXPECT_LE(outer.start_ns, inner.start_ns);
  EXPECT_GE(outer.end_ns, inner.end_ns);
}

TEST(Recorder, WritesEventsOrderedByStartPerLaneAndKind) {
  RecordedRun run;
  Recorder& recorder = run.recorder();
  const int first = recorder.add_lane(LaneKind::kOperators, "main thread");
  const int second = recorder.add_lane(LaneKind::kCompute, "stream 7");
  EXPECT_NE(first, second);
  const auto name = recorder.intern("aten::mm");
  for (const std::int64_t start : {300, 100, 200}) {
    trace::model::Event event;
    event.start_ns = start;
    event.duration_ns = 10;
    event.name = name;
    recorder.add_event(first, EventKind::kOperator, event);
  }
  recorder.add_event(second, EventKind::kKernel, {.start_ns = 50, .duration_ns = 5, .name = name});
  const auto content = run.finish();
  EXPECT_EQ(event_count(content.rows), 4u);
  for (const auto& events : content.rows.events) {
    if (events.lane != first) continue;
    EXPECT_EQ(events.kind, EventKind::kOperator);
    ASSERT_EQ(events.events.size(), 3u);
    EXPECT_EQ(events.events[0].start_ns, 100);
    EXPECT_EQ(events.events[2].start_ns, 300);
    EXPECT_EQ(content.text(events.events[0].name), "aten::mm");
  }
}

TEST(Recorder, KeepsEventsOfEveryThread) {
  RecordedRun run;
  Recorder& recorder = run.recorder();
  const int lane = recorder.add_lane(LaneKind::kOperators, "threads");
  constexpr int kThreads = 4, kEvents = 2'000;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        for (int i = 1; i <= kEvents; ++i)
          recorder.add_event(lane, EventKind::kOperator, {.start_ns = i, .duration_ns = 1});
      });
  }
  const auto content = run.finish();
  EXPECT_EQ(event_count(content.rows), std::size_t{kThreads} * kEvents);
  EXPECT_EQ(recorder.lost(), 0);
}

TEST(Recorder, JoinsACollectiveThatAnotherThreadRan) {
  RecordedRun run;
  Recorder& recorder = run.recorder();
  const int lane = recorder.add_lane(LaneKind::kCommunication, "communication");
  recorder.begin_step(0);
  recorder.begin_phase(Phase::kBackward);
  const auto handle = recorder.enter_collective(bucket_call(2));
  const std::int64_t start = Recorder::now_ns();
  std::jthread([&] {
    recorder.start_collective(handle, lane, start);
    recorder.end_collective(handle, start + 1'000);
  }).join();
  recorder.end_phase();
  recorder.end_step({});
  const auto content = run.finish();
  ASSERT_EQ(content.rows.collectives.size(), 1u);
  const trace::model::Collective& row = content.rows.collectives[0];
  EXPECT_EQ(row.tag_kind, trace::model::TagKind::kBucket);
  EXPECT_EQ(row.tag_index, 2);
  EXPECT_EQ(row.phase, Phase::kBackward);
  EXPECT_EQ(row.step, 0);
  EXPECT_EQ(row.lane, lane);
  EXPECT_EQ(row.start_ns, start);
  EXPECT_EQ(row.end_ns, start + 1'000);
  EXPECT_LE(row.enqueued_ns, row.start_ns);
}

TEST(Recorder, ShowsACollectiveThatNeverEndsAsPending) {
  RecordedRun run;
  Recorder& recorder = run.recorder();
  recorder.begin_step(3);
  recorder.enter_collective(bucket_call(1));
  const auto content = run.finish();
  ASSERT_TRUE(content.rows.pending);
  ASSERT_EQ(content.rows.pending->size(), 1u);
  EXPECT_EQ(content.rows.pending->at(0).tag_index, 1);
  EXPECT_EQ(content.rows.pending->at(0).step, 3);
  EXPECT_TRUE(content.rows.collectives.empty());
}

TEST(Recorder, InternsATextOnceForAllThreads) {
  RecordedRun run;
  Recorder& recorder = run.recorder();
  const auto id = recorder.intern("bucket");
  EXPECT_NE(id, 0u);
  EXPECT_EQ(recorder.intern(""), 0u);
  trace::model::StringId other = 0;
  std::jthread([&] { other = recorder.intern("bucket"); }).join();
  EXPECT_EQ(other, id);
  EXPECT_NE(recorder.intern("unit"), id);
  EXPECT_EQ(run.finish().text(id), "bucket");
}

TEST(Recorder, BeatsAndReportsItsCost) {
  RecordedRun run;
  Recorder& recorder = run.recorder();
  recorder.begin_step(9);
  recorder.begin_phase(Phase::kBackward);
  const std::int64_t moved = Recorder::now_ns();
  recorder.progress();
  recorder.add_callback_cost(500);
  recorder.add_callback_cost(700);
  run.wait_until_written();
  const auto content = run.finish();
  ASSERT_TRUE(content.rows.heartbeat);
  EXPECT_EQ(content.rows.heartbeat->step, 9);
  EXPECT_EQ(content.rows.heartbeat->phase, Phase::kBackward);
  EXPECT_GE(content.rows.heartbeat->progress_ns, moved);
  EXPECT_GT(content.rows.heartbeat->alive_ns, content.rows.heartbeat->progress_ns)
      << "the recorder lives on while the training thread stands still";
  ASSERT_TRUE(content.rows.cost);
  EXPECT_GT(content.rows.cost->writer_ns, 0);
  // And what this thread waited for the recorder's threads, where the machine is busy.
  EXPECT_GE(content.rows.cost->callback_ns, 1'200);
  EXPECT_LE(content.rows.cost->callback_ns, 1'200 + content.rows.cost->writer_ns);
}

TEST(Recorder, WritesPlansGroupsMarksAndLog) {
  RecordedRun run;
  Recorder& recorder = run.recorder();
  recorder.add_process_group(0, "world", "gloo", {0, 1});
  trace::model::Bucket bucket;
  bucket.index = 0;
  bucket.bytes = 12;
  bucket.parameters = {recorder.intern("wte.weight")};
  bucket.parameter_bytes = {12};
  recorder.set_bucket_plan(1, {bucket});
  recorder.begin_step(0);
  recorder.bucket_ready(0);
  recorder.end_step({});
  recorder.log(trace::model::LogLine::Level::kWarning, "a \"quoted\" line, été 🚀");
  const auto content = run.finish();
  ASSERT_EQ(content.rows.process_groups.size(), 1u);
  EXPECT_EQ(content.text(content.rows.process_groups[0].backend), "gloo");
  ASSERT_EQ(content.rows.buckets.size(), 1u);
  EXPECT_EQ(content.rows.buckets[0].plan, 1);
  EXPECT_EQ(content.text(content.rows.buckets[0].parameters.at(0)), "wte.weight");
  ASSERT_EQ(content.rows.bucket_ready.size(), 1u);
  EXPECT_EQ(content.rows.bucket_ready[0].step, 0);
  ASSERT_EQ(content.rows.log.size(), 1u);
  EXPECT_EQ(content.rows.log[0].text, "a \"quoted\" line, été 🚀");
}

TEST(Recorder, KeepsUnitsTheirParametersAndWhenTheyWereReady) {
  RecordedRun run;
  auto& recorder = run.recorder();
  trace::model::Unit root, block;
  root.name = recorder.intern("root");
  block.index = 1;
  block.name = recorder.intern("blocks.0");
  block.bytes = 4096;
  block.shard_bytes = 2048;
  block.reduced_bytes = 8192;
  block.shard_count = 2;
  block.data_type = recorder.intern("bfloat16");
  root.rank = block.rank = 77;  // the recorder knows its own
  recorder.set_units({root, block}, {{77, 1, recorder.intern("blocks.0.attn.weight"), 4000}});
  recorder.begin_step(0);
  recorder.unit_ready(1);
  std::thread([&recorder] { recorder.unit_ready(0); }).join();  // as from autograd's threads
  recorder.end_step({});
  const auto content = run.finish();
  ASSERT_EQ(content.rows.units.size(), 2u);
  const auto& kept = content.rows.units[1];
  EXPECT_EQ(kept.rank, 0);
  EXPECT_EQ(content.text(kept.name), "blocks.0");
  EXPECT_EQ(kept.bytes, 4096);
  EXPECT_EQ(kept.shard_bytes, 2048);
  EXPECT_EQ(kept.reduced_bytes, 8192);
  EXPECT_EQ(kept.shard_count, 2);
  EXPECT_EQ(content.text(kept.data_type), "bfloat16");
  ASSERT_EQ(content.rows.unit_parameters.size(), 1u);
  EXPECT_EQ(content.rows.unit_parameters[0].rank, 0);
  EXPECT_EQ(content.text(content.rows.unit_parameters[0].name), "blocks.0.attn.weight");
  ASSERT_EQ(content.rows.unit_ready.size(), 2u);
  for (const auto& ready : content.rows.unit_ready) {
    EXPECT_EQ(ready.step, 0);
    EXPECT_GT(ready.time_ns, 0);
  }
}

TEST(Recorder, MayBeStoppedTwiceAndUsedAfterwards) {
  RecordedRun run;
  EXPECT_TRUE(run.recorder().stop());
  EXPECT_TRUE(run.recorder().stop());
  run.recorder().begin_step(0);
  run.recorder().end_step({});
  EXPECT_FALSE(run.recorder().recording_detail());
}

TEST(Recorder, SaysInItsLastCommitThatSourcesHaveGivenAll) {
  for (const bool has_all : {true, false}) {
    RecordedRun run;
    recorder::Recorder& recorder = run.recorder();
    recorder.begin_step(0);
    recorder.end_step({});
    run.wait_until_written();
    const auto says_so = [&run] {
      return std::ranges::count(run.read().rows.strings, trace::model::kClosedInOrder,
                                &trace::model::InternedString::text) == 1;
    };
    EXPECT_FALSE(says_so());
    EXPECT_TRUE(recorder.stop(has_all));
    EXPECT_EQ(says_so(), has_all);
  }
}

TEST(Recorder, LateStepsHaveTheCollectivesOfTheirTime) {
  RecorderOptions options;
  options.late_steps = true;
  RecordedRun run(options);
  Recorder& recorder = run.recorder();
  const int lane = recorder.add_lane(trace::model::LaneKind::kCommunication, "stream 9");
  const std::int64_t start = Recorder::now_ns();
  const auto collective = [&](std::int64_t from) {
    const auto handle = recorder.enter_collective({});
    recorder.start_collective(handle, lane, start + from);
    recorder.end_collective(handle, start + from + 10);
  };
  for (const std::int64_t index : {0, 1}) {
    recorder.begin_step(index, start + 100 * index);
    recorder.end_step({}, start + 100 * (index + 1));
  }
  for (const std::int64_t from : {-50, 20, 120, 250}) collective(from);
  const auto content = run.finish();
  std::map<std::int64_t, std::int64_t> steps;
  for (const auto& row : content.rows.collectives) steps[row.start_ns - start] = row.step;
  EXPECT_EQ(steps, (std::map<std::int64_t, std::int64_t>{{-50, -1}, {20, 0}, {120, 1}, {250, -1}}));
}

// What a GPU did is read when the host is steps ahead.
TEST(Recorder, LateStepsSayNothingOfWhatTheHostAsksForNow) {
  for (const bool is_in_time : {false, true}) {
    RecorderOptions options;
    options.late_steps = true;
    RecordedRun run(options);
    Recorder& recorder = run.recorder();
    recorder.tell_in_time(is_in_time);
    recorder.begin_step(0, 100);
    recorder.begin_phase(trace::base::Phase::kBackward, 100);
    const auto handle = recorder.enter_collective(bucket_call(0));
    recorder.enter_collective(bucket_call(1));
    recorder.end_phase(400);
    recorder.end_step({}, 400);
    recorder.begin_step(1, 400);
    recorder.begin_phase(trace::base::Phase::kForward, 400);
    recorder.launch_collective(handle, {.launch = 1});
    recorder.end_launch(1, 9, 500, 600);
    const auto content = run.finish();
    using trace::base::Phase;
    const Phase phase = is_in_time ? Phase::kBackward : Phase::kOther;
    ASSERT_EQ(content.rows.collectives.size(), 1u);
    EXPECT_EQ(content.rows.collectives[0].step, 1) << "that of its time";
    EXPECT_EQ(content.rows.collectives[0].phase, phase);
    ASSERT_EQ(content.rows.pending->size(), 1u);
    EXPECT_EQ(content.rows.pending->front().step, is_in_time ? 0 : -1);
    EXPECT_EQ(content.rows.pending->front().phase, phase);
    ASSERT_TRUE(content.rows.heartbeat);
    EXPECT_EQ(content.rows.heartbeat->step, 1);
    EXPECT_EQ(content.rows.heartbeat->phase, is_in_time ? Phase::kForward : Phase::kOther);
  }
}

TEST(Recorder, ALateStepThatHadEndedBeforeACollectiveDoesNotHaveIt) {
  for (const bool is_in_time : {false, true}) {
    RecorderOptions options;
    options.late_steps = true;
    RecordedRun run(options);
    Recorder& recorder = run.recorder();
    recorder.tell_in_time(is_in_time);
    recorder.begin_step(0, 100);
    for (const std::uint64_t launch : {1, 2}) {
      const auto handle = recorder.enter_collective(bucket_call(static_cast<int>(launch)));
      recorder.launch_collective(handle, {.launch = launch});
    }
    recorder.end_launch(1, 9, 50, 60);
    recorder.end_launch(2, 9, 500, 600);
    run.wait_until_written();
    EXPECT_EQ(run.read().rows.collectives.size(), is_in_time ? 2u : 1u);
    recorder.end_step({}, 400);
    recorder.begin_step(1, 400);
    recorder.begin_step(2, 900);
    run.wait_until_written();
    const auto rows = run.read().rows.collectives;
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].step, -1);
    EXPECT_EQ(rows[1].step, is_in_time ? 0 : 1);
  }
}

// The host asks before anybody knows of the steps, and a GPU works for one before it is told.
TEST(Recorder, LateStepsHaveTheDetailOfTheirTime) {
  RecorderOptions options;
  options.late_steps = true;
  options.schedule = {.every = 3};
  RecordedRun run(options);
  Recorder& recorder = run.recorder();
  const int lane = recorder.add_lane(trace::model::LaneKind::kCommunication, "stream 9");
  const std::int64_t start = Recorder::now_ns();
  std::vector<std::uint64_t> handles;
  for (int step = 0; step < 7; ++step) handles.push_back(recorder.enter_collective({}));
  std::vector<bool> leads_into_it;
  for (std::int64_t index = 0; index < 7; ++index) {
    leads_into_it.push_back(recorder.wanted_detail_at(start + 100 * index));
    recorder.begin_step(index, start + 100 * index);
    const auto at = start + 100 * index + 50;
    recorder.start_collective(handles[static_cast<std::size_t>(index)], lane, at);
    recorder.end_collective(handles[static_cast<std::size_t>(index)], at + 10);
    recorder.end_step({}, start + 100 * (index + 1));
  }
  EXPECT_EQ(leads_into_it, (std::vector<bool>{false, false, false, true, false, false, true}));
  const auto content = run.finish();
  std::vector<std::int64_t> with_collectives, with_detail;
  for (const auto& row : content.rows.collectives) with_collectives.push_back(row.step);
  for (const auto& step : content.rows.steps) {
    if (step.full_detail) with_detail.push_back(step.index);
  }
  EXPECT_EQ(with_collectives, (std::vector<std::int64_t>{0, 2, 3, 5, 6}));
  EXPECT_EQ(with_detail, (std::vector<std::int64_t>{0, 3, 6})) << "the others lack their beginning";
}

TEST(Recorder, WhatIsLearntOfARankReplacesWhatWasKnown) {
  RecorderOptions options;
  options.rank_info.device = "cpu";
  options.rank_info.host = "somewhere";
  RecordedRun run(options);
  run.recorder().update_rank_info([](trace::model::RankInfo& info) { info.device = "cuda:1"; });
  run.recorder().update_rank_info([](trace::model::RankInfo& info) { info.sources = "several"; });
  const auto content = run.finish();
  ASSERT_TRUE(content.rows.rank_info);
  EXPECT_EQ(content.rows.rank_info->device, "cuda:1");
  EXPECT_EQ(content.rows.rank_info->sources, "several");
  EXPECT_EQ(content.rows.rank_info->host, "somewhere");
}

}  // namespace
}  // namespace shardlens::profiler::recorder
