#include "app/report/report_text.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <optional>

#include "app/report/comparison_report.h"
#include "app/report/report_json.h"
#include "app/report/text_table.h"
#include "app/report/tuning/advice_report.h"
#include "tests/app/report/synthetic_run.h"
#include "tests/files.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::report {
namespace {

class ReportText : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    unchanged_ = new trace::test::Folder;
    run_ = new std::filesystem::path(write_synthetic_run(unchanged_->path()).folder);
  }
  static void TearDownTestSuite() {
    delete run_;
    delete unchanged_;
  }

  // A run that no test changes.
  static const std::filesystem::path& unchanged_run() { return *run_; }
  static RunReport loaded(std::optional<StepRange> range = {}) {
    return load_report(unchanged_run(), range).value();
  }

  const trace::test::Folder folder_;  // for one that is changed

 private:
  static inline trace::test::Folder* unchanged_ = nullptr;
  static inline std::filesystem::path* run_ = nullptr;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(ReportText, LeadsWithTheStepAndExposedTimeAndCarriesTheBanner) {
  const auto report = loaded();
  const std::string text = report_text(report);
  EXPECT_TRUE(text.starts_with("made up · done · 3 ranks on cpu · 9 steps, 6 measured\n")) << text;
  EXPECT_TRUE(contains(text, "CPU run")) << text;
  EXPECT_TRUE(contains(text, "bucket_cap_mb 1"));
  EXPECT_TRUE(contains(text, "Environment: NCCL_ALGO=Ring, OMP_NUM_THREADS=2\n"));
  EXPECT_TRUE(contains(text, "of 1 TFLOP/s per GPU (dense bf16, a data sheet)")) << text;
  EXPECT_LT(text.find("\nStep"), text.find("\nExposed"));
  EXPECT_LT(text.find("\nExposed"), text.find("Collectives"));
  EXPECT_TRUE(contains(text, "reduce_scatter as all_reduce"));
  EXPECT_TRUE(contains(text, "7 lost"));
  EXPECT_TRUE(contains(text, "operator queue full"));
  EXPECT_FALSE(contains(text, "nan"));
}

// Of a run that was resumed nobody knows what it began with.
TEST_F(ReportText, TellsTheLastLossAlsoWhereTheFirstIsNotKnown) {
  auto report = loaded();
  const auto loss_row = [&] {
    const std::string text = report_text(report);
    const auto at = text.find("\nLoss ");
    return at == text.npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  };
  const std::string whole = loss_row();
  const auto from = whole.find("  from ");
  ASSERT_NE(from, whole.npos) << whole;
  report.figures.summary.loss_first.reset();
  EXPECT_EQ(loss_row(), whole.substr(0, from));
}

// As a file that somebody else made may have it.
TEST_F(ReportText, WhatARunSaysLooksLikeNoLineOfOurs) {
  const std::string hostile = "x\nok: done";
  for (const auto status : {trace::model::RunStatus::kFailed, trace::model::RunStatus::kIncomplete,
                            trace::model::RunStatus::kStopped}) {
    auto report = loaded();
    auto& info = report.figures.info;
    info.status = status;
    info.reason = info.folder = info.settings.data = info.note = info.command = hostile;
    report.saved_model = report.diagnosis.sentence = hostile;
    report.diagnosis.states.resize(1);
    report.figures.ranks.at(0).info.sources = hostile;
    report.figures.recorder.losses.push_back({0, hostile, 1});
    EXPECT_FALSE(contains(report_text(report), "\nok: done")) << report_text(report);
    info.imported_from = hostile;
    EXPECT_FALSE(contains(report_text(report), "\nok: done")) << report_text(report);
  }
}

TEST_F(ReportText, AReasonKeepsTheTabsOfTheLogThatItIsFrom) {
  auto report = loaded();
  report.figures.info.status = trace::model::RunStatus::kFailed;
  report.figures.info.reason = "rank 1 failed: a\tb";
  EXPECT_TRUE(contains(report_text(report), "Failed: rank 1 failed: a\tb\n"));
}

TEST_F(ReportText, SaysWhatItsUserHasNoted) {
  const auto run = write_synthetic_run(folder_.path());
  const auto before = load_report(run.folder);
  ASSERT_TRUE(before);
  EXPECT_FALSE(contains(report_text(*before), "Bookmark"));
  const auto& step = before->figures.steps.at(4);
  ASSERT_TRUE(
      trace::store::write_words(run.folder, {{}, "the switch was broken", {{"slow", "lab"}}}));
  ASSERT_TRUE(trace::store::write_bookmarks(run.folder, {{step.start_ns, "late rank"}, {5, ""}}));
  const auto report = load_report(run.folder);
  ASSERT_TRUE(report);
  EXPECT_TRUE(contains(report_text(*report),
                       "Note: the switch was broken\nTags: slow lab\n"
                       "Bookmark: outside of the steps\nBookmark: step 4, late rank\n"))
      << report_text(*report);
  const auto bookmarks = report_json(*report)["run"]["bookmarks"];
  EXPECT_EQ(bookmarks.dump(), "[{\"time_ns\":5,\"step\":null,\"name\":\"\"},{\"time_ns\":" +
                                  std::to_string(step.start_ns) +
                                  ",\"step\":4,\"name\":\"late rank\"}]");
}

TEST_F(ReportText, ARangeSaysWhatItDoesNotCoverAndWhetherItHoldsAnyStep) {
  const auto part = loaded(StepRange{4, 5});
  EXPECT_TRUE(
      contains(report_text(part), "Measured: steps 4 to 5 alone; collectives, memory, losses"));
  EXPECT_TRUE(contains(report_text(part), "throttling, advice, totals"));
  const auto none = loaded(StepRange{100, 200});
  EXPECT_TRUE(
      contains(report_text(none), "no complete step among steps 100 to 200; its last is step 8"));
}

TEST_F(ReportText, AdviceIsOfTheWholeRunWhateverRangeIsMeasured) {
  const auto all = loaded(), part = loaded(StepRange{4, 5});
  ASSERT_EQ(part.figures.summary.steps_measured, 2);
  const auto whole = whole_run(part);
  EXPECT_EQ(whole.summary.steps_measured, SyntheticRun::kSteps - SyntheticRun::kSkipped);
  EXPECT_EQ(whole.summary, all.figures.summary);
  for (std::size_t rank = 0; rank < whole.ranks.size(); ++rank) {
    EXPECT_EQ(whole.ranks[rank].step_ns, all.figures.ranks[rank].step_ns);
    EXPECT_EQ(whole.ranks[rank].exposed_ns, all.figures.ranks[rank].exposed_ns);
  }
  EXPECT_EQ(advice_text(advice_of(whole), whole.summary.step_ns.mean),
            advice_text(advice_of(all.figures), all.figures.summary.step_ns.mean));
}

TEST_F(ReportText, StepsBetweenThoseRecordedInDetailHaveNone) {
  auto report = loaded(StepRange{4, 5});
  report.figures.summary.has_detail = false;
  for (int step = 4; step <= 5; ++step) {
    report.figures.steps.at(static_cast<std::size_t>(step)).ranks[0].has_detail = false;
  }
  EXPECT_TRUE(contains(report_text(report), "\nNo measured step was recorded in detail: "));
  for (auto& step : report.figures.steps) step.ranks[0].has_detail = false;
  EXPECT_TRUE(contains(report_text(report), "\nNo details were recorded: "));
}

TEST_F(ReportText, SaysTrulyWhyNoStepWasMeasured) {
  auto report = loaded();
  report.figures.summary.steps_measured = 0;
  auto& steps = report.figures.steps;
  for (std::size_t i = 3; i < steps.size(); ++i) steps[i].complete = false;
  EXPECT_TRUE(contains(report_text(report), "measured: none after the skipped ones (skip_steps)"));
  for (auto& step : steps) step.warmup = true;
  EXPECT_TRUE(contains(report_text(report), "No step was measured: the run ended within its"));
  for (auto& step : steps) {
    step.complete = false;
    for (auto& rank : step.ranks) rank.step_ns = 1;
  }
  EXPECT_TRUE(contains(report_text(report), "measured: none was reported by all ranks\n"));
  for (auto& step : steps) step.ranks[1] = {};
  steps[2].ranks[2] = steps[3].ranks[2] = {};
  for (std::size_t i = 4; i < steps.size(); ++i) steps[i].ranks[0] = steps[i].ranks[2] = {};
  const std::string by_rank =
      "by all ranks: rank 1 has no step, rank 2 has steps 0 to 1, rank 0 has steps 0 to 3";
  EXPECT_TRUE(contains(report_text(report), by_rank + "\n")) << report_text(report);
  report.figures.info.imported_from = "PyTorch profiler";
  EXPECT_TRUE(contains(report_text(report), by_rank + ". Give torch.profiler.profile a schedule"));
  report.figures.steps.clear();
  EXPECT_TRUE(contains(report_text(report), "No step was measured: none was recorded\n"));
}

TEST_F(ReportText, OfARunThatGoesOnSaysThatNoStepHasComeYet) {
  auto report = loaded();
  auto& figures = report.figures;
  figures.summary.steps_measured = 0;
  figures.info.status = trace::model::RunStatus::kRunning;
  figures.steps.resize(2);
  EXPECT_TRUE(contains(report_text(report),
                       "No step was measured: none has come yet after the skipped ones"));
  for (auto& step : figures.steps) step.complete = false;
  EXPECT_TRUE(contains(report_text(report), "measured: none was reported by all ranks yet\n"));
  figures.steps.clear();
  EXPECT_TRUE(contains(report_text(report), "No step was measured: none has come yet\n"));
}

TEST_F(ReportText, SaysThatALossIsNotFinite) {
  auto report = loaded();
  auto& figures = report.figures;
  const auto set = [&](std::size_t step, bool is_read) {
    figures.steps[step].loss = std::numeric_limits<double>::quiet_NaN();
    figures.steps[step].nonfinite = is_read;
    if (is_read) figures.steps[step].nonfinite_rank = 2;
  };
  for (std::size_t step = 0; step < figures.steps.size(); ++step) set(step, false);
  figures.summary.loss_first = figures.summary.loss_last = {};
  EXPECT_FALSE(contains(report_text(report), "\nLoss ")) << "nobody read it";
  set(7, true);
  set(8, true);
  figures.summary.loss_first = 5;
  EXPECT_TRUE(contains(report_text(report),
                       "not finite  from 5.0000; loss or gradient norm not finite in 2 steps, "
                       "first in step 7 on rank 2\n"))
      << report_text(report);
  figures.summary.loss_last = 2;
  EXPECT_TRUE(contains(report_text(report), "2.0000  from 5.0000; loss or gradient norm not"));
}

TEST_F(ReportText, ComparingCallsWhatIsWithinNoiseByOneName) {
  const auto first = *load_run(unchanged_run());
  auto difference = trace::analysis::difference_between({first}, {first});
  for (auto& figure : difference.comparison.figures) figure.beyond_noise = false;
  for (auto& part : difference.explanation.parts) part.beyond_noise = false;
  const std::string text = comparison_text({{first, first}, {difference}});
  EXPECT_TRUE(contains(text, "within noise\n")) << text;
  EXPECT_FALSE(contains(text, "spread")) << text;
}

TEST_F(ReportText, ComparesALossThatIsNotFinite) {
  auto first = *load_run(unchanged_run()), second = first;
  const auto text = [&] {
    return comparison_text(
        {{first, second}, {trace::analysis::difference_between({first}, {second})}});
  };
  const std::string both = "Loss at step 8, the last whose loss both read: ";
  EXPECT_TRUE(contains(text(), both + "3.0100 and 3.0100\n")) << text();
  second.steps[8].loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(contains(text(), "Loss at step 7, the last whose loss both read: "));
  second.steps[8].nonfinite = true;
  second.steps[8].nonfinite_rank = 1;
  EXPECT_TRUE(contains(text(), both + "3.0100 and not finite\n")) << text();
  EXPECT_TRUE(contains(text(),
                       "6 steps measured; loss or gradient norm not finite in 1 step, "
                       "first in step 8 on rank 1\n"))
      << text();
  const Json json =
      comparison_json({{first, second}, {trace::analysis::difference_between({first}, {second})}});
  EXPECT_TRUE(json["first"]["first_nonfinite_step"].is_null());
  EXPECT_EQ(json["second"]["first_nonfinite_step"], 8);
}

TEST_F(ReportText, SaysWhyItIsNotKnownHowMuchWasSent) {
  auto report = loaded();
  EXPECT_TRUE(report_json(report)["summary"]["bytes_sent_unknown"].is_null());
  report.figures.summary.bytes_sent_per_step.reset();
  for (auto& row : report.figures.collectives) {
    if (row.function == trace::model::CollectiveFunction::kBroadcast)
      row.bytes = trace::model::kNotKnown;
  }
  const std::string why = "how much each broadcast moved was not recorded";
  const std::string text = report_text(report);
  EXPECT_TRUE(contains(text, "sends in a step is not known: " + why)) << text;
  EXPECT_FALSE(contains(text, "\nSent"));
  const auto json = report_json(report)["summary"];
  EXPECT_TRUE(json["bytes_sent_per_step"].is_null());
  EXPECT_TRUE(contains(json["bytes_sent_unknown"].get<std::string>(), why));
}

TEST(AdviceText, SaysWhatCouldNotBeTried) {
  ui::state::AdviceView advice{.folder = "", .refused = "It does not tell its sizes.", .steps = 3};
  const std::string text = advice_text(advice, 1e6);
  EXPECT_TRUE(contains(text, "Nothing that this run tells would help")) << text;
  EXPECT_TRUE(contains(text, "could not be tried. It does not tell its sizes.\n")) << text;
  advice.refused.clear();
  EXPECT_FALSE(contains(advice_text(advice, 1e6), "tried"));
}

TEST_F(ReportText, NamesNoMemoryOfARankThatLeftNothing) {
  auto report = loaded();
  const auto memory_of_last = [&] {
    const std::string text = report_text(report);
    const auto table = text.find("\nRanks, with their memory");
    const auto end = text.find("\n\n", table + 1);
    return text.substr(text.rfind('\n', end - 1), end - text.rfind('\n', end - 1));
  };
  EXPECT_TRUE(contains(memory_of_last(), " MiB")) << memory_of_last();
  report.figures.ranks.back().peak = {};
  EXPECT_FALSE(contains(memory_of_last(), "B")) << memory_of_last();
}

TEST_F(ReportText, SaysWhereTheTrainedModelIs) {
  const auto run = write_synthetic_run(folder_.path());
  EXPECT_FALSE(contains(report_text(*load_report(run.folder)), "Trained model"));
  const auto adapter = std::filesystem::path(run.folder) / "adapter";
  std::filesystem::create_directory(adapter);
  EXPECT_TRUE(contains(report_text(*load_report(run.folder)),
                       "\nTrained model: " + adapter.string() + "\n"));
}

TEST_F(ReportText, AFailedRunLeadsWithItsReasonAndTheEndOfThatRanksLog) {
  const auto run = write_synthetic_run(folder_.path(), [](trace::model::RunInfo& info) {
    info.status = trace::model::RunStatus::kFailed;
    info.reason = "rank 1 failed: the cause";
  });
  std::ofstream(trace::store::rank_log(run.folder, 1)) << "loading\nerror: the cause\n";
  const auto report = load_report(run.folder);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->failed_rank, 1);
  const std::string text = report_text(*report);
  EXPECT_TRUE(contains(text, "Failed: rank 1 failed: the cause")) << text;
  EXPECT_TRUE(contains(text, "  error: the cause")) << text;
  EXPECT_TRUE(contains(text, "last completed")) << text;
}

TEST_F(ReportText, ComparingNamesTheSettingThatDiffersAndSignsDifferences) {
  const auto first = write_synthetic_run(folder_.path());
  const auto second = write_synthetic_run(folder_.path(), [](trace::model::RunInfo& info) {
    info.name = "other";
    info.start_ns -= 1'000'000'000;
    info.settings.bucket_cap_mb = 4;
  });
  const auto a = load_run(first.folder);
  const auto b = load_run(second.folder);
  ASSERT_TRUE(a && b);
  const ComparedRuns compared{{*a, *b}, {trace::analysis::difference_between({*a}, {*b})}};
  const std::string text = comparison_text(compared);
  EXPECT_TRUE(contains(text, "bucket_cap_mb")) << text;
  EXPECT_FALSE(contains(text, "cannot be told apart")) << text;
  const Json json = comparison_json(compared);
  EXPECT_EQ(json["settings"].size(), 1u);
  EXPECT_EQ(json["settings"][0]["second"], "4");
  auto c = *a;
  c.info.settings.batch_per_rank += 1;
  const Json three = comparison_json({{*a, *b, c},
                                      {trace::analysis::difference_between({*a}, {*b}),
                                       trace::analysis::difference_between({*a}, {c})}});
  const Json caps = Json::array({json["settings"][0]["first"], "4", json["settings"][0]["first"]});
  ASSERT_EQ(three["settings"].size(), 2u) << "in which any differs";
  EXPECT_EQ(three["settings"][0]["values"], caps);
  EXPECT_EQ(three["settings"][1]["name"], "batch_per_rank");
  EXPECT_EQ(three["figures"][0]["values"].size(), 3u);
  EXPECT_EQ(three["figures"][0]["values"][1], json["figures"][0]["second"]);
  EXPECT_EQ(json["explained_by"][0]["difference_ms"], json["explained_by"][0]["difference"]);
  c.info.imported_from = "torch.profiler";
  const Json imported = comparison_json({{*a, *b, c},
                                         {trace::analysis::difference_between({*a}, {*b}),
                                          trace::analysis::difference_between({*a}, {c})}});
  ASSERT_EQ(imported["settings"].size(), 1u) << "another program's run hides none of the others";
  EXPECT_EQ(imported["settings"][0]["second"], "4");
  EXPECT_TRUE(imported["settings"][0]["values"][2].is_null()) << "it tells none";
  for (const auto& figure : json["figures"]) {
    EXPECT_NEAR(figure["difference"].get<double>(),
                figure["second"].get<double>() - figure["first"].get<double>(), 1e-9)
        << figure;
  }
}

// What does not act on a step, or not in both strategies, hides no effect.
TEST_F(ReportText, SaysThatEffectsCannotBeToldApartWhereSeveralSettingsAct) {
  const auto first = *load_run(unchanged_run());
  const auto cannot_be_told_apart = [&](auto change) {
    auto second = first;
    change(second.info.settings);
    const std::string text = comparison_text(
        {{first, second}, {trace::analysis::difference_between({first}, {second})}});
    EXPECT_TRUE(contains(text, "\nsetting ")) << text;
    return contains(text, "cannot be told apart");
  };
  using trace::job::Settings;
  EXPECT_FALSE(cannot_be_told_apart([](Settings& next) { next.steps = 30, next.seed = 7; }));
  EXPECT_FALSE(cannot_be_told_apart([](Settings& next) { next.bucket_cap_mb = 4, next.seed = 7; }));
  EXPECT_FALSE(cannot_be_told_apart([](Settings& next) {
    next.sharding_strategy = trace::job::Strategy::kFullShard;
    next.bucket_cap_mb = 4;
  }));
  EXPECT_TRUE(
      cannot_be_told_apart([](Settings& next) { next.bucket_cap_mb = 4, next.max_grad_norm = 0; }));
}

TEST_F(ReportText, ComparingShowsTheSettingsOfTheRunsThatTellThem) {
  auto first = *load_run(unchanged_run()), second = first, import = first;
  second.info.settings.bucket_cap_mb = 4;
  import.info.imported_from = "PyTorch profiler";
  import.info.name = "traced";
  const auto text = [](const auto& a, const auto& b, const auto& c) {
    return comparison_text({{a, b, c},
                            {trace::analysis::difference_between({a}, {b}),
                             trace::analysis::difference_between({a}, {c})}});
  };
  const std::string shown = text(first, second, import);
  EXPECT_TRUE(contains(shown, "bucket_cap_mb  1        4        –\n")) << shown;
  EXPECT_FALSE(contains(shown, "Settings: not known"));
  EXPECT_TRUE(contains(text(first, first, import), "Settings: the same where they are known\n"));
  EXPECT_TRUE(contains(text(import, first, second), "Settings: not known\n"));
}

TEST_F(ReportText, ComparingRunsOfDifferentRanksSaysHowWellTheyScale) {
  auto few = *load_run(unchanged_run()), many = few;
  ASSERT_GT(few.summary.samples_per_s, 0);
  many.info.world_size = 2 * few.info.world_size;
  many.info.settings.ranks = many.info.world_size;
  many.summary.samples_per_s = 1.5 * *few.summary.samples_per_s;
  const ComparedRuns compared{{few, many}, {trace::analysis::difference_between({few}, {many})}};
  const std::string text = comparison_text(compared);
  EXPECT_TRUE(contains(text, "Weak scaling")) << text;
  EXPECT_TRUE(contains(text, "efficiency 75 %")) << text;
  const Json json = comparison_json(compared);
  EXPECT_EQ(json["scaling"]["kind"], "weak");
  EXPECT_NEAR(json["scaling"]["speedup"].get<double>(), 1.5, 1e-12);
  EXPECT_NEAR(json["scaling"]["efficiency"].get<double>(), 0.75, 1e-12);
  const ComparedRuns alike{{few, few}, {trace::analysis::difference_between({few}, {few})}};
  EXPECT_TRUE(comparison_json(alike)["scaling"].is_null());
}

TEST_F(ReportText, SaysWhatWasAskedForAndWhatRanAndListsUnits) {
  auto figures = load_run(unchanged_run());
  ASSERT_TRUE(figures);
  RunReport report;
  report.figures = *figures;
  for (auto& row : report.figures.collectives) row.executed = row.function;
  EXPECT_FALSE(contains(report_text(report), " ran as ")) << "nothing was replaced";
  trace::analysis::CollectiveGroupFigures row;
  row.function = trace::model::CollectiveFunction::kReduceScatter;
  row.executed = trace::model::CollectiveFunction::kAllReduce;
  row.tag = "blocks.3 backward gather, prefetched";
  report.figures.collectives = {row, row};
  report.figures.summary.bytes_sent_per_step = 2e6;
  report.figures.summary.bytes_sent_per_step_theory = 1e6;
  trace::analysis::UnitFigures unit;
  unit.name = "blocks.3";
  unit.bytes = 4 << 20;
  unit.shard_bytes = 2 << 20;
  unit.parameters = {"a", "b", "c"};
  report.figures.units = {unit};
  const std::string text = report_text(report);
  EXPECT_TRUE(contains(text, "; reduce_scatter ran as all_reduce\n")) << text;
  EXPECT_TRUE(contains(text, "reduce_scatter as all_reduce")) << text;
  EXPECT_TRUE(contains(text, "blocks.3 backward gather, prefetched")) << "uncut\n" << text;
  EXPECT_TRUE(contains(text, "  blocks.3  4.00 MiB       2.00 MiB        3\n")) << text;
}

TEST(StepRange, ReadsWhatPeopleWrite) {
  const auto both = parse_step_range("10..20");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->first, 10);
  EXPECT_EQ(both->last, 20);
  EXPECT_EQ(parse_step_range("7")->last, 7);
  EXPECT_EQ(parse_step_range("7..")->last, INT64_MAX);
  EXPECT_EQ(parse_step_range("..7")->first, 0);
  for (const auto* text : {"", "..", "20..10", "a..b", "1...3", "-1..3", "1-3"}) {
    const auto bad = parse_step_range(text);
    ASSERT_FALSE(bad) << text;
    EXPECT_EQ(bad.error().kind, trace::base::ErrorKind::kUsage);
    EXPECT_FALSE(contains(bad.error().message, "from 0")) << "a recorded program's may not be";
  }
}

TEST(TextTable, AlignsByWhatIsSeen) {
  TextTable table({{"name"}, {"time", Align::kRight}});
  table.add_row({"µs", "1"});
  table.add_row({"long name", "10"});
  EXPECT_EQ(table.text(""), "name       time\nµs            1\nlong name    10\n");
}

TEST(TextTable, CutsNamesInTheirMiddle) {
  TextTable table({{.heading = "name", .longest = 12, .is_name = true}});
  table.add_row({"a sweep, cap 25, run 2"});
  table.add_row({"short"});
  EXPECT_EQ(table.text("", false), "a swee…run 2\nshort\n");
}

TEST(TextTable, CutsLongTextsAndKeepsToOneLine) {
  TextTable table({{"", Align::kLeft, 5}});
  table.add_row({"ab\ncdefgh"});
  EXPECT_EQ(table.text("", false), "ab c…\n");
  EXPECT_EQ(cut_to_width("äöü", 3), "äöü");
  EXPECT_EQ(cut_to_width("äöüß", 3), "äö…");
}

}  // namespace
}  // namespace shardlens::app::report
