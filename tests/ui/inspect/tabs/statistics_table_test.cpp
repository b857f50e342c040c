#include "ui/inspect/tabs/statistics_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/ui/inspect/testing/sample_tables.h"
#include "tests/ui/inspect/testing/shown_cells.h"
#include "trace/timeline/words/kernel_title.h"

namespace shardlens::ui::inspect {

namespace {

TEST(StatisticsTable, ShowsTheFiguresOfEveryRow) {
  const auto figures = sample_range({});
  const auto* kernels = find_range_table(*figures, trace::timeline::StatisticsTable::kKernels,
                                         trace::timeline::GroupBy::kName);
  ASSERT_NE(kernels, nullptr);
  const auto table = statistics_table(figures, *kernels);
  ASSERT_EQ(table->rows, kernels->rows.size());
  double shares = 0;
  for (std::size_t i = 0; i < table->rows; ++i) {
    const trace::timeline::NameFigures& row = kernels->rows[i];
    EXPECT_EQ(shown(*column_named(*table, "Name"), i), trace::timeline::kernel_title(row.name));
    EXPECT_EQ(column_named(*table, "Name")->csv(i), row.name);
    EXPECT_EQ(shown(*column_named(*table, "Class"), i), row.kernel_class);
    EXPECT_EQ(shown(*column_named(*table, "Total"), i), time_text(row.total_ns));
    EXPECT_EQ(shown(*column_named(*table, "Mean"), i), time_text(row.mean_ns));
    EXPECT_EQ(shown(*column_named(*table, "Median"), i), time_text(row.median_ns));
    EXPECT_EQ(shown(*column_named(*table, "p99"), i), time_text(row.p99_ns));
    EXPECT_EQ(shown(*column_named(*table, "Max"), i), time_text(row.most_ns));
    EXPECT_EQ(column_named(*table, "Total")->number(i), static_cast<double>(row.total_ns));
    shares += column_named(*table, "Share")->number(i);
  }
  EXPECT_NEAR(shares, 1, 1e-9);
  EXPECT_EQ(column_named(*table, "Bytes"), nullptr) << "no kernel has a size";
  for (const present::TableColumn& column : table->columns)
    EXPECT_NE(column.definition, "") << column.title;
}

TEST(StatisticsTable, ShowsBandwidthsOfThoseRowsThatHaveThem) {
  auto figures = std::make_shared<trace::timeline::RangeFigures>();
  trace::timeline::RangeTable rows{
      trace::timeline::StatisticsTable::kCollectives, trace::timeline::GroupBy::kName, {}, 2, 0};
  auto known = sample_name("all-reduce", trace::base::TimeClass::kOverlapped, 4, 1e6, 3);
  known.bytes = 4'000'000;
  known.matched = 4;
  known.wait_ns = 8'000'000;
  known.transfer_ns = 2'000'000;
  known.algbw_bytes_per_s = 2e9;
  known.busbw_bytes_per_s = 3.5e9;
  known.algorithm = "RING, TREE";
  auto unknown = known;
  unknown.name = "broadcast";
  unknown.algorithm.clear();
  unknown.matched = unknown.transfer_ns = 0;
  unknown.algbw_bytes_per_s = unknown.busbw_bytes_per_s = 0;
  rows.rows = {known, unknown};
  figures->tables = {rows};
  const auto table = statistics_table(figures, figures->tables.front());
  EXPECT_DOUBLE_EQ(column_named(*table, "Alg. bandwidth")->number(0), 2e9);
  EXPECT_EQ(shown(*column_named(*table, "Alg. bandwidth"), 0), "2.00 GB/s");
  EXPECT_EQ(shown(*column_named(*table, "Bus bandwidth"), 0), "3.50 GB/s");
  EXPECT_EQ(shown(*column_named(*table, "Wait"), 0), "2.00 ms");
  EXPECT_EQ(shown(*column_named(*table, "Alg. bandwidth"), 1), "") << "no wait, no transfer";
  EXPECT_EQ(shown(*column_named(*table, "Wait"), 1), "");
  EXPECT_EQ(column_named(*table, "Algorithm")->cell(0).text, "RING, TREE");
  EXPECT_EQ(column_named(*table, "Algorithm")->cell(1).text, "");
  EXPECT_EQ(column_named(*table, "Protocol"), nullptr) << "nobody told";
}

TEST(StatisticsText, CallsACollectiveAsReadersAndSearchesDo) {
  EXPECT_EQ(collective_title("reduce_scatter · blocks.6_x"), "Reduce-scatter · blocks.6_x");
  EXPECT_EQ(collective_title("all_reduce"), "All-reduce");
  EXPECT_EQ(collective_title(""), "");
  using trace::timeline::StatisticsTable;
  EXPECT_EQ(searched_name(StatisticsTable::kCollectives, "all_reduce · bucket 3"), "bucket 3");
  EXPECT_EQ(searched_name(StatisticsTable::kCollectives, "barrier"), "barrier");
  EXPECT_EQ(searched_name(StatisticsTable::kKernels, "gemm · x"), "gemm · x");
}

TEST(StatisticsTable, LeavesOutWhatIsNotKnownBeforeAllWasCounted) {
  auto figures = std::make_shared<trace::timeline::RangeFigures>(*tables_snapshot().inspect->range);
  for (trace::timeline::NameFigures& row : figures->tables[0].rows) {
    row.median_ns = row.p99_ns = trace::timeline::kUnknownNs;
  }
  const auto table = statistics_table(figures, figures->tables[0]);
  EXPECT_EQ(shown(*column_named(*table, "Median"), 0), "");
  EXPECT_EQ(shown(*column_named(*table, "p99"), 0), "");
  EXPECT_NE(shown(*column_named(*table, "Mean"), 0), "");
}

TEST(StatisticsTable, ShowsNoDurationOfCallsWhoseTimesAreNotKnown) {
  auto figures = std::make_shared<trace::timeline::RangeFigures>();
  auto untimed = sample_name("all-reduce", trace::base::TimeClass::kExposed, 4, 1e6, 3);
  untimed.total_ns = 0;
  untimed.mean_ns = trace::timeline::kUnknownNs;
  untimed.median_ns = untimed.p99_ns = untimed.least_ns = untimed.most_ns =
      trace::timeline::kUnknownNs;
  figures->tables = {{trace::timeline::StatisticsTable::kCollectives,
                      trace::timeline::GroupBy::kName,
                      {untimed},
                      4,
                      0}};
  const auto table = statistics_table(figures, figures->tables.front());
  for (const char* title : {"Class", "Total", "Share", "Mean", "Median", "p99", "Min", "Max"}) {
    EXPECT_EQ(shown(*column_named(*table, title), 0), "") << title;
  }
  EXPECT_TRUE(std::isnan(column_named(*table, "Share")->number(0))) << "in the CSV, too";
  EXPECT_EQ(shown(*column_named(*table, "Count"), 0), "4");
}

TEST(RangeNotes, SayWhatTheFiguresAreOfInFewerAndFewerWords) {
  const state::Snapshot snapshot = tables_snapshot();
  const auto notes = range_notes(*snapshot.inspect, trace::timeline::StatisticsTable::kKernels);
  EXPECT_EQ(notes.front(),
            "in the selection: 126.4 ms on 8 ranks · 3,816 kernels · computed in 4 ms");
  EXPECT_EQ(notes.back(), "126.4 ms");
  for (std::size_t i = 1; i < notes.size(); ++i) EXPECT_LE(notes[i].size(), notes[i - 1].size());
  const auto counting = with_view(snapshot, [](state::InspectView& v) { v.counting_range = true; });
  EXPECT_THAT(range_notes(*counting.inspect, {}), testing::ElementsAre("counting…"));
  const auto some = with_view(snapshot, [](state::InspectView& view) {
    auto range = std::make_shared<trace::timeline::RangeFigures>(*view.range);
    range->fraction = 0.437;
    view.range = range;
    view.counting_range = true;
  });
  EXPECT_EQ(range_notes(*some.inspect, {}).front(), "counting… 43 % of the run so far");
  EXPECT_THAT(range_definition(*some.inspect), testing::HasSubstr("once all events were seen"));
  const auto part = with_view(snapshot, [](state::InspectView& view) {
    auto range = std::make_shared<trace::timeline::RangeFigures>(*view.range);
    range->range.ranks = {1, 2};
    range->incomplete = "a chunk of rank 2 is damaged";
    view.range = range;
  });
  EXPECT_THAT(
      range_notes(*part.inspect, {}).front(),
      testing::AllOf(testing::HasSubstr("2 ranks of 8"), testing::HasSubstr("not complete")));
  const auto replayed = with_view(snapshot, [](state::InspectView& view) {
    auto range = std::make_shared<trace::timeline::RangeFigures>(*view.range);
    range->is_whole_run = range->is_so_far = true;
    view.range = range;
  });
  EXPECT_THAT(range_notes(*replayed.inspect, {}).front(), testing::StartsWith("run so far: 126"));
  EXPECT_THAT(range_definition(*part.inspect), testing::HasSubstr("rank 2 is damaged"));
}

}  // namespace

}  // namespace shardlens::ui::inspect
