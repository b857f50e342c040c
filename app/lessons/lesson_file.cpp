#include "app/lessons/lesson_file.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/launch/program_files.h"
#include "app/lessons/lesson_reader.h"
#include "app/lessons/styled_text.h"
#include "trace/base/file_system.h"
#include "trace/base/printable.h"
#include "trace/base/text.h"

namespace shardlens::app::lessons {

namespace fs = std::filesystem;
using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::quoted;
using trace::base::Result;
using ui::state::Lesson;
using ui::state::LessonShelf;

namespace {

Result<std::string> text_of(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return fail(ErrorKind::kMissing,
                "there is no lesson " + quoted(file) + ": name a Markdown file or its folder");
  }
  // Asked before it is read: it may be a recorded run, given by mistake.
  if (fs::file_size(file, error) > kLargestLesson) {
    return fail(ErrorKind::kUsage, quoted(file) + " is larger than " +
                                       std::to_string(kLargestLesson >> 10) +
                                       " KiB, so it is no lesson: name a Markdown file, or make "
                                       "several of it");
  }
  auto text = trace::base::whole_text(file);
  if (!text) return fail(ErrorKind::kIo, quoted(file) + " cannot be read");
  return std::move(*text);
}

// With the line breaks that cmark counts by, and without what would move a terminal's cursor.
Result<std::string> clean(std::string text) {
  for (std::size_t at = text.find('\r'); at != text.npos; at = text.find('\r', at)) {
    const bool is_pair = at + 1 < text.size() && text[at + 1] == '\n';
    text.replace(at, is_pair ? 2 : 1, "\n");
  }
  int line = 1;
  for (const std::string_view each : trace::base::split(text, '\n')) {
    if (!trace::base::is_utf8(each)) {
      return wrong_at(line, "this is not UTF-8: save the file in that encoding");
    }
    ++line;
  }
  return trace::base::printable(text);
}

std::vector<fs::path> lessons_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::path& file : trace::base::entries_of(folder)) {
    if (file.extension() == ".md" && file.filename() != "README.md") files.push_back(file);
  }
  std::ranges::sort(files);
  return files;
}

void add_lesson(LessonShelf& shelf, const fs::path& file) {
  auto lesson = read_lesson(file);
  if (lesson) {
    shelf.lessons.push_back(std::move(*lesson));
  } else {
    shelf.problems.push_back(lesson.error().message);
  }
}

}  // namespace

Result<Lesson> read_lesson(const fs::path& file) {
  TRY_ASSIGN(auto text, text_of(file));
  auto lesson = clean(std::move(text)).and_then([](const std::string& markdown) {
    return lesson_in(markdown);
  });
  if (!lesson) {
    return fail(lesson.error().kind, file.filename().string() + ":" + lesson.error().message);
  }
  lesson->file = file.string();
  return lesson;
}

LessonShelf read_lessons(const std::vector<fs::path>& files_or_folders) {
  LessonShelf shelf;
  for (const fs::path& each : files_or_folders) {
    std::error_code error;
    if (each.empty()) {
      shelf.problems.emplace_back("no lessons came with this program: there is no assets/lessons");
    } else if (!fs::is_directory(each, error)) {
      add_lesson(shelf, each);
    } else {
      const auto files = lessons_in(each);
      if (files.empty()) shelf.problems.push_back(quoted(each) + " holds no lessons (*.md)");
      for (const fs::path& file : files) add_lesson(shelf, file);
    }
  }
  return shelf;
}

fs::path bundled_lessons() { return launch::bundled_folder("lessons"); }

}  // namespace shardlens::app::lessons
