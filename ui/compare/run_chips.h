// The runs that are compared, as chips in a row: which is the base, which are taken away or added.
// Interface thread, inside a frame.
#pragma once

#include <cstddef>
#include <string>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::compare {

// "A", "B", …: what a run is called where its name has no room.
std::string run_letter(std::size_t index);
void draw_run_letter(const kit::Theme& theme, const state::Rect& box, std::size_t index);

// `view`: null where none was chosen.
void draw_run_chips(const kit::Theme& theme, state::Rect row, const state::ComparisonView* view,
                    const state::Ledger* ledger, state::Commands& commands);

}  // namespace shardlens::ui::compare
