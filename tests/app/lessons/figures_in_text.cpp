#include "tests/app/lessons/figures_in_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string_view>

namespace shardlens::app::lessons {

using ui::state::Lesson;
using ui::state::LessonParagraph;

namespace {

void add_text(std::string& text, const std::vector<LessonParagraph>& paragraphs) {
  for (const LessonParagraph& paragraph : paragraphs) {
    if (paragraph.kind == LessonParagraph::Kind::kCode) continue;
    for (const auto& run : paragraph.runs) text += run.text;
    text += "\n";
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

struct Number {
  std::size_t begin = 0, end = 0;
};

// "25", "0.5"; not the one in "H200" or "block_3".
std::vector<Number> numbers_in(const std::string& text) {
  std::vector<Number> numbers;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins =
        is_digit(text[i]) && (i == 0 || (!is_letter(text[i - 1]) && text[i - 1] != '_'));
    if (!is_digit(text[i])) continue;
    std::size_t end = i;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) {
      while (++end < text.size() && is_digit(text[end])) {
      }
    }
    if (begins) numbers.push_back({i, end});
    i = end;
  }
  return numbers;
}

// "ms" of " ms of"; "": none.
std::string_view unit_at(std::string_view rest) {
  constexpr std::array<std::string_view, 12> kUnits{
      "ms", "µs", "s", "MiB", "GiB", "GB/s", "MB/s", "Gbit/s", "%", "buckets", "units", "blocks"};
  for (const std::string_view unit : kUnits) {
    const bool is_next = rest.starts_with(' ') && rest.substr(1).starts_with(unit);
    const std::size_t end = unit.size() + 1;
    if (is_next && (end >= rest.size() || !is_letter(rest[end]))) return unit;
  }
  return {};
}

}  // namespace

std::string text_of(const Lesson& lesson) {
  std::string text = lesson.title + "\n";
  add_text(text, lesson.about);
  for (const auto& page : lesson.pages) {
    text += page.title + "\n";
    add_text(text, page.text);
    text += page.question + "\n";
    add_text(text, page.answer);
  }
  return text;
}

std::vector<std::string> figures_in(const std::string& text) {
  constexpr std::array<std::string_view, 4> kBetween{", ", " and ", " to ", ", and "};
  const auto numbers = numbers_in(text);
  std::vector<std::string> figures;
  std::string unit;  // of the number that follows
  for (std::size_t i = numbers.size(); i-- > 0;) {
    const std::string number = text.substr(numbers[i].begin, numbers[i].end - numbers[i].begin);
    const std::string_view own = unit_at(std::string_view(text).substr(numbers[i].end));
    const bool has_next = i + 1 < numbers.size();
    const auto between = has_next ? std::string_view(text).substr(
                                        numbers[i].end, numbers[i + 1].begin - numbers[i].end)
                                  : std::string_view();
    const bool is_listed = std::ranges::find(kBetween, between) != kBetween.end();
    unit = !own.empty() ? std::string(own) : is_listed ? unit : "";
    if (!unit.empty() || number.find('.') != number.npos) figures.push_back(number + " " + unit);
  }
  std::ranges::reverse(figures);
  return figures;
}

}  // namespace shardlens::app::lessons
