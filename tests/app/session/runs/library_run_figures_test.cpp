
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <tuple>

#include "app/session/runs/library_run.h"
#include "app/session/runs/run_words.h"
#include "app/session/watch/run_follower.h"
#include "app/session/watch/run_watcher.h"
#include "tests/app/session/eventually.h"
#include "tests/app/session/synthetic_run.h"
#include "trace/analysis/steps/host_clocks.h"
#include "trace/base/wall_clock.h"
#include "trace/store/run/trace_file.h"

namespace shardlens::app::session {
namespace {

namespace fs = std::filesystem;
using namespace trace::analysis;
using namespace trace::model;

// Every member of every struct is told, and none is what it would be without.
StepFigures full_step() {
  StepBreakdown rank{.step_ns = 1, .phase_ns = {2, 3}, .has_detail = true, .start_ns = 4};
  rank.bytes_sent.reset();
  return {5,    true, true, 6,  7,  1,  {rank, rank}, 8.5,    9.5,
          true, 1,    0.25, 10, 11, 12, {{1, 2, 3}},  {4, 5}, {6.5, 7.5}};
}

RankFigures full_rank() {
  const RankInfo info{1, 2, "host",   3, "cuda:0", "device", "sources", "versions",
                      4, 5, "NVLink", 6, "origin", "A=1",    7,         "shape"};
  const MemorySample sample{.rank = 1, .time_ns = 2, .step = 3, .bytes = {4, 5}};
  return {info,
          1,
          2,
          3,
          WaitDoubt::kClockError,
          sample,
          sample,
          {4},
          true,
          {5},
          {6},
          {.comm_events = 7, .idle_ns = 8},
          {.rank = 1, .alive_ns = 9},
          RecorderCost{.rank = 1, .events = 10},
          {{.rank = 1, .sequence = 11}},
          Collective{.rank = 1, .sequence = 12},
          {{.rank = 1, .sequence = 13}, {.rank = 1, .sequence = 14}}};
}

std::shared_ptr<const HostClocks> full_clocks() {
  ClockMeetings meetings;
  meetings.add(CollectiveFunction::kAllReduce, {0, 100, 200}, {1, 1150, 1200});
  return std::make_shared<HostClocks>(
      meetings.clocks(std::vector<RankHost>{{0, "one"}, {1, "another"}}));
}

RunFigures full_figures() {
  RunFigures figures;
  figures.info.status = RunStatus::kDone;
  figures.summary.steps_executed = 1;
  figures.summary.loss_last = 2.5;
  figures.ranks = {full_rank(), {}};
  figures.steps = {full_step()};
  figures.collectives = {{CollectiveFunction::kAllGather, CollectiveFunction::kAllReduce,
                          "bucket 3", 1, 2, 3, 4, 5, 6, 7, 8, "RING", "LL", 9}};
  figures.buckets = {{1, 2, {"wte", "wpe"}, {3, 4}, "large"}};
  figures.units = {{1, "root", 2, 3, 4, 5, "bfloat16", {"wte"}, {6}}};
  figures.evaluations = {{.step = 1, .loss = 2}};
  figures.recorder = {0.01, true, true, 1, 2, true, {{1, "queue full", 3}}, 0};
  figures.process_groups = {{1, "world", "gloo", {0, 1}}};
  figures.clocks = full_clocks();
  figures.ignored_rows = 4;
  return figures;
}

auto told(const RankInfo& info) {
  const auto& [rank, local_rank, host, process_id, device, device_name, sources, versions,
               peak_flops, parameters, link, link_speed, origin, environment, trained, model] =
      info;
  return std::tie(rank, local_rank, host, process_id, device, device_name, sources, versions,
                  peak_flops, parameters, link, link_speed, origin, environment, trained, model);
}

// Of those without a text, which are kept as they lie in memory, one member for all.
void expect_same(const RankFigures& kept, const RankFigures& fresh) {
  EXPECT_EQ(told(kept.info), told(fresh.info));
  EXPECT_EQ(kept.step_ns, fresh.step_ns);
  EXPECT_EQ(kept.exposed_ns, fresh.exposed_ns);
  EXPECT_EQ(kept.exposed_wait_ns, fresh.exposed_wait_ns);
  EXPECT_EQ(kept.wait_doubt, fresh.wait_doubt);
  EXPECT_EQ(kept.now.bytes, fresh.now.bytes);
  EXPECT_EQ(kept.peak.bytes, fresh.peak.bytes);
  EXPECT_EQ(kept.category_peaks, fresh.category_peaks);
  EXPECT_EQ(kept.has_step_memory, fresh.has_step_memory);
  EXPECT_EQ(kept.estimate, fresh.estimate);
  EXPECT_EQ(kept.estimate_peaks, fresh.estimate_peaks);
  EXPECT_EQ(kept.totals, fresh.totals);
  EXPECT_EQ(kept.heartbeat.alive_ns, fresh.heartbeat.alive_ns);
  EXPECT_EQ(kept.cost.value_or(RecorderCost{}).events, fresh.cost.value_or(RecorderCost{}).events);
  EXPECT_EQ(kept.last_completed.value_or(Collective{}).sequence,
            fresh.last_completed.value_or(Collective{}).sequence);
  const auto is_same = [](const auto& a, const auto& b) { return a.sequence == b.sequence; };
  EXPECT_TRUE(std::ranges::equal(kept.pending, fresh.pending, is_same));
  EXPECT_TRUE(std::ranges::equal(kept.recent_completed, fresh.recent_completed, is_same));
}

void expect_same(const RunFigures& kept, const RunFigures& fresh) {
  EXPECT_EQ(kept.summary, fresh.summary);
  ASSERT_EQ(kept.ranks.size(), fresh.ranks.size());
  for (std::size_t i = 0; i < fresh.ranks.size(); ++i) expect_same(kept.ranks[i], fresh.ranks[i]);
  EXPECT_EQ(kept.steps, fresh.steps);
  EXPECT_EQ(kept.collectives, fresh.collectives);
  EXPECT_EQ(kept.buckets, fresh.buckets);
  EXPECT_EQ(kept.units, fresh.units);
  const auto is_same = [](const auto& a, const auto& b) { return a.loss == b.loss; };
  EXPECT_TRUE(std::ranges::equal(kept.evaluations, fresh.evaluations, is_same));
  EXPECT_EQ(kept.recorder.overhead_fraction, fresh.recorder.overhead_fraction);
  EXPECT_EQ(kept.recorder.overhead_is_measured, fresh.recorder.overhead_is_measured);
  EXPECT_EQ(kept.recorder.overhead_is_least, fresh.recorder.overhead_is_least);
  EXPECT_EQ(kept.recorder.events, fresh.recorder.events);
  EXPECT_EQ(kept.recorder.lost, fresh.recorder.lost);
  EXPECT_EQ(kept.recorder.lacks_end, fresh.recorder.lacks_end);
  const auto is_lost = [](const Lost& a, const Lost& b) {
    return a.rank == b.rank && a.reason == b.reason && a.count == b.count;
  };
  EXPECT_TRUE(std::ranges::equal(kept.recorder.losses, fresh.recorder.losses, is_lost));
  EXPECT_EQ(kept.process_groups, fresh.process_groups);
  EXPECT_EQ(kept.ignored_rows, fresh.ignored_rows);
}

struct FiguresCache : testing::Test {
  TemporaryFolder folder;
  SyntheticRun synthetic{folder.path()};
  const fs::path& run = synthetic.folder();

  FiguresCache() {
    synthetic.add_steps(9);
    synthetic.log(1, "nine steps");
    synthetic.beat(1'700'000'001'000'000'000);
    synthetic.finish();
    let_rest(run);
  }
  fs::path cache() const { return run / kFiguresCacheFile; }
  std::optional<RunFigures> kept() const { return kept_figures(run, trace::store::run_stamp(run)); }
  void keep(const RunFigures& figures) const {
    keep_figures(run, trace::store::run_stamp(run), figures);
  }
};

// A run as it is followed, and what it shows.
struct Followed {
  std::unique_ptr<RunFollower> run;

  explicit Followed(const fs::path& folder) : run(RunFollower::open(folder).value()) {
    run->select_step(std::nullopt);
    EXPECT_TRUE(run->advance().value());
  }
  std::shared_ptr<const ui::state::RunView> view() {
    return run->view(trace::base::wall_clock_ns(), false, {}).value();
  }
};

TEST_F(FiguresCache, GivesBackEveryMember) {
  const RunFigures figures = full_figures();
  keep(figures);
  const auto again = kept();
  ASSERT_TRUE(again);
  expect_same(*again, figures);
  ASSERT_TRUE(again->clocks);
  ASSERT_EQ(again->clocks->ranks().size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const RankClock &own = again->clocks->ranks()[i], &whole = figures.clocks->ranks()[i];
    EXPECT_EQ(own.host.rank, whole.host.rank);
    EXPECT_EQ(own.host.name, whole.host.name);
    EXPECT_EQ(own.least_ns, whole.least_ns);
    EXPECT_EQ(own.most_ns, whole.most_ns);
  }
  EXPECT_GT(figures.clocks->error_between_hosts(), 0);
  EXPECT_EQ(again->clocks->error_between_hosts(), figures.clocks->error_between_hosts());
}

TEST_F(FiguresCache, ShowsARunAsReadingAllOfItDoes) {
  Followed fresh(run);
  EXPECT_FALSE(kept());
  EXPECT_TRUE(fresh.run->keep());
  ASSERT_TRUE(kept());
  Followed again(run);
  EXPECT_FALSE(*again.run->advance()) << "nothing is new";
  for (const auto step : {std::optional<std::int64_t>(), std::optional<std::int64_t>(2),
                          std::optional<std::int64_t>(-1)}) {
    fresh.run->select_step(step);
    again.run->select_step(step);
    const auto shown = again.view(), whole = fresh.view();
    expect_same(shown->figures, whole->figures);
    EXPECT_EQ(shown->figures.steps.size(), 9u);
    EXPECT_EQ(shown->figures.info.name, whole->figures.info.name);
    EXPECT_EQ(shown->selected_step, whole->selected_step);
    EXPECT_EQ(shown->follows_live, whole->follows_live);
    EXPECT_EQ(shown->banners, whole->banners);
    ASSERT_EQ(shown->log.size(), 1u);
    EXPECT_EQ(shown->log[0].text, whole->log.at(0).text);
    ASSERT_TRUE(shown->timeline && whole->timeline);
    ASSERT_EQ(shown->timeline->rows->rows.size(), whole->timeline->rows->rows.size());
    for (std::size_t i = 0; i < whole->timeline->picture->rows.size(); ++i) {
      EXPECT_EQ(shown->timeline->rows->rows[i].label, whole->timeline->rows->rows[i].label);
      EXPECT_EQ(shown->timeline->picture->rows[i].pieces.size(),
                whole->timeline->picture->rows[i].pieces.size());
    }
    EXPECT_EQ(shown->timeline->picture->names, whole->timeline->picture->names);
  }
}

TEST_F(FiguresCache, AReplayReadsTheRunItself) {
  RunFigures other = Followed(run).view()->figures;
  other.summary.steps_executed = 77;  // which no file says
  keep(other);
  Followed replayed(run);
  EXPECT_EQ(replayed.view()->figures.summary.steps_executed, 77);
  const auto range = replayed.run->commit_range().value();
  EXPECT_TRUE(*replayed.run->advance(range.first_ns - 1));
  EXPECT_TRUE(replayed.view()->figures.steps.empty());
  EXPECT_TRUE(*replayed.run->advance(range.last_ns));
  EXPECT_EQ(replayed.view()->figures.summary.steps_executed, 9);
  EXPECT_TRUE(*replayed.run->advance());
  EXPECT_EQ(replayed.view()->figures.summary.steps_executed, 77) << "left, and there at once";
}

TEST_F(FiguresCache, AChangedRunIsReadAgain) {
  RunFigures other = Followed(run).view()->figures;
  other.summary.steps_executed = 77;
  keep(other);
  Followed followed(run);
  fs::last_write_time(run / "rank_1.sqlite", fs::file_time_type::clock::now());
  EXPECT_FALSE(*followed.run->refresh_info());
  EXPECT_TRUE(*followed.run->advance());
  EXPECT_EQ(followed.view()->figures.summary.steps_executed, 9);
}

TEST_F(FiguresCache, StaysValidWhenTheUsersWordsChange) {
  Followed followed(run);
  EXPECT_TRUE(followed.run->keep());
  ASSERT_TRUE(change_words(folder.path(), run, {.name = "another", .note = "a note", .tags = {}}));
  EXPECT_TRUE(kept());
  EXPECT_EQ(Followed(run).view()->figures.info.note, "a note");
}

TEST_F(FiguresCache, WaitsForARunThatMayStillBeWritten) {
  fs::last_write_time(run / "rank_0.sqlite", fs::file_time_type::clock::now());
  Followed followed(run);
  EXPECT_FALSE(followed.run->keep());
  EXPECT_FALSE(fs::exists(cache()));
  let_rest(run);
  EXPECT_FALSE(followed.run->keep()) << "it was written since it was read";
  EXPECT_FALSE(*followed.run->refresh_info());
  EXPECT_FALSE(*followed.run->advance());
  EXPECT_TRUE(followed.run->keep());
  EXPECT_TRUE(kept());
}

TEST_F(FiguresCache, IsWrittenOnceAnEndedRunWasShown) {
  std::atomic<int> published = 0;
  RunWatcher watcher([&] { ++published; });
  watcher.show(run);
  EXPECT_TRUE(eventually([&] { return kept().has_value(); }));
  EXPECT_GT(published, 0);
}

TEST_F(FiguresCache, KeepsNothingOfARunThatCannotBeReadWhole) {
  std::ofstream(run / "rank_1.sqlite", std::ios::trunc) << "no longer a database";
  let_rest(run);
  Followed followed(run);
  EXPECT_FALSE(followed.view()->figures.info.unreadable.empty());
  EXPECT_TRUE(followed.run->keep());
  EXPECT_TRUE(read_library_run(run));
  EXPECT_FALSE(fs::exists(cache()));
}

TEST_F(FiguresCache, TheStepOfARankWhoseRowsAreDamagedIsShownOfTheOthers) {
  {
    auto file = trace::store::open_for_writing(run / "rank_1.sqlite");
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE(file->execute("update collective set function = 'sideways'"));
  }
  Followed followed(run);
  const auto view = followed.view();
  EXPECT_FALSE(view->figures.info.unreadable.empty());
  ASSERT_TRUE(view->timeline);
  EXPECT_FALSE(view->timeline->picture->rows.empty());
}

TEST_F(FiguresCache, ARunWhoseFiguresCannotBeKeptIsShownAllTheSame) {
  fs::create_directories(cache() / "in the way");
  Followed followed(run);
  EXPECT_TRUE(followed.run->keep());
  EXPECT_EQ(Followed(run).view()->figures.steps.size(), 9u);
}

TEST_F(FiguresCache, OfARunThatTheLibraryReadIsThereWhenItIsOpened) {
  const auto record = read_library_run(run);
  ASSERT_TRUE(record);
  ASSERT_TRUE(kept());
  EXPECT_EQ(kept()->summary, record->summary);
  EXPECT_EQ(read_library_run(run)->summary, record->summary);
}

}  // namespace
}  // namespace shardlens::app::session
