// The last lines of all ranks' logs. Interface thread, inside a frame.
#pragma once

#include <span>

#include "ui/kit/theme.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::log {

void draw_log(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot);
void draw_log_lines(const kit::Theme& theme, const state::Rect& rect,
                    std::span<const trace::model::LogLine* const> lines);

}  // namespace shardlens::ui::log
