// Lessons as files: Markdown that a web page shows as well as the program does. What they may hold
// is told to their authors in assets/lessons/README.md. Any thread; waits for the disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "trace/base/result.h"
#include "ui/state/lesson.h"

namespace shardlens::app::lessons {

// Ten times the longest lesson one would read. With larger files cmark 0.30 can be kept busy: it
// takes time by the square of the size of what begins many pictures and ends none.
inline constexpr std::uintmax_t kLargestLesson = 64 << 10;

// Errors name file and line and what to write instead: "buckets.md:12: a page shows one view: …".
// kMissing: there is no such file; kUsage: it is not written as a lesson is.
trace::base::Result<ui::state::Lesson> read_lesson(const std::filesystem::path& file);

// Of a folder all *.md but README.md, in order of their names. "" is bundled_lessons() of a program
// that none came with.
ui::state::LessonShelf read_lessons(const std::vector<std::filesystem::path>& files_or_folders);

// The folder of those that came with the program; "": there is none.
std::filesystem::path bundled_lessons();

}  // namespace shardlens::app::lessons
