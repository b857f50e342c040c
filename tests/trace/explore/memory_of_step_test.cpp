// A file with the allocations of some steps, and what the memory tab gets of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trace/explore/testing/known_run.h"
#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/write/trace_writer.h"

namespace shardlens::trace::test {
namespace {

constexpr std::int64_t kMemoryBegin = 1'790'000'000'000'000'000, kMemoryStepNs = 10'000'000;
constexpr int kMemoryLane = 3;
enum StepName : model::StringId { kAllocatingName = 1, kMemoryLaneName };

std::int64_t at(std::int64_t step, std::int64_t microseconds) {
  return kMemoryBegin + step * kMemoryStepNs + microseconds * 1'000;
}

model::Event allocation(std::int64_t start_ns, std::int64_t end_ns, std::int64_t bytes,
                        model::MemoryCategory category, std::uint32_t flags = 0,
                        model::StringId name = 0) {
  return {start_ns, end_ns - start_ns, name, flags | model::flags_of(category), 0x1000, bytes};
}

// Of one step: parameters, an activation in forward, a gradient that stays.
std::vector<model::Event> step_events(std::int64_t step) {
  constexpr auto kBoth = model::kEventOlder | model::kEventNotFreed;
  return {
      allocation(at(step, 0), at(step, 9'900), 1'000, model::MemoryCategory::kParameters, kBoth),
      allocation(at(step, 1'000), at(step, 6'000), 300, model::MemoryCategory::kActivations, 0,
                 kAllocatingName),
      allocation(at(step, 5'000), at(step, 9'900), 50, model::MemoryCategory::kGradients,
                 model::kEventNotFreed)};
}

model::Batch batch_of(int rank, const std::vector<std::int64_t>& recorded) {
  model::Batch batch;
  batch.strings = {{rank, kAllocatingName, "aten::linear"}, {rank, kMemoryLaneName, "allocations"}};
  batch.lanes.push_back({rank, kMemoryLane, model::LaneKind::kMemory, kMemoryLaneName});
  for (std::int64_t step = 0; step < 8; ++step) {
    model::Step row;
    row.rank = rank;
    row.index = step;
    row.start_ns = at(step, 0);
    row.end_ns = at(step, 10'000);
    batch.steps.push_back(row);
    batch.spans.push_back(
        {rank, 0, step, base::Phase::kForward, 0, 0, at(step, 0), at(step, 5'000)});
    batch.spans.push_back(
        {rank, 0, step, base::Phase::kBackward, 0, 0, at(step, 5'000), at(step, 9'000)});
    model::MemorySample peak;
    peak.rank = rank;
    peak.step = step;
    peak.is_peak = true;
    peak.time_ns = at(step, 5'000);
    peak.bytes[static_cast<std::size_t>(model::MemoryCategory::kParameters)] = 1'000;
    peak.bytes[static_cast<std::size_t>(model::MemoryCategory::kActivations)] = 350;
    peak.bytes[static_cast<std::size_t>(model::MemoryCategory::kOutside)] = 77;
    peak.reserved_bytes = 2'000;
    batch.memory.push_back(peak);
  }
  for (const std::int64_t step : recorded) {
    batch.events.push_back({rank, kMemoryLane, model::EventKind::kAllocation, step_events(step)});
  }
  return batch;
}

struct MemoryOfStep : testing::Test {
  Folder folder;
  std::filesystem::path path = folder / "run";

  MemoryOfStep() {
    model::RunInfo info = run_info("run", 2);
    EXPECT_TRUE(store::create_run_at(path, info));
    write(0, {2, 5});
    write(1, {});
  }
  void write(int rank, const std::vector<std::int64_t>& recorded) {
    auto writer = store::TraceWriter::create(store::rank_file(path, rank), rank);
    ASSERT_TRUE(writer);
    (*writer)->submit(batch_of(rank, recorded));
    ASSERT_TRUE((*writer)->close());
  }
  timeline::StepMemory memory(const timeline::StepMemoryRequest& request) {
    auto memory = open_whole(path)->memory(request);
    EXPECT_TRUE(memory) << memory.error().message;
    return memory ? *memory : timeline::StepMemory{};
  }
};

TEST_F(MemoryOfStep, TakesTheFirstRecordedStepWhereNoneIsChosen) {
  const timeline::StepMemory got = memory({});
  EXPECT_EQ(got.rank, 0);
  EXPECT_EQ(got.step, 2);
  ASSERT_EQ(got.recorded.size(), 2u);
  EXPECT_THAT(got.recorded[0].steps, testing::ElementsAre(2, 5));
  EXPECT_THAT(got.recorded[1].steps, testing::IsEmpty());
  ASSERT_TRUE(got.allocations && got.flame);
  EXPECT_EQ(got.problem, "");
}

TEST_F(MemoryOfStep, ReadsAllocationsNamesPhasesAndTheCountedPeak) {
  const timeline::StepMemory got = memory({0, 5, false});
  ASSERT_TRUE(got.allocations);
  const auto& all = got.allocations->all;
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[0].is_constant());
  EXPECT_EQ(all[0].bytes, 1'000);
  EXPECT_EQ(all[1].category, model::MemoryCategory::kActivations);
  EXPECT_EQ(got.allocations->names[all[1].name], "aten::linear");
  EXPECT_EQ(all[1].start_ns, at(5, 1'000));
  EXPECT_EQ(all[1].end_ns, at(5, 6'000));
  EXPECT_EQ(all[1].address, 0x1000u);
  EXPECT_FALSE(all[1].is_older || all[1].outlives);
  EXPECT_TRUE(all[2].outlives && !all[2].is_older);
  EXPECT_EQ(got.peak.bytes, 1'350);
  EXPECT_EQ(got.peak.time_ns, at(5, 5'000));
  EXPECT_EQ(got.counted_peak_bytes, got.peak.bytes) << "without what is outside";
  EXPECT_EQ(got.reserved_bytes, 2'000);
  ASSERT_EQ(got.phases.size(), 2u);
  EXPECT_EQ(got.phases[1].phase, base::Phase::kBackward);
  EXPECT_EQ(got.flame->highest_bytes, 1'350);
}

TEST_F(MemoryOfStep, LeavesOutWhatIsConstantWhereItIsAsked) {
  const timeline::StepMemory got = memory({0, 2, true});
  ASSERT_TRUE(got.flame);
  EXPECT_EQ(got.flame->constant_bytes, 1'000);
  EXPECT_EQ(got.flame->highest_bytes, 350);
  EXPECT_EQ(got.peak.bytes, 1'350);
}

TEST_F(MemoryOfStep, HasNoAllocationsOfAStepOrRankWithoutARecord) {
  const timeline::StepMemory other_step = memory({0, 3, false});
  EXPECT_EQ(other_step.allocations, nullptr);
  EXPECT_EQ(other_step.step, 3);
  EXPECT_THAT(other_step.recorded[0].steps, testing::ElementsAre(2, 5));
  EXPECT_EQ(memory({1, 2, false}).allocations, nullptr);
  EXPECT_EQ(memory({1, -1, false}).step, -1);
  EXPECT_EQ(memory({7, 99, false}).allocations, nullptr);
}

// As in a replay that has come so far.
TEST_F(MemoryOfStep, TellsNothingOfStepsThatEndLater) {
  const auto until = [&](std::int64_t until_ns, const timeline::StepMemoryRequest& request) {
    return open_whole(path)->memory(request, {}, until_ns).value();
  };
  const timeline::StepMemory early = until(at(2, 9'999), {});
  EXPECT_TRUE(early.is_to_come);
  EXPECT_EQ(early.step, -1);
  EXPECT_EQ(early.allocations, nullptr);
  EXPECT_THAT(early.recorded[0].steps, testing::IsEmpty());
  const timeline::StepMemory first = until(at(2, 10'000), {});
  EXPECT_FALSE(first.is_to_come);
  EXPECT_EQ(first.step, 2);
  EXPECT_TRUE(first.allocations);
  EXPECT_THAT(first.recorded[0].steps, testing::ElementsAre(2));
  const timeline::StepMemory later = until(at(5, 9'999), {0, 5, false});
  EXPECT_TRUE(later.is_to_come);
  EXPECT_EQ(later.allocations, nullptr);
  EXPECT_EQ(later.counted_peak_bytes, -1);
  EXPECT_FALSE(until(at(2, 0), {1, -1, false}).is_to_come) << "the rank has no record";
}

TEST_F(MemoryOfStep, IsGivenUpWhenNobodyWantsIt) {
  const auto given_up = open_whole(path)->memory({}, [] { return false; });
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().kind, base::ErrorKind::kFailed);
}

}  // namespace
}  // namespace shardlens::trace::test
