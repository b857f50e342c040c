// The table of all runs: ordinals, differences from the baseline and whether they are beyond the
// noise. Pure; any thread, a LiveLedger one at a time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/session/runs/library_run.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

struct LedgerQuestion {
  std::string baseline_folder;  // "": no baseline
  std::string shown_folder;
};

// `records` in any order; the rows are newest first, bundled runs last.
ui::state::Ledger build_ledger(const std::vector<LibraryRun>& records,
                               const LedgerQuestion& question);

using LedgerRows = std::span<const ui::state::LedgerRow>;

// Null: there is none. Views into `rows`.
const ui::state::LedgerRow* row_of(LedgerRows rows, const std::string& folder);
// For whoever has no run yet: of the runs that came with the program and had no fault injected, the
// one that hides the largest part of its communication. Null: none tells.
const ui::state::LedgerRow* clearest_example(LedgerRows rows);
// The user's newest run; without any, another one that tells most.
const ui::state::LedgerRow* first_to_show(LedgerRows rows);

// The ledger with what is known by now of the run on screen while that is recorded: the library
// takes its figures up more seldom than the screen does, and one run has one step time.
class LiveLedger {
 public:
  using Ledger = std::shared_ptr<const ui::state::Ledger>;

  // `shown`: null: none, or a replay. The same pointer for the same two.
  Ledger with_live(const Ledger& library, const std::shared_ptr<const ui::state::RunView>& shown);

 private:
  Ledger library_, now_;
  std::shared_ptr<const ui::state::RunView> shown_;
};

}  // namespace shardlens::app::session
