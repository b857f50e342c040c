#include "app/session/watch/run_follower.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "trace/base/wall_clock.h"
#include "trace/store/run/trace_file.h"

namespace shardlens::app::session {
namespace {

using trace::analysis::StepFigures;

// As recorded on an H200, where records of the GPU come four steps at a time.
class ReplayOfAGpuRun : public testing::TestWithParam<const char*> {
 protected:
  static std::shared_ptr<const ui::state::RunView> view(RunFollower& follower) {
    auto view = follower.view(trace::base::wall_clock_ns(), true, {});
    EXPECT_TRUE(view) << view.error().message;
    return view.value_or(nullptr);
  }
  std::unique_ptr<RunFollower> open() const {
    auto follower = RunFollower::open(run_);
    EXPECT_TRUE(follower) << follower.error().message;
    return std::move(*follower);
  }
  // When ranks committed, in order.
  std::vector<std::int64_t> commit_times() const {
    auto file = trace::store::TraceFile::open(run_);
    auto statement =
        file->database().prepare("select distinct committed_ns from batch order by committed_ns");
    std::vector<std::int64_t> times;
    while (*statement->step()) times.push_back(statement->integer(0));
    return times;
  }

  const std::filesystem::path run_ =
      std::filesystem::path(SHARDLENS_SOURCE_DIR) / "assets/runs" / GetParam();
};

TEST_P(ReplayOfAGpuRun, WhatIsShownOfAStepIsWhatIsShownInTheEnd) {
  const auto whole = open();
  ASSERT_TRUE(whole->advance());
  const auto last = view(*whole);
  ASSERT_TRUE(last);
  const auto& final_steps = last->figures.steps;
  EXPECT_TRUE(std::ranges::all_of(final_steps, &StepFigures::shows_detail));
  const auto follower = open();
  std::size_t shown = 0, awaited = 0;
  for (const std::int64_t until_ns : commit_times()) {
    ASSERT_TRUE(follower->advance(until_ns));
    const auto now = view(*follower);
    ASSERT_TRUE(now);
    std::size_t detailed = 0;
    double exposed_ns = 0, measured = 0;
    for (const StepFigures& step : now->figures.steps) {
      awaited += step.awaits_detail() ? 1 : 0;
      if (!step.complete || !step.shows_detail()) continue;
      ++detailed;
      const auto same = std::ranges::find(final_steps, step.index, &StepFigures::index);
      ASSERT_NE(same, final_steps.end());
      ASSERT_EQ(step.ranks, same->ranks) << "step " << step.index;
      if (step.warmup) continue;
      for (const auto& rank : same->ranks) {
        exposed_ns += static_cast<double>(rank.exposed_ns) / same->rank_count();
      }
      ++measured;
    }
    ASSERT_GE(detailed, shown) << "what was shown is not taken back";
    shown = detailed;
    const auto& summary = now->figures.summary;
    ASSERT_EQ(summary.has_detail, measured > 0);
    if (measured > 0) {
      EXPECT_NEAR(summary.exposed_ns, exposed_ns / measured, 1);
    }
    if (now->timeline) {
      EXPECT_NE(now->timeline->has_detail, now->timeline->awaits_detail);
    }
  }
  EXPECT_GT(awaited, 0u);
  EXPECT_GT(shown, final_steps.size() / 2);
  ASSERT_TRUE(follower->advance());
  EXPECT_EQ(view(*follower)->figures.steps, final_steps);
}

INSTANTIATE_TEST_SUITE_P(Bundled, ReplayOfAGpuRun,
                         testing::Values("h200_ddp_cap_1.shardlens", "h200_ddp_cap_25.shardlens",
                                         "h200_ddp_cap_4.shardlens", "h200_full_shard.shardlens",
                                         "h200_full_shard_no_prefetch.shardlens",
                                         "h200_one_rank.shardlens", "h200_rank_2_late.shardlens"),
                         [](const auto& bundled) {
                           return std::filesystem::path(bundled.param).stem().string();
                         });

// 6.1 s after the first commit ten steps have ended, of which the GPU has told four.
TEST(RunFollower, TheTimelineOfAReplayKnowsNoMoreThanItsClock) {
  auto follower = RunFollower::open(std::filesystem::path(SHARDLENS_SOURCE_DIR) /
                                    "assets/runs/h200_full_shard.shardlens");
  ASSERT_TRUE(follower) << follower.error().message;
  const auto range = (*follower)->commit_range();
  ASSERT_TRUE(range);
  const auto rows_of_step = [&](std::int64_t step, std::int64_t until_ns) {
    (*follower)->select_step(step);
    EXPECT_TRUE((*follower)->advance(until_ns));
    const auto view = (*follower)->view(trace::base::wall_clock_ns(), true, {});
    EXPECT_EQ((*view)->selected_step, step);
    std::size_t pieces = 0;
    const auto& picture = *(*view)->timeline;
    for (const auto& row : picture.rows->rows) {
      if (row.kind == trace::timeline::RowKind::kPhases) continue;
      pieces += picture.picture->rows.at(static_cast<std::size_t>(row.id)).pieces.size();
    }
    EXPECT_EQ(picture.has_detail, pieces > 0);
    return pieces;
  };
  const std::int64_t then_ns = range->first_ns + 6'100'000'000;
  EXPECT_GT(rows_of_step(3, then_ns), 0u);
  EXPECT_EQ(rows_of_step(5, then_ns), 0u);
  EXPECT_GT(rows_of_step(5, range->first_ns + 8'000'000'000), 0u);
  EXPECT_EQ(rows_of_step(5, then_ns), 0u) << "it was sought back";
  EXPECT_GT(rows_of_step(5, INT64_MAX), 0u);
}

}  // namespace
}  // namespace shardlens::app::session
