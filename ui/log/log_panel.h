// The last lines of all ranks' logs. Interface thread, inside a frame.
#pragma once

#include <span>

#include "ui/kit/theme.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

void draw_log(const Theme& theme, const Rect& rect, const Snapshot& snapshot);
void draw_log_lines(const Theme& theme, const Rect& rect,
                    std::span<const trace::LogLine* const> lines);

}  // namespace shardlens::ui
