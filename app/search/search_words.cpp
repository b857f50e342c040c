#include "app/search/search_words.h"

#include <array>
#include <cmath>

#include "app/search/search_loop.h"
#include "trace/base/text.h"
#include "trace/timeline/words/interval_text.h"
#include "ui/present/format.h"

namespace shardlens::app::search {
namespace {

std::string share_text(double part) { return ui::present::format_percent(std::abs(part)).text(); }

// By its prefix: 1024² of "MiB" with 1024.
double scale_of(const std::string& unit, double base) {
  const auto prefix = std::string_view("KMGT").find(unit.front() == 'k' ? 'K' : unit.front());
  return prefix == std::string_view::npos ? 1 : std::pow(base, prefix + 1);
}

std::string failure_of_start(const sweep::SweepResults& results) {
  const auto first = results.find({sweep::kSearchStart, 0});
  return first == results.end() ? "" : first->second.failure;
}

std::string_view less_text(Goal goal) {
  constexpr std::array<std::string_view, 3> kTexts{" less time per step", " less time per token",
                                                   " less"};
  return trace::base::enum_name<Goal::kMemory>(kTexts, goal);
}

}  // namespace

std::string cost_text(double cost, Goal goal) {
  if (goal == Goal::kMemory) return ui::present::format_bytes(cost).text();
  if (goal == Goal::kStepTime) return ui::present::format_duration(cost).text();
  return ui::present::format_rate(1e9 / cost, "tokens/s").text();
}

std::string estimate_text(double cost, double half_width, Goal goal) {
  using trace::timeline::spread_text;
  if (goal == Goal::kStepTime) {
    return trace::timeline::mean_duration_text(cost, half_width);
  }
  const bool is_memory = goal == Goal::kMemory;
  const double shown_cost = is_memory ? cost : 1e9 / cost;
  const auto shown = is_memory ? ui::present::format_bytes(shown_cost)
                               : ui::present::format_rate(shown_cost, "tokens/s");
  const double scale = scale_of(shown.unit, is_memory ? 1024 : 1000);
  const auto show = [scale](double value) { return ui::present::format_number(value / scale); };
  const double half = half_width / cost * shown_cost;
  return shown.value + " " + spread_text(shown_cost, half, show) + " " + shown.unit;
}

std::string predicted_text(const sweep::PredictedCost& predicted, Goal goal) {
  return estimate_text(predicted.cost, predicted.half_width, goal) +
         (predicted.is_sure() ? "" : " (not sure enough to go by)");
}

std::string_view why_text(Why why) {
  constexpr std::array<std::string_view, 4> kTexts{"the start", "may win",
                                                   "nothing is predicted of it", "confirms"};
  return trace::base::enum_name<Why::kConfirms>(kTexts, why);
}

std::string ending_text(Ending ending) {
  constexpr std::array<std::string_view, 3> kTexts{
      "nothing else that is predicted is likely to win beyond noise",
      "the budget does not hold another run and those that confirm it",
      "the settings that it starts from cannot be run"};
  return "Ended because " + std::string(trace::base::enum_name<Ending::kNoResult>(kTexts, ending)) +
         ".";
}

std::string ending_text(const std::string& kept) {
  const auto ending = trace::base::enum_from_text(kept, Ending::kNoResult);
  return ending ? ending_text(*ending) : kept;
}

std::string why_not_text(const Belief& belief, Goal goal) {
  if (belief.runs > 0 || belief.has_failed) return "";
  if (!belief.fits) return "would not fit in memory";
  const std::string_view end =
      belief.may_win() ? "the search ended before its turn" : "which is not likely to win";
  if (belief.predicted) {
    return "predicted " + predicted_text(*belief.predicted, goal) + ", " + std::string(end);
  }
  if (!belief.alike) return belief.refused.empty() ? "nothing is known of it" : belief.refused;
  return "what was run most like it took " + cost_text(*belief.alike, goal) + ", " +
         std::string(end) + " (" + belief.refused + ")";
}

std::string verdict_text(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                         const std::optional<Outcome>& outcome) {
  if (!outcome) {
    const std::string failure = failure_of_start(results);
    return "The settings that it starts from could not be measured" +
           (failure.empty() ? "." : ": " + failure + (failure.ends_with('.') ? "" : "."));
  }
  const Goal goal = plan.search->goal;
  const std::string start = cost_text(*outcome->base_cost, goal);
  if (!outcome->change && outcome->others == 0) {
    return "Only the settings that it started from were measured: " + start + ".";
  }
  if (!outcome->change) {
    return "Nothing better was found than the settings that it started from: " + start + ".";
  }
  const std::string best = sweep::obeyed_text(plan.points, outcome->best);
  std::string text = best + ": " + cost_text(*outcome->best_cost, goal) + " instead of " + start;
  if (!outcome->half_width) {
    return text + ", " + share_text(*outcome->change) + std::string(less_text(goal)) +
           ", by one run each: how sure that is, is not known.";
  }
  text += ", " + ui::present::format_signed_percent(*outcome->change);
  // What stands before it are rates, which rise as that falls.
  const std::string of = goal == Goal::kTokenRate ? " of the time per token" : "";
  if (*outcome->half_width >= 1) {
    return text + of + ", by runs that lie too far apart to tell how sure that is.";
  }
  text += " ± " + share_text(*outcome->half_width) + of + " (95 %, by " +
          std::to_string(outcome->best_runs) +
          (outcome->leaves_choice_out ? " of its runs, without the first, which chose it, and "
                                      : " of its runs and ") +
          std::to_string(outcome->base_runs) + " of the start)";
  if (!outcome->is_better()) return text + ": no better than the start.";
  return text + (outcome->is_sure() ? "." : ": not told from the start beyond noise.");
}

}  // namespace shardlens::app::search
