// The JSON report: which figure stands under which key in which unit. The figures themselves are
// trace/analysis's.
#include "app/report/report_json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/app/report/synthetic_run.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/base/file_system.h"

namespace shardlens::app::report {
namespace {

using trace::base::Phase;

constexpr int kRanks = SyntheticRun::kRanks;
constexpr int kMeasured = SyntheticRun::kSteps - SyntheticRun::kSkipped;
constexpr double kUs = 1e3, kMs = 1e6;  // in nanoseconds

class ReportJson : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto folder = trace::base::TemporaryFolder::create();
    ASSERT_TRUE(folder);
    folder_ = new trace::base::TemporaryFolder(std::move(*folder));
    run_ = new SyntheticRun(write_synthetic_run(folder_->path()));
    const auto report = load_report(run_->folder);
    ASSERT_TRUE(report) << report.error().message;
    report_ = new RunReport(*report);
    json_ = new Json(Json::parse(dump_json(report_json(*report_))));
  }
  static void TearDownTestSuite() {
    delete json_;
    delete report_;
    delete run_;
    delete folder_;
  }

  static const trace::analysis::RunSummary& run_summary() { return report_->figures.summary; }
  // Of all ranks, in nanoseconds.
  static double mean_of(std::int64_t first, std::int64_t last,
                        std::int64_t trace::analysis::StepBreakdown::*part) {
    double sum = 0;
    for (std::int64_t step = first; step <= last; ++step) {
      for (const auto& rank : report_->figures.steps[static_cast<std::size_t>(step)].ranks) {
        sum += static_cast<double>(rank.*part);
      }
    }
    return sum / static_cast<double>(last - first + 1) / kRanks;
  }

  static inline trace::base::TemporaryFolder* folder_ = nullptr;
  static inline SyntheticRun* run_ = nullptr;
  static inline RunReport* report_ = nullptr;
  static inline Json* json_ = nullptr;
};

void expect_near(const Json& value, double expected, const std::string& what) {
  ASSERT_TRUE(value.is_number()) << what << " is " << value;
  EXPECT_NEAR(value.get<double>(), expected, 1e-9 * std::max(1.0, std::abs(expected))) << what;
}

struct ShownFigure {
  const char* key;
  std::optional<double> figure;
  double unit = 1;
};

void expect_shown(const Json& json, std::initializer_list<ShownFigure> figures) {
  for (const auto& [key, figure, unit] : figures) {
    ASSERT_TRUE(figure) << key;
    expect_near(json.at(key), *figure / unit, key);
  }
}

TEST_F(ReportJson, SaysWhichRunItIs) {
  const Json& run = (*json_)["run"];
  EXPECT_EQ((*json_)["schema"], 1);
  EXPECT_EQ(run["name"], "made up");
  EXPECT_EQ(run["status"], "done");
  EXPECT_TRUE(run["reason"].is_null());
  EXPECT_EQ(run["device"], "cpu");
  EXPECT_EQ(run["world_size"], kRanks);
  EXPECT_EQ(run["environment"], (Json{{"NCCL_ALGO", "Ring"}, {"OMP_NUM_THREADS", "2"}}));
  EXPECT_EQ((*json_)["ranks"][0]["peak_tflops"], 1.0);
  EXPECT_EQ((*json_)["ranks"][0]["peak_tflops_origin"], "dense bf16, a data sheet");
  EXPECT_EQ(run["settings"]["bucket_cap_mb"], 1.0);
  EXPECT_EQ(run["settings"]["first_bucket_mb"], "auto");
  EXPECT_EQ(run["settings"]["static_graph"], false);
  EXPECT_EQ(run["settings"].size(), trace::job::knobs().size());
}

TEST_F(ReportJson, HasTheKeysOfTheContractInItsOrder) {
  const auto keys = [](const Json& object) {
    std::vector<std::string> names;
    for (const auto& [key, value] : object.items()) names.push_back(key);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(keys(*json_), (Names{"schema", "run", "summary", "ranks", "steps", "evaluations",
                                 "collectives", "buckets", "units", "recorder", "notes"}));
  EXPECT_EQ(keys((*json_)["summary"]), (Names{"steps_measured",
                                              "measured_range",
                                              "step_ms",
                                              "tokens_per_s",
                                              "samples_per_s",
                                              "mfu",
                                              "phase_ms",
                                              "steps_detailed",
                                              "detailed_step_ms",
                                              "compute_ms",
                                              "comm_ms",
                                              "overlap_ms",
                                              "exposed_ms",
                                              "exposed_wait_ms",
                                              "exposed_transfer_ms",
                                              "exposed_wait_unknown",
                                              "copy_ms",
                                              "exposed_copy_ms",
                                              "idle_ms",
                                              "overlap_percent",
                                              "effective_batch",
                                              "bytes_sent_per_step",
                                              "bytes_sent_unknown",
                                              "bytes_sent_per_step_theory",
                                              "loss_first",
                                              "loss_last",
                                              "first_nonfinite_step"}));
  EXPECT_EQ(keys((*json_)["ranks"][0]),
            (Names{"rank", "step_ms", "exposed_ms", "exposed_wait_ms", "exposed_transfer_ms",
                   "exposed_wait_unknown", "peak_memory_bytes", "memory_by_category",
                   "memory_peak_by_category", "totals", "memory_estimate_by_category", "device",
                   "device_name", "versions", "link", "link_gbps", "link_gb_per_s", "peak_tflops",
                   "peak_tflops_origin"}));
  EXPECT_EQ(keys((*json_)["collectives"][0]),
            (Names{"function", "executed", "tag", "bytes", "count", "median_us", "wait_us",
                   "transfer_us", "algbw_gbps", "busbw_gbps", "algbw_gb_per_s", "busbw_gb_per_s",
                   "exposed_ms", "algorithm", "protocol"}));
}

TEST_F(ReportJson, ExposedIsWaitingAndTransferAndNullWhereThatIsNotKnown) {
  const auto check = [](const Json& of, bool is_known) {
    ASSERT_EQ(of["exposed_wait_ms"].is_number(), is_known) << of;
    ASSERT_EQ(of["exposed_transfer_ms"].is_number(), is_known) << of;
    ASSERT_EQ(of["exposed_wait_unknown"].is_null(), is_known) << of;
    if (!is_known) return;
    EXPECT_NEAR(of["exposed_wait_ms"].get<double>() + of["exposed_transfer_ms"].get<double>(),
                of["exposed_ms"].get<double>(), 1e-9);
  };
  RunReport report = *load_report(run_->folder);
  for (const bool is_known : {true, false}) {
    auto& figures = report.figures;
    const auto doubt =
        is_known ? trace::analysis::WaitDoubt::kNone : trace::analysis::WaitDoubt::kClocksUnknown;
    figures.summary.exposed_wait_ns.reset();
    figures.summary.wait_doubt = doubt;
    if (is_known) figures.summary.exposed_wait_ns = figures.summary.exposed_ns / 4;
    for (auto& rank : figures.ranks) {
      rank.exposed_wait_ns.reset();
      rank.wait_doubt = doubt;
      if (is_known) rank.exposed_wait_ns = rank.exposed_ns / 4;
    }
    for (auto& step : figures.steps) {
      step.exposed_wait_ns.assign(step.ranks.size(), is_known ? 0 : -1);
    }
    const Json json = report_json(report);
    check(json["summary"], is_known);
    check(json["ranks"][0], is_known);
    for (const auto& step : json["steps"]) {
      if (step["exposed_ms"].is_number()) check(step, is_known);
    }
  }
}

TEST_F(ReportJson, TheSummaryIsThatOfTheFigures) {
  const auto& s = run_summary();
  const Json& shown = json_->at("summary");
  EXPECT_EQ(shown.at("steps_measured"), kMeasured);
  expect_shown(shown.at("step_ms"), {{"mean", s.step_ns.mean, kMs},
                                     {"median", s.step_ns.median, kMs},
                                     {"p10", s.step_ns.p10, kMs},
                                     {"p90", s.step_ns.p90, kMs},
                                     {"max", s.step_ns.max, kMs}});
  for (const double part : {s.compute_ns, s.comm_ns, s.overlap_ns, s.exposed_ns, s.copy_ns,
                            s.exposed_copy_ns, s.idle_ns}) {
    EXPECT_GT(part, 0) << "so that none is mistaken for another";
  }
  expect_shown(shown, {{"compute_ms", s.compute_ns, kMs},
                       {"comm_ms", s.comm_ns, kMs},
                       {"overlap_ms", s.overlap_ns, kMs},
                       {"exposed_ms", s.exposed_ns, kMs},
                       {"copy_ms", s.copy_ns, kMs},
                       {"exposed_copy_ms", s.exposed_copy_ns, kMs},
                       {"idle_ms", s.idle_ns, kMs},
                       {"overlap_percent", s.overlap_fraction, 0.01},
                       {"tokens_per_s", s.tokens_per_s},
                       {"samples_per_s", s.samples_per_s},
                       {"mfu", s.mfu},
                       {"bytes_sent_per_step", s.bytes_sent_per_step}});
  const auto& settings = run_->info.settings;
  EXPECT_EQ(shown.at("effective_batch"),
            settings.batch_per_rank * settings.gradient_accumulation_steps * kRanks);
  // Means over the ranks.
  expect_near(shown.at("loss_first"), 5.01, "loss_first");
  expect_near(shown.at("loss_last"), 5.01 - 0.25 * (SyntheticRun::kSteps - 1), "loss_last");
}

TEST_F(ReportJson, PhasesSumToTheStep) {
  const auto phase = [](Phase p) { return run_summary().phase_ns[static_cast<std::size_t>(p)]; };
  const Json& phases = json_->at("summary").at("phase_ms");
  const double other = phase(Phase::kOther).value_or(0) + phase(Phase::kEvaluation).value_or(0) +
                       phase(Phase::kCheckpoint).value_or(0);
  EXPECT_GT(phase(Phase::kEvaluation), 0);
  expect_shown(phases, {{"data", phase(Phase::kData), kMs},
                        {"forward", phase(Phase::kForward), kMs},
                        {"backward", phase(Phase::kBackward), kMs},
                        {"optimizer", phase(Phase::kOptimizer), kMs},
                        {"other", other, kMs}});
  double sum = 0;
  for (const auto& [name, value] : phases.items()) sum += value.get<double>();
  expect_near(json_->at("summary").at("step_ms").at("mean"), sum, "the sum of the phases");
}

TEST_F(ReportJson, StepsShowTheSlowestRank) {
  const Json& steps = json_->at("steps");
  ASSERT_EQ(steps.size(), std::size_t{SyntheticRun::kSteps});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& slowest = report_->figures.steps[i].shown();
    for (const auto& rank : report_->figures.steps[i].ranks) {
      EXPECT_LE(rank.step_ns, slowest.step_ns);
    }
    EXPECT_EQ(steps[i].at("step"), i);
    EXPECT_EQ(steps[i].at("warmup"), i < SyntheticRun::kSkipped);
    expect_shown(steps[i], {{"ms", slowest.step_ns, kMs},
                            {"compute_ms", slowest.compute_ns, kMs},
                            {"exposed_ms", slowest.exposed_ns, kMs},
                            {"idle_ms", slowest.idle_ns, kMs},
                            {"loss", 5.01 - 0.25 * static_cast<double>(i)}});
  }
}

TEST_F(ReportJson, RanksHaveTheirOwnMeansMemoryAndTotals) {
  const Json& ranks = json_->at("ranks");
  ASSERT_EQ(ranks.size(), std::size_t{kRanks});
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto& rank = report_->figures.ranks[i];
    EXPECT_EQ(ranks[i].at("rank"), i);
    expect_shown(ranks[i], {{"step_ms", rank.step_ns, kMs}, {"exposed_ms", rank.exposed_ns, kMs}});
    EXPECT_EQ(ranks[i].at("peak_memory_bytes"), rank.peak.total_bytes());
    for (std::size_t c = 0; c < rank.category_peaks.size(); ++c) {
      const std::string name(trace::model::to_string(static_cast<trace::model::MemoryCategory>(c)));
      EXPECT_EQ(ranks[i].at("memory_by_category").at(name), rank.peak.bytes[c]) << name;
      EXPECT_EQ(ranks[i].at("memory_peak_by_category").at(name), rank.category_peaks[c]) << name;
    }
    const auto& totals = rank.totals;
    expect_shown(ranks[i].at("totals"), {{"comm_events", totals.comm_events},
                                         {"compute_events", totals.compute_events},
                                         {"memory_events", totals.memory_events},
                                         {"span_us", totals.span_ns, kUs},
                                         {"busy_us", totals.busy_ns, kUs},
                                         {"compute_us", totals.compute_ns, kUs},
                                         {"comm_us", totals.comm_ns, kUs},
                                         {"overlap_us", totals.overlap_ns, kUs},
                                         {"exposed_us", totals.exposed_ns, kUs},
                                         {"idle_us", totals.idle_ns, kUs}});
  }
}

TEST_F(ReportJson, CollectivesTellWaitingFromTransferring) {
  const Json& rows = json_->at("collectives");
  ASSERT_EQ(rows.size(), 5u);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& c = report_->figures.collectives[i];
    EXPECT_EQ(rows[i].at("function"), trace::model::to_string(c.function));
    EXPECT_EQ(rows[i].at("executed"), trace::model::to_string(c.executed));
    EXPECT_EQ(rows[i].at("tag"), c.tag.empty() ? Json(nullptr) : Json(c.tag));
    expect_shown(rows[i], {{"bytes", c.bytes},
                           {"count", c.count},
                           {"median_us", c.median_ns, kUs},
                           {"wait_us", c.wait_ns, kUs},
                           {"transfer_us", c.transfer_ns, kUs},
                           {"exposed_ms", c.exposed_ns, kMs},
                           {"algbw_gbps", c.algbw_bytes_per_s, 1e9},
                           {"busbw_gbps", c.busbw_bytes_per_s, 1e9},
                           {"algbw_gb_per_s", c.algbw_bytes_per_s, 1e9},
                           {"busbw_gb_per_s", c.busbw_bytes_per_s, 1e9}});
  }
}

TEST_F(ReportJson, BucketsAreThoseAfterTheRebuild) {
  const Json& buckets = (*json_)["buckets"];
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0]["index"], 0);
  EXPECT_EQ(buckets[0]["bytes"], 1 << 20);
  EXPECT_EQ(buckets[0]["tensors"], 1);
  EXPECT_EQ(buckets[1]["parameters"], Json({"wte.weight"}));
}

TEST_F(ReportJson, TheRecorderTellsItsCostAndItsLosses) {
  const Json& recorder = (*json_)["recorder"];
  expect_shown(recorder, {{"overhead_percent", report_->figures.recorder.overhead_fraction, 0.01}});
  EXPECT_EQ(recorder["overhead_source"], "estimated");
  EXPECT_EQ(recorder["overhead_is_lower_bound"], false);
  EXPECT_EQ(recorder["events"], 1000 + 1001 + 1002);
  EXPECT_EQ(recorder["lost"], 7);
  std::int64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(run_->folder)) {
    bytes += static_cast<std::int64_t>(entry.file_size());
  }
  EXPECT_EQ(recorder["bytes_on_disk"], bytes);
}

TEST_F(ReportJson, NamesTheStepsThatThePartsAreOf) {
  RunReport report = *load_report(run_->folder);
  auto& figures = report.figures;
  for (std::size_t i = 5; i < figures.steps.size(); ++i) {
    for (auto& rank : figures.steps[i].ranks) rank.has_detail = false;
  }
  figures.summary = trace::analysis::summarize(figures.info, figures.steps, figures.ranks);
  const Json summary = report_json(report)["summary"];
  EXPECT_EQ(summary["steps_detailed"], 2) << "steps 3 and 4";
  const double time = mean_of(3, 4, &trace::analysis::StepBreakdown::step_ns) / kMs;
  double sum = 0;
  for (const char* part : {"compute_ms", "exposed_ms", "exposed_copy_ms", "idle_ms"}) {
    sum += summary[part].get<double>();
  }
  expect_near(summary["detailed_step_ms"], time, "detailed_step_ms");
  expect_near(summary["detailed_step_ms"], sum, "the sum of the parts");
  EXPECT_GT(std::abs(time - summary["step_ms"]["mean"].get<double>()), 1e-3);
}

TEST_F(ReportJson, TellsALossThatIsNotFiniteFromOneThatNobodyRead) {
  RunReport report = *load_report(run_->folder);
  auto& steps = report.figures.steps;
  EXPECT_TRUE(report_json(report)["summary"]["first_nonfinite_step"].is_null());
  steps[6].loss = steps[7].loss = std::numeric_limits<double>::quiet_NaN();
  steps[7].nonfinite = true;
  steps[7].nonfinite_rank = 1;
  const Json json = report_json(report);
  EXPECT_EQ(json["summary"]["first_nonfinite_step"], 7);
  for (const std::size_t step : {6, 7}) EXPECT_TRUE(json["steps"][step]["loss"].is_null());
  EXPECT_EQ(json["steps"][6]["nonfinite"], false);
  EXPECT_TRUE(json["steps"][6]["nonfinite_rank"].is_null());
  EXPECT_EQ(json["steps"][7]["nonfinite"], true);
  EXPECT_EQ(json["steps"][7]["nonfinite_rank"], 1);
}

TEST_F(ReportJson, NamesWhatWasLostAndWhy) {
  const Json losses = (*json_)["recorder"]["losses"];
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_EQ(losses[0]["rank"], 1);
  EXPECT_EQ(losses[0]["reason"], "operator queue full");
  EXPECT_EQ(losses[0]["count"], 4);
}

TEST_F(ReportJson, ARangeOfStepsMeasuresOnlyThem) {
  const auto report = load_report(run_->folder, StepRange{5, 6});
  ASSERT_TRUE(report);
  const Json json = report_json(*report);
  using trace::analysis::StepBreakdown;
  EXPECT_EQ(json["summary"]["steps_measured"], 2);
  expect_near(json["summary"]["step_ms"]["mean"], mean_of(5, 6, &StepBreakdown::step_ns) / kMs,
              "mean");
  expect_near(json["summary"]["exposed_ms"], mean_of(5, 6, &StepBreakdown::exposed_ns) / kMs,
              "exposed");
  EXPECT_TRUE((*json_)["summary"]["measured_range"].is_null());
  EXPECT_EQ(json["summary"]["measured_range"].dump(), "{\"first\":5,\"last\":6}");
  EXPECT_TRUE(report_json(*load_report(run_->folder,
                                       StepRange{.first = 5}))["summary"]["measured_range"]["last"]
                  .is_null());
  for (std::size_t i = 0; i < json["steps"].size(); ++i) {
    Json step = json["steps"][i], whole = (*json_)["steps"][i];
    EXPECT_EQ(step["measured"], i == 5 || i == 6);
    EXPECT_EQ(whole["measured"], i >= SyntheticRun::kSkipped);
    step.erase("measured");
    whole.erase("measured");
    EXPECT_EQ(step, whole) << "steps are shown as they are";
  }
}

TEST_F(ReportJson, AnExplicitRangeMeasuresAlsoWhatIsSkippedOtherwise) {
  const auto report = load_report(run_->folder, StepRange{0, 2});
  ASSERT_TRUE(report);
  EXPECT_EQ(report_json(*report)["summary"]["steps_measured"], 3);
}

TEST_F(ReportJson, ACallThatNoOtherRankMatchedHasNeitherWaitNorTransfer) {
  auto report = *load_report(run_->folder);
  ASSERT_FALSE(report.figures.collectives.empty());
  EXPECT_FALSE(report_json(report)["collectives"][0]["exposed_ms"].is_null());
  report.figures.collectives[0].matched = 0;
  for (auto& step : report.figures.steps) step.ranks[0].has_detail = false;
  const Json row = report_json(report)["collectives"][0];
  for (const char* key : {"wait_us", "transfer_us", "exposed_ms"}) {
    EXPECT_TRUE(row[key].is_null()) << key;
  }
}

TEST_F(ReportJson, WithNothingMeasuredFiguresAreNull) {
  const auto report = load_report(run_->folder, StepRange{100, 200});
  ASSERT_TRUE(report);
  const Json summary = report_json(*report)["summary"];
  EXPECT_EQ(summary["steps_measured"], 0);
  for (const auto* key : {"tokens_per_s", "mfu", "compute_ms", "exposed_ms", "overlap_percent"}) {
    EXPECT_TRUE(summary[key].is_null()) << key;
  }
  EXPECT_TRUE(summary["step_ms"]["mean"].is_null());
  EXPECT_TRUE(summary["phase_ms"]["forward"].is_null());
}

}  // namespace
}  // namespace shardlens::app::report
