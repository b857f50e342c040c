// The figures of steps that are compared between runs, and what a run keeps of each to tell noise
// from a difference. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/analysis/noise/mean_estimate.h"
#include "trace/model/acting_settings.h"

namespace shardlens::trace::analysis {

// Step time, the parts of a step, its phases: by place.
inline constexpr std::size_t kStepTime = 0;
inline constexpr std::size_t kStepParts = 10;  // step time included
inline constexpr std::size_t kStepFigures = kStepParts + base::kPhaseCount;
// The two parts of exposed communication.
inline constexpr std::string_view kWaitingName = "exposed, waiting";
inline constexpr std::string_view kTransferName = "exposed, transfer";
std::string_view step_figure_name(std::size_t figure);

// One value per measured step that has the figure: the mean over ranks, in nanoseconds.
std::vector<double> step_figure_series(const std::vector<StepFigures>& steps, std::size_t figure);

// Plain values, kept with the run.
struct RunNoise {
  std::array<std::optional<MeanEstimate>, kStepFigures> estimates;
  model::ChosenValues chosen;

  const std::optional<MeanEstimate>& step() const { return estimates[kStepTime]; }
};
RunNoise noise_of(const RunFigures& run);

}  // namespace shardlens::trace::analysis
