// Waits and transfers against the definitions, worked out call by call.
#include "trace/timeline/straggler_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <tuple>

namespace shardlens::trace {

namespace {

Collective call(int rank, std::int64_t sequence, std::int64_t start, std::int64_t end) {
  Collective c;
  c.rank = rank;
  c.sequence = sequence;
  c.function = CollectiveFunction::kAllReduce;
  c.start_ns = start;
  c.end_ns = end;
  return c;
}

StragglerFigures figures_of(const std::vector<Collective>& calls,
                            const std::vector<ProcessGroupFigures>& groups = {},
                            const StragglerOptions& options = {}) {
  return straggler_figures(calls, {}, groups, StringTable(), options);
}

TEST(StragglerFigures, NameTheLastRankAndWhatItCost) {
  const auto figures =
      figures_of({call(0, 7, 100, 1000), call(1, 7, 400, 1010), call(2, 7, 150, 990)});
  ASSERT_EQ(figures.calls.size(), 1u);
  const StragglerCall& only = figures.calls.front();
  EXPECT_EQ(only.last_rank, 1);
  EXPECT_EQ(only.wait_ns, 300 + 250);
  EXPECT_EQ(only.longest_wait_ns(), 300);
  EXPECT_EQ(only.transfer_ns(), 610);
  EXPECT_EQ(only.part_of(2)->transfer_ns, 590);
  EXPECT_EQ(only.part_of(3), nullptr);
  ASSERT_EQ(figures.ranks.size(), 3u);
  EXPECT_EQ(figures.ranks[1].times_last, 1);
  EXPECT_EQ(figures.ranks[1].caused_ns, 550);
  EXPECT_EQ(figures.ranks[1].alone_ns, 250) << "with rank 2 alone it would have begun at 150";
  EXPECT_EQ(figures.ranks[1].late_ns, 300);
  EXPECT_EQ(figures.ranks[0].waited_ns, 300);
}

TEST(StragglerFigures, BelieveNoWaitBelowTheErrorOfTheClocks) {
  const auto figures = figures_of({call(0, 7, 100, 1000), call(1, 7, 140, 1000)}, {},
                                  {.clock_error_ns = 50, .most_calls = 10});
  ASSERT_EQ(figures.calls.size(), 1u);
  EXPECT_EQ(figures.calls.front().last_rank, -1);
  EXPECT_EQ(figures.calls.front().wait_ns, 0);
  EXPECT_EQ(figures.ranks[1].times_last, 0);
  EXPECT_EQ(figures.ranks[1].caused_ns, 0);
}

TEST(StragglerFigures, BlameNobodyWhereTwoCameTogether) {
  const auto figures =
      figures_of({call(0, 1, 100, 500), call(1, 1, 300, 500), call(2, 1, 300, 500)});
  EXPECT_EQ(figures.calls.front().last_rank, -1);
  EXPECT_EQ(figures.calls.front().wait_ns, 200) << "rank 0 waited all the same";
  for (const auto& rank : figures.ranks) EXPECT_EQ(rank.times_last, 0);
}

TEST(StragglerFigures, LeaveOutWhatIsNotWholeAndCountIt) {
  const std::vector<ProcessGroupFigures> groups{{0, "world", "nccl", {0, 1, 2}}};
  auto send = call(0, 3, 100, 200), receive = call(1, 3, 100, 200), third = call(2, 3, 100, 200);
  send.function = CollectiveFunction::kSend;
  receive.function = third.function = CollectiveFunction::kReceive;
  const auto figures = figures_of(
      {call(0, 1, 100, 200), call(1, 1, 150, 200),  // rank 2 is missing
       call(0, -1, 300, 400), call(1, -1, 310, 400), send, receive, third, call(0, 2, 500, 600)},
      groups);
  EXPECT_TRUE(figures.calls.empty());
  EXPECT_EQ(figures.matched, 0);
  EXPECT_EQ(figures.unmatched, 8);
  EXPECT_TRUE(figures.ranks.empty());
}

TEST(StragglerFigures, KeepGroupsOfOneNumberApart) {
  const std::vector<ProcessGroupFigures> groups{{1, "shard", "nccl", {0, 1}},
                                                {1, "shard", "nccl", {2, 3}}};
  std::vector<Collective> calls{call(0, 5, 100, 900), call(1, 5, 200, 900), call(2, 5, 700, 1500),
                                call(3, 5, 600, 1500)};
  for (auto& c : calls) c.process_group = 1;
  const auto figures = figures_of(calls, groups);
  ASSERT_EQ(figures.calls.size(), 2u);
  EXPECT_EQ(figures.calls[0].last_rank, 1);
  EXPECT_EQ(figures.calls[1].last_rank, 2);
  EXPECT_EQ(figures.calls[1].wait_ns, 100);
}

TEST(StragglerFigures, CountARankThatTakesPartTwiceOnce) {
  const auto figures =
      figures_of({call(0, 5, 100, 900), call(0, 5, 800, 900), call(1, 5, 200, 900)});
  ASSERT_EQ(figures.calls.size(), 1u);
  EXPECT_EQ(figures.calls.front().last_rank, 1);
  EXPECT_EQ(figures.unmatched, 1);
}

TEST(StragglerFigures, SurviveClocksThatDisagreeAndReversedTimes) {
  const auto figures = figures_of({call(0, 1, 100, 200), call(1, 1, 900, 1000),  // ended before
                                   call(0, 2, 500, 300), call(1, 2, 400, 450)});
  ASSERT_EQ(figures.calls.size(), 2u);
  for (const auto& each : figures.calls) {
    for (const auto& part : each.parts) {
      EXPECT_GE(part.transfer_ns, 0);
      EXPECT_GE(part.wait_ns, 0);
      EXPECT_GE(part.end_ns, part.start_ns);
    }
  }
}

TEST(StragglerFigures, StopAtTheEndsOfTimeWhereAFileIsDamaged) {
  constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();
  std::vector<Collective> calls;
  for (int i = 0; i < 3; ++i) {
    calls.push_back(call(0, i, kLowest, kHighest));
    calls.push_back(call(1, i, kHighest, kLowest));
  }
  const auto figures = figures_of(calls);
  ASSERT_EQ(figures.ranks.size(), 2u);
  EXPECT_EQ(figures.ranks[1].caused_ns, kHighest);
  EXPECT_EQ(figures.ranks[0].waited_ns, kHighest);
  EXPECT_GE(figures.calls.front().transfer_ns(), 0);
}

TEST(StragglerFigures, KeepTheLongestWaitsAndSumOverAll) {
  std::vector<Collective> calls;
  for (int i = 0; i < 5000; ++i) {
    const std::int64_t start = i * 1000;
    calls.push_back(call(0, i, start, start + 900));
    calls.push_back(call(1, i, start + i % 500, start + 900));
  }
  const auto figures = figures_of(calls, {}, {.clock_error_ns = 0, .most_calls = 20});
  EXPECT_EQ(figures.matched, 5000);
  ASSERT_EQ(figures.calls.size(), 20u);
  std::int64_t caused = 0;
  for (int i = 0; i < 5000; ++i) caused += i % 500;
  EXPECT_EQ(figures.ranks[1].caused_ns, caused);
  EXPECT_TRUE(std::ranges::is_sorted(figures.calls, {}, &StragglerCall::first_start_ns));
  for (const auto& each : figures.calls) EXPECT_GE(each.wait_ns, 498);
}

// Every figure of a call from its definition, with nothing sorted or shared.
TEST(StragglerFigures, AgreeWithTheDefinitionsOnRandomCalls) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const int ranks = 2 + static_cast<int>(random() % 7);
    std::vector<ProcessGroupFigures> groups{{0, "world", "", {}}};
    for (int rank = 0; rank < ranks; ++rank) groups[0].ranks.push_back(rank);
    std::vector<Collective> calls;
    for (int i = 0; i < 60; ++i) {
      const bool whole = random() % 4 != 0;
      for (int rank = 0; rank < ranks; ++rank) {
        if (!whole && random() % 3 == 0) continue;
        const auto start = static_cast<std::int64_t>(1'000'000 + i * 10'000 + random() % 5000);
        calls.push_back(call(rank, i, start, start + static_cast<std::int64_t>(random() % 9000)));
      }
    }
    std::ranges::shuffle(calls, random);
    const StragglerFigures figures = figures_of(calls, groups);
    std::map<int, StragglerRank> expected;
    std::int64_t matched = 0;
    std::size_t used = 0;
    for (int i = 0; i < 60; ++i) {
      std::vector<Collective> parts;
      for (const auto& c : calls) {
        if (c.sequence == i) parts.push_back(c);
      }
      const auto found = std::ranges::find(figures.calls, i, &StragglerCall::sequence);
      if (parts.size() < static_cast<std::size_t>(ranks)) {
        EXPECT_EQ(found, figures.calls.end());
        continue;
      }
      ++matched;
      used += parts.size();
      ASSERT_NE(found, figures.calls.end());
      std::int64_t first = std::numeric_limits<std::int64_t>::max(), latest = 0, second = 0;
      for (const auto& c : parts) {
        first = std::min(first, c.start_ns);
        if (c.start_ns >= latest) {
          second = latest;
          latest = c.start_ns;
        } else {
          second = std::max(second, c.start_ns);
        }
      }
      std::int64_t waits = 0;
      for (const auto& c : parts) {
        const StragglerPart* part = found->part_of(c.rank);
        ASSERT_NE(part, nullptr);
        EXPECT_EQ(part->wait_ns, latest - c.start_ns);
        EXPECT_EQ(part->transfer_ns, std::max<std::int64_t>(0, c.end_ns - latest));
        waits += latest - c.start_ns;
        auto& rank = expected[c.rank];
        ++rank.calls;
        rank.late_ns += c.start_ns - first;
        rank.waited_ns += latest - c.start_ns;
      }
      EXPECT_EQ(found->wait_ns, waits);
      if (latest == second) continue;
      const auto last = std::ranges::find(parts, latest, &Collective::start_ns);
      EXPECT_EQ(found->last_rank, last->rank);
      auto& blamed = expected[last->rank];
      ++blamed.times_last;
      blamed.caused_ns += waits;
      blamed.alone_ns += latest - second;
    }
    EXPECT_EQ(figures.matched, matched);
    EXPECT_EQ(figures.unmatched, static_cast<std::int64_t>(calls.size() - used));
    for (const auto& rank : figures.ranks) {
      const auto& wanted = expected[rank.rank];
      EXPECT_EQ(std::tuple(rank.calls, rank.times_last, rank.late_ns, rank.waited_ns,
                           rank.caused_ns, rank.alone_ns),
                std::tuple(wanted.calls, wanted.times_last, wanted.late_ns, wanted.waited_ns,
                           wanted.caused_ns, wanted.alone_ns));
    }
  }
}

}  // namespace

}  // namespace shardlens::trace
