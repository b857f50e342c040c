// The plan card's table: a row per strategy, and in every cell its figure and how it is worked out.
// Free of ImGui; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ui/present/estimate_text.h"
#include "ui/present/memory_stack.h"
#include "ui/present/tables/ledger_table.h"

namespace shardlens::ui::present {

struct PlanColumn {
  enum class Kind : std::uint8_t { kCategory, kPeak, kHost, kFit, kBatch, kSent, kBetweenNodes };
  Kind kind = Kind::kCategory;
  trace::model::MemoryCategory category = trace::model::MemoryCategory::kOther;  // of kCategory
  std::string title;
  std::string short_title;  // where there is little room
  std::string definition;
};

struct PlanCell {
  std::string text;
  std::string brief;  // in little room; "" for the same
  state::Tone tone = state::Tone::kText;
  std::vector<FormulaLine> lines;  // never empty
  std::string note;
};

struct PlanRow {
  std::string strategy;
  std::string explanation;
  std::string refused;  // why; then there are no cells
  bool chosen = false, fits = false;
  std::vector<PlanCell> cells;    // one per column
  std::vector<MemoryPart> parts;  // of the peak
  double peak = 0, sent = 0;
};

struct PlanTable {
  std::vector<PlanColumn> columns;  // behind the strategy's name
  std::vector<PlanRow> rows;
  double usable = 0;       // bytes of one GPU
  double memory_axis = 1;  // over a whole bar: bars that are much longer are cut off
  double most_sent = 1;
};

PlanTable plan_table(const trace::predict::Plan& plan);

// "70.6 billion parameters · 8 × 4,096 tokens per rank · bf16 · adamw"
std::string plan_job_text(const trace::predict::Plan& plan);
// "16 ranks on NVIDIA H100 80GB · 77.6 GiB of 79.6 GiB usable"
std::string plan_device_text(const trace::predict::Plan& plan, std::string_view gpu);

}  // namespace shardlens::ui::present
