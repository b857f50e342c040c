#include "trace/analysis/figures/evaluation_table.h"

#include <gtest/gtest.h>

#include <limits>

#include "trace/analysis/run/run_analysis.h"

namespace shardlens::trace::analysis {
namespace {

model::Evaluation row(int rank, std::int64_t step, double loss) {
  model::Evaluation evaluation;
  evaluation.rank = rank;
  evaluation.step = step;
  evaluation.loss = loss;
  evaluation.targets = 10;
  evaluation.sequences = 2;
  return evaluation;
}

TEST(EvaluationTable, OrdersByStepAndTakesTheLowestRanksLastRow) {
  EvaluationTable table;
  EXPECT_EQ(table.add(row(1, 9, 4)), 0);
  EXPECT_EQ(table.add(row(0, 9, 3)), 0);
  EXPECT_EQ(table.add(row(1, 9, 7)), 0);
  EXPECT_EQ(table.add(row(0, 4, 5)), 0);
  EXPECT_EQ(table.add(row(0, 9, 2)), 0);  // a resumed run evaluates a step again
  const auto rows = table.figures();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].step, 4);
  EXPECT_EQ(rows[1].loss, 2);
}

TEST(EvaluationTable, CountsImpossibleRowsInsteadOfShowingThem) {
  EvaluationTable table;
  EXPECT_EQ(table.add(row(-1, 1, 1)), 1);
  EXPECT_EQ(table.add(row(0, -1, 1)), 1);
  model::Evaluation negative = row(0, 1, 1);
  negative.targets = -1;
  EXPECT_EQ(table.add(negative), 1);
  EXPECT_TRUE(table.figures().empty());
}

TEST(EvaluationTable, TheBestHasTheLowestFiniteLossAndIsTheFirstOfEquals) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(best_evaluation({row(0, 1, nan)}), nullptr);
  const std::vector<model::Evaluation> rows{row(0, 1, nan), row(0, 2, 3), row(0, 3, 2),
                                            row(0, 4, 2)};
  EXPECT_EQ(best_evaluation(rows)->step, 3);
}

TEST(EvaluationTable, ReachesTheFiguresOfARun) {
  model::RunInfo info;
  info.world_size = 1;
  RunAnalysis analysis(info);
  model::Batch batch;
  batch.evaluations = {row(0, 3, 2.5), row(0, -3, 2.5)};
  analysis.add(batch);
  const RunFigures figures = analysis.figures();
  ASSERT_EQ(figures.evaluations.size(), 1u);
  EXPECT_EQ(figures.evaluations.front().loss, 2.5);
  EXPECT_EQ(figures.ignored_rows, 1);
}

}  // namespace
}  // namespace shardlens::trace::analysis
