#include "trace/interop/marks/call_places.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <numeric>
#include <vector>

namespace shardlens::trace::interop {
namespace {

using Places = std::vector<std::int64_t>;

// Two calls in each of these steps, which begin 100 ns after each other.
RankCalls two_in_each(std::int64_t first, std::int64_t last, bool are_marked = true) {
  std::vector<model::Step> steps;
  std::vector<std::int64_t> asked_ns;
  for (std::int64_t number = first; number <= last; ++number) {
    model::Step& step = steps.emplace_back();
    step.index = number;
    step.start_ns = 100 * number;
    for (const int after : {10, 60}) asked_ns.push_back(step.start_ns + after);
  }
  return calls_by_step(steps, asked_ns, are_marked);
}

Places from(std::int64_t first, std::size_t count) {
  Places places(count);
  std::iota(places.begin(), places.end(), first);
  return places;
}

TEST(CallPlaces, OfTheSameStepsAreThoseInTheirOrder) {
  for (const bool are_marked : {true, false}) {
    const std::vector ranks{two_in_each(2, 6, are_marked), two_in_each(2, 6, are_marked)};
    for (const Places& places : places_of_calls(ranks)) EXPECT_EQ(places, from(0, 10));
  }
}

TEST(CallPlaces, OfDifferentStepsAreThoseOfTheSharedOnes) {
  const auto places = places_of_calls(std::vector{two_in_each(2, 6), two_in_each(3, 7)});
  EXPECT_EQ(places[0], from(0, 10)) << "of steps 2 to 6";
  EXPECT_EQ(places[1], from(2, 10)) << "of steps 3 to 7";
}

TEST(CallPlaces, OfStepsThatNobodySharesAreNotShared) {
  const auto places = places_of_calls(std::vector{two_in_each(2, 3), two_in_each(8, 9)});
  EXPECT_EQ(places[0], from(0, 4));
  EXPECT_EQ(places[1], from(4, 4));
  const auto unmarked = places_of_calls(std::vector{two_in_each(0, 3, false), two_in_each(0, 4)});
  for (const std::int64_t place : unmarked[0]) EXPECT_GE(place, 10);
}

TEST(CallPlaces, OfStepsThatNoJobCountsAreNotShared) {
  std::vector<model::Step> steps(3);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].index = std::array{4, 2, 3}[i];
    steps[i].start_ns = 100 * static_cast<std::int64_t>(i);
  }
  const auto strange = calls_by_step(steps, Places{10, 110, 210}, true);
  const auto places = places_of_calls(std::vector{two_in_each(2, 4), strange});
  EXPECT_EQ(places[0], from(0, 6));
  EXPECT_EQ(places[1], from(6, 3));
}

TEST(CallPlaces, CountBackFromTheFirstStep) {
  std::vector<model::Step> steps(1);
  steps[0].index = 3;
  steps[0].start_ns = 300;
  const auto places = places_of_calls(
      std::vector{two_in_each(2, 4), calls_by_step(steps, Places{260, 310, 360, 500}, true)});
  // Of rank 1's last call, behind its only step, nothing tells that it is of rank 0's next.
  EXPECT_EQ(places[0], (Places{1, 2, 3, 4, 6, 7}));
  EXPECT_EQ(places[1], (Places{2, 3, 4, 5})) << "from the last call of step 2 on";
}

TEST(CallPlaces, NumberTheCallsOfEachGroup) {
  std::map<int, model::Batch> rows;
  for (const int rank : {0, 1}) {
    model::Batch& batch = rows[rank];
    batch.process_groups = {{rank, 0, 0, 0, {0, 1}}, {rank, 1, 0, 0, {rank, rank + 2}}};
    for (std::int64_t number = 2 + rank; number < 5 + rank; ++number) {
      model::Step& step = batch.steps.emplace_back();
      step.index = number;
      step.start_ns = 100 * number;
      for (const int group : {0, 1, -1}) {
        model::Collective& call = batch.collectives.emplace_back();
        call.function = model::CollectiveFunction::kAllReduce;
        call.process_group = group;
        call.start_ns = step.start_ns + 10;
      }
    }
  }
  rows[1].collectives[0].sequence = 77;  // the trace tells it
  number_calls(rows);
  const auto numbers_of = [&](int rank, int group) {
    Places numbers;
    for (const model::Collective& call : rows[rank].collectives) {
      if (call.process_group == group) numbers.push_back(call.sequence);
    }
    return numbers;
  };
  EXPECT_EQ(numbers_of(0, 0), from(0, 3));
  EXPECT_EQ(numbers_of(1, 0), (Places{77, 2, 3}));
  EXPECT_EQ(numbers_of(1, 1), from(0, 3)) << "of no group of rank 0's";
  EXPECT_EQ(numbers_of(1, -1), Places(3, -1));
}

// GPUs lag behind: rank 0's still runs two that were launched before, rank 1's one, rank 2's none.
TEST(CallPlaces, CountBackWhatWasLaunchedBeforeTheRecordingBegan) {
  std::map<int, model::Batch> rows;
  const std::map<int, int> left{{0, 2}, {1, 1}, {2, 0}};
  for (const auto& [rank, before] : left) {
    model::Batch& batch = rows[rank];
    batch.process_groups = {{rank, 0, 0, 0, {0, 1, 2}}};
    model::Step& step = batch.steps.emplace_back();
    step.index = 7, step.start_ns = 100, step.end_ns = 900;
    batch.rank_info.emplace();
    batch.rank_info->device = "cuda";
    for (int i = 0; i < before + 3; ++i) {
      model::Collective& call = batch.collectives.emplace_back();
      call.function = model::CollectiveFunction::kAllReduce;
      call.process_group = 0;
      call.start_ns = 200 + 10 * i;
      if (i >= before) call.enqueued_ns = 150 + 10 * i;
    }
  }
  const auto check = [&] {
    number_calls(rows);
    for (const auto& [rank, before] : left) {
      std::int64_t next = 2 - before;
      for (const auto& call : rows[rank].collectives) EXPECT_EQ(call.sequence, next++) << rank;
    }
  };
  check();
  for (auto& [rank, batch] : rows) {
    for (model::Collective& call : batch.collectives) call.sequence = -1;
  }
  rows[1].steps.push_back(rows[1].steps.front());
  rows[1].steps.back().index = 8, rows[1].steps.back().start_ns = 1000;
  check();  // Ranks of different steps, likewise.
}

// Rank 0 sends to one more rank than rank 1 does; of what nothing is told it may have been.
TEST(CallPlaces, OfSendsAndReceivesAreNotCounted) {
  using Called = model::CollectiveFunction;
  std::map<int, model::Batch> rows;
  for (const int rank : {0, 1}) {
    rows[rank].process_groups = {{rank, 0, 0, 0, {0, 1, 2}}};
    std::int64_t time_ns = 0;
    for (const auto function :
         {Called::kAllReduce, Called::kSend, rank == 0 ? Called::kSend : Called::kBarrier,
          Called::kReceive, Called::kOther, Called::kAllReduce}) {
      if (function == Called::kBarrier) continue;
      model::Collective& call = rows[rank].collectives.emplace_back();
      call.function = function;
      call.process_group = 0;
      call.start_ns = time_ns += 10;
    }
  }
  number_calls(rows);
  for (const int rank : {0, 1}) {
    const auto& calls = rows[rank].collectives;
    EXPECT_EQ(calls.front().sequence, 0);
    EXPECT_EQ(calls[1].sequence, -1);
    EXPECT_EQ(calls.back().sequence, 1) << "rank " << rank;
  }
}

}  // namespace
}  // namespace shardlens::trace::interop
