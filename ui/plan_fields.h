// The plan card's fields: which model, on how many of which GPU. Interface thread, inside a frame.
#pragma once

#include "ui/commands.h"
#include "ui/snapshot.h"
#include "ui/theme.h"

namespace shardlens::ui {

void draw_plan_fields(const Look& look, const Rect& rect, const Snapshot& snapshot,
                      Commands& commands);

}  // namespace shardlens::ui
