// How estimates before a run are read: figures, the formulas behind them, and all of them as the
// plan card's table. Free of ImGui; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/job/shape/lora.h"
#include "trace/predict/plan/plan.h"
#include "ui/present/memory_stack.h"
#include "ui/state/palette.h"

namespace shardlens::ui::present {

// One part of a figure, with how it is worked out.
struct FormulaLine {
  std::string what;     // "Optimizer state", "forward gathers (all_gather)"
  std::string value;    // "18.2 MiB"
  std::string formula;  // "8 B × 2,384,448 trained parameters …"
  std::optional<trace::model::MemoryCategory> category = {};  // whose colour it has
};

std::string bytes_or_zero(std::int64_t bytes);  // "18.2 MiB", "0"

// Of what is held at the peak, in the order of the categories.
std::vector<FormulaLine> memory_lines(const trace::predict::MemoryPrediction& memory);
std::vector<FormulaLine> traffic_lines(const trace::predict::TrafficPrediction& traffic);
// At the peak, from the left; empty parts left out.
std::vector<MemoryPart> memory_parts(const trace::predict::MemoryPrediction& memory);

// "124 M parameters, all trained", "1.24 G parameters, 0.45 % trained"
std::string parameters_text(const trace::job::TrainedShare& parameters);

// "Short by 12.4 GiB of 79.6 GiB"; "" where it fits or where `usable_bytes` is 0.
std::string shortage_text(const trace::predict::StrategyPlan& plan, std::int64_t usable_bytes);

// A row per strategy, and in every cell its figure and how it is worked out.
struct PlanColumn {
  enum class Kind : std::uint8_t { kCategory, kPeak, kHost, kFit, kBatch, kSent, kBetweenNodes };
  Kind kind = Kind::kCategory;
  std::string title;
  std::string short_title;  // where there is little room
  std::string definition;
  trace::model::MemoryCategory category = trace::model::MemoryCategory::kOther;  // of kCategory
};

struct PlanCell {
  std::string text{};
  std::string brief{};  // in little room; "" for the same
  state::Tone tone = state::Tone::kText;
  std::vector<FormulaLine> lines{};  // never empty
  std::string note{};
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
