// One rank's wait and transfer in a call are the same wherever they are told: in the picture, the
// details, the table of the range and among the stragglers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "tests/trace/explore/testing/known_run.h"
#include "trace/store/run/run_folder.h"
#include "trace/timeline/values/straggler_figures.h"

namespace shardlens::trace::explore {
namespace {

using analysis::CallWait;
using analysis::WaitDoubt;
using test::KnownRun;

constexpr std::int64_t kMs = 1'000'000;

// Of the call in step 1, by rank.
using Waits = std::array<CallWait, 2>;

CallWait known(std::int64_t wait_ms, std::int64_t transfer_ms) {
  return {wait_ms * kMs, transfer_ms * kMs, false, WaitDoubt::kNone};
}
constexpr CallWait kLeft{0, {}, true, WaitDoubt::kNone};
Waits doubted(WaitDoubt doubt) {
  const CallWait each{{}, {}, false, doubt};
  return {each, each};
}

// How far clocks may be apart: those of the hosts of a call, and rank 1's from rank 0's.
struct ClockErrors {
  std::int64_t between_hosts_ns = -1, of_rank_1_ns = 0;
};
constexpr ClockErrors kOneClock;
// Rank 1's may be ahead by as much as lies between rank 0's start and its end, or behind by the 14
// ms between its start and rank 0's end.
constexpr ClockErrors kApart{18 * kMs, 18 * kMs};

void expect_same(const CallWait& told, const CallWait& expected) {
  EXPECT_EQ(told.wait_ns, expected.wait_ns);
  EXPECT_EQ(told.transfer_ns, expected.transfer_ns);
  EXPECT_EQ(told.has_left, expected.has_left);
  EXPECT_EQ(told.doubt, expected.doubt);
}

void expect_drawn(RunExplorer& run, const timeline::RankCall& call, const CallWait& expected) {
  SCOPED_TRACE("picture");
  const auto picture = test::picture_of(run, call.place.row, call.start_ns, call.end_ns, 1'000);
  const auto piece = std::ranges::find(picture.pieces, call.place.ref, &timeline::Piece::ref);
  ASSERT_NE(piece, picture.pieces.end());
  EXPECT_EQ(piece->latest_start_ns, expected.wait_ns ? call.start_ns + *expected.wait_ns : 0);
  expect_same(picture.collectives.at(static_cast<std::size_t>(piece->collective)).wait, expected);
}

void expect_counted(RunExplorer& run, const timeline::RankCall& call, const CallWait& expected,
                    const ClockErrors& errors) {
  SCOPED_TRACE("statistics");
  const auto figures = run.statistics({call.start_ns, call.start_ns + 1, {call.rank}});
  ASSERT_TRUE(figures && figures->stragglers);
  EXPECT_EQ(figures->stragglers->clock_error_ns,
            std::max<std::int64_t>(0, errors.between_hosts_ns));
  const timeline::StragglerPart* const part = figures->stragglers->calls.at(0).part_of(call.rank);
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->has_left, expected.has_left);
  EXPECT_EQ(part->wait_ns, expected.wait_ns);
  EXPECT_EQ(part->transfer_ns, expected.transfer_ns);
  const auto table = std::ranges::find(figures->tables, timeline::StatisticsTable::kCollectives,
                                       &timeline::RangeTable::table);
  ASSERT_NE(table, figures->tables.end());
  const timeline::NameFigures& row = table->rows.at(0);
  const bool counts = expected.wait_ns && expected.transfer_ns;
  EXPECT_EQ(row.matched, counts ? 1 : 0) << "its means are of both";
  EXPECT_EQ(row.wait_ns, counts ? *expected.wait_ns : 0);
  EXPECT_EQ(row.transfer_ns, counts ? *expected.transfer_ns : 0);
  EXPECT_EQ(row.busbw_bytes_per_s > 0, counts);
}

void expect_fields(const timeline::EventDetails& details, const CallWait& expected) {
  const auto value = [&](std::string_view beginning) -> std::string {
    const auto found = std::ranges::find_if(
        details.fields, [&](const auto& field) { return field.label.starts_with(beginning); });
    return found == details.fields.end() ? "" : found->value;
  };
  const auto ms = [](std::int64_t ns) { return std::to_string(ns / kMs); };
  if (!expected.wait_ns) {
    EXPECT_EQ(value("Waiting for others"), "not known");
  } else if (*expected.wait_ns > 0) {
    EXPECT_TRUE(value("Waiting for rank ").starts_with(ms(*expected.wait_ns)));
  } else if (expected.has_left) {
    EXPECT_EQ(value("Waiting for others"), "none");
  } else {
    EXPECT_EQ(value("Last to start"), "this rank");
  }
  if (expected.transfer_ns) {
    EXPECT_TRUE(value("Transfer").starts_with(ms(*expected.transfer_ns)));
  } else {
    EXPECT_EQ(value("Transfer"), "");
  }
  EXPECT_EQ(value("Algorithm bandwidth") != "", expected.transfer_ns.has_value());
  EXPECT_EQ(value("Bus bandwidth") != "", expected.transfer_ns.has_value());
}

using Hosts = std::array<const char*, 2>;
constexpr Hosts kOneHost{"node", "node"}, kTwoHosts{"node-1", "node-2"};

void expect_everywhere(KnownRun& known_run, const Hosts& hosts, const Waits& expected,
                       const ClockErrors& errors) {
  known_run.put_on_hosts(hosts);
  const auto run = test::open_whole(known_run.path());
  ASSERT_NE(run, nullptr);
  const auto rows = run->rows();
  EXPECT_EQ(rows->ranks.at(0).clock_error_ns, 0);
  EXPECT_EQ(rows->ranks.at(1).clock_error_ns, errors.of_rank_1_ns);
  EXPECT_EQ(rows->ranks.at(1).host, hosts[1]);
  // Rank 1's; its times are the same in all runs.
  const auto hit = run->neighbour_hit({"bucket 0", true, false}, 1, KnownRun::at(1, 63'900));
  ASSERT_TRUE(hit && hit->ref.rank == 1);
  const auto details = run->details(hit->ref);
  ASSERT_TRUE(details);
  ASSERT_EQ(details->calls.size(), 2u);
  for (const timeline::RankCall& call : details->calls) {
    SCOPED_TRACE("rank " + std::to_string(call.rank));
    const CallWait& wait = expected.at(static_cast<std::size_t>(call.rank));
    expect_same(call.wait, wait);
    expect_drawn(*run, call, wait);
    expect_counted(*run, call, wait, errors);
    const auto own = run->details(call.place.ref);
    ASSERT_TRUE(own);
    EXPECT_EQ(own->clock_error_ns, errors.between_hosts_ns);
    expect_fields(*own, wait);
  }
}

void change_rank_0(const KnownRun& run, const std::string& sql) {
  test::change_file(store::rank_file(run.path(), 0), sql);
}

void make_a_broadcast(const KnownRun& run) {
  for (const int rank : {0, 1}) {
    test::change_file(
        store::rank_file(run.path(), rank),
        "update collective set function='broadcast', executed='broadcast' where step=1");
  }
}

TEST(CallWaits, OfALateRankAreTheSameEverywhere) {
  KnownRun run;
  expect_everywhere(run, kOneHost, {known(4, 14), known(0, 14)}, kOneClock);
}

TEST(CallWaits, OfBroadcastsOnOneHostAreTheSameEverywhere) {
  KnownRun run;
  run.turn_into_broadcasts();
  expect_everywhere(run, kOneHost, {known(4, 14), known(0, 14)}, kOneClock);
}

TEST(CallWaits, OfHostsThatAreNotKnownAreTheSameEverywhereAndTheErrorIsTold) {
  KnownRun run;
  expect_everywhere(run, {"", ""}, {known(4, 14), known(0, 14)}, {.of_rank_1_ns = 18 * kMs});
}

TEST(CallWaits, OfARankThatLeftBeforeTheLastOneCameAreTheSameEverywhere) {
  KnownRun run;
  make_a_broadcast(run);
  change_rank_0(run, "update collective set end_ns=start_ns+2000000 where step=1");
  expect_everywhere(run, kOneHost, {kLeft, known(0, 14)}, kOneClock);
}

TEST(CallWaits, ThatClocksMayHaveMadeUpAreTheSameEverywhere) {
  KnownRun run;
  expect_everywhere(run, kTwoHosts, doubted(WaitDoubt::kClockError), kApart);
}

// An all-reduce ends on no rank before that.
TEST(CallWaits, OfARankThatCannotHaveLeftBeforeTheLastOneCameAreTheSameEverywhere) {
  KnownRun run;
  change_rank_0(run, "update collective set end_ns=start_ns+2000000 where step=1");
  Waits expected{known(2, 0), known(0, 14)};
  expected[0].transfer_ns.reset();
  expect_everywhere(run, kOneHost, expected, kOneClock);
}

// Its other calls tell that clocks are 18 ms apart at most.
TEST(CallWaits, BeyondTheErrorOfTheClocksAreTheSameEverywhere) {
  KnownRun run;
  change_rank_0(run, "update collective set start_ns=start_ns-16000000 where step=1");
  expect_everywhere(run, kTwoHosts, {known(20, 14), known(0, 14)}, kApart);
}

// A broadcast's root 34 ms before the other: so far clocks are not apart.
TEST(CallWaits, OfARankThatLeftItsCallWithAnotherHostAreTheSameEverywhere) {
  KnownRun run;
  make_a_broadcast(run);
  change_rank_0(run,
                "update collective set start_ns=start_ns-30000000, end_ns=start_ns-28000000 "
                "where step=1");
  expect_everywhere(run, kTwoHosts, {kLeft, known(0, 14)}, kApart);
}

TEST(CallWaits, WhereNothingTellsOfTheClocksAreTheSameEverywhere) {
  KnownRun run;
  run.turn_into_broadcasts();
  expect_everywhere(run, kTwoHosts, doubted(WaitDoubt::kClocksUnknown),
                    {analysis::kUnknownClockError, analysis::kUnknownClockError});
}

// A transfer ends on another clock than the last rank's start, however long the wait was.
TEST(CallWaits, OfClocksThatCallsContradictAreTheSameEverywhere) {
  Waits expected{known(704, 0), known(0, 0)};
  for (CallWait& wait : expected) wait.transfer_ns.reset();
  for (const Hosts& hosts : {kTwoHosts, Hosts{"", ""}}) {
    SCOPED_TRACE(hosts[0]);
    KnownRun run;
    run.let_clocks_contradict();
    expect_everywhere(run, hosts, expected, {314 * kMs, 314 * kMs});
  }
}

}  // namespace
}  // namespace shardlens::trace::explore
