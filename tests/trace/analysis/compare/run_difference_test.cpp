#include "trace/analysis/compare/run_difference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "trace/analysis/figures/run_summary.h"

namespace shardlens::trace::analysis {
namespace {

struct DrawnOptions {
  int ranks = 3, steps = 40;
  bool tells_waiting = true;
  double with_detail = 1;  // share of the steps
  bool copies = true;
};

// Cuts `total` at random places.
std::vector<std::int64_t> cut_at_random(std::mt19937_64& random, std::int64_t total,
                                        std::size_t parts) {
  std::vector<std::int64_t> borders{0, total};
  std::uniform_int_distribution<std::int64_t> place(0, total);
  while (borders.size() < parts + 1) borders.push_back(place(random));
  std::ranges::sort(borders);
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 1; i < borders.size(); ++i) lengths.push_back(borders[i] - borders[i - 1]);
  return lengths;
}

RunFigures drawn_explained_run(std::mt19937_64& random, const DrawnOptions& options) {
  std::uniform_int_distribution<std::int64_t> length(50'000'000, 400'000'000);
  std::bernoulli_distribution has_detail(options.with_detail);
  RunFigures run;
  run.info.world_size = options.ranks;
  for (int i = 0; i < options.steps; ++i) {
    auto& step = run.steps.emplace_back();
    step.index = i;
    step.complete = true;
    const bool detailed = i == 0 || has_detail(random);
    for (int rank = 0; rank < options.ranks; ++rank) {
      auto& breakdown = step.ranks.emplace_back();
      breakdown.step_ns = length(random);
      const auto phases = cut_at_random(random, breakdown.step_ns, base::kPhaseCount);
      std::ranges::copy(phases, breakdown.phase_ns.begin());
      if (!detailed) continue;
      const auto parts = cut_at_random(random, breakdown.step_ns, 5);
      breakdown.has_detail = true;
      breakdown.compute_ns = parts[0];
      breakdown.exposed_ns = parts[1] + parts[2];
      breakdown.comm_ns = breakdown.exposed_ns;
      breakdown.exposed_copy_ns = options.copies ? parts[3] : 0;
      breakdown.idle_ns = parts[4] + (options.copies ? 0 : parts[3]);
      step.exposed_wait_ns.push_back(options.tells_waiting ? parts[1] : -1);
    }
  }
  run.summary = summarize(run.info, run.steps, run.ranks);
  return run;
}

double sum_of_differences(const std::vector<ShareDifference>& shares) {
  double sum = 0;
  for (const auto& share : shares) sum += share.difference();
  return sum;
}

const ShareDifference* share_of(const std::vector<ShareDifference>& shares, StepShare share) {
  const auto found = std::ranges::find(shares, share, &ShareDifference::share);
  return found == shares.end() ? nullptr : &*found;
}

// The mean of all steps and ranks, without any of the program's sums.
double mean_step_ns(const RunFigures& run) {
  long double sum = 0, count = 0;
  for (const auto& step : run.steps) {
    for (const auto& rank : step.ranks) {
      sum += static_cast<long double>(rank.step_ns);
      ++count;
    }
  }
  return static_cast<double>(sum / count);
}

TEST(StepExplanation, PartsAndPhasesSumToTheDifferenceToTheNanosecond) {
  std::mt19937_64 random(20261124);
  for (int draw = 0; draw < 200; ++draw) {
    DrawnOptions options;
    options.ranks = 1 + draw % 4;
    options.tells_waiting = draw % 3 != 0;
    options.with_detail = draw % 5 == 0 ? 0.5 : 1;
    options.copies = draw % 2 == 0;
    const auto first = drawn_explained_run(random, options);
    options.tells_waiting = draw % 4 != 0;
    const auto second = drawn_explained_run(random, options);
    const auto explanation = difference_between({first}, {second}).explanation;
    const double expected = mean_step_ns(second) - mean_step_ns(first);
    ASSERT_NEAR(explanation.difference_ns(), expected, 0.01) << draw;
    ASSERT_NEAR(sum_of_differences(explanation.parts), expected, 0.01) << draw;
    ASSERT_NEAR(sum_of_differences(explanation.phases), expected, 0.01) << draw;
    for (const auto* shares : {&explanation.parts, &explanation.phases}) {
      ASSERT_TRUE(std::ranges::is_sorted(*shares, std::ranges::greater{}, [](const auto& share) {
        return std::abs(share.difference());
      })) << draw;
    }
  }
}

TEST(StepExplanation, SplitsExposedTimeOnlyWhereBothRunsTellWhatWasWaiting) {
  std::mt19937_64 random(1);
  const auto told = drawn_explained_run(random, {});
  const auto untold = drawn_explained_run(random, {.tells_waiting = false});
  const auto both = difference_between({told}, {told}).explanation.parts;
  EXPECT_EQ(share_of(both, StepShare::kExposed), nullptr);
  ASSERT_NE(share_of(both, StepShare::kWaiting), nullptr);
  ASSERT_NE(share_of(both, StepShare::kTransfer), nullptr);
  EXPECT_NEAR(
      share_of(both, StepShare::kWaiting)->first + share_of(both, StepShare::kTransfer)->first,
      told.summary.exposed_ns, 1e-3);
  const auto one = difference_between({told}, {untold}).explanation.parts;
  EXPECT_NE(share_of(one, StepShare::kExposed), nullptr);
  EXPECT_EQ(share_of(one, StepShare::kWaiting), nullptr);
}

TEST(StepExplanation, StepsWithoutDetailAreAPartOfTheirOwn) {
  std::mt19937_64 random(2);
  const auto all = drawn_explained_run(random, {});
  const auto some = drawn_explained_run(random, {.with_detail = 0.3});
  const auto parts = difference_between({all}, {some}).explanation.parts;
  const auto* without = share_of(parts, StepShare::kUndetailed);
  ASSERT_NE(without, nullptr);
  EXPECT_NEAR(without->first, 0, 1e-3);
  double detailed = 0, steps = 0;
  for (const auto& step : some.steps) {
    if (!step.ranks[0].has_detail) continue;
    for (const auto& rank : step.ranks) detailed += static_cast<double>(rank.step_ns);
    steps += static_cast<double>(step.ranks.size());
  }
  EXPECT_NEAR(without->second, mean_step_ns(some) - detailed / steps, 0.01);
}

TEST(StepExplanation, APhaseThatOnlyOneProgramMarksLeavesPhasesUnexplained) {
  std::mt19937_64 random(3);
  const auto first = drawn_explained_run(random, {});
  auto second = drawn_explained_run(random, {});
  second.summary.phase_ns[0].reset();
  const auto explanation = difference_between({first}, {second}).explanation;
  EXPECT_TRUE(explanation.phases.empty());
  EXPECT_FALSE(explanation.parts.empty());
}

TEST(StepExplanation, OfRunsWithoutDetailOrStepsIsEmpty) {
  std::mt19937_64 random(4);
  const auto run = drawn_explained_run(random, {});
  auto bare = run;
  for (auto& step : bare.steps) {
    for (auto& rank : step.ranks) rank.has_detail = false;
  }
  bare.summary = summarize(bare.info, bare.steps, bare.ranks);
  EXPECT_TRUE(difference_between({run}, {bare}).explanation.parts.empty());
  EXPECT_FALSE(difference_between({run}, {bare}).explanation.phases.empty());
  const auto nothing = difference_between({run}, {RunFigures{}}).explanation;
  EXPECT_TRUE(nothing.parts.empty());
  EXPECT_TRUE(nothing.phases.empty());
}

TEST(StepExplanation, PartsHaveTheVerdictsOfTheComparison) {
  std::mt19937_64 random(5);
  auto second = drawn_explained_run(random, {});
  second.info.settings.bucket_cap_mb = 4;
  const auto difference = difference_between({drawn_explained_run(random, {})}, {second});
  int judged = 0;
  for (const auto& part : difference.explanation.parts) {
    for (const auto& figure : difference.comparison.figures) {
      if (figure.name != part.name) continue;
      EXPECT_NEAR(figure.difference, part.difference(), 0.01) << part.name;
      EXPECT_EQ(figure.beyond_noise, part.beyond_noise) << part.name;
      EXPECT_EQ(figure.half_width, part.half_width) << part.name;
      judged += part.beyond_noise.has_value();
      if (!part.half_width) continue;
      EXPECT_EQ(part.beyond_noise, std::abs(part.difference()) > *part.half_width) << part.name;
    }
  }
  EXPECT_EQ(judged, 5) << "compute, waiting, transfer, exposed copies, idle";
}

}  // namespace
}  // namespace shardlens::trace::analysis
