#include "app/session/tuning/run_predictor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "app/session/jobs/knob_editor.h"
#include "app/session/runs/library_run.h"
#include "app/session/tuning/prediction_source.h"
#include "app/session/watch/run_follower.h"
#include "tests/app/session/eventually.h"
#include "tests/files.h"
#include "tests/trace/interop/ddp_traces.h"
#include "tests/trace/interop/kineto_traces.h"
#include "trace/base/wall_clock.h"
#include "trace/predict/costs/costs_file.h"

namespace shardlens::app::session {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const ui::state::RunView> view_of(const fs::path& run) {
  auto follower = RunFollower::open(run);
  if (!follower) throw std::runtime_error(follower.error().message);
  (void)(*follower)->advance();
  return *(*follower)->view(trace::base::wall_clock_ns(), false, {"run 4", ""});
}

fs::path file_of(const char* example) {
  return fs::path(SHARDLENS_SOURCE_DIR) / "assets/runs" / example;
}

std::shared_ptr<const ui::state::RunView> example(const char* name) {
  return view_of(file_of(name));
}

class RunPredictorTest : public testing::Test {
 protected:
  // Once the run was read, and with `curves`, once those are there.
  std::shared_ptr<const ui::state::PredictionView> answer(bool curves = true) {
    std::shared_ptr<const ui::state::PredictionView> view;
    eventually([&] {
      view = predictor_.view(draft_);
      if (!view || !curves) return view != nullptr;
      return !view->curves.empty() && !view->curves.front().points.empty();
    });
    return view;
  }

  std::atomic<int> changes_ = 0;
  RunPredictor predictor_{[this] { ++changes_; }};
  std::shared_ptr<const ui::state::RunView> run_ = example("slow_link_cap_1.shardlens");
  ui::state::KnobDraft draft_;

  void SetUp() override { draft_.next = run_->figures.info.settings; }
};

TEST_F(RunPredictorTest, LearnsTheRunOnScreenAndAnswersEveryChange) {
  EXPECT_EQ(predictor_.view(draft_), nullptr);
  predictor_.follow(run_);
  const auto same = answer();
  ASSERT_TRUE(same && same->prediction) << same->refused;
  EXPECT_EQ(same->ordinal, "run 4");
  EXPECT_TRUE(same->prediction->changes.empty());
  EXPECT_DOUBLE_EQ(same->prediction->step_ns, run_->figures.summary.step_ns.mean);
  EXPECT_FALSE(predictor_.has_news());
  EXPECT_EQ(predictor_.view(draft_), same) << "the same question";

  draft_.next.bucket_cap_mb = 25;
  const auto changed = predictor_.view(draft_);
  ASSERT_TRUE(changed && changed->prediction);
  EXPECT_LT(changed->prediction->parts, same->prediction->parts);
  ASSERT_EQ(changed->curves.size(), 3u) << "of batch, length of sequences and cap";
  EXPECT_TRUE(changed->curves[0].points.empty()) << "the batch's is of another cap now";
  EXPECT_FALSE(changed->curves[2].points.empty()) << "where its own slider stands changes nothing";
  EXPECT_EQ(changed->step->index, run_->selected_step);
}

TEST_F(RunPredictorTest, SaysWhatWouldHelpTheRunOnScreen) {
  predictor_.follow(example("rank_1_late.shardlens"));
  std::shared_ptr<const ui::state::AdviceView> found;
  eventually([&] { return (found = predictor_.advice()) != nullptr; });
  const auto straggler =
      std::ranges::find(found->advice, "straggler", &trace::advice::Advice::rule);
  ASSERT_NE(straggler, found->advice.end());
  EXPECT_EQ(straggler->evidence.front().rank, 1);
  predictor_.follow(run_);
  EXPECT_TRUE(eventually([&] {
    const auto next = predictor_.advice();
    return next != nullptr && next->folder == run_->figures.info.folder;
  }));
}

TEST_F(RunPredictorTest, CurvesSayWhatTheirValuesAreAskedFor) {
  predictor_.follow(run_);
  const auto view = answer();
  ASSERT_EQ(view->curves.size(), 3u);
  using Per = trace::tuning::KnobCurve::Per;
  for (const auto& curve : view->curves) {
    const auto slowest =
        std::ranges::max_element(curve.points, {}, &trace::tuning::CurvePoint::step_ns);
    const bool has_better = trace::tuning::surest_faster(curve, *slowest).has_value();
    if (curve.per != Per::kSample) {  // of which intervals overlap
      EXPECT_EQ(has_better, curve.per == Per::kStep) << "short sequences are no aim";
    }
    for (const auto& point : curve.points) {
      trace::job::Settings& next = draft_.next = run_->figures.info.settings;
      ASSERT_TRUE(trace::job::set_value(next, curve.knob->name, point.text));
      const auto samples = static_cast<double>(next.batch_per_rank * next.ranks);
      const double divisor = curve.per == Per::kStep ? 1
                             : curve.per == Per::kSample
                                 ? samples
                                 : samples * static_cast<double>(next.sequence_length);
      EXPECT_DOUBLE_EQ(predictor_.view(draft_)->prediction->step_ns / divisor, point.step_ns);
    }
  }
  EXPECT_EQ(view->curves[0].per, Per::kSample) << "of batch_per_rank";
  EXPECT_EQ(view->curves[1].per, Per::kToken) << "of sequence_length";
  EXPECT_EQ(view->curves[2].per, Per::kStep) << "of bucket_cap_mb";
}

// A GPU's peak is held against that GPU's memory, and not against that of whoever looks at it.
TEST_F(RunPredictorTest, WhatFitsIsWhatFitsWhereTheRunTrained) {
  run_ = example("h200_full_shard.shardlens");
  draft_.next = run_->figures.info.settings;
  auto here = std::make_shared<ui::state::StrategyEstimates>();
  here->usable_bytes = 1 << 20;
  draft_.estimates = here;
  predictor_.follow(run_);
  const auto view = answer();
  ASSERT_TRUE(view && !view->curves.empty());
  const auto& batches = view->curves.front();
  ASSERT_EQ(batches.knob->name, "batch_per_rank");
  const auto batch = static_cast<double>(draft_.next.batch_per_rank);
  const auto recorded = std::ranges::find(batches.points, batch, &trace::tuning::CurvePoint::value);
  ASSERT_NE(recorded, batches.points.end());
  EXPECT_TRUE(recorded->fits);
}

TEST_F(RunPredictorTest, OfAnotherLinkCurvesAreOthers) {
  predictor_.follow(run_);
  const auto before = answer();
  draft_.next.simulate_link = "latency_us=1000,gbit_per_s=0.2";
  EXPECT_TRUE(predictor_.view(draft_)->curves.front().points.empty())
      << "those before are of another link";
  EXPECT_GT(answer()->curves.front().points.front().step_ns,
            before->curves.front().points.front().step_ns);
}

// 25 alone has a smaller first bucket, and what was measured lies on the curve.
TEST_F(RunPredictorTest, CurvesGoThroughTheDefaultTheRecordedAndMeasuredValues) {
  auto ledger = std::make_shared<ui::state::Ledger>();
  ui::state::LedgerRow row;
  row.settings = run_->figures.info.settings;
  row.settings.bucket_cap_mb = 3.77;
  row.settings.learning_rate *= 2;  // with which a step takes as long
  row.ranks = run_->figures.info.world_size;
  row.summary.step_ns.count = 20;
  row.summary.step_ns.mean = 1e8;
  ledger->rows.push_back(row);
  row.settings.bucket_cap_mb = 3.93;
  row.settings.batch_per_rank *= 2;
  row.is_shown = row.is_baseline = true;
  ledger->rows.push_back(row);
  predictor_.follow(run_);
  std::shared_ptr<const ui::state::PredictionView> view;
  eventually([&] {
    view = predictor_.view(draft_, ledger);
    return view && view->curves.size() == 3 && !view->curves[2].points.empty();
  });
  const auto has = [&](const char* value) {
    return std::ranges::count(view->curves[2].points, value, &trace::tuning::CurvePoint::text);
  };
  EXPECT_EQ(has("25"), 1);
  EXPECT_EQ(has("1"), 1);
  EXPECT_EQ(has("3.77"), 1);
  EXPECT_EQ(has("3.93"), 0) << "of another batch";
}

// Whose mean step is another one with each step, up to 25 times a second.
TEST_F(RunPredictorTest, AStepOfARunThatGoesOnLooksAtNoRunOfTheLibraryAgain) {
  auto ledger = std::make_shared<ui::state::Ledger>();
  ui::state::LedgerRow row;
  row.settings = run_->figures.info.settings;
  row.ranks = run_->figures.info.world_size;
  row.summary.step_ns.count = 20;
  row.summary.step_ns.mean = 1e8;
  row.is_shown = row.is_baseline = true;
  ledger->rows.push_back(row);
  const auto with_mean = [this](double ns) {
    auto run = std::make_shared<ui::state::RunView>(*run_);
    run->is_live = true;
    run->figures.summary.step_ns.mean = ns;
    return run;
  };
  predictor_.follow(with_mean(1e8));
  ASSERT_TRUE(eventually([&] { return predictor_.view(draft_, ledger) != nullptr; }));
  const auto before = predictor_.view(draft_, ledger);
  ASSERT_EQ(before->measured.size(), 3u) << "the same settings are along each curve";
  ledger->rows.clear();  // so that it would be seen
  predictor_.follow(with_mean(1.1e8));
  const auto after = predictor_.view(draft_, ledger);
  ASSERT_NE(after, before);
  EXPECT_EQ(after->measured.size(), 3u);
  draft_.next.bucket_cap_mb *= 2;
  EXPECT_TRUE(predictor_.view(draft_, ledger)->measured.empty()) << "these are other settings";
}

TEST_F(RunPredictorTest, RefusesByNameWhatIsAllThatChanges) {
  predictor_.follow(run_);
  answer();
  draft_.next.weight_decay = 0;
  const auto refused = predictor_.view(draft_);
  EXPECT_NE(refused->refused.find("weight_decay"), std::string::npos);
  EXPECT_FALSE(refused->curves.empty()) << "of the others";
}

TEST_F(RunPredictorTest, LeavesOutByNameWhatIsNotKnown) {
  predictor_.follow(run_);
  answer();
  draft_.next.bucket_cap_mb = 25;
  draft_.next.gradient_as_bucket_view = !draft_.next.gradient_as_bucket_view;
  const auto view = predictor_.view(draft_);
  ASSERT_TRUE(view->prediction) << view->refused;
  EXPECT_EQ(view->refused, "");
  ASSERT_EQ(view->prediction->left_out.size(), 1u);
  EXPECT_EQ(view->prediction->left_out.front()->name, "gradient_as_bucket_view");
  EXPECT_NE(view->prediction->step_ns, view->prediction->recorded_step_ns);
  EXPECT_TRUE(view->step);
}

// Learning takes a core from the ranks that are measured; but the step that was missing is not
// waited for longer than it takes.
TEST_F(RunPredictorTest, LearnsARunThatGoesOnSeldomOnceItTellsEnough) {
  const auto with_steps = [&](std::size_t count, trace::job::Communication communication) {
    auto run = std::make_shared<ui::state::RunView>(*run_);
    run->is_live = true;
    run->figures.info.settings.communication = communication;
    run->figures.steps.resize(count);
    return run;
  };
  using trace::job::Communication;
  predictor_.follow(with_steps(12, Communication::kNone));
  ASSERT_FALSE(answer(false)->prediction);
  eventually([this] { return changes_ == 2; });  // with the advice
  predictor_.follow(with_steps(13, Communication::kOn));
  EXPECT_TRUE(eventually([this] { return predictor_.view(draft_)->prediction.has_value(); }))
      << "of one step more";
}

// Other ranks may write on for a moment; no step and no status tells that they did.
TEST_F(RunPredictorTest, LearnsARunOnceMoreWhenAllOfItIsSurelyWritten) {
  const auto ended = [this](std::int64_t ago_ns) {
    auto run = std::make_shared<ui::state::RunView>(*run_);
    run->figures.info.end_ns = trace::base::wall_clock_ns() - ago_ns;
    return run;
  };
  predictor_.follow(ended(-3'600'000'000'000));
  EXPECT_TRUE(eventually([this] { return changes_ == 2; })) << "learnt, with advice";
  predictor_.follow(ended(-3'600'000'000'000));
  predictor_.follow(ended(4'000'000'000));
  EXPECT_TRUE(eventually([this] { return changes_ == 4; }));
  predictor_.follow(ended(4'000'000'000));
  answer();
  EXPECT_EQ(changes_, 5) << "with curves, and not learnt again";
}

TEST_F(RunPredictorTest, LearnsTheRunThatTookThePlaceOfAnother) {
  predictor_.follow(run_, 1);
  EXPECT_TRUE(eventually([this] { return changes_ == 2; })) << "learnt, with advice";
  predictor_.follow(run_, 2);
  EXPECT_TRUE(eventually([this] { return changes_ == 4; }));
}

// As `shardlens calibrate` does, which a refusal tells to run.
TEST_F(RunPredictorTest, TakesWhatIsMeasuredWhileTheRunIsOnScreen) {
  const trace::test::Folder library;
  const fs::path copy = library / "copy.shardlens";
  fs::copy_file(file_of("slow_link_cap_1.shardlens"), copy);
  run_ = view_of(copy);
  draft_.next.sharding_strategy = trace::job::Strategy::kFullShard;
  predictor_.follow(run_);
  const auto before = answer(false);
  ASSERT_TRUE(before && before->prediction) << before->refused;
  EXPECT_TRUE(before->prediction->is_extrapolated) << "it gathered nothing";

  std::vector<trace::model::RankInfo> ranks;
  for (const auto& rank : run_->figures.ranks) ranks.push_back(rank.info);
  trace::predict::CostsFile measured;
  measured.setup = trace::predict::setup_of(run_->figures.info, ranks);
  ASSERT_FALSE(measured.setup.device_name.empty());
  using trace::model::CollectiveFunction;
  for (const auto function : {CollectiveFunction::kAllGather, CollectiveFunction::kReduceScatter}) {
    for (std::int64_t bytes = 1024; bytes <= 1 << 24; bytes *= 2) {
      measured.rows.push_back({.kind = {function, measured.setup.ranks},
                               .bytes = bytes,
                               .count = 10,
                               .median_ns = 1e9,
                               .lower_quartile_ns = 1e9,
                               .upper_quartile_ns = 1e9});
    }
  }
  ASSERT_TRUE(trace::predict::keep_costs(library.path(), measured));
  EXPECT_TRUE(eventually([&] {
    predictor_.follow(run_);
    const auto now = predictor_.view(draft_);
    return now && now->prediction && now->prediction->step_ns > before->prediction->step_ns + 1e9;
  }));
}

TEST_F(RunPredictorTest, ForgetsARunThatLeftTheScreen) {
  predictor_.follow(run_);
  ASSERT_TRUE(answer());
  predictor_.follow(nullptr);
  EXPECT_EQ(predictor_.view(draft_), nullptr);
  predictor_.follow(run_);
  EXPECT_TRUE(answer()->prediction);
}

TEST_F(RunPredictorTest, KnowsWhetherAJobWouldRunWhereTheRunDid) {
  const auto& figures = run_->figures;
  trace::job::Settings next = figures.info.settings;
  next.simulate_link = "off";  // which the CPU is for
  next.device = trace::job::DeviceChoice::kAuto;
  Machine machine;
  EXPECT_FALSE(would_run_where(figures, next, machine)) << "nothing is known of it";
  machine.host = figures.ranks.front().info.host;
  EXPECT_TRUE(would_run_where(figures, next, machine));
  machine.cuda.devices.resize(2);
  EXPECT_FALSE(would_run_where(figures, next, machine)) << "on GPUs";
  next.device = trace::job::DeviceChoice::kCpu;
  EXPECT_TRUE(would_run_where(figures, next, machine));
  machine.host = "elsewhere";
  EXPECT_FALSE(would_run_where(figures, next, machine));
}

TEST_F(RunPredictorTest, KnowsThePlaceOfAPackedRunByTheMarkOfItsMachine) {
  auto figures = run_->figures;
  trace::job::Settings next = figures.info.settings;
  next.simulate_link = "off";
  next.device = trace::job::DeviceChoice::kCpu;
  figures.info.is_packed = true;
  for (auto& rank : figures.ranks) rank.info.host = "host-1";
  Machine machine;
  machine.host = "host-1";
  EXPECT_FALSE(would_run_where(figures, next, machine)) << "its name is not the machine's";
  figures.info.machine = machine.mark = "aa";
  machine.host = "desk";
  EXPECT_TRUE(would_run_where(figures, next, machine));
  figures.ranks.back().info.host = "host-2";
  EXPECT_FALSE(would_run_where(figures, next, machine)) << "one of them ran elsewhere";
  figures.ranks.back().info.host = "host-1";
  machine.mark = "bb";
  EXPECT_FALSE(would_run_where(figures, next, machine));
}

// As by an import with --overwrite of other traces that begin at the same moment.
TEST(PredictionSource, ReadsTheRunThatTookThePlaceOfAnother) {
  const trace::test::Folder folder;
  const auto import_with = [&](double gradient_us) {
    trace::interop::DdpJob job;
    job.gradients = std::vector<std::int64_t>(12, 40'000);
    job.buckets = {4, 4, 4};
    job.gradient_us = gradient_us;
    std::vector<fs::path> files;
    for (int rank = 0; rank < 2; ++rank) {
      files.push_back(folder / ("rank" + std::to_string(rank) + ".json"));
      std::ofstream(files.back()) << trace::interop::DdpTraceWriter(job, rank).text();
    }
    trace::interop::ImportOptions options;
    options.folder = folder / "run";
    options.overwrite = true;
    const auto imported = trace::interop::import_kineto(files, folder.path(), options);
    if (!imported) throw std::runtime_error(imported.error().message);
    return *read_run_figures(imported->folder);
  };
  const auto predicted = [](const LearntRun& learnt) {
    if (!learnt.predictor) throw std::runtime_error(learnt.refused);
    trace::job::Settings next = learnt.predictor->info().settings;
    next.overlap_comm = false;
    const auto forecast = learnt.predictor->predict_with_step(next, trace::tuning::kTypicalStep);
    if (!forecast) throw std::runtime_error(forecast.error().message);
    return forecast->prediction.step_ns;
  };
  PredictionSource source;
  const auto before = import_with(200);
  const double first = predicted(source.learn(before));
  const auto after = import_with(600);
  ASSERT_EQ(before.info.start_ns, after.info.start_ns);
  EXPECT_GT(predicted(source.learn(after)), first);
  EXPECT_DOUBLE_EQ(predicted(source.learn(after)), predicted(PredictionSource().learn(after)));
}

// Of another program's run only what it tells is asked. Its knobs begin as recorded, so that any
// other value is a change, one's own and the default too.
TEST(ImportedRun, IsAskedForWhatItTells) {
  const trace::test::Folder folder;
  trace::interop::DdpJob job;
  for (int i = 0; i < 12; ++i) job.gradients.push_back(40'000 + 15'000 * (i % 4));
  job.buckets = {3, 3, 2, 3, 1};  // as with 0.5 MiB
  job.micro_batches = 2;
  std::vector<fs::path> files;
  for (int rank = 0; rank < 2; ++rank) {
    files.push_back(folder / ("rank" + std::to_string(rank) + ".json"));
    std::ofstream(files.back()) << trace::interop::DdpTraceWriter(job, rank).text();
  }
  const auto imported = trace::interop::import_kineto(files, folder / "runs");
  ASSERT_TRUE(imported) << imported.error().message;
  auto follower = RunFollower::open(imported->folder);
  ASSERT_TRUE(follower && (*follower)->advance());
  const auto run = *(*follower)->view(trace::base::wall_clock_ns(), false, {"run 1", ""});
  const LearntRun learnt = PredictionSource().learn(run->figures);
  ASSERT_TRUE(learnt.predictor && learnt.predictor->told()) << learnt.refused;

  trace::job::Settings own;
  own.ranks = 5;
  own.model = "gpt2-small";
  own.sharding_strategy = trace::job::Strategy::kFullShard;
  KnobEditor knobs(own);
  const auto before = predict_next(learnt, *run, knobs.draft({}));
  ASSERT_TRUE(before.prediction) << before.refused;
  EXPECT_TRUE(before.prediction->changes.empty()) << "the settings are not the run's";
  EXPECT_TRUE(knobs.show_told(learnt.folder, &*learnt.predictor->told()));
  EXPECT_FALSE(knobs.show_told(learnt.folder, &*learnt.predictor->told()));
  EXPECT_EQ(knobs.next().gradient_accumulation_steps, 2);
  EXPECT_EQ(knobs.next().sharding_strategy, trace::job::Strategy::kDdp) << "which has buckets";
  const auto same = predict_next(learnt, *run, knobs.draft({}));
  ASSERT_TRUE(same.prediction) << same.refused;
  EXPECT_TRUE(same.prediction->changes.empty() && same.prediction->left_out.empty());

  ASSERT_TRUE(knobs.set("batch_per_rank", std::to_string(own.batch_per_rank + 1)));
  const auto untold = predict_next(learnt, *run, knobs.draft({}));
  EXPECT_NE(untold.refused.find("What batch_per_rank does"), std::string::npos) << untold.refused;
  ASSERT_TRUE(knobs.set("gradient_accumulation_steps", "1"));  // as by default
  ASSERT_TRUE(knobs.set("overlap_comm", "false"));
  const ui::state::KnobDraft draft = knobs.draft({});
  const auto changed = predict_next(learnt, *run, draft);
  ASSERT_TRUE(changed.prediction && changed.step) << changed.refused;
  const auto change_of = [&](const char* name) {
    const auto& changes = changed.prediction->changes;
    const auto found =
        std::ranges::find(changes, trace::job::find_knob(name), &trace::tuning::Change::knob);
    return found == changes.end() ? "" : found->before + " to " + found->after;
  };
  EXPECT_EQ(change_of("gradient_accumulation_steps"), "2 to 1");
  EXPECT_EQ(change_of("overlap_comm"), "true to false");
  ASSERT_EQ(changed.prediction->left_out.size(), 1u);
  EXPECT_EQ(changed.prediction->left_out[0]->name, "batch_per_rank");

  ui::state::PredictionView view;
  add_all_curves(*learnt.predictor, {asked_settings(*learnt.predictor, draft), 0}, view);
  for (const auto& curve : view.curves)
    EXPECT_EQ(curve.per, trace::tuning::KnobCurve::Per::kStep) << curve.knob->name;
  EXPECT_NE(std::ranges::find(view.curves, trace::job::find_knob("bucket_cap_mb"),
                              &trace::tuning::KnobCurve::knob),
            view.curves.end());
}

}  // namespace
}  // namespace shardlens::app::session
