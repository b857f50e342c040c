// Waits and transfers against the definitions, worked out call by call.
#include "trace/timeline/values/straggler_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "tests/trace/analysis/clocks_apart.h"
#include "trace/analysis/steps/collective_calls.h"

namespace shardlens::trace::timeline {

namespace {

model::Collective call(int rank, std::int64_t sequence, std::int64_t start, std::int64_t end) {
  model::Collective c;
  c.rank = rank;
  c.sequence = sequence;
  c.function = model::CollectiveFunction::kAllReduce;
  c.start_ns = start;
  c.end_ns = end;
  return c;
}

// Its root sends and goes on.
model::Collective broadcast(int rank, std::int64_t sequence, std::int64_t start, std::int64_t end) {
  model::Collective c = call(rank, sequence, start, end);
  c.function = model::CollectiveFunction::kBroadcast;
  return c;
}

StragglerFigures figures_of(const std::vector<model::Collective>& calls,
                            const std::vector<analysis::ProcessGroupFigures>& groups = {},
                            const analysis::HostClocks& clocks = {},
                            const StragglerLimits& limits = {}) {
  std::vector<analysis::CollectivePart> parts;
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    const model::Collective& c = calls[i];
    const auto group = std::ranges::find_if(groups, [&](const auto& each) {
      return each.id == c.process_group && std::ranges::count(each.ranks, c.rank) > 0;
    });
    const bool is_known = group != groups.end();
    parts.push_back({c.process_group, is_known ? group->ranks.front() : 0, c.sequence, c.function,
                     c.rank, i, c.start_ns, c.end_ns, i,
                     is_known ? static_cast<int>(group->ranks.size()) : 0});
  }
  StragglerSums sums(limits);
  std::size_t matched = 0;
  std::set<int> ranks;
  for (const model::Collective& c : calls) ranks.insert(c.rank);
  analysis::CollectiveCalls whole(parts);
  whole.doubt_waits(clocks);
  whole.for_each_call([&](auto parts_of_call) {
    if (!whole.has_all_ranks(parts_of_call.front(), ranks.size())) return;
    std::vector<StragglerRow> rows;
    for (const auto& part : parts_of_call) {
      rows.push_back({&calls[part.index], {}, whole.wait_of(part, ranks.size())});
    }
    sums.add(rows, "", whole.clock_error_ns(parts_of_call.front()));
    matched += rows.size();
  });
  for (; matched < calls.size(); ++matched) sums.add_unmatched();
  return sums.take();
}

TEST(StragglerFigures, BelieveNoWaitBelowTheErrorOfTheClocks) {
  const analysis::HostClocks clocks = analysis::clocks_apart(50);
  const auto figures = figures_of({call(0, 7, 100, 1000), call(1, 7, 140, 1000)}, {}, clocks);
  EXPECT_EQ(figures.clock_error_ns, 50);
  ASSERT_EQ(figures.calls.size(), 1u);
  EXPECT_EQ(figures.calls.front().last_rank, -1);
  EXPECT_EQ(figures.calls.front().wait_ns, 0);
  EXPECT_EQ(figures.ranks[1].times_last, 0);
  EXPECT_EQ(figures.ranks[1].caused_ns, 0);
  EXPECT_EQ(figures.ranks[1].late_ns, 0);
  for (const StragglerPart& part : figures.calls.front().parts) {
    EXPECT_FALSE(part.late_ns || part.wait_ns || part.transfer_ns) << "none of it is known";
  }
  EXPECT_FALSE(figures.calls.front().transfer_ns());
  const auto beyond = figures_of({call(0, 7, 100, 1000), call(1, 7, 160, 1000)}, {}, clocks);
  EXPECT_EQ(beyond.ranks[1].late_ns, 60);
  EXPECT_EQ(beyond.calls.front().part_of(0)->wait_ns, 60);
  EXPECT_EQ(beyond.calls.front().part_of(0)->transfer_ns, 840);
  EXPECT_EQ(beyond.calls.front().part_of(1)->transfer_ns, 840);
}

// Ranks 0 and 1 are on one host, rank 2 on another of whose clock nothing tells.
TEST(StragglerFigures, BelieveAnyWaitOnOneHostAndNoneWhereNothingTellsOfTheClocks) {
  const analysis::HostClocks clocks = analysis::ClockMeetings().clocks(
      std::vector<analysis::RankHost>{{0, "a"}, {1, "a"}, {2, "b"}});
  const auto on_one = figures_of({call(0, 7, 100, 1000), call(1, 7, 140, 1000)}, {}, clocks);
  EXPECT_EQ(on_one.calls.front().wait_ns, 40);
  EXPECT_EQ(on_one.clock_error_ns, 0);
  const auto on_two = figures_of({call(0, 7, 100, 1000), call(2, 7, 900, 1000)}, {}, clocks);
  EXPECT_EQ(on_two.calls.front().wait_ns, 0);
  EXPECT_EQ(on_two.calls.front().last_rank, -1);
  for (const StragglerPart& part : on_two.calls.front().parts) {
    EXPECT_FALSE(part.late_ns || part.wait_ns || part.transfer_ns);
  }
  EXPECT_FALSE(on_two.calls.front().longest_wait_ns());
  EXPECT_FALSE(on_two.ranks[1].mean_late_ns());
  EXPECT_EQ(on_two.clock_error_ns, analysis::kUnknownClockError);
  auto apart = call(0, 8, 2000, 3000), late = call(2, 8, 2900, 3000);
  auto first = call(0, 9, 4000, 5000), other = call(1, 9, 4300, 5000);
  apart.process_group = late.process_group = 1;
  first.process_group = other.process_group = 2;
  const auto both =
      figures_of({apart, late, first, other}, {{1, "", "", {0, 2}}, {2, "", "", {0, 1}}}, clocks);
  EXPECT_EQ(both.matched, 2);
  EXPECT_EQ(both.ranks[0].calls, 2);
  EXPECT_EQ(both.ranks[1].mean_late_ns(), 300);
  EXPECT_EQ(both.ranks[0].timed_calls, 1) << "the mean is over what is known";
}

TEST(StragglerFigures, BlameNobodyWhereTwoCameTogether) {
  const auto figures =
      figures_of({call(0, 1, 100, 500), call(1, 1, 300, 500), call(2, 1, 300, 500)});
  EXPECT_EQ(figures.calls.front().last_rank, -1);
  EXPECT_EQ(figures.calls.front().wait_ns, 200) << "rank 0 waited all the same";
  for (const auto& rank : figures.ranks) EXPECT_EQ(rank.times_last, 0);
}

TEST(StragglerFigures, CountAllOfAnAllReduceThatSeemsToEndBeforeTheLastRankBegan) {
  const auto figures = figures_of({call(0, 7, 100, 160), call(1, 7, 400, 980)});
  const StragglerPart& early = *figures.calls.front().part_of(0);
  EXPECT_FALSE(early.has_left);
  EXPECT_EQ(early.wait_ns, 60);
  EXPECT_FALSE(early.transfer_ns);
  EXPECT_EQ(figures.ranks[0].waited_ns, 60);
  EXPECT_EQ(figures.ranks[1].caused_ns, 60);
  EXPECT_EQ(figures.ranks[1].alone_ns, 60);
}

TEST(StragglerFigures, SurviveClocksThatDisagreeAndReversedTimes) {
  const auto figures = figures_of({call(0, 1, 100, 200), call(1, 1, 900, 1000),  // ended before
                                   call(0, 2, 500, 300), call(1, 2, 400, 450)});
  ASSERT_EQ(figures.calls.size(), 2u);
  for (const auto& each : figures.calls) {
    for (const auto& part : each.parts) {
      EXPECT_GE(part.transfer_ns.value_or(0), 0);
      EXPECT_GE(part.wait_ns.value(), 0);
      EXPECT_GE(part.end_ns, part.start_ns);
    }
  }
}

TEST(StragglerFigures, StopAtTheEndsOfTimeWhereAFileIsDamaged) {
  constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();
  std::vector<model::Collective> calls;
  for (int i = 0; i < 3; ++i) {
    calls.push_back(call(0, i, kLowest, kHighest));
    calls.push_back(call(1, i, kHighest - 1, kLowest));
  }
  const auto figures = figures_of(calls);
  ASSERT_EQ(figures.ranks.size(), 2u);
  EXPECT_EQ(figures.ranks[1].caused_ns, kHighest);
  EXPECT_EQ(figures.ranks[0].waited_ns, kHighest);
  EXPECT_GE(figures.calls.front().transfer_ns().value_or(0), 0);
}

TEST(StragglerFigures, KeepTheLongestWaitsAndSumOverAll) {
  std::vector<model::Collective> calls;
  for (int i = 0; i < 5000; ++i) {
    const std::int64_t start = i * 1000;
    calls.push_back(call(0, i, start, start + 900));
    calls.push_back(call(1, i, start + i % 500, start + 900));
  }
  const auto figures = figures_of(calls, {}, {}, {.most_calls = 20});
  EXPECT_EQ(figures.matched, 5000);
  ASSERT_EQ(figures.calls.size(), 20u);
  std::int64_t caused = 0;
  for (int i = 0; i < 5000; ++i) caused += i % 500;
  EXPECT_EQ(figures.ranks[1].caused_ns, caused);
  EXPECT_TRUE(std::ranges::is_sorted(figures.calls, {}, &StragglerCall::first_start_ns));
  for (const auto& each : figures.calls) EXPECT_GE(each.wait_ns, 498);
}

TEST(StragglerFigures, KeepFewerCallsOfManyRanksAndStillSumOverAll) {
  std::vector<model::Collective> calls;
  for (int i = 0; i < 400; ++i) {
    for (int rank = 0; rank < 64; ++rank) {
      calls.push_back(call(rank, i, i * 1000 + (rank == 5 ? i : 0), i * 1000 + 900));
    }
  }
  const auto figures = figures_of(calls, {}, {}, {.most_parts = 640});
  EXPECT_EQ(figures.matched, 400);
  EXPECT_EQ(figures.calls.size(), 10u);
  for (const auto& each : figures.calls) EXPECT_GE(each.latest_start_ns - each.first_start_ns, 390);
  EXPECT_EQ(figures.ranks[5].times_last, 399);
}

constexpr int kRandomCalls = 60;

// Of some calls ranks are missing; each second one is a broadcast.
std::vector<model::Collective> random_calls(std::mt19937& random, int ranks) {
  std::vector<model::Collective> calls;
  for (int i = 0; i < kRandomCalls; ++i) {
    const bool whole = random() % 4 != 0;
    for (int rank = 0; rank < ranks; ++rank) {
      if (!whole && random() % 3 == 0) continue;
      const auto start = static_cast<std::int64_t>(1'000'000 + i * 10'000 + random() % 5000);
      const auto end = start + 1 + static_cast<std::int64_t>(random() % 9000);
      calls.push_back(i % 2 == 0 ? call(rank, i, start, end) : broadcast(rank, i, start, end));
    }
  }
  std::ranges::shuffle(calls, random);
  return calls;
}

std::vector<model::Collective> parts_of(const std::vector<model::Collective>& calls, int sequence) {
  std::vector<model::Collective> parts;
  std::ranges::copy_if(calls, std::back_inserter(parts),
                       [sequence](const model::Collective& c) { return c.sequence == sequence; });
  return parts;
}

struct Arrivals {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t latest_ns = 0;
  std::int64_t second_ns = 0;  // the latest but one; equal to it where two came together
};

// Before the last one came.
bool ended_before(const model::Collective& c, const Arrivals& arrivals) {
  return c.start_ns < arrivals.latest_ns && c.end_ns <= arrivals.latest_ns;
}

// An all-reduce was all waiting then.
bool has_left(const model::Collective& c, const Arrivals& arrivals) {
  return ended_before(c, arrivals) && c.function == model::CollectiveFunction::kBroadcast;
}

std::int64_t wait_in(const model::Collective& c, const Arrivals& arrivals) {
  if (has_left(c, arrivals)) return 0;
  return std::min(arrivals.latest_ns, c.end_ns) - c.start_ns;
}

Arrivals arrivals_of(const std::vector<model::Collective>& parts) {
  Arrivals found;
  for (const auto& c : parts) {
    found.first_ns = std::min(found.first_ns, c.start_ns);
    if (c.start_ns >= found.latest_ns) {
      found.second_ns = found.latest_ns;
      found.latest_ns = c.start_ns;
    } else {
      found.second_ns = std::max(found.second_ns, c.start_ns);
    }
  }
  return found;
}

// Every figure of a call from its definition, with nothing sorted or shared; `ranks` takes in what
// is each rank's.
void expect_as_defined(const StragglerCall& found, const std::vector<model::Collective>& parts,
                       std::map<int, StragglerRank>& ranks) {
  const Arrivals arrivals = arrivals_of(parts);
  std::int64_t waits = 0, last_to_wait_ns = 0, longest_wait_ns = 0, longest_transfer_ns = 0;
  for (const auto& c : parts) {
    const std::int64_t wait = wait_in(c, arrivals);
    if (wait > 0) last_to_wait_ns = std::max(last_to_wait_ns, c.start_ns);
    const StragglerPart* part = found.part_of(c.rank);
    ASSERT_NE(part, nullptr);
    EXPECT_EQ(part->has_left, has_left(c, arrivals));
    EXPECT_EQ(part->wait_ns, wait);
    EXPECT_EQ(part->transfer_ns.has_value(), !ended_before(c, arrivals));
    const std::int64_t transfer = std::max<std::int64_t>(0, c.end_ns - arrivals.latest_ns);
    EXPECT_EQ(part->transfer_ns.value_or(0), transfer);
    longest_wait_ns = std::max(longest_wait_ns, wait);
    longest_transfer_ns = std::max(longest_transfer_ns, transfer);
    waits += wait;
    auto& rank = ranks[c.rank];
    ++rank.calls;
    rank.late_ns += c.start_ns - arrivals.first_ns;
    rank.waited_ns += wait;
  }
  EXPECT_EQ(found.part_of(99), nullptr);
  EXPECT_EQ(found.longest_wait_ns(), longest_wait_ns);
  EXPECT_EQ(found.transfer_ns(), longest_transfer_ns);
  EXPECT_EQ(found.wait_ns, waits);
  if (arrivals.latest_ns == arrivals.second_ns) return;
  const auto last = std::ranges::find(parts, arrivals.latest_ns, &model::Collective::start_ns);
  EXPECT_EQ(found.last_rank, last->rank);
  auto& blamed = ranks[last->rank];
  ++blamed.times_last;
  blamed.caused_ns += waits;
  if (waits > 0) blamed.alone_ns += std::min(waits, arrivals.latest_ns - last_to_wait_ns);
}

void expect_equal(const StragglerRank& found, const StragglerRank& wanted) {
  EXPECT_EQ(std::tuple(found.calls, found.times_last, found.late_ns, found.waited_ns,
                       found.caused_ns, found.alone_ns),
            std::tuple(wanted.calls, wanted.times_last, wanted.late_ns, wanted.waited_ns,
                       wanted.caused_ns, wanted.alone_ns));
}

TEST(StragglerFigures, AgreeWithTheDefinitionsOnRandomCalls) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::size_t ranks = 2 + random() % 7;
    std::vector<analysis::ProcessGroupFigures> groups{{0, "world", "", std::vector<int>(ranks)}};
    std::iota(groups[0].ranks.begin(), groups[0].ranks.end(), 0);
    const auto calls = random_calls(random, static_cast<int>(ranks));
    const StragglerFigures figures = figures_of(calls, groups);
    std::map<int, StragglerRank> expected;
    std::int64_t matched = 0;
    std::size_t used = 0;
    for (int i = 0; i < kRandomCalls; ++i) {
      const auto parts = parts_of(calls, i);
      const auto found = std::ranges::find(figures.calls, i, &StragglerCall::sequence);
      if (parts.size() < ranks) {
        EXPECT_EQ(found, figures.calls.end());
        continue;
      }
      ++matched;
      used += parts.size();
      ASSERT_NE(found, figures.calls.end());
      ASSERT_NO_FATAL_FAILURE(expect_as_defined(*found, parts, expected));
    }
    EXPECT_EQ(figures.matched, matched);
    EXPECT_EQ(figures.unmatched, static_cast<std::int64_t>(calls.size() - used));
    EXPECT_EQ(figures.ranks.size(), expected.size());
    for (const auto& rank : figures.ranks) expect_equal(rank, expected[rank.rank]);
  }
}

}  // namespace

}  // namespace shardlens::trace::timeline
