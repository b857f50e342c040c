// A lesson's paragraphs on screen. Interface thread, inside a frame.
#pragma once

#include <string_view>
#include <vector>

#include "ui/kit/paint.h"
#include "ui/state/commands.h"
#include "ui/state/lesson.h"

namespace shardlens::ui::lesson {

// Pixels; with the gaps between them, none behind the last one.
float paragraphs_height(const kit::Theme& theme, float width,
                        const std::vector<state::LessonParagraph>& paragraphs);
// From the top of `area` down, however high it is; returns the height used. Code has a button that
// copies it: `name`, unique within the window, is what their names begin with.
float draw_paragraphs(const kit::Theme& theme, const state::Rect& area,
                      const std::vector<state::LessonParagraph>& paragraphs, state::Rgb ink,
                      std::string_view name, state::Commands& commands);

}  // namespace shardlens::ui::lesson
