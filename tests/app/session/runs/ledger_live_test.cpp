#include <gtest/gtest.h>

#include "app/session/runs/ledger.h"

namespace shardlens::app::session {
namespace {

using trace::model::RunStatus;
using ui::state::Ledger;
using ui::state::LedgerRow;
using ui::state::RunView;

LedgerRow row_with(const char* folder, RunStatus status, std::int64_t steps, double step_ns) {
  LedgerRow row;
  row.folder = folder;
  row.status = status;
  row.summary.steps_measured = row.summary.step_ns.count = steps;
  row.summary.step_ns.mean = step_ns;
  return row;
}

// After 10 steps of 250 ms each, as the library read it last, of a baseline of 200.
struct LiveLedgerTest : testing::Test {
  LiveLedger live;
  std::shared_ptr<const Ledger> library;
  RunView view;

  LiveLedgerTest() {
    Ledger ledger;
    ledger.rows = {row_with("running", RunStatus::kRunning, 10, 250e6),
                   row_with("done", RunStatus::kDone, 10, 200e6)};
    ledger.rows[0].relative_to_baseline = 0.25;
    library = std::make_shared<const Ledger>(ledger);
    view.is_live = true;
    show("running");
  }
  void show(const char* folder) {
    view.figures.info.folder = folder;
    view.figures.summary = row_with(folder, RunStatus::kRunning, 12, 300e6).summary;
  }
  std::shared_ptr<const Ledger> now() {
    return live.with_live(library, std::make_shared<const RunView>(view));
  }
};

TEST_F(LiveLedgerTest, TheRunOnScreenHasOneStepTime) {
  const auto ledger = now();
  EXPECT_EQ(ledger->rows[0].summary.steps_measured, 12);
  EXPECT_DOUBLE_EQ(ledger->rows[0].summary.step_ns.mean, 300e6);
  EXPECT_DOUBLE_EQ(*ledger->rows[0].relative_to_baseline, 300.0 / 200 - 1);
  EXPECT_DOUBLE_EQ(ledger->rows[1].summary.step_ns.mean, 200e6);
  EXPECT_DOUBLE_EQ(library->rows[0].summary.step_ns.mean, 250e6) << "the library's is its own";
}

TEST_F(LiveLedgerTest, TheTimePerTokenGoesWithTokens) {
  Ledger ledger = *library;
  ledger.rows[0].per_token = true;
  ledger.rows[0].relative_to_baseline = 1000.0 / 800 - 1;
  ledger.rows[0].summary.tokens_per_s = 800;
  library = std::make_shared<const Ledger>(ledger);
  view.figures.summary.tokens_per_s = 900;
  EXPECT_DOUBLE_EQ(*now()->rows[0].relative_to_baseline, 1000.0 / 900 - 1);
}

TEST_F(LiveLedgerTest, IsTheLibrarysWhereNothingIsRecorded) {
  EXPECT_EQ(live.with_live(library, nullptr), library);
  view.is_live = false;
  EXPECT_EQ(now(), library);
  view.is_live = true;
  show("done");
  EXPECT_EQ(now(), library) << "its last figures are the library's";
  show("elsewhere");
  EXPECT_EQ(now(), library);
}

TEST_F(LiveLedgerTest, IsTheSameUntilSomethingIsNew) {
  const auto shown = std::make_shared<const RunView>(view);
  const auto first = live.with_live(library, shown);
  EXPECT_EQ(live.with_live(library, shown), first);
  EXPECT_NE(live.with_live(std::make_shared<const Ledger>(*library), shown), first);
}

}  // namespace
}  // namespace shardlens::app::session
