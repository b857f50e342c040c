#include "ui/runs/run_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ui/present/tables/ledger_table.h"

namespace shardlens::ui::runs {
namespace {

using testing::ElementsAre;

std::vector<std::string> names(const std::vector<state::LedgerRow>& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row.name);
  return names;
}

state::Ledger three_runs() {
  state::Ledger ledger;
  for (const char* name : {"c", "b", "a"}) {
    state::LedgerRow row;
    row.name = name;
    row.folder = std::string("runs/") + name;
    row.ordinal = std::string("run ") + std::to_string(row.name[0] - 'a' + 8);
    row.summary.step_ns.mean = 1e6 * row.name[0];
    ledger.rows.push_back(row);
  }
  ledger.rows[1].summary.step_ns.mean = 0;  // not known
  ledger.rows[1].settings.bucket_cap_mb = 60;
  ledger.rows[2].settings.bucket_cap_mb = 8;
  ledger.rows[2].tags = {"Slow"};
  ledger.rows[0].note = "as on the cluster";
  ledger.rows[0].status = trace::model::RunStatus::kFailed;
  return ledger;
}

TEST(RunOrder, WithoutAWishRunsStandAsTheyCome) {
  EXPECT_THAT(names(ordered_runs(three_runs(), {}, "")), ElementsAre("c", "b", "a"));
}

TEST(RunOrder, SortsByFiguresWithTheUnknownLast) {
  EXPECT_THAT(names(ordered_runs(three_runs(), {"Step time", false}, "")),
              ElementsAre("a", "c", "b"));
  EXPECT_THAT(names(ordered_runs(three_runs(), {"Step time", true}, "")),
              ElementsAre("c", "a", "b"));
  EXPECT_THAT(names(ordered_runs(three_runs(), {"Run", false}, "")), ElementsAre("a", "b", "c"))
      << "run 10 comes behind run 9";
  EXPECT_THAT(names(ordered_runs(three_runs(), {"Bucket cap", false}, "")),
              ElementsAre("a", "c", "b"))
      << "8, 25, 60";
}

TEST(RunOrder, FiltersByNameTagNoteStatusAndSetting) {
  const state::Ledger ledger = three_runs();
  EXPECT_THAT(names(ordered_runs(ledger, {}, "slow")), ElementsAre("a"));
  EXPECT_THAT(names(ordered_runs(ledger, {}, "cluster on")), ElementsAre("c"));
  EXPECT_THAT(names(ordered_runs(ledger, {}, "failed")), ElementsAre("c"));
  EXPECT_THAT(names(ordered_runs(ledger, {}, "bucket_cap_mb=60")), ElementsAre("b"));
  EXPECT_THAT(names(ordered_runs(ledger, {}, "run 9")), ElementsAre("b"));
  EXPECT_TRUE(ordered_runs(ledger, {}, "no such thing").empty());
}

// As the ledger's column of it shows it.
TEST(RunOrder, FiltersByTheValueOfASettingAlsoWhereItIsTheDefault) {
  state::Ledger ledger = three_runs();
  EXPECT_THAT(names(ordered_runs(ledger, {}, "sharding_strategy=ddp")), ElementsAre("c", "b", "a"));
  EXPECT_THAT(names(ordered_runs(ledger, {}, "bucket_cap_mb=25")), ElementsAre("c"));
  EXPECT_THAT(names(ordered_runs(ledger, {}, "bucket_cap_mb=8 slow")), ElementsAre("a"));
  EXPECT_TRUE(ordered_runs(ledger, {}, "bucket_cap_mb=6").empty()) << "60 is another value";
  EXPECT_TRUE(ordered_runs(ledger, {}, "ddp").empty()) << "no word of each run";
  ledger.rows[0].settings.sharding_strategy = trace::job::Strategy::kFullShard;
  ledger.rows[1].is_imported = true;
  ledger.rows[2].settings.model = "/models/Llama-3.2-1B";
  EXPECT_TRUE(ordered_runs(ledger, {}, "bucket_cap_mb=25").empty()) << "it has no buckets";
  EXPECT_THAT(names(ordered_runs(ledger, {}, "sharding_strategy=ddp")), ElementsAre("a"));
  EXPECT_THAT(names(ordered_runs(ledger, {}, "model=Llama")), ElementsAre("a"));
}

TEST(RunOrder, FiltersByAValueHoweverItIsWritten) {
  state::Ledger ledger = three_runs();
  EXPECT_EQ(ordered_runs(ledger, {}, "learning_rate=3e-4").size(), 3u) << "0.0003, the default";
  EXPECT_THAT(names(ordered_runs(ledger, {}, "bucket_cap_mb=8.0")), ElementsAre("a"));
  ledger.rows[0].settings.sharding_strategy = trace::job::Strategy::kShardGradOp;
  EXPECT_THAT(names(ordered_runs(ledger, {}, "zero_stage=2")), ElementsAre("c"));
  EXPECT_THAT(names(ordered_runs(ledger, {}, "sharding_strategy=DDP")), ElementsAre("b", "a"));
  EXPECT_EQ(ordered_runs(ledger, {}, "bucket_cap_mb=").size(), 3u) << "still being typed";
}

// The baseline's job reached step 29, that of the others step 99.
TEST(RunOrder, SortsWhatTheFilterLeavesByTheColumnsThatItHas) {
  state::Ledger ledger = three_runs();
  for (std::size_t i = 0; i < ledger.rows.size(); ++i) {
    ledger.rows[i].loss_at_common_step = 3.0 - static_cast<double>(i);
    ledger.rows[i].common_step = i == 0 ? 29 : 99;
    if (i > 0) ledger.rows[i].tags = {"long"};
  }
  ledger.rows[0].is_baseline = true;
  state::Ledger filtered = ledger;
  filtered.rows.erase(filtered.rows.begin());
  const auto columns = present::ledger_table(filtered).columns;
  const auto loss = std::ranges::find(columns, "Loss at step 99", &present::TableColumn::head);
  ASSERT_NE(loss, columns.end());
  const auto most = present::next_sort({}, *loss), least = present::next_sort(most, *loss);
  EXPECT_THAT(names(ordered_runs(ledger, most, "long")), ElementsAre("b", "a"));
  EXPECT_THAT(names(ordered_runs(ledger, least, "long")), ElementsAre("a", "b"));
  EXPECT_THAT(names(ordered_runs(ledger, least, "")), ElementsAre("a", "b", "c"))
      << "also once the head names another step";
}

// Where more settings differ in the library than it shows.
TEST(RunOrder, SortsByASettingThatOnlyTheFilteredLedgerHasRoomFor) {
  state::Ledger ledger = three_runs();
  for (state::LedgerRow& row : ledger.rows) row.settings = {};
  ledger.rows.push_back(ledger.rows.front());
  for (const char* knob :
       {"batch_per_rank", "sequence_length", "bucket_cap_mb", "threads_per_rank", "warmup_steps",
        "gradient_accumulation_steps", "collective_timeout_s", "evaluate_every",
        "evaluation_batches", "keep_checkpoints", "save_every", "skip_steps"}) {
    ASSERT_TRUE(trace::job::set_value(ledger.rows[0].settings, knob, "16")) << knob;
    ASSERT_TRUE(trace::job::set_value(ledger.rows[3].settings, knob, "32")) << knob;
  }
  for (const std::size_t row : {1, 2}) ledger.rows[row].tags = {"decay"};
  ledger.rows[1].settings.weight_decay = 0.5;
  const std::string title(trace::job::find_knob("weight_decay")->label);
  const auto has_it = [&](const state::Ledger& of) {
    return std::ranges::count(present::ledger_table(of).columns, title,
                              &present::TableColumn::title) > 0;
  };
  ASSERT_FALSE(has_it(ledger));
  EXPECT_THAT(names(ordered_runs(ledger, {title, false}, "decay")), ElementsAre("a", "b"));
  EXPECT_THAT(names(ordered_runs(ledger, {title, true}, "decay")), ElementsAre("b", "a"));
}

TEST(RunOrder, TakesAllRunsBetweenTwo) {
  const auto rows = three_runs().rows;
  EXPECT_THAT(runs_between(rows, "runs/b", "runs/a"), ElementsAre("runs/b", "runs/a"));
  EXPECT_THAT(runs_between(rows, "runs/a", "runs/c"), ElementsAre("runs/c", "runs/b", "runs/a"));
  EXPECT_THAT(runs_between(rows, "gone", "runs/b"), ElementsAre("runs/b"));
  EXPECT_TRUE(runs_between(rows, "runs/a", "gone").empty());
}

}  // namespace
}  // namespace shardlens::ui::runs
