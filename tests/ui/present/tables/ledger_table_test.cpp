#include "ui/present/tables/ledger_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/ui/testing/sample_snapshot.h"
#include "ui/present/tables/ledger_cells.h"

namespace shardlens::ui::present {

namespace {

std::vector<std::string> titles(const Table& table) {
  std::vector<std::string> out;
  for (const auto& column : table.columns) out.push_back(column.title);
  return out;
}

const TableColumn* find_column(const Table& table, std::string_view title) {
  for (const auto& column : table.columns) {
    if (column.title == title) return &column;
  }
  return nullptr;
}

// With the columns that a width has room for, as wide as they are then.
Table fitted(const Table& table, float width) {
  Table shown = table;
  shown.columns.clear();
  for (const PlacedColumn& place : place_columns(table, width, false)) {
    shown.columns.push_back(table.columns[place.column]);
    shown.columns.back().width = place.width;
  }
  return shown;
}

float total_width(const Table& table) {
  float width = 0;
  for (const auto& column : table.columns) width += column.width;
  return width;
}

TEST(LedgerTable, ShowsSettingsInWhichRunsDiffer) {
  const state::Snapshot snapshot = sample_snapshot();
  const auto columns = titles(ledger_table(*snapshot.ledger));
  EXPECT_THAT(columns, testing::Contains("Bucket cap"));
  EXPECT_THAT(columns, testing::Contains("Communication hook"));
  EXPECT_THAT(columns, testing::Not(testing::Contains("Precision")));
}

TEST(LedgerTable, WhatTellsOwnRunsApartStaysLongerThanWhatTellsExamplesApart) {
  state::Ledger ledger = *sample_snapshot({.live = false}).ledger;
  for (state::LedgerRow& row : ledger.rows) row.settings = {};
  ledger.rows[0].settings.bucket_cap_mb = 4;
  ledger.rows.back().is_bundled = true;
  ledger.rows.back().settings.model = "gpt-162m";
  const Table table = ledger_table(ledger);
  const auto* own = find_column(table, "Bucket cap");
  const auto* of_examples = find_column(table, "Model");
  ASSERT_NE(own, nullptr);
  ASSERT_NE(of_examples, nullptr);
  EXPECT_GT(own->priority, of_examples->priority + 12) << "whatever their order";
}

// The first own run beside examples of other jobs, in a window of 1280 pixels.
TEST(LedgerTable, WhatWasMeasuredStaysLongerThanWhatTellsExamplesApart) {
  state::Ledger ledger = *sample_snapshot({.live = false}).ledger;
  for (state::LedgerRow& row : ledger.rows) row.settings = {};
  state::LedgerRow example = ledger.rows.back();
  example.is_bundled = true;
  example.settings.model = "gpt-162m";
  example.settings.batch_per_rank = 3;
  example.settings.sequence_length = 1024;
  example.settings.precision = trace::job::Precision::kBf16;
  example.settings.evaluation_fraction = 0;
  example.settings.oversubscribe = true;
  example.settings.device = trace::job::DeviceChoice::kCuda;
  ledger.rows.push_back(example);
  Table table = fitted(ledger_table(ledger), 900);
  for (const char* title : {"Step time", "Against baseline", "Exposed", "Peak of tensors"}) {
    EXPECT_NE(find_column(table, title), nullptr) << title;
  }
  // Imported ones have no settings.
  for (state::LedgerRow& row : ledger.rows) row.is_imported = !row.is_bundled;
  example.settings = {};
  example.settings.batch_per_rank = 4;
  ledger.rows.push_back(example);
  table = ledger_table(ledger);
  const auto* of_examples = find_column(table, "Model");
  ASSERT_NE(of_examples, nullptr);
  for (const char* title : {"Step time", "Exposed", "Peak of tensors"}) {
    EXPECT_GT(find_column(table, title)->priority, of_examples->priority) << title;
  }
  for (state::LedgerRow& row : ledger.rows) {
    row.is_bundled = true;
    row.is_imported = false;
  }
  table = fitted(ledger_table(ledger), 900);
  EXPECT_NE(find_column(table, "Model"), nullptr) << "nothing else tells them apart";
}

TEST(LedgerTable, HidesColumnsWithoutAValue) {
  state::Snapshot snapshot = sample_snapshot();
  state::Ledger ledger = *snapshot.ledger;
  for (auto& row : ledger.rows) {
    row.summary.overlap_fraction.reset();
    row.loss_at_common_step.reset();
    row.relative_to_baseline.reset();
  }
  const Table table = ledger_table(ledger);
  EXPECT_EQ(find_column(table, "Overlap"), nullptr);
  EXPECT_EQ(find_column(table, "Loss"), nullptr);
  EXPECT_EQ(find_column(table, "Against baseline"), nullptr) << "nothing is compared with it";
  EXPECT_NE(find_column(table, "Step time"), nullptr);
}

TEST(LedgerTable, SortsWaitingByItsLength) {
  state::Ledger ledger = *sample_snapshot({.live = false}).ledger;
  ledger.rows[0].summary.exposed_wait_ns = 950e3;  // "950 µs"
  ledger.rows[1].summary.exposed_wait_ns = 12.1e6;
  const Table table = ledger_table(ledger);
  const TableColumn* column = find_column(table, "Waiting");
  ASSERT_NE(column, nullptr);
  ASSERT_TRUE(column->number);
  EXPECT_LT(column->number(0), column->number(1));
  EXPECT_TRUE(std::isnan(column->number(2)));
  for (const TableColumn& each : table.columns) {
    const std::string first = each.cell(1).text;
    const bool is_figure =
        each.kind == TableColumn::Kind::kValue && first.find_first_of("0123456789") == 0;
    EXPECT_TRUE(!is_figure || each.number) << each.title;
  }
}

TEST(LedgerTable, ShowsAZeroThatIsKnown) {
  state::Ledger ledger = *sample_snapshot({.live = false}).ledger;
  state::LedgerRow& row = ledger.rows[0];
  row.summary.has_detail = true;
  row.summary.exposed_ns = 0;
  row.summary.exposed_wait_ns = 0;
  EXPECT_EQ(waiting_cell(row).text, "0 ms");
  const Table table = ledger_table(ledger);
  const TableColumn* exposed = find_column(table, "Exposed");
  ASSERT_NE(exposed, nullptr);
  EXPECT_EQ(exposed->cell(0).text, "0 ms");
  EXPECT_EQ(exposed->number(0), 0);
  row.summary.has_detail = false;
  EXPECT_EQ(exposed->cell(0).text, "");
  EXPECT_TRUE(std::isnan(exposed->number(0)));
}

TEST(LedgerTable, CountsTheStepsOfAResumedRunAsWhileItRan) {
  state::LedgerRow row = sample_snapshot({.live = false}).ledger->rows.front();
  row.summary.steps_executed = 20;
  row.summary.last_step = 119;
  row.status = trace::model::RunStatus::kStopped;
  EXPECT_EQ(steps_cell(row, {}).text, "stopped at 120");
  row.status = trace::model::RunStatus::kFailed;
  EXPECT_EQ(steps_cell(row, {}).text, "failed at 120");
}

TEST(LedgerTable, CountsTheStepsOfAnotherProgramWhateverTheirNumbers) {
  state::LedgerRow row = sample_snapshot({.live = false}).ledger->rows.front();
  row.is_imported = true;
  row.summary.steps_executed = 8;
  row.summary.last_step = 107;
  row.status = trace::model::RunStatus::kStopped;
  EXPECT_EQ(steps_cell(row, {}).text, "stopped at 8");
  row.status = trace::model::RunStatus::kFailed;
  EXPECT_EQ(steps_cell(row, {}).text, "failed at 8");
}

TEST(LedgerTable, TellsHowFarTheRunThatRunsIsWhateverItIsCalledNow) {
  state::LedgerRow row = sample_snapshot().ledger->rows.front();
  const state::JobState job = sample_snapshot().job;
  EXPECT_EQ(steps_cell(row, job).text, "120 of 200");
  row.name = "renamed";
  EXPECT_EQ(steps_cell(row, job).text, "120 of 200");
}

TEST(LedgerTable, FollowsTheRunThatRunsWithoutBeingMadeAnew) {
  const state::Snapshot snapshot = sample_snapshot();
  const auto job = std::make_shared<state::JobState>(snapshot.job);
  const Table table = ledger_table(*snapshot.ledger, job);
  EXPECT_EQ(find_column(table, "Steps")->cell(0).text, "120 of 200");
  job->step = 121;
  EXPECT_EQ(find_column(table, "Steps")->cell(0).text, "121 of 200");
}

TEST(LedgerTable, HoldsWhatWasMeasuredAgainstWhatWasPredicted) {
  state::Ledger ledger = *sample_snapshot({.live = false}).ledger;
  EXPECT_EQ(find_column(ledger_table(ledger), "Predicted → measured"), nullptr);
  state::LedgerRow& row = ledger.rows[1];
  row.status = trace::model::RunStatus::kDone;
  row.summary.step_ns.mean = 325.2e6;
  row.predicted = trace::model::StepPrediction{331e6, 320e6, 340e6, "run"};
  EXPECT_NE(find_column(ledger_table(ledger), "Predicted → measured"), nullptr);
  TableCell cell = predicted_cell(row);
  EXPECT_EQ(cell.text, "331.0 → 325.2 ms");
  EXPECT_EQ(cell.unit, format_signed_percent(325.2 / 331 - 1));
  EXPECT_FALSE(cell.is_marked);
  row.predicted->low_ns = 326e6;
  EXPECT_TRUE(predicted_cell(row).is_marked) << "outside of the interval";
  row.status = trace::model::RunStatus::kRunning;
  EXPECT_EQ(predicted_cell(row).text, "331.0 ms");
  EXPECT_FALSE(prediction_error(row)) << "it is not over";
}

TEST(LedgerTable, MarksSlowerAndFasterWithASignAndGreysNoise) {
  const state::Snapshot snapshot = sample_snapshot();
  const Table table = ledger_table(*snapshot.ledger);
  const TableColumn* column = find_column(table, "Against baseline");
  ASSERT_NE(column, nullptr);
  EXPECT_EQ(column->cell(0).tone, state::Tone::kMuted) << "below the noise";
  EXPECT_EQ(column->cell(1).text, "baseline");
  EXPECT_EQ(column->cell(2).trend, Trend::kDown);
  EXPECT_EQ(column->cell(3).trend, Trend::kUp);
  EXPECT_EQ(column->cell(3).text.front(), '+');
  EXPECT_EQ(column->cell(4).text, "");
}

// Less is better in every row, also where runs do different work per step.
TEST(LedgerTable, PointsWhereItsFigureGoes) {
  state::Ledger ledger = *sample_snapshot().ledger;
  ledger.rows[2].per_token = true;
  ledger.rows[2].relative_to_baseline = 0.2;
  const Table table = ledger_table(ledger);
  EXPECT_EQ(find_column(table, "Against baseline")->cell(2).trend, Trend::kUp);
  EXPECT_EQ(find_column(table, "Against baseline")->cell(2).text, "+20.0 % per token");
  ledger.rows[2].relative_to_baseline = -0.2;
  EXPECT_EQ(find_column(table, "Against baseline")->cell(2).trend, Trend::kDown);
}

TEST(LedgerTable, SaysNotWhenARunWasWhoseClockKnowsNoDate) {
  state::LedgerRow row;
  row.start_ns = 1'000'000;
  EXPECT_EQ(when_cell(row).text, "");
}

TEST(LedgerTable, PointsNowhereWhereTheDifferenceIsToldAsNone) {
  state::Ledger ledger = *sample_snapshot().ledger;
  for (const double relative : {0.0, 0.0004, -0.0004}) {
    ledger.rows[2].relative_to_baseline = relative;
    const Table table = ledger_table(ledger);
    EXPECT_EQ(find_column(table, "Against baseline")->cell(2).trend, Trend::kNone);
  }
}

TEST(LedgerTable, NamesTheStepOfTheBaselineAndThatOfOthers) {
  state::Ledger ledger = *sample_snapshot().ledger;
  for (auto& row : ledger.rows) row.common_step = 99;
  ledger.rows.back().common_step = 29;
  const Table table = ledger_table(ledger);
  const TableColumn* column = find_column(table, "Loss");
  ASSERT_NE(column, nullptr);
  EXPECT_EQ(column->head(), "Loss at step 99");
  EXPECT_EQ(column->cell(0).unit, "");
  EXPECT_EQ(column->cell(ledger.rows.size() - 1).unit, "@ 29");
  for (auto& row : ledger.rows) row.is_baseline = false;
  const Table without = ledger_table(ledger);
  ASSERT_NE(find_column(without, "Loss"), nullptr);
  EXPECT_EQ(find_column(without, "Loss")->head(), "Loss") << "no step holds for all rows";
  EXPECT_EQ(find_column(without, "Loss")->cell(0).unit, "@ 99");
}

TEST(LedgerTable, ShowsBatchAndTrafficOnlyWhereRunsDifferInThem) {
  state::Ledger ledger = *sample_snapshot().ledger;
  for (auto& row : ledger.rows) {
    row.summary.effective_batch = 16;
    row.summary.samples_per_s = 100 + row.summary.step_ns.mean / 1e6;
    row.summary.bytes_sent_per_step = 9.0 * (1 << 20);
  }
  ledger.rows.back().summary.bytes_sent_per_step.reset();  // failed before its first step
  const Table same = ledger_table(ledger);
  EXPECT_EQ(find_column(same, "Effective batch"), nullptr);
  EXPECT_EQ(find_column(same, "Samples/s"), nullptr) << "step time says the same";
  EXPECT_EQ(find_column(same, "Sent per step"), nullptr);

  ledger.rows[0].summary.effective_batch = 32;
  ledger.rows[1].summary.bytes_sent_per_step = 27.0 * (1 << 20);
  const Table table = ledger_table(ledger);
  ASSERT_NE(find_column(table, "Effective batch"), nullptr);
  EXPECT_EQ(find_column(table, "Effective batch")->cell(0).text, "32");
  EXPECT_NE(find_column(table, "Samples/s"), nullptr);
  ASSERT_NE(find_column(table, "Sent per step"), nullptr);
  EXPECT_EQ(find_column(table, "Sent per step")->cell(1).text, "27.0 MiB");
  EXPECT_EQ(find_column(table, "Sent per step")->cell(ledger.rows.size() - 1).text, "");
}

TEST(LedgerText, SaysWhichScalingItIs) {
  EXPECT_EQ(scaling_text({trace::analysis::ScalingKind::kWeak, 2, 4, 1.84, 0.92}),
            "2 → 4 ranks: 1.84 × the samples/s, efficiency 92 % (same batch per rank)");
  EXPECT_EQ(scaling_title({trace::analysis::ScalingKind::kStrong, 2, 4, 1.5, 0.75}),
            "Strong scaling");
  EXPECT_EQ(scaling_text({trace::analysis::ScalingKind::kStrong, 2, 4, 1.5, 0.75}),
            "2 → 4 ranks: 1.50 × the samples/s, efficiency 75 % (same effective batch)");
  EXPECT_EQ(scaling_text({trace::analysis::ScalingKind::kWeak, 1, 2, 1.2, 0.6, true}),
            "1 → 2 ranks: 1.20 × the samples/s, efficiency 60 % (same batch per rank, all on the "
            "same CPU cores)");
}

TEST(LedgerTable, MarksSimulatedRunsAndSaysWhatWasSimulated) {
  state::Ledger ledger = *sample_snapshot().ledger;
  ledger.rows[1].simulated = true;
  const Table table = ledger_table(ledger);
  EXPECT_EQ(table.columns.front().cell(0).unit, "");
  EXPECT_EQ(table.columns.front().cell(1).unit, "simulated");
  trace::job::Settings settings;
  EXPECT_EQ(simulation_text(settings), "");
  settings.simulate_link = "latency_us=50, gbit_per_s=1";
  settings.overlap_comm = false;
  EXPECT_EQ(simulation_text(settings),
            "link of 1 Gbit/s, 50 µs; communication kept from overlapping");
  settings.sharding_strategy = trace::job::Strategy::kFullShard;
  EXPECT_EQ(simulation_text(settings), "link of 1 Gbit/s, 50 µs") << "units overlap";
}

TEST(LedgerTable, DropsWhatDoesNotTellRunsApartWhenNarrow) {
  const state::Snapshot snapshot = sample_snapshot();
  // A window of 1280 pixels, and one of 1920.
  for (const float width : {900.0f, 1540.0f}) {
    const Table table = fitted(ledger_table(*snapshot.ledger), width);
    EXPECT_LE(total_width(table), width + 0.5f);
    EXPECT_EQ(table.columns.front().title, "Run");
    for (const char* title :
         {"Bucket cap", "Communication hook", "Simulated link", "Step time", "Against baseline"}) {
      EXPECT_NE(find_column(table, title), nullptr) << title << " at " << width;
    }
  }
  const Table table = fitted(ledger_table(*snapshot.ledger), 560);
  EXPECT_LE(total_width(table), 560.5f);
  EXPECT_NE(find_column(table, "Step time"), nullptr);
  EXPECT_NE(find_column(table, "Bucket cap"), nullptr);
  EXPECT_EQ(find_column(table, "Ranks"), nullptr) << "the same in all runs";
}

TEST(LedgerTable, AllSettingsInWhichRunsDifferAreThereWhereThereIsRoom) {
  state::Ledger ledger = *sample_snapshot().ledger;
  ledger.rows[0].settings.batch_per_rank = 3;
  ledger.rows[1].settings.sequence_length = 99;
  ledger.rows[2].settings.learning_rate = 0.5;
  ledger.rows[3].settings.precision = trace::job::Precision::kBf16;
  const Table table = fitted(ledger_table(ledger), 1540);
  int settings = 0;
  for (const auto& column : table.columns) settings += column.source.empty() ? 0 : 1;
  EXPECT_GE(settings, 7);
  EXPECT_NE(find_column(table, "Simulated link"), nullptr);
}

TEST(LedgerTable, HeadingsAreWideEnoughToBeRead) {
  state::Ledger ledger = *sample_snapshot().ledger;
  for (auto& row : ledger.rows) row.common_step = 123456;
  for (const float width : {560.0f, 900.0f, 1540.0f}) {
    const Table table = fitted(ledger_table(ledger), width);
    for (const auto& column : table.columns) {
      const auto letters = static_cast<float>(column.head().size());
      EXPECT_GE(column.width, letters * 6.2f + 12) << column.head();
    }
  }
}

// One odd run must not take the place of what a sweep varies.
TEST(LedgerTable, SettingsThatTellMostRunsApartStayLongest) {
  state::Ledger ledger = *sample_snapshot({.live = false}).ledger;
  for (std::size_t i = 0; i < ledger.rows.size(); ++i) {
    ledger.rows[i].settings = {};
    ledger.rows[i].settings.bucket_cap_mb = 1 + static_cast<double>(i);
  }
  ledger.rows[0].settings.model = "small";
  const Table table = ledger_table(ledger);
  EXPECT_GT(find_column(table, "Bucket cap")->priority, find_column(table, "Model")->priority);
}

// Unlike those of the other runs in more settings than a ledger has room for.
void make_odd(trace::job::Settings& settings) {
  settings.model = "small";
  settings.batch_per_rank = 3;
  settings.sequence_length = 64;
  settings.dropout = 0.5;
  settings.precision = trace::job::Precision::kBf16;
}

TEST(LedgerTable, ExposedOutlivesTagsAndAllButThreeSettings) {
  state::Ledger ledger = *sample_snapshot({.live = false}).ledger;
  make_odd(ledger.rows[0].settings);
  for (state::LedgerRow& row : ledger.rows) row.tags = {"caps"};
  const Table table = ledger_table(ledger);
  const int exposed = find_column(table, "Exposed")->priority;
  EXPECT_GT(exposed, find_column(table, "Tags")->priority);
  const auto stays_longer = [&](const TableColumn& column) {
    return !column.source.empty() && column.source != "ranks" && column.priority > exposed;
  };
  EXPECT_EQ(std::ranges::count_if(table.columns, stays_longer), 3);
}

TEST(LedgerTable, ExamplesAloneKeepTheirNames) {
  state::Ledger ledger = *sample_snapshot({.live = false}).ledger;
  for (state::LedgerRow& row : ledger.rows) {
    row.is_bundled = true;
    row.name = "H200, full_shard, no prefetch";
    row.settings = {};
  }
  auto& odd = ledger.rows[0].settings;
  make_odd(odd);
  odd.oversubscribe = true;
  odd.evaluation_fraction = 0.25;
  odd.lora_rank = 4;
  const Table table = fitted(ledger_table(ledger), 950);
  EXPECT_GE(table.columns.front().width, 200) << "in which the name can be read";
}

TEST(LedgerTable, AnExamplesNumberIsNotTakenForARuns) {
  state::LedgerRow row = sample_snapshot({.live = false}).ledger->rows.front();
  row.name = "H200, ddp";
  row.ordinal = "example 3";
  row.is_bundled = true;
  row.simulated = false;
  EXPECT_EQ(name_cell(row).text, "H200, ddp");
  EXPECT_EQ(name_cell(row).unit, "example 3");
}

TEST(LedgerTable, ASettingThatDoesNotApplyIsBlankAndMakesNoDifference) {
  state::Ledger ledger = *sample_snapshot().ledger;
  for (auto& row : ledger.rows) row.settings.bucket_cap_mb = 25;
  ledger.rows[1].settings.sharding_strategy = trace::job::Strategy::kFullShard;
  ledger.rows[1].settings.bucket_cap_mb = 60;
  const Table table = ledger_table(ledger);
  EXPECT_EQ(find_column(table, "Bucket cap"), nullptr);
  const trace::job::Knob& knob = *trace::job::find_knob("bucket_cap_mb");
  EXPECT_EQ(setting_cell(ledger.rows[1], knob).text, "");
  EXPECT_NE(setting_cell(ledger.rows[0], knob).text, "");
}

TEST(LedgerTable, SaysWhyARunIsNotComparedAndShowsTheUsersWords) {
  state::Ledger ledger = *sample_snapshot().ledger;
  EXPECT_EQ(find_column(ledger_table(ledger), "Tags"), nullptr);
  ledger.rows[2].not_compared = "other machine";
  ledger.rows[2].tags = {"slow", "cluster"};
  ledger.rows[2].note = "the switch was broken";
  const Table table = ledger_table(ledger);
  EXPECT_EQ(find_column(table, "Against baseline")->cell(2).text, "other machine");
  EXPECT_EQ(find_column(table, "Tags")->cell(2).text, "slow cluster");
  EXPECT_EQ(find_column(table, "Note")->cell(2).text, "the switch was broken");
}

TEST(LedgerTable, ShowsALongNameBeforeColumnsThatMatterLess) {
  state::Ledger ledger = *sample_snapshot().ledger;
  ledger.rows[0].name = "slow link, one bucket, bf16";
  const Table table = fitted(ledger_table(ledger), 900);
  EXPECT_GE(table.columns.front().width, table.columns.front().wish);
  EXPECT_EQ(find_column(table, "When"), nullptr) << "gives way";
}

}  // namespace

}  // namespace shardlens::ui::present
