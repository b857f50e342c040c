#include "ui/runs/run_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(RunOrder, TheThirdClickOnAHeadTakesTheOrderBack) {
  present::LedgerColumn figure, words;
  figure.title = "Step time";
  figure.number = [](const state::LedgerRow&) { return 0.0; };
  words.title = "Tags";
  const auto once = next_run_sort({}, figure);
  EXPECT_EQ(once, (present::TableSort{"Step time", true}));
  const auto twice = next_run_sort(once, figure);
  EXPECT_EQ(twice, (present::TableSort{"Step time", false}));
  EXPECT_EQ(next_run_sort(twice, figure), present::TableSort{});
  EXPECT_EQ(next_run_sort(twice, words), (present::TableSort{"Tags", false}));
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
