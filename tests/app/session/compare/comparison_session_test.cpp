#include "app/session/compare/comparison_session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/session/runs/library_run.h"
#include "tests/app/session/synthetic_run.h"
#include "trace/base/wall_clock.h"

namespace shardlens::app::session {
namespace {

namespace fs = std::filesystem;

class ComparisonSessionTest : public testing::Test {
 protected:
  fs::path write(const std::string& name, double stretch, std::int64_t later_ns) {
    SyntheticOptions options;
    options.name = name;
    options.start_ns += later_ns;
    options.settings.bucket_cap_mb = 1 + static_cast<double>(later_ns) / 1e9;
    return finished_run(folder_.path(), options, 30, stretch);
  }
  void choose(const std::vector<fs::path>& runs, std::int64_t step = -1) {
    ComparisonQuestion question{.runs = {}, .step = step, .runs_dir = folder_.path()};
    for (const auto& run : runs) question.runs.push_back({run.string(), {"run 7", ""}});
    session_.choose(std::move(question));
  }
  // Once all of it was read.
  std::shared_ptr<const ui::state::ComparisonView> answer() {
    session_.wait_until_idle();
    return session_.view();
  }

  TemporaryFolder folder_;
  std::atomic<int> changes_ = 0;
  ComparisonSession session_{[this] { ++changes_; }};
};

TEST_F(ComparisonSessionTest, ReadsTheRunsAndTellsHowTheyDifferFromTheFirst) {
  EXPECT_EQ(session_.view(), nullptr);
  const auto a = write("a", 1, 0), b = write("b", 1.1, 1'000'000'000),
             c = write("c", 0.9, 2'000'000'000);
  choose({a, b, c});
  ASSERT_TRUE(session_.view()) << "at once, unread";
  EXPECT_EQ(session_.view()->runs.size(), 3u);
  const auto view = answer();
  ASSERT_EQ(view->differences.size(), 2u);
  ASSERT_TRUE(view->differences[0] && view->differences[1]);
  EXPECT_NEAR(view->differences[0]->explanation.difference_ns(), 2e6, 1);
  EXPECT_NEAR(view->differences[1]->explanation.difference_ns(), -2e6, 1);
  double parts = 0;
  for (const auto& part : view->differences[0]->explanation.parts) parts += part.difference();
  EXPECT_NEAR(parts, 2e6, 1);
  for (const auto& run : view->runs) {
    ASSERT_TRUE(run.run) << run.problem;
    EXPECT_TRUE(run.run->timeline);
    EXPECT_EQ(run.ordinal, "run 7");
  }
  EXPECT_GE(changes_, 3);
}

TEST_F(ComparisonSessionTest, ShowsTheSameStepOfAllRunsWhenAskedTo) {
  const auto a = write("a", 1, 0), b = write("b", 1.1, 1'000'000'000);
  choose({a, b}, 12);
  const auto view = answer();
  EXPECT_EQ(view->step, 12);
  for (const auto& run : view->runs) EXPECT_EQ(run.run->timeline->step, 12);
}

TEST_F(ComparisonSessionTest, ARunThatCannotBeReadSaysWhyAndTheOthersAreCompared) {
  const auto a = write("a", 1, 0), b = write("b", 1.1, 1'000'000'000);
  choose({a, folder_.path() / "gone", b});
  const auto view = answer();
  EXPECT_FALSE(view->runs[1].run);
  EXPECT_FALSE(view->runs[1].problem.empty());
  EXPECT_FALSE(view->differences[0]);
  ASSERT_TRUE(view->differences[1]);
  EXPECT_FALSE(view->is_reading());
}

// A damaged file may say what no memory suffices for.
TEST_F(ComparisonSessionTest, WhatAFileMakesUsThrowIsToldOfItsRun) {
  const auto a = write("a", 1, 0), bad = write("bad", 1, 500'000'000),
             b = write("b", 1.1, 1'000'000'000);
  bool is_damaged = true;
  ComparisonReader reader(
      [&](const fs::path& run) -> trace::base::Result<std::unique_ptr<RunFollower>> {
        if (is_damaged && run == bad) throw std::length_error("vector");
        return RunFollower::open(run);
      });
  ComparisonQuestion question{.runs = {}, .step = -1, .runs_dir = folder_.path()};
  for (const auto& run : {a, bad, b}) question.runs.push_back({run.string(), {"", ""}});
  std::vector<ui::state::ComparisonView> published;
  const auto ask = [&] {
    published.clear();
    reader.answer(
        question, [] { return true; },
        [&](ui::state::ComparisonView view) { published.push_back(std::move(view)); });
    ASSERT_FALSE(published.empty());
    EXPECT_FALSE(published.back().is_reading());
    const bool is_told = published.back().runs[1].problem.find("is damaged") != std::string::npos;
    EXPECT_EQ(is_told, is_damaged);
    EXPECT_TRUE(published.back().differences[1]) << "the others are compared";
  };
  ask();
  EXPECT_TRUE(published.front().is_reading());
  ask();  // as often as the library changes
  for (const auto& view : published) EXPECT_FALSE(view.runs[1].problem.empty());
  is_damaged = false;
  ask();
  question.runs.push_back({write("c", 1.2, 2'000'000'000).string(), {"", ""}});
  ask();  // it is known while the new one is being read
  EXPECT_TRUE(published.front().is_reading());
  for (const auto& view : published) EXPECT_EQ(view.runs[1].problem, "");
}

TEST_F(ComparisonSessionTest, AnotherStepDoesNotTakeAwayWhyARunCannotBeRead) {
  const auto a = write("a", 1, 0), gone = folder_.path() / "gone";
  choose({a, gone});
  const std::string problem = answer()->runs[1].problem;
  ASSERT_FALSE(problem.empty());
  choose({a, gone}, 3);
  EXPECT_EQ(session_.view()->runs[1].problem, problem) << "at once";
  EXPECT_EQ(answer()->runs[1].problem, problem);
}

TEST_F(ComparisonSessionTest, ALiveRunLetsTheOthersBeRead) {
  SyntheticOptions options;
  options.name = "live";
  options.start_ns = trace::base::wall_clock_ns();
  SyntheticRun live(folder_.path(), options);
  live.add_steps(6);
  live.beat(trace::base::wall_clock_ns());
  const auto a = write("a", 1, 0), b = write("b", 1.1, 1'000'000'000);
  choose({live.folder(), a});
  const auto shown = answer();
  ASSERT_TRUE(shown->runs[0].run && shown->runs[0].run->is_live) << shown->runs[0].problem;
  choose({live.folder(), a, b});
  // News without a pause, as if reading took longer than it takes until the next come.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!session_.view()->runs[2].run && std::chrono::steady_clock::now() < deadline) {
    session_.follow_library(session_.runs(), 0);
  }
  EXPECT_TRUE(session_.view()->runs[2].run);
}

TEST_F(ComparisonSessionTest, IsNotReadAgainUnlessSomethingIsNew) {
  const auto a = write("a", 1, 0), b = write("b", 1.1, 1'000'000'000);
  choose({a, b});
  auto view = answer();
  const auto runs = session_.runs();
  session_.follow_library(runs, 2);
  view = answer();
  session_.follow_library(runs, 2);
  EXPECT_EQ(answer(), view) << "the library is as it was";
  auto renamed = runs;
  renamed[0].label.name = "renamed";
  session_.follow_library(renamed, 2);
  const auto after = answer();
  EXPECT_EQ(after->runs[0].run->figures.info.name, "renamed");
  EXPECT_EQ(after->runs[1].run, view->runs[1].run) << "nothing is new of it";
  choose({});
  EXPECT_EQ(session_.view(), nullptr);
}

TEST_F(ComparisonSessionTest, AnotherStepChangesTimelinesOnly) {
  const auto a = write("a", 1, 0), b = write("b", 1.1, 1'000'000'000);
  choose({a, b});
  const auto before = answer()->differences[0];
  ASSERT_TRUE(before);
  choose({a, b}, 3);
  EXPECT_EQ(session_.view()->differences[0], before) << "at once";
  auto view = answer();
  EXPECT_EQ(view->runs[1].run->timeline->step, 3);
  EXPECT_EQ(view->differences[0], before) << "not made again";
  session_.follow_library(session_.runs(), 3);
  EXPECT_NE(answer()->differences[0], before) << "another run may tell what chance does";
  choose({b, a});
  view = answer();
  EXPECT_NEAR(view->differences[0]->explanation.difference_ns(), -2e6, 1);
}

// As an import with --overwrite does.
TEST_F(ComparisonSessionTest, ReadsTheRunThatTookThePlaceOfAnother) {
  const auto a = write("a", 1, 0), b = write("b", 1.1, 1'000'000'000),
             other = write("other", 1.2, 2'000'000'000);
  choose({a, b});
  answer();
  fs::remove_all(b);
  fs::rename(other, b);
  let_rest(b);
  choose({a, b}, 3);
  const auto view = answer();
  ASSERT_TRUE(view->runs[1].run && view->differences[0]);
  EXPECT_NEAR(view->runs[1].run->figures.summary.step_ns.mean, 24e6, 1);
  EXPECT_NEAR(view->differences[0]->explanation.difference_ns(), 4e6, 1);
  const auto kept = kept_figures(b, trace::store::run_stamp(b));
  ASSERT_TRUE(kept);
  EXPECT_NEAR(kept->summary.step_ns.mean, 24e6, 1);
}

// Others who look at the view hold the worker up just before it publishes.
TEST_F(ComparisonSessionTest, WhatWasClearedDoesNotComeBack) {
  const auto a = write("a", 1, 0), b = write("b", 1.1, 1'000'000'000);
  choose({a, b});
  answer();
  std::vector<std::jthread> lookers;
  for (int i = 0; i < 3; ++i) {
    lookers.emplace_back([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) session_.view();
    });
  }
  for (int i = 0; i < 300; ++i) {
    choose({a, b});
    std::this_thread::sleep_for(std::chrono::microseconds(20 * (i % 50)));
    choose({});
    ASSERT_EQ(answer(), nullptr) << i;
  }
}

}  // namespace
}  // namespace shardlens::app::session
