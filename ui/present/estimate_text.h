// How estimates before a run are read: figures, and the formulas behind them. Free of ImGui; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/job/shape/lora.h"
#include "trace/predict/plan/plan.h"
#include "ui/present/memory_stack.h"

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
// Of one category; one line that says so where there is nothing of it.
std::vector<FormulaLine> memory_lines(const trace::predict::MemoryPrediction& memory,
                                      trace::model::MemoryCategory category);
std::vector<FormulaLine> traffic_lines(const trace::predict::TrafficPrediction& traffic);
// Of what leaves the machine.
std::vector<FormulaLine> between_nodes_lines(const trace::predict::TrafficPrediction& traffic);

FormulaLine host_line(const trace::predict::MemoryPrediction& memory);

// At the peak, from the left; empty parts left out.
std::vector<MemoryPart> memory_parts(const trace::predict::MemoryPrediction& memory);

// "124 M parameters, all trained", "1.24 G parameters, 0.45 % trained"
std::string parameters_text(const trace::job::TrainedShare& parameters);

// "Short by 12.4 GiB of 79.6 GiB"; "" where it fits or where `usable_bytes` is 0.
std::string shortage_text(const trace::predict::StrategyPlan& plan, std::int64_t usable_bytes);

}  // namespace shardlens::ui::present
