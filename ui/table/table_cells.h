// One cell of a table on screen. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/present/table_model.h"

namespace shardlens::ui::table {

inline constexpr float kCellGap = 16;  // between one column's figures and the next one's words

void draw_table_cell(const kit::Theme& theme, const state::Rect& box,
                     present::TableColumn::Kind kind, const present::TableCell& cell);
// Right-aligned with the unit in a slot of its own, so that the digits of a column stand in line.
void draw_figure(const kit::Theme& theme, const state::Rect& box, const present::TableCell& cell);

}  // namespace shardlens::ui::table
