#include "app/lessons/lesson_file.h"

#include <cmark.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/launch/program_files.h"
#include "app/lessons/page_view.h"
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
using trace::base::trimmed;
using ui::state::Lesson;
using ui::state::LessonPage;
using ui::state::LessonParagraph;
using ui::state::LessonShelf;
using ui::state::StyledText;
using ui::state::TextStyle;

namespace {

struct FreeTree {
  void operator()(cmark_node* tree) const { cmark_node_free(tree); }
};

// The lines are there for what the tree does not tell: whether a fence was closed.
std::string_view line_at(const std::vector<std::string_view>& lines, int number) {
  const auto at = static_cast<std::size_t>(std::max(number, 1)) - 1;
  return at < lines.size() ? trimmed(lines[at]) : std::string_view();
}

bool is_fence(std::string_view line) { return line.starts_with("```") || line.starts_with("~~~"); }

// Between the tags, which stand nowhere else; none: `html` is something else.
std::optional<std::string_view> within(std::string_view html, std::string_view open,
                                       std::string_view close) {
  if (!html.starts_with(open) || !html.ends_with(close)) return {};
  if (html.size() < open.size() + close.size()) return {};
  html.remove_prefix(open.size());
  html.remove_suffix(close.size());
  return trimmed(html);
}

// What stands in HTML for the characters that tags are made of; "&" last, which begins all of them.
constexpr std::pair<std::string_view, char> kCharacters[] = {
    {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&amp;", '&'}};

// "<details><summary>What would …?</summary>" as its text on one line; none: it is not that.
std::optional<std::string> question_in(std::string_view html) {
  constexpr std::string_view kOpen = "<details>";
  if (!html.starts_with(kOpen)) return {};
  const auto text = within(trimmed(html.substr(kOpen.size())), "<summary>", "</summary>");
  if (!text || text->empty() || text->find('<') != text->npos) return {};
  std::string question(*text);
  std::ranges::replace(question, '\n', ' ');
  for (const auto& [written, character] : kCharacters) {
    for (auto at = question.find(written); at != question.npos;
         at = question.find(written, at + 1)) {
      question.replace(at, written.size(), 1, character);
    }
  }
  return question;
}

// Numbers are no bullets: they stay as text in front of what they number.
void put_number(std::vector<StyledText>& runs, int number) {
  const bool has_plain = !runs.empty() && runs.front().style == TextStyle::kPlain;
  if (!has_plain) runs.insert(runs.begin(), StyledText());
  runs.front().text.insert(0, std::to_string(number) + ". ");
}

class LessonReader {
 public:
  explicit LessonReader(std::string_view markdown) : lines_(trace::base::split(markdown, '\n')) {}

  Result<void> take(cmark_node* block);
  Result<Lesson> finish();

 private:
  Result<void> take_heading(cmark_node* heading);
  Result<void> take_paragraph(cmark_node* paragraph);
  Result<void> take_list(cmark_node* list);
  Result<void> take_code(cmark_node* code);
  Result<void> take_html(cmark_node* html);
  Result<void> open_details(std::string_view html, int line);
  Result<void> close_details(int line);
  Result<void> expect_closed_details() const;
  Result<void> expect_filled_page() const;
  // Where text goes that comes now. An error: nowhere.
  Result<std::vector<LessonParagraph>*> place_at(int line);

  const std::vector<std::string_view> lines_;
  Lesson lesson_;
  int page_line_ = 0;     // where the last page began
  int details_line_ = 0;  // where the question began whose answer is being read; 0: none is
};

Result<void> LessonReader::take(cmark_node* block) {
  const int line = cmark_node_get_start_line(block);
  switch (cmark_node_get_type(block)) {
    case CMARK_NODE_HEADING:
      return take_heading(block);
    case CMARK_NODE_PARAGRAPH:
      return take_paragraph(block);
    case CMARK_NODE_LIST:
      return take_list(block);
    case CMARK_NODE_CODE_BLOCK:
      return take_code(block);
    case CMARK_NODE_HTML_BLOCK:
      return take_html(block);
    case CMARK_NODE_THEMATIC_BREAK:
      return wrong_at(line, "a rule is not shown: begin a page with ##");
    default:
      return wrong_at(line, "a quotation (>) is not shown: write a paragraph");
  }
}

Result<void> LessonReader::take_heading(cmark_node* heading) {
  const int line = cmark_node_get_start_line(heading);
  TRY(expect_closed_details());
  TRY_ASSIGN(const auto runs, styled_text(heading));
  std::string title = plain_text(runs);
  if (title.empty()) return wrong_at(line, "a heading needs words");
  const int level = cmark_node_get_heading_level(heading);
  if (level > 2) {
    return wrong_at(line, "headings below ## are not shown: begin a page with ##, or write **" +
                              trace::base::shortened(title, 40) + "** in its text");
  }
  if (level == 1 && !lesson_.title.empty()) {
    return wrong_at(line, "a file is one lesson, which has its title: begin a page with ##");
  }
  if (level == 1) {
    lesson_.title = std::move(title);
  } else if (lesson_.title.empty()) {
    return wrong_at(line, "a lesson begins with # and its title");
  } else {
    TRY(expect_filled_page());
    lesson_.pages.emplace_back().title = std::move(title);
    page_line_ = line;
  }
  return {};
}

Result<std::vector<LessonParagraph>*> LessonReader::place_at(int line) {
  if (lesson_.title.empty()) return wrong_at(line, "a lesson begins with # and its title");
  if (lesson_.pages.empty()) return &lesson_.about;
  LessonPage& page = lesson_.pages.back();
  return details_line_ > 0 ? &page.answer : &page.text;
}

Result<void> LessonReader::take_paragraph(cmark_node* paragraph) {
  const int line = cmark_node_get_start_line(paragraph);
  if (line_at(lines_, line).starts_with('|')) {
    return wrong_at(line, "tables are not shown: write a list");
  }
  TRY_ASSIGN(auto* const place, place_at(line));
  TRY_ASSIGN(auto runs, styled_text(paragraph));
  if (!runs.empty()) place->push_back({LessonParagraph::Kind::kText, std::move(runs)});
  return {};
}

Result<void> LessonReader::take_list(cmark_node* list) {
  TRY_ASSIGN(auto* const place, place_at(cmark_node_get_start_line(list)));
  const bool is_numbered = cmark_node_get_list_type(list) == CMARK_ORDERED_LIST;
  int number = cmark_node_get_list_start(list);
  for (auto* item = cmark_node_first_child(list); item != nullptr; item = cmark_node_next(item)) {
    auto* const text = cmark_node_first_child(item);
    const bool is_line = text != nullptr && cmark_node_next(text) == nullptr &&
                         cmark_node_get_type(text) == CMARK_NODE_PARAGRAPH;
    if (!is_line) {
      return wrong_at(cmark_node_get_start_line(item),
                      "an entry of a list is one paragraph: no other list, code or heading in it");
    }
    TRY_ASSIGN(auto runs, styled_text(text));
    if (is_numbered) put_number(runs, number++);
    using Kind = LessonParagraph::Kind;
    place->push_back({is_numbered ? Kind::kText : Kind::kBullet, std::move(runs)});
  }
  return {};
}

Result<void> LessonReader::take_code(cmark_node* code) {
  const int line = cmark_node_get_start_line(code);
  const bool has_fence = is_fence(line_at(lines_, line));
  const int end = cmark_node_get_end_line(code);
  if (has_fence && (end == line || !is_fence(line_at(lines_, end)))) {
    return wrong_at(line, "this block of code is not closed: write ``` below it");
  }
  TRY_ASSIGN(auto* const place, place_at(line));
  std::string text = cmark_node_get_literal(code);
  TRY_ASSIGN(auto view, view_in(text, has_fence ? line + 1 : line));
  if (!view) {
    while (text.ends_with('\n')) text.pop_back();
    place->push_back({LessonParagraph::Kind::kCode, {{TextStyle::kCode, std::move(text)}}});
    return {};
  }
  if (lesson_.pages.empty() || details_line_ > 0) {
    return wrong_at(line, "a view belongs to a page: write it below its ##, outside of an answer");
  }
  LessonPage& page = lesson_.pages.back();
  if (page.view) return wrong_at(line, "a page shows one view: begin another page with ##");
  page.view = std::move(view->address);
  page.replay_speed = view->replay_speed;
  return {};
}

Result<void> LessonReader::take_html(cmark_node* block) {
  const int line = cmark_node_get_start_line(block);
  const std::string_view html = trimmed(cmark_node_get_literal(block));
  if (is_comment(html)) return {};
  if (html == "</details>") return close_details(line);
  if (html.starts_with("<details")) return open_details(html, line);
  return wrong_at(line,
                  "HTML is not shown, but for a question with its folded answer: "
                  "<details><summary>…?</summary>, an empty line, the answer, an empty "
                  "line, </details>");
}

Result<void> LessonReader::open_details(std::string_view html, int line) {
  TRY(expect_closed_details());
  auto question = question_in(html);
  if (!question) {
    return wrong_at(line,
                    "a question is <details><summary>…?</summary> without other tags, then "
                    "an empty line and its answer");
  }
  if (lesson_.pages.empty()) {
    return wrong_at(line, "a question belongs to a page: write it below its ##");
  }
  LessonPage& page = lesson_.pages.back();
  if (!page.question.empty()) {
    return wrong_at(line, "a page asks one question: begin another page with ##");
  }
  page.question = std::move(*question);
  details_line_ = line;
  return {};
}

Result<void> LessonReader::close_details(int line) {
  if (details_line_ == 0) return wrong_at(line, "no <details> is open here: leave it out");
  if (lesson_.pages.back().answer.empty()) {
    return wrong_at(line, "the question has no answer: write it above, between empty lines");
  }
  details_line_ = 0;
  return {};
}

Result<void> LessonReader::expect_closed_details() const {
  if (details_line_ == 0) return {};
  return wrong_at(details_line_, "this <details> is not closed: write </details> below its answer");
}

Result<void> LessonReader::expect_filled_page() const {
  if (lesson_.pages.empty()) return {};
  const LessonPage& page = lesson_.pages.back();
  if (!page.text.empty() || page.view || !page.question.empty()) return {};
  return wrong_at(page_line_, "this page has neither text nor view: write them, or leave it out");
}

Result<Lesson> LessonReader::finish() {
  TRY(expect_closed_details());
  TRY(expect_filled_page());
  if (lesson_.title.empty()) return wrong_at(1, "a lesson begins with # and its title");
  if (lesson_.pages.empty()) return wrong_at(1, "a lesson has pages, each of which begins with ##");
  return std::move(lesson_);
}

// `markdown`: UTF-8, lines ended by "\n". Its file is left to the caller, and so is its name in
// front of an error, which begins with the line: "12: a page shows one view: …". Kind kUsage.
Result<Lesson> lesson_in(std::string_view markdown) {
  const std::unique_ptr<cmark_node, FreeTree> tree(
      cmark_parse_document(markdown.data(), markdown.size(), CMARK_OPT_DEFAULT));
  LessonReader reader(markdown);
  for (auto* block = cmark_node_first_child(tree.get()); block != nullptr;
       block = cmark_node_next(block)) {
    TRY(reader.take(block));
  }
  return reader.finish();
}

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
