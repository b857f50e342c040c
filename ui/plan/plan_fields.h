// The plan card's fields: which model, on how many of which GPU. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

void draw_plan_fields(const Theme& theme, const Rect& rect, const Snapshot& snapshot,
                      Commands& commands);

}  // namespace shardlens::ui
