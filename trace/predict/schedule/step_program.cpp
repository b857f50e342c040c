#include "trace/predict/schedule/step_program.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "trace/base/median.h"

namespace shardlens::trace::predict {

namespace {

using Wait = StepSchedule::Wait;

// How long one rank computes from one moment of a recorded micro-batch to another.
class RecordedWork {
 public:
  // `work`: what it takes now, in what was recorded.
  RecordedWork(const MicroBatchWork& recorded, double work, double slowdown)
      : recorded_(recorded), work_(work), slowdown_(slowdown) {}

  // Of what lies between the moment that was reached last and this one, 0 where it lies before it.
  double until(const Action& action) {
    if (action.until == Until::kOwnWork) return action.ns;
    const double span = action.until == Until::kSecondForward
                            ? second_forward_ns(action.from, action.place)
                            : reach(moment(action));
    return std::max(action.share * span, 0.0);
  }

 private:
  // Without what communication beside it took.
  double alone(const Moment& moment) const {
    return static_cast<double>(moment.computed_ns) -
           slowdown_ * static_cast<double>(moment.contended_ns);
  }

  Moment moment(const Action& action) const {
    switch (action.until) {
      case Until::kForward:
        return recorded_.layers.forwards[action.place];
      case Until::kLayerBackward:
        return recorded_.layers.backwards[action.place];
      case Until::kForwardAgain:
        return recorded_.layers.second_forwards[action.place];
      case Until::kGradient:
        return recorded_.gradients[action.place];
      case Until::kBackward:
        return recorded_.backward_begin;
      default:
        return recorded_.end;
    }
  }

  double reach(const Moment& moment) {
    const double from = std::exchange(reached_ns_, std::max(reached_ns_, alone(moment)));
    return work_ * (reached_ns_ - from);
  }

  double second_forward_ns(std::size_t from, std::size_t to) const {
    const auto& forwards = recorded_.layers.forwards;
    return work_ * (alone(forwards[to]) - alone(forwards[from]));
  }

  const MicroBatchWork& recorded_;
  double work_, slowdown_, reached_ns_ = 0;
};

// When communication needs what computes: by start, of all lanes.
class WorkingTimes {
 public:
  // The place that it has among them now.
  std::size_t add(base::Interval time) {
    if (time.length() <= 0) return times_.size();
    // Of several lanes, one may begin before another that was launched earlier.
    auto at = times_.end();
    while (at != times_.begin() && std::prev(at)->start_ns > time.start_ns) --at;
    const auto place = static_cast<std::size_t>(at - times_.begin());
    times_.insert(at, time);
    return place;
  }
  const std::vector<base::Interval>& all() const { return times_; }

 private:
  std::vector<base::Interval> times_;
};

struct RankClock {
  const RankWork* work = nullptr;
  double pace = 1;
  std::int64_t start_ns = 0;
  double now_ns = 0;
  double contended_ns = 0;
  std::size_t past = 0;  // working times that have ended
  std::vector<Wait> waits{};

  // Computes for so long, at the pace that communication leaves.
  void compute(double ns, const WorkingTimes& working, double slowdown) {
    const auto& times = working.all();
    while (ns > 0) {
      while (past < times.size() && static_cast<double>(times[past].end_ns) <= now_ns) ++past;
      if (past == times.size()) break;
      const auto start = static_cast<double>(times[past].start_ns);
      const auto end = static_cast<double>(times[past].end_ns);
      if (now_ns < start) {
        const double before = std::min(ns, start - now_ns);
        now_ns += before;
        ns -= before;
        continue;
      }
      const double beside = 1 - slowdown;
      const double takes = beside > 0 ? std::min(ns / beside, end - now_ns) : end - now_ns;
      now_ns += takes;
      contended_ns += takes;
      ns -= takes * beside;
    }
    now_ns += std::max(ns, 0.0);
  }

  double waited_ns() const {
    return static_cast<double>(
        base::sum_of(waits, [](const Wait& wait) { return wait.end_ns - wait.start_ns; }));
  }

  void wait(double until_ns, std::size_t call) {
    if (until_ns <= now_ns) return;
    waits.push_back({std::llround(now_ns), std::llround(until_ns), call});
    now_ns = until_ns;
  }
};

class Scheduler {
 public:
  // `sooner_ns`: by how much each call takes less than its transfer's time; none: none does.
  Scheduler(const std::vector<StepRank>& ranks, const StepProgram& program, double slowdown,
            std::vector<std::int64_t> sooner_ns = {})
      : program_(program), slowdown_(slowdown), sooner_ns_(std::move(sooner_ns)) {
    sooner_ns_.resize(program.calls.size());
    for (const StepRank& rank : ranks) {
      ranks_.push_back({.work = rank.work,
                        .pace = rank.pace,
                        .start_ns = rank.start_ns,
                        .now_ns = static_cast<double>(rank.start_ns)});
    }
    schedule_.calls.reserve(program.calls.size());
  }

  StepSchedule schedule() {
    for (const MicroBatchProgram& micro_batch : program_.micro_batches) {
      std::vector<RecordedWork> works;
      for (const RankClock& rank : ranks_) {
        works.emplace_back(rank.work->micro_batches[micro_batch.like], rank.pace * program_.work,
                           slowdown_);
      }
      for (const Action& action : micro_batch.actions) {
        act(action, [&](std::size_t rank) { return works[rank].until(action); });
      }
    }
    std::vector<double> backward_end_ns;
    for (const RankClock& rank : ranks_) backward_end_ns.push_back(rank.now_ns);
    for (const Action& action : program_.update) {
      act(action, [&](std::size_t rank) {
        return action.share * ranks_[rank].pace * optimizer_ns(*ranks_[rank].work);
      });
    }
    if (waits_for_cores(program_)) find_idle();
    finish(backward_end_ns);
    return std::move(schedule_);
  }

  // When all ranks waited at once; of a program whose calls wait for cores.
  const base::Intervals& idle() const { return idle_; }

 private:
  void act(const Action& action, const auto& compute_ns) {
    switch (action.what) {
      case Action::What::kCompute:
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
          ranks_[i].compute(compute_ns(i), working_, slowdown_);
        }
        break;
      case Action::What::kLaunch:
        launch(action.place);
        break;
      case Action::What::kMark:
        marks_ns_.push_back(latest_ns());
        break;
      case Action::What::kWait:
        for (RankClock& rank : ranks_) {
          rank.wait(static_cast<double>(schedule_.calls[action.place].end_ns), action.place);
        }
        break;
    }
  }

  double optimizer_ns(const RankWork& work) const {
    const bool is_own = program_.updates_as_recorded || work.fullest_optimizer_ns == 0;
    return static_cast<double>(is_own ? work.optimizer_ns : work.fullest_optimizer_ns);
  }

  // When all ranks have come to where they are.
  double latest_ns() const {
    return std::ranges::max_element(ranks_, {}, &RankClock::now_ns)->now_ns;
  }

  void launch(std::size_t index) {
    const PlannedCall& call = program_.calls[index];
    if (call.lane >= free_ns_.size()) free_ns_.resize(call.lane + 1, INT64_MIN);
    const double asked_ns = call.behind_mark ? marks_ns_[*call.behind_mark] : latest_ns();
    CallTime time{.call = index, .ready_ns = std::llround(asked_ns) + call.copy_ns};
    if (call.follows) time.ready_ns = std::max(time.ready_ns, schedule_.calls.back().end_ns);
    time.start_ns = std::max(time.ready_ns, free_ns_[call.lane]);
    if (call.behind_mark) time.start_ns = std::max(time.start_ns, gather_stream_ns_ + call.copy_ns);
    std::int64_t passes_ns = time.start_ns;
    if (call.link_ns > 0) {
      passes_ns = std::max(passes_ns, link_free_ns_);
      link_free_ns_ = passes_ns + call.link_ns;
    }
    time.end_ns = free_ns_[call.lane] = passes_ns + call.transfer_ns - sooner_ns_[index];
    if (call.behind_mark) gather_stream_ns_ = time.end_ns;
    const auto work = [&](const base::Interval& part) {
      const std::size_t place = working_.add(part);
      // A gather may have begun before others that have ended, and still work.
      for (RankClock& rank : ranks_) rank.past = std::min(rank.past, place);
    };
    base::spread_over({time.start_ns, time.end_ns}, call.working_ns, work);
    schedule_.calls.push_back(time);
  }

  void find_idle() {
    for (const RankClock& rank : ranks_) {
      std::vector<base::Interval> waits;
      for (const Wait& wait : rank.waits) waits.push_back({wait.start_ns, wait.end_ns});
      base::Intervals of_rank = base::normalize(std::move(waits));
      idle_ = &rank == ranks_.data() ? std::move(of_rank) : base::intersect(idle_, of_rank);
    }
  }

  void finish(const std::vector<double>& backward_end_ns) {
    // Where several end together, the one that waited least: the others waited for it.
    const auto last = std::ranges::max_element(ranks_, {}, [](const RankClock& rank) {
      return std::pair(rank.now_ns, -rank.waited_ns());
    });
    const auto index = static_cast<std::size_t>(last - ranks_.begin());
    for (const RankClock& rank : ranks_) {
      schedule_.mean_ns += rank.now_ns - static_cast<double>(rank.start_ns);
      schedule_.exposed_ns += rank.waited_ns();
      schedule_.contended_ns += rank.contended_ns;
      if (&rank == &*last) continue;
      auto& others = schedule_.waits_of_others;
      others.insert(others.end(), rank.waits.begin(), rank.waits.end());
    }
    schedule_.mean_ns /= static_cast<double>(ranks_.size());
    schedule_.exposed_ns /= static_cast<double>(ranks_.size());
    schedule_.contended_ns /= static_cast<double>(ranks_.size());
    schedule_.waits = std::move(last->waits);
    schedule_.rank = static_cast<int>(index);
    schedule_.start_ns = last->start_ns;
    schedule_.backward_end_ns = std::llround(backward_end_ns[index]);
    schedule_.end_ns = std::llround(last->now_ns);
  }

  const StepProgram& program_;
  double slowdown_;
  std::vector<std::int64_t> sooner_ns_;  // by call
  std::vector<RankClock> ranks_;
  std::vector<std::int64_t> free_ns_;  // by lane
  std::int64_t link_free_ns_ = INT64_MIN;
  std::vector<double> marks_ns_;       // when the last rank reached them
  std::int64_t gather_stream_ns_ = 0;  // when it has done what it was given
  WorkingTimes working_;
  base::Intervals idle_;
  StepSchedule schedule_;
};

// By as much of their delay as of their time falls into that in which all ranks wait, and no
// shorter than their link takes: a transfer may be taken to be as short as it can be.
std::vector<std::int64_t> without_delay(const StepProgram& program, const StepSchedule& schedule,
                                        const base::Intervals& idle) {
  std::vector<std::int64_t> sooner_ns(program.calls.size());
  for (const CallTime& time : schedule.calls) {
    const PlannedCall& call = program.calls[time.call];
    const base::Interval whole{time.start_ns, time.end_ns};
    if (call.core_delay_ns == 0 || whole.length() == 0) continue;
    const double share =
        static_cast<double>(base::length_within(idle, whole)) / static_cast<double>(whole.length());
    const std::int64_t most_ns = std::max<std::int64_t>(0, call.transfer_ns - call.least_ns);
    sooner_ns[time.call] = std::min<std::int64_t>(
        most_ns, std::llround(share * static_cast<double>(call.core_delay_ns)));
  }
  return sooner_ns;
}

std::size_t launch(PlannedCall call, StepProgram& program) {
  const std::size_t index = program.calls.size();
  program.update.push_back({Action::What::kLaunch, Until::kEnd, index});
  program.calls.push_back(std::move(call));
  return index;
}

}  // namespace

std::int64_t StepSchedule::waited_ns() const {
  return base::sum_of(waits, [](const Wait& wait) { return wait.end_ns - wait.start_ns; });
}

bool waits_for_cores(const StepProgram& program) {
  return std::ranges::any_of(program.calls,
                             [](const PlannedCall& call) { return call.core_delay_ns > 0; });
}

StepSchedule schedule_step(const std::vector<StepRank>& ranks, const StepProgram& program,
                           double slowdown) {
  if (ranks.empty()) return {};
  Scheduler scheduler(ranks, program, slowdown);
  StepSchedule schedule = scheduler.schedule();
  if (!waits_for_cores(program)) return schedule;
  // When ranks wait is known only once calls have been placed.
  auto sooner_ns = without_delay(program, schedule, scheduler.idle());
  return Scheduler(ranks, program, slowdown, std::move(sooner_ns)).schedule();
}

StepSchedule schedule_step(const StepWork& step, const StepProgram& program, double slowdown) {
  std::vector<StepRank> ranks;
  for (const RankWork& rank : step.ranks) ranks.push_back({&rank, rank.start_ns});
  return schedule_step(ranks, program, slowdown);
}

std::size_t recorded_like(std::size_t micro_batch, std::size_t planned, std::size_t recorded) {
  if (micro_batch + 1 == planned || recorded == 1) return recorded - 1;
  return std::min(micro_batch, recorded - 2);
}

std::vector<std::size_t> critical_calls(const StepProgram& program, const StepSchedule& schedule) {
  const auto& calls = schedule.calls;
  std::vector<std::size_t> critical;
  std::int64_t until_ns = schedule.end_ns;
  for (auto wait = schedule.waits.rbegin(); wait != schedule.waits.rend(); ++wait) {
    if (wait->end_ns > until_ns) continue;  // it goes on while a later one runs
    std::size_t call = wait->call;
    critical.push_back(call);
    const auto is_held_up = [&](std::size_t i) { return calls[i].start_ns > calls[i].ready_ns; };
    while (is_held_up(call)) {
      const auto on_lane = [&](std::size_t i) {
        return program.calls[calls[i].call].lane == program.calls[calls[call].call].lane;
      };
      std::size_t before = call;
      while (before > 0 && !on_lane(before - 1)) --before;
      if (before == 0) break;
      critical.push_back(call = before - 1);
    }
    until_ns = calls[call].ready_ns;
  }
  std::ranges::sort(critical);
  const auto same = std::ranges::unique(critical);
  critical.erase(same.begin(), same.end());
  return critical;
}

std::size_t last_train_begin(const StepSchedule& schedule,
                             const std::vector<std::size_t>& critical) {
  std::size_t first = critical.size() - 1;
  while (first > 0 &&
         schedule.calls[critical[first]].start_ns == schedule.calls[critical[first - 1]].end_ns) {
    --first;
  }
  return critical[first];
}

void add_update(const UpdatePlan& plan, StepProgram& program) {
  const auto wait_for = [&](std::size_t call) {
    program.update.push_back({Action::What::kWait, Until::kEnd, call});
  };
  const auto add_sums = [&](const std::vector<UpdatePlan::Sum>& sums) {
    for (const UpdatePlan::Sum& sum : sums) {
      wait_for(launch({.what = sum.what,
                       .function = model::CollectiveFunction::kAllReduce,
                       .group = sum.ranks,
                       .bytes = sum.bytes,
                       .share = sum.share},
                      program));
    }
  };
  add_sums(plan.sums_before);
  std::size_t most = 1;
  for (const auto& owned : plan.parts) most = std::max(most, owned.size());
  const std::size_t first = program.calls.size();
  for (std::size_t i = 0; i < most; ++i) {
    program.update.push_back(
        {Action::What::kCompute, Until::kUpdate, 0, plan.share / static_cast<double>(most)});
    for (std::size_t owner = 0; owner < plan.parts.size(); ++owner) {
      if (i >= plan.parts[owner].size()) continue;
      launch(
          {.what = "updated parameters " + std::to_string(i) + " of rank " + std::to_string(owner),
           .function = model::CollectiveFunction::kBroadcast,
           .group = plan.ranks,
           .bytes = plan.parts[owner][i]},
          program);
    }
  }
  for (std::size_t call = first; call < program.calls.size(); ++call) wait_for(call);
  add_sums(plan.sums_behind);
}

}  // namespace shardlens::trace::predict
