#include "trace/analysis/steps/rank_activity.h"

#include <algorithm>
#include <utility>

namespace shardlens::trace::analysis {

namespace {

constexpr std::int64_t kLastStep = std::int64_t{1} << 40;
// How many intervals are kept of a recording that has no steps, which would retire them.
constexpr std::size_t kMostIntervals = 1u << 21;

}  // namespace

bool RankActivity::is_plausible_step(std::int64_t index) {
  return index >= 0 && index <= kLastStep;
}

bool RankActivity::accept(std::int64_t start_ns, std::int64_t end_ns) {
  if (end_ns <= trimmed_ns_ && end_ns > start_ns) {
    ++late_rows_;
    return false;
  }
  touched_.start_ns = std::min(touched_.start_ns, start_ns);
  touched_.end_ns = std::max(touched_.end_ns, end_ns);
  return true;
}

std::int64_t RankActivity::add_events(const model::EventRun& run,
                                      const model::StringTable& strings) {
  std::int64_t ignored = 0;
  std::int64_t active_until_ns = INT64_MIN;
  for (const auto& event : run.events) {
    // Also keeps end_ns() from overflowing.
    if (event.duration_ns < 0 || event.duration_ns > base::kLongestRowNs || event.start_ns < 0 ||
        event.start_ns >= base::kLatestTimeNs - base::kLongestRowNs) {
      ++ignored;
      continue;
    }
    const bool needs_name = run.kind == model::EventKind::kKernel;
    const auto activity = model::activity_of(
        run.kind, event, needs_name ? strings.get(run.rank, event.name) : std::string_view());
    events_end_ns_ = std::max(events_end_ns_, event.end_ns());
    if (activity == model::Activity::kNone) continue;
    if (activity == model::Activity::kCompute) ++totals_.compute_events;
    if (activity == model::Activity::kCopy) ++totals_.memory_events;
    first_ns_ = std::min(first_ns_, event.start_ns);
    last_ns_ = std::max(last_ns_, event.end_ns());
    active_until_ns = std::max(active_until_ns, event.end_ns());
    if (!accept(event.start_ns, event.end_ns())) continue;
    auto& target = activity == model::Activity::kCompute ? new_compute_
                   : activity == model::Activity::kCopy  ? new_copies_
                                                         : new_communication_;
    target.push_back({std::max(event.start_ns, trimmed_ns_), event.end_ns()});
  }
  if (active_until_ns != INT64_MIN) {
    progress_.add(DeviceProgress::Source::kEvents, run.lane, active_until_ns);
  }
  return ignored;
}

std::int64_t RankActivity::add_span(const model::Span& span) {
  const auto phase = static_cast<int>(span.phase);
  if (!base::is_plausible_time(span.start_ns, span.end_ns) || phase < 0 ||
      phase >= base::kPhaseCount)
    return 1;
  if (span.depth != 0) return 0;
  spans_end_ns_ = std::max(spans_end_ns_, span.end_ns);
  if (accept(span.start_ns, span.end_ns)) phases_.add({span.start_ns, span.end_ns, span.phase});
  return 0;
}

std::int64_t RankActivity::add_collective(const model::Collective& collective, int row,
                                          std::optional<double> bytes_sent) {
  if (!base::is_plausible_time(collective.start_ns, collective.end_ns)) return 1;
  ++totals_.comm_events;
  first_ns_ = std::min(first_ns_, collective.start_ns);
  last_ns_ = std::max(last_ns_, collective.end_ns);
  collectives_end_ns_ = std::max(collectives_end_ns_, collective.end_ns);
  progress_.add(DeviceProgress::Source::kCollectives, collective.lane, collective.end_ns);
  if (!accept(collective.start_ns, collective.end_ns)) return 0;
  new_communication_.push_back({std::max(collective.start_ns, trimmed_ns_), collective.end_ns});
  collectives_.add({collective.start_ns, collective.end_ns, bytes_sent, row});
  return 0;
}

std::int64_t RankActivity::add_step(const model::Step& step) {
  if (!base::is_plausible_time(step.start_ns, step.end_ns) || !is_plausible_step(step.index))
    return 1;
  if (step.index <= last_retired_step_ || !steps_.emplace(step.index, step).second) return 1;
  step_time_ns_ += step.end_ns - step.start_ns;
  progress_.add(step);
  touched_.start_ns = std::min(touched_.start_ns, step.start_ns);
  touched_.end_ns = std::max(touched_.end_ns, step.end_ns);
  return 0;
}

void RankActivity::follow_device(DeviceRecords records) {
  if (std::exchange(device_, records) == records) return;
  touched_.start_ns = std::min(touched_.start_ns, progress_.until_ns());
  touched_.end_ns = INT64_MAX;
}

bool RankActivity::is_unread(const model::Step& step) const {
  return device_ != DeviceRecords::kNone && step.full_detail && step.end_ns > progress_.until_ns();
}

void RankActivity::note_device_progress() {
  const std::int64_t before_ns = progress_.until_ns();
  progress_.settle(device_);
  if (progress_.until_ns() == before_ns) return;
  touched_.start_ns = std::min(touched_.start_ns, before_ns);
  touched_.end_ns = std::max(touched_.end_ns, progress_.until_ns());
}

void RankActivity::take_in_additions() {
  base::insert(compute_, base::normalize(std::exchange(new_compute_, {})));
  base::insert(communication_, base::normalize(std::exchange(new_communication_, {})));
  base::insert(copies_, base::normalize(std::exchange(new_copies_, {})));
  phases_.sort();
  collectives_.sort();
}

std::vector<RankActivity::ComputedStep> RankActivity::compute_touched() {
  take_in_additions();
  if (device_ != DeviceRecords::kNone) note_device_progress();
  const auto touched = std::exchange(touched_, base::Interval{INT64_MAX, INT64_MIN});
  std::vector<ComputedStep> result;
  for (const auto& [index, step] : steps_) {
    if (step.end_ns >= touched.start_ns && step.start_ns <= touched.end_ns) {
      result.push_back(compute(index, step));
    }
  }
  return result;
}

RankActivity::ComputedStep RankActivity::compute(std::int64_t index,
                                                 const model::Step& step) const {
  const base::Interval window{step.start_ns, step.end_ns};
  StepActivity activity;
  activity.step = window;
  const bool is_missing = device_ != DeviceRecords::kHaveEnded && is_unread(step);
  activity.full_detail = step.full_detail && !is_missing;
  phases_.visit(window.start_ns, window.end_ns,
                [&](const model::PhaseInterval& phase) { activity.phases.push_back(phase); });
  activity.compute = base::clip(compute_, window);
  activity.communication = base::clip(communication_, window);
  activity.copies = base::clip(copies_, window);

  ComputedStep result;
  result.index = index;
  result.breakdown = break_down(activity);
  result.breakdown.awaits_detail = is_missing;
  if (!activity.full_detail) return result;
  result.window = window;
  result.exposed = base::subtract(activity.communication, activity.compute);
  std::map<int, std::int64_t> exposed;
  collectives_.visit(window.start_ns, window.end_ns, [&](const RecentCollective& collective) {
    ++result.calls;
    const base::Interval part{std::max(collective.start_ns, window.start_ns),
                              std::min(collective.end_ns, window.end_ns)};
    if (collective.row >= 0) {
      exposed[collective.row] += part.length() - base::length_within(activity.compute, part);
    }
    if (collective.start_ns >= window.start_ns) {
      auto& sent = result.breakdown.bytes_sent;
      sent = sent && collective.bytes_sent ? std::optional(*sent + *collective.bytes_sent)
                                           : std::nullopt;
    }
  });
  result.exposed_ns.assign(exposed.begin(), exposed.end());
  return result;
}

std::int64_t RankActivity::frontier() const {
  std::int64_t result = spans_end_ns_;
  for (auto end : {events_end_ns_, collectives_end_ns_}) {
    if (end != INT64_MIN) result = std::min(result, end);
  }
  return result;
}

std::int64_t RankActivity::retire() {
  const auto safe_ns = frontier() == INT64_MIN ? INT64_MIN : frontier() - kLateness;
  std::int64_t trim_to = trimmed_ns_;
  while (steps_.size() > kNewerSteps) {
    const auto& [index, step] = *steps_.begin();
    const bool may_change = step.end_ns > safe_ns || is_unread(step);
    if (may_change && steps_.size() <= kMostSteps) break;
    trim_to = std::max(trim_to, step.end_ns);
    last_retired_step_ = index;
    steps_.erase(steps_.begin());
  }
  if (kept_intervals() > kMostIntervals && steps_.empty() && !compute_.empty()) {
    trim_to = std::max(trim_to, compute_[compute_.size() / 2].start_ns);
  }
  if (trim_to > trimmed_ns_) trim(trim_to);
  return steps_.empty() ? last_retired_step_ + 1 : steps_.begin()->first;
}

RankActivity::Lengths RankActivity::lengths_before(std::int64_t time_ns) const {
  const base::Interval past{INT64_MIN, time_ns};
  const auto compute = base::clip(compute_, past);
  const auto communication = base::clip(communication_, past);
  Lengths result;
  result.compute_ns = base::length(compute);
  result.comm_ns = base::length(communication);
  result.overlap_ns = base::length(base::intersect(compute, communication));
  result.busy_ns =
      base::length(base::unite(base::unite(compute, communication), base::clip(copies_, past)));
  return result;
}

void RankActivity::trim(std::int64_t time_ns) {
  const auto past = lengths_before(time_ns);
  totals_.compute_ns += past.compute_ns;
  totals_.comm_ns += past.comm_ns;
  totals_.overlap_ns += past.overlap_ns;
  totals_.busy_ns += past.busy_ns;
  base::trim_before(compute_, time_ns);
  base::trim_before(communication_, time_ns);
  base::trim_before(copies_, time_ns);
  phases_.trim_before(time_ns);
  collectives_.trim_before(time_ns);
  trimmed_ns_ = time_ns;
}

RankTotals RankActivity::totals() const {
  auto result = totals_;
  const auto recent = lengths_before(INT64_MAX);
  result.compute_ns += recent.compute_ns;
  result.comm_ns += recent.comm_ns;
  result.overlap_ns += recent.overlap_ns;
  result.busy_ns += recent.busy_ns;
  result.exposed_ns = result.comm_ns - result.overlap_ns;
  if (last_ns_ > first_ns_) result.span_ns = last_ns_ - first_ns_;
  result.idle_ns = result.span_ns - result.busy_ns;
  return result;
}

std::size_t RankActivity::kept_intervals() const {
  return compute_.size() + communication_.size() + copies_.size() + collectives_.size();
}

}  // namespace shardlens::trace::analysis
