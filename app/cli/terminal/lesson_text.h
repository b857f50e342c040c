// A lesson where there is no window: its text, and the commands that open its views elsewhere. Any
// thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ui/state/lesson.h"

namespace shardlens::app::cli {

inline constexpr std::size_t kTextWidth = 80;  // in characters

// Broken between words into lines of `kTextWidth`, each after an indent as long as `first`, which
// stands before the first of them. A longer word has a line to itself.
std::string wrapped(std::string_view text, std::string_view first = "");

// "shardlens --view 'tune/…'"; below it the command that plays the run, where the page does.
std::vector<std::string> view_commands(const ui::state::LessonPage& page);

// All of it, and one page, whose `number` counts from 1. Each ends with a line break.
std::string lesson_text(const ui::state::Lesson& lesson);
std::string page_text(const ui::state::LessonPage& page, std::size_t number);

}  // namespace shardlens::app::cli
