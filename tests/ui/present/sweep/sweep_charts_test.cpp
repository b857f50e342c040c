#include "ui/present/sweep/sweep_charts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "tests/ui/testing/sample_sweep.h"
#include "ui/present/sweep/sweep_table.h"
#include "ui/present/sweep/sweep_words.h"
#include "ui/present/tune/knob_rows.h"

namespace shardlens::ui::present {
namespace {

using testing::HasSubstr;

// ---- the curve ----------------------------------------------------------------------------------

TEST(SweepCurve, PlacesNumbersByTheirLogarithmAndTimesUpwards) {
  const auto curve = sweep_curve(sample_sweep());
  ASSERT_TRUE(curve);
  ASSERT_EQ(curve->points.size(), 6u);
  EXPECT_FLOAT_EQ(curve->points.front().x, 0);
  EXPECT_FLOAT_EQ(curve->points.back().x, 1);
  // 0.25 → 0.5 → 1: equal ratios, equal distances.
  EXPECT_NEAR(curve->points[1].x, (curve->points[2].x) / 2, 1e-5);
  EXPECT_NEAR(curve->points[1].x, std::log(2.0) / std::log(100.0), 1e-5);
  const auto& best = *curve->points[2].measured;
  for (const auto& point : curve->points) {
    ASSERT_TRUE(point.measured);
    EXPECT_GE(point.measured->y, best.y);
    EXPECT_LT(*point.measured->low, point.measured->y);
    EXPECT_GT(*point.measured->high, point.measured->y);
    ASSERT_EQ(point.runs.size(), 2u);
    EXPECT_NEAR((point.runs[0] + point.runs[1]) / 2, point.measured->y, 1e-5);
  }
  EXPECT_FALSE(curve->points[0].predicted) << "the others are predicted from it";
  EXPECT_GT(curve->points[1].predicted->y, curve->points[1].measured->y);
  for (std::size_t i = 1; i < curve->ticks.size(); ++i) {
    EXPECT_GT(curve->ticks[i].at, curve->ticks[i - 1].at);
  }
  EXPECT_THAT(curve->ticks.front().label, HasSubstr(" ms"));
}

TEST(SweepCurve, PlacesWordsSideBySideAndSortsNumbers) {
  auto sweep = sample_sweep();
  std::ranges::reverse(sweep.points);
  EXPECT_EQ(sweep_curve(sweep)->points.front().label, "0.25");
  EXPECT_EQ(sweep_curve(sweep)->points.front().point, 5u);
  sweep.points.resize(3);
  const char* names[] = {"ddp", "zero1", "full_shard"};
  for (std::size_t i = 0; i < 3; ++i) sweep.points[i].values = {names[i]};
  const auto curve = sweep_curve(sweep);
  EXPECT_FLOAT_EQ(curve->points[0].x, 0);
  EXPECT_FLOAT_EQ(curve->points[1].x, 0.5);
  EXPECT_FLOAT_EQ(curve->points[2].x, 1);
}

// Larger batches: slower steps that do more. The best has the lowest point.
TEST(SweepCurve, IsOfTheTimePerTokenWherePointsAreJudgedByThat) {
  auto sweep = sample_sweep();
  sweep.by_tokens = true;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    sweep.points[i].tokens_per_s = 1e4 * static_cast<double>(i + 1);
  }
  sweep.best = 5;
  const auto curve = sweep_curve(sweep);
  ASSERT_TRUE(curve);
  EXPECT_TRUE(curve->by_tokens);
  for (std::size_t i = 1; i < curve->points.size(); ++i) {
    EXPECT_LT(curve->points[i].measured->y, curve->points[i - 1].measured->y);
    EXPECT_LT(*curve->points[i].measured->low, curve->points[i].measured->y);
    EXPECT_NEAR((curve->points[i].runs[0] + curve->points[i].runs[1]) / 2,
                curve->points[i].measured->y, 1e-4);
  }
  EXPECT_THAT(curve->ticks.back().label, HasSubstr("µs"));
  sweep.points[1].tokens_per_s.reset();
  EXPECT_FALSE(sweep_curve(sweep)->points[1].measured);
}

TEST(SweepCurve, ThereIsNoneOfSeveralKnobsNorOfNothing) {
  EXPECT_FALSE(sweep_curve(sample_grid_sweep()));
  auto sweep = sample_sweep();
  for (auto& point : sweep.points) point = {{}, {}, point.values};
  EXPECT_FALSE(sweep_curve(sweep));
  sweep.points[3].prediction.step_ns = 100e6;
  const auto predicted = sweep_curve(sweep);
  ASSERT_TRUE(predicted) << "what is predicted is shown before anything was measured";
  EXPECT_FALSE(predicted->points[3].measured);
  EXPECT_NEAR(predicted->points[3].predicted->y, 0.5, 1e-6);
}

// ---- the heat map -------------------------------------------------------------------------------

TEST(HeatMap, HasACellForEachCombination) {
  const auto map = heat_map(sample_grid_sweep());
  ASSERT_TRUE(map);
  EXPECT_EQ(map->columns, (std::vector<std::string>{"1", "4", "25"}));
  EXPECT_EQ(map->rows, (std::vector<std::string>{"false", "true"}));
  const auto& best = map->at(0, 0);
  EXPECT_EQ(best.mark, "best mean");
  EXPECT_FLOAT_EQ(*best.shade, 0);
  EXPECT_EQ(best.text, "240.0 ms");
  EXPECT_EQ(best.interval, "± 3.60 ms");
  EXPECT_FLOAT_EQ(*map->at(0, 2).shade, 1) << "the slowest that was measured";
  EXPECT_EQ(map->at(0, 1).text, "failed");
  EXPECT_FALSE(map->at(0, 1).shade);
  EXPECT_FALSE(map->at(0, 1).is_prediction);
  const auto& later = map->at(1, 2);
  EXPECT_TRUE(later.is_prediction);
  EXPECT_FALSE(later.shade) << "only what was measured is shaded";
  EXPECT_EQ(later.interval, "");
  EXPECT_THAT(later.text, HasSubstr("ms"));
}

TEST(HeatMap, ACombinationThatIsNotSweptIsEmpty) {
  auto sweep = sample_grid_sweep();
  sweep.points.erase(sweep.points.begin() + 3);
  const auto map = heat_map(sweep);
  EXPECT_FALSE(map->at(1, 1).point);
  EXPECT_EQ(map->at(1, 1).text, "");
  EXPECT_EQ(map->at(1, 2).point, 4u);
  EXPECT_FALSE(heat_map(sample_sweep()));
}

// One that was fast in its first round and failed in its second. Its other run is shown, unjudged.
state::ShownSweep with_failed(state::ShownSweep sweep, std::size_t point) {
  sweep.points[point].standing = state::SweepStanding::kFailed;
  sweep.points[point].reason = "out of memory";
  sweep.points[point].step_ns = 100e6;
  sweep.points[point].half_width_ns = 10e6;
  sweep.points[point].runs = {{"fast", 100e6}};
  return sweep;
}

TEST(HeatMap, WhatFailedHasNoFigureHoweverFastItWas) {
  const auto map = heat_map(with_failed(sample_grid_sweep(), 4));
  const auto& failed = map->at(0, 2);
  EXPECT_EQ(failed.text, "failed");
  EXPECT_EQ(failed.interval, "");
  EXPECT_FALSE(failed.shade);
  EXPECT_FALSE(failed.is_prediction);
  EXPECT_FLOAT_EQ(*map->at(0, 0).shade, 0) << "the fastest of those that are judged";
}

TEST(SweepCurve, LeadsNotOverWhatFailed) {
  const auto curve = sweep_curve(with_failed(sample_sweep(), 4));
  EXPECT_FALSE(curve->points[4].measured);
  ASSERT_EQ(curve->points[4].runs.size(), 1u);
  EXPECT_LT(curve->points[4].runs[0], curve->points[2].measured->y);
}

TEST(SweepRanking, HasWhatFailedLast) {
  const auto ranking = sweep_ranking(with_failed(sample_sweep(), 4));
  ASSERT_EQ(ranking->points.size(), 6u);
  EXPECT_EQ(ranking->points.front().point, 2u);
  EXPECT_EQ(ranking->points.back().point, 4u);
  EXPECT_FALSE(ranking->points.back().measured);
  EXPECT_EQ(ranking->points.back().runs.size(), 1u);
  auto alone = with_failed(sample_sweep(), 4);
  alone.points[4].prediction = {};
  EXPECT_EQ(sweep_ranking(alone)->points.back().point, 4u) << "also where nothing was predicted";
}

TEST(Pareto, WhatFailedIsNotInIt) {
  const auto chart = pareto_chart(with_failed(sample_sweep(), 4));
  ASSERT_EQ(chart->points.size(), 5u);
  for (const auto& point : chart->points) EXPECT_NE(point.point, 4u);
}

TEST(HeatMap, NumbersStandInTheirOrder) {
  auto sweep = sample_grid_sweep();
  std::ranges::reverse(sweep.points);
  EXPECT_EQ(heat_map(sweep)->columns, (std::vector<std::string>{"1", "4", "25"}));
}

// ---- the ranking
// ---------------------------------------------------------------------------------

TEST(SweepRanking, HasThePointsOfAListFromTheFastestDown) {
  auto sweep = sample_grid_sweep();
  sweep.points.resize(3);
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    sweep.points[i].values = {std::to_string(i), "list " + std::to_string(i)};
    sweep.points[i].prediction.step_ns = 100e6 * static_cast<double>(i + 1);
  }
  sweep.points[0].step_ns = 300e6;
  sweep.points[1].step_ns = 200e6;
  sweep.points[2].step_ns.reset();
  EXPECT_FALSE(heat_map(sweep)) << "most of its cells would be empty";
  const auto ranking = sweep_ranking(sweep);
  ASSERT_TRUE(ranking);
  ASSERT_EQ(ranking->points.size(), 3u);
  EXPECT_EQ(ranking->points[0].point, 1u);
  EXPECT_EQ(ranking->points[0].label, "1 · list 1");
  EXPECT_EQ(ranking->points[1].point, 0u);
  EXPECT_LT(ranking->points[0].measured->y, ranking->points[1].measured->y);
  EXPECT_EQ(ranking->points[2].point, 2u) << "what was only predicted stands last";
  EXPECT_FALSE(ranking->points[2].measured);
  EXPECT_NEAR(ranking->points[2].predicted->y, ranking->points[1].measured->y, 1e-6);
  for (auto& point : sweep.points) point = {{}, {}, point.values};
  EXPECT_FALSE(sweep_ranking(sweep));
}

// ---- the Pareto front ---------------------------------------------------------------------------

TEST(Pareto, TheLineFallsFromTheLeastMemoryToTheLeastTime) {
  std::mt19937_64 random(20);
  for (int round = 0; round < 500; ++round) {
    // Few values, so that equals and ties are many.
    std::uniform_int_distribution<int> value(1, round % 2 == 0 ? 6 : 1000);
    std::vector<std::pair<double, double>> points(1 + random() % 12);
    for (auto& point : points) point = {1e6 * value(random) + round % 3, value(random)};
    const auto line = pareto_line(points);
    ASSERT_FALSE(line.empty());
    const auto fastest =
        std::ranges::min(points, {}, [](const auto& point) { return point.second; });
    EXPECT_EQ(points[line.back()].second, fastest.second);
    for (std::size_t i = 1; i < line.size(); ++i) {
      EXPECT_LT(points[line[i - 1]].first + 1000, points[line[i]].first);
      EXPECT_GT(points[line[i - 1]].second, points[line[i]].second);
    }
  }
  using Points = std::vector<std::pair<double, double>>;
  EXPECT_EQ(pareto_line(Points{{48e6, 100}, {48e6 + 8, 99}, {48e6 + 16, 101}}),
            std::vector<std::size_t>{1})
      << "of the same memory but for some bytes the fastest";
}

TEST(Pareto, TheChartHasWhatBothAreKnownOf) {
  auto sweep = sample_sweep();
  sweep.points[1].peak_tensor_bytes.reset();
  const auto chart = pareto_chart(sweep);
  ASSERT_TRUE(chart);
  EXPECT_EQ(chart->points.size(), 5u);
  ASSERT_EQ(chart->line.size(), 2u);  // 0.25 needs least, 1 is fastest
  EXPECT_EQ(chart->points[chart->line[0]].label, "0.25");
  EXPECT_EQ(chart->points[chart->line[1]].label, "1");
  for (const auto& point : chart->points) {
    EXPECT_EQ(point.is_on_front, sweep.points[point.point].is_on_front);
    EXPECT_GE(point.x, 0);
    EXPECT_LE(point.x, 1);
    EXPECT_GE(point.y, 0);
    EXPECT_LE(point.y, 1);
  }
  EXPECT_THAT(chart->memory_ticks.front().label, HasSubstr("MiB"));
  for (auto& point : sweep.points) point.peak_tensor_bytes = 102.0 * (1 << 20);
  std::set<std::string> labels;
  const auto equal = pareto_chart(sweep);
  for (const auto& tick : equal->memory_ticks) labels.insert(tick.label);
  EXPECT_EQ(labels.size(), equal->memory_ticks.size()) << "two ticks read the same";
  for (auto& point : sweep.points) point.peak_tensor_bytes.reset();
  EXPECT_FALSE(pareto_chart(sweep));
}

// ---- words, values, table -----------------------------------------------------------------------

TEST(SweepWords, SayHowFarItIs) {
  auto sweep = sample_sweep();
  EXPECT_EQ(sweep_progress_text(sweep), "Done: 12 runs");
  sweep.phase = state::SweepPhase::kRunning;
  sweep.runs_done = 3;
  sweep.runs_left = 9;
  sweep.seconds_left = 38;
  EXPECT_THAT(sweep_progress_text(sweep), HasSubstr("Checking"));
  sweep.running_point = 4;
  EXPECT_EQ(sweep_progress_text(sweep), "Run 4 of 12: bucket_cap_mb=4, 38 s left");
  EXPECT_FLOAT_EQ(sweep_progress(sweep), 0.25);
  sweep.phase = state::SweepPhase::kUnfinished;
  EXPECT_EQ(sweep_progress_text(sweep), "Unfinished: 3 of 12 runs");
  EXPECT_THAT(sweep_remarks(sweep),
              testing::ElementsAre(HasSubstr("bucket_cap_mb=25 was stopped after 2 runs")));
}

TEST(SweepWords, SayWhatElseDiffersAndWhatIsSet) {
  const auto sweep = sample_sweep();
  trace::job::Settings next;
  EXPECT_EQ(other_settings(sweep, next), "");
  next.ranks = 4;
  next.bucket_cap_mb = 1;
  EXPECT_EQ(other_settings(sweep, next), "ranks");
  EXPECT_FALSE(knobs_to_set(sweep, 2, next).empty()) << "with other ranks it is another job";
  next.ranks = trace::job::Settings().ranks;
  EXPECT_TRUE(knobs_to_set(sweep, 2, next).empty());
  EXPECT_FALSE(knobs_to_set(sweep, 3, next).empty());
}

TEST(SweepWords, SayNothingOfWhatTheStrategyDoesNotObey) {
  auto sweep = sample_sweep();
  sweep.varied = {trace::job::find_knob("backward_prefetch")};
  for (auto& point : sweep.points) {
    point.settings = {};
    point.settings.sharding_strategy = trace::job::Strategy::kFullShard;
  }
  trace::job::Settings next = sweep.points.front().settings;
  next.bucket_cap_mb = 4;
  EXPECT_EQ(other_settings(sweep, next), "") << "it has no buckets";
  next.ranks = 4;
  EXPECT_EQ(other_settings(sweep, next), "ranks");
}

TEST(SweepWords, SayWhatASweepWillCost) {
  auto card = sample_card();
  EXPECT_EQ(sweep_cost_text(card),
            "3 points, 2 times each: 6 runs, about 84 s, by what run 4 took");
  card.seconds.reset();
  EXPECT_THAT(sweep_cost_text(card), HasSubstr("known once one has ended"));
  card.is_checked = false;
  EXPECT_EQ(sweep_cost_text(card), "Checking…");
}

TEST(SweepValues, AreProposedAroundThePresentOne) {
  trace::job::Settings settings;
  const auto proposed = [&](const char* knob) {
    return proposed_values(*trace::job::find_knob(knob), settings);
  };
  EXPECT_EQ(proposed("bucket_cap_mb"), "2, 6, 25, 100, 400");
  settings.bucket_cap_mb = 2.7;  // as a slider was left
  EXPECT_EQ(proposed("bucket_cap_mb"), "0.25, 0.7, 2.7, 10, 40");
  settings.batch_per_rank = 8;
  EXPECT_EQ(proposed("batch_per_rank"), "2, 4, 8, 16, 32");
  EXPECT_EQ(proposed("overlap_comm"), "false, true");
  EXPECT_THAT(proposed("sharding_strategy"), HasSubstr("ddp, zero1"));
  EXPECT_EQ(proposed("simulate_link"),
            "off; latency_us=100,gbit_per_s=1; latency_us=50,gbit_per_s=10; "
            "latency_us=5,gbit_per_s=100");
  EXPECT_EQ(proposed("sample_prompt"), "");
  for (const auto& knob : trace::job::knobs()) {  // whatever is proposed, the knob takes
    std::string text = proposed_values(knob, settings);
    std::ranges::replace(text, ';', ',');
    for (std::size_t begin = 0; begin < text.size() && text.find('=') == std::string::npos;) {
      const auto end = std::min(text.find(", ", begin), text.size());
      trace::job::Settings taken;
      EXPECT_TRUE(trace::job::set_value(taken, knob.name, text.substr(begin, end - begin)))
          << knob.name << ": " << text;
      begin = end + 2;
    }
  }
}

TEST(SweepTable, HasARowForEachPointAndOnlyColumnsThatSaySomething) {
  auto sweep = sample_grid_sweep();
  const auto table = sweep_table(std::make_shared<const state::ShownSweep>(sweep));
  EXPECT_EQ(table.rows, 6u);
  std::vector<std::string> titles;
  for (const auto& column : table.columns) titles.push_back(column.title);
  EXPECT_THAT(titles,
              testing::ElementsAre("bucket_cap_mb", "overlap_comm", "Step", "±", "Predicted",
                                   "Exposed", "Peak of tensors", "Runs", "Beside the best"));
  EXPECT_THAT(row_text(table, 0), HasSubstr("best mean"));
  EXPECT_THAT(row_text(table, 2), HasSubstr("failed"));
  EXPECT_THAT(row_text(table, 5), HasSubstr("0 of 2"));
  for (auto& point : sweep.points) point.prediction = {};
  const auto without = sweep_table(std::make_shared<const state::ShownSweep>(sweep));
  EXPECT_EQ(without.columns.size(), table.columns.size() - 1);
}

TEST(SweepTable, SaysOfAPointOnlyWhatItsStrategyObeys) {
  auto sweep = sample_grid_sweep();
  sweep.varied = {trace::job::find_knob("sharding_strategy"),
                  trace::job::find_knob("bucket_cap_mb")};
  for (auto& point : sweep.points) point.values = {"ddp", "4"};
  sweep.points[1].settings.sharding_strategy = trace::job::Strategy::kFullShard;
  const auto shown = std::make_shared<const state::ShownSweep>(sweep);
  const Table table = sweep_table(shown);
  EXPECT_EQ(table.columns[1].cell(0).text, "4");
  EXPECT_EQ(table.columns[1].cell(1).text, "") << "full_shard has no buckets";
}

// By Student's t of a few runs that scatter.
TEST(SweepWords, AnIntervalEndsAtZero) {
  auto sweep = sample_sweep();
  sweep.points[0].step_ns = 44.5e6;
  sweep.points[0].half_width_ns = 60.1e6;
  EXPECT_EQ(sweep_step_text(sweep.points[0]), "44.5 (0 to 104.6) ms");
  const Table table = sweep_table(std::make_shared<const state::ShownSweep>(sweep));
  const auto spread = std::ranges::find(table.columns, "±", &TableColumn::title);
  ASSERT_NE(spread, table.columns.end());
  EXPECT_EQ(spread->cell(0).text, "(0 to 104.6 ms)");
  EXPECT_NEAR(spread->number(0), 60.1e6, 1) << "as it is, where it is sorted and saved";
  sweep.points[0].prediction.step_ns = 100e6;
  sweep.points[0].prediction.interval = trace::tuning::Interval{-57.9e6, 310.7e6};
  EXPECT_EQ(point_cost(sweep, sweep.points[0]).low, 0);
}

// Its points cost what `searched` says, in another order than they are numbered in.
state::ShownSweep sample_search(const std::string& goal, double unit) {
  auto sweep = sample_grid_sweep();
  sweep.search = state::ShownSearch{goal, 600, ""};
  sweep.by_tokens = goal == "tokens_per_s";
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    sweep.points[i].prediction = {};
    sweep.points[i].searched = state::PointCost{.predicted = unit * 90};
    if (i > 1) continue;
    const double cost = unit * (i == 0 ? 120 : 100);
    sweep.points[i].searched->measured = cost;
    sweep.points[i].searched->runs = {cost};
  }
  sweep.points[0].searched->half_width = unit * 12;
  sweep.best = 1;
  sweep.best_first = {1, 0, 2, 5, 4, 3};
  return sweep;
}

TEST(SweepWords, AStartThatIsKeptIsNotCalledTheBestMean) {
  auto sweep = sample_search("step_time", 1e6);
  sweep.points[1].standing = state::SweepStanding::kBest;
  EXPECT_FALSE(keeps_start(sweep));
  EXPECT_EQ(beside_best_text(sweep, sweep.points[1]), "best mean");
  sweep.points[1].standing = state::SweepStanding::kWithinNoise;
  sweep.points[1].slower_by = -0.007;
  sweep.points[0].standing = state::SweepStanding::kBest;
  sweep.best = 0;
  EXPECT_TRUE(keeps_start(sweep));
  EXPECT_EQ(beside_best_text(sweep, sweep.points[0]), "start kept");
  EXPECT_EQ(beside_best_text(sweep, sweep.points[1]),
            format_signed_percent(-0.007) + " within noise");
  EXPECT_EQ(heat_map(sweep)->at(0, 0).mark, "start kept");
}

std::vector<std::string> titles_of(const Table& table) {
  std::vector<std::string> titles;
  for (const auto& column : table.columns) titles.push_back(column.title);
  return titles;
}

TEST(SweepTable, OfASearchListsTheBestFirstByWhatItIsFor) {
  const auto table_of = [](const state::ShownSweep& sweep) {
    return sweep_table(std::make_shared<const state::ShownSweep>(sweep));
  };
  const auto steps = table_of(sample_search("step_time", 1e6));
  EXPECT_THAT(table_order(steps, {}, ""), testing::ElementsAre(1, 0, 2, 5, 4, 3));
  EXPECT_THAT(titles_of(steps),
              testing::ElementsAre("bucket_cap_mb", "overlap_comm", "Step", "±", "Predicted",
                                   "Exposed", "Peak of tensors", "Runs", "Beside the best"));
  EXPECT_THAT(row_text(steps, 0), testing::AllOf(HasSubstr("120.0 ms"), HasSubstr("12.0 ms")));
  EXPECT_THAT(row_text(steps, 1), HasSubstr("100.0 ms\t\t90.0 ms")) << "± is not known";
  const auto bytes = table_of(sample_search("memory", 1 << 20));
  EXPECT_THAT(titles_of(bytes), testing::ElementsAre("bucket_cap_mb", "overlap_comm", "Peak memory",
                                                     "±", "Predicted", "Step", "Exposed",
                                                     "Peak of tensors", "Runs", "Beside the best"));
  EXPECT_THAT(row_text(bytes, 0), testing::AllOf(HasSubstr("120 MiB"), HasSubstr("12.0 MiB")));
  const auto rates = table_of(sample_search("tokens_per_s", 1e3));
  EXPECT_THAT(titles_of(rates), testing::Contains("Tokens/s"));
  EXPECT_THAT(row_text(rates, 1), HasSubstr("10.0 k/s\t\t11.1 k/s")) << "100 µs per token";
  EXPECT_THAT(row_text(rates, 0), testing::AllOf(HasSubstr("8.33 k/s"), HasSubstr("833.3 /s")));
}

TEST(SweepRanking, OfASearchIsInItsOrderAndOfWhatItIsFor) {
  const auto ranking = sweep_ranking(sample_search("memory", 1 << 20));
  ASSERT_TRUE(ranking);
  EXPECT_TRUE(ranking->of_memory);
  ASSERT_EQ(ranking->points.size(), 6u);
  EXPECT_EQ(ranking->points[0].point, 1u);
  EXPECT_EQ(ranking->points[1].point, 0u);
  EXPECT_EQ(ranking->points[3].point, 5u);
  EXPECT_FALSE(ranking->points[3].measured);
  EXPECT_LT(ranking->points[0].measured->y, ranking->points[1].measured->y);
  EXPECT_TRUE(ranking->points[1].measured->low);
  EXPECT_FALSE(ranking->points[0].measured->low);
  EXPECT_THAT(ranking->ticks.front().label, HasSubstr("MiB"));
}

}  // namespace
}  // namespace shardlens::ui::present
