// What estimates of strategies share on screen: the stacked bar and the tooltip with formulas.
// Interface thread, inside a frame.
#pragma once

#include <span>
#include <string_view>

#include "ui/kit/paint.h"
#include "ui/present/tables/plan_table.h"

namespace shardlens::ui::plan {

// `parts` from the left, with `axis` bytes over the whole width; what lies beyond is cut off with a
// mark at the end.
void draw_estimate_bar(const kit::Theme& theme, const state::Rect& rect,
                       std::span<const present::MemoryPart> parts, double axis, float strength = 1);
// A title, each line's figure with its formula under it, and a note.
void formula_tooltip(const kit::Theme& theme, std::string_view title,
                     std::span<const present::FormulaLine> lines, std::string_view note = {});

}  // namespace shardlens::ui::plan
