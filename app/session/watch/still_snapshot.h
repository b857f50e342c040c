// One moment of a recorded run as the window would show it, read at once: for pictures. Any thread;
// slow.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

struct StillOptions {
  std::filesystem::path run;
  std::filesystem::path runs_dir;  // whose runs fill the ledger; "": the run alone
  std::size_t other_runs = 40;     // of them, the newest: more than these are not read
  std::vector<std::filesystem::path> compared{};  // are in the ledger, too, wherever they lie
  std::optional<std::int64_t> step{};             // none: a typical one; -1: the latest
  bool plan = false;                              // the plan card lies over the window
  std::vector<std::string> changes{};             // of the settings for the next run: "key=value"
};

// Error kUsage: the run has no such step, or a change is none.
trace::base::Result<ui::state::Snapshot> still_snapshot(const StillOptions& options);

}  // namespace shardlens::app::session
