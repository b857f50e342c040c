#include "trace/predict/record/recorded_steps.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <ranges>
#include <string_view>

#include "trace/base/median.h"
#include "trace/model/untold.h"
#include "trace/predict/record/rank_work.h"

namespace shardlens::trace::predict {

namespace {

using base::Interval;
using base::Intervals;

// The node of autograd that ends with a parameter's gradient; what listens to it runs within.
constexpr std::string_view kNode = "autograd::engine::evaluate_function";
constexpr std::string_view kGradient = "AccumulateGrad";
constexpr std::size_t kMostGivenUp = 1024;  // steps, of which too few told enough
// Operators this near to each other are one stretch of computation: what lies between is the host's
// way from one to the next.
constexpr std::int64_t kPauseNs = 50'000;

std::int64_t begin_of_work(const UnitWorkMark& mark) { return mark.time.start_ns; }

template <typename Value, typename Time>
std::vector<Value> part_of(const std::vector<Value>& sorted, const Interval& window, Time time) {
  const auto found = within(sorted, window, time);
  return {found.begin(), found.end()};
}

void append(std::vector<Interval>& times, const Interval& time) {
  if (!times.empty() && time.start_ns - times.back().end_ns <= kPauseNs &&
      time.start_ns >= times.back().start_ns) {
    times.back().end_ns = std::max(times.back().end_ns, time.end_ns);
  } else {
    times.push_back(time);
  }
}

// Until when a bucket is waited for; none: backward has gradients left to compute. `is_noted_late`:
// the host may have gone on before its end is noted.
std::optional<std::int64_t> awaited_until(std::int64_t bucket_end_ns,
                                          const std::vector<std::int64_t>& gradients_ns,
                                          const std::vector<Interval>& backwards,
                                          bool is_noted_late) {
  const auto gradient = std::ranges::upper_bound(gradients_ns, bucket_end_ns);
  const auto next = std::ranges::upper_bound(backwards, bucket_end_ns, {}, &Interval::start_ns);
  if (next == backwards.begin()) return bucket_end_ns;
  const std::int64_t backward_end_ns = std::prev(next)->end_ns;
  if (gradient != gradients_ns.end() && *gradient <= backward_end_ns) return std::nullopt;
  return is_noted_late ? std::min(bucket_end_ns, backward_end_ns) : bucket_end_ns;
}

}  // namespace

bool GradientNodes::hold(const model::StringTable& strings, int rank, model::StringId name) {
  const auto [known, is_new] = known_.try_emplace({rank, name}, false);
  if (is_new) {
    const std::string_view text = strings.get(rank, name);
    known->second = text.starts_with(kNode) && text.ends_with(kGradient);
  }
  return known->second;
}

int RecordedSteps::Rank::compute_lane() const {
  const auto busiest =
      std::ranges::max_element(kernels_ns, {}, [](const auto& each) { return each.second; });
  return busiest == kernels_ns.end() ? 0 : busiest->first;
}

Intervals RecordedSteps::Rank::computes() const {
  if (is_on_device) return base::normalize(kernels.at(compute_lane()));
  std::vector<Interval> all;
  for (const auto& [lane, times] : operators) all.insert(all.end(), times.begin(), times.end());
  return base::normalize(std::move(all));
}

// Buckets are reduced, units gathered and reduced in every step, though not always on one lane:
// where a call's kernel is not found it lies on the host's.
bool RecordedSteps::Rank::reaches(std::int64_t host_ns, const DeviceTimes& times) const {
  if (!is_on_device) return !has_launched || !kernels_ns.empty();
  const std::int64_t device_ns = times.at(host_ns);
  return times.last_launch_ns() >= host_ns &&
         std::ranges::all_of(part_ends_ns,
                             [&](const auto& part) { return part.second >= device_ns; });
}

auto RecordedSteps::Rank::finished(const DeviceTimes& times) const -> FinishedRank {
  FinishedRank rank{*this, {}, other_ends_ns, computes()};
  const auto at_device = [&](std::int64_t& time_ns) { time_ns = times.at(time_ns); };
  for (auto* phases : {&rank.forwards, &rank.backwards, &rank.optimizers}) {
    std::ranges::sort(*phases);
    for (Interval& phase : *phases) {
      at_device(phase.start_ns);
      at_device(phase.end_ns);
    }
  }
  std::ranges::sort(rank.gradients_ns);
  std::ranges::for_each(rank.gradients_ns, at_device);
  std::ranges::sort(rank.unit_calls, {}, &UnitCall::enqueued_ns);
  for (UnitCall& call : rank.unit_calls) at_device(call.enqueued_ns);
  std::ranges::sort(rank.unit_marks, {}, &UnitMark::time_ns);
  for (UnitMark& mark : rank.unit_marks) at_device(mark.time_ns);
  if (is_on_device) rank.unit_works.clear();
  if (!is_on_device) {
    const Intervals pauses = base::subtract(rank.computes, base::normalize(each_operator));
    rank.gradient_work = base::normalize(gradient_nodes);
    rank.steady = base::unite(pauses, rank.gradient_work);
  }
  std::ranges::sort(rank.unit_works, {}, begin_of_work);
  for (const std::int64_t end_ns : bucket_ends_ns) {
    const auto until =
        awaited_until(end_ns, rank.gradients_ns, rank.backwards, /*is_noted_late=*/!is_on_device);
    if (until) rank.awaited_ends_ns.push_back(*until);
  }
  std::ranges::sort(rank.awaited_ends_ns);
  return rank;
}

void RecordedSteps::learn(const model::Batch& batch) {
  if (is_enough_) return;
  finished_.clear();
  for (const auto& string : batch.strings) {
    strings_.add(string);
    if (string.text == model::kClosedInOrder) by_rank_[string.rank].is_closed = true;
  }
  for (const model::ProcessGroup& group : batch.process_groups) calls_.add(group);
  for (const model::Bucket& bucket : batch.buckets) {
    if (bucket.rank != 0 || bucket.plan < plan_) continue;
    if (bucket.plan > plan_) buckets_.clear();
    plan_ = bucket.plan;
    buckets_[bucket.index] = bucket;
  }
  for (const model::LogLine& line : batch.log) {
    if (line.text.starts_with(model::kNoBucketPlan)) why_no_buckets_ = line.text;
    if (line.text.starts_with(model::kNoUnits)) why_no_units_ = line.text;
  }
  for (const model::Unit& unit : batch.units) {
    if (unit.rank == 0) units_[unit.index] = unit;
  }
  for (const model::Step& step : batch.steps) steps_[{step.rank, step.index}] = step;
  for (const model::Span& span : batch.spans) learn_span(span);
  learn_calls(batch);
  for (const model::EventRun& run : batch.events) learn_events(run);
  see_if_enough();
}

void RecordedSteps::learn_end(bool is_done) {
  if (is_enough_) return;
  finished_.clear();
  has_ended_ = true;
  is_done_ = is_done;
}

void RecordedSteps::learn_span(const model::Span& span) {
  Rank& rank = by_rank_[span.rank];
  if (span.depth != 0) {
    if (units_.empty()) return;
    const auto [known, is_new] = unit_marks_.try_emplace({span.rank, span.name});
    const std::string_view text = strings_.get(span.rank, span.name);
    if (is_new) {
      const auto names = unit_names();
      known->second = {unit_mark(text, names), unit_work_mark(text, names)};
    }
    if (const auto& mark = known->second.mark) {
      are_wrapped_ |= is_mark_of_wrapped(text);
      rank.unit_marks.push_back({mark->what, mark->unit, span.start_ns});
    }
    if (const auto& work = known->second.work) {
      rank.unit_works.push_back({work->what, work->unit, {span.start_ns, span.end_ns}});
    }
    return;
  }
  const Interval time{span.start_ns, span.end_ns};
  if (span.phase == base::Phase::kForward) rank.forwards.push_back(time);
  if (span.phase == base::Phase::kBackward) rank.backwards.push_back(time);
  if (span.phase == base::Phase::kOptimizer) rank.optimizers.push_back(time);
}

void RecordedSteps::learn_calls(const model::Batch& batch) {
  for (const model::Collective& call : batch.collectives) {
    Rank& rank = by_rank_[call.rank];
    const bool is_bucket = call.tag_kind == model::TagKind::kBucket;
    (is_bucket ? rank.bucket_ends_ns : rank.other_ends_ns).push_back(call.end_ns);
    if (is_bucket && call.rank == 0) {
      bucket_call_ = call;
      if (call.tag_index == 0) first_calls_ns_.push_back(call.enqueued_ns);
    }
    if (is_bucket || call.tag_kind == model::TagKind::kUnit) {
      ranks_of_parts_.insert(call.process_group < 0 ? 0 : calls_.ranks_of(call));
      std::int64_t& end_ns = rank.part_ends_ns[{call.tag_kind, call.function}];
      end_ns = std::max(end_ns, call.end_ns);
    }
    if (call.tag_kind == model::TagKind::kNamed) {
      looks_for_unused_ |= strings_.get(call.rank, call.tag_name) == model::kUsedParameters;
    }
    if (const auto of_unit = unit_call(call, strings_.get(call.rank, call.tag_name))) {
      rank.unit_calls.push_back(*of_unit);
    }
    if (call.bytes <= 0 || call.sequence < 0) continue;
    const MatchedCalls::Key key = calls_.add(call);
    const bool is_gather = call.function == model::CollectiveFunction::kAllGather;
    if (is_gather && call.tag_kind == model::TagKind::kUnit) {
      rank.gathered_bytes += call.bytes / calls_.at(key).kind.ranks;
    }
    rank.calls.push_back(key);
  }
}

void RecordedSteps::add_computed(const model::Event& event, Rank& rank) {
  if (event.name >= rank.computed_ns.size()) rank.computed_ns.resize(event.name + 1);
  rank.computed_ns[event.name] += event.duration_ns;
}

void RecordedSteps::learn_events(const model::EventRun& run) {
  using Kind = model::EventKind;
  Rank& rank = by_rank_[run.rank];
  for (const model::Event& event : run.events) {
    const bool computes = (event.flags & model::kEventCompute) != 0;
    if (run.kind == Kind::kLaunch) {
      rank.has_launched |= event.correlation != 0;
      rank.device.add_launch(event.start_ns, event.correlation);
    } else if (run.kind == Kind::kKernel && computes) {
      rank.is_on_device |= event.correlation != 0;
      rank.device.add_kernel(event.correlation, run.lane, event.end_ns());
      rank.kernels_ns[run.lane] += event.duration_ns;
      add_computed(event, rank);
      append(rank.kernels[run.lane], {event.start_ns, event.end_ns()});
    } else if (run.kind == Kind::kOperator) {
      if (computes) {
        append(rank.operators[run.lane], {event.start_ns, event.end_ns()});
        rank.each_operator.push_back({event.start_ns, event.end_ns()});
        add_computed(event, rank);
      }
      if (gradient_nodes_.hold(strings_, run.rank, event.name)) {
        rank.gradients_ns.push_back(event.end_ns());
        rank.gradient_nodes.push_back({event.start_ns, event.end_ns()});
      }
    }
  }
}

std::size_t RecordedSteps::most_wanted(std::size_t launches) {
  if (launches > 2 * kMostLaunches) return kMostSteps / 16;
  return launches > kMostLaunches ? kMostSteps / 4 : kMostSteps;
}

// Steps that all ranks told in detail, whatever is in them.
std::size_t RecordedSteps::detailed() const {
  if (finished().size() < static_cast<std::size_t>(ranks_)) return 0;
  std::size_t fewest = SIZE_MAX;
  for (const auto& [rank, told] : finished()) fewest = std::min(fewest, told.steps.size());
  return fewest;
}

// A step's rows may come before its events, so that some more may be needed.
void RecordedSteps::see_if_enough() {
  const std::size_t told = steps_.size() / static_cast<std::size_t>(std::max(ranks_, 1));
  std::size_t launches = 0;
  for (const auto& [rank, of_rank] : by_rank_) {
    launches += of_rank.device.size() + of_rank.each_operator.size() / kOperatorsOfALaunch;
  }
  if (told < look_again_ && launches < look_at_launches_) return;
  // Each look goes over all that was told: the longer that took, the later the next.
  look_again_ = told + std::max(kMostSteps / 4, told / 2);
  look_at_launches_ = std::max(kMostLaunches, launches + launches / 2);
  const std::size_t complete = steps().size();
  const bool tell_nothing =
      launches > kMostLaunches && complete == 0 && detailed() >= kMostSteps / 4;
  is_enough_ = complete >= most_wanted(launches) || tell_nothing || told > kMostGivenUp;
  if (is_enough_) forget_events();
}

// Nothing is learnt of them any more.
void RecordedSteps::forget_events() {
  finished();
  for (auto& [rank, told] : by_rank_) {
    told.device = {};
    told.operators.clear();
    told.kernels.clear();
    told.each_operator = Intervals();  // as `{}` leaves their memory
    told.gradient_nodes = Intervals();
  }
}

auto RecordedSteps::gradients() const -> std::vector<Gradient> {
  std::vector<Gradient> all;
  for (const auto& [index, bucket] : buckets_) {
    for (std::size_t i = 0; i < bucket.parameter_bytes.size(); ++i) {
      const bool is_named = i < bucket.parameters.size();
      all.push_back({is_named ? std::string(strings_.get(0, bucket.parameters[i])) : "",
                     bucket.parameter_bytes[i]});
    }
  }
  return all;
}

std::vector<std::size_t> RecordedSteps::bucket_sizes() const {
  std::vector<std::size_t> sizes;
  for (const auto& [index, bucket] : buckets_) sizes.push_back(bucket.parameter_bytes.size());
  return sizes;
}

auto RecordedSteps::reduced_type() const -> ReducedType {
  ReducedType type{.name = std::string(strings_.get(0, bucket_call_.data_type))};
  const auto bucket = buckets_.find(bucket_call_.tag_index);
  if (bucket == buckets_.end() || bucket_call_.bytes <= 0) return type;
  type.is_halved = 2 * bucket_call_.bytes == bucket->second.bytes;
  return type;
}

std::set<std::size_t> RecordedSteps::reductions_of_steps() const {
  std::vector<std::int64_t> calls = first_calls_ns_;
  if (units_.size() > 1 && by_rank_.contains(0)) {
    for (const UnitCall& call : by_rank_.at(0).unit_calls) {
      const bool is_first = call.what == UnitCall::What::kReduce && !call.is_across_groups &&
                            call.unit == units_.rbegin()->first;
      if (is_first) calls.push_back(call.enqueued_ns);
    }
  }
  std::ranges::sort(calls);
  std::set<std::size_t> counts;
  for (const auto& [key, step] : steps_) {
    const auto& [rank, index] = key;
    if (rank != 0 || index < first_step()) continue;
    // Behind what was read last nothing is known of them.
    const bool is_read =
        !calls.empty() && step.end_ns > calls.front() && step.start_ns <= calls.back();
    if (!is_read) continue;
    counts.insert(within(calls, {step.start_ns, step.end_ns - 1}, std::identity{}).size());
  }
  return counts;
}

std::vector<std::string> RecordedSteps::unit_names() const {
  std::vector<std::string> names;
  for (const auto& [index, unit] : units_) names.emplace_back(strings_.get(0, unit.name));
  return names;
}

UnitHabits RecordedSteps::unit_habits() const {
  const auto told = by_rank_.find(0);
  const auto finished_rank = finished().find(0);
  UnitHabits habits;
  if (told != by_rank_.end() && finished_rank != finished().end()) {
    habits = predict::unit_habits({.calls = told->second.unit_calls,
                                   .marks = told->second.unit_marks,
                                   .computes = finished_rank->second.computes,
                                   .backwards = told->second.backwards.size(),
                                   .last_unit = units_.empty() ? 0 : units_.rbegin()->first});
  }
  habits.are_wrapped = are_wrapped_;
  return habits;
}

std::map<std::pair<UnitWork::What, int>, double> RecordedSteps::unit_works_ns() const {
  std::map<std::pair<UnitWork::What, int>, std::vector<double>> all;
  for (const StepWork& step : steps()) {
    for (const RankWork& rank : step.ranks) {
      for (const UnitWork& work : rank.unit_works) {
        all[{work.what, work.unit}].push_back(static_cast<double>(work.ns));
      }
    }
  }
  std::map<std::pair<UnitWork::What, int>, double> means;
  for (const auto& [of, times] : all) means[of] = base::mean_of(times);
  return means;
}

// Of the steps that were chosen, however much more was read.
MatchedCalls::Counts RecordedSteps::begins_in_chosen(bool wanted) const {
  Intervals windows;
  for (const StepWork& step : steps()) {
    for (const RankWork& rank : step.ranks) windows.push_back({rank.start_ns, rank.end_ns});
  }
  return [chosen = base::normalize(std::move(windows)), wanted](const auto&, const auto& call) {
    const auto window = base::first_ending_after(chosen, call.latest_start_ns);
    return wanted == (window != chosen.end() && window->start_ns <= call.latest_start_ns);
  };
}

MeasuredCollectives RecordedSteps::transfers(const MatchedCalls::LinkTime& link_ns) const {
  return calls_.measured(begins_in_chosen(true), link_ns);
}

std::vector<ObservedTransfer> RecordedSteps::observed_transfers(
    const MatchedCalls::LinkTime& link_ns, const MatchedCalls::LinkTime& least_ns) const {
  for (const auto& [rank, told] : by_rank_) {
    if (told.is_on_device) return {};
  }
  std::vector<ObservedTransfer> observed;
  const auto counts = begins_in_chosen(true);
  for (const auto& [key, ns] : calls_.times_ns(link_ns)) {
    const MatchedCalls::Call& call = calls_.at(key);
    if (!counts(key, call) || call.transfer_ns() == 0) continue;
    const Interval time{call.latest_start_ns, call.end_ns};
    std::int64_t computed_ns = 0;
    for (const auto& [rank, told] : finished()) {
      computed_ns += base::length_within(told.computes, time);
    }
    const auto of_all_ns = static_cast<double>(time.length() * std::ssize(finished()));
    observed.push_back({call.kind, call.bytes, static_cast<double>(computed_ns) / of_all_ns, ns,
                        least_ns(call.kind, static_cast<double>(call.bytes))});
  }
  return observed;
}

MeasuredCollectives RecordedSteps::other_transfers() const {
  MeasuredCollectives others = calls_.measured(begins_in_chosen(false));
  for (auto& [kind, by_size] : others) {
    double fastest_ns = std::numeric_limits<double>::infinity();
    for (auto& [bytes, times] : std::views::reverse(by_size)) {
      fastest_ns = std::min(fastest_ns, std::ranges::min(times));
      times = {fastest_ns};
    }
  }
  return others;
}

std::optional<double> RecordedSteps::gather_copy_ns_per_byte() const {
  double copies_ns = 0, bytes = 0;
  for (const auto& [rank, told] : by_rank_) {
    if (!told.is_on_device) return std::nullopt;
    const int compute_lane = told.compute_lane();
    for (const auto& [lane, busy_ns] : told.kernels_ns) {
      if (lane != compute_lane) copies_ns += static_cast<double>(busy_ns);
    }
    bytes += static_cast<double>(told.gathered_bytes);
  }
  if (bytes == 0) return std::nullopt;
  return copies_ns / bytes;
}

std::map<std::string, double> RecordedSteps::computed_ns() const {
  std::map<std::string, double> by_name;
  for (const auto& [rank, told] : by_rank_) {
    for (model::StringId name = 0; name < told.computed_ns.size(); ++name) {
      if (told.computed_ns[name] == 0) continue;
      by_name[std::string(strings_.get(rank, name))] += static_cast<double>(told.computed_ns[name]);
    }
  }
  return by_name;
}

double RecordedSteps::steady_share() const {
  std::int64_t steady_ns = 0, all_ns = 0;
  for (const StepWork& step : steps()) {
    for (const RankWork& rank : step.ranks) {
      for (const MicroBatchWork& work : rank.micro_batches) {
        steady_ns += work.steady_ns;
        all_ns += work.end.computed_ns;
      }
    }
  }
  return all_ns > 0 ? static_cast<double>(steady_ns) / static_cast<double>(all_ns) : 0;
}

double RecordedSteps::reducing_share(bool each) const {
  std::int64_t reducing_ns = 0, all_ns = 0;
  for (const StepWork& step : steps()) {
    for (const RankWork& rank : step.ranks) {
      for (const MicroBatchWork& work : rank.micro_batches) {
        if (work.gradients.empty() || (!each && &work != &rank.micro_batches.back())) continue;
        reducing_ns += work.gradients_ns;
        all_ns += work.gradients.back().computed_ns;
      }
    }
  }
  if (all_ns <= 0) return 0;
  return std::clamp(static_cast<double>(reducing_ns) / static_cast<double>(all_ns), 0.0, 0.5);
}

ExpectedWork RecordedSteps::expected() const {
  ExpectedWork expected{.units = units_.size()};
  for (const auto& [index, bucket] : buckets_) expected.gradients += bucket.parameter_bytes.size();
  return expected;
}

std::map<int, Intervals> RecordedSteps::communication_work(const WorkingTime& working_ns) const {
  std::map<int, Intervals> works;
  if (!working_ns) return works;
  for (const auto& [rank, told] : by_rank_) {
    std::vector<Interval> of_rank;
    for (const MatchedCalls::Key& key : told.calls) {
      const MatchedCalls::Call& call = calls_.at(key);
      if (!call.is_whole()) continue;
      const auto took = static_cast<double>(call.transfer_ns());
      const double works_ns = working_ns(call.kind, static_cast<double>(call.bytes), took);
      base::spread_over({call.latest_start_ns, call.end_ns}, std::llround(works_ns),
                        [&](const Interval& part) { of_rank.push_back(part); });
    }
    works[rank] = base::normalize(std::move(of_rank));
  }
  return works;
}

auto RecordedSteps::finished() const -> const std::map<int, FinishedRank>& {
  if (!finished_.empty()) return finished_;
  for (const auto& [rank, told] : by_rank_) {
    const DeviceTimes device = told.device.times_of(told.compute_lane());
    FinishedRank& finished = finished_[rank] = told.finished(device);
    const bool has_all = has_ended_ && (is_done_ || told.is_closed);
    for (auto step = steps_.lower_bound({rank, first_step()});
         step != steps_.end() && step->first.first == rank; ++step) {
      const model::Step& row = step->second;
      if (!row.full_detail || !(has_all || told.reaches(row.end_ns, device))) continue;
      finished.steps[row.index] = {device.at(row.start_ns), device.at(row.end_ns)};
    }
  }
  return finished_;
}

std::vector<StepWork> RecordedSteps::steps(const WorkingTime& working_ns) const {
  const auto works = communication_work(working_ns);
  const ExpectedWork expects = expected();
  std::map<std::int64_t, StepWork> found;
  for (const auto& [rank, told] : finished()) {
    if (rank >= ranks_) continue;
    const auto rank_works = works.find(rank);
    for (const auto& [index, window] : told.steps) {
      const RankRecord record{
          {.forwards = part_of(told.forwards, window, &Interval::start_ns),
           .backwards = part_of(told.backwards, window, &Interval::start_ns),
           .optimizers = part_of(told.optimizers, window, &Interval::start_ns),
           .gradients_ns = part_of(told.gradients_ns, window, std::identity{}),
           .unit_calls = part_of(told.unit_calls, window, &UnitCall::enqueued_ns),
           .unit_marks = part_of(told.unit_marks, window, &UnitMark::time_ns),
           .unit_works = part_of(told.unit_works, window, begin_of_work),
           .steady = base::clip(told.steady, window),
           .gradient_work = base::clip(told.gradient_work, window)},
          window,
          part_of(told.awaited_ends_ns, window, std::identity{}),
          base::clip(told.computes, window),
          rank_works == works.end() ? Intervals{} : base::clip(rank_works->second, window)};
      auto work = rank_work(record, expects);
      if (!work) continue;
      StepWork& of_all = found[index];
      of_all.index = index;
      of_all.ranks.push_back(std::move(*work));
    }
  }
  std::vector<StepWork> complete;
  for (auto& [index, step] : found) {
    if (complete.size() == kMostSteps) break;
    const auto differs = [](const RankWork& a, const RankWork& b) {
      return a.micro_batches.size() != b.micro_batches.size();
    };
    if (step.ranks.size() == static_cast<std::size_t>(ranks_) &&
        std::ranges::adjacent_find(step.ranks, differs) == step.ranks.end()) {
      complete.push_back(std::move(step));
    }
  }
  return complete;
}

}  // namespace shardlens::trace::predict
