// What recorded a run, rank by rank: device, software, link, and what recording cost. Free of
// ImGui; any thread.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ui/inspect/table_model.h"
#include "ui/snapshot.h"

namespace shardlens::ui {

// A row for each rank. The table keeps `run` alive.
std::shared_ptr<const Table> recording_table(const std::shared_ptr<const RunView>& run);

struct SourceLine {
  std::string what;    // "kernels, copies and launches"; "" where the text does not say
  std::string source;  // "CUPTI"
  std::string ranks;   // "" for all that say where theirs come from
};
// Where each number comes from, of all ranks, each once.
std::vector<SourceLine> source_lines(const trace::RunFigures& figures);

}  // namespace shardlens::ui
