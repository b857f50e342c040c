// Grids, noise and errors of predictions drawn by a seed: what a search finds in them, and in how
// many runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "tests/app/search/made_up_search.h"

namespace shardlens::app::search {
namespace {

constexpr int kDrawn = 200;
constexpr int kRoundsOfAGrid = 2;  // a sweep's default

// Some strategies, each with a level of its own and a valley of some knob within it: a few points
// of one, many of another, 24 or more in all.
struct DrawnGrid {
  explicit DrawnGrid(std::mt19937_64& random) {
    const auto between = [&](double low, double high) {
      return std::uniform_real_distribution<double>(low, high)(random);
    };
    const int strategies = std::uniform_int_distribution<int>(2, 6)(random);
    for (int strategy = 0; strategy < strategies || costs.size() < 24; ++strategy) {
      const int points = std::uniform_int_distribution<int>(1, 12)(random);
      const double level = 100 * between(1, 1.4), steepness = between(0.002, 0.06);
      const double valley = between(0, points - 1);
      for (int i = 0; i < points; ++i) {
        costs.push_back(level * (1 + steepness * std::pow(i - valley, 2)));
        groups.push_back(strategy);
      }
    }
  }
  std::vector<double> costs;
  std::vector<int> groups;
};

// What predictions are like: a run's own noise goes with all that is predicted from it; what
// another strategy does is off by an amount of its own, and every change of a knob by some of what
// it does.
class DrawnPredictions {
 public:
  DrawnPredictions(const DrawnGrid& grid, std::mt19937_64& random) : grid_(grid) {
    const auto between = [&](double low, double high) {
      return std::uniform_real_distribution<double>(low, high)(random);
    };
    const double of_strategies = between(0, 0.05), of_points = between(0, 0.03);
    std::normal_distribution<double> normal;
    std::vector<double> offsets(64);
    for (double& offset : offsets) offset = of_strategies * normal(random);
    for (const int group : grid.groups) {
      errors_.push_back(offsets[static_cast<std::size_t>(group)] + of_points * normal(random));
    }
  }

  Forecast operator()(const SourceRun& run, std::size_t point) const {
    const double error = errors_[point] - errors_[run.point];
    const bool is_same = grid_.groups[point] == grid_.groups[run.point];
    Forecast forecast;
    forecast.cost =
        run.result->measure->step_ns * (grid_.costs[point] / grid_.costs[run.point] + error);
    forecast.deviation = (is_same ? 0.025 : 0.035) * *forecast.cost;  // as it is with interval
    return forecast;
  }

 private:
  const DrawnGrid& grid_;
  std::vector<double> errors_;
};

struct Tally {
  int found = 0, thrifty = 0, both = 0, runs = 0;
};

Tally search_drawn_grids() {
  Tally tally;
  for (std::uint64_t seed = 0; seed < kDrawn; ++seed) {
    std::mt19937_64 random(seed);
    const DrawnGrid grid(random);
    const DrawnPredictions predictions(grid, random);
    MadeUpSearch search(grid.costs, seed);
    search.noise = std::uniform_real_distribution<double>(0.005, 0.04)(random);
    // Any point may be the one that it starts from, which is its first.
    const std::size_t start = random() % grid.costs.size();
    std::swap(search.costs.front(), search.costs[start]);
    const auto in_grid = [start](std::size_t point) {
      return point == 0 ? start : point == start ? 0 : point;
    };
    search.predictions = [&](const SourceRun& run, std::size_t point) {
      return predictions({in_grid(run.point), run.result}, in_grid(point));
    };
    search.run_to_end();
    const double best = *std::ranges::min_element(grid.costs);
    const double cost = search.costs[search.outcome().best];
    const bool is_found = cost <= best * (1 + 2 * search.noise);
    const bool is_thrifty =
        4 * static_cast<std::size_t>(search.runs) <= kRoundsOfAGrid * grid.costs.size();
    tally.found += is_found ? 1 : 0;
    tally.thrifty += is_thrifty ? 1 : 0;
    tally.both += is_found && is_thrifty ? 1 : 0;
    tally.runs += search.runs;
  }
  return tally;
}

TEST(DrawnGrids, TheirBestIsFoundWithinNoiseInAQuarterOfTheirRuns) {
  const Tally tally = search_drawn_grids();
  EXPECT_GE(tally.both, kDrawn * 95 / 100)
      << tally.found << " found, " << tally.thrifty << " within a quarter, " << tally.runs / kDrawn
      << " runs in the mean";
}

}  // namespace
}  // namespace shardlens::app::search
