// The plan card's fields: which model, on how many of which GPU. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::plan {

void draw_plan_fields(const kit::Theme& theme, const state::Rect& rect,
                      const state::Snapshot& snapshot, state::Commands& commands);

}  // namespace shardlens::ui::plan
