#include "trace/explore/run/rank_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/trace/units.h"
#include "trace/model/gpu_counter_names.h"
#include "trace/store/read/rank_tail.h"

namespace shardlens::trace::explore {
namespace {

model::MemorySample sample_at(std::int64_t time_ns, std::int64_t bytes, bool is_peak) {
  model::MemorySample sample;
  sample.time_ns = time_ns;
  sample.is_peak = is_peak;
  sample.bytes[static_cast<std::size_t>(model::MemoryCategory::kActivations)] = bytes;
  return sample;
}

model::Step step_of(std::int64_t index, std::int64_t start_ns, std::int64_t end_ns) {
  model::Step step;
  step.index = index;
  step.start_ns = start_ns;
  step.end_ns = end_ns;
  return step;
}

std::vector<double> values(const RankRows& rows) {
  std::vector<double> values;
  for (const timeline::AreaSample& sample : rows.memory) values.push_back(sample.value);
  return values;
}

TEST(RankRows, APeakIsDrawnWhereItWas) {
  RankRowsBuilder builder(0);
  store::RowPart part;
  part.rows.steps = {step_of(0, 1'000, 2'000)};
  part.rows.memory = {sample_at(1'100, 10, false), sample_at(1'900, 20, false),
                      sample_at(1'400, 70, true)};
  builder.add(std::move(part));
  const auto rows = builder.build();
  EXPECT_EQ(values(*rows), (std::vector<double>{10, 70, 20}));
  EXPECT_EQ(rows->highest_memory, 70);
}

TEST(RankRows, APeakOfWhichNobodyKnowsWhenItWasIsNotDrawn) {
  RankRowsBuilder builder(0);
  store::RowPart part;
  part.rows.steps = {step_of(0, 1'000, 2'000)};
  part.rows.memory = {sample_at(1'100, 10, false), sample_at(1'999, 70, true),  // as the step ended
                      sample_at(500, 80, true)};                                // in none
  builder.add(std::move(part));
  const auto rows = builder.build();
  EXPECT_EQ(values(*rows), (std::vector<double>{10}));
  EXPECT_EQ(rows->highest_memory, 10);
}

TEST(RankRows, APeakWaitsForItsStep) {
  RankRowsBuilder builder(0);
  store::RowPart part;
  part.rows.memory = {sample_at(1'100, 10, false), sample_at(1'400, 70, true)};
  builder.add(std::move(part));
  EXPECT_EQ(values(*builder.build()), (std::vector<double>{10}));
  store::RowPart later;
  later.rows.steps = {step_of(0, 1'000, 2'000)};
  builder.add(std::move(later));
  EXPECT_EQ(values(*builder.build()), (std::vector<double>{10, 70}));
}

TEST(RankRows, WhatWasBuiltIsNotBuiltAgainUnderItsReaders) {
  RankRowsBuilder builder(0);
  store::RowPart part;
  part.rows.steps = {step_of(0, 1'000, 2'000)};
  builder.add(std::move(part));
  const auto shown = builder.build();
  // Nothing came, as where the rest cannot be read.
  const auto again = builder.build();
  EXPECT_NE(again, shown);
  EXPECT_EQ(again->steps.size(), 1u);
}

// DDP reduces its first step by one plan, and plans anew for the others.
TEST(RankRows, ABucketThatIsReadyIsOfThePlanThatIsReducedNext) {
  RankRowsBuilder builder(0);
  store::RowPart part;
  for (const auto& [plan, bytes] : {std::pair{0, 650}, std::pair{1, 150}}) {
    model::Bucket bucket;
    bucket.plan = plan;
    bucket.index = 0;
    bucket.bytes = bytes;
    part.rows.buckets.push_back(bucket);
  }
  for (const auto& [step, bytes] : {std::pair{0, 650}, std::pair{1, 150}}) {
    model::Collective reduce;
    reduce.tag_kind = model::TagKind::kBucket;
    reduce.tag_index = 0;
    reduce.bytes = bytes;
    reduce.start_ns = 1'000 * step + 500;
    reduce.end_ns = reduce.start_ns + 100;
    part.rows.collectives.push_back(reduce);
    part.collective_ids.push_back(step + 1);
  }
  part.rows.bucket_ready = {{0, 0, 0, 400}, {0, 1, 0, 1'400}, {0, 2, 0, 2'400}};
  builder.add(std::move(part));
  const auto rows = builder.build();
  std::vector<std::int64_t> bytes;
  for (const timeline::ReadyPoint& ready : rows->bucket_ready) bytes.push_back(ready.bytes);
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{650, 150, 150}));
  EXPECT_EQ(rows->bucket(0, 500)->plan, 0);
  EXPECT_EQ(rows->bucket(0, 1'500)->plan, 1);
}

store::RowPart planned_part(const std::vector<std::vector<std::int64_t>>& plans) {
  store::RowPart part;
  for (int plan = 0; plan < std::ssize(plans); ++plan) {
    const auto& sizes = plans[static_cast<std::size_t>(plan)];
    for (int index = 0; index < std::ssize(sizes); ++index) {
      model::Bucket& bucket = part.rows.buckets.emplace_back();
      bucket.plan = plan;
      bucket.index = index;
      bucket.bytes = sizes[static_cast<std::size_t>(index)];
    }
  }
  return part;
}

// `passes`: what each reduces, in bytes, by number.
std::vector<int> plans_of_passes(const std::vector<std::vector<std::int64_t>>& plans,
                                 const std::vector<std::vector<std::int64_t>>& passes) {
  RankRowsBuilder builder(0);
  store::RowPart part = planned_part(plans);
  for (const auto& pass : passes) {
    for (int index = 0; index < std::ssize(pass); ++index) {
      model::Collective& reduce = part.rows.collectives.emplace_back();
      reduce.tag_kind = model::TagKind::kBucket;
      reduce.tag_index = index;
      reduce.bytes = pass[static_cast<std::size_t>(index)];
      reduce.start_ns = 1'000 * std::ssize(part.rows.collectives);
      reduce.end_ns = reduce.start_ns + 100;
      part.collective_ids.push_back(std::ssize(part.rows.collectives));
    }
  }
  builder.add(std::move(part));
  const auto rows = builder.build();
  std::vector<int> found;
  for (const model::Collective& row : rows->collectives.rows) {
    found.push_back(rows->bucket(row.tag_index, row.start_ns)->plan);
  }
  return found;
}

// A hook sends half of each gradient's bytes; half of one plan's bucket may be another's whole.
TEST(RankRows, ABucketIsOfThePlanOfItsPassWhateverAHookMakesOfIt) {
  const std::vector<std::vector<std::int64_t>> plans{{400, 600}, {200, 300, 500}};
  EXPECT_EQ(plans_of_passes(plans, {{400, 600}, {200, 300, 500}}), (std::vector{0, 0, 1, 1, 1}));
  EXPECT_EQ(plans_of_passes(plans, {{200, 300}, {100, 150, 250}, {100, 150, 250}}),
            (std::vector{0, 0, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(plans_of_passes({{1'000}, {500, 500}}, {{500}, {250, 250}}), (std::vector{0, 1, 1}));
  EXPECT_EQ(plans_of_passes(plans, {{100, 150, 250}, {100, 150, 250}}),
            (std::vector{1, 1, 1, 1, 1, 1}))
      << "the first step was not recorded";
}

// Buckets 0 have one size, but not the same tensors.
TEST(RankRows, ABucketOfASizeThatBothPlansHaveIsOfThePlanOfItsPass) {
  EXPECT_EQ(plans_of_passes({{100, 900}, {100, 400, 500}}, {{100, 900}, {100, 400, 500}}),
            (std::vector{0, 0, 1, 1, 1}));
}

model::CounterSample counter(model::StringId name, std::int64_t time_ns, double value) {
  return {0, name, 0, time_ns, value};
}

const CounterSeries* series(const RankRows& rows, std::string_view name) {
  const auto found = std::ranges::find(rows.counters, name, &CounterSeries::name);
  return found == rows.counters.end() ? nullptr : &*found;
}

// NVML's figures are of the time before they were read; those of others are left where they are.
TEST(RankRows, AGpusSampleStandsForTheTimeSinceTheOneBefore) {
  RankRowsBuilder builder(0);
  store::RowPart part;
  part.rows.strings = {{0, 1, std::string(model::kSmClock)}, {0, 2, "queue depth"}};
  part.rows.counters = {counter(1, 100, 1900), counter(2, 100, 7), counter(1, 300, 1500)};
  builder.add(std::move(part));
  store::RowPart later;
  later.rows.counters = {counter(1, 500, 1800)};
  builder.add(std::move(later));
  const auto rows = builder.build();
  const CounterSeries* clock = series(*rows, model::kSmClock);
  ASSERT_NE(clock, nullptr);
  ASSERT_EQ(clock->samples.size(), 2u) << "what the first stands for began nobody knows when";
  EXPECT_EQ(clock->samples[0].time_ns, 100);
  EXPECT_EQ(clock->samples[0].value, 1500);
  EXPECT_EQ(clock->samples[1].time_ns, 300);
  EXPECT_EQ(clock->samples[1].value, 1800);
  ASSERT_NE(series(*rows, "queue depth"), nullptr);
  EXPECT_EQ(series(*rows, "queue depth")->samples[0].time_ns, 100);
}

TEST(RankRows, LimitsOfTheClocksBecomeWhetherItWasThrottled) {
  RankRowsBuilder builder(0);
  store::RowPart part;
  part.rows.strings = {{0, 1, std::string(model::kClockLimits)}};
  part.rows.counters = {counter(1, 100, 0), counter(1, 300, model::kLimitIdle),
                        counter(1, 500, model::kLimitPowerCap | model::kLimitIdle),
                        counter(1, 700, -3), counter(1, 900, 1e300)};
  builder.add(std::move(part));
  const auto rows = builder.build();
  EXPECT_EQ(series(*rows, model::kClockLimits), nullptr) << "a set of bits is no height";
  const CounterSeries* throttled = series(*rows, model::kThrottled);
  ASSERT_NE(throttled, nullptr);
  std::vector<double> values;
  for (const timeline::AreaSample& sample : throttled->samples) values.push_back(sample.value);
  EXPECT_EQ(values, (std::vector<double>{0, 1, 0, 0}));
}

TEST(RankRows, AfterAPauseThrottlingIsDrawnForASecondAtMost) {
  RankRowsBuilder builder(0);
  store::RowPart part;
  part.rows.strings = {{0, 1, std::string(model::kClockLimits)}};
  part.rows.counters = {counter(1, kSecond, 0), counter(1, 31 * kSecond, model::kLimitPowerCap)};
  builder.add(std::move(part));
  const auto rows = builder.build();
  const CounterSeries* throttled = series(*rows, model::kThrottled);
  ASSERT_NE(throttled, nullptr);
  ASSERT_EQ(throttled->samples.size(), 2u);
  EXPECT_EQ(throttled->samples[0].time_ns, kSecond);
  EXPECT_EQ(throttled->samples[0].value, 0);
  EXPECT_EQ(throttled->samples[1].time_ns, 30 * kSecond);
  EXPECT_EQ(throttled->samples[1].value, 1);
}

TEST(RankRows, PowerIsDrawnAgainstItsLimit) {
  RankRowsBuilder builder(0);
  store::RowPart part;
  part.rows.strings = {
      {0, 1, std::string(model::kGpuPower)}, {0, 2, std::string(model::kPowerLimit)}, {0, 3, "W"}};
  for (const std::int64_t time : {100, 300}) {
    part.rows.counters.push_back({0, 1, 3, time, 350});
    part.rows.counters.push_back({0, 2, 3, time, 700});
  }
  builder.add(std::move(part));
  const auto rows = builder.build();
  EXPECT_EQ(series(*rows, model::kGpuPower)->scale.top, 700);
  EXPECT_EQ(series(*rows, model::kGpuPower)->highest, 350);
}

}  // namespace
}  // namespace shardlens::trace::explore
