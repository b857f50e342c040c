// What a frame says where.
#pragma once

#include <string>
#include <vector>

#include "ui/kit/draw_probe.h"

namespace shardlens::ui {

// Of a layer within an area, in the order in which they were drawn.
std::vector<std::string> texts_in(const kit::DrawProbe& probe, const state::Rect& area,
                                  int layer = 0);

// Those that lie over each other by more than the rounding of their boxes, as "one | other".
std::vector<std::string> overlapping_texts_of(const kit::DrawProbe& probe);

}  // namespace shardlens::ui
