// A page of a lesson: its text, its question, and the way on. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/lesson/lesson_reader.h"
#include "ui/state/commands.h"

namespace shardlens::ui::lesson {

// `reader` is at a page.
void draw_lesson_page(const kit::Theme& theme, const state::Rect& rect, LessonReader& reader,
                      state::Commands& commands);

}  // namespace shardlens::ui::lesson
