// What closing the window would end, before it does. Free of ImGui.
#pragma once

#include <string>

#include "ui/state/snapshot.h"

namespace shardlens::ui::present {

struct ClosingText {
  std::string going_on;  // "Run 12 is at step 34 of 300; 2 more wait."
  std::string effect;    // "The run is stopped; what it has recorded is kept. …"
};
ClosingText closing_text(const state::Snapshot& snapshot);

}  // namespace shardlens::ui::present
