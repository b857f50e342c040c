#include "trace/synthetic/synthetic_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "trace/base/file_system.h"
#include "trace/model/gpu_counter_names.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/write/batch_queue.h"

namespace shardlens::trace::synthetic {
namespace {

namespace fs = std::filesystem;

// All batches of a run, joined per rank.
std::map<int, model::Batch> read_all(const fs::path& run) {
  std::map<int, model::Batch> ranks;
  const auto reader = store::RunReader::open(run);
  EXPECT_TRUE(reader);
  while (reader) {
    auto batches = (*reader)->poll();
    EXPECT_TRUE(batches);
    if (!batches || batches->empty()) break;
    for (model::Batch& batch : *batches) {
      store::append(ranks[batch.steps.empty() ? 0 : batch.steps.front().rank], std::move(batch));
    }
  }
  return ranks;
}

std::vector<model::Event> events_of(const model::Batch& batch, model::EventKind kind,
                                    int lane = -1) {
  std::vector<model::Event> events;
  for (const model::EventRun& run : batch.events) {
    if (run.kind != kind || (lane >= 0 && run.lane != lane)) continue;
    events.insert(events.end(), run.events.begin(), run.events.end());
  }
  return events;
}

class GeneratedRun : public testing::Test {
 protected:
  SyntheticRun generate(const std::string& name, std::uint64_t seed = 7, int threads = 0) {
    SyntheticRunOptions options;
    options.name = name;
    options.ranks = 3;
    options.events = 120'000;
    options.seed = seed;
    options.threads = threads;
    const auto run = generate_run(folder_.path(), options);
    EXPECT_TRUE(run) << run.error().message;
    return run.value_or(SyntheticRun{});
  }

  const base::TemporaryFolder folder_ = std::move(*base::TemporaryFolder::create());
};

TEST_F(GeneratedRun, HoldsAsManyEventsAsItSays) {
  const SyntheticRun run = generate("counted");
  std::int64_t events = 0;
  const auto ranks = read_all(run.folder);
  ASSERT_EQ(ranks.size(), 3u);
  for (const auto& [rank, batch] : ranks) {
    events += model::count_events(batch) + std::ssize(batch.collectives);
    EXPECT_EQ(static_cast<std::int64_t>(batch.steps.size()), run.steps);
  }
  EXPECT_EQ(events, run.events);
  EXPECT_GT(run.events, 60'000);
  EXPECT_LE(run.events, 120'000);
}

TEST_F(GeneratedRun, IsTheSameForTheSameSeedHoweverManyThreads) {
  const auto starts = [&](const SyntheticRun& run) {
    std::vector<std::int64_t> all;
    for (const auto& [rank, batch] : read_all(run.folder)) {
      for (const model::EventRun& one : batch.events) {
        for (const model::Event& event : one.events) {
          all.insert(all.end(), {event.start_ns, event.duration_ns, event.value});
        }
      }
    }
    return all;
  };
  const auto first = starts(generate("first", 7, 1));
  EXPECT_EQ(first, starts(generate("again", 7, 3)));
  EXPECT_NE(first, starts(generate("other", 8)));
}

TEST_F(GeneratedRun, KernelsOfAStreamFollowEachOtherAndTheirLaunches) {
  for (const auto& [rank, batch] : read_all(generate("kernels").folder)) {
    std::map<std::uint64_t, std::int64_t> launched;
    for (const model::Event& launch : events_of(batch, model::EventKind::kLaunch)) {
      if (launch.correlation != 0) launched[launch.correlation] = launch.end_ns();
    }
    for (const int lane : {3, 4}) {
      const auto kernels = events_of(batch, model::EventKind::kKernel, lane);
      ASSERT_FALSE(kernels.empty());
      std::int64_t end = 0;
      for (const model::Event& kernel : kernels) {
        EXPECT_GE(kernel.start_ns, end);
        EXPECT_GT(kernel.duration_ns, 0);
        ASSERT_TRUE(launched.contains(kernel.correlation));
        EXPECT_GT(kernel.start_ns, launched[kernel.correlation]);
        end = kernel.end_ns();
      }
    }
  }
}

TEST_F(GeneratedRun, OperatorsNestByTheirDepth) {
  for (const auto& [rank, batch] : read_all(generate("nested").folder)) {
    for (const int lane : {1, 2}) {
      std::vector<model::Event> open;
      for (const model::Event& event : events_of(batch, model::EventKind::kOperator, lane)) {
        while (!open.empty() && open.back().end_ns() <= event.start_ns) open.pop_back();
        ASSERT_EQ(event.depth(), static_cast<int>(open.size()));
        if (!open.empty()) {
          EXPECT_LE(event.end_ns(), open.back().end_ns());
        }
        open.push_back(event);
      }
    }
  }
}

TEST_F(GeneratedRun, CollectivesEndOnAllRanksOnceTheLastHasCome) {
  std::map<std::int64_t, std::vector<model::Collective>> calls;
  for (const auto& [rank, batch] : read_all(generate("joined").folder)) {
    for (const model::Collective& row : batch.collectives) calls[row.sequence].push_back(row);
  }
  ASSERT_GT(calls.size(), 25u);
  for (const auto& [sequence, rows] : calls) {
    ASSERT_EQ(rows.size(), 3u);
    const auto latest = std::ranges::max(rows, {}, &model::Collective::start_ns).start_ns;
    const auto [first, last] = std::ranges::minmax(rows, {}, &model::Collective::end_ns);
    EXPECT_GT(first.end_ns, latest);
    EXPECT_LT(last.end_ns - first.end_ns, 2'000);
  }
}

TEST_F(GeneratedRun, AllocationsOfAStepAreGivenBack) {
  for (const auto& [rank, batch] : read_all(generate("freed").folder)) {
    std::int64_t bytes = 0, allocated = 0;
    for (const model::Event& event : events_of(batch, model::EventKind::kAllocation)) {
      bytes += event.value;
      allocated += std::max<std::int64_t>(event.value, 0);
    }
    EXPECT_EQ(bytes, 0);
    EXPECT_GT(allocated, 0);
  }
}

TEST_F(GeneratedRun, AGpuIsHeldDownByHeatWhereItsRankIsSlow) {
  const auto ranks = read_all(generate("hot").folder);
  for (const auto& [rank, batch] : ranks) {
    std::map<model::StringId, std::string> names;
    for (const model::InternedString& string : batch.strings) names[string.id] = string.text;
    std::set<std::string> seen;
    std::set<std::int64_t> hot;  // steps
    std::int64_t before = 0;
    for (const model::CounterSample& sample : batch.counters) {
      seen.insert(names[sample.name]);
      EXPECT_GE(sample.time_ns, before);
      before = sample.time_ns;
      const auto limits = static_cast<std::uint32_t>(sample.value);
      if (names[sample.name] != model::kClockLimits || (limits & model::kLimitSoftwareThermal) == 0)
        continue;
      for (const model::Step& step : batch.steps) {
        if (sample.time_ns >= step.start_ns && sample.time_ns < step.end_ns) hot.insert(step.index);
      }
    }
    EXPECT_EQ(seen.size(), model::kGpuCounters.size());
    const bool has_slow_steps = rank == 2 && batch.steps.size() > 9;
    EXPECT_EQ(hot, has_slow_steps ? std::set<std::int64_t>{9} : std::set<std::int64_t>{});
  }
}

TEST_F(GeneratedRun, LeavesNothingBehindWhenItIsStopped) {
  SyntheticRunOptions options;
  options.events = 50'000'000;
  options.progress = [](double) { return false; };
  const auto stopped = generate_run(folder_.path(), options);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, base::ErrorKind::kFailed);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(GeneratedRun, RefusesNumbersOutOfRangeAndTakenNames) {
  SyntheticRunOptions options;
  options.ranks = 0;
  EXPECT_EQ(generate_run(folder_.path(), options).error().kind, base::ErrorKind::kUsage);
  options.ranks = 1;
  options.events = -5;
  EXPECT_EQ(generate_run(folder_.path(), options).error().kind, base::ErrorKind::kUsage);
  options.events = 1;
  EXPECT_EQ(generate_run(folder_.path(), options)->steps, 1);
  EXPECT_EQ(generate_run(folder_.path(), options).error().kind, base::ErrorKind::kUsage);
  options.overwrite = true;
  EXPECT_TRUE(generate_run(folder_.path(), options));
}

}  // namespace
}  // namespace shardlens::trace::synthetic
