#include "trace/predict/record/recorded_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "trace/model/untold.h"

namespace shardlens::trace::predict {
namespace {

constexpr int kName = 1;

TEST(RecordedStepsOfGroups, TellHowManyRanksReduceABucket) {
  RecordedSteps steps(4, 0);
  model::Batch batch;
  batch.process_groups.push_back({.rank = 0, .id = 1, .name = 0, .backend = 0, .ranks = {0, 2}});
  model::Collective call;
  call.process_group = -1;  // of another call: it is not known
  batch.collectives.push_back(call);
  call.tag_kind = model::TagKind::kBucket;
  call.process_group = 1;
  batch.collectives.push_back(call);
  steps.learn(batch);
  EXPECT_EQ(steps.ranks_of_parts(), std::set{2});
  batch.collectives.back().process_group = -1;
  steps.learn(batch);
  EXPECT_EQ(steps.ranks_of_parts(), (std::set{0, 2}));
}

// Steps of 1000 ns from 1000 on, of two ranks with two gradients, in as many micro-batches as
// wanted.
class RecordedStepsTest : public testing::Test {
 protected:
  void learn(int rank, std::int64_t step, int micro_batches = 1) {
    model::Batch batch;
    batch.strings.push_back(
        {rank, kName, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"});
    batch.strings.push_back({rank, kName + 1, "aten::mul"});
    const std::int64_t start = 1000 * (step + 1);
    model::Step row;
    row.rank = rank;
    row.index = step;
    row.start_ns = start;
    row.end_ns = start + 900;
    row.full_detail = true;
    batch.steps.push_back(row);
    model::EventRun run;
    run.rank = rank;
    // Computes but for 200 ns, which are too short for a wait.
    for (const auto& [from, to] : {std::pair{0, 500}, std::pair{700, 900}}) {
      model::Event event;
      event.start_ns = start + from;
      event.duration_ns = to - from;
      event.flags = model::kEventCompute;
      run.events.push_back(event);
    }
    for (int i = 0; i < micro_batches; ++i) {
      const std::int64_t at = start + 100 + 400 * i;
      for (const std::int64_t time : {at, at + 50, at + 100}) {
        model::Event event;
        event.start_ns = time;
        event.duration_ns = 10 + rank;
        event.name = time == at + 50 ? kName + 1 : kName;
        run.events.push_back(event);
      }
      model::Span span;
      span.rank = rank;
      span.phase = base::Phase::kBackward;
      span.start_ns = at;
      span.end_ns = at + 200;
      batch.spans.push_back(span);
      span.phase = base::Phase::kForward;
      span.start_ns = at - 40;
      span.end_ns = at;
      batch.spans.push_back(span);
    }
    batch.events.push_back(run);
    model::Collective call;
    call.rank = rank;
    call.sequence = step;
    call.function = call.executed = model::CollectiveFunction::kAllReduce;
    call.tag_kind = model::TagKind::kBucket;
    call.bytes = 24;
    call.start_ns = start + 300 + 100 * rank;
    call.end_ns = start + 700;
    batch.collectives.push_back(call);
    recorded_.learn(batch);
  }
  void learn_plan(int plan, std::vector<std::vector<std::int64_t>> buckets) {
    model::Batch batch;
    for (const auto& bytes : buckets) {
      model::Bucket bucket;
      bucket.plan = plan;
      bucket.index = static_cast<int>(batch.buckets.size());
      bucket.parameter_bytes = bytes;
      for (const std::int64_t each : bytes) bucket.bytes += each;
      batch.buckets.push_back(bucket);
    }
    recorded_.learn(batch);
  }

  std::vector<StepWork> steps() const {
    return recorded_.steps([](const CollectiveKind&, double, double) { return 0.0; });
  }
  std::vector<std::int64_t> gradient_bytes() const {
    std::vector<std::int64_t> bytes;
    for (const auto& gradient : recorded_.gradients()) bytes.push_back(gradient.bytes);
    return bytes;
  }
  static std::vector<std::int64_t> computed(const std::vector<Moment>& moments) {
    std::vector<std::int64_t> all;
    for (const Moment& moment : moments) all.push_back(moment.computed_ns);
    return all;
  }

  RecordedSteps recorded_{2, 0};
};

TEST_F(RecordedStepsTest, TellWhenGradientsWereReady) {
  learn_plan(0, {{16, 8}});
  learn_plan(1, {{8}, {16}});
  for (int rank : {0, 1}) learn(rank, 3);
  EXPECT_EQ(gradient_bytes(), (std::vector<std::int64_t>{8, 16})) << "the last plan's";
  const auto found = steps();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].index, 3);
  ASSERT_EQ(found[0].ranks.size(), 2u);
  ASSERT_EQ(found[0].ranks[1].micro_batches.size(), 1u);
  EXPECT_EQ(found[0].ranks[1].start_ns, 4000);
  EXPECT_EQ(found[0].ranks[1].backward_end_ns, 4300);
  const MicroBatchWork& only = found[0].ranks[1].micro_batches[0];
  EXPECT_EQ(only.forward_begin.computed_ns, 60);
  EXPECT_EQ(only.backward_begin.computed_ns, 100);
  EXPECT_EQ(only.end.computed_ns, 300);
  EXPECT_EQ(computed(only.gradients), (std::vector<std::int64_t>{111, 211}));
}

// A step of one bucket, which computes until 0.4 ms and again from 1 ms on.
model::Batch step_of_a_bucket(std::int64_t backward_end_ns, std::int64_t call_end_ns) {
  model::Batch batch;
  model::Bucket bucket;
  bucket.plan = 1;
  bucket.bytes = 8;
  bucket.parameter_bytes = {8};
  batch.buckets.push_back(bucket);
  batch.strings.push_back(
      {0, kName, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"});
  model::Step step;
  step.start_ns = 0;
  step.end_ns = 2'000'000;
  step.full_detail = true;
  batch.steps.push_back(step);
  model::EventRun run;
  for (const auto& [start, end, name] :
       {std::tuple{0, 400'000, 0}, {390'000, 400'000, kName}, {1'000'000, 1'900'000, 0}}) {
    model::Event event;
    event.start_ns = start;
    event.duration_ns = end - start;
    event.name = static_cast<model::StringId>(name);
    event.flags = name == 0 ? model::kEventCompute : 0;
    run.events.push_back(event);
  }
  batch.events.push_back(run);
  for (const auto& [phase, start, end] :
       {std::tuple{base::Phase::kForward, std::int64_t{0}, std::int64_t{100'000}},
        {base::Phase::kBackward, 100'000, backward_end_ns}}) {
    model::Span span;
    span.phase = phase;
    span.start_ns = start;
    span.end_ns = end;
    batch.spans.push_back(span);
  }
  model::Collective call;
  call.function = call.executed = model::CollectiveFunction::kAllReduce;
  call.tag_kind = model::TagKind::kBucket;
  call.tag_index = 0;
  call.bytes = 8;
  call.start_ns = 400'000;
  call.end_ns = call_end_ns;
  batch.collectives.push_back(call);
  return batch;
}

TEST_F(RecordedStepsTest, WaitedUntilBackwardWasOverWhereEndsOfCallsAreNotedLater) {
  const auto update_ns = [](std::int64_t backward_end_ns, std::int64_t call_end_ns) {
    RecordedSteps recorded(1, 0);
    recorded.learn(step_of_a_bucket(backward_end_ns, call_end_ns));
    const auto steps = recorded.steps([](const auto&, double, double) { return 0.0; });
    EXPECT_EQ(steps.size(), 1u);
    return steps.empty() ? 0 : steps[0].ranks[0].micro_batches[0].end.computed_ns;
  };
  EXPECT_EQ(update_ns(950'000, 950'000), 400'000) << "it computed that long, and waited for more";
  EXPECT_EQ(update_ns(950'000, 1'400'000), 400'000) << "noted while the next step computes";
}

TEST_F(RecordedStepsTest, TellSeveralMicroBatchesOneAfterTheOther) {
  learn_plan(1, {{8, 16}});
  for (int rank : {0, 1}) learn(rank, 0, 2);
  const auto found = steps();
  ASSERT_EQ(found.size(), 1u);
  const auto& micro_batches = found[0].ranks[0].micro_batches;
  ASSERT_EQ(micro_batches.size(), 2u);
  EXPECT_EQ(computed(micro_batches[0].gradients), (std::vector<std::int64_t>{110, 210}));
  EXPECT_EQ(micro_batches[0].end.computed_ns, 300);
  EXPECT_EQ(computed(micro_batches[1].gradients), (std::vector<std::int64_t>{210, 310}))
      << "since the first ended; so short a pause is none";
}

// Two gradients in 300 ns, and in the other 400 ns a pause of 200, in which two more are.
TEST_F(RecordedStepsTest, TellHowMuchTakesAsLongWithAnyBatch) {
  EXPECT_EQ(recorded_.steady_share(), 0);
  learn_plan(1, {{8, 16}});
  for (int rank : {0, 1}) learn(rank, 0, 2);
  EXPECT_DOUBLE_EQ(recorded_.steady_share(), (2.0 * (10 + 11) + 2 * 200) / (2 * 700));
}

// The last gradient comes 210 and 310 ns behind a micro-batch's begin, on rank 1 one later. Each of
// two takes 10 ns, there 11.
TEST_F(RecordedStepsTest, TellHowMuchIsDoneToReduce) {
  EXPECT_EQ(recorded_.reducing_share(true), 0);
  learn_plan(1, {{8, 16}});
  for (int rank : {0, 1}) learn(rank, 0, 2);
  EXPECT_DOUBLE_EQ(recorded_.reducing_share(false), 2.0 * (10 + 11) / (310 + 311));
  EXPECT_DOUBLE_EQ(recorded_.reducing_share(true), 4.0 * (10 + 11) / (210 + 310 + 211 + 311));
}

// Of the pause of 200 ns another operator takes 70: on another lane, or told of later.
TEST_F(RecordedStepsTest, HaveNoPauseWhileAnythingComputes) {
  for (const int lane : {0, 1}) {
    recorded_ = RecordedSteps(2, 0);
    learn_plan(1, {{8, 16}});
    for (int rank : {0, 1}) {
      learn(rank, 0, 2);
      model::Batch batch;
      model::EventRun& run = batch.events.emplace_back();
      run.rank = rank;
      run.lane = lane;
      model::Event& event = run.events.emplace_back();
      event.start_ns = 1520;
      event.duration_ns = 70;
      event.flags = model::kEventCompute;
      recorded_.learn(batch);
    }
    EXPECT_DOUBLE_EQ(recorded_.steady_share(), (2.0 * (10 + 11) + 2 * (200 - 70)) / (2 * 700));
  }
}

TEST_F(RecordedStepsTest, WithDifferingMicroBatchesAreLeftOut) {
  learn_plan(1, {{8, 16}});
  learn(0, 0, 2);
  learn(1, 0, 1);
  EXPECT_TRUE(steps().empty());
}

TEST_F(RecordedStepsTest, WithoutARankOrAGradientAreLeftOut) {
  learn_plan(1, {{8, 16, 4}});
  for (int rank : {0, 1}) learn(rank, 0);
  EXPECT_TRUE(steps().empty()) << "one of three gradients is missing";
  learn_plan(2, {{8, 16}});
  EXPECT_EQ(steps().size(), 1u);
  learn(0, 5);
  EXPECT_EQ(steps().size(), 1u) << "rank 1 has not told step 5";
}

// A run that was resumed does not begin with step 0.
TEST_F(RecordedStepsTest, BeforeTheFirstThatCountsAreLeftOut) {
  for (const std::int64_t first : {0, 8}) {
    recorded_ = RecordedSteps(2, 1);
    learn_plan(1, {{8, 16}});
    for (const std::int64_t step : {first, first + 1}) {
      for (int rank : {0, 1}) learn(rank, step);
    }
    const auto found = steps();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].index, first + 1);
  }
}

TEST_F(RecordedStepsTest, TakeAsManyAsTheyNeed) {
  learn_plan(1, {{8, 16}});
  std::int64_t step = 0;
  for (; !recorded_.is_enough(); ++step) {
    ASSERT_LT(step, 200);
    for (int rank : {0, 1}) learn(rank, step);
  }
  const auto found = steps();
  ASSERT_EQ(found.size(), RecordedSteps::kMostSteps);
  EXPECT_EQ(found.back().index, static_cast<std::int64_t>(RecordedSteps::kMostSteps) - 1);
  for (int rank : {0, 1}) learn(rank, 1000);
  EXPECT_EQ(steps().back().index, found.back().index);
}

TEST_F(RecordedStepsTest, EndsWhereNoStepTellsEnough) {
  learn_plan(1, {{8, 16, 4}});
  std::int64_t step = 0;
  for (; !recorded_.is_enough() && step < 5000; ++step) {
    for (int rank : {0, 1}) learn(rank, step);
  }
  EXPECT_LT(step, 5000);
  EXPECT_TRUE(steps().empty());
}

// Of two ranks, together a quarter of a million launches.
void add_launches(int rank, model::Batch& batch) {
  auto& launches = batch.events.emplace_back();
  launches.rank = rank;
  launches.kind = model::EventKind::kLaunch;
  launches.events.resize(RecordedSteps::kMostLaunches / 16);
}

// A program without marks launches kernels without end: those of all its steps would not fit. But
// those of the first that count are to be seen.
TEST_F(RecordedStepsTest, EndWhereManyLaunchesToldNoStep) {
  constexpr std::int64_t kFirst = 6;
  recorded_ = RecordedSteps(2, kFirst);
  std::int64_t told = 0;
  for (; !recorded_.is_enough() && told < 100; ++told) {
    for (int rank : {0, 1}) {
      model::Batch batch;
      model::Step& row = batch.steps.emplace_back();
      row.rank = rank;
      row.index = told;
      row.full_detail = true;
      add_launches(rank, batch);
      recorded_.learn(batch);
    }
  }
  EXPECT_GE(told, kFirst + static_cast<std::int64_t>(RecordedSteps::kMostSteps) / 4);
  EXPECT_LT(told, 50);
  EXPECT_TRUE(steps().empty());
}

TEST_F(RecordedStepsTest, AreFewerWhereEachHasManyLaunches) {
  learn_plan(1, {{8, 16}});
  std::int64_t told = 0;
  for (; !recorded_.is_enough() && told < 100; ++told) {
    for (int rank : {0, 1}) {
      model::Batch batch;
      add_launches(rank, batch);
      recorded_.learn(batch);
      learn(rank, told);
    }
  }
  EXPECT_GE(steps().size(), RecordedSteps::kMostSteps / 16);
  EXPECT_LT(steps().size(), RecordedSteps::kMostSteps / 2) << "of eight million launches";
}

// Each is kept, to tell pauses: of steps with 120 000 as launches count, 17 are two million.
TEST_F(RecordedStepsTest, AreFewerWhereEachHasManyOperators) {
  learn_plan(1, {{8, 16}});
  std::int64_t told = 0;
  for (; !recorded_.is_enough() && told < 100; ++told) {
    for (int rank : {0, 1}) {
      model::Batch batch;
      model::EventRun& run = batch.events.emplace_back();
      run.rank = rank;
      model::Event operation;
      operation.flags = model::kEventCompute;
      run.events.assign(RecordedSteps::kOperatorsOfALaunch * 60'000, operation);
      recorded_.learn(batch);
      learn(rank, told);
    }
  }
  EXPECT_EQ(steps().size(), RecordedSteps::kMostSteps / 4);
}

// A step of a GPU from 1000 on, or as much later: 600 ns of the model, and on another stream 50 for
// a cast, before a gather of what two ranks have.
model::Batch gpu_step(int rank, std::int64_t step = 0) {
  const std::int64_t at = 2000 * step;
  model::Batch batch;
  model::Step row;
  row.rank = rank;
  row.index = step;
  row.start_ns = at + 1000;
  row.end_ns = at + 1300;
  row.full_detail = true;
  batch.steps.push_back(row);
  const auto run = [&](model::EventKind kind, int lane, std::int64_t start, std::int64_t duration,
                       std::uint64_t correlation) {
    model::EventRun one;
    one.rank = rank;
    one.kind = kind;
    one.lane = lane;
    model::Event event;
    event.start_ns = at + start;
    event.duration_ns = duration;
    event.correlation = 2 * static_cast<std::uint64_t>(step) + correlation;
    event.flags = kind == model::EventKind::kKernel ? model::kEventCompute : 0;
    one.events.push_back(event);
    batch.events.push_back(one);
  };
  run(model::EventKind::kLaunch, 1, 1010, 5, 1);
  run(model::EventKind::kLaunch, 1, 1020, 5, 2);
  run(model::EventKind::kKernel, 7, 1100, 600, 1);
  run(model::EventKind::kKernel, 8, 1900, 50, 2);
  const auto phase = [&](base::Phase which, std::int64_t start, std::int64_t end) {
    model::Span span;
    span.rank = rank;
    span.phase = which;
    span.start_ns = at + start;
    span.end_ns = at + end;
    batch.spans.push_back(span);
  };
  phase(base::Phase::kForward, 1000, 1030);
  phase(base::Phase::kBackward, 1030, 1200);
  model::Collective gather;
  gather.rank = rank;
  gather.sequence = step;
  gather.function = gather.executed = model::CollectiveFunction::kAllGather;
  gather.tag_kind = model::TagKind::kUnit;
  gather.tag_index = 0;
  gather.bytes = 200;
  gather.enqueued_ns = at + 1025;
  gather.start_ns = at + 1950;
  gather.end_ns = at + 2050;
  batch.collectives.push_back(gather);
  return batch;
}

// What the host tells at once, and what CUPTI later.
model::Batch part_of_host(model::Batch step) {
  std::erase_if(step.events, [](const auto& run) { return run.kind == model::EventKind::kKernel; });
  step.collectives.clear();
  return step;
}
model::Batch part_of_gpu(const model::Batch& step) {
  model::Batch part;
  std::ranges::copy_if(step.events, std::back_inserter(part.events),
                       [](const auto& run) { return run.kind == model::EventKind::kKernel; });
  part.collectives = step.collectives;
  return part;
}

TEST_F(RecordedStepsTest, OfAGpuAreInTheTimeOfTheStreamThatComputes) {
  EXPECT_FALSE(recorded_.gather_copy_ns_per_byte()) << "no GPU so far";
  for (int rank : {0, 1}) recorded_.learn(gpu_step(rank));
  recorded_.learn_end(/*is_done=*/true);
  const auto found = steps();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].ranks[0].start_ns, 1000);
  EXPECT_EQ(found[0].ranks[0].end_ns, 1700) << "what another stream does comes later";
  EXPECT_EQ(found[0].ranks[0].micro_batches[0].backward_begin.computed_ns, 700);
  ASSERT_TRUE(recorded_.gather_copy_ns_per_byte());
  EXPECT_DOUBLE_EQ(*recorded_.gather_copy_ns_per_byte(), 0.5) << "of a rank's 100 bytes";
}

// Without them it would seem to have computed what its host took to launch it.
TEST_F(RecordedStepsTest, OfAGpuAreLeftOutWhereItsRecordsMayBeMissing) {
  for (const std::int64_t step : {0, 1, 2}) {
    for (int rank : {0, 1}) recorded_.learn(part_of_host(gpu_step(rank, step)));
  }
  EXPECT_TRUE(steps().empty()) << "no kernel is told of so far";
  for (int rank : {0, 1}) recorded_.learn(part_of_gpu(gpu_step(rank, 0)));
  EXPECT_TRUE(steps().empty()) << "whether one more follows is not known";
  model::Batch collectives;
  for (const std::int64_t step : {1, 2}) {
    model::Batch kernels = part_of_gpu(gpu_step(0, step));
    for (const auto& call : kernels.collectives) collectives.collectives.push_back(call);
    kernels.collectives.clear();
    recorded_.learn(kernels);
    recorded_.learn(part_of_gpu(gpu_step(1, step)));
  }
  ASSERT_EQ(steps().size(), 1u) << "rank 0 has told of the first gather only";
  EXPECT_EQ(steps()[0].index, 0);
  recorded_.learn(collectives);
  EXPECT_EQ(steps().size(), 2u);
  recorded_.learn_end(/*is_done=*/false);
  EXPECT_EQ(steps().size(), 2u) << "ranks may have been killed";
  model::Batch closed;
  for (int rank : {0, 1}) closed.strings.push_back({rank, 9, std::string(model::kClosedInOrder)});
  recorded_.learn(closed);
  EXPECT_EQ(steps().size(), 3u);
}

// A call whose kernel came too late lies on another lane than all others.
TEST_F(RecordedStepsTest, OfAGpuWaitForNoLaneThatWasUsedOnce) {
  for (const std::int64_t step : {0, 1, 2}) {
    for (int rank : {0, 1}) {
      model::Batch batch = gpu_step(rank, step);
      if (step == 0) batch.collectives.front().lane = 9;
      recorded_.learn(batch);
    }
  }
  EXPECT_EQ(steps().size(), 2u) << "all but the last, behind which more may follow";
}

TEST_F(RecordedStepsTest, CountTransfersFromTheLastRanksStart) {
  learn_plan(1, {{8, 16}});
  for (int rank : {0, 1}) learn(rank, 0);
  learn(0, 1);  // whose other rank's part is missing
  const auto transfers = recorded_.transfers();
  ASSERT_EQ(transfers.size(), 1u);
  EXPECT_EQ(transfers.begin()->first.function, model::CollectiveFunction::kAllReduce);
  EXPECT_EQ(transfers.begin()->first.ranks, 2);
  EXPECT_EQ(transfers.begin()->second, (MeasuredTransfers{{24, {300}}}));
}

// Before they count, sizes are moved that no step moves, and all takes longer.
TEST_F(RecordedStepsTest, KeepTransfersBeforeTheFirstThatCountsApart) {
  recorded_ = RecordedSteps(2, 1);
  learn_plan(1, {{8, 16}});
  for (std::int64_t step : {0, 1}) {
    for (int rank : {0, 1}) learn(rank, step);
  }
  const auto check = [&](std::int64_t sequence, std::int64_t bytes, std::int64_t took_ns) {
    model::Batch start;
    for (int rank : {0, 1}) {
      model::Collective call;
      call.rank = rank;
      call.sequence = sequence;
      call.function = call.executed = model::CollectiveFunction::kAllReduce;
      call.bytes = bytes;
      call.start_ns = sequence * 1'000'000;
      call.end_ns = call.start_ns + took_ns;
      start.collectives.push_back(call);
    }
    recorded_.learn(start);
  };
  check(1000, 4, 900);
  check(1001, 16, 500);
  check(1002, 16, 400);
  const auto transfers = recorded_.transfers();
  ASSERT_EQ(transfers.size(), 1u);
  EXPECT_EQ(transfers.begin()->second, (MeasuredTransfers{{24, {300}}})) << "of step 1 alone";
  const auto others = recorded_.other_transfers();
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others.begin()->second, (MeasuredTransfers{{4, {300}}, {16, {300}}, {24, {300}}}))
      << "more bytes never take less time";
}

}  // namespace
}  // namespace shardlens::trace::predict
