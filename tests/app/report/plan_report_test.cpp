#include "app/report/plan_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/report/report_json.h"
#include "trace/job/shape/strategy.h"
#include "trace/predict/plan/gpu_table.h"

namespace shardlens::app::report {
namespace {

using testing::HasSubstr;
using testing::Not;

PlanReport planned(const char* model, std::int64_t nodes, trace::job::Strategy strategy,
                   bool offloads = false) {
  trace::predict::PlanRequest request;
  request.shape = *trace::job::find_planning_model(model);
  request.settings.sharding_strategy = strategy;
  request.settings.cpu_offload = offloads;
  request.memory_bytes = trace::predict::find_gpu("a100-40")->memory_bytes();
  request.reserved_bytes = trace::predict::kReservedBytes;
  request.nodes = nodes;
  return report_of(*trace::predict::plan_job(request), "a100-40");
}

TEST(PlanReport, JsonHasEveryStrategyWithTermsThatSum) {
  const PlanReport report = planned("llama-8b", 2, trace::job::Strategy::kDdp);
  const Json json = plan_json(report);
  EXPECT_EQ(json["model"]["parameters"], 8030261248);
  EXPECT_EQ(json["ranks"], 16);
  EXPECT_EQ(json["settings"]["model"], "llama-8b");
  ASSERT_EQ(json["strategies"].size(), trace::job::strategies().size());
  for (const Json& each : json["strategies"]) {
    std::int64_t memory = 0, sent = 0, by_category = 0;
    for (const Json& term : each["memory"]["terms"]) {
      EXPECT_FALSE(term["formula"].get<std::string>().empty());
      memory += term["bytes"].get<std::int64_t>();
    }
    for (const Json& bytes : each["memory"]["by_category"])
      by_category += bytes.get<std::int64_t>();
    for (const Json& term : each["traffic"]["terms"]) {
      EXPECT_FALSE(term["formula"].get<std::string>().empty());
      sent += term["bytes"].get<std::int64_t>();
    }
    EXPECT_EQ(memory, each["memory"]["total_bytes"]);
    EXPECT_EQ(by_category, each["memory"]["total_bytes"]);
    EXPECT_EQ(sent, each["traffic"]["bytes_per_rank_and_step"]);
    EXPECT_EQ(each["fits"], each["spare_bytes"].get<std::int64_t>() >= 0);
    EXPECT_EQ(each["effective_batch"], 8 * 16);
  }
}

TEST(PlanReport, SaysWhatWouldFitIfTheChosenStrategyDoesNot) {
  const PlanReport ddp = planned("llama-8b", 2, trace::job::Strategy::kDdp);
  EXPECT_THAT(plan_text(ddp), HasSubstr("ddp does not fit"));
  EXPECT_THAT(plan_text(ddp), HasSubstr("sharding_strategy=full_shard"));
  EXPECT_FALSE(plan_json(ddp)["changes_that_would_fit"].empty());
  const PlanReport full = planned("llama-8b", 2, trace::job::Strategy::kFullShard);
  EXPECT_THAT(plan_text(full), Not(HasSubstr("does not fit")));
  EXPECT_TRUE(plan_json(full)["changes_that_would_fit"].empty());
  EXPECT_THAT(plan_text(planned("llama-70b", 1, trace::job::Strategy::kDdp)),
              HasSubstr("larger GPUs"));
}

TEST(PlanReport, TextHasOneRowPerStrategyAndTheShareBetweenNodesWhereThereAreSome) {
  const std::string two = plan_text(planned("llama-8b", 2, trace::job::Strategy::kFullShard));
  for (const auto& strategy : trace::job::strategies()) {
    EXPECT_THAT(two, HasSubstr("\n  " + std::string(strategy.name) + " "));
  }
  EXPECT_THAT(two, HasSubstr("between nodes"));
  EXPECT_THAT(two, HasSubstr("8,030,261,248 parameters"));
  EXPECT_THAT(two, HasSubstr("GiB short"));
  EXPECT_THAT(plan_text(planned("llama-8b", 1, trace::job::Strategy::kFullShard)),
              Not(HasSubstr("between nodes")));
}

TEST(PlanReport, RefusedStrategiesAreNamedWithTheReasonAndUnknownFigures) {
  const PlanReport report = planned("llama-8b", 1, trace::job::Strategy::kFullShard, true);
  EXPECT_THAT(plan_text(report), HasSubstr("ddp is refused: cpu_offload moves shards"));
  EXPECT_THAT(plan_text(report), HasSubstr("host"));
  const Json ddp = plan_json(report)["strategies"][0];
  EXPECT_THAT(ddp["refused"].get<std::string>(), HasSubstr("cpu_offload"));
  EXPECT_TRUE(ddp["memory"].is_null());
}

}  // namespace
}  // namespace shardlens::app::report
