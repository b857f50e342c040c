#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ui/present/job_text.h"

namespace shardlens::ui::present {
namespace {

// Run 12 at step 34 of 300.
state::Snapshot running() {
  state::Snapshot snapshot;
  snapshot.job = {.phase = state::JobPhase::kRunning,
                  .run_name = "cap 4",
                  .folder = "runs/cap-4",
                  .step = 34,
                  .steps = 300,
                  .queued = {}};
  auto ledger = std::make_shared<state::Ledger>();
  ledger->rows.emplace_back();
  ledger->rows.back().name = "cap 4, once more";  // renamed since it was started
  ledger->rows.back().folder = "runs/cap-4";
  ledger->rows.back().ordinal = "run 12";
  snapshot.ledger = ledger;
  return snapshot;
}

std::shared_ptr<const state::SweepView> sweep_named(const std::string& name) {
  auto sweep = std::make_shared<state::SweepView>();
  sweep->running = name;
  return sweep;
}

TEST(ClosingText, NamesTheRunAndHowFarItIs) {
  const ClosingText text = closing_text(running());
  EXPECT_EQ(text.going_on, "Run 12 is at step 34 of 300.");
  EXPECT_EQ(text.effect, "The run is stopped; what it has recorded is kept.");
}

TEST(ClosingText, SaysThatItWaitsForACheckpoint) {
  state::Snapshot snapshot = running();
  snapshot.job.saves_checkpoints = true;
  EXPECT_EQ(closing_text(snapshot).effect,
            "The run is stopped once what is due is evaluated and saved; what it has recorded is "
            "kept.");
}

TEST(ClosingText, SaysWhatBecomesOfRunsThatWait) {
  state::Snapshot snapshot = running();
  snapshot.job.queued.push_back({1, "cap 8"});
  EXPECT_EQ(closing_text(snapshot).going_on, "Run 12 is at step 34 of 300; 1 more waits.");
  EXPECT_EQ(closing_text(snapshot).effect,
            "The run is stopped; what it has recorded is kept. The one that waits does not start.");
  snapshot.job.queued.push_back({2, "cap 16"});
  EXPECT_EQ(closing_text(snapshot).going_on, "Run 12 is at step 34 of 300; 2 more wait.");
  EXPECT_EQ(closing_text(snapshot).effect,
            "The run is stopped; what it has recorded is kept. Those that wait do not start.");
  snapshot.job.phase = state::JobPhase::kNone;
  EXPECT_EQ(closing_text(snapshot).going_on, "2 runs wait.");
  EXPECT_EQ(closing_text(snapshot).effect, "Those that wait do not start.");
}

TEST(ClosingText, KnowsARunThatHasNoNumberAndNoStepYet) {
  state::Snapshot snapshot = running();
  snapshot.ledger = nullptr;
  snapshot.job.phase = state::JobPhase::kStarting;
  EXPECT_EQ(closing_text(snapshot).going_on, "The run “cap 4” is starting.");
  snapshot.job.phase = state::JobPhase::kStopping;
  EXPECT_EQ(closing_text(snapshot).going_on, "The run “cap 4” is being stopped.");
}

TEST(ClosingText, SaysThatASweepCanBeResumed) {
  state::Snapshot snapshot = running();
  snapshot.sweep = sweep_named("caps");
  EXPECT_EQ(closing_text(snapshot).going_on,
            "The sweep “caps” goes on: run 12 is at step 34 of 300.");
  EXPECT_EQ(closing_text(snapshot).effect,
            "The run is stopped; what it has recorded is kept. The sweep can be resumed.");
  snapshot.job.phase = state::JobPhase::kNone;  // between two of its runs
  EXPECT_EQ(closing_text(snapshot).going_on, "The sweep “caps” goes on.");
  EXPECT_EQ(closing_text(snapshot).effect, "The sweep can be resumed.");
}

TEST(ClosingText, ASweepDoesNotHideThatRunsWait) {
  state::Snapshot snapshot = running();
  snapshot.sweep = sweep_named("caps");
  snapshot.job.queued.push_back({1, "cap 8"});
  EXPECT_EQ(closing_text(snapshot).effect,
            "The run is stopped; what it has recorded is kept. The sweep can be resumed. The one "
            "that waits does not start.");
}

TEST(ClosingText, NamesImportsAndPacking) {
  state::Snapshot snapshot = running();
  snapshot.file_work = {"the import of rank0.json.gz and 1 more", "the packing of cap 4"};
  EXPECT_EQ(closing_text(snapshot).going_on,
            "Run 12 is at step 34 of 300. The import of rank0.json.gz and 1 more goes on. The "
            "packing of cap 4 goes on.");
  EXPECT_EQ(closing_text(snapshot).effect,
            "The run is stopped; what it has recorded is kept. Of unfinished files nothing is "
            "kept.");
  snapshot.job.phase = state::JobPhase::kNone;
  snapshot.file_work.pop_back();
  EXPECT_EQ(closing_text(snapshot).going_on, "The import of rank0.json.gz and 1 more goes on.");
  EXPECT_EQ(closing_text(snapshot).effect, "Of unfinished files nothing is kept.");
}

}  // namespace
}  // namespace shardlens::ui::present
