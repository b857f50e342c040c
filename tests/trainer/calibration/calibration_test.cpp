#include "trainer/calibration/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/trainer/comm/rank_threads.h"
#include "trace/predict/costs/matched_calls.h"

namespace shardlens::trainer::calibration {
namespace {

using comm::Recording;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using trace::model::CollectiveFunction;

TEST(SizeLadder, DoublesUpToTheLargest) {
  EXPECT_EQ(size_ladder(4096), (std::vector<std::int64_t>{1024, 2048, 4096}));
  EXPECT_EQ(size_ladder(5000), (std::vector<std::int64_t>{1024, 2048, 5000})) << "4096 is as good";
  EXPECT_EQ(size_ladder(6000), (std::vector<std::int64_t>{1024, 2048, 4096, 6000}));
  EXPECT_EQ(size_ladder(1), (std::vector<std::int64_t>{1024}));
  EXPECT_EQ(size_ladder(INT64_MAX).back(), 256 << 20);
  EXPECT_EQ(size_ladder(INT64_MAX).size(), 19u);
}

// Asks for all that fits where a call of `bytes` takes `per_byte` ns a byte.
MeasuringPlan plan_of(std::int64_t largest, nanoseconds time, double per_byte,
                      std::uint64_t seed = 7) {
  MeasuringPlan plan(1, largest, time, seed);
  for (auto calls = plan.next_size(); !calls.empty(); calls = plan.next_size()) {
    std::vector<nanoseconds> times;
    for (const MeasuredCall& call : calls) {
      times.emplace_back(static_cast<std::int64_t>(per_byte * static_cast<double>(call.bytes)));
    }
    plan.took(times);
  }
  return plan;
}

std::map<std::int64_t, int> times_by_size(const std::vector<MeasuredCall>& calls) {
  std::map<std::int64_t, int> times;
  for (const MeasuredCall& call : calls) ++times[call.bytes];
  return times;
}

TEST(MeasuringPlan, MeasuresAllSizesInAnotherOrderInEachRound) {
  const MeasuringPlan plan = plan_of(1 << 20, std::chrono::hours(1), 1);
  const auto first = plan.round(1), second = plan.round(2);
  EXPECT_EQ(times_by_size(first), times_by_size(second));
  EXPECT_EQ(times_by_size(first).size(), 11u);
  EXPECT_NE(first, second);
  EXPECT_EQ(first, plan_of(1 << 20, std::chrono::hours(1), 1).round(1)) << "as on another rank";
  EXPECT_NE(first, plan_of(1 << 20, std::chrono::hours(1), 1, 8).round(1)) << "another seed";
  EXPECT_FALSE(std::ranges::is_sorted(first, {}, &MeasuredCall::bytes));
}

TEST(MeasuringPlan, LeavesOutWhatTakesTooLongForSeveralRounds) {
  // 10 ns a byte, as over 0.8 Gbit/s: 256 MiB would take 2.7 s each.
  const nanoseconds time = milliseconds(4200);
  const MeasuringPlan plan = plan_of(kLargestBytes, time, 10);
  const auto sizes = times_by_size(plan.round(1));
  const auto largest = sizes.rbegin()->first;
  EXPECT_EQ(largest, 8 << 20)
      << "84 ms; the next would take a twenty-fifth of the time, four times a round";
  double finding_ns = 0, round_ns = 0;
  for (const auto& [bytes, times] : sizes) {
    finding_ns += 10.0 * static_cast<double>(bytes) * std::size(kFunctions);
    round_ns += 10.0 * static_cast<double>(bytes) * times;
  }
  EXPECT_LE(finding_ns + 2 * round_ns, static_cast<double>(time.count()));
  EXPECT_EQ(sizes.begin()->second, 8 * 4) << "short calls come several times";
  EXPECT_EQ(sizes.rbegin()->second, 4);
}

TEST(MeasuringPlan, ASmallCallThatSomethingHeldUpComesAsOftenAsOthers) {
  MeasuringPlan plan(1, 2048, std::chrono::seconds(48), 0);
  EXPECT_FALSE(plan.is_long(milliseconds(500)));
  EXPECT_TRUE(plan.is_long(milliseconds(501)));
  for (const milliseconds time : {milliseconds(450), milliseconds(1)}) {
    plan.took(std::vector<nanoseconds>(plan.next_size().size(), time));
  }
  for (const auto& [bytes, times] : times_by_size(plan.round(1))) EXPECT_EQ(times, 8 * 4) << bytes;
}

TEST(MeasuringPlan, OneSlowFunctionDoesNotEndTheOthers) {
  MeasuringPlan plan(1, 4096, std::chrono::seconds(1), 0);
  for (auto calls = plan.next_size(); !calls.empty(); calls = plan.next_size()) {
    std::vector<nanoseconds> times;
    for (const MeasuredCall& call : calls) {
      times.emplace_back(call.function == CollectiveFunction::kBroadcast ? 900'000'000 : 1);
    }
    plan.took(times);
  }
  const auto calls = plan.round(1);
  EXPECT_EQ(std::ranges::max(calls, {}, &MeasuredCall::bytes).bytes, 4096);
  for (const MeasuredCall& call : calls) {
    EXPECT_TRUE(call.function != CollectiveFunction::kBroadcast || call.bytes == 1024);
  }
}

struct Measured {
  trace::predict::MeasuredCollectives costs;
  std::vector<Recording> recordings;
};

Measured calibrate(int ranks, CalibrationOptions options, comm::CommunicatorOptions link = {}) {
  std::atomic<int> no_signal{0};
  Measured measured;
  measured.recordings = comm::on_ranks(
      ranks,
      [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
        std::int64_t steps = 0;
        Calibration calibration(communicator, recorder, options, no_signal);
        EXPECT_FALSE(calibration.run([&](std::int64_t done) { steps = done; }));
        EXPECT_GT(steps, Calibration::kLeastRounds);
      },
      link);
  using trace::predict::MatchedCalls;
  MatchedCalls calls(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    // Each of the threads' recorders took itself for rank 0.
    const trace::model::Batch& rows = measured.recordings[static_cast<std::size_t>(rank)].rows;
    for (auto group : rows.process_groups) {
      group.rank = rank;
      calls.add(group);
    }
    for (auto call : rows.collectives) {
      call.rank = rank;
      const bool counts = call.step >= Calibration::kFirstMeasuredStep && call.bytes > 0;
      if (counts) calls.add(call);
    }
  }
  measured.costs =
      calls.measured([](const MatchedCalls::Key&, const MatchedCalls::Call&) { return true; });
  return measured;
}

TEST(Calibration, MeasuresWhatStrategiesAskForAndNothingElse) {
  // Calls of 30 ms, of a busy machine, still leave time for all sizes.
  const Measured measured = calibrate(2, {milliseconds(3000), 16384, 1, 0});
  ASSERT_EQ(measured.costs.size(), std::size(kFunctions));
  for (const CollectiveFunction function : kFunctions) {
    const auto& sizes = measured.costs.at({function, 2});
    EXPECT_EQ(sizes.begin()->first, 1024);
    EXPECT_EQ(sizes.rbegin()->first, 16384);
    EXPECT_EQ(sizes.size(), 5u);
    for (const auto& [bytes, times] : sizes) {
      EXPECT_GE(times.size(), static_cast<std::size_t>(Calibration::kLeastRounds)) << bytes;
      EXPECT_GT(*std::ranges::max_element(times), 0);
    }
  }
  for (const Recording& recording : measured.recordings) {
    ASSERT_GT(recording.rows.steps.size(), 3u);
    EXPECT_TRUE(std::isnan(recording.rows.steps.back().loss)) << "nothing was trained";
    std::size_t barriers = 0, calls = 0;
    for (const auto& row : recording.rows.collectives) {
      barriers += row.function == CollectiveFunction::kBarrier;
      calls += recording.text(row.tag_name) == "calibration";
    }
    EXPECT_EQ(barriers, calls) << "one before each";
  }
}

TEST(Calibration, HybridGroupsAreMeasuredByTheirOwnRanks) {
  const Measured measured = calibrate(4, {milliseconds(300), 2048, 1, 2});
  EXPECT_EQ(measured.costs.size(), 2 * std::size(kFunctions));
  EXPECT_TRUE(measured.costs.contains({CollectiveFunction::kAllGather, 4}));
  EXPECT_TRUE(measured.costs.contains({CollectiveFunction::kAllGather, 2}));
}

TEST(Calibration, EndsWithARankThatIsAskedTo) {
  std::atomic<int> asked{0};
  comm::on_ranks(2, [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
    const std::atomic<int> no_signal{0};
    const bool is_asked = communicator.rank() == 1;
    Calibration calibration(communicator, recorder, {std::chrono::hours(1), 1024, 0, 0},
                            is_asked ? asked : no_signal);
    EXPECT_TRUE(calibration.run([&](std::int64_t steps) {
      if (is_asked && steps == 2) asked = 15;
    }));
  });
}

}  // namespace
}  // namespace shardlens::trainer::calibration
