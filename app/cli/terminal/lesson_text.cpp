#include "app/cli/terminal/lesson_text.h"

#include "app/report/text_table.h"
#include "trace/base/text.h"
#include "trace/base/words/quantity.h"

namespace shardlens::app::cli {

using report::display_width;
using trace::base::split;
using ui::state::LessonPage;
using ui::state::LessonParagraph;
using ui::state::StyledText;
using ui::state::TextStyle;

namespace {

constexpr std::string_view kIndent = "    ";

std::string code_text(const LessonParagraph& code) {
  std::string text;
  for (const std::string_view line : split(code.runs.front().text, '\n')) {
    text += std::string(kIndent) + std::string(line) + "\n";
  }
  return text;
}

// What is typed stays marked; of other styles a terminal shows the words.
std::string marked(const StyledText& run) {
  return run.style == TextStyle::kCode ? "`" + run.text + "`" : run.text;
}

std::string paragraphs_text(const std::vector<LessonParagraph>& paragraphs,
                            std::string_view first = "") {
  std::string text;
  bool was_bullet = false;
  for (const LessonParagraph& paragraph : paragraphs) {
    using Kind = LessonParagraph::Kind;
    const bool is_bullet = paragraph.kind == Kind::kBullet;
    if (!text.empty() && !(is_bullet && was_bullet)) text += "\n";
    if (paragraph.kind == Kind::kCode) {
      text += code_text(paragraph);
    } else {
      const std::string words = trace::base::joined(paragraph.runs, "", marked);
      text += wrapped(words, is_bullet ? "- " : first);
    }
    first = "";
    was_bullet = is_bullet;
  }
  return text;
}

}  // namespace

std::string wrapped(std::string_view text, std::string_view first) {
  const std::string indent(display_width(first), ' ');
  std::string lines, line(first);
  std::size_t width = display_width(first);
  bool is_begun = false;  // a word stands on this line
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    const std::size_t wider = width + (is_begun ? 1 : 0) + display_width(word);
    if (is_begun && wider > kTextWidth) {
      lines += line + "\n";
      line = indent + std::string(word);
      width = display_width(line);
      continue;
    }
    line += (is_begun ? " " : "") + std::string(word);
    width = wider;
    is_begun = true;
  }
  return lines + line + "\n";
}

std::vector<std::string> view_commands(const LessonPage& page) {
  if (!page.view) return {};
  std::vector<std::string> commands{"shardlens --view '" + address_text(*page.view) + "'"};
  if (page.replay_speed > 0) {
    commands.push_back("shardlens replay '" + page.view->run + "' --speed " +
                       trace::base::format_plain(page.replay_speed));
  }
  return commands;
}

std::string page_text(const LessonPage& page, std::size_t number) {
  std::string text = wrapped(page.title, std::to_string(number) + ". ");
  if (!page.text.empty()) text += "\n" + paragraphs_text(page.text);
  const auto commands = view_commands(page);
  if (!commands.empty()) text += "\n";
  for (const std::string& command : commands) text += std::string(kIndent) + command + "\n";
  if (!page.question.empty()) {
    text += "\n" + wrapped(page.question, "Question: ") + "\n" +
            paragraphs_text(page.answer, "Answer: ");
  }
  return text;
}

std::string lesson_text(const ui::state::Lesson& lesson) {
  std::string text = lesson.title + "\n" + std::string(display_width(lesson.title), '=') + "\n";
  if (!lesson.about.empty()) text += "\n" + paragraphs_text(lesson.about);
  for (std::size_t i = 0; i < lesson.pages.size(); ++i) {
    text += "\n" + page_text(lesson.pages[i], i + 1);
  }
  return text;
}

}  // namespace shardlens::app::cli
