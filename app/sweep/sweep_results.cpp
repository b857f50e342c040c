#include "app/sweep/sweep_results.h"

#include <algorithm>
#include <utility>

#include "trace/analysis/noise/noise_model.h"
#include "trace/analysis/noise/same_job.h"
#include "trace/base/median.h"
#include "trace/base/words/quantity.h"

namespace shardlens::app::sweep {
namespace {

// In a round that is asked for.
bool has_failed(const SweepPlan& plan, const SweepResults& results, std::size_t point) {
  return std::ranges::any_of(results, [&](const auto& entry) {
    const auto& [slot, result] = entry;
    return slot.point == point && slot.round < plan.repeats && !result.failure.empty();
  });
}

double others_of(const SweepPlan& plan) {
  return static_cast<double>(std::max<std::size_t>(plan.points.settings.size(), 2)) - 1;
}

std::string percent_of(double relative) { return trace::base::format_percent(relative).text(); }

// The bounds need what scatters within rounds, which one round does not tell.
void stop_what_cannot_win(const SweepPlan& plan, const SweepResults& results, int rounds,
                          std::vector<PointState>& states) {
  const auto noise = noise_of(plan, results, goal_of(plan, results), rounds);
  const auto best = best_of(plan, noise, states, results);
  if (!best) return;
  for (std::size_t point = 0; point < states.size(); ++point) {
    // One that was well the second time catches up on its rounds first.
    if (states[point].is_out() || point == *best || !results.contains({point, rounds - 1}))
      continue;
    const auto slower = noise.difference(point, *best, claims_of_a_stop(plan));
    if (!slower || slower->low <= 0) continue;
    states[point].stopped_early =
        "after " + std::to_string(rounds) + " runs: " + percent_of(slower->mean) + " slower than " +
        point_text(plan.points, *best) + ", at least " + percent_of(slower->low) + " (" +
        percent_of(1 - kFalseStops) + " confidence)";
  }
}

void note_failures(const SweepResults& results, int round, std::vector<PointState>& states) {
  for (std::size_t point = 0; point < states.size(); ++point) {
    const auto found = results.find({point, round});
    if (found != results.end() && states[point].failure.empty()) {
      states[point].failure = found->second.failure;
    }
  }
}

void decide_after(const SweepPlan& plan, const SweepResults& results, int round,
                  std::vector<PointState>& states) {
  note_failures(results, round, states);
  // After the last round there is nothing left to stop.
  if (plan.stops_early && round + 1 < plan.repeats) {
    stop_what_cannot_win(plan, results, round + 1, states);
  }
}

std::optional<Slot> failed_once(const SweepPlan& plan, const SweepResults& results) {
  const auto found = std::ranges::find_if(results, [&](const auto& entry) {
    return entry.first.round < plan.repeats && entry.second.is_to_be_retried();
  });
  return found == results.end() ? std::nullopt : std::optional(found->first);
}

int last_round(const SweepPlan& plan, const SweepResults& results) {
  int last = 0;
  for (const auto& [slot, result] : results) last = std::max(last, slot.round);
  return std::min(last, plan.repeats - 1);
}

// If it is not stopped, and what failed once does not fail again.
int runs_left(const SweepPlan& plan, const SweepResults& results, std::size_t point) {
  int runs = 0;
  for (int round = 0; round < plan.repeats; ++round) {
    const auto found = results.find({point, round});
    if (found == results.end() || found->second.is_to_be_retried()) {
      ++runs;
    } else if (!found->second.failure.empty()) {
      return 0;
    }
  }
  return runs;
}

}  // namespace

std::vector<PointState> states_at(const SweepPlan& plan, const SweepResults& results, int round) {
  std::vector<PointState> states(plan.points.settings.size());
  for (int before = 0; before < round; ++before) decide_after(plan, results, before, states);
  return states;
}

std::vector<PointState> states_now(const SweepPlan& plan, const SweepResults& results) {
  const auto next = next_slot(plan, results);
  const int over = next ? std::max(next->round, last_round(plan, results)) : plan.repeats;
  std::vector<PointState> states = states_at(plan, results, over);
  for (int round = over; round < plan.repeats; ++round) note_failures(results, round, states);
  return states;
}

std::optional<Slot> next_slot(const SweepPlan& plan, const SweepResults& results) {
  std::vector<PointState> states(plan.points.settings.size());
  for (int round = 0; round < plan.repeats; ++round) {
    for (const std::size_t point : order_of(plan, round)) {
      const Slot slot{point, round};
      if (!states[point].is_out() && !results.contains(slot)) return slot;
    }
    decide_after(plan, results, round, states);
  }
  return failed_once(plan, results);
}

std::size_t runs_made(const SweepResults& results) {
  const auto again = std::ranges::count_if(
      results, [](const auto& entry) { return !entry.second.failed_before.empty(); });
  return results.size() + static_cast<std::size_t>(again);
}

std::optional<double> mean_seconds(const SweepResults& results, std::optional<std::size_t> point) {
  std::vector<double> seconds;
  for (const auto& [slot, result] : results) {
    const bool is_meant = !point || slot.point == *point;
    if (is_meant && result.measure) seconds.push_back(result.measure->seconds);
  }
  return seconds.empty() ? std::nullopt : std::optional(trace::base::mean_of(seconds));
}

WorkLeft work_left(const SweepPlan& plan, const SweepResults& results) {
  WorkLeft left;
  if (!next_slot(plan, results)) return {.runs = 0, .seconds = 0};
  const auto states = states_now(plan, results);
  left.seconds = 0;
  for (std::size_t point = 0; point < states.size(); ++point) {
    if (!states[point].stopped_early.empty()) continue;
    const int runs = runs_left(plan, results, point);
    if (runs == 0) continue;
    left.runs += runs;
    const auto own = mean_seconds(results, point);
    const auto each = own ? own : mean_seconds(results);
    if (left.seconds && each) {
      *left.seconds += runs * *each;
    } else {
      left.seconds.reset();
    }
  }
  return left;
}

Goal goal_of(const SweepPlan& plan, const SweepResults& results) {
  const auto work_of = [](const trace::job::Settings& settings) {
    trace::model::RunInfo info;
    info.settings = settings;
    info.world_size = static_cast<int>(settings.ranks);
    return info;
  };
  const auto first = work_of(plan.points.settings.front());
  const bool is_same = std::ranges::all_of(plan.points.settings, [&](const auto& settings) {
    return trace::analysis::has_same_work(first, work_of(settings));
  });
  const bool has_tokens = std::ranges::all_of(results, [](const auto& entry) {
    return !entry.second.measure || entry.second.measure->tokens_per_s.value_or(0) > 0;
  });
  // A search says what it is for, whatever work its points do.
  const bool is_of_tokens = plan.search ? plan.search->goal == Goal::kTokenRate : !is_same;
  return is_of_tokens && has_tokens ? Goal::kTokenRate : Goal::kStepTime;
}

std::optional<double> cost_of(const RunMeasure& run, Goal goal) {
  if (goal == Goal::kMemory) return run.peak_memory_bytes;
  if (goal == Goal::kStepTime) return run.step_ns;
  if (!run.tokens_per_s || *run.tokens_per_s <= 0) return std::nullopt;
  return 1e9 / *run.tokens_per_s;
}

std::vector<double> costs_of(const SweepResults& results, std::size_t point, Goal goal,
                             int first_round) {
  std::vector<double> costs;
  for (const auto& [slot, result] : results) {
    if (slot.point != point || slot.round < first_round || !result.measure) continue;
    if (const auto cost = cost_of(*result.measure, goal)) costs.push_back(*cost);
  }
  return costs;
}

trace::analysis::RoundNoise noise_of(const SweepPlan& plan, const SweepResults& results, Goal goal,
                                     int rounds) {
  std::vector<trace::analysis::RoundValue> values;
  for (const auto& [slot, result] : results) {
    if (slot.round >= rounds || !result.measure) continue;
    const auto cost = cost_of(*result.measure, goal);
    if (cost) values.push_back({slot.point, static_cast<std::size_t>(slot.round), *cost});
  }
  return trace::analysis::RoundNoise(
      std::move(values),
      plan.search ? trace::analysis::Rounds::kNone : trace::analysis::Rounds::kOfAllPoints);
}

std::optional<std::size_t> best_of(const SweepPlan& plan, const trace::analysis::RoundNoise& noise,
                                   const std::vector<PointState>& states,
                                   const SweepResults& results) {
  std::optional<std::size_t> best;
  for (std::size_t point = 0; point < states.size(); ++point) {
    const auto level = noise.level(point);
    // Also of one that fails later: nothing is stopped for its sake.
    if (states[point].is_out() || !level || has_failed(plan, results, point)) continue;
    if (!best || *level < *noise.level(*best)) best = point;
  }
  return best;
}

double claims_of_a_stop(const SweepPlan& plan) {
  const int looks = std::max(plan.repeats - 2, 1);  // after each round but the first and the last
  return kFalseStops / others_of(plan) / looks;
}

double claims_of_the_end(const SweepPlan& plan) {
  return trace::analysis::kFalseClaims / others_of(plan);
}

}  // namespace shardlens::app::sweep
