// Every figure of the JSON report, computed again from the raw rows by counting microseconds.
#include "app/report/report_json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "tests/app/report/synthetic_run.h"
#include "trace/store/file_system.h"
#include "trace/store/query.h"

namespace shardlens::app {
namespace {

using trace::Collective;
using trace::Phase;

constexpr std::int64_t kTick = 1000;
constexpr double kTicksPerMs = 1000;
constexpr int kRanks = SyntheticRun::kRanks;
constexpr int kMeasured = SyntheticRun::kSteps - SyntheticRun::kSkipped;
constexpr auto kRankCount = static_cast<std::size_t>(kRanks);

// Which microseconds one rank spends on something.
class Timeline {
 public:
  void mark(std::int64_t start_ns, std::int64_t end_ns) {
    for (std::int64_t t = tick(start_ns); t < tick(end_ns); ++t) {
      if (t >= 0 && t < kLength) busy_[static_cast<std::size_t>(t)] = true;
    }
  }
  bool at(std::int64_t t) const { return busy_[static_cast<std::size_t>(t)]; }
  static std::int64_t tick(std::int64_t ns) { return (ns - SyntheticRun::kStart) / kTick; }

  static constexpr std::int64_t kLength =
      (SyntheticRun::kEnd + 1'000'000 - SyntheticRun::kStart) / kTick;

 private:
  std::vector<bool> busy_ = std::vector<bool>(kLength);
};

struct Parts {
  double compute = 0, comm = 0, overlap = 0, exposed = 0, copy = 0, exposed_copy = 0, idle = 0;
};

class ReportJson : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto folder = trace::TemporaryFolder::create();
    ASSERT_TRUE(folder);
    folder_ = new trace::TemporaryFolder(std::move(*folder));
    run_ = new SyntheticRun(write_synthetic_run(folder_->path()));
    const auto report = load_report(run_->folder);
    ASSERT_TRUE(report) << report.error().message;
    json_ = new Json(Json::parse(dump_json(report_json(*report))));
    compute_.assign(kRankCount, {});
    comm_.assign(kRankCount, {});
    copy_.assign(kRankCount, {});
    for (int rank = 0; rank < kRanks; ++rank) {
      for (const auto& e : run_->compute[rank]) compute_[index(rank)].mark(e.start_ns, e.end_ns());
      for (const auto& e : run_->copies[rank]) copy_[index(rank)].mark(e.start_ns, e.end_ns());
    }
    for (const auto& c : run_->collectives) comm_[index(c.rank)].mark(c.start_ns, c.end_ns);
  }
  static void TearDownTestSuite() {
    delete json_;
    delete run_;
    delete folder_;
  }

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  static Parts parts_within(int rank, std::int64_t first, std::int64_t last) {
    Parts parts;
    for (std::int64_t t = first; t < last; ++t) {
      const bool compute = compute_[index(rank)].at(t);
      const bool comm = comm_[index(rank)].at(t);
      const bool copy = copy_[index(rank)].at(t);
      parts.compute += compute;
      parts.comm += comm;
      parts.overlap += compute && comm;
      parts.exposed += comm && !compute;
      parts.copy += copy;
      parts.exposed_copy += copy && !compute && !comm;
      parts.idle += !compute && !comm && !copy;
    }
    return parts;
  }
  static Parts parts_of(const trace::Step& step) {
    return parts_within(step.rank, Timeline::tick(step.start_ns), Timeline::tick(step.end_ns));
  }

  // Over measured steps and ranks.
  template <typename Value>
  static double mean(Value value) {
    double sum = 0;
    for (const auto& step : run_->steps) {
      if (step.index >= SyntheticRun::kSkipped) sum += value(step);
    }
    return sum / kMeasured / kRanks;
  }
  static double step_ms(const trace::Step& step) {
    return static_cast<double>(step.end_ns - step.start_ns) / 1e6;
  }

  static const trace::Step& step_of(int rank, std::int64_t step) {
    return *std::ranges::find_if(run_->steps,
                                 [&](const auto& s) { return s.rank == rank && s.index == step; });
  }

  static inline trace::TemporaryFolder* folder_ = nullptr;
  static inline SyntheticRun* run_ = nullptr;
  static inline Json* json_ = nullptr;
  static inline std::vector<Timeline> compute_, comm_, copy_;
};

void expect_near(const Json& value, double expected, const std::string& what) {
  ASSERT_TRUE(value.is_number()) << what << " is " << value;
  EXPECT_NEAR(value.get<double>(), expected, 1e-9 * std::max(1.0, std::abs(expected))) << what;
}

TEST_F(ReportJson, SaysWhichRunItIs) {
  const Json& run = (*json_)["run"];
  EXPECT_EQ((*json_)["schema"], 1);
  EXPECT_EQ(run["name"], "made up");
  EXPECT_EQ(run["status"], "done");
  EXPECT_TRUE(run["reason"].is_null());
  EXPECT_EQ(run["device"], "cpu");
  EXPECT_EQ(run["world_size"], kRanks);
  EXPECT_EQ(run["settings"]["bucket_cap_mb"], 1.0);
  EXPECT_EQ(run["settings"]["first_bucket_mb"], "auto");
  EXPECT_EQ(run["settings"]["static_graph"], false);
  EXPECT_EQ(run["settings"].size(), trace::knobs().size());
}

TEST_F(ReportJson, HasTheKeysOfTheContractInItsOrder) {
  const auto keys = [](const Json& object) {
    std::vector<std::string> names;
    for (const auto& [key, value] : object.items()) names.push_back(key);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(keys(*json_), (Names{"schema", "run", "summary", "ranks", "steps", "collectives",
                                 "buckets", "units", "recorder"}));
  EXPECT_EQ(keys((*json_)["summary"]),
            (Names{"steps_measured", "step_ms", "tokens_per_s", "samples_per_s", "mfu", "phase_ms",
                   "compute_ms", "comm_ms", "overlap_ms", "exposed_ms", "copy_ms",
                   "exposed_copy_ms", "idle_ms", "overlap_percent", "effective_batch",
                   "bytes_sent_per_step", "loss_first", "loss_last"}));
  EXPECT_EQ(keys((*json_)["ranks"][0]),
            (Names{"rank", "step_ms", "exposed_ms", "peak_memory_bytes", "memory_by_category",
                   "memory_peak_by_category", "totals", "memory_estimate_by_category"}));
  EXPECT_EQ(keys((*json_)["collectives"][0]),
            (Names{"function", "executed", "tag", "bytes", "count", "median_us", "wait_us",
                   "transfer_us", "algbw_gbps", "busbw_gbps", "exposed_ms"}));
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
    const trace::Step* slowest = nullptr;
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
    const trace::MemorySample* peak = nullptr;
    std::array<std::int64_t, trace::kMemoryCategoryCount> highest{};
    for (const auto& sample : run_->memory) {
      if (sample.rank != rank) continue;
      const auto allocated = [](const trace::MemorySample& each) {  // all but outside, the last
        return std::accumulate(each.bytes.begin(), each.bytes.end() - 1, std::int64_t{0});
      };
      if (!peak || allocated(sample) > allocated(*peak)) peak = &sample;
      for (std::size_t i = 0; i < highest.size(); ++i) {
        highest[i] = std::max(highest[i], sample.bytes[i]);
      }
    }
    EXPECT_EQ(shown["peak_memory_bytes"], peak->total_bytes());
    for (std::size_t i = 0; i < highest.size(); ++i) {
      const std::string name(to_string(static_cast<trace::MemoryCategory>(i)));
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

std::string tag_of(const Collective& c) {
  if (c.tag_kind == trace::TagKind::kBucket) return "bucket " + std::to_string(c.tag_index);
  if (c.tag_kind == trace::TagKind::kNone) return "";
  return c.function == trace::CollectiveFunction::kBroadcast ? "parameters" : "loss";
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

TEST_F(ReportJson, CollectivesTellWaitingFromTransferring) {
  const Json& rows = (*json_)["collectives"];
  ASSERT_EQ(rows.size(), 5u);
  for (const auto& shown : rows) {
    const std::string tag = shown["tag"].is_null() ? "" : shown["tag"].get<std::string>();
    std::vector<double> durations, transfers;
    double wait = 0, exposed = 0;
    for (const auto& c : run_->collectives) {
      if (tag_of(c) != tag) continue;
      EXPECT_EQ(shown["function"], to_string(c.function));
      EXPECT_EQ(shown["executed"], to_string(c.executed));
      EXPECT_EQ(shown["bytes"], c.bytes);
      std::int64_t latest = 0;
      for (const auto& other : run_->collectives) {
        if (other.sequence == c.sequence) latest = std::max(latest, other.start_ns);
      }
      durations.push_back(static_cast<double>(c.end_ns - c.start_ns) / 1e3);
      transfers.push_back(static_cast<double>(c.end_ns - latest) / 1e3);
      wait += static_cast<double>(latest - c.start_ns) / 1e3;
      for (int step = SyntheticRun::kSkipped; step < SyntheticRun::kSteps; ++step) {
        const auto& in = step_of(c.rank, step);
        for (auto t = Timeline::tick(std::max(c.start_ns, in.start_ns));
             t < Timeline::tick(std::min(c.end_ns, in.end_ns)); ++t) {
          exposed += !compute_[index(c.rank)].at(t);
        }
      }
    }
    const auto count = static_cast<double>(durations.size());
    EXPECT_EQ(shown["count"], durations.size());
    expect_near(shown["median_us"], median(durations), tag + " median");
    expect_near(shown["wait_us"], wait / count, tag + " wait");
    expect_near(shown["transfer_us"],
                std::accumulate(transfers.begin(), transfers.end(), 0.0) / count,
                tag + " transfer");
    expect_near(shown["exposed_ms"], exposed / kTicksPerMs / kMeasured / kRanks, tag + " exposed");
    const double algbw = shown["bytes"].get<double>() / (median(transfers) * 1e-6) / 1e9;
    const double factor = shown["function"] == "all_reduce"       ? 4.0 / 3.0
                          : shown["function"] == "reduce_scatter" ? 2.0 / 3.0
                                                                  : 1.0;
    expect_near(shown["algbw_gbps"], algbw, tag + " algbw");
    expect_near(shown["busbw_gbps"], algbw * factor, tag + " busbw");
  }
}

TEST_F(ReportJson, CountsAgreeWithSql) {
  const auto count = trace::query_run(run_->folder, "select count(*) from collective");
  ASSERT_TRUE(count) << count.error().message;
  std::int64_t sum = 0;
  for (const auto& row : (*json_)["collectives"]) sum += row["count"].get<std::int64_t>();
  EXPECT_EQ(std::get<std::int64_t>(count->rows[0][0]), sum);
  const auto mean_ms = trace::query_run(
      run_->folder, "select avg(end_ns - start_ns) / 1e6 from step where step >= 3");
  ASSERT_TRUE(mean_ms) << mean_ms.error().message;
  expect_near((*json_)["summary"]["step_ms"]["mean"], std::get<double>(mean_ms->rows[0][0]), "SQL");
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
  double overhead = 0;
  std::int64_t events = 0;
  for (const auto& cost : run_->costs) {
    double time = 0;
    for (int step = 0; step < SyntheticRun::kSteps; ++step) {
      time += step_ms(step_of(cost.rank, step)) * 1e6;
    }
    overhead += static_cast<double>(cost.callback_ns) / time / kRanks;
    events += cost.events;
  }
  expect_near(recorder["overhead_percent"], 100 * overhead, "overhead");
  EXPECT_EQ(recorder["events"], events);
  EXPECT_EQ(recorder["lost"], 7);
  std::int64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(run_->folder)) {
    bytes += static_cast<std::int64_t>(entry.file_size());
  }
  EXPECT_EQ(recorder["bytes_on_disk"], bytes);
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
  EXPECT_EQ(json["steps"], (*json_)["steps"]) << "steps are shown as they are";
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
}  // namespace shardlens::app
