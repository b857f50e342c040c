// The tracker against a naive ledger, fed with what allocators say; no GPU.
#include "profiler/memory/allocation_tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "profiler/memory/memory_sampler.h"
#include "tests/profiler/recorded_run.h"
#include "trace/base/wall_clock.h"

namespace shardlens::profiler::memory {
namespace {

using trace::model::MemoryCategory;
constexpr auto kActivations = MemoryCategory::kActivations;
constexpr auto kParameters = MemoryCategory::kParameters;
constexpr auto kOther = MemoryCategory::kOther;

std::size_t at(MemoryCategory category) { return static_cast<std::size_t>(category); }

struct KeptTracker : AllocationTracker {
  explicit KeptTracker(std::size_t capacity = 1024, std::size_t record_capacity = 1024)
      : AllocationTracker(capacity, record_capacity) {
    keep_addresses(true);
  }
};

std::int64_t highest_of(const std::vector<trace::model::Event>& events) {
  std::map<std::int64_t, std::int64_t> changes;
  for (const auto& event : events) {
    changes[event.start_ns] += event.value;
    changes[event.end_ns()] -= event.value;
  }
  std::int64_t live = 0, highest = 0;
  for (const auto& [time, change] : changes) highest = std::max(highest, live += change);
  return highest;
}

TEST(AddressTable, FindsWhatAMapFinds) {
  std::mt19937_64 random(1);
  AddressTable table(400);
  std::unordered_map<std::uint64_t, std::int64_t> map;
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t address = 0x7f00'0000'0000 + 512 * (random() % 600);
    if (map.contains(address)) {
      LiveAllocation* found = table.find(address);
      ASSERT_NE(found, nullptr);
      ASSERT_EQ(found->bytes, map[address]);
      table.erase(found);
      map.erase(address);
    } else if (map.size() < 400) {
      ASSERT_EQ(table.find(address), nullptr);
      ASSERT_TRUE(table.insert({address, i}));
      map[address] = i;
    }
    ASSERT_EQ(table.size(), map.size());
  }
  std::size_t visited = 0;
  table.visit([&](const LiveAllocation& live) {
    EXPECT_EQ(map.at(live.address), live.bytes);
    ++visited;
  });
  EXPECT_EQ(visited, map.size());
}

TEST(AddressTable, RefusesWhenItIsFullAndStillFinds) {
  AddressTable table(16);
  std::uint64_t address = 0;
  while (table.insert({++address * 64, 1})) ASSERT_LT(address, 1'000u);
  EXPECT_GE(table.size(), 16u);
  for (std::uint64_t i = 1; i < address; ++i) EXPECT_NE(table.find(i * 64), nullptr);
  EXPECT_EQ(table.find(address * 64), nullptr);
}

TEST(AllocationTracker, CountsByTheCategoryThatAnAllocationHadWhenItIsFreed) {
  KeptTracker tracker;
  tracker.allocated({512, 100, 0, 0, kActivations}, true);
  tracker.allocated({1024, 30, 0, 0, kParameters}, true);
  tracker.moved(512, MemoryCategory::kGradients);
  EXPECT_EQ(tracker.bytes().current()[at(kActivations)], 0);
  EXPECT_EQ(tracker.bytes().current()[at(MemoryCategory::kGradients)], 100);
  tracker.freed({512, 100});
  EXPECT_EQ(tracker.bytes().current()[at(MemoryCategory::kGradients)], 0);
  EXPECT_EQ(tracker.bytes().total(), 30);
}

TEST(AllocationTracker, KnowsWhatWasReservedAtThePeakAndWhenMemoryRanOut) {
  KeptTracker tracker;
  tracker.add_reserved(1'000);
  tracker.allocated({512, 600, 0, 0, kActivations}, true);
  tracker.allocated({2048, 300, 0, 0, kParameters}, true);
  tracker.freed({512, 600});
  tracker.add_reserved(2'000);
  tracker.note_shortage(5'000);
  tracker.add_reserved(-2'500);
  const auto peak = tracker.take_peak();
  EXPECT_EQ(peak.bytes.bytes[at(kActivations)], 600);
  EXPECT_EQ(peak.bytes.bytes[at(kParameters)], 300);
  EXPECT_GT(peak.bytes.time_ns, 0);
  EXPECT_EQ(peak.reserved_bytes, 1'000);
  EXPECT_EQ(tracker.reserved_bytes(), 500);
  const auto shortage = tracker.last_shortage();
  ASSERT_TRUE(shortage);
  EXPECT_EQ(shortage->asked_bytes, 5'000);
  EXPECT_EQ(shortage->held[at(kParameters)], 300);
  EXPECT_EQ(shortage->held[at(kActivations)], 0);
  EXPECT_EQ(shortage->reserved_bytes, 3'000);
}

TEST(AllocationTracker, CountsExactlyWhereItsTableIsFull) {
  KeptTracker tracker(16, 1024);
  for (std::uint64_t i = 1; i <= 100; ++i) {
    tracker.allocated({i * 512, 10, 0, 0, kActivations}, true);
  }
  EXPECT_EQ(tracker.bytes().total(), 1'000);
  const auto now = tracker.bytes().current();
  EXPECT_GT(now[at(kOther)], 0) << "of what it cannot tell apart it knows no category";
  ASSERT_TRUE(tracker.begin_record());
  EXPECT_EQ(tracker.end_record(trace::base::wall_clock_ns()), 0);
  EXPECT_EQ(highest_of(tracker.take_record()), 1'000) << "one event stands for the others";
  for (std::uint64_t i = 1; i <= 100; ++i) {
    tracker.freed({i * 512, 10});
  }
  for (const std::int64_t bytes : tracker.bytes().current()) EXPECT_EQ(bytes, 0);
}

TEST(AllocationTracker, RecordsTheLifeOfWhatLivedInTheStep) {
  KeptTracker tracker;
  tracker.allocated({64, 1, 0, 4, kParameters}, true);
  tracker.allocated({128, 2, 0, 0, kActivations}, true);
  tracker.allocated({192, 4, 0, 0, kActivations}, true);
  ASSERT_TRUE(tracker.begin_record());
  tracker.freed({192, 4});  // before the step's own start
  const std::int64_t step_start = trace::base::wall_clock_ns();
  tracker.freed({128, 2});
  tracker.allocated({256, 8, 0, 5, kActivations}, true);
  tracker.freed({256, 8});
  tracker.allocated({320, 16, 0, 0, kActivations}, true);
  tracker.moved(320, MemoryCategory::kGradients);
  EXPECT_EQ(tracker.end_record(step_start), 0);
  tracker.freed({320, 16});

  const auto events = tracker.take_record();
  ASSERT_EQ(events.size(), 4u);
  std::map<std::int64_t, trace::model::Event> by_bytes;
  for (const auto& event : events) by_bytes[event.value] = event;
  EXPECT_TRUE(std::ranges::is_sorted(events, {}, &trace::model::Event::start_ns));
  EXPECT_EQ(by_bytes.at(1).start_ns, step_start);
  EXPECT_EQ(by_bytes.at(1).flags, trace::model::flags_of(kParameters) | trace::model::kEventOlder |
                                      trace::model::kEventNotFreed);
  EXPECT_EQ(by_bytes.at(1).name, 4u);
  EXPECT_EQ(by_bytes.at(2).flags, trace::model::flags_of(kActivations) | trace::model::kEventOlder);
  EXPECT_EQ(by_bytes.at(8).flags, trace::model::flags_of(kActivations));
  EXPECT_EQ(by_bytes.at(8).name, 5u);
  EXPECT_EQ(by_bytes.at(8).correlation, 256u);
  EXPECT_GT(by_bytes.at(8).start_ns, step_start);
  EXPECT_GT(by_bytes.at(8).duration_ns, 0);
  EXPECT_EQ(by_bytes.at(16).flags,
            trace::model::flags_of(MemoryCategory::kGradients) | trace::model::kEventNotFreed);
  EXPECT_EQ(trace::model::category_of(by_bytes.at(16).flags), MemoryCategory::kGradients);
  EXPECT_EQ(by_bytes.at(16).end_ns(), by_bytes.at(1).end_ns());
  EXPECT_TRUE(tracker.take_record().empty());
}

// The two ways to a peak: counters while the job runs, and the lives of allocations afterwards.
TEST(AllocationTracker, TheRecordsPeakIsTheCountedOneWithManyThreads) {
  KeptTracker tracker(8192, 1 << 16);
  for (int step = 0; step < 3; ++step) {
    ASSERT_TRUE(tracker.begin_record());
    tracker.take_peak();
    const std::int64_t step_start = trace::base::wall_clock_ns();
    std::vector<std::jthread> threads;
    for (std::uint64_t thread = 1; thread <= 4; ++thread) {
      threads.emplace_back([&, thread] {
        std::mt19937_64 random(thread * 100 + static_cast<std::uint64_t>(step));
        std::map<std::uint64_t, std::int64_t> live;
        for (std::uint64_t i = 1; i < 4'000; ++i) {
          const std::uint64_t address =
              (static_cast<std::uint64_t>(step + 1) << 40) + (thread << 32) + i * 64;
          live[address] = static_cast<std::int64_t>(random() % 10'000) + 1;
          tracker.allocated({address, live[address], 0, 0, kActivations});
          if (random() % 2 != 0) continue;
          tracker.freed({live.begin()->first, live.begin()->second, 0, 0, kActivations});
          live.erase(live.begin());
        }
        // Most is left for the next step in one of them only.
        if (thread == 1) return;
        for (const auto& [address, bytes] : live)
          tracker.freed({address, bytes, 0, 0, kActivations});
      });
    }
    threads.clear();
    const auto peak = tracker.take_peak();
    ASSERT_EQ(tracker.end_record(step_start), 0);
    const auto events = tracker.take_record();
    ASSERT_GT(events.size(), 4'000u);
    EXPECT_EQ(highest_of(events), peak.bytes.bytes[at(kActivations)]);
  }
}

TEST(AllocationTracker, CountsWhatFindsNoRoomInTheRecord) {
  KeptTracker tracker(1024, 16);
  ASSERT_TRUE(tracker.begin_record());
  const std::int64_t step_start = trace::base::wall_clock_ns();
  for (std::uint64_t i = 1; i <= 20; ++i) {
    tracker.allocated({i * 64, 1}, true);
    tracker.freed({i * 64, 1});
  }
  EXPECT_EQ(tracker.end_record(step_start), 4);
  EXPECT_EQ(tracker.take_record().size(), 16u);
}

TEST(AllocationTracker, KeepsTwoRecordsUntilTheyAreTaken) {
  KeptTracker tracker;
  tracker.allocated({64, 1}, true);
  for (int record = 0; record < 2; ++record) {
    ASSERT_TRUE(tracker.begin_record());
    tracker.end_record(trace::base::wall_clock_ns());
  }
  EXPECT_FALSE(tracker.begin_record());
  EXPECT_EQ(tracker.take_record().size(), 1u);
  EXPECT_TRUE(tracker.begin_record());
  tracker.end_record(trace::base::wall_clock_ns());
}

TEST(AllocationTracker, WithoutAddressesCountsAndRecordsNothing) {
  AllocationTracker tracker(64, 64);
  tracker.allocated({64, 10, 0, 0, kActivations});
  EXPECT_FALSE(tracker.begin_record());
  EXPECT_EQ(tracker.bytes().total(), 10);
  tracker.keep_addresses(true);
  ASSERT_TRUE(tracker.begin_record());
  tracker.end_record(trace::base::wall_clock_ns());
  const auto events = tracker.take_record();
  ASSERT_EQ(events.size(), 1u) << "what was there before is one event";
  EXPECT_EQ(events[0].value, 10);
  tracker.freed({64, 10, 0, 0, kActivations});
  EXPECT_EQ(tracker.bytes().total(), 0);
}

TEST(AllocationTracker, WithoutAddressesCountsInNoCategoryWhatItWillNotKnowAgain) {
  AllocationTracker tracker(64, 64);
  tracker.allocated({64, 10, 0, 0, kActivations}, true);
  tracker.freed({64, 10});
  for (const std::int64_t bytes : tracker.bytes().current()) EXPECT_EQ(bytes, 0);
}

MemorySource peaks_of(KeptTracker& tracker) {
  MemorySource source;
  source.current = [] { return trace::model::MemorySample{}; };
  source.take_peak = [&tracker] {
    trace::model::MemorySample sample;
    sample.bytes = tracker.take_peak().bytes.bytes;
    return sample;
  };
  return source;
}

// Recorded allocations by the index of the step that they lie within.
std::map<std::int64_t, std::vector<trace::model::Event>> allocations_by_step(
    const RecordedRun::Content& content) {
  std::map<std::int64_t, std::vector<trace::model::Event>> by_step;
  for (const auto& events : content.rows.events) {
    if (events.kind != trace::model::EventKind::kAllocation) continue;
    const auto lane = std::ranges::find(content.rows.lanes, events.lane, &trace::model::Lane::id);
    EXPECT_TRUE(lane != content.rows.lanes.end() && lane->kind == trace::model::LaneKind::kMemory);
    for (const auto& event : events.events) {
      const auto step =
          std::ranges::find_if(content.rows.steps, [&](const trace::model::Step& each) {
            return event.start_ns >= each.start_ns && event.end_ns() <= each.end_ns;
          });
      const bool is_in_a_step = step != content.rows.steps.end();
      EXPECT_TRUE(is_in_a_step) << "an event lies within its step";
      if (is_in_a_step) by_step[step->index].push_back(event);
    }
  }
  return by_step;
}

TEST(AllocationRecorder, WritesTheStepsOfItsScheduleWithTheSampler) {
  RecordedRun run;
  KeptTracker tracker;
  const trace::model::StringId name = run.recorder().intern("aten::mm");
  tracker.allocated({64, 1'000, 0, name, kParameters});
  {
    trace::job::RecordSchedule schedule;
    schedule.first = 2;
    schedule.last = 3;
    MemorySampler sampler(
        run.recorder(), peaks_of(tracker), std::chrono::milliseconds(1),
        std::make_unique<AllocationRecorder>(run.recorder(), tracker, schedule, true));
    for (int step = 0; step < 6; ++step) {
      sampler.begin_step(step);
      run.recorder().begin_step(step);
      tracker.allocated({128, 10 * (step + 1), 0, name, kActivations});
      tracker.freed({128, 10 * (step + 1), 0, 0, kActivations});
      sampler.record_step_peak();
      run.recorder().end_step({});
    }
  }
  const auto content = run.finish();
  const auto by_step = allocations_by_step(content);
  EXPECT_THAT(by_step, testing::ElementsAre(testing::Key(2), testing::Key(3)));
  for (const auto& [step, events] : by_step) {
    EXPECT_EQ(events.size(), 2u);
    for (const auto& event : events) EXPECT_EQ(content.text(event.name), "aten::mm");
    const auto peak = std::ranges::find_if(content.rows.memory, [&](const auto& sample) {
      return sample.is_peak && sample.step == step;
    });
    ASSERT_NE(peak, content.rows.memory.end());
    EXPECT_EQ(highest_of(events), peak->allocated_bytes());
  }
  EXPECT_TRUE(content.rows.lost.empty());
  EXPECT_FALSE(tracker.begin_record()) << "after its last step it keeps no addresses";
}

}  // namespace
}  // namespace shardlens::profiler::memory
