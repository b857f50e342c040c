#include "trace/analysis/figures/memory_figures.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "trace/job/library_environment.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/shape_text.h"
#include "trace/model/events.h"
#include "trace/predict/memory/memory_model.h"

namespace shardlens::trace::analysis {

namespace {

// Which of two samples stays; independent of the order in which they come. Samples of steps come
// before those of the start, when the model is built.
bool is_higher(const model::MemorySample& a, const model::MemorySample& b) {
  return std::make_tuple(a.step >= 0, a.allocated_bytes(), -a.time_ns) >
         std::make_tuple(b.step >= 0, b.allocated_bytes(), -b.time_ns);
}

bool is_later(const model::MemorySample& a, const model::MemorySample& b) {
  return std::make_tuple(a.time_ns, !a.is_peak) > std::make_tuple(b.time_ns, !b.is_peak);
}

}  // namespace

bool take_in(RankFigures& rank, const model::MemorySample& sample) {
  if (sample.time_ns <= 0) return false;
  if (sample.tells_nothing()) return true;
  if (!std::ranges::all_of(sample.bytes, model::is_plausible_size)) return false;
  if (!std::ranges::all_of(sample.highest, model::is_plausible_size)) return false;
  if (is_later(sample, rank.now)) rank.now = sample;
  if (rank.peak.time_ns == 0 || is_higher(sample, rank.peak)) rank.peak = sample;
  const bool first_of_steps = sample.step >= 0 && !rank.has_step_memory;
  if (first_of_steps) rank.category_peaks = {};
  rank.has_step_memory = rank.has_step_memory || sample.step >= 0;
  if (rank.has_step_memory && sample.step < 0) return true;
  for (std::size_t i = 0; i < sample.bytes.size(); ++i) {
    rank.category_peaks[i] = std::max({rank.category_peaks[i], sample.bytes[i], sample.highest[i]});
  }
  return true;
}

int host_count(const std::vector<RankFigures>& ranks) {
  std::set<std::string_view> hosts;
  for (const RankFigures& rank : ranks) {
    if (!rank.info.host.empty()) hosts.insert(rank.info.host);
  }
  return std::max(1, static_cast<int>(hosts.size()));
}

std::optional<predict::PlannedJob> planned_job(const RankFigures& rank, const model::RunInfo& info,
                                               int hosts) {
  const auto shape = job::parse_shape_text(rank.info.model);
  // Another count: a model of that name as it was in another version.
  if (!shape || job::trained_share(*shape, info.settings).all != rank.info.parameters ||
      info.world_size < 1) {
    return std::nullopt;
  }
  // For predictions one block stands for all.
  if (!job::are_blocks_adapted_alike(*shape, info.settings)) return std::nullopt;
  predict::PlannedJob job = predict::job_on_this_machine(info.settings, *shape);
  job.ranks = info.world_size;
  job.ranks_per_node = info.world_size % hosts == 0 ? info.world_size / hosts : info.world_size;
  if (info.device != "cuda") return job;
  job.on_gpu = true;
  std::string workspaces;
  for (const auto& [name, value] : job::parse_environment(rank.info.environment)) {
    if (name == "CUBLAS_WORKSPACE_CONFIG") workspaces = value;
  }
  job.workspace_bytes = predict::cublas_workspace_bytes(rank.info.device_name, workspaces);
  return job;
}

std::optional<std::int64_t> padded_width(const RunFigures& figures) {
  if (figures.ranks.empty()) return std::nullopt;
  const auto job = planned_job(figures.ranks.front(), figures.info);
  const std::int64_t full = job ? job->sequence() : figures.info.settings.sequence_length;
  bool are_padded = false;
  double most_flops = 0;  // of a sample
  for (const StepFigures& step : figures.steps) {
    if (!step.tokens || step.samples.value_or(0) <= 0) continue;
    are_padded = are_padded || *step.tokens < *step.samples * full;
    most_flops = std::max(most_flops, static_cast<double>(step.model_flops.value_or(0)) /
                                          static_cast<double>(*step.samples));
  }
  if (!are_padded) return std::nullopt;
  if (!job || most_flops == 0) return full;
  // Padding is computed, too, and counts in what a step says to have computed.
  const auto has_fewer = [&](std::int64_t width) {
    const auto flops = job::flops_per_token(job->shape, job->settings, width) * width;
    return static_cast<double>(flops) < most_flops;
  };
  const auto widths = std::views::iota(std::int64_t{1}, full);
  return 1 + (std::ranges::partition_point(widths, has_fewer) - widths.begin());
}

std::int64_t width_of_batch(std::optional<std::int64_t> width, std::int64_t recorded_batch,
                            std::int64_t batch) {
  return batch > recorded_batch ? 0 : width.value_or(0);
}

void estimate_memory(std::vector<RankFigures>& ranks, const model::RunInfo& info) {
  const int hosts = host_count(ranks);
  for (RankFigures& rank : ranks) {
    const auto job = planned_job(rank, info, hosts);
    if (!job) continue;
    const predict::MemoryPrediction prediction = predict::predict_memory(*job);
    rank.estimate = prediction.at_peak;
    rank.estimate_peaks = prediction.category_peaks;
    for (const auto category : {model::MemoryCategory::kOther, model::MemoryCategory::kOutside}) {
      const auto i = static_cast<std::size_t>(category);
      rank.estimate[i] = rank.peak.bytes[i];
      rank.estimate_peaks[i] = rank.category_peaks[i];
    }
  }
}

}  // namespace shardlens::trace::analysis
