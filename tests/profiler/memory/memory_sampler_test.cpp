#include "profiler/memory/memory_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler::memory {
namespace {

TEST(MemorySampler, SamplesAtItsRateAndThePeakOfAStepWhenAsked) {
  RecordedRun run;
  MemorySource source;
  source.current = [] {
    trace::model::MemorySample sample;
    sample.bytes[0] = 100;
    return sample;
  };
  source.take_peak = [] {
    trace::model::MemorySample sample;
    sample.bytes[0] = 250;
    return sample;
  };
  std::latch sampled(3);
  source.current = [&sampled, current = source.current] {
    if (!sampled.try_wait()) sampled.count_down();
    return current();
  };
  {
    MemorySampler sampler(run.recorder(), source, std::chrono::milliseconds(5));
    sampled.wait();
    run.recorder().begin_step(6);
    sampler.record_step_peak();
    run.recorder().end_step({});
  }
  const auto content = run.finish();
  EXPECT_GE(content.rows.memory.size(), 4u);
  int peaks = 0;
  for (const auto& sample : content.rows.memory) {
    EXPECT_GT(sample.time_ns, 0);
    if (!sample.is_peak) continue;
    ++peaks;
    EXPECT_EQ(sample.step, 6);
    EXPECT_EQ(sample.total_bytes(), 250);
  }
  EXPECT_EQ(peaks, 1);
}

trace::model::MemorySample sample_of(std::int64_t bytes) {
  trace::model::MemorySample sample;
  sample.bytes[0] = bytes;
  return sample;
}

TEST(MemorySampler, SamplesWherePhasesBeginInRecordedSteps) {
  recorder::RecorderOptions options;
  options.schedule = *trace::job::parse_record_schedule("1..1");
  RecordedRun run(std::move(options));
  MemorySource source;
  source.current = [] { return sample_of(1); };
  source.take_peak = [] { return sample_of(3); };
  source.counters = [] { return sample_of(2); };
  {
    MemorySampler sampler(run.recorder(), source);
    for (int step = 0; step < 3; ++step) {
      run.recorder().begin_step(step);
      sampler.sample_phase_border();
      sampler.sample_phase_border();
      run.recorder().end_step({});
    }
  }
  std::vector<std::int64_t> steps;
  for (const auto& sample : run.finish().rows.memory) {
    if (sample.total_bytes() != 2) continue;
    EXPECT_FALSE(sample.is_peak);
    EXPECT_GT(sample.time_ns, 0);
    steps.push_back(sample.step);
  }
  EXPECT_THAT(steps, testing::ElementsAre(1, 1));
}

TEST(MemorySampler, KeepsWhatIsHighestBetweenStepsApartFromTheSteps) {
  RecordedRun run;
  // Set-up, step 0, between, step 1: an evaluation higher than all, step 2.
  std::vector<std::int64_t> peaks{300, 100, 150, 120, 500, 130};
  MemorySource source;
  source.current = [] { return sample_of(1); };
  source.take_peak = [&peaks, next = 0]() mutable {
    return sample_of(peaks.at(static_cast<std::size_t>(next++)));
  };
  {
    MemorySampler sampler(run.recorder(), source);
    for (int step = 0; step < 3; ++step) {
      sampler.begin_step(step);
      run.recorder().begin_step(step);
      sampler.record_step_peak();
      run.recorder().end_step({});
    }
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> recorded;
  for (const auto& sample : run.finish().rows.memory) {
    if (sample.is_peak) recorded.emplace_back(sample.step, sample.total_bytes());
  }
  EXPECT_EQ(recorded, (std::vector<std::pair<std::int64_t, std::int64_t>>{
                          {-1, 300}, {0, 100}, {1, 120}, {-1, 500}, {2, 130}}));
}

TEST(MemorySampler, MakesWhatWasCountedBeforeAStepNoSampleOfIt) {
  RecordedRun run;
  std::latch asked(1), begun(1), later(3);
  MemorySource source;
  source.current = [&, first = true]() mutable {
    if (std::exchange(first, false)) {
      asked.count_down();
      begun.wait();  // set-up ends while the system is asked
      return sample_of(900);
    }
    if (!later.try_wait()) later.count_down();
    return sample_of(1);
  };
  source.take_peak = [] { return sample_of(2); };
  {
    MemorySampler sampler(run.recorder(), source, std::chrono::milliseconds(1));
    asked.wait();
    run.recorder().begin_step(0);
    begun.count_down();
    later.wait();
    run.recorder().end_step({});
  }
  bool has_samples_of_the_step = false;
  for (const auto& sample : run.finish().rows.memory) {
    EXPECT_NE(sample.total_bytes(), 900) << "in step " << sample.step;
    has_samples_of_the_step |= sample.step == 0;
  }
  EXPECT_TRUE(has_samples_of_the_step);
}

TEST(MemorySampler, TakesNoGrowthOfTheHeapForAPeakBetweenSteps) {
  RecordedRun run;
  std::int64_t outside = 0;
  MemorySource source;
  source.current = [] { return sample_of(1); };
  source.take_peak = [&outside] {
    trace::model::MemorySample sample = sample_of(100);
    sample.bytes[static_cast<std::size_t>(trace::model::MemoryCategory::kOutside)] = ++outside;
    return sample;
  };
  {
    MemorySampler sampler(run.recorder(), source);
    for (int step = 0; step < 3; ++step) {
      sampler.begin_step(step);
      run.recorder().begin_step(step);
      sampler.record_step_peak();
      run.recorder().end_step({});
    }
  }
  std::vector<std::int64_t> steps;
  for (const auto& sample : run.finish().rows.memory) {
    if (sample.is_peak) steps.push_back(sample.step);
  }
  EXPECT_THAT(steps, testing::ElementsAre(-1, 0, 1, 2));
}

TEST(MemorySampler, EndsWithAWarningWhenItsSourceFails) {
  RecordedRun run;
  MemorySource source;
  std::latch asked(1);
  source.current = [&asked]() -> trace::model::MemorySample {
    asked.count_down();
    throw std::runtime_error("allocator is not initialized");
  };
  source.take_peak = [] { return sample_of(1); };
  {
    MemorySampler sampler(run.recorder(), source, std::chrono::milliseconds(1));
    asked.wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it asks no more
  }
  const auto content = run.finish();
  EXPECT_TRUE(content.rows.memory.empty());
  ASSERT_EQ(content.rows.log.size(), 1u);
  EXPECT_THAT(content.rows.log[0].text, testing::HasSubstr("allocator is not initialized"));
}

}  // namespace
}  // namespace shardlens::profiler::memory
