#include "app/session/runs/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlens::app::session {
namespace {

using testing::HasSubstr;

LibraryRun record(const std::string& name, std::int64_t start_ns, double step_ms,
                  double deviation_ms = 1) {
  LibraryRun result;
  result.info.name = name;
  result.info.folder = "/runs/" + name;
  result.info.start_ns = start_ns;
  result.info.status = trace::model::RunStatus::kDone;
  result.info.device = "cpu";
  result.info.world_size = 2;
  result.summary.steps_measured = 100;
  result.summary.step_ns = {.count = 100,
                            .mean = step_ms * 1e6,
                            .median = step_ms * 1e6,
                            .p10 = 0,
                            .p90 = 0,
                            .p99 = 0,
                            .max = 0,
                            .standard_deviation = deviation_ms * 1e6};
  result.noise.estimates[trace::analysis::kStepTime] =
      trace::analysis::MeanEstimate{.mean = step_ms * 1e6,
                                    .count = 100,
                                    .standard_error = deviation_ms * 1e6 / 10,
                                    .degrees_of_freedom = 19,
                                    .drift = 0};
  result.summary.tokens_per_s = 1e6 / step_ms;
  result.losses = {{0, 5}, {1, 4}, {2, 3}, {3, 2}};
  return result;
}

const ui::state::LedgerRow& row(const ui::state::Ledger& ledger, const std::string& name) {
  for (const auto& each : ledger.rows) {
    if (each.name == name) return each;
  }
  throw std::runtime_error("no row " + name);
}

// Held against the run "base".
ui::state::Ledger beside_base(const std::vector<LibraryRun>& records) {
  return build_ledger(records, {.baseline_folder = "/runs/base", .shown_folder = ""});
}

TEST(Ledger, OrdersNewestFirstAndNumbersByAge) {
  const auto ledger =
      build_ledger({record("b", 20, 100), record("c", 30, 100), record("a", 10, 100)}, {});
  ASSERT_EQ(ledger.rows.size(), 3u);
  EXPECT_EQ(ledger.rows[0].name, "c");
  EXPECT_EQ(ledger.rows[0].ordinal, "run 3");
  EXPECT_EQ(ledger.rows[2].ordinal, "run 1");
}

TEST(LibraryRun, KeepsLossesByStepWhateverTheStepsAreNumbered) {
  trace::analysis::RunFigures figures;
  for (const std::int64_t index : {std::int64_t{0}, std::int64_t{1} << 40}) {
    trace::analysis::StepFigures step;
    step.index = index;
    step.complete = true;
    step.loss = 2;
    figures.steps.push_back(step);
  }
  const auto kept = record_from_figures(figures).losses;
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept.back().step, std::int64_t{1} << 40);
  EXPECT_EQ(kept.back().value, 2);
}

TEST(Ledger, BundledRunsComeLastAndAreNumberedApart) {
  auto bundled = record("demo", 50, 100);
  bundled.is_bundled = true;
  const auto ledger = build_ledger({bundled, record("a", 10, 100)}, {});
  EXPECT_EQ(ledger.rows[0].ordinal, "run 1");
  EXPECT_EQ(ledger.rows[1].ordinal, "example 1");
  EXPECT_TRUE(ledger.rows[1].is_bundled);
}

// What a newcomer sees first is no broken job.
TEST(Ledger, TheClearestExampleHidesMostOfItsCommunicationAndHasNoFault) {
  auto own = record("own", 10, 100), slow = record("slow", 20, 100), fast = record("fast", 30, 100),
       late = record("late", 40, 100), alone = record("alone", 50, 100);
  own.summary.overlap_fraction = 1;
  slow.summary.overlap_fraction = 0.2;
  fast.summary.overlap_fraction = 0.8;
  late.summary.overlap_fraction = 0.9;
  late.info.settings.inject = "rank=1,step=4,phase=forward,every=1,delay_ms=60";
  for (auto* example : {&slow, &fast, &late, &alone}) example->is_bundled = true;
  const auto ledger = build_ledger({own, slow, fast, late, alone}, {});
  const auto* clearest = clearest_example(ledger.rows);
  ASSERT_NE(clearest, nullptr);
  EXPECT_EQ(clearest->name, "fast");
  EXPECT_EQ(clearest_example(build_ledger({own, late, alone}, {}).rows), nullptr);
}

TEST(Ledger, ComparesStepTimeWithTheBaseline) {
  auto slower = record("slower", 20, 110);
  slower.info.settings.bucket_cap_mb = 1;
  const auto ledger =
      build_ledger({record("base", 10, 100), slower},
                   {.baseline_folder = "/runs/base", .shown_folder = "/runs/slower"});
  EXPECT_TRUE(row(ledger, "base").is_baseline);
  EXPECT_FALSE(row(ledger, "base").relative_to_baseline);
  ASSERT_TRUE(row(ledger, "slower").relative_to_baseline);
  EXPECT_NEAR(*row(ledger, "slower").relative_to_baseline, 0.10, 1e-9);
  EXPECT_EQ(row(ledger, "slower").beyond_noise, true);
  EXPECT_FALSE(row(ledger, "slower").per_token);
  EXPECT_TRUE(row(ledger, "slower").is_shown);
}

TEST(Ledger, ComparesTimePerTokenOnceBatchOrRanksDiffer) {
  auto larger = record("larger", 20, 150);
  larger.info.settings.batch_per_rank = 16;
  larger.summary.tokens_per_s = 12'000;
  const auto ledger = beside_base({record("base", 10, 100), larger});
  EXPECT_TRUE(row(ledger, "larger").per_token);
  EXPECT_NEAR(*row(ledger, "larger").relative_to_baseline, 10'000.0 / 12'000 - 1, 1e-9)
      << "its steps take longer, its tokens less: it is the better one";
}

TEST(Ledger, SaysHowARunWithMoreRanksScalesAgainstTheBaseline) {
  auto base = record("base", 10, 100), more = record("more", 20, 125);
  base.summary.samples_per_s = 160;
  more.summary.samples_per_s = 256;
  more.info.world_size = 4;
  auto other = more;
  other.info.folder += " changed";
  other.info.name = "changed";
  other.info.settings.bucket_cap_mb = 1;
  const auto ledger = beside_base({base, more, other});
  ASSERT_TRUE(row(ledger, "more").scaling);
  EXPECT_EQ(row(ledger, "more").scaling->kind, trace::analysis::ScalingKind::kWeak);
  EXPECT_NEAR(row(ledger, "more").scaling->efficiency, 0.8, 1e-9);
  EXPECT_FALSE(row(ledger, "changed").scaling);
  EXPECT_FALSE(row(ledger, "base").scaling);
}

// As `compare` does it.
TEST(Ledger, SaysHowRanksOnMoreHostsScaleThoughTheirTimesAreAnotherMachines) {
  auto base = record("base", 10, 100), more = record("more", 20, 125);
  base.summary.samples_per_s = 160;
  more.summary.samples_per_s = 256;
  more.info.world_size = 4;
  base.hosts = "a";
  more.hosts = "a, b";
  const auto ledger = beside_base({base, more});
  EXPECT_EQ(row(ledger, "more").not_compared, "other machine");
  ASSERT_TRUE(row(ledger, "more").scaling);
  EXPECT_NEAR(row(ledger, "more").scaling->efficiency, 0.8, 1e-9);
}

TEST(Ledger, RunsOfAnotherMachineOrDeviceAreNotScoredAndSayWhy) {
  auto base = record("base", 10, 100), there = record("there", 20, 300);
  auto gpu = record("gpu", 30, 50), model = record("model", 40, 200),
       again = record("again", 50, 150);
  for (auto* run : {&base, &gpu, &model, &again}) run->hosts = "desk";
  there.hosts = "cluster";
  for (auto* run : {&base, &there, &model, &again}) run->devices = "a CPU, 2 cores";
  gpu.devices = "another CPU";
  model.info.settings.model = "small";
  const auto ledger = beside_base({base, there, gpu, model, again});
  EXPECT_EQ(row(ledger, "there").not_compared, "other machine");
  EXPECT_EQ(row(ledger, "gpu").not_compared, "other device");
  EXPECT_EQ(row(ledger, "model").not_compared, "other job");
  for (const char* name : {"there", "gpu", "model"}) {
    EXPECT_FALSE(row(ledger, name).relative_to_baseline) << name;
    EXPECT_FALSE(row(ledger, name).scaling) << name;
  }
  EXPECT_EQ(row(ledger, "again").not_compared, "");
  EXPECT_TRUE(row(ledger, "again").relative_to_baseline);
}

TEST(Ledger, ShowsTheNumbersThatTheLibraryGave) {
  auto imported = record("older", 5, 100), base = record("base", 10, 100);
  base.number = 1;
  imported.number = 2;
  const auto ledger = build_ledger({imported, base}, {});
  EXPECT_EQ(row(ledger, "base").ordinal, "run 1");
  EXPECT_EQ(row(ledger, "older").ordinal, "run 2");
}

TEST(Ledger, ASingleMeasuredStepIsNeverBeyondNoise) {
  auto brief = record("brief", 20, 500);
  brief.summary.step_ns.count = 1;
  brief.info.settings.bucket_cap_mb = 1;
  brief.noise.estimates[trace::analysis::kStepTime]->count = 1;
  brief.noise.estimates[trace::analysis::kStepTime]->degrees_of_freedom = 0;
  const auto ledger = beside_base({record("base", 10, 100), brief});
  EXPECT_NEAR(*row(ledger, "brief").relative_to_baseline, 4, 1e-9);
  EXPECT_FALSE(row(ledger, "brief").beyond_noise);
}

TEST(Ledger, RunsOfTheSameSettingsTellWhatChanceDoes) {
  std::vector<LibraryRun> records;
  for (const double step_ms : {100.0, 104.0, 98.0, 101.0}) {
    const auto number = static_cast<std::int64_t>(records.size()) + 1;
    records.push_back(record("same " + std::to_string(number), number, step_ms));
  }
  // A loose knob of another strategy, and what `auto` stands for, change nothing.
  records[1].info.settings.backward_prefetch = trace::job::BackwardPrefetch::kNone;
  records[2].info.settings.first_bucket_mb = 1;
  for (const double step_ms : {105.0, 130.0}) {
    records.push_back(record("at " + std::to_string(static_cast<int>(step_ms)), 9, step_ms));
    records.back().info.settings.bucket_cap_mb = 1;
    records.back().info.settings.gradient_as_bucket_view = step_ms > 110;
  }
  const LedgerQuestion question{.baseline_folder = "/runs/same 1", .shown_folder = ""};
  const auto ledger = build_ledger(records, question);
  EXPECT_THAT(ledger.spread_note, HasSubstr("Two runs of the same settings differ by up to 11 %"));
  EXPECT_EQ(row(ledger, "same 2").beyond_noise, false);
  EXPECT_EQ(row(ledger, "at 105").beyond_noise, false) << "5 % is less than what chance does";
  EXPECT_EQ(row(ledger, "at 130").beyond_noise, true);
}

TEST(Ledger, ASpreadOfTwoRunsOfWhichOneWasDisturbedIsNoPercentage) {
  std::vector<LibraryRun> records{record("same 1", 1, 100), record("same 2", 2, 330)};
  const auto ledger =
      build_ledger(records, {.baseline_folder = "/runs/same 1", .shown_folder = ""});
  EXPECT_THAT(ledger.spread_note, HasSubstr("differ by twofold and more by chance"));
  EXPECT_THAT(ledger.spread_note, HasSubstr("from 2 runs"));
}

// As in `compare`: its first steps are slower, as they often are.
TEST(Ledger, ARunThatGoesOnTellsNoNoiseOfOthers) {
  auto other = record("other", 20, 110);
  other.info.settings.bucket_cap_mb = 1;
  auto running = record("running", 50, 120);
  running.info.status = trace::model::RunStatus::kRunning;
  const std::vector<LibraryRun> over{record("base", 10, 100), record("again", 15, 101),
                                     record("third", 16, 100.5), other};
  auto with = over;
  with.push_back(running);
  const LedgerQuestion question{.baseline_folder = "/runs/base", .shown_folder = ""};
  const auto before = build_ledger(over, question), now = build_ledger(with, question);
  EXPECT_EQ(row(before, "other").beyond_noise, true);
  EXPECT_EQ(row(now, "other").beyond_noise, true);
  EXPECT_EQ(now.spread_note, before.spread_note);
  EXPECT_EQ(now.apart, before.apart);
  EXPECT_TRUE(row(now, "running").beyond_noise.has_value()) << "it is itself judged, too";
}

TEST(Ledger, RunsThatCameWithTheProgramTellTheNoiseOfEachOtherAndNotOfOwnOnes) {
  auto other = record("other", 20, 110);
  other.info.settings.bucket_cap_mb = 1;
  std::vector<LibraryRun> runs{record("base", 10, 100), record("again", 15, 101),
                               record("third", 16, 100.5), other};
  for (LibraryRun& run : runs) {
    run.is_bundled = true;
    run.noise.estimates[trace::analysis::kStepTime]->drift = 5;  // so that its steps do not tell
  }
  const auto of_examples = beside_base(runs);
  EXPECT_EQ(row(of_examples, "other").beyond_noise, true);
  EXPECT_THAT(of_examples.spread_note, HasSubstr("Two runs of the same settings differ"));
  runs.front().is_bundled = runs.back().is_bundled = false;
  const auto of_own = beside_base(runs);
  EXPECT_FALSE(row(of_own, "other").beyond_noise);
  EXPECT_THAT(of_own.spread_note, HasSubstr("not known whether runs differ by chance"));
}

TEST(Ledger, ARunThatGoesOnIsNotToldFromTheOnlyOtherOfItsSettings) {
  auto running = record("running", 50, 120);
  running.info.status = trace::model::RunStatus::kRunning;
  const auto ledger = beside_base({record("base", 10, 100), running});
  EXPECT_TRUE(row(ledger, "running").relative_to_baseline);
  EXPECT_FALSE(row(ledger, "running").beyond_noise) << "no settings ran twice but these";
}

TEST(Ledger, ComparesLossesAtTheLastStepThatAllHaveReached) {
  auto short_run = record("short", 20, 100);
  short_run.losses = {{0, 5}, {1, 4.5}};
  auto failed = record("failed", 30, 100);
  failed.losses = {{0, 5}};
  failed.info.status = trace::model::RunStatus::kFailed;
  const auto ledger = beside_base({record("base", 10, 100), short_run, failed});
  EXPECT_EQ(row(ledger, "base").common_step, 1);
  EXPECT_EQ(row(ledger, "base").loss_at_common_step, 4);
  EXPECT_EQ(row(ledger, "short").loss_at_common_step, 4.5);
  EXPECT_EQ(row(ledger, "failed").common_step, 0);
}

TEST(Ledger, ARunWithoutCommunicationHasNoLossToCompare) {
  auto ceiling = record("ceiling", 20, 90);
  ceiling.info.communication_off = true;
  ceiling.losses = {{0, 5}};
  const auto ledger = beside_base({record("base", 10, 100), ceiling});
  EXPECT_FALSE(row(ledger, "ceiling").loss_at_common_step);
  EXPECT_EQ(row(ledger, "base").common_step, 3);
}

TEST(Ledger, AnEmptyLibraryIsAnEmptyTable) {
  const auto ledger = build_ledger({}, {.baseline_folder = "/gone", .shown_folder = ""});
  EXPECT_TRUE(ledger.rows.empty());
  EXPECT_EQ(ledger.spread_note, "");
}

}  // namespace
}  // namespace shardlens::app::session
