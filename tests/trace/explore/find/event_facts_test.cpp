#include <gtest/gtest.h>

#include <algorithm>

#include "tests/trace/explore/testing/known_run.h"
#include "trace/explore/run_explorer.h"
#include "trace/store/run/run_folder.h"
#include "trace/timeline/values/straggler_figures.h"

namespace shardlens::trace::test {
namespace {

class Details : public testing::Test {
 protected:
  // Of the piece of a row that begins at a time of step 1.
  timeline::EventDetails of(const std::string& label, std::int64_t microseconds,
                            int rank = 0) const {
    const timeline::RowPicture picture =
        picture_of(*explorer_, row_named(*explorer_->rows(), rank, label), KnownRun::at(1, 0),
                   KnownRun::at(2, 0), 100'000);
    const auto piece = std::ranges::find(picture.pieces, KnownRun::at(1, microseconds),
                                         &timeline::Piece::start_ns);
    EXPECT_NE(piece, picture.pieces.end()) << label;
    if (piece == picture.pieces.end()) return {};
    return at(piece->ref);
  }
  timeline::EventDetails at(const timeline::EventRef& ref) const {
    auto details = explorer_->details(ref);
    EXPECT_TRUE(details) << details.error().message;
    return details ? std::move(*details) : timeline::EventDetails{};
  }

  const KnownRun run_;
  const std::unique_ptr<explore::RunExplorer> explorer_ = open_whole(run_.path());
};

std::string value(const timeline::EventDetails& details, const std::string& label) {
  const auto field = std::ranges::find(details.fields, label, &timeline::DetailField::label);
  return field == details.fields.end() ? "(none)" : field->value;
}

const timeline::EventPlace* link(const timeline::EventDetails& details, const std::string& label) {
  const auto found = std::ranges::find(details.links, label, &timeline::DetailLink::label);
  return found == details.links.end() ? nullptr : &found->target;
}

TEST_F(Details, OfAKernelLeadToItsLaunchAndOperator) {
  const timeline::EventDetails details = of("Compute stream 7", 5'000);
  EXPECT_EQ(details.title, "sm90_gemm");
  EXPECT_EQ(details.subtitle, "rank 0 · step 1");
  EXPECT_EQ(details.piece_class, base::TimeClass::kCompute);
  EXPECT_EQ(value(details, "Start in step"), "5.00 ms");
  EXPECT_EQ(value(details, "Start in run"), "105.0 ms");
  EXPECT_EQ(value(details, "Duration"), "20.0 ms");
  EXPECT_EQ(value(details, "Stream"), "stream 7");
  EXPECT_EQ(value(details, "Class"), "matrix product");
  EXPECT_EQ(value(details, "Phase"), "forward");
  EXPECT_EQ(value(details, "Correlation"), "11");
  EXPECT_EQ(value(details, "Launch"), "cudaLaunchKernel");
  EXPECT_EQ(value(details, "Launch to start"), "3.00 ms");
  EXPECT_EQ(value(details, "In this step"), "1 of 2");
  ASSERT_NE(link(details, "Launch"), nullptr);
  EXPECT_EQ(link(details, "Launch")->start_ns, KnownRun::at(1, 2'000));
  ASSERT_NE(link(details, "Operator"), nullptr);
  EXPECT_EQ(at(link(details, "Operator")->ref).title, "aten::mm");
}

TEST_F(Details, OfALaunchLeadBackToTheKernel) {
  const timeline::EventDetails details = of("Launches", 42'000);
  ASSERT_NE(link(details, "Kernel"), nullptr);
  EXPECT_EQ(link(details, "Kernel")->start_ns, KnownRun::at(1, 50'000));
  EXPECT_EQ(at(link(details, "Kernel")->ref).title, "sm90_gemm");
}

TEST_F(Details, OfAnOperatorLeadToWhatItLaunchedFirst) {
  const timeline::EventDetails details = of("Operators", 1'000);
  EXPECT_EQ(details.title, "aten::linear");
  ASSERT_NE(link(details, "Launch"), nullptr);
  EXPECT_EQ(link(details, "Launch")->start_ns, KnownRun::at(1, 2'000));
  ASSERT_NE(link(details, "Kernel"), nullptr);
  EXPECT_EQ(link(details, "Kernel")->start_ns, KnownRun::at(1, 5'000));
}

// Two launches within it, one of another thread, one behind it; the second starts a copy.
TEST(DetailsOfAnOperator, SumUpAllThatWasLaunchedWhileItRan) {
  const Folder folder;
  model::RunInfo info = run_info("nested", 1);
  const auto path = store::create_run(folder.path(), info, false);
  ASSERT_TRUE(path);
  auto writer = store::RowWriter::create_file(store::rank_file(*path, 0), 0);
  ASSERT_TRUE(writer);
  const auto event = [](std::int64_t start_us, std::int64_t us, model::StringId name,
                        std::uint64_t correlation) {
    return model::Event{KnownRun::at(0, start_us), us * 1'000, name, 0, correlation, 0};
  };
  model::Batch batch;
  batch.strings = {{0, 1, "forward"}, {0, 2, "launch"}, {0, 3, "gemm"}, {0, 4, "copy"}};
  batch.rank_info = model::RankInfo{};
  batch.events = {{0, 1, model::EventKind::kOperator, {event(100, 500, 1, 0)}},
                  {0,
                   1,
                   model::EventKind::kLaunch,
                   {event(50, 5, 2, 9), event(120, 5, 2, 10), event(200, 5, 2, 11),
                    event(300, 5, 2, 12), event(700, 5, 2, 13)}},
                  {0, 2, model::EventKind::kLaunch, {event(150, 5, 2, 14)}},
                  {0,
                   3,
                   model::EventKind::kKernel,
                   {event(400, 1'000, 3, 9), event(1'400, 1'000, 3, 10), event(2'500, 3'000, 3, 12),
                    event(5'600, 1'000, 3, 13), event(6'700, 1'000, 3, 14)}},
                  {0, 4, model::EventKind::kCopy, {event(900, 100, 4, 11)}}};
  ASSERT_TRUE(writer->begin());
  ASSERT_TRUE(writer->write(batch));
  ASSERT_TRUE(writer->commit(KnownRun::at(1, 0)));
  const auto explorer = open_whole(*path);
  const auto hits = explorer->find({.text = "forward", .is_plain = true});
  ASSERT_EQ(hits->instances.size(), 1u);
  const auto details = explorer->details(hits->instances[0].place.ref);
  ASSERT_TRUE(details);
  EXPECT_EQ(value(*details, "Launches"), "3 · 15.0 µs");
  EXPECT_EQ(value(*details, "Kernels"), "2 · 4.00 ms");
  EXPECT_EQ(value(*details, "Copies"), "1 · 100.0 µs");
  ASSERT_NE(link(*details, "Kernel"), nullptr);
  ASSERT_NE(link(*details, "Kernel 2"), nullptr);
  EXPECT_EQ(link(*details, "Kernel")->start_ns, KnownRun::at(0, 1'400));
  EXPECT_EQ(link(*details, "Kernel 2")->start_ns, KnownRun::at(0, 2'500));
  EXPECT_EQ(link(*details, "Kernel 3"), nullptr);
  EXPECT_EQ(link(*details, "Copy")->start_ns, KnownRun::at(0, 900));
}

TEST_F(Details, LeadToTheSameInTheStepsAround) {
  const timeline::EventDetails second = of("Compute stream 7", 50'000);
  ASSERT_NE(link(second, "Previous step"), nullptr);
  ASSERT_NE(link(second, "Next step"), nullptr);
  EXPECT_EQ(link(second, "Previous step")->start_ns, KnownRun::at(0, 50'000));
  EXPECT_EQ(link(second, "Next step")->start_ns, KnownRun::at(2, 50'000));
  const timeline::EventDetails phase = of("Phases", 40'000);
  EXPECT_EQ(phase.title, "backward");
  EXPECT_EQ(value(phase, "Share of step"), "40 %");
  EXPECT_EQ(link(phase, "Next step")->start_ns, KnownRun::at(2, 40'000));
  EXPECT_EQ(link(of("All-reduce · world", 60'000), "Previous step")->start_ns,
            KnownRun::at(0, 60'000));
}

// 14 MB in 14 ms: 1 GB/s, and 2(n−1)/n = 1 for two ranks.
TEST_F(Details, OfACollectiveSayWhoWaitedAndHowFastItWas) {
  const timeline::EventDetails details = of("All-reduce · world", 60'000);
  EXPECT_EQ(details.title, "All-reduce · bucket 0");
  EXPECT_EQ(value(details, "Waiting for rank 1"), "4.00 ms");
  EXPECT_EQ(value(details, "Transfer"), "14.0 ms");
  EXPECT_EQ(value(details, "Algorithm bandwidth"), "1.00 GB/s");
  EXPECT_EQ(value(details, "Bus bandwidth"), "1.00 GB/s · 100 % of the best seen");
  EXPECT_EQ(value(details, "Link"), "1.00 GB/s of 450.0 GB/s NVLink 4, 18 links");
  EXPECT_EQ(value(details, "Algorithm"), "RING · SIMPLE · 24 channels");
  EXPECT_EQ(value(details, "Overlapped"), "10.0 ms (56 %)");
  EXPECT_EQ(value(details, "Exposed"), "8.00 ms (44 %)");
  EXPECT_EQ(value(details, "Size"), "13.4 MiB float32");
  EXPECT_EQ(value(details, "Group, sequence"), "world · 1");
  EXPECT_EQ(value(details, "Ranks"), "0, 1");
  EXPECT_EQ(value(details, "Enqueued to start"), "5.00 ms");
  EXPECT_EQ(value(details, "Kernel"), "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(value(details, "Bucket"), "2 tensors, 3.81 MiB");
  ASSERT_EQ(details.parameters.size(), 2u);
  EXPECT_TRUE(details.parameters[0].starts_with("layer.weight")) << details.parameters[0];
}

TEST_F(Details, OfACollectiveListItsCallOnEveryRank) {
  const timeline::EventDetails details = of("All-reduce · world", 64'000, 1);
  EXPECT_EQ(value(details, "Last to start"), "this rank");
  ASSERT_EQ(details.calls.size(), 2u);
  EXPECT_EQ(details.calls[0].rank, 0);
  EXPECT_EQ(details.calls[0].start_ns, KnownRun::at(1, 60'000));
  EXPECT_EQ(details.calls[0].wait.wait_ns, 4'000'000);
  EXPECT_EQ(details.calls[1].wait.wait_ns, 0);
  const timeline::EventDetails other = at(details.calls[0].place.ref);
  EXPECT_EQ(other.subtitle, "rank 0 · step 1");
  EXPECT_EQ(explorer_->rows()->rows[static_cast<std::size_t>(details.calls[0].place.row)].rank, 0);
}

class DetailsOfAChangedRun : public testing::Test {
 protected:
  // What is done to a rank's file; then details of its all-reduce in step 1.
  timeline::EventDetails after(int rank, const std::string& sql) {
    run_.put_on_hosts({"node", "node"});  // which closes its files
    change_file(store::rank_file(run_.path(), rank), sql);
    explorer_ = open_whole(run_.path());
    return of_step(1);
  }
  timeline::EventDetails of_step(std::int64_t step) const {
    const auto hit = explorer_->neighbour_hit({"bucket 0", true, false}, 1, KnownRun::at(step, 0));
    EXPECT_TRUE(hit && hit->ref.rank == 0);
    auto details = explorer_->details(hit->ref);
    EXPECT_TRUE(details);
    return details ? std::move(*details) : timeline::EventDetails{};
  }

 protected:
  KnownRun run_;
  std::unique_ptr<explore::RunExplorer> explorer_;
};

// Two ranks' files of a job of three, in which nobody announced a group.
TEST_F(DetailsOfAChangedRun, TellNoWaitWhereARanksFileIsMissingAndNobodyElseDoes) {
  model::RunInfo info = *store::read_run_info(run_.path());
  info.world_size = 3;
  EXPECT_TRUE(store::update_run(run_.path(), info));
  run_.put_on_hosts({"node", "node"});
  for (const int rank : {0, 1}) {
    change_file(store::rank_file(run_.path(), rank), "delete from process_group");
  }
  explorer_ = open_whole(run_.path());
  EXPECT_EQ(value(of_step(1), "Waiting for others"), "not known");
  EXPECT_EQ(value(of_step(1), "Transfer"), "(none)");
  const auto figures = explorer_->statistics({KnownRun::at(0, 0), KnownRun::at(3, 0), {}});
  ASSERT_TRUE(figures && figures->stragglers);
  EXPECT_EQ(figures->stragglers->matched, 0);
  EXPECT_EQ(figures->stragglers->unmatched, 6);
  for (const timeline::RangeTable& table : figures->tables) {
    if (table.table != timeline::StatisticsTable::kCollectives) continue;
    EXPECT_EQ(table.rows.at(0).matched, 0);
    EXPECT_EQ(table.rows.at(0).transfer_ns, 0);
  }
}

// Rank 0 was recorded by a build that told the others, too, though in another group.
TEST_F(DetailsOfAChangedRun, NameTheMembersThatRanksOfTheSameGroupTold) {
  const auto details = after(0, "update process_group set ranks='0,4,5,6'");
  EXPECT_EQ(value(details, "Ranks"), "0, 4, 5, 6");
  const auto hit = explorer_->neighbour_hit({"bucket 0", true, false}, 1, KnownRun::at(2, 61'000));
  ASSERT_TRUE(hit && hit->ref.rank == 1);
  EXPECT_EQ(value(*explorer_->details(hit->ref), "Ranks"), "1 and 1 not recorded");
}

TEST_F(DetailsOfAChangedRun, TellNoWaitAndNoBandwidthWhereARanksRecordIsMissing) {
  const auto details = after(1, "delete from collective where step=1");
  EXPECT_EQ(value(details, "Waiting for others"), "not known");
  for (const char* field : {"Transfer", "Algorithm bandwidth", "Bus bandwidth", "Last to start"})
    EXPECT_EQ(value(details, field), "(none)") << field;
  ASSERT_EQ(details.calls.size(), 1u);
  EXPECT_FALSE(details.calls[0].wait.wait_ns) << "a wait would be drawn";
}

// Two of eight were imported.
TEST_F(DetailsOfAChangedRun, TellNoWaitBetweenTwoRanksOfALargerGroup) {
  const auto details = after(0, "update process_group set ranks='0,1,2,3,4,5,6,7'");
  EXPECT_EQ(value(details, "Ranks"), "0, 1, 2, 3, 4, 5, 6, 7");
  EXPECT_EQ(value(details, "Waiting for others"), "not known");
  EXPECT_EQ(value(details, "Waiting for rank 1"), "(none)");
  EXPECT_EQ(value(details, "Bus bandwidth"), "(none)");
}

TEST_F(DetailsOfAChangedRun, OfARankAloneInItsGroupAllIsTransfer) {
  const auto details = after(0, "update process_group set ranks='0'");
  EXPECT_EQ(value(details, "Waiting for others"), "none");
  EXPECT_EQ(value(details, "Last to start"), "(none)");
  EXPECT_EQ(value(details, "Transfer"), "18.0 ms") << "from its own start";
  EXPECT_NE(value(details, "Algorithm bandwidth"), "(none)");
  EXPECT_EQ(value(details, "Bus bandwidth"), "(none)") << "nothing goes through a link";
}

TEST_F(DetailsOfAChangedRun, NobodyWaitedForARankThatBeganWithTheOthers) {
  const auto details = after(0, "update collective set start_ns=start_ns+4000000");
  EXPECT_EQ(value(details, "Last to start"), "(none)");
  EXPECT_EQ(value(details, "Waiting for others"), "none");
  EXPECT_EQ(value(details, "Transfer"), "14.0 ms");
  ASSERT_EQ(details.calls.size(), 2u);
  const auto other = explorer_->details(details.calls[1].place.ref);
  EXPECT_EQ(value(*other, "Last to start"), "(none)");
  EXPECT_EQ(value(*other, "Waiting for others"), "none");
}

// It ended two milliseconds before rank 1 came, as a broadcast's root may.
TEST_F(DetailsOfAChangedRun, ARankThatHadLeftHasNoTransferAndSetsNoRecord) {
  run_.put_on_hosts({"node", "node"});
  for (const int rank : {0, 1}) {
    auto file = store::open_for_writing(store::rank_file(run_.path(), rank));
    EXPECT_TRUE(file && file->execute("update collective set function='broadcast', "
                                      "executed='broadcast' where step=1"));
  }
  const auto left = after(0, "update collective set end_ns=start_ns+2000000 where step=1");
  EXPECT_EQ(value(left, "Waiting for others"), "none");
  EXPECT_EQ(value(left, "Transfer"), "(none)");
  EXPECT_EQ(value(left, "Bus bandwidth"), "(none)");
  ASSERT_EQ(left.calls.size(), 2u);
  EXPECT_TRUE(left.calls[0].wait.has_left);
  EXPECT_FALSE(left.calls[1].wait.has_left);
  EXPECT_EQ(value(of_step(2), "Bus bandwidth"), "1.00 GB/s · 100 % of the best seen");
}

// By its clock; an all-reduce ends on no rank before it began on all.
TEST_F(DetailsOfAChangedRun, AnAllReduceThatEndedBeforeTheLastRankBeganWasAllWaiting) {
  const auto early = after(0, "update collective set end_ns=start_ns+2000000 where step=1");
  EXPECT_EQ(value(early, "Waiting for rank 1"), "2.00 ms");
  EXPECT_EQ(value(early, "Transfer"), "(none)");
}

TEST_F(Details, OfACopyHaveItsBandwidth) {
  const timeline::EventDetails details = of("Copies", 500);
  EXPECT_EQ(details.piece_class, base::TimeClass::kCopy);
  EXPECT_EQ(value(details, "Size"), "1.00 MiB");
  EXPECT_EQ(value(details, "Bandwidth"), "10.5 GB/s");
}

TEST_F(Details, OfNothingAreAnErrorThatSaysWhatToDo) {
  using enum timeline::EventTableKind;
  for (const timeline::EventRef& ref :
       {timeline::EventRef{}, timeline::EventRef{kKernel, 0, 999'999, 0},
        timeline::EventRef{kSpan, 0, -4, 0}, timeline::EventRef{kKernel, 77, 1, 0},
        timeline::EventRef{kCollective, 1, 1, 5}}) {
    const auto details = explorer_->details(ref);
    ASSERT_FALSE(details);
    EXPECT_EQ(details.error().kind, base::ErrorKind::kMissing);
    EXPECT_NE(details.error().message.find(':'), std::string::npos) << details.error().message;
  }
}

}  // namespace
}  // namespace shardlens::trace::test
