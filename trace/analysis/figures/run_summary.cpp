#include "trace/analysis/figures/run_summary.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string_view>

#include "trace/analysis/figures/distribution.h"
#include "trace/analysis/figures/memory_figures.h"
#include "trace/base/text.h"
#include "trace/job/shape/strategy.h"
#include "trace/model/run_info.h"
#include "trace/model/traffic.h"
#include "trace/predict/sizes/model_units.h"

namespace shardlens::trace::analysis {

namespace {

// The mean over ranks of one member of their breakdowns.
template <typename Value>
double mean_over_ranks(const StepFigures& step, Value StepBreakdown::*member) {
  double sum = 0;
  for (const auto& rank : step.ranks) sum += static_cast<double>(rank.*member);
  return sum / step.rank_count();
}

// Nothing once any is not known.
void add_told(std::optional<double>& sum, const std::optional<std::int64_t>& next) {
  sum = sum && next ? std::optional(*sum + static_cast<double>(*next)) : std::nullopt;
}

using PhaseSums = std::array<double, base::kPhaseCount>;

void add_phases(const StepFigures& step, PhaseSums& sums) {
  for (std::size_t phase = 0; phase < sums.size(); ++phase) {
    double sum = 0;
    for (const auto& rank : step.ranks) sum += static_cast<double>(rank.phase_ns[phase]);
    sums[phase] += sum / step.rank_count();
  }
}

// Our own ranks mark every phase. Of another program we know only the phases that occur in some
// step, and what those leave of the step.
void set_phases(const model::RunInfo& info, const PhaseSums& sums, RunSummary& summary) {
  if (summary.steps_measured == 0) return;
  constexpr auto kRest = static_cast<std::size_t>(base::Phase::kOther);
  bool any = model::has_settings(info);
  for (std::size_t phase = 0; phase < sums.size(); ++phase) {
    if (phase == kRest || (sums[phase] == 0 && !model::has_settings(info))) continue;
    summary.phase_ns[phase] = sums[phase] / static_cast<double>(summary.steps_measured);
    any = true;
  }
  if (any) summary.phase_ns[kRest] = sums[kRest] / static_cast<double>(summary.steps_measured);
}

struct DetailMember {
  double RunSummary::*mean;
  std::int64_t StepBreakdown::*part;
};
constexpr DetailMember kDetailMembers[] = {
    {&RunSummary::compute_ns, &StepBreakdown::compute_ns},
    {&RunSummary::comm_ns, &StepBreakdown::comm_ns},
    {&RunSummary::overlap_ns, &StepBreakdown::overlap_ns},
    {&RunSummary::exposed_ns, &StepBreakdown::exposed_ns},
    {&RunSummary::optimizer_compute_ns, &StepBreakdown::optimizer_compute_ns},
    {&RunSummary::copy_ns, &StepBreakdown::copy_ns},
    {&RunSummary::exposed_copy_ns, &StepBreakdown::exposed_copy_ns},
    {&RunSummary::idle_ns, &StepBreakdown::idle_ns},
};

using Waiting = StepFigures::Waiting;

// Nothing once any is not known.
void add_waiting(std::optional<Waiting>& sum, const std::optional<Waiting>& next) {
  if (!next) sum.reset();
  if (sum) sum->add(*next);
}

std::optional<Waiting> mean_waiting(const StepFigures& step) {
  std::optional<Waiting> sum = Waiting{};
  for (std::size_t rank = 0; rank < step.ranks.size(); ++rank) {
    if (step.ranks[rank].step_ns > 0) add_waiting(sum, step.waiting_of(rank));
  }
  if (!sum) return std::nullopt;
  return Waiting{sum->ns / step.rank_count(), sum->error_ns / step.rank_count()};
}

// Into `figures`, of a run or of a rank.
void set_waiting(auto& figures, const std::optional<Waiting>& sum, double steps) {
  if (steps == 0) return;
  figures.wait_doubt = sum ? sum->doubt() : WaitDoubt::kRecordsMissing;
  const auto believed = sum ? sum->believed_ns() : std::nullopt;
  if (believed) figures.exposed_wait_ns = *believed / steps;
}

// The row of figures that only steps with full detail have.
void summarize_detail(const std::vector<StepFigures>& steps, RunSummary& summary) {
  double count = 0;
  std::optional<double> bytes_sent = 0;
  std::optional<Waiting> waiting = Waiting{};
  for (const auto& step : steps) {
    if (!is_measured(step) || !has_detail(step)) continue;
    ++count;
    add_waiting(waiting, mean_waiting(step));
    summary.detailed_step_ns += mean_over_ranks(step, &StepBreakdown::step_ns);
    for (const auto& [mean, part] : kDetailMembers) {
      summary.*mean += mean_over_ranks(step, part);
    }
    for (const auto& rank : step.ranks) {
      bytes_sent = bytes_sent && rank.bytes_sent
                       ? std::optional(*bytes_sent + *rank.bytes_sent / step.rank_count())
                       : std::nullopt;
    }
  }
  if (count == 0) return;
  summary.steps_detailed = static_cast<std::int64_t>(count);
  summary.detailed_step_ns /= count;
  for (const auto& member : kDetailMembers) summary.*member.mean /= count;
  summary.has_detail = true;
  set_waiting(summary, waiting, count);
  if (bytes_sent) summary.bytes_sent_per_step = *bytes_sent / count;
  if (summary.comm_ns > 0) summary.overlap_fraction = summary.overlap_ns / summary.comm_ns;
}

// What each rank can do at most in a second: ranks that share a GPU share its peak.
std::vector<double> attainable_flops(const model::RunInfo& info,
                                     const std::vector<RankFigures>& ranks) {
  std::vector<double> attainable;
  for (const RankFigures& rank : ranks) {
    const auto is_on_same_device = [&](const RankFigures& other) {
      return other.info.is_on_device_of(rank.info);
    };
    const auto sharing = info.shared_gpu ? std::ranges::count_if(ranks, is_on_same_device) : 1;
    attainable.push_back(rank.info.peak_flops / static_cast<double>(sharing));
  }
  return attainable;
}

// Flops done ÷ flops possible in the time of all ranks' measured steps.
std::optional<double> model_flops_utilization(const model::RunInfo& info,
                                              const std::vector<StepFigures>& steps,
                                              const std::vector<RankFigures>& ranks) {
  const std::vector<double> attainable = attainable_flops(info, ranks);
  std::optional<double> done = 0;
  double possible = 0;
  for (const auto& step : steps) {
    if (!is_measured(step)) continue;
    add_told(done, step.model_flops);
    for (std::size_t rank = 0; rank < step.ranks.size(); ++rank) {
      const double peak = rank < attainable.size() ? attainable[rank] : 0;
      if (!(peak > 0)) return std::nullopt;
      possible += peak * static_cast<double>(step.ranks[rank].step_ns) / 1e9;
    }
  }
  if (!done || possible <= 0) return std::nullopt;
  return *done / possible;
}

// "blocks.3.mlp" is, as a part of its block; "blocks.3" is not.
bool is_recomputed(const job::Settings& settings, std::string_view unit) {
  constexpr std::string_view kBlocks = "blocks.";
  if (settings.activation_checkpointing <= 0 || !unit.starts_with(kBlocks)) return false;
  unit.remove_prefix(kBlocks.size());
  std::int64_t block = 0;
  const auto [end, error] = std::from_chars(unit.data(), unit.data() + unit.size(), block);
  return error == std::errc{} && end != unit.data() + unit.size() && *end == '.' &&
         block % settings.activation_checkpointing == 0;
}

bool frees_after_forward(const job::Settings& settings) {
  return job::strategy_traits(settings.sharding_strategy).frees_after_forward;
}

// How often each unit is gathered in a micro-batch that has freed it after forward: for backward,
// but the root, and for a second forward. With adapters some units have no backward, and some
// blocks no second forward, which the model's shape tells. None: that is not known.
std::optional<std::vector<int>> gathers_in_backward(const model::RunInfo& info,
                                                    const std::vector<UnitFigures>& units,
                                                    const std::vector<RankFigures>& ranks) {
  const auto count = [](const UnitFigures& unit, bool has_backward, bool is_again) {
    return (unit.index != 0 && has_backward ? 1 : 0) + (is_again ? 1 : 0);
  };
  std::vector<int> gathers;
  for (const UnitFigures& unit : units) {
    gathers.push_back(count(unit, true, is_recomputed(info.settings, unit.name)));
  }
  if (info.settings.lora_rank == 0 || !frees_after_forward(info.settings)) return gathers;
  std::optional<predict::PlannedJob> job;
  for (const RankFigures& rank : ranks) {
    if (!job) job = planned_job(rank, info);
  }
  if (!job) return std::nullopt;
  const auto planned = predict::model_units(job->shape, job->settings,
                                            predict::model_sizes(job->shape, job->settings));
  if (planned.size() != units.size()) return std::nullopt;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    gathers[i] = count(units[i], planned[i].has_backward, planned[i].is_recomputed);
  }
  return gathers;
}

// How often a step gathers a unit that one backward gathers `in_backward` times.
double gathers_per_step(const job::Settings& settings, int in_backward) {
  const auto micro_batches = static_cast<double>(settings.gradient_accumulation_steps);
  if (frees_after_forward(settings)) return (1 + in_backward) * micro_batches;
  // What was gathered stays until gradients are reduced.
  return settings.sync_each_batch ? micro_batches : 1;
}

std::optional<double> unit_bytes_sent(const model::RunInfo& info,
                                      const std::vector<UnitFigures>& units,
                                      const std::vector<RankFigures>& ranks) {
  const auto in_backward = gathers_in_backward(info, units, ranks);
  if (!in_backward) return std::nullopt;
  const job::Settings& settings = info.settings;
  const double reductions =
      settings.sync_each_batch ? static_cast<double>(settings.gradient_accumulation_steps) : 1;
  double sent = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const UnitFigures& unit = units[i];
    const int shards = std::max(unit.shard_count, 1);
    const auto bytes = static_cast<double>(unit.bytes);
    const auto reduced = static_cast<double>(unit.reduced_bytes);
    sent += gathers_per_step(settings, (*in_backward)[i]) * bytes *
            model::sent_factor(model::CollectiveFunction::kAllGather, shards);
    sent += reductions * reduced *
            model::sent_factor(model::CollectiveFunction::kReduceScatter, shards);
    sent += reductions * reduced / shards *
            model::sent_factor(model::CollectiveFunction::kAllReduce, info.world_size / shards);
  }
  return sent;
}

std::optional<double> known(double loss) {
  return std::isnan(loss) ? std::nullopt : std::optional(loss);
}

// Of the last step whose loss was read; none if that was not a number.
std::optional<double> last_loss(const std::vector<StepFigures>& steps) {
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (!std::isnan(step->loss) || step->nonfinite) return known(step->loss);
  }
  return std::nullopt;
}

}  // namespace

bool is_measured(const StepFigures& step) {
  return step.complete && !step.warmup && !step.ranks.empty();
}

bool has_detail(const StepFigures& step) {
  return !step.ranks.empty() && std::ranges::all_of(step.ranks, [](const auto& rank) {
    return rank.has_detail || rank.step_ns == 0;
  });
}

bool has_measured_detail(const std::vector<StepFigures>& steps) {
  return std::any_of(steps.begin(), steps.end(),
                     [](const auto& step) { return is_measured(step) && has_detail(step); });
}

bool has_nonfinite_loss(const StepFigures& step) {
  return step.nonfinite && !std::isfinite(step.loss);
}

const StepFigures* first_nonfinite(const std::vector<StepFigures>& steps) {
  const auto first = std::ranges::find_if(steps, &StepFigures::nonfinite);
  return first == steps.end() ? nullptr : &*first;
}

std::vector<double> measured_step_times(const std::vector<StepFigures>& steps) {
  std::vector<double> times;
  for (const auto& step : steps) {
    if (is_measured(step)) times.push_back(mean_over_ranks(step, &StepBreakdown::step_ns));
  }
  return times;
}

RunSummary summarize(const model::RunInfo& info, const std::vector<StepFigures>& steps,
                     const std::vector<RankFigures>& ranks) {
  RunSummary summary;
  summary.steps_executed = static_cast<std::int64_t>(steps.size());
  if (!steps.empty()) summary.last_step = steps.back().index;
  if (model::has_settings(info)) {
    summary.effective_batch =
        info.settings.batch_per_rank * info.settings.gradient_accumulation_steps * info.world_size;
  }
  std::vector<double> times = measured_step_times(steps);
  // Of all ranks: not known where those of some lie in files that cannot be read.
  std::optional<double> tokens, samples;
  if (info.unreadable.empty()) tokens = samples = 0;
  PhaseSums phases{};
  const double time_ns = std::accumulate(times.begin(), times.end(), 0.0);
  for (const auto& step : steps) {
    if (!is_measured(step)) continue;
    add_told(tokens, step.tokens);
    add_told(samples, step.samples);
    add_phases(step, phases);
  }
  summary.steps_measured = static_cast<std::int64_t>(times.size());
  set_phases(info, phases, summary);
  summary.step_ns = distribution_of(std::move(times));
  if (time_ns > 0 && tokens) summary.tokens_per_s = *tokens / time_ns * 1e9;
  if (time_ns > 0 && samples) summary.samples_per_s = *samples / time_ns * 1e9;
  summarize_detail(steps, summary);
  summary.mfu = model_flops_utilization(info, steps, ranks);
  // Without communication ranks train apart: their losses say nothing.
  if (!steps.empty() && !info.communication_off) {
    if (steps.front().index == 0) summary.loss_first = known(steps.front().loss);
    summary.loss_last = last_loss(steps);
  }
  return summary;
}

std::int64_t gradient_bytes_per_value(const std::vector<BucketFigures>& buckets,
                                      std::int64_t parameters) {
  double bytes = 0;
  for (const auto& bucket : buckets) bytes += static_cast<double>(bucket.bytes);
  // Buckets have no padding, so bytes ÷ parameters is a whole number unless some are frozen.
  const double measured = parameters > 0 ? bytes / static_cast<double>(parameters) : 0;
  if (measured > 1.5 && measured < 8.5) return std::llround(measured);
  return 4;
}

std::optional<double> theoretical_bytes_sent(const model::RunInfo& info,
                                             const std::vector<BucketFigures>& buckets,
                                             const std::vector<UnitFigures>& units,
                                             std::int64_t bytes_per_value,
                                             const std::vector<RankFigures>& ranks) {
  // How often units are gathered, and whether a hook halves buckets, settings tell.
  if (!model::has_settings(info)) return std::nullopt;
  if (info.communication_off) return 0.0;
  if (!units.empty()) return unit_bytes_sent(info, units, ranks);
  if (buckets.empty() || info.world_size < 1) return std::nullopt;
  double bytes = 0;
  for (const auto& bucket : buckets) bytes += static_cast<double>(bucket.bytes);
  const double updated =
      info.settings.sharding_strategy == job::Strategy::kZero1
          ? bytes * model::sent_factor(model::CollectiveFunction::kBroadcast, info.world_size)
          : 0;
  if (info.settings.communication_hook != job::CommunicationHook::kNone && bytes_per_value > 2) {
    bytes *= 2.0 / static_cast<double>(bytes_per_value);
  }
  if (info.settings.sync_each_batch) {
    bytes *= static_cast<double>(info.settings.gradient_accumulation_steps);
  }
  return bytes * model::sent_factor(model::CollectiveFunction::kAllReduce, info.world_size) +
         updated;
}

std::string why_bytes_sent_unknown(const RunFigures& figures) {
  if (!figures.summary.has_detail || figures.summary.bytes_sent_per_step) return "";
  std::vector<std::string> untold;
  const auto tells_nothing = [](const CollectiveGroupFigures& row) {
    return row.function == model::CollectiveFunction::kOther && row.tag.empty();
  };
  if (std::ranges::any_of(figures.collectives, tells_nothing)) {
    return "what some of its collectives did was not recorded, as of those that were launched "
           "before the profiler started";
  }
  for (const CollectiveGroupFigures& row : figures.collectives) {
    const bool sends = model::sent_factor(row.function, 2) > 0;
    if (sends && row.bytes == model::kNotKnown) untold.emplace_back(model::to_string(row.function));
  }
  std::ranges::sort(untold);
  untold.erase(std::ranges::unique(untold).begin(), untold.end());
  if (untold.empty()) return "how much some of its collectives moved was not recorded";
  return "how much each " + base::joined(untold) +
         " moved was not recorded; PyTorch's profiler does with record_shapes=True";
}

void set_rank_means(const std::vector<StepFigures>& steps, std::vector<RankFigures>& ranks) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    double time = 0, exposed = 0;
    double count = 0, detailed = 0;
    std::optional<Waiting> waiting = Waiting{};
    for (const auto& step : steps) {
      if (!is_measured(step) || rank >= step.ranks.size()) continue;
      if (step.ranks[rank].step_ns == 0) continue;
      ++count;
      time += static_cast<double>(step.ranks[rank].step_ns);
      if (!has_detail(step)) continue;
      ++detailed;
      exposed += static_cast<double>(step.ranks[rank].exposed_ns);
      add_waiting(waiting, step.waiting_of(rank));
    }
    ranks[rank].step_ns = count > 0 ? time / count : 0;
    ranks[rank].exposed_ns = detailed > 0 ? exposed / detailed : 0;
    ranks[rank].exposed_wait_ns.reset();
    set_waiting(ranks[rank], waiting, detailed);
  }
}

std::string_view to_text(WaitDoubt doubt) {
  static constexpr std::array<std::string_view, 4> kTexts{
      "",
      "not all other ranks' calls were recorded, or nothing tells which they are, as of sends and "
      "receives",
      "the hosts' clocks may be as far apart",
      "nothing tells how far the hosts' clocks are apart, as no all-reduce or the like connects "
      "them"};
  return base::enum_name<WaitDoubt::kClocksUnknown>(kTexts, doubt);
}

}  // namespace shardlens::trace::analysis
