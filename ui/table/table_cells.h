// One cell of a table on screen. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/present/table_model.h"

namespace shardlens::ui::table {

void draw_table_cell(const kit::Theme& theme, const state::Rect& box,
                     present::TableColumn::Kind kind, const present::TableCell& cell);

}  // namespace shardlens::ui::table
