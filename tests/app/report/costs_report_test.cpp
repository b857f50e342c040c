#include "app/report/costs_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/report/report_json.h"

namespace shardlens::app::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using trace::model::CollectiveFunction;

CostsReport example() {
  CostsReport report;
  report.file.setup.device = "cpu";
  report.file.setup.device_name = "AMD EPYC, 2 cores";
  report.file.setup.backend = "gloo";
  report.file.setup.ranks = 4;
  report.file.setup.simulated_link = trace::job::SimulatedLink{50, 2};
  // 3 MB in 6 ms: 0.5 GB/s, and 2 · 3 / 4 of it on the bus.
  report.file.rows = {{{CollectiveFunction::kAllReduce, 4}, 3'000'000, 7, 6e6, 5e6, 8e6},
                      {{CollectiveFunction::kBroadcast, 4}, 1024, {}, 0, {}, {}}};
  report.largest_bytes = 3'000'000;
  report.files = {"runs/.shardlens-costs/a.json"};
  return report;
}

TEST(CostsReport, HasTheColumnsOfNcclTests) {
  const std::string text = costs_text(example());
  EXPECT_THAT(text, HasSubstr("gloo between 4 ranks on cpu (AMD EPYC, 2 cores); simulated link of "
                              "2 Gbit/s, 50 µs\n"));
  EXPECT_THAT(text, testing::ContainsRegex("all_reduce +4 +2.86 MiB +7 +6.00 ms +1.50 ms +500.0 "
                                           "MB/s +750.0 MB/s"));
  EXPECT_THAT(text, testing::EndsWith("\nruns/.shardlens-costs/a.json\n"));
}

TEST(CostsReport, SaysWhatTheTimeDidNotSufficeFor) {
  CostsReport report = example();
  report.file.rows[1].bytes = 2'900'000;
  EXPECT_THAT(costs_text(report), Not(HasSubstr("left out")));
  report.largest_bytes = 8'000'000;
  EXPECT_THAT(costs_text(report), HasSubstr("left out: all_reduce above 2.86 MiB, broadcast above "
                                            "2.77 MiB. --seconds gives more."));
  report.largest_bytes = 0;
  EXPECT_THAT(costs_text(report), Not(HasSubstr("left out"))) << "nobody knows";
}

TEST(CostsReport, AsJsonIsInMillisecondsAndNullWhereNothingIsKnown) {
  CostsReport report = example();
  const Json json = costs_json(report);
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["simulated_link"], (Json{{"latency_us", 50.0}, {"gbit_per_s", 2.0}}));
  EXPECT_EQ(json["files"], Json::array({"runs/.shardlens-costs/a.json"}));
  const Json& known = json["costs"][0];
  EXPECT_EQ(known["transfer_ms"],
            (Json{{"median", 6.0}, {"lower_quartile", 5.0}, {"upper_quartile", 8.0}}));
  EXPECT_DOUBLE_EQ(known["algbw_gb_per_s"].get<double>(), 0.5);
  EXPECT_DOUBLE_EQ(known["busbw_gb_per_s"].get<double>(), 0.75);
  const Json& unknown = json["costs"][1];
  EXPECT_TRUE(unknown["count"].is_null());
  EXPECT_TRUE(unknown["transfer_ms"]["lower_quartile"].is_null());
  EXPECT_TRUE(unknown["algbw_gb_per_s"].is_null()) << "no time, no bandwidth";
  EXPECT_TRUE(json["link"].is_null());
}

}  // namespace
}  // namespace shardlens::app::report
