// What recorded a run, rank by rank: device, software, link, and what recording cost. Free of
// ImGui; any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ui/present/table_model.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::inspect {

inline constexpr std::size_t kMostRecordingRows = 32;

// A row for each rank, or, where they are `folded` and there are more than kMostRecordingRows: one
// for each of those that stand out, the worst first, and one pinned above for the rest. The table
// keeps `run` alive.
std::shared_ptr<const present::Table> recording_table(
    const std::shared_ptr<const state::RunView>& run, bool folded = true);

struct SourceLine {
  std::string what;    // "kernels, copies and launches"; "" where the text does not say
  std::string source;  // "CUPTI"
  std::string ranks;   // "" for all that say where theirs come from
};
// What was lost, "rank 3: 12 (a queue was full); …", the worst ranks first, the others counted.
std::string losses_text(const trace::analysis::RecorderFigures& recorder);

// Where each number comes from, of all ranks, each once.
std::vector<SourceLine> source_lines(const trace::analysis::RunFigures& figures);

}  // namespace shardlens::ui::inspect
