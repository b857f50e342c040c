// Which figures a lesson tells its readers. For tests.
#pragma once

#include <string>
#include <vector>

#include "ui/state/lesson.h"

namespace shardlens::app::lessons {

// All that is read, in order, without blocks of code.
std::string text_of(const ui::state::Lesson& lesson);

// Numbers with their units, "251.3 ms", also of a list that has it once: "25 MiB", "4 MiB" and
// "1 MiB" of "25, 4 and 1 MiB". Decimals without one are "0.2 "; other numbers are no figures.
std::vector<std::string> figures_in(const std::string& text);

}  // namespace shardlens::app::lessons
