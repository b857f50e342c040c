#include "ui/inspect/tabs/straggler_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "tests/ui/inspect/testing/sample_tables.h"
#include "tests/ui/inspect/testing/shown_cells.h"

namespace shardlens::ui::inspect {

namespace {

bool is_number(const present::TableColumn& column, std::size_t row,
               std::optional<std::int64_t> number) {
  const double shown = column.number(row);
  return number ? shown == static_cast<double>(*number) : std::isnan(shown);
}

TEST(StragglerTable, OfManyRanksShowsTheWorstFirstAndFoldsTheRest) {
  const auto figures = sample_stragglers(256, 20);
  const StragglerColumns columns = straggler_columns(*figures, 1'250);
  ASSERT_FALSE(columns.ranks.empty());
  EXPECT_EQ(columns.ranks.size() + columns.rest.size(), 256u);
  const auto cost = [&](int rank) {
    return figures->ranks[static_cast<std::size_t>(rank)].caused_ns;
  };
  for (std::size_t i = 1; i < columns.ranks.size(); ++i) {
    EXPECT_GE(cost(columns.ranks[i - 1]), cost(columns.ranks[i]));
  }
  for (const int rank : columns.rest) EXPECT_LE(cost(rank), cost(columns.ranks.back()));
  const auto table = straggler_table(figures, columns);
  float width = 0;
  for (const present::TableColumn& column : table->columns) width += column.width;
  EXPECT_LE(width, 1'250) << "nothing runs off the screen";
  const present::TableColumn& rest = table->columns.back();
  EXPECT_EQ(rest.title, "and " + std::to_string(columns.rest.size()) + " more");
  EXPECT_EQ(rank_of_column(columns, table->columns.size() - 1), -1);
  for (std::size_t row = 0; row < table->rows; ++row) {
    std::optional<std::int64_t> longest;
    for (const int rank : columns.rest) {
      longest = std::max(longest, figures->calls[row].part_of(rank)->wait_ns);
    }
    EXPECT_TRUE(is_number(rest, row, longest));
  }
}

TEST(StragglerTable, HasAColumnPerRankAndTheCostOfEachOnTop) {
  const auto figures = sample_stragglers(8, 48);
  const StragglerColumns columns = straggler_columns(*figures, 4'000);
  const auto table = straggler_table(figures, columns);
  ASSERT_EQ(table->columns.size(), 6u + 8u);
  ASSERT_EQ(table->pinned.size(), 4u);
  for (std::size_t row = 0; row < table->rows; ++row) {
    const trace::timeline::StragglerCall& call = figures->calls[row];
    int last = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      const present::TableColumn& column = table->columns[6 + i];
      EXPECT_EQ(rank_of_column(columns, 6 + i), static_cast<int>(i));
      EXPECT_TRUE(is_number(column, row, call.parts[i].wait_ns));
      last += column.cell(row).is_marked ? 1 : 0;
      if (column.cell(row).is_marked) {
        EXPECT_EQ(call.last_rank, static_cast<int>(i));
      }
    }
    EXPECT_EQ(last, call.last_rank < 0 ? 0 : 1);
  }
  EXPECT_EQ(rank_of_column(columns, 5), -1);
  EXPECT_EQ(rank_of_column(columns, 14), -1);
  std::int64_t times = 0;
  for (const auto& call : figures->calls) times += call.last_rank == 3 ? 1 : 0;
  EXPECT_EQ(table->pinned[0][6 + 3].text, std::to_string(times) + " ×");
  EXPECT_THAT(straggler_summary(*figures),
              testing::StartsWith("Rank 3 came last in " + std::to_string(times) + " of 48"));
}

// Rank 1 is on another host, of whose clock nothing tells.
TEST(StragglerTable, TellsWhatIsNotKnown) {
  auto figures = std::make_shared<trace::timeline::StragglerFigures>();
  auto& call = figures->calls.emplace_back();
  call.parts.resize(2);
  call.parts[1].rank = 1;
  for (const int rank : {0, 1}) {
    figures->ranks.emplace_back().rank = rank;
    figures->ranks.back().calls = 1;
  }
  const auto table = straggler_table(figures, straggler_columns(*figures, 4'000));
  ASSERT_EQ(table->columns.size(), 6u + 2u);
  for (std::size_t column = 3; column < 8; ++column) {
    SCOPED_TRACE(table->columns[column].title);
    EXPECT_TRUE(is_number(table->columns[column], 0, std::nullopt));
    const bool is_figure = column < 5;  // whose cell stays empty
    EXPECT_EQ(table->columns[column].cell(0).text, is_figure ? "" : present::kUnknown);
  }
  EXPECT_EQ(table->pinned[1][6].text, present::kUnknown) << "no mean either";
}

}  // namespace

}  // namespace shardlens::ui::inspect
