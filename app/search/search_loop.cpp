#include "app/search/search_loop.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace shardlens::app::search {

using trace::base::Result;

Standing standing_of(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                     RunForecasts& forecasts) {
  Standing standing;
  standing.beliefs = beliefs_of(plan, results, std::ref(forecasts));
  standing.outcome = outcome_of(plan, results, standing.beliefs);
  return standing;
}

SearchLoop::SearchLoop(sweep::Sweep& grid, ForecastSources sources)
    : grid_(grid), forecasts_(grid.plan(), std::move(sources)) {
  for (const auto& [slot, result] : grid.results()) runs_.push_back({slot});
}

double SearchLoop::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
}

Result<bool> SearchLoop::run(const SearchDriver& driver, const Choice& choice) {
  TRY_ASSIGN(auto request, grid_.request_for(choice.slot));
  const auto& results = grid_.results();
  const auto start = std::ranges::find_if(results, [](const auto& run) {
    return run.first.point == sweep::kSearchStart && run.second.measure.has_value();
  });
  if (start != results.end()) {
    request.predicted = forecasts_.step({sweep::kSearchStart, &start->second}, choice.slot.point);
  }
  TRY_ASSIGN(const auto ended, driver.run(choice, request));
  TRY_ASSIGN(const bool counts, grid_.take(choice.slot, ended, choice.predicted));
  if (!counts) return false;
  runs_.push_back({choice.slot, choice.why});
  driver.counted(choice);
  return true;
}

Result<std::optional<Ending>> SearchLoop::run_to_end(const SearchDriver& driver) {
  TRY(grid_.keep_ending(""));
  const double budget = grid_.plan().search->budget_seconds;
  while (!driver.wants_to_stop()) {
    const Standing now = standing();
    const auto decision = decide(grid_.results(), now.beliefs, budget - seconds());
    if (!decision.choice) {
      TRY(grid_.keep_ending(std::string(to_string(decision.ending))));
      return decision.ending;
    }
    TRY_ASSIGN(const bool counts, run(driver, *decision.choice));
    if (!counts) break;
  }
  return std::nullopt;
}

}  // namespace shardlens::app::search
