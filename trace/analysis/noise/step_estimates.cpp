#include "trace/analysis/noise/step_estimates.h"

#include <charconv>

#include "trace/analysis/figures/run_summary.h"
#include "trace/job/library_environment.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/shape_text.h"
#include "trace/model/run_info.h"

namespace shardlens::trace::analysis {

namespace {

double waiting_ns(const StepFigures& step, std::size_t rank) {
  const auto waiting = step.waiting_of(rank);
  return waiting ? waiting->ns : 0;
}

struct StepPart {
  std::string_view name;
  double (*value)(const StepFigures& step, std::size_t rank);
};

template <auto kMember>
double part_ns(const StepFigures& step, std::size_t rank) {
  return static_cast<double>(step.ranks[rank].*kMember);
}

constexpr std::array<StepPart, kStepParts> kStepPartTable{{
    {"step", part_ns<&StepBreakdown::step_ns>},
    {"compute", part_ns<&StepBreakdown::compute_ns>},
    {"communication", part_ns<&StepBreakdown::comm_ns>},
    {"overlap", part_ns<&StepBreakdown::overlap_ns>},
    {"exposed", part_ns<&StepBreakdown::exposed_ns>},
    {kWaitingName, waiting_ns},
    {kTransferName,
     [](const StepFigures& step, std::size_t rank) {
       return part_ns<&StepBreakdown::exposed_ns>(step, rank) - waiting_ns(step, rank);
     }},
    {"copies", part_ns<&StepBreakdown::copy_ns>},
    {"exposed copies", part_ns<&StepBreakdown::exposed_copy_ns>},
    {"idle", part_ns<&StepBreakdown::idle_ns>},
}};

double value_of(const StepFigures& step, std::size_t rank, std::size_t figure) {
  return figure < kStepParts ? kStepPartTable[figure].value(step, rank)
                             : static_cast<double>(step.ranks[rank].phase_ns[figure - kStepParts]);
}

// Another program marks some phases, or none. Of waiting a run tells all or nothing.
bool is_told(const RunFigures& run, std::size_t figure) {
  if (figure >= kStepParts) {
    return model::has_settings(run.info) || run.summary.phase_ns[figure - kStepParts].has_value();
  }
  const std::string_view name = kStepPartTable[figure].name;
  const bool is_split = name == kWaitingName || name == kTransferName;
  return !is_split || run.summary.exposed_wait_ns.has_value();
}

std::int64_t threads_in(const model::RankInfo& rank) {
  std::int64_t threads = 0;
  for (const auto& [name, value] : job::parse_environment(rank.environment)) {
    if (name == "OMP_NUM_THREADS") {
      std::from_chars(value.data(), value.data() + value.size(), threads);
    }
  }
  return threads;
}

model::ChosenValues chosen_values(const RunFigures& run) {
  model::ChosenValues chosen;
  if (run.ranks.empty()) return chosen;
  const model::RankInfo& rank = run.ranks.front().info;
  const job::Settings& settings = run.info.settings;
  chosen.threads_per_rank = threads_in(rank);
  if (!run.units.empty()) chosen.shard_group_size = run.units.front().shard_count;
  if (const auto shape = job::parse_shape_text(rank.model)) {
    chosen.loss_chunk_tokens = job::loss_chunk_tokens(
        settings, *shape, settings.batch_per_rank * settings.sequence_length);
  }
  return chosen;
}

}  // namespace

std::string_view step_figure_name(std::size_t figure) {
  return figure < kStepParts ? kStepPartTable[figure].name
                             : base::to_string(static_cast<base::Phase>(figure - kStepParts));
}

std::vector<double> step_figure_series(const std::vector<StepFigures>& steps, std::size_t figure) {
  const bool needs_detail = figure != kStepTime && figure < kStepParts;
  std::vector<double> series;
  for (const auto& step : steps) {
    if (!is_measured(step) || (needs_detail && !has_detail(step))) continue;
    double sum = 0;
    for (std::size_t rank = 0; rank < step.ranks.size(); ++rank) {
      sum += value_of(step, rank, figure);
    }
    series.push_back(sum / step.rank_count());
  }
  return series;
}

RunNoise noise_of(const RunFigures& run) {
  RunNoise noise;
  for (std::size_t figure = 0; figure < kStepFigures; ++figure) {
    if (!is_told(run, figure)) continue;
    noise.estimates[figure] = estimate_mean(step_figure_series(run.steps, figure));
  }
  noise.chosen = chosen_values(run);
  return noise;
}

}  // namespace shardlens::trace::analysis
