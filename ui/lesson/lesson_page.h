// What Learn's column shows: a page of a lesson, with its question and the way on, or all lessons,
// to choose from. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/lesson/lesson_reader.h"
#include "ui/state/commands.h"

namespace shardlens::ui::lesson {

// `reader` is at a page.
void draw_lesson_page(const kit::Theme& theme, const state::Rect& rect, LessonReader& reader,
                      state::Commands& commands);
void draw_lesson_shelf(const kit::Theme& theme, const state::Rect& rect, LessonReader& reader,
                       state::Commands& commands);

}  // namespace shardlens::ui::lesson
