// All lessons, to choose from. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/lesson/lesson_reader.h"
#include "ui/state/commands.h"

namespace shardlens::ui::lesson {

void draw_lesson_shelf(const kit::Theme& theme, const state::Rect& rect, LessonReader& reader,
                       state::Commands& commands);

}  // namespace shardlens::ui::lesson
