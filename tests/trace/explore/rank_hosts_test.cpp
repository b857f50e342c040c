// Ranks of one host and of two: what is made of the difference of their clocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/trace/explore/testing/known_run.h"
#include "trace/timeline/values/straggler_figures.h"

namespace shardlens::trace::explore {
namespace {

using test::KnownRun;

// Of the known run as two hosts would have recorded it.
struct HostedRun {
  HostedRun(const char* first, const char* second, bool broadcasts = false) {
    run.put_on_hosts({first, second});
    if (broadcasts) run.turn_into_broadcasts();
    explorer = test::open_whole(run.path());
    figures = *explorer->statistics({KnownRun::at(1, 0), KnownRun::at(2, 0), {}});
    const int row = test::row_named(*explorer->rows(), 0,
                                    broadcasts ? "Broadcast · world" : "All-reduce · world");
    const auto picture =
        test::picture_of(*explorer, row, KnownRun::at(1, 0), KnownRun::at(2, 0), 1'000);
    piece = picture.pieces.at(0);
    collectives = picture.collectives;
    details = *explorer->details(piece.ref);
  }

  const timeline::NameFigures& calls_in_table() const {
    const auto table = std::ranges::find(figures.tables, timeline::StatisticsTable::kCollectives,
                                         &timeline::RangeTable::table);
    return table->rows.at(0);
  }
  std::string field(const std::string& label) const {
    const auto found = std::ranges::find(details.fields, label, &timeline::DetailField::label);
    return found == details.fields.end() ? "" : found->value;
  }

  analysis::WaitDoubt doubt() const {
    return collectives.at(static_cast<std::size_t>(piece.collective)).wait.doubt;
  }

  KnownRun run;
  std::unique_ptr<RunExplorer> explorer;
  timeline::RangeFigures figures;
  timeline::Piece piece;  // of rank 0, which waits
  std::vector<timeline::DrawnCollective> collectives;
  timeline::EventDetails details;
};

TEST(RankHosts, OfOneHostAnyWaitIsBelieved) {
  const HostedRun hosted("node-1", "node-1");
  EXPECT_EQ(hosted.explorer->rows()->ranks[1].host, "node-1");
  EXPECT_EQ(hosted.explorer->rows()->ranks[1].clock_error_ns, 0);
  EXPECT_EQ(hosted.figures.stragglers->calls.at(0).wait_ns, 4'000'000);
  EXPECT_EQ(hosted.piece.latest_start_ns, KnownRun::at(1, 64'000));
  EXPECT_EQ(hosted.details.clock_error_ns, -1);
}

// Rank 1's clock may be ahead by as much as lies between rank 0's start and its end, 18 ms, or
// behind by the 14 ms between its start and rank 0's end.
TEST(RankHosts, OfTwoHostsNoWaitIsBelievedThatTheClocksMayHaveMade) {
  const HostedRun hosted("node-1", "node-2");
  EXPECT_EQ(hosted.explorer->rows()->ranks[0].clock_error_ns, 0);
  EXPECT_EQ(hosted.explorer->rows()->ranks[1].clock_error_ns, 18'000'000);
  const timeline::StragglerFigures& stragglers = *hosted.figures.stragglers;
  EXPECT_EQ(stragglers.clock_error_ns, 18'000'000);
  EXPECT_EQ(stragglers.calls.at(0).wait_ns, 0);
  EXPECT_EQ(stragglers.calls.at(0).last_rank, -1);
  EXPECT_FALSE(stragglers.calls.at(0).longest_wait_ns());
  EXPECT_FALSE(stragglers.calls.at(0).transfer_ns());
  EXPECT_EQ(hosted.calls_in_table().matched, 0) << "nor is a duration told as a transfer";
  EXPECT_EQ(hosted.calls_in_table().busbw_bytes_per_s, 0);
  EXPECT_EQ(hosted.piece.latest_start_ns, 0) << "nothing is drawn as a wait";
  EXPECT_EQ(hosted.doubt(), analysis::WaitDoubt::kClockError);
  EXPECT_EQ(hosted.details.clock_error_ns, 18'000'000);
  EXPECT_EQ(hosted.field("Waiting for rank 1"), "");
  EXPECT_EQ(hosted.field("Waiting for others"), "not known");
  EXPECT_EQ(hosted.field("Transfer"), "");
}

TEST(RankHosts, WhereNothingTellsOfTheClocksNoWaitAndNoTransferIsTold) {
  const HostedRun together("node-1", "node-1", true), apart("node-1", "node-2", true);
  EXPECT_EQ(together.piece.latest_start_ns, KnownRun::at(1, 64'000));
  EXPECT_EQ(apart.piece.latest_start_ns, 0);
  EXPECT_EQ(apart.doubt(), analysis::WaitDoubt::kClocksUnknown);

  EXPECT_EQ(together.field("Waiting for rank 1"), "4.00 ms");
  EXPECT_EQ(apart.field("Waiting for rank 1"), "");
  EXPECT_EQ(apart.field("Waiting for others"), "not known");
  for (const char* label : {"Transfer", "Algorithm bandwidth", "Bus bandwidth"}) {
    EXPECT_NE(together.field(label), "") << label;
    EXPECT_EQ(apart.field(label), "") << label;
  }
  EXPECT_EQ(apart.details.clock_error_ns, analysis::kUnknownClockError);
  ASSERT_EQ(apart.details.calls.size(), 2u);
  for (const timeline::RankCall& call : apart.details.calls) EXPECT_FALSE(call.wait.wait_ns);

  EXPECT_FALSE(apart.figures.stragglers->calls.at(0).transfer_ns());
  EXPECT_FALSE(apart.figures.stragglers->ranks.at(1).mean_late_ns());
  EXPECT_GT(together.calls_in_table().matched, 0);
  EXPECT_EQ(apart.calls_in_table().matched, 0) << "0 ms would be told of these";
}

TEST(RankHosts, UnknownOnesHideNoWaitButTheErrorIsTold) {
  const HostedRun hosted("", "");
  EXPECT_EQ(hosted.explorer->rows()->ranks[1].clock_error_ns, 18'000'000);
  EXPECT_EQ(hosted.figures.stragglers->calls.at(0).wait_ns, 4'000'000);
  EXPECT_EQ(hosted.details.clock_error_ns, -1);
}

// Its end lies on another clock than the last rank's start, however long it waited.
TEST(RankHosts, OfClocksThatCallsContradictAWaitIsToldButNoTransfer) {
  for (const std::array<const char*, 2>& hosts : {std::array{"a", "b"}, std::array{"", ""}}) {
    SCOPED_TRACE(hosts[0]);
    KnownRun run;
    run.put_on_hosts(hosts);
    run.let_clocks_contradict();
    const auto explorer = test::open_whole(run.path());
    const int row = test::row_named(*explorer->rows(), 0, "All-reduce · world");
    const timeline::RowPicture picture =
        test::picture_of(*explorer, row, KnownRun::at(1, -640'000), KnownRun::at(2, 0), 1'000);
    const auto waited =
        std::ranges::find(picture.pieces, KnownRun::at(1, -640'000), &timeline::Piece::start_ns);
    ASSERT_NE(waited, picture.pieces.end());
    EXPECT_EQ(waited->latest_start_ns, KnownRun::at(1, 64'000));
    const auto collective = static_cast<std::size_t>(waited->collective);
    EXPECT_EQ(picture.collectives.at(collective).wait.wait_ns, 704'000'000);
    EXPECT_FALSE(picture.collectives.at(collective).wait.transfer_ns);
    const timeline::EventDetails details = *explorer->details(waited->ref);
    ASSERT_EQ(details.calls.size(), 2u);
    for (const timeline::RankCall& call : details.calls) EXPECT_FALSE(call.wait.transfer_ns);
  }
  const HostedRun together("node", "node");
  EXPECT_TRUE(together.collectives.at(0).wait.transfer_ns);
  for (const timeline::RankCall& call : together.details.calls) EXPECT_TRUE(call.wait.transfer_ns);
}

}  // namespace
}  // namespace shardlens::trace::explore
