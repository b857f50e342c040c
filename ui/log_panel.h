// The last lines of all ranks' logs. Interface thread, inside a frame.
#pragma once

#include "ui/snapshot.h"
#include "ui/theme.h"

namespace shardlens::ui {

void draw_log(const Look& look, const Rect& rect, const Snapshot& snapshot);

}  // namespace shardlens::ui
