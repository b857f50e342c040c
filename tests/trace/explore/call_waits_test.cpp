// One rank's wait and transfer in a call are the same wherever they are told: in the picture, the
// details, the table of the range and among the stragglers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
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

void expect_counted(RunExplorer& run, const timeline::RankCall& call, const CallWait& expected) {
  SCOPED_TRACE("statistics");
  const auto figures = run.statistics({call.start_ns, call.start_ns + 1, {call.rank}});
  ASSERT_TRUE(figures && figures->stragglers);
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
}

void expect_everywhere(const std::filesystem::path& folder, const Waits& expected) {
  const auto run = test::open_whole(folder);
  ASSERT_NE(run, nullptr);
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
    expect_counted(*run, call, wait);
    const auto own = run->details(call.place.ref);
    ASSERT_TRUE(own);
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
  run.put_on_hosts({"node", "node"});
  expect_everywhere(run.path(), {known(4, 14), known(0, 14)});
}

TEST(CallWaits, OfARankThatLeftBeforeTheLastOneCameAreTheSameEverywhere) {
  KnownRun run;
  run.put_on_hosts({"node", "node"});
  make_a_broadcast(run);
  change_rank_0(run, "update collective set end_ns=start_ns+2000000 where step=1");
  expect_everywhere(run.path(), {kLeft, known(0, 14)});
}

// An all-reduce ends on no rank before that.
TEST(CallWaits, OfARankThatCannotHaveLeftBeforeTheLastOneCameAreTheSameEverywhere) {
  KnownRun run;
  run.put_on_hosts({"node", "node"});
  change_rank_0(run, "update collective set end_ns=start_ns+2000000 where step=1");
  Waits expected{known(2, 0), known(0, 14)};
  expected[0].transfer_ns.reset();
  expect_everywhere(run.path(), expected);
}

// Its other calls tell that clocks are 18 ms apart at most.
TEST(CallWaits, ThatClocksMayHaveMadeUpAreTheSameEverywhere) {
  KnownRun run;
  run.put_on_hosts({"node-1", "node-2"});
  expect_everywhere(run.path(), doubted(WaitDoubt::kClockError));
}

TEST(CallWaits, BeyondTheErrorOfTheClocksAreTheSameEverywhere) {
  KnownRun run;
  run.put_on_hosts({"node-1", "node-2"});
  change_rank_0(run, "update collective set start_ns=start_ns-16000000 where step=1");
  expect_everywhere(run.path(), {known(20, 14), known(0, 14)});
}

// A broadcast's root 34 ms before the other: so far clocks are not apart.
TEST(CallWaits, OfARankThatLeftItsCallWithAnotherHostAreTheSameEverywhere) {
  KnownRun run;
  run.put_on_hosts({"node-1", "node-2"});
  make_a_broadcast(run);
  change_rank_0(run,
                "update collective set start_ns=start_ns-30000000, end_ns=start_ns-28000000 "
                "where step=1");
  expect_everywhere(run.path(), {kLeft, known(0, 14)});
}

TEST(CallWaits, WhereNothingTellsOfTheClocksAreTheSameEverywhere) {
  KnownRun run;
  run.put_on_hosts({"node-1", "node-2"});
  run.turn_into_broadcasts();
  expect_everywhere(run.path(), doubted(WaitDoubt::kClocksUnknown));
}

TEST(CallWaits, OfClocksThatCallsContradictAreTheSameEverywhere) {
  KnownRun run;
  run.put_on_hosts({"node-1", "node-2"});
  run.let_clocks_contradict();
  Waits expected{known(704, 0), known(0, 0)};
  for (CallWait& wait : expected) wait.transfer_ns.reset();
  expect_everywhere(run.path(), expected);
}

}  // namespace
}  // namespace shardlens::trace::explore
