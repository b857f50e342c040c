// What the figures of the tabs are of, in words. Free of ImGui; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ui/state/inspect_view.h"

namespace shardlens::ui::inspect {

// The same in fewer and fewer words, the longest first: "in the selection: 126.4 ms on 8 ranks ·
// 3,816 kernels · computed in 4 ms", …, "126.4 ms". `table`: whose events are counted.
std::vector<std::string> range_notes(const state::InspectView& view,
                                     std::optional<trace::timeline::StatisticsTable> table);

// What an event must be to count, and what could not be read: for the tooltip.
std::string range_definition(const state::InspectView& view);

}  // namespace shardlens::ui::inspect
