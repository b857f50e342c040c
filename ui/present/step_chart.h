// Which steps the step-time chart shows and how high their parts are. Free of ImGui.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::present {

enum class StepPart : std::uint8_t { kCompute, kExposed, kExposedCopy, kOptimizer, kIdle };
inline constexpr int kStepPartCount = 5;

struct StepBar {
  std::int64_t step = 0;   // of a bin: its slowest
  std::int64_t last = 0;   // the bin's last step
  std::size_t figure = 0;  // index into the run's steps
  std::int64_t count = 1;  // steps of the bin
  double total_ns = 0;
  std::array<double, kStepPartCount> parts_ns{};  // sum to total_ns where has_detail
  bool has_detail = false, warmup = false;
  bool awaits_detail = false;  // not all that GPUs did in it was read yet
  // Of a bin the first of its steps that is so: indices into the run's steps.
  std::optional<std::size_t> nonfinite = {}, throttled = {};
};

struct StepChart {
  std::vector<StepBar> bars;
  double bar_width = 0;  // pixels, with the gap
  double top_ns = 1;     // of the axis
  // Any of its steps.
  bool has_copies = false, has_throttled = false, has_unread = false;
  bool has_detail = false, has_plain = false;  // recorded with detail; without it
  std::int64_t bin = 1;                        // steps per bar
  std::int64_t first_step = 0;                 // of the first bar
};

struct StepChartInput {
  double width = 0;  // pixels
  double min_bar = 3, max_bar = 14;
  bool follow = false;  // a live run: the newest steps instead of all
  std::optional<double> baseline_ns;
};

StepChart step_chart(const std::vector<trace::analysis::StepFigures>& steps,
                     const StepChartInput& input);

// The run on screen, if the ledger holds it to be of the baseline's job and machine; null: it does
// not, or cannot tell.
const state::LedgerRow* shown_of_baselines_job(const state::Ledger& ledger);
// The run whose mean step time is marked in the shown one's chart; null: there is none, or it is of
// another job or machine.
const state::LedgerRow* marked_baseline(const state::Ledger& ledger);

// Of a step that awaits its detail: why it has none, in a word and in a sentence. A run that has
// ended waits no longer.
struct MissingRecords {
  std::string_view name, reason;
};
MissingRecords missing_records(const trace::model::RunInfo& info);

// The bar under a pixel from the chart's left; none outside.
std::optional<std::size_t> bar_at(const StepChart& chart, double x);
// The bar that holds a step.
std::optional<std::size_t> bar_of_step(const StepChart& chart, std::int64_t step);

}  // namespace shardlens::ui::present
