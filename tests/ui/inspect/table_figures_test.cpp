// What the tabs' tables say of figures, worked out another way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "tests/ui/inspect/testing/sample_tables.h"
#include "trace/analysis/steps/step_breakdown.h"
#include "trace/model/gpu_counters.h"
#include "trace/timeline/words/kernel_title.h"
#include "ui/inspect/tabs/range_text.h"
#include "ui/inspect/tabs/recording_table.h"
#include "ui/inspect/tabs/statistics_table.h"
#include "ui/inspect/tabs/statistics_text.h"
#include "ui/inspect/tabs/step_table.h"
#include "ui/inspect/tabs/straggler_table.h"
#include "ui/inspect/timeline/step_times.h"
#include "ui/table/histogram.h"

namespace shardlens::ui {

namespace {

const TableColumn* column_named(const Table& table, std::string_view title) {
  const auto found = std::ranges::find(table.columns, title, &TableColumn::title);
  return found == table.columns.end() ? nullptr : &*found;
}

// "402.1 ms" by hand: three or four digits, the unit by size.
std::string time_by_hand(double ns) {
  const char* unit = "µs";
  double value = ns / 1e3;
  if (ns >= 999.95e6) {
    unit = "s";
    value = ns / 1e9;
  } else if (ns >= 999.5e3) {
    unit = "ms";
    value = ns / 1e6;
  }
  char text[64];
  std::snprintf(text, sizeof text, value < 9.995 ? "%.2f %s" : "%.1f %s", value, unit);
  return text;
}

std::string shown(const TableColumn& column, std::size_t row) {
  const TableCell cell = column.cell(row);
  return cell.unit.empty() ? cell.text : cell.text + " " + cell.unit;
}

TEST(StatisticsTable, ShowsTheFiguresOfEveryRow) {
  const auto figures = sample_range({});
  const auto* kernels =
      find_range_table(*figures, trace::StatisticsTable::kKernels, trace::GroupBy::kName);
  ASSERT_NE(kernels, nullptr);
  const auto table = statistics_table(figures, *kernels);
  ASSERT_EQ(table->rows, kernels->rows.size());
  double shares = 0;
  for (std::size_t i = 0; i < table->rows; ++i) {
    const trace::NameFigures& row = kernels->rows[i];
    EXPECT_EQ(shown(*column_named(*table, "Name"), i), trace::kernel_title(row.name));
    EXPECT_EQ(column_named(*table, "Name")->csv(i), row.name);
    EXPECT_EQ(shown(*column_named(*table, "Class"), i), row.kernel_class);
    EXPECT_EQ(shown(*column_named(*table, "Total"), i),
              time_by_hand(static_cast<double>(row.total_ns)));
    EXPECT_EQ(shown(*column_named(*table, "Mean"), i), time_by_hand(row.mean_ns));
    EXPECT_EQ(shown(*column_named(*table, "Median"), i),
              time_by_hand(static_cast<double>(row.median_ns)));
    EXPECT_EQ(shown(*column_named(*table, "p99"), i),
              time_by_hand(static_cast<double>(row.p99_ns)));
    EXPECT_EQ(shown(*column_named(*table, "Max"), i),
              time_by_hand(static_cast<double>(row.most_ns)));
    EXPECT_EQ(column_named(*table, "Total")->number(i), static_cast<double>(row.total_ns));
    shares += column_named(*table, "Share")->number(i);
  }
  EXPECT_NEAR(shares, 1, 1e-9);
  EXPECT_EQ(column_named(*table, "Bytes"), nullptr) << "no kernel has a size";
  for (const TableColumn& column : table->columns) EXPECT_NE(column.definition, "") << column.title;
}

TEST(StatisticsTable, DerivesBandwidthsFromTransfersAlone) {
  auto figures = std::make_shared<trace::RangeFigures>();
  trace::RangeTable rows{trace::StatisticsTable::kCollectives, trace::GroupBy::kName, {}, 2, 0};
  auto known = sample_name("all-reduce", trace::TimeClass::kOverlapped, 4, 1e6, 3);
  known.bytes = known.matched_bytes = 4'000'000;
  known.matched = 4;
  known.wait_ns = 8'000'000;
  known.transfer_ns = 2'000'000;
  known.bus_bytes = 7'000'000;
  known.algorithm = "RING, TREE";
  auto unknown = known;
  unknown.name = "broadcast";
  unknown.algorithm.clear();
  unknown.matched = unknown.matched_bytes = unknown.transfer_ns = 0;
  unknown.bus_bytes = 0;
  rows.rows = {known, unknown};
  figures->tables = {rows};
  const auto table = statistics_table(figures, figures->tables.front());
  EXPECT_DOUBLE_EQ(column_named(*table, "Alg. bandwidth")->number(0), 2e9);  // 4 MB in 2 ms
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
  using trace::StatisticsTable;
  EXPECT_EQ(searched_name(StatisticsTable::kCollectives, "all_reduce · bucket 3"), "bucket 3");
  EXPECT_EQ(searched_name(StatisticsTable::kCollectives, "barrier"), "barrier");
  EXPECT_EQ(searched_name(StatisticsTable::kKernels, "gemm · x"), "gemm · x");
}

TEST(StatisticsTable, LeavesOutWhatIsNotKnownBeforeAllWasCounted) {
  auto figures = std::make_shared<trace::RangeFigures>(*tables_snapshot().inspect->range);
  for (trace::NameFigures& row : figures->tables[0].rows) {
    row.median_ns = row.p99_ns = trace::kUnknownNs;
  }
  const auto table = statistics_table(figures, figures->tables[0]);
  EXPECT_EQ(shown(*column_named(*table, "Median"), 0), "");
  EXPECT_EQ(shown(*column_named(*table, "p99"), 0), "");
  EXPECT_NE(shown(*column_named(*table, "Mean"), 0), "");
}

TEST(RangeNotes, SayWhatTheFiguresAreOfInFewerAndFewerWords) {
  const Snapshot snapshot = tables_snapshot();
  const auto notes = range_notes(*snapshot.inspect, trace::StatisticsTable::kKernels);
  EXPECT_EQ(notes.front(),
            "in the selection: 126.4 ms on 8 ranks · 3,816 kernels · computed in 4 ms");
  EXPECT_EQ(notes.back(), "126.4 ms");
  for (std::size_t i = 1; i < notes.size(); ++i) EXPECT_LE(notes[i].size(), notes[i - 1].size());
  const auto counting = with_view(snapshot, [](InspectView& v) { v.counting_range = true; });
  EXPECT_THAT(range_notes(*counting.inspect, {}), testing::ElementsAre("counting…"));
  const auto some = with_view(snapshot, [](InspectView& view) {
    auto range = std::make_shared<trace::RangeFigures>(*view.range);
    range->fraction = 0.437;
    view.range = range;
    view.counting_range = true;
  });
  EXPECT_EQ(range_notes(*some.inspect, {}).front(), "counting… 43 % of the run so far");
  EXPECT_THAT(range_definition(*some.inspect), testing::HasSubstr("once all events were seen"));
  const auto part = with_view(snapshot, [](InspectView& view) {
    auto range = std::make_shared<trace::RangeFigures>(*view.range);
    range->range.ranks = {1, 2};
    range->incomplete = "a chunk of rank 2 is damaged";
    view.range = range;
  });
  EXPECT_THAT(
      range_notes(*part.inspect, {}).front(),
      testing::AllOf(testing::HasSubstr("2 ranks of 8"), testing::HasSubstr("not complete")));
  EXPECT_THAT(range_definition(*part.inspect), testing::HasSubstr("rank 2 is damaged"));
}

TEST(StepTable, ShowsTheSlowestRanksPartsAndMarksWhatStandsOut) {
  const Snapshot snapshot = tables_snapshot();
  const auto table = step_table(snapshot.run);
  const auto& steps = snapshot.run->figures.steps;
  ASSERT_EQ(table->rows, steps.size());
  const auto slow = slow_steps(steps);
  std::vector<std::int64_t> marked;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const trace::StepBreakdown& b = steps[i].ranks[static_cast<std::size_t>(steps[i].slowest_rank)];
    EXPECT_EQ(shown(*column_named(*table, "Time"), i),
              time_by_hand(static_cast<double>(b.step_ns)));
    EXPECT_EQ(shown(*column_named(*table, "Exposed"), i),
              b.has_detail ? time_by_hand(static_cast<double>(b.exposed_ns)) : "");
    EXPECT_EQ(column_named(*table, "Step")->cell(i).is_marked, steps[i].nonfinite);
    EXPECT_EQ(column_named(*table, "Step")->cell(i).tone,
              steps[i].warmup ? Tone::kMuted : Tone::kText);
    EXPECT_EQ(column_named(*table, "Time")->cell(i).is_marked, slow[i]);
    if (slow[i]) marked.push_back(steps[i].index);
  }
  EXPECT_THAT(marked, testing::ElementsAre(37, 96)) << "the two that the sample makes slow";
}

TEST(StepTable, SaysWhatHeldTheClocksDownWhereAnythingDid) {
  const Snapshot snapshot = tables_snapshot();
  EXPECT_EQ(column_named(*step_table(snapshot.run), "Throttled"), nullptr);
  auto run = std::make_shared<RunView>(*snapshot.run);
  run->figures.steps[5].throttling = {{0, trace::kLimitPowerCap, 30'000'000},
                                      {3, trace::kLimitSoftwareThermal, 90'000'000}};
  const auto table = step_table(run);
  const TableColumn* throttled = column_named(*table, "Throttled");
  EXPECT_EQ(throttled->cell(5).text, "power cap, thermal slowdown");
  EXPECT_EQ(throttled->csv(5), "rank 3: thermal slowdown for 90 ms; rank 0: power cap for 30 ms");
  EXPECT_EQ(throttled->number(5), 90e6) << "sorted by the longest";
  EXPECT_EQ(throttled->cell(4).text, "");
}

TEST(RecordingTable, HasARowPerRankWithWhatRecordedItAndWhatThatCost) {
  const Snapshot snapshot = tables_snapshot();
  auto run = std::make_shared<RunView>(*snapshot.run);
  auto& ranks = run->figures.ranks;
  ranks.assign(2, trace::RankFigures{});
  for (int rank = 0; rank < 2; ++rank) {
    trace::RankFigures& of = ranks[static_cast<std::size_t>(rank)];
    of.info.rank = rank;
    of.info.device = "cuda:" + std::to_string(rank);
    of.info.device_name = "NVIDIA H100";
    of.info.versions = "driver 580.95.05, NCCL 2.28.9";
    of.info.link = "NVLink 4, 18 links";
    of.info.link_bytes_per_second = 450e9;
    of.info.sources = "kernels: CUPTI; memory: the allocator";
    of.cost = trace::RecorderCost{rank, 5'000'000, 9'000'000, 1'234'567};
  }
  ranks[1].info.sources = "kernels: CUPTI; memory: nothing";
  run->figures.recorder.losses = {{1, "queue full", 3}, {1, "disk full", 4}};
  const auto table = recording_table(run);
  ASSERT_EQ(table->rows, 2u);
  EXPECT_EQ(shown(*column_named(*table, "Link peak"), 0), "450.0 GB/s");
  EXPECT_EQ(column_named(*table, "Software")->cell(1).text, "driver 580.95.05, NCCL 2.28.9");
  EXPECT_EQ(shown(*column_named(*table, "Lost"), 0), "0");
  EXPECT_EQ(shown(*column_named(*table, "Lost"), 1), "7");
  EXPECT_EQ(shown(*column_named(*table, "Callbacks"), 1), "5.00 ms");
  EXPECT_EQ(shown(*column_named(*table, "Events"), 1), "1,234,567");
  EXPECT_EQ(column_named(*table, "Host"), nullptr) << "nobody said";
  const auto sources = source_lines(run->figures);
  ASSERT_EQ(sources.size(), 3u);
  EXPECT_EQ(sources[0].what, "kernels");
  EXPECT_EQ(sources[0].source, "CUPTI");
  EXPECT_EQ(sources[0].ranks, "") << "all ranks";
  EXPECT_EQ(sources[2].source, "nothing");
  EXPECT_EQ(sources[2].ranks, "rank 1");
}

TEST(RecordingTable, KeepsItsOrderWhileARunOfManyRanksGoesOn) {
  const Snapshot snapshot = tables_snapshot();
  auto run = std::make_shared<RunView>(*snapshot.run);
  run->figures.info.status = trace::RunStatus::kRunning;
  run->figures.ranks.assign(64, trace::RankFigures{});
  const auto after = [&](int looks) {
    run->figures.recorder.losses = {{40, "queue full", 100 / looks},
                                    {50, "queue full", 10 * looks}};
    for (int rank = 0; rank < 64; ++rank) {
      trace::RankFigures& of = run->figures.ranks[static_cast<std::size_t>(rank)];
      of.info.rank = rank;
      of.cost = trace::RecorderCost{rank, (rank * 37 * looks) % 61, 9'000'000, 5'000 * looks};
    }
    const auto table = recording_table(run);
    std::vector<std::string> order;
    for (std::size_t row = 0; row < table->rows; ++row) {
      order.push_back(shown(*column_named(*table, "Rank"), row));
    }
    return order;
  };
  const auto first = after(1);
  EXPECT_EQ((std::vector<std::string>{first.begin(), first.begin() + 4}),
            (std::vector<std::string>{"40", "50", "0", "1"}));
  EXPECT_EQ(after(2), first);
  EXPECT_EQ(after(7), first);
}

TEST(RecordingTable, OfAThousandRanksShowsThoseThatStandOutAndFoldsTheRest) {
  const Snapshot snapshot = tables_snapshot();
  auto run = std::make_shared<RunView>(*snapshot.run);
  auto& ranks = run->figures.ranks;
  run->figures.info.status = trace::RunStatus::kDone;
  ranks.assign(1024, trace::RankFigures{});
  run->figures.recorder.losses.clear();
  for (int rank = 0; rank < 1024; ++rank) {
    trace::RankFigures& of = ranks[static_cast<std::size_t>(rank)];
    of.info.rank = rank;
    of.info.device_name = "NVIDIA H100";
    of.info.host = "node" + std::to_string(rank / 8);
    of.info.sources = rank == 700 || rank == 3 ? "kernels: nothing" : "kernels: CUPTI";
    if (rank != 77) of.cost = trace::RecorderCost{rank, 1'000'000 + rank, 9'000'000, 5'000};
    if (rank % 10 == 4) run->figures.recorder.losses.push_back({rank, "queue full", rank});
  }
  const auto table = recording_table(run);
  ASSERT_EQ(table->rows, kMostRecordingRows / 2);
  const TableColumn& rank = *column_named(*table, "Rank");
  EXPECT_EQ(shown(rank, 0), "77") << "nobody knows what it lost";
  EXPECT_EQ(shown(rank, 1), "1014");
  EXPECT_EQ(shown(*column_named(*table, "Lost"), 1), "1,014");
  EXPECT_EQ(shown(rank, 2), "1004");
  ASSERT_EQ(table->pinned.size(), 1u);
  const auto rest = [&](std::string_view title) {
    const auto at = std::ranges::find(table->columns, title, &TableColumn::title);
    return table->pinned[0].at(static_cast<std::size_t>(at - table->columns.begin())).text;
  };
  EXPECT_EQ(rest("Rank"), "+ 1,008");
  EXPECT_EQ(rest("Device"), "NVIDIA H100");
  EXPECT_EQ(rest("Host"), "various");
  EXPECT_EQ(rest("Lost"), "≤ 864");
  EXPECT_EQ(rest("Events"), "5,000") << "all alike";
  EXPECT_EQ(recording_table(run, false)->rows, 1024u);
  EXPECT_TRUE(recording_table(run, false)->pinned.empty());

  const auto sources = source_lines(run->figures);
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_EQ(sources[0].ranks, "ranks 0 to 2, 4 to 699, 701 to 1023");
  EXPECT_EQ(sources[1].ranks, "ranks 3, 700");
  const std::string losses = losses_text(run->figures.recorder);
  EXPECT_TRUE(losses.starts_with("rank 1014: 1,014 (queue full); rank 1004: ")) << losses;
  EXPECT_TRUE(losses.ends_with(" elsewhere")) << losses;
  EXPECT_LT(losses.size(), 400u);
}

TEST(StepTable, StacksThePartsOfAStepToItsTime) {
  const Snapshot snapshot = tables_snapshot();
  const auto& steps = snapshot.run->figures.steps;
  const auto table = step_table(snapshot.run);
  const TableColumn* stack = column_named(*table, "Where it went");
  ASSERT_NE(stack, nullptr);
  double longest = 0;
  for (const auto& step : steps) {
    if (!step.warmup) longest = std::max(longest, static_cast<double>(step.shown().step_ns));
  }
  int checked = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    double sum = 0;
    for (const auto& [piece_class, share] : stack->cell(i).parts) sum += share;
    const trace::StepBreakdown& b = steps[i].shown();
    if (!b.has_detail) {
      EXPECT_EQ(sum, 0);
    } else {
      EXPECT_NEAR(sum, static_cast<double>(b.step_ns) / longest, 0.001) << steps[i].index;
      ++checked;
    }
  }
  EXPECT_GT(checked, 50);
}

// Nanosecond by nanosecond: the optimizer computes from 40 to 80, communication lasts from 30
// to 60.
TEST(StepTable, CountsTheOptimizerUnderCommunicationOnce) {
  using trace::TimeClass;
  std::map<TimeClass, int> expected;
  for (int at = 0; at < 100; ++at) {
    const bool compute = at < 35 || (at >= 40 && at < 80), communication = at >= 30 && at < 60;
    ++expected[compute && communication ? TimeClass::kOverlapped
               : communication          ? TimeClass::kExposed
               : !compute               ? TimeClass::kIdle
               : at >= 40               ? TimeClass::kOptimizer
                                        : TimeClass::kCompute];
  }
  trace::StepActivity activity;
  activity.step = {0, 100};
  activity.full_detail = true;
  activity.compute = {{0, 35}, {40, 80}};
  activity.communication = {{30, 60}};
  activity.phases = {{40, 80, trace::Phase::kOptimizer}};
  auto run = std::make_shared<RunView>();
  run->figures.steps.resize(1);
  run->figures.steps[0].ranks = {trace::break_down(activity)};
  run->figures.steps[0].slowest_rank = 0;
  const auto table = step_table(run);
  const TableColumn* stack = column_named(*table, "Where it went");
  ASSERT_NE(stack, nullptr);
  std::map<TimeClass, int> found;
  for (const auto& [piece_class, share] : stack->cell(0).parts) {
    found[piece_class] += static_cast<int>(std::lround(share * 100));
  }
  EXPECT_EQ(found, expected);
}

TEST(StepTable, SurvivesStepsThatNobodyReported) {
  auto run = std::make_shared<RunView>();
  run->figures.steps.resize(3);
  run->figures.steps[1].ranks.resize(2);
  run->figures.steps[2].slowest_rank = 7;
  const auto table = step_table(run);
  for (const TableColumn& column : table->columns) {
    for (std::size_t row = 0; row < 3; ++row) column.cell(row);
  }
  EXPECT_EQ(csv_of(*table, table_order(*table, {}, "")).substr(0, 4), "step");
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
  for (const TableColumn& column : table->columns) width += column.width;
  EXPECT_LE(width, 1'250) << "nothing runs off the screen";
  const TableColumn& rest = table->columns.back();
  EXPECT_EQ(rest.title, "and " + std::to_string(columns.rest.size()) + " more");
  EXPECT_EQ(rank_of_column(columns, table->columns.size() - 1), -1);
  for (std::size_t row = 0; row < table->rows; ++row) {
    std::int64_t longest = 0;
    for (const int rank : columns.rest) {
      longest = std::max(longest, figures->calls[row].part_of(rank)->wait_ns);
    }
    EXPECT_EQ(rest.number(row), static_cast<double>(longest));
  }
}

TEST(StragglerTable, HasAColumnPerRankAndTheCostOfEachOnTop) {
  const auto figures = sample_stragglers(8, 48);
  const StragglerColumns columns = straggler_columns(*figures, 4'000);
  const auto table = straggler_table(figures, columns);
  ASSERT_EQ(table->columns.size(), 6u + 8u);
  ASSERT_EQ(table->pinned.size(), 4u);
  for (std::size_t row = 0; row < table->rows; ++row) {
    const trace::StragglerCall& call = figures->calls[row];
    int last = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      const TableColumn& column = table->columns[6 + i];
      EXPECT_EQ(rank_of_column(columns, 6 + i), static_cast<int>(i));
      EXPECT_EQ(column.number(row), static_cast<double>(call.parts[i].wait_ns));
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

TEST(Histogram, HasBinsThatJoinAndCoverAllDurations) {
  trace::DurationHistogram histogram;
  histogram.first_ns = 1300;
  histogram.last_ns = 5.2e6;
  EXPECT_NEAR(histogram_bin(histogram, 0).first, 1300, 1e-6);
  EXPECT_NEAR(histogram_bin(histogram, trace::kHistogramBins - 1).second, 5.2e6, 1e-3);
  for (int i = 1; i < trace::kHistogramBins; ++i) {
    EXPECT_DOUBLE_EQ(histogram_bin(histogram, i).first, histogram_bin(histogram, i - 1).second);
  }
  EXPECT_DOUBLE_EQ(histogram_position(histogram, 1300), 0);
  EXPECT_DOUBLE_EQ(histogram_position(histogram, 5.2e6), 1);
  EXPECT_DOUBLE_EQ(histogram_position(histogram, std::sqrt(1300 * 5.2e6)), 0.5);
}

TEST(Histogram, PutsRoundTicksWhereTheyBelong) {
  trace::DurationHistogram histogram;
  histogram.first_ns = 90e3;
  histogram.last_ns = 2.1e6;
  const auto ticks = histogram_ticks(histogram, 9);
  std::vector<std::string> labels;
  for (const auto& tick : ticks) labels.push_back(tick.label);
  EXPECT_THAT(labels, testing::ElementsAre("100 µs", "200 µs", "500 µs", "1 ms", "2 ms"));
  EXPECT_NEAR(ticks[3].position, std::log(1e6 / 90e3) / std::log(2.1e6 / 90e3), 1e-9);
  EXPECT_LE(histogram_ticks(histogram, 3).size(), 3u);
  histogram.last_ns = histogram.first_ns;
  EXPECT_EQ(histogram_ticks(histogram, 9).size(), 1u) << "one value";
  histogram.first_ns = histogram.last_ns = 0;
  EXPECT_EQ(histogram_ticks(histogram, 9).size(), 1u);
}

}  // namespace

}  // namespace shardlens::ui
