// The memory of a rank as stacked parts, with what the panel says about them. Free of ImGui.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/tuning/prediction.h"

namespace shardlens::ui::present {

struct MemoryPart {
  trace::model::MemoryCategory category = trace::model::MemoryCategory::kOther;
  double bytes = 0;
};

struct MemoryBar {
  int rank = 0;
  std::vector<MemoryPart> parts;  // at the rank's peak, from the bottom; empty parts left out
  // Where nobody told what they hold although they told of others.
  std::vector<trace::model::MemoryCategory> untold = {};
  double peak = 0, estimate = 0;  // totals; 0: not known
  double predicted = 0;           // with the settings for the next run; 0: as they are
  // By PyTorch alone, which lies below what is outside: what that is between peaks is no measure of
  // anything, and was above the peak on a CPU, where the heap keeps what tensors freed. 0: no
  // present.
  double now = 0;
  std::array<double, trace::model::kMemoryCategoryCount> category_peaks{};  // each at its own time
};

struct MemoryStacks {
  std::vector<MemoryBar> bars;
  double top = 1;           // of the axis, in bytes
  std::size_t largest = 0;  // the bar with the highest peak
  // That any rank ever used, in order, or of which one does not tell.
  std::vector<trace::model::MemoryCategory> categories;
  std::string source;  // how it was measured
};

// Which bars there is room for: all by rank, or the highest peaks first and the rest as one.
struct MemoryFold {
  std::vector<std::size_t> shown;  // into the bars
  std::size_t rest = 0;            // how many more there are
  double least = 0, most = 0;      // of their peaks
};
MemoryFold folded_bars(const MemoryStacks& stacks, std::size_t room);
// "and 241 more between 9.6 and 9.9 GiB"
std::string rest_text(const MemoryFold& fold);

// `goes_on`: what a rank holds now is shown; after the end it would be no present.
MemoryStacks memory_stacks(const std::vector<trace::analysis::RankFigures>& ranks,
                           bool goes_on = true);

std::string_view memory_name(trace::model::MemoryCategory category);  // "Optimizer state"
std::string part_text(const MemoryBar& bar,
                      trace::model::MemoryCategory category);  // "12 MiB", "not known"
std::string_view memory_definition(trace::model::MemoryCategory category);

// Adds what is predicted of settings that differ from the run's.
void add_predicted(MemoryStacks& stacks, const trace::tuning::Prediction& prediction);

// "Predicted with the next settings: 320 MiB, +4 MiB"; "" where nothing is predicted.
std::string predicted_note(const MemoryBar& bar);
// "The estimate is 3 % above what was measured"; "" where there is none.
std::string estimate_note(const MemoryBar& bar);

}  // namespace shardlens::ui::present
