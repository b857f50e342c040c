// The table of all runs: ordinals, differences from the baseline and whether they are beyond the
// noise. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session/run_record.h"
#include "ui/snapshot.h"

namespace shardlens::app {

struct LedgerQuestion {
  std::string baseline_folder;  // "": no baseline
  std::string shown_folder;
};

// `records` in any order; the rows are newest first, bundled runs last.
ui::Ledger build_ledger(const std::vector<RunRecord>& records, const LedgerQuestion& question);

// How far two runs of the job of `about` (the baseline, else the newest run) lie apart by chance,
// relative to the mean step time: between runs of the same settings once some ran twice, else from
// the steps within a run.
struct Noise {
  double relative = 0;
  bool between_runs = false;
  std::string note;  // one sentence for the reader
};
Noise estimate_noise(const std::vector<RunRecord>& records,
                     const std::vector<std::string>& ordinals, const RunRecord& about);

}  // namespace shardlens::app
