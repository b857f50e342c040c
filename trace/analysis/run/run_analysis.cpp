#include "trace/analysis/run/run_analysis.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>

#include "trace/analysis/collectives/collective_statistics.h"
#include "trace/analysis/collectives/exposed_time.h"
#include "trace/analysis/collectives/plan_figures.h"
#include "trace/analysis/collectives/process_groups.h"
#include "trace/analysis/collectives/recent_collectives.h"
#include "trace/analysis/figures/evaluation_table.h"
#include "trace/analysis/figures/labels.h"
#include "trace/analysis/figures/memory_figures.h"
#include "trace/analysis/figures/recording_cost.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/analysis/figures/throttling.h"
#include "trace/analysis/steps/device_progress.h"
#include "trace/analysis/steps/joined_steps.h"
#include "trace/analysis/steps/rank_activity.h"
#include "trace/job/settings/settings.h"
#include "trace/model/gpu_counter_names.h"
#include "trace/model/run_info.h"
#include "trace/model/traffic.h"
#include "trace/model/untold.h"

namespace shardlens::trace::analysis {

namespace {

constexpr int kMostUnannouncedRanks = 1024;  // when the run does not say how many it has
constexpr std::int64_t kMostPerStep = std::int64_t{1} << 40;  // tokens or samples of a rank

bool is_plausible(const model::Step& step) {
  const auto is_possible = [](std::int64_t value, std::int64_t most) {
    return value == model::kNotKnown || (value >= 0 && value <= most);
  };
  return is_possible(step.tokens, kMostPerStep) && is_possible(step.samples, kMostPerStep) &&
         is_possible(step.model_flops, INT64_MAX);
}

// The rank that wrote a batch, if the batch says what that rank does now, "nothing" included.
std::optional<int> rank_that_wrote(const model::Batch& batch) {
  if (batch.heartbeat) return batch.heartbeat->rank;
  if (batch.cost) return batch.cost->rank;
  if (batch.rank_info) return batch.rank_info->rank;
  if (!batch.pending->empty()) return batch.pending->front().rank;
  if (!batch.collectives.empty()) return batch.collectives.front().rank;
  if (!batch.steps.empty()) return batch.steps.front().rank;
  if (!batch.spans.empty()) return batch.spans.front().rank;
  return std::nullopt;
}

}  // namespace

struct RunAnalysis::State {
  struct RankState {
    RankActivity activity;
    RecentCollectives recent;
    RankFigures figures;  // memory, heartbeat, pending and info; the rest is put in on request
    ThrottledTimes throttled;
    bool has_steps = false;
    bool is_closed = false;  // see model::kClosedInOrder
  };

  explicit State(model::RunInfo run_info)
      : info(std::move(run_info)), steps(info.settings.skip_steps) {}

  model::RunInfo info;
  model::StringTable strings;
  std::deque<RankState> ranks;  // by rank; a deque, since growing must not copy
  JoinedSteps steps;
  std::size_t ranks_with_steps = 0;
  CollectiveStatistics collectives;
  RowExposure exposure;
  ExposureSplit split;
  ProcessGroups groups;
  BucketTable buckets;
  UnitTable units;
  EvaluationTable evaluations;
  RecorderReports recorder;
  std::int64_t ignored_rows = 0;
  bool expects_more = false;  // whatever the run's status

  void add_ranks(std::size_t count);
  void adopt_world_size();
  RankState* rank_of(int rank);  // null: no such rank
  void add_texts_and_groups(const model::Batch& batch);
  void add_present(const model::Batch& batch);
  void add_memory_and_losses(const model::Batch& batch);
  void add_clock_limits(const model::Batch& batch);
  void add_steps(const std::vector<model::Step>& rows);
  bool takes(const model::Step& step);
  void add_collective(const model::Collective& collective);
  void note_strings(const std::vector<model::InternedString>& rows);
  bool more_follows() const;
  bool was_interrupted() const;
  bool lacks_end() const;
  void recompute();
  RankFigures figures_of(const RankState& rank) const;
};

void RunAnalysis::State::add_ranks(std::size_t count) {
  while (ranks.size() < count) {
    const int rank = static_cast<int>(ranks.size());
    ranks.emplace_back().figures.info.rank = rank;
  }
}

void RunAnalysis::State::adopt_world_size() {
  // Ranks that were announced are shown before their file appears.
  const auto announced = std::clamp(info.world_size, 0, kMostUnannouncedRanks);
  add_ranks(static_cast<std::size_t>(announced));
  steps.set_rank_count(ranks.size());
  const int recorded = info.recorded_ranks > 0 ? info.recorded_ranks : info.world_size;
  const auto expected = recorded > 0 ? static_cast<std::size_t>(recorded) : ranks.size();
  // In a program that was not written for us some processes use a GPU but train no steps: once it
  // has ended, a step is complete without them.
  const bool has_all = !info.imported_from.empty() && info.status != model::RunStatus::kRunning;
  steps.set_world_size(has_all ? std::min(expected, ranks_with_steps) : expected);
}

auto RunAnalysis::State::rank_of(int rank) -> RankState* {
  const int limit =
      info.world_size > 0 ? std::min(info.world_size, job::kMostRunRanks) : kMostUnannouncedRanks;
  if (rank < 0 || rank >= limit) {
    ++ignored_rows;
    return nullptr;
  }
  if (static_cast<std::size_t>(rank) >= ranks.size()) {
    add_ranks(static_cast<std::size_t>(rank) + 1);
    adopt_world_size();
  }
  return &ranks[static_cast<std::size_t>(rank)];
}

void RunAnalysis::State::note_strings(const std::vector<model::InternedString>& rows) {
  for (const auto& string : rows) {
    strings.add(string);
    if (string.text != model::kClosedInOrder) continue;
    if (auto* rank = rank_of(string.rank)) rank->is_closed = true;
  }
}

void RunAnalysis::State::add_texts_and_groups(const model::Batch& batch) {
  note_strings(batch.strings);
  for (const auto& group : batch.process_groups) {
    if (rank_of(group.rank) != nullptr && !groups.add(group, strings)) ++ignored_rows;
  }
}

void RunAnalysis::State::add_present(const model::Batch& batch) {
  if (batch.rank_info) {
    if (auto* rank = rank_of(batch.rank_info->rank)) {
      rank->figures.info = *batch.rank_info;
      collectives.set_host(batch.rank_info->rank, batch.rank_info->host);
    }
  }
  if (batch.heartbeat) {
    if (auto* rank = rank_of(batch.heartbeat->rank)) rank->figures.heartbeat = *batch.heartbeat;
  }
  if (batch.cost) {
    if (rank_of(batch.cost->rank) != nullptr) recorder.set(*batch.cost);
  }
  if (!batch.pending) return;
  const auto owner = rank_that_wrote(batch);
  if (!owner) return;
  auto* rank = rank_of(*owner);
  if (rank == nullptr) return;
  rank->figures.pending.clear();
  for (const model::PendingCollective& call : *batch.pending) {
    if (call.end_ns > 0) {
      rank->recent.add(call);
    } else {
      rank->figures.pending.push_back(call);
    }
  }
}

namespace {

void forget(model::MemorySample& sample, model::MemoryCategory category) {
  sample.untold |= model::MemorySample::bit(category);
  sample.bytes[static_cast<std::size_t>(category)] = 0;
  sample.highest[static_cast<std::size_t>(category)] = 0;
}

}  // namespace

void RunAnalysis::State::add_memory_and_losses(const model::Batch& batch) {
  for (auto sample : batch.memory) {
    // Recorded is what a GPU holds beside the rank's own: where ranks share it, the others' too.
    if (info.shared_gpu) forget(sample, model::MemoryCategory::kOutside);
    if (auto* rank = rank_of(sample.rank)) ignored_rows += take_in(rank->figures, sample) ? 0 : 1;
  }
  for (const auto& lost : batch.lost) {
    if (rank_of(lost.rank) != nullptr) ignored_rows += recorder.add(lost);
  }
}

void RunAnalysis::State::add_clock_limits(const model::Batch& batch) {
  for (const auto& sample : batch.counters) {
    if (strings.get(sample.rank, sample.name) != model::kClockLimits) continue;
    auto* rank = rank_of(sample.rank);
    if (rank != nullptr && !rank->throttled.add(sample.time_ns, sample.value)) ++ignored_rows;
  }
}

bool RunAnalysis::State::takes(const model::Step& step) {
  auto* rank = rank_of(step.rank);
  if (rank == nullptr) return false;
  if (!is_plausible(step) || rank->activity.add_step(step) != 0) {
    ++ignored_rows;
    return false;
  }
  if (!std::exchange(rank->has_steps, true)) {
    ++ranks_with_steps;
    adopt_world_size();
  }
  return true;
}

void RunAnalysis::State::add_steps(const std::vector<model::Step>& rows) {
  std::vector<model::Step> taken;
  std::ranges::copy_if(rows, std::back_inserter(taken),
                       [this](const model::Step& step) { return takes(step); });
  steps.add(taken);
}

void RunAnalysis::State::add_collective(const model::Collective& collective) {
  auto* rank = rank_of(collective.rank);
  if (rank == nullptr) return;
  if ((collective.bytes != model::kNotKnown && !model::is_plausible_size(collective.bytes)) ||
      !base::is_plausible_time(collective.start_ns, collective.end_ns)) {
    ++ignored_rows;
    return;
  }
  const std::vector<int>& members =
      groups.members(collective.process_group, collective.rank,
                     info.world_size > 0 ? info.world_size : static_cast<int>(ranks.size()));
  const auto tag = tag_text(collective.tag_kind, collective.tag_index,
                            strings.get(collective.rank, collective.tag_name));
  const int row = collectives.add(collective, tag, members,
                                  {strings.get(collective.rank, collective.algorithm),
                                   strings.get(collective.rank, collective.protocol)});
  if (row == CollectiveStatistics::kNoRow) ++ignored_rows;
  const auto ran = collective.executed == model::CollectiveFunction::kOther ? collective.function
                                                                            : collective.executed;
  // Another program's trace may not say how large it was, or between how many ranks.
  const bool is_told = !members.empty() && model::has_bytes(collective);
  const double factor =
      model::sent_factor(ran, members.empty() ? 2 : static_cast<int>(members.size()));
  std::optional<double> sent = 0;
  if ((factor > 0 && !is_told) || model::is_untold(collective)) sent.reset();
  if (factor > 0 && is_told) sent = factor * static_cast<double>(collective.bytes);
  rank->activity.add_collective(collective, row, sent);
  rank->recent.add(collective);
}

bool RunAnalysis::State::more_follows() const {
  return expects_more || info.status == model::RunStatus::kRunning;
}

// What ends another program ends its range, too: the step that is in it was cut short.
bool RunAnalysis::State::was_interrupted() const {
  const bool has_ended_early =
      info.status == model::RunStatus::kFailed || info.status == model::RunStatus::kStopped;
  return has_ended_early && model::was_recorded_from_outside(info) && !more_follows();
}

void RunAnalysis::State::recompute() {
  std::int64_t first_open = INT64_MAX;
  steps.leave_out_last(was_interrupted());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const int rank = static_cast<int>(i);
    ranks[i].activity.follow_device(device_records(ranks[i].figures.info.device, ranks[i].is_closed,
                                                   info.status, more_follows()));
    for (auto& step : ranks[i].activity.compute_touched()) {
      steps.set_breakdown(rank, step.index, step.breakdown);
      exposure.set(step.index, rank, std::move(step.exposed_ns));
      if (step.breakdown.has_detail) {
        split.set(step.index, rank, {step.window, std::move(step.exposed), step.calls});
      }
    }
    first_open = std::min(first_open, ranks[i].activity.retire());
  }
  split.add(collectives.take_matched());
  split.resolve();
  // A rank that is still unknown may report any step.
  if (info.world_size > 0 && ranks.size() >= static_cast<std::size_t>(info.world_size)) {
    exposure.fold_before(first_open, steps);
  }
}

RankFigures RunAnalysis::State::figures_of(const RankState& rank) const {
  auto result = rank.figures;
  result.cost = recorder.cost_of(result.info.rank);
  result.totals = rank.activity.totals();
  result.recent_completed = rank.recent.all();
  result.last_completed = rank.recent.last();
  return result;
}

RunAnalysis::RunAnalysis(model::RunInfo info) : state_(std::make_unique<State>(std::move(info))) {
  state_->adopt_world_size();
}
RunAnalysis::~RunAnalysis() = default;
RunAnalysis::RunAnalysis(RunAnalysis&&) noexcept = default;
RunAnalysis& RunAnalysis::operator=(RunAnalysis&&) noexcept = default;

void RunAnalysis::add(const model::Batch& batch) {
  auto& s = *state_;
  s.add_texts_and_groups(batch);
  s.add_present(batch);
  s.add_memory_and_losses(batch);
  s.add_clock_limits(batch);
  for (const auto& bucket : batch.buckets) {
    if (s.rank_of(bucket.rank) != nullptr) s.ignored_rows += s.buckets.add(bucket);
  }
  for (const auto& unit : batch.units) s.ignored_rows += s.units.add(unit);
  for (const auto& parameter : batch.unit_parameters) s.ignored_rows += s.units.add(parameter);
  for (const auto& row : batch.evaluations) s.ignored_rows += s.evaluations.add(row);
  for (const auto& run : batch.events) {
    if (auto* rank = s.rank_of(run.rank)) {
      s.ignored_rows += rank->activity.add_events(run, s.strings);
    }
  }
  for (const auto& span : batch.spans) {
    if (auto* rank = s.rank_of(span.rank)) s.ignored_rows += rank->activity.add_span(span);
  }
  for (const auto& collective : batch.collectives) s.add_collective(collective);
  s.add_steps(batch.steps);
  s.recompute();
}

void RunAnalysis::set_info(model::RunInfo info) {
  state_->info = std::move(info);
  state_->adopt_world_size();
  state_->recompute();
}

void RunAnalysis::expect_more(bool more_follows) {
  if (std::exchange(state_->expects_more, more_follows) != more_follows) state_->recompute();
}

const std::vector<StepFigures>& RunAnalysis::steps() const { return state_->steps.steps(); }

const model::StringTable& RunAnalysis::strings() const { return state_->strings; }

// Files from before they said so have the sources of a rank that left in order alone, and nothing
// behind them.
bool RunAnalysis::State::lacks_end() const {
  if (!model::was_recorded_from_outside(info) || more_follows()) return false;
  return std::ranges::any_of(ranks, [](const RankState& rank) {
    const model::RankInfo& told = rank.figures.info;
    const bool is_told = !told.sources.empty() && !told.sources.ends_with(model::kEndNotTold);
    return !told.device.empty() && !is_told && !rank.is_closed;
  });
}

RunFigures RunAnalysis::figures() const {
  const auto& s = *state_;
  RunFigures result;
  result.info = s.info;
  result.steps = s.steps.steps();
  result.clocks = s.collectives.clocks();
  s.split.fill(result.steps, s.collectives.call_clocks(result.clocks.get()));
  result.buckets =
      s.buckets.figures(model::has_settings(s.info) ? &s.info.settings : nullptr, s.strings);
  result.units = s.units.figures(s.strings);
  result.evaluations = s.evaluations.figures();
  const auto parameters = s.ranks.empty() ? 0 : s.ranks.front().figures.info.trained_parameters;
  const auto bytes_per_value = gradient_bytes_per_value(result.buckets, parameters);
  std::vector<std::int64_t> step_times_ns;
  for (const auto& rank : s.ranks) {
    mark_throttled(result.steps, static_cast<int>(result.ranks.size()), rank.throttled);
    step_times_ns.push_back(rank.activity.step_time_ns());
    result.ranks.push_back(s.figures_of(rank));
    result.ignored_rows += rank.activity.late_rows();
  }
  estimate_memory(result.ranks, s.info);
  set_rank_means(result.steps, result.ranks);
  result.summary = summarize(s.info, result.steps, result.ranks);
  result.summary.bytes_sent_per_step_theory =
      theoretical_bytes_sent(s.info, result.buckets, result.units, bytes_per_value, result.ranks);
  result.collectives =
      s.collectives.figures(s.exposure.means(s.steps, s.collectives.rows()), result.clocks.get());
  result.recorder = s.recorder.figures(step_times_ns, result.steps, s.info.device == "cuda");
  result.recorder.lacks_end = s.lacks_end();
  result.process_groups = s.groups.figures();
  result.ignored_rows += s.ignored_rows;
  return result;
}

}  // namespace shardlens::trace::analysis
