// What the ledger, its tooltips and reports say about a run or a pair of runs in words. Free of
// ImGui; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/analysis/run/comparison.h"
#include "trace/job/settings/settings.h"

namespace shardlens::ui::present {

// What of a run was not real: "link of 1 Gbit/s, 50 µs; …"; "" for nothing.
std::string simulation_text(const trace::job::Settings& settings);

// "Weak scaling": the name of the kind.
std::string scaling_title(const trace::analysis::Scaling& scaling);
// "2 → 4 ranks: 1.84 × the samples/s, efficiency 92 % (same batch per rank)"
std::string scaling_text(const trace::analysis::Scaling& scaling);

// The words between commas and spaces, each once, in order; and back.
std::vector<std::string> tags_from_text(std::string_view text);
std::string tags_text(const std::vector<std::string>& tags);

std::string undo_text(std::size_t deleted);  // "Undo: 1 run deleted"

}  // namespace shardlens::ui::present
