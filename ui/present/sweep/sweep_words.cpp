#include "ui/present/sweep/sweep_words.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/timeline/words/interval_text.h"

namespace shardlens::ui::present {

namespace {

constexpr std::size_t kLongestSweepValue = 40;

std::string about_text(double seconds) {
  if (seconds < 90) return std::to_string(std::max(1L, std::lround(seconds))) + " s";
  const double minutes = seconds / 60;
  if (minutes < 90) return std::to_string(std::lround(minutes)) + " min";
  return format_number(minutes / 60) + " h";
}

// "5 of 12 runs"
std::string runs_of_text(const state::ShownSweep& sweep) {
  if (sweep.search) return trace::base::counted(sweep.runs_done, "run");
  return std::to_string(sweep.runs_done) + " of " +
         trace::base::counted(sweep.runs_done + sweep.runs_left, "run");
}

std::string time_left_text(const state::ShownSweep& sweep) {
  return sweep.seconds_left && sweep.runs_left > 0 ? ", " + format_seconds_left(*sweep.seconds_left)
                                                   : "";
}

// Each behind what `begin` says of its knob.
template <typename Begin>
std::string obeyed_values(const state::ShownSweep& sweep, std::size_t point,
                          std::string_view separator, Begin begin) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < sweep.varied.size(); ++i) {
    if (!is_obeyed(sweep, point, i)) continue;
    parts.push_back(begin(i) +
                    trace::base::shortened(sweep.points[point].values[i], kLongestSweepValue));
  }
  return trace::base::joined(parts, separator);
}

// "Run 5", of a search; else "Run 5 of 12".
std::string run_number_text(const state::ShownSweep& sweep) {
  const std::string text = "Run " + std::to_string(sweep.runs_done + 1);
  return sweep.search ? text : text + " of " + std::to_string(sweep.runs_done + sweep.runs_left);
}

std::string search_cost_text(const state::SweepCard& card) {
  return trace::base::counted(card.points, "point") +
         ", of which only those are run that may win beyond noise by what is predicted, for at "
         "most " +
         about_text(60.0 * card.draft.search->budget_minutes);
}

// Of a sweep's point: drift taken out.
state::PointCost cost_in_rounds(const state::ShownSweep& sweep, const state::SweepPoint& point) {
  state::PointCost cost;
  const auto factor = cost_per_step_time(sweep, point);
  if (!factor) return cost;
  const auto of = [&](const std::optional<double>& step_ns) {
    return step_ns ? std::optional(*factor * *step_ns) : std::nullopt;
  };
  cost.measured = of(point.step_ns);
  cost.half_width = of(point.half_width_ns);
  cost.predicted = of(point.prediction.step_ns);
  if (const auto& interval = point.prediction.interval) {
    cost.low = of(std::max(interval->low_ns, 0.0));
    cost.high = of(interval->high_ns);
  }
  for (const auto& run : point.runs) cost.runs.push_back(*factor * run.step_ns);
  return cost;
}

}  // namespace

std::string standing_text(state::SweepStanding standing, const std::optional<double>& slower_by,
                          std::string_view slower) {
  const std::string by = slower_by ? format_signed_percent(*slower_by) : "";
  const auto with = [&](std::string_view words) {
    return (by.empty() ? "" : by + " ") + std::string(words);
  };
  switch (standing) {
    case state::SweepStanding::kBest:
      return "best mean";
    case state::SweepStanding::kWithinNoise:
      return with("within noise");
    case state::SweepStanding::kNotKnown:
      return with("(noise not known)");
    case state::SweepStanding::kSlower:
      return with(slower);
    case state::SweepStanding::kStoppedEarly:
      return with("slower, stopped early");
    case state::SweepStanding::kFailed:
      return "failed";
    case state::SweepStanding::kNotRun:
      return "not run";
  }
  return "";
}

bool keeps_start(const state::ShownSweep& sweep) {
  return sweep.best && !sweep.best_first.empty() && sweep.best_first.front() != *sweep.best;
}

std::string best_mark(const state::ShownSweep& sweep) {
  return keeps_start(sweep) ? "start kept" : standing_text(state::SweepStanding::kBest, {});
}

std::string beside_best_text(const state::ShownSweep& sweep, const state::SweepPoint& point) {
  if (point.standing == state::SweepStanding::kBest) return best_mark(sweep);
  return standing_text(point.standing, point.slower_by, sweep.is_for_memory() ? "more" : "slower");
}

bool is_obeyed(const state::ShownSweep& sweep, std::size_t point, std::size_t knob) {
  const auto* strategy = trace::job::find_knob("sharding_strategy");
  const bool varies = std::ranges::find(sweep.varied, strategy) != sweep.varied.end();
  return !varies ||
         trace::job::applies(*sweep.varied[knob], sweep.points[point].settings.sharding_strategy);
}

std::string sweep_point_text(const state::ShownSweep& sweep, std::size_t point) {
  return obeyed_values(sweep, point, ", ",
                       [&](std::size_t i) { return std::string(sweep.varied[i]->name) + "="; });
}

std::string sweep_point_label(const state::ShownSweep& sweep, std::size_t point) {
  return obeyed_values(sweep, point, " · ", [](std::size_t) { return ""; });
}

std::string axis_title(const trace::job::Knob& knob) {
  return std::string(knob.name) + (knob.unit.empty() ? "" : " (" + std::string(knob.unit) + ")");
}

std::optional<double> number_in(const std::string& value) {
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  const bool is_whole = end != value.c_str() && *end == '\0' && std::isfinite(number);
  return is_whole ? std::optional(number) : std::nullopt;
}

std::string sweep_step_text(const state::SweepPoint& point) {
  if (!point.step_ns) return "";
  return trace::timeline::mean_duration_text(*point.step_ns, point.half_width_ns);
}

std::string sweep_progress_text(const state::ShownSweep& sweep) {
  switch (sweep.phase) {
    case state::SweepPhase::kUnfinished:
      return "Unfinished: " + runs_of_text(sweep);
    case state::SweepPhase::kRunning:
      if (!sweep.running_point || *sweep.running_point >= sweep.points.size()) {
        return "Checking every point before the first one starts";
      }
      return run_number_text(sweep) + ": " + sweep_point_text(sweep, *sweep.running_point) +
             time_left_text(sweep);
    case state::SweepPhase::kStopping:
      return "Stopping: the run at hand does not count";
    case state::SweepPhase::kElsewhere:
      return "Another program runs it: " + runs_of_text(sweep) + time_left_text(sweep);
    case state::SweepPhase::kDone:
      return "Done: " + trace::base::counted(sweep.runs_done, "run");
  }
  return "";
}

float sweep_progress(const state::ShownSweep& sweep) {
  const std::size_t all = sweep.runs_done + sweep.runs_left;
  return all == 0 ? 0 : static_cast<float>(sweep.runs_done) / static_cast<float>(all);
}

std::vector<std::string> point_remarks(const std::string& name, const state::PointFigures& point) {
  std::vector<std::string> remarks;
  if (point.standing == state::SweepStanding::kFailed) {
    remarks.push_back(name + " failed: " + point.reason);
  } else if (point.standing == state::SweepStanding::kStoppedEarly) {
    remarks.push_back(name + " was stopped " + point.reason);
  }
  if (!point.failed_once.empty()) {
    remarks.push_back(name +
                      " failed once and was well when it was run again: " + point.failed_once);
  }
  return remarks;
}

std::vector<std::string> sweep_remarks(const state::ShownSweep& sweep) {
  std::vector<std::string> remarks;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    std::ranges::move(point_remarks(sweep_point_text(sweep, i), sweep.points[i]),
                      std::back_inserter(remarks));
  }
  return remarks;
}

std::vector<const trace::job::Knob*> knobs_to_set(const state::ShownSweep& sweep, std::size_t point,
                                                  const trace::job::Settings& next) {
  const auto& settings = sweep.points[point].settings;
  auto knobs = trace::job::differing_knobs(next, settings);
  std::erase_if(knobs, [&](const trace::job::Knob* knob) {
    return !trace::job::applies(*knob, settings.sharding_strategy);
  });
  return knobs;
}

std::string other_settings(const state::ShownSweep& sweep, const trace::job::Settings& next) {
  if (sweep.points.empty()) return "";
  std::string text;
  for (const auto* knob : knobs_to_set(sweep, sweep.best.value_or(0), next)) {
    const bool varies = std::ranges::find(sweep.varied, knob) != sweep.varied.end();
    if (!varies) text += (text.empty() ? "" : ", ") + std::string(knob->name);
  }
  return text;
}

std::optional<double> cost_per_step_time(const state::ShownSweep& sweep,
                                         const state::SweepPoint& point) {
  if (!sweep.by_tokens) return 1;
  if (!point.step_ns || !(*point.step_ns > 0) || !(point.tokens_per_s.value_or(0) > 0)) {
    return std::nullopt;
  }
  return 1e9 / *point.tokens_per_s / *point.step_ns;
}

state::PointCost point_cost(const state::ShownSweep& sweep, const state::SweepPoint& point) {
  state::PointCost cost = point.searched ? *point.searched : cost_in_rounds(sweep, point);
  if (point.standing == state::SweepStanding::kFailed) {
    cost.measured.reset();
    cost.half_width.reset();
  }
  return cost;
}

Quantity search_quantity(const state::ShownSweep& sweep, double cost) {
  if (sweep.is_for_memory()) return format_bytes(cost);
  return sweep.by_tokens ? format_rate(1e9 / cost, "tokens/s") : format_duration(cost);
}

std::string predicted_text(const state::ShownSweep& sweep, const state::SweepPoint& point) {
  if (point.searched) {
    const auto& predicted = point.searched->predicted;
    return predicted ? search_quantity(sweep, *predicted).text() : "";
  }
  const auto& step_ns = point.prediction.step_ns;
  return step_ns ? format_duration(*step_ns).text() : "";
}

std::string sweep_cost_text(const state::SweepCard& card) {
  if (!card.is_checked) return "Checking…";
  if (card.draft.search) return search_cost_text(card);
  std::string text = trace::base::counted(card.points, "point");
  text += card.draft.repeats == 1 ? ", once each: "
                                  : ", " + std::to_string(card.draft.repeats) + " times each: ";
  text += trace::base::counted(card.runs, "run");
  if (!card.seconds) return text + "; how long they take is known once one has ended";
  return text + ", about " + about_text(*card.seconds) + ", by what " + card.expected_from +
         " took" + (card.draft.stops_early && card.draft.repeats > 2 ? ", at most" : "");
}

}  // namespace shardlens::ui::present
