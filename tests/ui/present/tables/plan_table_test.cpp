#include "ui/present/tables/plan_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "trace/job/shape/strategy.h"
#include "trace/predict/plan/gpu_table.h"
#include "ui/present/format.h"

namespace shardlens::ui::present {

namespace {

using ::testing::HasSubstr;
using Kind = PlanColumn::Kind;

trace::predict::PlanRequest request_for(const char* model) {
  trace::predict::PlanRequest request;
  request.shape = *trace::job::find_planning_model(model);
  request.memory_bytes = trace::predict::find_gpu("h100-80")->memory_bytes();
  request.reserved_bytes = trace::predict::kReservedBytes;
  request.nodes = 2;
  return request;
}

const PlanCell& cell(const PlanTable& table, std::string_view strategy, Kind kind,
                     trace::model::MemoryCategory category = trace::model::MemoryCategory::kOther) {
  const auto row = std::ranges::find(table.rows, strategy, &PlanRow::strategy);
  const auto column = std::ranges::find_if(table.columns, [&](const PlanColumn& each) {
    return each.kind == kind && (kind != Kind::kCategory || each.category == category);
  });
  return row->cells.at(static_cast<std::size_t>(column - table.columns.begin()));
}

TEST(PlanTable, ShowsDdpOfTheTinyModelAsWorkedOutByHand) {
  const PlanTable table = plan_table(*trace::predict::plan_job(request_for("tiny")));
  // 4 bytes each for values, gradients in buckets, and two moments, plus a counter per tensor.
  constexpr double kParameters = 2'384'448, kTensors = 5 * 12 + 4;
  const auto text = [](double bytes) { return format_bytes(bytes).text(); };
  using Category = trace::model::MemoryCategory;
  EXPECT_EQ(cell(table, "ddp", Kind::kCategory, Category::kParameters).text, text(4 * kParameters));
  EXPECT_EQ(cell(table, "ddp", Kind::kCategory, Category::kOptimizer).text,
            text(8 * kParameters + 4 * kTensors));
  EXPECT_EQ(cell(table, "ddp", Kind::kCategory, Category::kCommunication).text,
            text(4 * kParameters));
  EXPECT_EQ(cell(table, "ddp", Kind::kSent).text, text(2 * 15.0 / 16 * 4 * kParameters));
  EXPECT_EQ(cell(table, "full_shard", Kind::kCategory, Category::kParameters).text,
            text(4 * kParameters / 16));
}

TEST(PlanTable, HasAFormulaInEveryCell) {
  for (const char* model : {"tiny", "llama-8b", "llama-70b"}) {
    const auto plan = trace::predict::plan_job(request_for(model));
    const PlanTable table = plan_table(*plan);
    ASSERT_EQ(table.rows.size(), trace::job::strategies().size());
    for (const PlanRow& row : table.rows) {
      ASSERT_EQ(row.cells.size(), table.columns.size()) << row.strategy;
      for (const PlanCell& each : row.cells) {
        ASSERT_FALSE(each.lines.empty()) << row.strategy;
        for (const FormulaLine& line : each.lines) EXPECT_FALSE(line.formula.empty()) << line.what;
      }
    }
  }
}

TEST(PlanTable, SaysWhatTheLinesOfACategorySumTo) {
  const PlanTable table = plan_table(*trace::predict::plan_job(request_for("llama-8b")));
  int of_several_lines = 0;
  for (const PlanRow& row : table.rows) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].kind != Kind::kCategory || row.cells.empty()) continue;
      const PlanCell& each = row.cells[i];
      const bool says_sum = each.note.starts_with("They sum to " + each.text + ". ");
      EXPECT_EQ(says_sum, each.lines.size() > 1) << row.strategy << ": " << each.note;
      of_several_lines += says_sum ? 1 : 0;
    }
  }
  EXPECT_GT(of_several_lines, 0);
}

TEST(PlanTable, SaysBySparingOrMissingBytesWhetherItFits) {
  const trace::predict::PlanRequest request = request_for("llama-8b");
  const auto plan = trace::predict::plan_job(request);
  const PlanTable table = plan_table(*plan);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::int64_t peak = plan->strategies[i].memory.total();
    const std::int64_t spare = request.usable_bytes() - peak;
    const PlanCell& fit = cell(table, table.rows[i].strategy, Kind::kFit);
    EXPECT_EQ(fit.text, format_bytes(static_cast<double>(std::abs(spare))).text() +
                            (spare >= 0 ? " spare" : " short"));
    EXPECT_EQ(fit.tone, spare >= 0 ? state::Tone::kText : state::Tone::kDanger);
    double parts = 0;
    for (const MemoryPart& part : table.rows[i].parts) parts += part.bytes;
    EXPECT_DOUBLE_EQ(parts, static_cast<double>(peak));
  }
  EXPECT_EQ(cell(table, "ddp", Kind::kBatch).text, "none");
  const std::int64_t batch = plan->strategies[4].largest_batch;
  EXPECT_EQ(cell(table, "full_shard", Kind::kBatch).text, format_integer(batch));
  EXPECT_THAT(cell(table, "full_shard", Kind::kBatch).lines[1].formula, HasSubstr("16 ranks"));
}

TEST(PlanTable, GivesTheReasonInsteadOfCellsWhereAStrategyIsRefused) {
  trace::predict::PlanRequest request = request_for("tiny");
  request.settings.sharding_strategy = trace::job::Strategy::kFullShard;
  request.settings.cpu_offload = true;
  const PlanTable table = plan_table(*trace::predict::plan_job(request));
  EXPECT_THAT(table.rows[0].refused, HasSubstr("cpu_offload"));
  EXPECT_TRUE(table.rows[0].cells.empty());
  EXPECT_TRUE(table.rows[4].chosen);
  EXPECT_THAT(cell(table, "full_shard", Kind::kHost).lines[0].formula,
              HasSubstr("16 B × 2,384,448"));
}

TEST(PlanTable, ShowsWhatLeavesTheMachineOnlyWhereThereAreSeveral) {
  trace::predict::PlanRequest request = request_for("tiny");
  const auto between = [](const PlanTable& table) {
    return std::ranges::count(table.columns, Kind::kBetweenNodes, &PlanColumn::kind);
  };
  EXPECT_EQ(between(plan_table(*trace::predict::plan_job(request))), 1);
  request.nodes = 1;
  EXPECT_EQ(between(plan_table(*trace::predict::plan_job(request))), 0);
}

TEST(PlanTable, DescribesTheJobAndItsGpus) {
  const auto plan = trace::predict::plan_job(request_for("llama-70b"));
  EXPECT_EQ(plan_job_text(*plan),
            "70.6 billion parameters · 8 × 128 tokens per rank · fp32 · adamw");
  EXPECT_EQ(plan_device_text(*plan, "NVIDIA H100 80GB"),
            "16 ranks on NVIDIA H100 80GB · 77.6 GiB of 79.6 GiB usable");
}

}  // namespace

}  // namespace shardlens::ui::present
