// What runs a search to its end, whoever starts its jobs: the command line, or the window's queue.
// One thread at a time; waits for the runs.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "app/search/search.h"
#include "app/sweep/sweep.h"

namespace shardlens::app::search {

struct SearchRun {
  sweep::Slot slot{};
  std::optional<Why> why{};  // none: found there, of an earlier start
};

using SearchDriver = sweep::Driver<Choice>;

// What a search believes at the moment, and what it would answer if it ended now.
struct Standing {
  std::vector<Belief> beliefs{};
  std::optional<Outcome> outcome{};  // none: the start could not be measured
};
Standing standing_of(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                     RunForecasts& forecasts);

class SearchLoop {
 public:
  // `grid` has a search in its plan, and outlives this.
  SearchLoop(sweep::Sweep& grid, ForecastSources sources);

  // None: its user stopped it. Errors: those of the sweep and of the driver.
  trace::base::Result<std::optional<Ending>> run_to_end(const SearchDriver& driver);

  Standing standing() { return standing_of(grid_.plan(), grid_.results(), forecasts_); }
  const std::vector<SearchRun>& runs() const { return runs_; }  // as they ran
  double seconds() const;                                       // since it was made

 private:
  trace::base::Result<bool> run(const SearchDriver& driver, const Choice& choice);

  sweep::Sweep& grid_;
  RunForecasts forecasts_;
  std::vector<SearchRun> runs_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace shardlens::app::search
