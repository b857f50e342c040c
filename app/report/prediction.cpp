#include "app/report/prediction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "trace/analysis/figures/memory_figures.h"
#include "trace/analysis/noise/mean_estimate.h"
#include "trace/analysis/noise/student_t.h"
#include "trace/analysis/run/run_analysis.h"
#include "trace/job/schedule.h"
#include "trace/job/settings/settings.h"
#include "trace/model/acting_settings.h"
#include "trace/model/run_origin.h"
#include "trace/store/read/run_reader.h"
#include "ui/present/format.h"

namespace shardlens::app::report {
namespace {

using trace::base::ErrorKind;
using trace::base::Result;
using trace::job::Settings;
using trace::predict::DdpSchedule;
using trace::predict::RecordedStep;

constexpr std::array<std::string_view, 4> kPredicted{"bucket_cap_mb", "first_bucket_mb",
                                                     "overlap_comm", "simulate_link"};
constexpr double kBytesPerMib = 1024.0 * 1024.0;
constexpr double kMiss = 0.05;  // of a 95 % interval
// Of each overlapped nanosecond of communication, how much longer computation takes: nothing where
// cores are idle, all of it where ranks need them. One run does not tell which.
constexpr double kContention = 0.5, kContentionRange = 0.5;
constexpr double kExtrapolated = 0.1;  // of the change, where transfers of such sizes were not seen
constexpr std::size_t kLeastSteps = 4;

Settings acting(trace::model::RunInfo info, const Settings& settings) {
  info.settings = settings;
  return trace::model::acting_settings(info, {});
}

Result<void> check_run(const trace::model::RunInfo& info) {
  const auto refuse = [](const std::string& why) {
    return trace::base::fail(ErrorKind::kUsage, why);
  };
  if (!trace::model::has_settings(info)) {
    return refuse(
        "The run was recorded from another program, whose settings are not known. Name a "
        "run that Shardlens trained.");
  }
  const Settings& s = info.settings;
  if (s.sharding_strategy != trace::job::Strategy::kDdp) {
    return refuse(
        "Only runs with sharding_strategy: ddp can be predicted from so far; this one has " +
        trace::job::chosen<&Settings::sharding_strategy>(s) + ".");
  }
  if (info.device == "cuda") {
    return refuse("When gradients are ready on a GPU is not recorded yet. Name a run on the CPU.");
  }
  if (info.world_size < 2) return refuse("One rank reduces nothing. Name a run with several.");
  if (s.communication == trace::job::Communication::kNone) {
    return refuse("The run reduced nothing (communication: none), so it tells no cost.");
  }
  if (s.find_unused_parameters) {
    return refuse(
        "With find_unused_parameters buckets are not in the order in which gradients "
        "come, which a prediction needs. Record one without.");
  }
  if (s.sync_each_batch) {
    return refuse("Runs with sync_each_batch cannot be predicted from so far.");
  }
  return {};
}

struct Change {
  Settings next;
  std::vector<std::string> texts;
};

Result<Change> change_of(const trace::model::RunInfo& info,
                         const std::vector<std::string>& assignments) {
  Change change{info.settings, {}};
  for (const std::string& assignment : assignments) {
    TRY(trace::job::set_assignment(change.next, assignment));
  }
  TRY(trace::job::validate(change.next));
  const Settings before = acting(info, info.settings), after = acting(info, change.next);
  for (const trace::job::Knob* knob : trace::job::differing_knobs(before, after)) {
    if (std::ranges::find(kPredicted, knob->name) == kPredicted.end()) {
      return trace::base::fail(ErrorKind::kUsage,
                               "What " + std::string(knob->name) +
                                   " does cannot be predicted from a recorded run so far; "
                                   "bucket_cap_mb, first_bucket_mb, overlap_comm and "
                                   "simulate_link can.");
    }
    change.texts.push_back(std::string(knob->name) + "=" + value_text(after, *knob));
  }
  return change;
}

trace::predict::BucketCaps caps_of(const Settings& s) {
  const auto bytes = [](double mib) { return static_cast<std::int64_t>(mib * kBytesPerMib); };
  return {bytes(trace::model::first_bucket_mb(s.first_bucket_mb, s.bucket_cap_mb)),
          bytes(s.bucket_cap_mb)};
}

// docs/NUMBERS.md, "A simulated link": an all-reduce of n ranks.
double link_ns(const Settings& s, int ranks, double bytes) {
  const auto link = trace::job::parse_simulated_link(s.simulate_link);
  if (!link || !*link) return 0;
  const double factor = 2.0 * (ranks - 1) / ranks;
  return (*link)->latency_us * 1e3 + 8 * bytes * factor / (*link)->gbps;
}

// Costs of the run's reductions, on its link or another one.
class Reductions {
 public:
  Reductions(const trace::model::RunInfo& info, trace::predict::TransferCosts costs)
      : info_(info), costs_(std::move(costs)) {}

  double of(const Settings& s, double gradient_bytes) {
    const bool halves = s.communication_hook != trace::job::CommunicationHook::kNone;
    const double bytes = halves ? gradient_bytes / 2 : gradient_bytes;
    const auto cost = costs_.of(bytes);
    if (!cost) {
      unknown_bytes_ = std::max(unknown_bytes_, bytes);
      return 0;
    }
    is_extrapolated_ = is_extrapolated_ || cost->is_extrapolated;
    spread_ns_ = std::max(spread_ns_, cost->spread_ns);
    const double before = link_ns(info_.settings, info_.world_size, bytes);
    const double after = link_ns(s, info_.world_size, bytes);
    // A simulated link's time is a lower bound: what a transfer took beyond it stays.
    return before > 0 ? std::max(0.0, cost->ns - before) + after : std::max(cost->ns, after);
  }
  double unknown_bytes() const { return unknown_bytes_; }  // 0: all were known
  bool is_extrapolated() const { return is_extrapolated_; }
  double spread_ns() const { return spread_ns_; }

 private:
  const trace::model::RunInfo& info_;
  trace::predict::TransferCosts costs_;
  double unknown_bytes_ = 0, spread_ns_ = 0;
  bool is_extrapolated_ = false;
};

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double mean_step_ns(const RecordedStep& step) {
  double sum = 0;
  for (const auto& rank : step.ranks) sum += static_cast<double>(rank.end_ns - rank.start_ns);
  return sum / static_cast<double>(step.ranks.size());
}

std::int64_t start_of(const RecordedStep& step) {
  return std::ranges::min_element(step.ranks, {}, &trace::predict::RankStep::start_ns)->start_ns;
}

std::string span_text(std::int64_t ns) {
  return ui::present::format_duration(static_cast<double>(ns)).text();
}

// The chain that ends backward: transfers one after another, from the first that waits for nothing
// but its own gradients.
std::string bound_of(const DdpSchedule& schedule, std::int64_t start_ns) {
  const auto& buckets = schedule.buckets;
  std::size_t first = buckets.size() - 1;
  while (first > 0 && buckets[first].start_ns > buckets[first].ready_ns) --first;
  const auto name = [&](std::size_t i) {
    return "bucket " + std::to_string(i) + " (" +
           ui::present::format_bytes(static_cast<double>(buckets[i].bytes)).text() + ")";
  };
  const std::int64_t behind = buckets.back().end_ns - buckets.back().ready_ns;
  const std::string ready = span_text(buckets[first].ready_ns - start_ns);
  if (first == buckets.size() - 1) {
    return "Backward ends with " + name(first) + ": its last gradient is ready " + ready +
           " after the step's begin, and its reduction takes " + span_text(behind) + ".";
  }
  return "From " + name(first) + " on, ready " + ready +
         " after the step's begin, reductions follow one another without a gap; the last one, " +
         name(buckets.size() - 1) + ", ends " + span_text(behind) + " after its last gradient.";
}

std::optional<std::int64_t> estimated_bytes(const trace::analysis::RankFigures& rank,
                                            const trace::model::RunInfo& info) {
  const auto estimate = trace::analysis::estimate_memory(rank, info);
  std::int64_t sum = 0;
  for (const std::int64_t bytes : estimate.at_peak) sum += bytes;
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

void add_memory(const trace::analysis::RunFigures& figures, const Settings& next,
                Prediction& prediction) {
  trace::model::RunInfo changed = figures.info;
  changed.settings = next;
  for (const auto& rank : figures.ranks) {
    const auto before = estimated_bytes(rank, figures.info), after = estimated_bytes(rank, changed);
    const std::int64_t measured = rank.peak.allocated_bytes();
    if (!before || !after || measured <= 0) continue;
    prediction.recorded_peak_bytes = std::max(prediction.recorded_peak_bytes.value_or(0), measured);
    prediction.peak_bytes =
        std::max(prediction.peak_bytes.value_or(0), measured + *after - *before);
  }
}

struct Recording {
  trace::analysis::RunFigures figures;
  trace::predict::RecordedSteps steps;
};

Result<Recording> read(const std::filesystem::path& run) {
  TRY_ASSIGN(const auto reader, trace::store::RunReader::open(run));
  TRY_ASSIGN(const auto info, reader->info());
  TRY(check_run(info));
  trace::analysis::RunAnalysis analysis(info);
  Recording recording;
  TRY_ASSIGN(const auto problems,
             trace::store::read_everything(*reader, [&](const trace::model::Batch& batch) {
               analysis.add(batch);
               recording.steps.learn(batch);
             }));
  if (!problems.empty()) return trace::base::fail(ErrorKind::kUsage, problems.front());
  recording.figures = analysis.figures();
  return recording;
}

Result<void> check_hosts(const trace::analysis::RunFigures& figures) {
  std::set<std::string> hosts;
  for (const auto& rank : figures.ranks) hosts.insert(rank.info.host);
  if (hosts.size() < 2) return {};
  return trace::base::fail(ErrorKind::kUsage,
                           "The run's ranks have the clocks of several machines, which are not "
                           "near enough to each other to tell transfers. Name a run on one.");
}

}  // namespace

Result<Prediction> predict_run(const std::filesystem::path& run,
                               const std::vector<std::string>& assignments) {
  TRY_ASSIGN(const Recording recording, read(run));
  const trace::analysis::RunFigures& figures = recording.figures;
  const trace::model::RunInfo& info = figures.info;
  TRY(check_hosts(figures));
  TRY_ASSIGN(Change change, change_of(info, assignments));
  const auto gradients = recording.steps.gradient_bytes();
  const auto steps = recording.steps.steps(info.world_size, info.settings.skip_steps);
  if (steps.size() < kLeastSteps) {
    return trace::base::fail(
        ErrorKind::kUsage,
        "A prediction needs at least " + std::to_string(kLeastSteps) +
            " steps after skip_steps with full detail and all of their records; this run has " +
            std::to_string(steps.size()) + ". Record one with record: every step.");
  }
  Reductions reductions(info, recording.steps.costs());
  const auto plan_of = [&](const Settings& s) {
    return trace::predict::DdpPlan{caps_of(s), s.overlap_comm,
                                   [&](double bytes) { return reductions.of(s, bytes); }};
  };
  Prediction prediction;
  std::vector<double> series, shifts, overlaps;
  std::vector<DdpSchedule> schedules;
  for (const RecordedStep& step : steps) {
    // What the model leaves out is left out of both.
    const auto before = schedule_ddp(step, gradients, plan_of(info.settings));
    schedules.push_back(schedule_ddp(step, gradients, plan_of(change.next)));
    shifts.push_back(
        static_cast<double>(schedules.back().backward_end_ns - before.backward_end_ns));
    overlaps.push_back(static_cast<double>(schedules.back().overlapped_ns - before.overlapped_ns));
    series.push_back(mean_step_ns(step) + shifts.back() + kContention * overlaps.back());
    prediction.recorded_step_ns += mean_step_ns(step) / static_cast<double>(steps.size());
  }
  if (reductions.unknown_bytes() > 0) {
    return trace::base::fail(
        ErrorKind::kUsage, "The run moved no sizes near " +
                               ui::present::format_bytes(reductions.unknown_bytes()).text() +
                               ", so what that takes is not known. Name a run with other buckets.");
  }
  const auto estimate = *trace::analysis::estimate_mean(series);
  const double shift = mean_of(shifts), overlap = mean_of(overlaps);
  prediction.step_ns = estimate.mean;
  if (estimate.has_error()) {
    const double t = trace::analysis::student_t_quantile(kMiss, estimate.degrees_of_freedom);
    const double unsure = reductions.is_extrapolated() ? kExtrapolated * std::abs(shift) : 0;
    const double half = std::hypot(t * estimate.standard_error, reductions.spread_ns(), unsure) +
                        kContentionRange * std::abs(overlap);
    prediction.interval = {estimate.mean - half, estimate.mean + half};
  }
  if (figures.summary.has_detail) {
    prediction.recorded_exposed_ns = figures.summary.exposed_ns;
    prediction.exposed_ns = std::max(0.0, figures.summary.exposed_ns + shift);
  }
  add_memory(figures, change.next, prediction);
  std::vector<std::size_t> order(series.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return series[i]; });
  const std::size_t typical = order[order.size() / 2];
  prediction.step = steps[typical].index;
  prediction.step_start_ns = start_of(steps[typical]);
  prediction.schedule = std::move(schedules[typical]);
  prediction.bound = bound_of(prediction.schedule, prediction.step_start_ns);
  prediction.steps = static_cast<std::int64_t>(steps.size());
  prediction.info = info;
  prediction.changes = std::move(change.texts);
  if (overlap != 0) {
    prediction.notes.push_back(
        "How much overlapping communication slows computation is not known from one run: the "
        "interval spans from nothing to all of its time.");
  }
  if (reductions.is_extrapolated()) {
    prediction.notes.push_back(
        "Some buckets are smaller or larger than any that the run reduced: what they take is "
        "extrapolated.");
  }
  return prediction;
}

}  // namespace shardlens::app::report
