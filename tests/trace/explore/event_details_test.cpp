#include <gtest/gtest.h>

#include <algorithm>

#include "tests/trace/explore/known_run.h"
#include "trace/explore/run_explorer.h"

namespace shardlens::trace::test {
namespace {

class Details : public testing::Test {
 protected:
  // Of the piece of a row that begins at a time of step 1.
  EventDetails of(const std::string& label, std::int64_t microseconds, int rank = 0) const {
    const RowPicture picture = picture_of(*explorer_, row_named(*explorer_->rows(), rank, label),
                                          KnownRun::at(1, 0), KnownRun::at(2, 0), 100'000);
    const auto piece =
        std::ranges::find(picture.pieces, KnownRun::at(1, microseconds), &Piece::start_ns);
    EXPECT_NE(piece, picture.pieces.end()) << label;
    if (piece == picture.pieces.end()) return {};
    return at(piece->ref);
  }
  EventDetails at(const EventRef& ref) const {
    auto details = explorer_->details(ref);
    EXPECT_TRUE(details) << details.error().message;
    return details ? std::move(*details) : EventDetails{};
  }

  const KnownRun run_;
  const std::unique_ptr<RunExplorer> explorer_ = open_whole(run_.path());
};

std::string value(const EventDetails& details, const std::string& label) {
  const auto field = std::ranges::find(details.fields, label, &DetailField::label);
  return field == details.fields.end() ? "(none)" : field->value;
}

const EventPlace* link(const EventDetails& details, const std::string& label) {
  const auto found = std::ranges::find(details.links, label, &DetailLink::label);
  return found == details.links.end() ? nullptr : &found->target;
}

TEST_F(Details, OfAKernelLeadToItsLaunchAndOperator) {
  const EventDetails details = of("Compute stream 7", 5'000);
  EXPECT_EQ(details.title, "sm90_gemm");
  EXPECT_EQ(details.subtitle, "rank 0 · step 1");
  EXPECT_EQ(details.piece_class, PieceClass::kCompute);
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
  const EventDetails details = of("Launches", 42'000);
  ASSERT_NE(link(details, "Kernel"), nullptr);
  EXPECT_EQ(link(details, "Kernel")->start_ns, KnownRun::at(1, 50'000));
  EXPECT_EQ(at(link(details, "Kernel")->ref).title, "sm90_gemm");
}

TEST_F(Details, OfAnOperatorLeadToWhatItLaunchedFirst) {
  const EventDetails details = of("Operators", 1'000);
  EXPECT_EQ(details.title, "aten::linear");
  ASSERT_NE(link(details, "Launch"), nullptr);
  EXPECT_EQ(link(details, "Launch")->start_ns, KnownRun::at(1, 2'000));
  ASSERT_NE(link(details, "Kernel"), nullptr);
  EXPECT_EQ(link(details, "Kernel")->start_ns, KnownRun::at(1, 5'000));
}

TEST_F(Details, LeadToTheSameInTheStepsAround) {
  const EventDetails second = of("Compute stream 7", 50'000);
  ASSERT_NE(link(second, "Previous step"), nullptr);
  ASSERT_NE(link(second, "Next step"), nullptr);
  EXPECT_EQ(link(second, "Previous step")->start_ns, KnownRun::at(0, 50'000));
  EXPECT_EQ(link(second, "Next step")->start_ns, KnownRun::at(2, 50'000));
  const EventDetails phase = of("Phases", 40'000);
  EXPECT_EQ(phase.title, "backward");
  EXPECT_EQ(value(phase, "Share of step"), "40 %");
  EXPECT_EQ(link(phase, "Next step")->start_ns, KnownRun::at(2, 40'000));
  EXPECT_EQ(link(of("All-reduce · world", 60'000), "Previous step")->start_ns,
            KnownRun::at(0, 60'000));
}

// 14 MB in 14 ms: 1 GB/s, and 2(n−1)/n = 1 for two ranks.
TEST_F(Details, OfACollectiveSayWhoWaitedAndHowFastItWas) {
  const EventDetails details = of("All-reduce · world", 60'000);
  EXPECT_EQ(details.title, "All-reduce · bucket 0");
  EXPECT_EQ(value(details, "Waiting for rank 1"), "4.00 ms");
  EXPECT_EQ(value(details, "Transfer"), "14.0 ms");
  EXPECT_EQ(value(details, "Algorithm bandwidth"), "1.00 GB/s");
  EXPECT_EQ(value(details, "Bus bandwidth"), "1.00 GB/s · 100 % of the best seen");
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
  const EventDetails details = of("All-reduce · world", 64'000, 1);
  EXPECT_EQ(value(details, "Last to start"), "this rank");
  ASSERT_EQ(details.calls.size(), 2u);
  EXPECT_EQ(details.calls[0].rank, 0);
  EXPECT_EQ(details.calls[0].start_ns, KnownRun::at(1, 60'000));
  EXPECT_EQ(details.calls[1].latest_start_ns, KnownRun::at(1, 64'000));
  const EventDetails other = at(details.calls[0].place.ref);
  EXPECT_EQ(other.subtitle, "rank 0 · step 1");
  EXPECT_EQ(explorer_->rows()->rows[static_cast<std::size_t>(details.calls[0].place.row)].rank, 0);
}

TEST_F(Details, OfACopyHaveItsBandwidth) {
  const EventDetails details = of("Copies", 500);
  EXPECT_EQ(details.piece_class, PieceClass::kCopy);
  EXPECT_EQ(value(details, "Size"), "1.00 MiB");
  EXPECT_EQ(value(details, "Bandwidth"), "10.5 GB/s");
}

TEST_F(Details, OfNothingAreAnErrorThatSaysWhatToDo) {
  using enum EventTableKind;
  for (const EventRef& ref :
       {EventRef{}, EventRef{kKernel, 0, 999'999, 0}, EventRef{kSpan, 0, -4, 0},
        EventRef{kKernel, 77, 1, 0}, EventRef{kCollective, 1, 1, 5}}) {
    const auto details = explorer_->details(ref);
    ASSERT_FALSE(details);
    EXPECT_EQ(details.error().kind, ErrorKind::kMissing);
    EXPECT_NE(details.error().message.find(':'), std::string::npos) << details.error().message;
  }
}

}  // namespace
}  // namespace shardlens::trace::test
