// One step on the board: which rows there are, what the mouse and the keys do.
#include "ui/tune/timeline_panel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/own_copy.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "tests/ui/testing/sample_timeline.h"
#include "ui/window/main_view.h"

namespace shardlens::ui::tune {

namespace {

SampleStep sample_step(int ranks, int blocks = 0, int groups = 1) {
  SampleStep step;
  step.start_ns = 1'000'000'000;
  step.ranks = ranks;
  step.blocks = blocks;
  step.groups = groups;
  step.bucket_bytes = {1 << 20, 2 << 20, 4 << 20};
  return step;
}

class OneStepLayout : public ::testing::Test {
 protected:
  inspect::RowLayout lay_out(const SampleStep& step, float available, float scale = 1) {
    rows_ = sample_timeline(step).picture.rows;
    return inspect::layout_rows(*rows_, folds_, {}, available, scale);
  }
  std::vector<std::string> labels(const inspect::RowLayout& layout, int place) const {
    std::vector<std::string> found;
    for (const inspect::ShownRow& row : layout.rows) {
      if (row.place == place) found.push_back(rows_->rows[std::size_t(row.row)].label);
    }
    return found;
  }
  static std::vector<int> places(const inspect::RowLayout& layout) {
    std::vector<int> found;
    for (const inspect::ShownRow& row : layout.rows) {
      if (row.heading == inspect::ShownRow::Heading::kRank) found.push_back(row.place);
    }
    return found;
  }

  std::shared_ptr<const trace::timeline::TimelineRows> rows_;
  inspect::RowFolds folds_;
};

TEST_F(OneStepLayout, HasTheRibbonBelowAndNoRowOfAllRanks) {
  const inspect::RowLayout layout = lay_out(sample_step(2), 600);
  EXPECT_EQ(labels(layout, 0),
            (std::vector<std::string>{"Phases", "Compute", "Communication", "Buckets", "Ribbon"}));
  for (const inspect::ShownRow& row : layout.rows)
    EXPECT_NE(row.heading, inspect::ShownRow::Heading::kRun);
  EXPECT_LE(layout.height, 600);
}

TEST_F(OneStepLayout, FoldedRanksKeepTheirRibbon) {
  folds_.ranks[0] = false;
  EXPECT_EQ(labels(lay_out(sample_step(2), 600), 0), std::vector<std::string>{"Ribbon"});
}

TEST_F(OneStepLayout, HasARowForEachProcessGroup) {
  const inspect::RowLayout layout = lay_out(sample_step(1, 4, 2), 600);
  EXPECT_EQ(labels(layout, 0), (std::vector<std::string>{"Phases", "Compute", "shard", "replicate",
                                                         "Units", "Ribbon"}));
}

TEST_F(OneStepLayout, UnfoldsAsManyRanksAsFitAndGetsLowerWhereNotEvenOneDoes) {
  const auto unfolded = [](const inspect::RowLayout& layout) {
    return std::ranges::count_if(layout.rows, [](const inspect::ShownRow& row) {
      return row.heading == inspect::ShownRow::Heading::kRank && row.unfolded;
    });
  };
  EXPECT_EQ(unfolded(lay_out(sample_step(4), 1'200)), 4);
  const float one = lay_out(sample_step(1), 10'000).height;
  EXPECT_GT(one, 200) << "rows grow where there is room";
  float least = 0;
  for (float available = 300; available > 60; available -= 1) {
    const inspect::RowLayout layout = lay_out(sample_step(2), available);
    if (unfolded(layout) == 0) break;
    least = available;
    for (const inspect::ShownRow& row : layout.rows) {
      EXPECT_TRUE(row.place != 0 || row.y + row.height <= available);
    }
  }
  EXPECT_LT(least, 115);
  EXPECT_GT(least, 80);
}

TEST_F(OneStepLayout, OfManyRanksShowsThoseThatComputeLongestAndFoldsTheRest) {
  for (int rank = 255; rank >= 0; --rank) folds_.extremes.push_back(rank);
  const inspect::RowLayout few = lay_out(sample_step(256), 900);
  EXPECT_EQ(places(few).size(), inspect::kRanksOfMany);
  EXPECT_EQ(places(few).front(), 255);
  EXPECT_EQ(few.rows.back().heading, inspect::ShownRow::Heading::kRest);
  folds_.shows_rest = true;
  const auto all = places(lay_out(sample_step(256), 900));
  ASSERT_EQ(all.size(), 256u);
  EXPECT_TRUE(std::ranges::is_sorted(all, std::greater()));
}

class TimelinePanelTest : public ::testing::Test {
 protected:
  inspect::TimelineState& state() { return window_.view().workspace().timeline().state(); }
  void show(SampleOptions options) { snapshot_ = sample_snapshot(options); }

  HeadlessWindow window_{1600, 1000};
  state::Snapshot snapshot_ = sample_snapshot();
};

TEST_F(TimelinePanelTest, SaysWhatTheRestOfManyRanksDoes) {
  show({.ranks = 64});
  window_.frames(snapshot_, 3);
  EXPECT_TRUE(window_.probe().shows("and 52 more ranks, which compute for "));
  ASSERT_TRUE(window_.click(snapshot_, "inspect/rest"));
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(state().folds.shows_rest);
}

TEST_F(TimelinePanelTest, ExplainsOnlyMarksThatTheStepHas) {
  constexpr const char *kReadyWords = "a bucket's gradients are ready",
                       *kExposedWords = "overlapped communication";
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows(kReadyWords));
  EXPECT_TRUE(window_.probe().shows(kExposedWords));
  // As of a trace that tells no bucket, then of one without collectives.
  using trace::timeline::RowKind;
  for (const RowKind kind : {RowKind::kReady, RowKind::kCommunication}) {
    auto& run = own_copy(snapshot_.run);
    auto step = std::make_shared<trace::timeline::StepPicture>(*run.timeline);
    auto rows = std::make_shared<trace::timeline::TimelineRows>(*step->rows);
    for (auto& row : rows->rows) {
      if (row.kind == kind) row.kind = RowKind::kCounter;
    }
    step->rows = rows;
    run.timeline = step;
    ++snapshot_.version;
    window_.frames(snapshot_, 2);
    EXPECT_FALSE(window_.probe().shows(kReadyWords));
    EXPECT_EQ(window_.probe().shows(kExposedWords), kind == RowKind::kReady);
  }
}

TEST_F(TimelinePanelTest, ExplainsAllMarksInASmallWindow) {
  window_.resize(1280, 800);
  auto& run = own_copy(snapshot_.run);
  run.timeline =
      std::make_shared<trace::timeline::StepPicture>(sample_timeline(sample_step(2, 4)).picture);
  run.selected_step = run.timeline->step;
  window_.frames(snapshot_, 3);
  for (const char* mark :
       {"overlapped", "exposed", "waiting", "gradients are ready", "prefetched"}) {
    EXPECT_TRUE(window_.probe().shows(mark)) << mark;
  }
}

TEST_F(TimelinePanelTest, AsksForNothing) {
  window_.frames(snapshot_, 3);
  const state::Rect plot = window_.probe().find("inspect/plot")->rect;
  window_.move_to(snapshot_, plot.center_x(), plot.center_y());
  window_.wheel(snapshot_, 8);
  window_.click_at(snapshot_, plot.center_x(), plot.center_y());
  window_.frames(snapshot_, 3);
  EXPECT_TRUE(window_.take_commands().empty()) << "the picture serves every zoom";
}

TEST_F(TimelinePanelTest, StaysAtItsZoomFromStepToStep) {
  window_.frames(snapshot_, 2);
  window_.press(snapshot_, kit::Key::kW);
  window_.press(snapshot_, kit::Key::kW);
  const double start = state().step_window.position(0), span = state().step_window.span_ns();
  auto& run = own_copy(snapshot_.run);
  SampleStep next = sample_step(2);
  next.index = 500;
  next.start_ns = run.timeline->rows->end_ns;
  next.milliseconds = 170;
  run.timeline = std::make_shared<trace::timeline::StepPicture>(sample_timeline(next).picture);
  run.selected_step = 500;
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("Timeline · step 500"));
  EXPECT_DOUBLE_EQ(state().step_window.span_ns(), span);
  EXPECT_NEAR(state().step_window.position(0), start, 0.05);
}

TEST_F(TimelinePanelTest, MeasuresWithMAndEndsWithEscape) {
  window_.frames(snapshot_, 2);
  window_.press(snapshot_, kit::Key::kM);
  EXPECT_TRUE(state().measuring);
  ASSERT_TRUE(window_.drag(snapshot_, "inspect/plot", 0.3f, 0.5f));
  window_.frame(snapshot_);
  ASSERT_TRUE(state().measured);
  EXPECT_GT(state().measured->length(), 20'000'000);
  EXPECT_GE(state().measured->start_ns, snapshot_.run->timeline->rows->start_ns);
  window_.press(snapshot_, kit::Key::kEscape);
  EXPECT_FALSE(state().measuring);
}

TEST_F(TimelinePanelTest, PinsWhatIsReadyAndTheRibbonToo) {
  window_.frames(snapshot_, 2);
  const state::Rect plot = window_.probe().find("inspect/plot")->rect;
  const auto& rows = window_.view().workspace().timeline().layout().rows;
  const inspect::ShownRow ribbon = rows.at(4);
  window_.click_at(snapshot_, plot.x + plot.w * 0.75f, plot.y + ribbon.y + ribbon.height / 2);
  ASSERT_TRUE(state().pinned && state().pinned->piece);
  EXPECT_EQ(state().pinned->piece->piece_class, trace::base::TimeClass::kExposed);
  window_.frames(snapshot_, 2);
  // The optimizer's phase lies under the button.
  state().step_window.show(130'000'000, 172'000'000);
  ASSERT_TRUE(window_.click(snapshot_, "timeline/close"));
  EXPECT_FALSE(state().pinned);
}

}  // namespace

}  // namespace shardlens::ui::tune
