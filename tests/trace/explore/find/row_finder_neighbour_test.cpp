// From event to event of a row, and all events of a name.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/trace/explore/testing/known_run.h"
#include "trace/explore/run_explorer.h"

namespace shardlens::trace::test {
namespace {

class RowNeighbour : public testing::Test {
 protected:
  // Of a row of rank 0, by start, over the whole run.
  std::vector<timeline::Piece> events(const std::string& label, int level = 0) const {
    const timeline::RowPicture picture =
        picture_of(*explorer_, row_named(*explorer_->rows(), 0, label), KnownRun::at(0, 0),
                   KnownRun::at(3, 0), 1'000'000);
    std::vector<timeline::Piece> pieces;
    std::ranges::copy_if(picture.pieces, std::back_inserter(pieces),
                         [level](const timeline::Piece& piece) {
                           return piece.level == level && piece.ref.exists();
                         });
    // A collective has several, overlapped and exposed.
    const auto again = std::ranges::unique(pieces, {}, &timeline::Piece::ref);
    pieces.erase(again.begin(), again.end());
    return pieces;
  }
  void expect_a_walk_over(const std::vector<timeline::Piece>& pieces) const {
    ASSERT_GE(pieces.size(), 3u);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto before = explorer_->neighbour_event(pieces[i].ref, -1);
      const auto behind = explorer_->neighbour_event(pieces[i].ref, 1);
      ASSERT_EQ(before.has_value(), i > 0) << i;
      ASSERT_EQ(behind.has_value(), i + 1 < pieces.size()) << i;
      if (before) {
        EXPECT_EQ(before->ref, pieces[i - 1].ref) << i;
      }
      if (behind) {
        EXPECT_EQ(behind->ref, pieces[i + 1].ref) << i;
        EXPECT_EQ(behind->start_ns, pieces[i + 1].start_ns) << i;
        EXPECT_EQ(behind->row, explorer_->details(pieces[i].ref)->place.row);
      }
    }
  }

  const KnownRun run_;
  const std::unique_ptr<explore::RunExplorer> explorer_ = open_whole(run_.path());
};

// Steps lie in different chunks, a tenth of a second apart.
TEST_F(RowNeighbour, GoesOverTheWholeRowInBothDirections) {
  for (const char* label :
       {"Compute stream 7", "Launches", "Copies", "Phases", "All-reduce · world"}) {
    SCOPED_TRACE(label);
    expect_a_walk_over(events(label));
  }
}

TEST_F(RowNeighbour, StaysOnItsLevel) {
  expect_a_walk_over(events("Operators", 0));
  expect_a_walk_over(events("Operators", 1));
}

TEST_F(RowNeighbour, OfNothingIsNone) {
  EXPECT_FALSE(explorer_->neighbour_event({}, 1));
  EXPECT_FALSE(explorer_->neighbour_event({timeline::EventTableKind::kKernel, 0, 999'999, 0}, 1));
  EXPECT_FALSE(explorer_->neighbour_event({timeline::EventTableKind::kSpan, 77, 1, 0}, -1));
}

// Every kind of event: its name leads to all its likes on all ranks, with their steps.
TEST_F(RowNeighbour, TheNameOfAnEventFindsAllItsLikes) {
  for (const auto& [label, each_step] : {std::pair{"Compute stream 7", 3},
                                         {"Launches", 3},
                                         {"Operators", 1},
                                         {"Phases", 1},
                                         {"All-reduce · world", 1}}) {
    SCOPED_TRACE(label);
    const auto details = explorer_->details(events(label).front().ref);
    ASSERT_TRUE(details);
    ASSERT_FALSE(details->name.empty());
    const auto hits = explorer_->find({.text = details->name, .is_plain = true});
    ASSERT_TRUE(hits);
    EXPECT_EQ(hits->count, 2 * KnownRun::kSteps * each_step);
    ASSERT_EQ(static_cast<std::int64_t>(hits->instances.size()), hits->count);
    std::set<std::pair<int, std::int64_t>> seen;
    for (const timeline::HitInstance& instance : hits->instances) {
      EXPECT_EQ(instance.step, (instance.place.start_ns - KnownRun::kBegin) / KnownRun::kStepNs);
      EXPECT_EQ(explorer_->details(instance.place.ref)->name, details->name);
      seen.emplace(instance.place.ref.rank, instance.step);
    }
    EXPECT_EQ(seen.size(), 6u);
    EXPECT_TRUE(std::ranges::is_sorted(
        hits->instances, {},
        [](const timeline::HitInstance& instance) { return instance.place.start_ns; }));
  }
  EXPECT_TRUE(explorer_->find({.text = "sm90", .is_plain = false})->instances.empty());
}

}  // namespace
}  // namespace shardlens::trace::test
