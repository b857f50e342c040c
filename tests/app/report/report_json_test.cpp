// Every figure of the JSON report, computed again from the raw rows by counting microseconds.
#include "app/report/report_json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "tests/app/report/counted_report.h"
#include "trace/analysis/figures/run_summary.h"

namespace shardlens::app::report {
namespace {

using trace::base::Phase;

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

TEST_F(ReportJson, StepTimesAreMeansOverRanksOfMeasuredSteps) {
  std::vector<double> times;
  for (int step = SyntheticRun::kSkipped; step < SyntheticRun::kSteps; ++step) {
    double sum = 0;
    for (int rank = 0; rank < kRanks; ++rank) sum += step_ms(step_of(rank, step));
    times.push_back(sum / kRanks);
  }
  std::ranges::sort(times);
  // Linear between neighbours, as numpy's default.
  const auto quantile = [&](double q) {
    const double place = q * static_cast<double>(times.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const auto above = std::min(below + 1, times.size() - 1);
    return times[below] + (place - static_cast<double>(below)) * (times[above] - times[below]);
  };
  const Json& shown = (*json_)["summary"]["step_ms"];
  EXPECT_EQ((*json_)["summary"]["steps_measured"], kMeasured);
  expect_near(shown["mean"], std::accumulate(times.begin(), times.end(), 0.0) / kMeasured, "mean");
  expect_near(shown["median"], quantile(0.5), "median");
  expect_near(shown["p10"], quantile(0.1), "p10");
  expect_near(shown["p90"], quantile(0.9), "p90");
  expect_near(shown["max"], times.back(), "max");
}

TEST_F(ReportJson, ThePartsOfAStepAreCountedMicroseconds) {
  const Json& summary = (*json_)["summary"];
  const std::pair<const char*, double Parts::*> members[] = {
      {"compute_ms", &Parts::compute}, {"comm_ms", &Parts::comm},
      {"overlap_ms", &Parts::overlap}, {"exposed_ms", &Parts::exposed},
      {"copy_ms", &Parts::copy},       {"exposed_copy_ms", &Parts::exposed_copy},
      {"idle_ms", &Parts::idle}};
  for (const auto& [name, member] : members) {
    const double expected = mean([&](const auto& step) { return parts_of(step).*member; });
    EXPECT_GT(expected, 0) << name;
    expect_near(summary[name], expected / kTicksPerMs, name);
  }
  const double sum = summary["compute_ms"].get<double>() + summary["exposed_ms"].get<double>() +
                     summary["exposed_copy_ms"].get<double>() + summary["idle_ms"].get<double>();
  expect_near(summary["step_ms"]["mean"], sum, "the sum of the parts");
  expect_near(summary["overlap_percent"],
              100 * summary["overlap_ms"].get<double>() / summary["comm_ms"].get<double>(),
              "overlap_percent");
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
  double time = 0, sum = 0;
  for (int step = 3; step < 5; ++step) {
    for (int rank = 0; rank < kRanks; ++rank) time += step_ms(step_of(rank, step)) / 2 / kRanks;
  }
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
  ASSERT_FALSE(run_->lost.empty());
  const auto& lost = run_->lost.front();
  const Json losses = (*json_)["recorder"]["losses"];
  ASSERT_EQ(losses.size(), run_->lost.size());
  EXPECT_EQ(losses[0]["rank"], lost.rank);
  EXPECT_EQ(losses[0]["reason"], lost.reason);
  EXPECT_EQ(losses[0]["count"], lost.count);
}

TEST_F(ReportJson, PhasesSumToTheStep) {
  std::map<Phase, double> sums;
  for (const auto& span : run_->spans) {
    if (span.step < SyntheticRun::kSkipped || span.depth != 0) continue;
    sums[span.phase] += static_cast<double>(span.end_ns - span.start_ns) / 1e6 / kMeasured / kRanks;
  }
  const Json& phases = (*json_)["summary"]["phase_ms"];
  expect_near(phases["data"], sums[Phase::kData], "data");
  expect_near(phases["forward"], sums[Phase::kForward], "forward");
  expect_near(phases["backward"], sums[Phase::kBackward], "backward");
  expect_near(phases["optimizer"], sums[Phase::kOptimizer], "optimizer");
  double sum = 0;
  for (const auto& [name, value] : phases.items()) sum += value.get<double>();
  expect_near((*json_)["summary"]["step_ms"]["mean"], sum, "the sum of the phases");
}

TEST_F(ReportJson, ThroughputUtilisationAndLosses) {
  const Json& summary = (*json_)["summary"];
  const double seconds = mean(step_ms) / 1e3;
  expect_near(summary["tokens_per_s"],
              mean([](const auto& s) { return double(s.tokens); }) * kRanks / seconds, "tokens");
  expect_near(summary["samples_per_s"],
              mean([](const auto& s) { return double(s.samples); }) * kRanks / seconds, "samples");
  expect_near(
      summary["mfu"],
      mean([](const auto& s) { return double(s.model_flops); }) / seconds / run_->peak_flops,
      "mfu");
  const auto& settings = run_->info.settings;
  EXPECT_EQ(summary["effective_batch"],
            settings.batch_per_rank * settings.gradient_accumulation_steps * kRanks);
  expect_near(summary["loss_first"], 5.01, "loss_first");
  expect_near(summary["loss_last"], 5.01 - 0.25 * (SyntheticRun::kSteps - 1), "loss_last");
}

TEST_F(ReportJson, BytesSentFollowFromTheCollectivesOfTheSteps) {
  // Ring all-reduce over three ranks sends 2 · 2/3 of the bytes; what ran counts, not what was
  // asked for.
  double bytes = 0;
  for (const auto& c : run_->collectives) {
    if (c.step >= SyntheticRun::kSkipped) bytes += 4.0 / 3.0 * static_cast<double>(c.bytes);
  }
  expect_near((*json_)["summary"]["bytes_sent_per_step"], bytes / kMeasured / kRanks, "bytes sent");
}

TEST_F(ReportJson, StepsShowTheSlowestRank) {
  const Json& steps = (*json_)["steps"];
  ASSERT_EQ(steps.size(), std::size_t{SyntheticRun::kSteps});
  for (const auto& shown : steps) {
    const auto number = shown["step"].get<std::int64_t>();
    const trace::model::Step* slowest = nullptr;
    double loss = 0;
    for (int rank = 0; rank < kRanks; ++rank) {
      const auto& step = step_of(rank, number);
      loss += step.loss / kRanks;
      if (!slowest || step_ms(step) > step_ms(*slowest)) slowest = &step;
    }
    const Parts parts = parts_of(*slowest);
    EXPECT_EQ(shown["warmup"], number < SyntheticRun::kSkipped);
    expect_near(shown["ms"], step_ms(*slowest), "ms");
    expect_near(shown["compute_ms"], parts.compute / kTicksPerMs, "compute_ms");
    expect_near(shown["exposed_ms"], parts.exposed / kTicksPerMs, "exposed_ms");
    expect_near(shown["idle_ms"], parts.idle / kTicksPerMs, "idle_ms");
    expect_near(shown["loss"], loss, "loss");
  }
}

TEST_F(ReportJson, RanksHaveTheirOwnMeansAndMemory) {
  for (const auto& shown : (*json_)["ranks"]) {
    const int rank = shown["rank"].get<int>();
    double time = 0, exposed = 0;
    for (int step = SyntheticRun::kSkipped; step < SyntheticRun::kSteps; ++step) {
      time += step_ms(step_of(rank, step)) / kMeasured;
      exposed += parts_of(step_of(rank, step)).exposed / kTicksPerMs / kMeasured;
    }
    expect_near(shown["step_ms"], time, "step_ms");
    expect_near(shown["exposed_ms"], exposed, "exposed_ms");
    const trace::model::MemorySample* peak = nullptr;
    std::array<std::int64_t, trace::model::kMemoryCategoryCount> highest{};
    for (const auto& sample : run_->memory) {
      if (sample.rank != rank) continue;
      const auto allocated =
          [](const trace::model::MemorySample& each) {  // all but outside, the last
            return std::accumulate(each.bytes.begin(), each.bytes.end() - 1, std::int64_t{0});
          };
      if (!peak || allocated(sample) > allocated(*peak)) peak = &sample;
      for (std::size_t i = 0; i < highest.size(); ++i) {
        highest[i] = std::max(highest[i], sample.bytes[i]);
      }
    }
    EXPECT_EQ(shown["peak_memory_bytes"], peak->total_bytes());
    for (std::size_t i = 0; i < highest.size(); ++i) {
      const std::string name(trace::model::to_string(static_cast<trace::model::MemoryCategory>(i)));
      EXPECT_EQ(shown["memory_by_category"][name], peak->bytes[i]) << name;
      EXPECT_EQ(shown["memory_peak_by_category"][name], highest[i]) << name;
    }
  }
}

TEST_F(ReportJson, TotalsCoverTheWholeRecording) {
  for (const auto& shown : (*json_)["ranks"]) {
    const int rank = shown["rank"].get<int>();
    const Json& totals = shown["totals"];
    const Parts parts = parts_within(rank, 0, Timeline::kLength);
    std::int64_t first = INT64_MAX, last = 0, collectives = 0;
    const auto reach = [&](std::int64_t start, std::int64_t end) {
      first = std::min(first, start);
      last = std::max(last, end);
    };
    for (const auto& c : run_->collectives) {
      if (c.rank != rank) continue;
      ++collectives;
      reach(c.start_ns, c.end_ns);
    }
    for (const auto& e : run_->compute[rank]) reach(e.start_ns, e.end_ns());
    for (const auto& e : run_->copies[rank]) reach(e.start_ns, e.end_ns());
    const double span = static_cast<double>(last - first) / 1e3;
    const double busy = parts.compute + parts.exposed + parts.exposed_copy;
    EXPECT_EQ(totals["comm_events"], collectives);
    EXPECT_EQ(totals["compute_events"], run_->compute[rank].size());
    EXPECT_EQ(totals["memory_events"], run_->copies[rank].size());
    expect_near(totals["span_us"], span, "span_us");
    expect_near(totals["busy_us"], busy, "busy_us");
    expect_near(totals["compute_us"], parts.compute, "compute_us");
    expect_near(totals["comm_us"], parts.comm, "comm_us");
    expect_near(totals["overlap_us"], parts.overlap, "overlap_us");
    expect_near(totals["exposed_us"], parts.exposed, "exposed_us");
    expect_near(totals["idle_us"], span - busy, "idle_us");
  }
}
TEST_F(ReportJson, ARangeOfStepsMeasuresOnlyThem) {
  const auto report = load_report(run_->folder, StepRange{5, 6});
  ASSERT_TRUE(report);
  const Json json = report_json(*report);
  double time = 0, exposed = 0;
  for (int step = 5; step <= 6; ++step) {
    for (int rank = 0; rank < kRanks; ++rank) {
      time += step_ms(step_of(rank, step)) / 2 / kRanks;
      exposed += parts_of(step_of(rank, step)).exposed / kTicksPerMs / 2 / kRanks;
    }
  }
  EXPECT_EQ(json["summary"]["steps_measured"], 2);
  expect_near(json["summary"]["step_ms"]["mean"], time, "mean");
  expect_near(json["summary"]["exposed_ms"], exposed, "exposed");
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
