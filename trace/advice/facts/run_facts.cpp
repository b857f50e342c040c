#include "trace/advice/facts/run_facts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "trace/analysis/figures/memory_figures.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/analysis/noise/mean_estimate.h"
#include "trace/base/words/quantity.h"
#include "trace/job/settings/grammars.h"
#include "trace/predict/memory/memory_model.h"

namespace shardlens::trace::advice {

namespace {

constexpr double kNoticeable = 0.01;  // of a step
constexpr double kFilled = 0.9;       // of usable memory

// Among the steps with detail, if there are any: of others only time and memory are known.
const analysis::StepFigures* median_step(const std::vector<analysis::StepFigures>& steps) {
  const bool needs_detail = analysis::has_measured_detail(steps);
  std::vector<const analysis::StepFigures*> measured;
  for (const auto& step : steps) {
    const bool has_enough = !needs_detail || analysis::has_detail(step);
    if (analysis::is_measured(step) && has_enough) measured.push_back(&step);
  }
  if (measured.empty()) return nullptr;
  const auto middle = measured.begin() + static_cast<std::ptrdiff_t>(measured.size() / 2);
  std::ranges::nth_element(measured, middle, {}, [](const auto* step) {
    return std::pair(step->shown().step_ns, step->index);
  });
  return *middle;
}

double smallest_worth(const analysis::RunFigures& figures) {
  const double share = kNoticeable * figures.summary.step_ns.mean;
  const auto mean = analysis::estimate_mean(analysis::measured_step_times(figures.steps));
  return mean && mean->has_error() ? std::max(share, mean->half_width()) : share;
}

using Device = std::pair<std::string_view, std::string_view>;  // its host, and which of it

Device device_of(const model::RankInfo& rank) { return {rank.host, rank.device}; }

// What all ranks on a device hold together.
struct DeviceUse {
  std::int64_t ranks = 0;
  std::int64_t used_bytes = 0;  // of the whole device, with whatever else is there
  std::int64_t allocated_bytes = 0;
};

std::map<Device, DeviceUse> use_by_device(const analysis::RunFigures& figures) {
  std::map<Device, DeviceUse> devices;
  for (const auto& rank : figures.ranks) {
    DeviceUse& use = devices[device_of(rank.info)];
    ++use.ranks;
    // What a peak's sample tells of the device was asked before it.
    use.used_bytes =
        std::max({use.used_bytes, rank.peak.device_used_bytes, rank.now.device_used_bytes});
    use.allocated_bytes += rank.peak.allocated_bytes();
  }
  return devices;
}

// What a rank alone on its device, or a process, holds beyond its tensors; none: not known.
std::optional<std::int64_t> own_beyond_tensors(const model::MemorySample& peak) {
  if (!peak.knows(model::MemoryCategory::kOutside)) return std::nullopt;
  const std::int64_t cached =
      peak.reserved_bytes > 0 ? peak.reserved_bytes - peak.allocated_bytes() : 0;
  return peak.bytes[static_cast<std::size_t>(model::MemoryCategory::kOutside)] +
         std::max<std::int64_t>(cached, 0);
}

// The same of a rank that shares its GPU: an equal part, since nobody knows which rank holds what.
std::optional<std::int64_t> shared_beyond_tensors(const DeviceUse& gpu) {
  if (gpu.used_bytes <= 0) return std::nullopt;
  return std::max<std::int64_t>(gpu.used_bytes - gpu.allocated_bytes, 0) / gpu.ranks;
}

}  // namespace

RunFacts::RunFacts(const analysis::RunFigures& run_figures, const StepSample& step_sample,
                   const tuning::Predictor* run_predictor, std::string why_refused)
    : figures(run_figures),
      sample(step_sample),
      predictor(run_predictor),
      refused(std::move(why_refused)),
      typical_(median_step(run_figures.steps)),
      noticeable_ns_(smallest_worth(run_figures)),
      padded_width_(analysis::padded_width(run_figures)) {
  hosts_ = nodes_ = analysis::host_count(figures.ranks);
  const auto link = job::parse_simulated_link(settings().simulate_link);
  if (hosts_ == 1 && link && *link && (*link)->nodes > 0) nodes_ = static_cast<int>((*link)->nodes);
  measure_memory();
}

const job::Settings& RunFacts::settings() const {
  const bool are_told = predictor != nullptr && predictor->told();
  return are_told ? predictor->info().settings : figures.info.settings;
}

bool RunFacts::tells(std::string_view knob) const {
  if (predictor == nullptr || !predictor->told()) return false;
  const auto& told = predictor->told()->knobs;
  return std::ranges::find(told, knob, &job::Knob::name) != told.end();
}

Evidence RunFacts::in_typical_step(std::string what, int rank) const {
  return {
      .what = std::move(what), .step = typical_ == nullptr ? -1 : typical_->index, .rank = rank};
}

Evidence RunFacts::longest_call(const std::function<bool(std::string_view tag)>& counts,
                                const std::string& what) const {
  Evidence longest = in_typical_step(what);
  for (const SampledCall& call : sample.calls()) {
    if (call.end_ns - call.start_ns <= longest.end_ns - longest.start_ns || !counts(call.tag)) {
      continue;
    }
    longest = {what, call.step, call.rank, call.start_ns, call.end_ns};
  }
  return longest;
}

std::optional<job::Settings> RunFacts::with(const std::vector<KnobValue>& changes) const {
  job::Settings next = settings();
  for (const KnobValue& change : changes) {
    if (!job::set_value(next, change.knob, change.value)) return std::nullopt;
  }
  next.ranks = ranks();
  if (!job::problems_of(next).empty()) return std::nullopt;
  return next;
}

void RunFacts::measure_memory() {
  for (const auto& rank : figures.ranks) {
    if (rank.has_step_memory) peak_bytes_ = std::max(peak_bytes_, rank.peak.allocated_bytes());
  }
  usable_bytes_ = advice::usable_bytes(figures, ranks());
}

std::optional<predict::PlannedJob> RunFacts::job_of(const analysis::RankFigures& rank,
                                                    const job::Settings& settings) const {
  model::RunInfo changed = figures.info;
  changed.settings = settings;
  auto job = analysis::planned_job(rank, changed, nodes_);
  if (job) {
    job->padded_width = analysis::width_of_batch(
        padded_width_, figures.info.settings.batch_per_rank, settings.batch_per_rank);
  }
  return job;
}

std::optional<predict::PlannedJob> RunFacts::job(const job::Settings& settings) const {
  if (figures.ranks.empty() || ranks() % nodes_ != 0) return std::nullopt;
  return job_of(figures.ranks.front(), settings);
}

std::optional<std::int64_t> RunFacts::peak_bytes(const job::Settings& settings) const {
  std::int64_t highest = 0;
  for (const auto& rank : figures.ranks) {
    const auto before = job_of(rank, figures.info.settings), after = job_of(rank, settings);
    if (!before || !after || !rank.has_step_memory) return std::nullopt;
    const std::int64_t more =
        predict::predict_peak_bytes(*after) - predict::predict_peak_bytes(*before);
    highest = std::max(highest, rank.peak.allocated_bytes() + more);
  }
  return highest > 0 ? std::optional(highest) : std::nullopt;
}

std::optional<bool> RunFacts::fits(const job::Settings& settings) const {
  const auto peak = peak_bytes(settings);
  if (!peak || usable_bytes_ <= 0) return std::nullopt;
  return static_cast<double>(*peak) <= kFilled * static_cast<double>(usable_bytes_);
}

bool RunFacts::may_fit(const job::Settings& settings) const {
  return fits(settings) != false || peak_bytes(settings).value_or(0) <= peak_bytes_;
}

std::string time_words(double ns) { return base::format_duration(ns).text(); }

std::string percent_words(double fraction) { return base::format_percent(fraction).text(); }

std::string memory_words(std::int64_t more_bytes) {
  if (more_bytes == 0) return "";
  return base::bytes_text(std::abs(more_bytes)) + (more_bytes > 0 ? " more" : " less") +
         " per rank";
}

std::int64_t usable_bytes(const analysis::RunFigures& figures, std::int64_t ranks) {
  const auto recorded = static_cast<std::int64_t>(figures.ranks.size());
  const auto devices = use_by_device(figures);
  std::optional<std::int64_t> least;
  for (const auto& rank : figures.ranks) {
    const model::MemorySample& peak = rank.peak;
    const bool is_gpu = rank.info.device != "cpu";
    const bool shares_gpu = is_gpu && figures.info.shared_gpu;
    const DeviceUse& device = devices.at(device_of(rank.info));
    const auto beyond = shares_gpu ? shared_beyond_tensors(device) : own_beyond_tensors(peak);
    if (!rank.has_step_memory || peak.allocated_bytes() <= 0 || peak.device_total_bytes <= 0 ||
        !beyond) {
      continue;
    }
    // How many of `ranks` have this rank's device among them.
    const std::int64_t sharing =
        is_gpu && !shares_gpu
            ? 1
            : std::max<std::int64_t>((device.ranks * ranks + recorded - 1) / recorded, 1);
    const std::int64_t usable = peak.device_total_bytes / sharing - *beyond;
    least = std::min(least.value_or(usable), usable);
  }
  return least ? std::max<std::int64_t>(*least, 1) : 0;
}

std::optional<LatencyFit> fit_latency(
    const RunFacts& run,
    const std::function<bool(const analysis::CollectiveGroupFigures&)>& counts) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  double smallest = INFINITY, largest = 0;
  for (const auto& row : run.figures.collectives) {
    if (row.matched == 0 || row.bytes <= 0 || !counts(row)) continue;
    const auto weight = static_cast<double>(row.matched);
    const auto bytes = static_cast<double>(row.bytes);
    n += weight;
    x += weight * bytes;
    y += weight * row.transfer_ns;
    xx += weight * bytes * bytes;
    xy += weight * bytes * row.transfer_ns;
    smallest = std::min(smallest, bytes);
    largest = std::max(largest, bytes);
  }
  if (n == 0 || largest < 2 * smallest) return {};
  const double spread = n * xx - x * x;
  if (spread <= 0) return {};
  LatencyFit fit;
  fit.ns_per_byte = (n * xy - x * y) / spread;
  fit.latency_ns = (y - fit.ns_per_byte * x) / n;
  if (fit.ns_per_byte <= 0 || fit.latency_ns <= 0) return {};
  return fit;
}

}  // namespace shardlens::trace::advice
