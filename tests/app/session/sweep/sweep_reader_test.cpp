#include "app/session/sweep/sweep_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/search/made_up_search.h"

namespace shardlens::app::session {
namespace {

using testing::HasSubstr;
using ui::state::SweepStanding;

ui::state::ShownSweep shown_search(search::MadeUpSearch& made) {
  const auto beliefs = search::beliefs_of(made.plan, made.results, made.forecasts());
  const auto outcome = search::outcome_of(made.plan, made.results, beliefs);
  auto shown = shown_sweep(made.plan, made.results, {});
  show_search(made.plan, {beliefs, outcome}, made.results, shown);
  return shown;
}

// The start ran twice, far apart, the other beside the first: a sweep would take drift out.
TEST(ShownSearch, HasTheMeansOfItsRunsAndNoIntervalWiderThanThem) {
  search::MadeUpSearch made({800e6, 900e6, 850e6});
  made.measure({0, 0}, 523.3e6);
  made.measure({0, 1}, 1010e6);
  made.measure({1, 0}, 891.5e6);
  const auto shown = shown_search(made);
  EXPECT_NEAR(*shown.points[0].step_ns, (523.3e6 + 1010e6) / 2, 1);
  EXPECT_NEAR(*shown.points[1].step_ns, 891.5e6, 1);
  EXPECT_THAT(shown.why, HasSubstr("766.6 ms"));
  EXPECT_FALSE(shown.points[0].half_width_ns);
  EXPECT_FALSE(shown.points[1].half_width_ns);
  EXPECT_NEAR(*shown.points[1].slower_by, 891.5 / 766.65 - 1, 1e-9);
  EXPECT_EQ(shown.points[0].standing, SweepStanding::kBest);
  EXPECT_EQ(shown.points[1].standing, SweepStanding::kWithinNoise);
  EXPECT_EQ(shown.points[2].standing, SweepStanding::kNotRun);
  EXPECT_EQ(shown.best_first, (std::vector<std::size_t>{0, 1, 2}));
}

// The same in its column and in the reason why it was not run.
TEST(ShownSearch, HasOnePredictionOfAPoint) {
  search::MadeUpSearch made({100e6, 90e6, 200e6});
  made.errors = {0, 0, 0};
  made.measure({0, 0}, 100e6);
  made.measure({1, 0}, 90e6);
  made.results[{1, 0}].predicted = sweep::PredictedCost{92e6, 5e6};
  const auto shown = shown_search(made);
  EXPECT_EQ(shown.points[1].searched->predicted, 92e6) << "before it ran";
  EXPECT_EQ(shown.points[1].searched->high, 97e6);
  EXPECT_DOUBLE_EQ(*shown.points[2].searched->predicted, 200e6);
  EXPECT_FALSE(shown.points[2].prediction.step_ns);
  EXPECT_EQ(shown.predicted_from, "");
  EXPECT_THAT(shown.points[2].reason, HasSubstr("predicted 200.0 ± "));
  EXPECT_EQ(shown.points[1].standing, SweepStanding::kBest);
  EXPECT_EQ(shown.points[0].standing, SweepStanding::kNotKnown) << "no point ran twice";
}

TEST(ShownSearch, IsOfWhatItIsFor) {
  constexpr double kMiB = 1 << 20;
  search::MadeUpSearch made({100 * kMiB, 80 * kMiB});
  made.plan.search->goal = search::Goal::kMemory;
  for (const std::size_t point : {0, 1}) {
    made.measure({point, 0}, 50e6);
    made.results[{point, 0}].measure->peak_memory_bytes = made.costs[point];
  }
  const auto shown = shown_search(made);
  EXPECT_TRUE(shown.is_for_memory());
  EXPECT_EQ(shown.best, 1u);
  EXPECT_EQ(shown.points[0].searched->measured, 100 * kMiB);
  EXPECT_NEAR(*shown.points[0].slower_by, 0.25, 1e-9);
  EXPECT_NEAR(*shown.points[0].step_ns, 50e6, 1);
}

// Its first run was lucky: the start is kept, though its mean is higher.
TEST(ShownSearch, JudgesAllBesideTheStartThatItKeeps) {
  search::MadeUpSearch made({100e6, 90e6, 150e6});
  const double runs[3][3] = {{100, 101, 102}, {96, 102, 103}, {150, 151, 152}};
  for (const std::size_t point : {0, 1, 2}) {
    for (int round = 0; round < 3; ++round) made.measure({point, round}, runs[point][round] * 1e6);
  }
  const auto shown = shown_search(made);
  EXPECT_EQ(shown.best, 0u);
  EXPECT_EQ(shown.best_first, (std::vector<std::size_t>{1, 0, 2}));
  EXPECT_LT(*shown.points[1].slower_by, 0);
  EXPECT_EQ(shown.points[1].standing, SweepStanding::kWithinNoise) << "the noise is known";
  EXPECT_EQ(shown.points[2].standing, SweepStanding::kSlower);
}

// Larger batches: slower steps that do more, and need more memory.
TEST(ShownSearch, ItsFrontIsOfTheTimeThatIsDrawn) {
  search::MadeUpSearch made({10e6, 15e6, 25e6});
  for (const std::size_t point : {0, 1, 2}) {
    made.measure({point, 0}, made.costs[point]);
    auto& measure = *made.results[{point, 0}].measure;
    const double batch = 2 << point;
    made.plan.points.settings[point].batch_per_rank = 2 << point;
    measure.tokens_per_s = batch / measure.step_ns * 1e9;
    measure.peak_tensor_bytes = measure.peak_memory_bytes = batch * (1 << 30);
  }
  const auto front = [&](search::Goal goal) {
    made.plan.search->goal = goal;
    std::vector<bool> is_on_front;
    for (const auto& point : shown_search(made).points) is_on_front.push_back(point.is_on_front);
    return is_on_front;
  };
  EXPECT_EQ(front(search::Goal::kStepTime), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(front(search::Goal::kMemory), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(front(search::Goal::kTokenRate), (std::vector<bool>{true, true, true}));
}

TEST(ShownSearch, SaysHowItGoesOnInTheWindow) {
  search::MadeUpSearch made({100e6, 90e6});
  made.plan.search->ended = "no_time";
  const auto shown = shown_sweep(made.plan, made.results, {});
  EXPECT_THAT(shown.search->ended, HasSubstr("Search… with the same settings and more time"));
  EXPECT_THAT(shown.search->ended, testing::Not(HasSubstr("--")));
}

}  // namespace
}  // namespace shardlens::app::session
