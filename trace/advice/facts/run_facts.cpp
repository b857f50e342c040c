#include "trace/advice/facts/run_facts.h"

#include <algorithm>
#include <utility>

#include "trace/advice/facts/usable_memory.h"
#include "trace/analysis/figures/memory_figures.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/analysis/noise/mean_estimate.h"
#include "trace/analysis/noise/student_t.h"
#include "trace/job/settings/schedule.h"
#include "trace/predict/memory/memory_model.h"

namespace shardlens::trace::advice {

namespace {

constexpr double kNoticeable = 0.01;  // of a step
constexpr double kMissed = 0.05;      // of a 95 % interval
constexpr double kFilled = 0.9;       // of usable memory

// Of those with detail, if there are any: a step without shows its time and its memory.
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
  if (!mean || !mean->has_error()) return share;
  const double half =
      analysis::student_t_quantile(kMissed, mean->degrees_of_freedom) * mean->standard_error;
  return std::max(share, half);
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

}  // namespace shardlens::trace::advice
