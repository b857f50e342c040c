// The waterfall from one run's step time to another's. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/present/compare/differences.h"

namespace shardlens::ui::compare {

// How many bars there is room for.
std::size_t waterfall_room(const kit::Theme& theme, float height);
void draw_waterfall(const kit::Theme& theme, const state::Rect& rect,
                    const present::Waterfall& waterfall);

}  // namespace shardlens::ui::compare
