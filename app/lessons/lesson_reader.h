// A lesson's Markdown as pages. Pure; any thread.
#pragma once

#include <string_view>

#include "trace/base/result.h"
#include "ui/state/lesson.h"

namespace shardlens::app::lessons {

// `markdown`: UTF-8, lines ended by "\n". Its file is left to the caller, and so is its name in
// front of an error, which begins with the line: "12: a page shows one view: …". Kind kUsage.
trace::base::Result<ui::state::Lesson> lesson_in(std::string_view markdown);

}  // namespace shardlens::app::lessons
