#include "app/search/search_words.h"

#include <cmath>

#include "ui/present/format.h"

namespace shardlens::app::search {
namespace {

constexpr double kDeviationsOf95 = 1.96;  // standard deviations to either end of a 95 % interval

std::string share_text(double part) { return ui::present::format_percent(std::abs(part)).text(); }

std::string_view less_text(Goal goal) {
  switch (goal) {
    case Goal::kMemory:
      return " less";
    case Goal::kTokenRate:
      return " less time per token";
    case Goal::kStepTime:
      break;
  }
  return " less time per step";
}

}  // namespace

std::string cost_text(double cost, Goal goal) {
  if (goal == Goal::kMemory) return ui::present::format_bytes(cost).text();
  if (goal == Goal::kStepTime) return ui::present::format_duration(cost).text();
  return ui::present::format_rate(1e9 / cost, "tokens/s").text();
}

std::string_view why_text(Why why) {
  switch (why) {
    case Why::kStart:
      return "the start";
    case Why::kPromising:
      return "may win";
    case Why::kUnknown:
      return "nothing is predicted of it";
    case Why::kConfirms:
      break;
  }
  return "confirms";
}

std::string ending_text(Ending ending) {
  switch (ending) {
    case Ending::kSettled:
      return "Ended because nothing else that is predicted is likely to win beyond noise.";
    case Ending::kNoTime:
      return "Ended because the budget does not hold another run and those that confirm it.";
    case Ending::kNoResult:
      break;
  }
  return "Ended because the settings that it starts from cannot be run.";
}

std::string why_not_text(const Belief& belief, Goal goal) {
  if (belief.runs > 0 || belief.has_failed) return "";
  if (!belief.fits) return "would not fit in memory";
  const std::string_view end =
      belief.may_win() ? "the search ended before its turn" : "which is not likely to win";
  if (belief.cost) {
    return "predicted " + cost_text(*belief.cost, goal) + " ± " +
           share_text(kDeviationsOf95 * belief.deviation / *belief.cost) + ", " + std::string(end);
  }
  if (!belief.alike) return belief.refused.empty() ? "nothing is known of it" : belief.refused;
  return "what was run most like it took " + cost_text(*belief.alike, goal) + ", " +
         std::string(end) + " (" + belief.refused + ")";
}

std::string verdict_text(const sweep::SweepPlan& plan, Goal goal,
                         const std::optional<Outcome>& outcome) {
  if (!outcome) return "The settings that it starts from could not be measured.";
  const std::string start = cost_text(*outcome->base_cost, goal);
  if (!outcome->change) {
    return "Nothing better was found than the settings that it started from: " + start + ".";
  }
  const std::string best = sweep::obeyed_text(plan.points, outcome->best);
  std::string text = best + ": " + cost_text(*outcome->best_cost, goal) + " instead of " + start;
std::string ending_text(const std::string& kept) {
  for (const Ending ending : {Ending::kSettled, Ending::kNoTime, Ending::kNoResult}) {
    if (kept == to_string(ending)) return ending_text(ending);
  }
  return kept;
}

  if (!outcome->half_width) {
    return text + ", " + share_text(*outcome->change) + std::string(less_text(goal)) +
           ", by one run each: how sure that is, is not known.";
  }
  text += ", " + ui::present::format_signed_percent(*outcome->change) + " ± " +
          share_text(*outcome->half_width) + " (95 %, by " + std::to_string(outcome->best_runs) +
          " of its runs and " + std::to_string(outcome->base_runs) + " of the start)";
  return text + (outcome->is_sure() ? "." : ": not told from the start beyond noise.");
}

}  // namespace shardlens::app::search
