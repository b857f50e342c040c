// The report's collectives and buckets, computed again from the raw rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "app/report/report_json.h"
#include "tests/app/report/counted_report.h"
#include "trace/store/sql/query.h"

namespace shardlens::app::report {
namespace {

using trace::model::Collective;

std::string tag_of(const Collective& c) {
  if (c.tag_kind == trace::model::TagKind::kBucket) return "bucket " + std::to_string(c.tag_index);
  if (c.tag_kind == trace::model::TagKind::kNone) return "";
  return c.function == trace::model::CollectiveFunction::kBroadcast ? "parameters" : "loss";
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
      EXPECT_EQ(shown["function"], trace::model::to_string(c.function));
      EXPECT_EQ(shown["executed"], trace::model::to_string(c.executed));
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
    EXPECT_EQ(shown["algbw_gb_per_s"], shown["algbw_gbps"]);
    EXPECT_EQ(shown["busbw_gb_per_s"], shown["busbw_gbps"]);
  }
}

TEST_F(ReportJson, CountsAgreeWithSql) {
  const auto count = trace::store::query_run(run_->folder, "select count(*) from collective");
  ASSERT_TRUE(count) << count.error().message;
  std::int64_t sum = 0;
  for (const auto& row : (*json_)["collectives"]) sum += row["count"].get<std::int64_t>();
  EXPECT_EQ(std::get<std::int64_t>(count->rows[0][0]), sum);
  const auto mean_ms = trace::store::query_run(
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
    const auto spent = static_cast<double>(cost.callback_ns);
    overhead += spent / (time - spent) / kRanks;
    events += cost.events;
  }
  expect_near(recorder["overhead_percent"], 100 * overhead, "overhead");
  EXPECT_EQ(recorder["overhead_source"], "estimated");
  EXPECT_EQ(recorder["overhead_is_lower_bound"], false);
  EXPECT_EQ(recorder["events"], events);
  EXPECT_EQ(recorder["lost"], 7);
  std::int64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(run_->folder)) {
    bytes += static_cast<std::int64_t>(entry.file_size());
  }
  EXPECT_EQ(recorder["bytes_on_disk"], bytes);
}
}  // namespace
}  // namespace shardlens::app::report
