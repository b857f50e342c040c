// The ledger of all runs in the library. Interface thread, inside a frame.
#pragma once

#include "ui/commands.h"
#include "ui/snapshot.h"
#include "ui/theme.h"

namespace shardlens::ui {

void draw_ledger(const Look& look, const Rect& rect, const Snapshot& snapshot, Commands& commands);

}  // namespace shardlens::ui
