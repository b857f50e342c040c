// What the ledger, its tooltips and reports say about a run or a pair of runs in words. Free of
// ImGui; any thread.
#pragma once

#include <string>

#include "trace/analysis/run/comparison.h"
#include "trace/job/settings/settings.h"

namespace shardlens::ui {

// What of a run was not real: "link of 1 Gbit/s, 50 µs; …"; "" for nothing.
std::string simulation_text(const trace::Settings& settings);

// "Weak scaling": the name of the kind.
std::string scaling_title(const trace::Scaling& scaling);
// "2 → 4 ranks: 1.84 × the samples/s, efficiency 92 % (same batch per rank)"
std::string scaling_text(const trace::Scaling& scaling);

std::string undo_text(std::size_t deleted);  // "Undo: 1 run deleted"

}  // namespace shardlens::ui
