#include "ui/lesson/text_draw.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "trace/base/text.h"
#include "ui/kit/widgets.h"
#include "ui/lesson/text_layout.h"

namespace shardlens::ui::lesson {

namespace {

using state::LessonParagraph;

constexpr float kTextLine = 24, kCodeLine = 16, kBetweenParagraphs = 8, kBulletIndent = 16;
constexpr float kCodePadding = 8, kCopyRow = 24, kCodeInTextPadding = 3;
constexpr std::string_view kCopy = "Copy";

kit::Face face_of(state::TextStyle style) {
  switch (style) {
    case state::TextStyle::kStrong:
    case state::TextStyle::kEmphasis:
      return kit::Face::kReadingStrong;
    case state::TextStyle::kCode:
      return kit::Face::kMonoReading;
    case state::TextStyle::kPlain:
      break;
  }
  return kit::Face::kReading;
}

PlacedLines placed(const kit::Theme& theme, float width, const LessonParagraph& paragraph) {
  return place_words(paragraph.runs, width,
                     [&theme](state::TextStyle style, std::string_view text) {
                       const bool has_mark = style == state::TextStyle::kCode;
                       return kit::text_width(theme, face_of(style), text) +
                              (has_mark ? 2 * theme.px(kCodeInTextPadding) : 0);
                     });
}

std::string_view code_of(const LessonParagraph& paragraph) {
  std::string_view code;
  if (!paragraph.runs.empty()) code = paragraph.runs.front().text;
  while (code.ends_with('\n')) code.remove_suffix(1);
  return code;
}

// Unlike words they keep the space that they begin with.
std::vector<std::string_view> code_lines(const kit::Theme& theme, float width,
                                         const LessonParagraph& paragraph) {
  std::vector<std::string_view> lines;
  for (const std::string_view line : trace::base::split(code_of(paragraph), '\n')) {
    const auto pieces = kit::wrapped_lines(theme, kit::Face::kMonoSmall, width, line);
    lines.insert(lines.end(), pieces.begin(), pieces.end());
    if (pieces.empty()) lines.emplace_back();
  }
  return lines;
}

float words_width(const kit::Theme& theme, float width, const LessonParagraph& paragraph) {
  switch (paragraph.kind) {
    case LessonParagraph::Kind::kBullet:
      return width - theme.px(kBulletIndent);
    case LessonParagraph::Kind::kCode:
      return width - 2 * theme.px(kCodePadding);
    case LessonParagraph::Kind::kText:
      break;
  }
  return width;
}

float paragraph_height(const kit::Theme& theme, float width, const LessonParagraph& paragraph) {
  const float words = words_width(theme, width, paragraph);
  if (paragraph.kind == LessonParagraph::Kind::kCode) {
    const auto lines = code_lines(theme, words, paragraph).size();
    return static_cast<float>(lines) * theme.px(kCodeLine) + 2 * theme.px(kCodePadding) +
           theme.px(kCopyRow);
  }
  return static_cast<float>(placed(theme, words, paragraph).lines) * theme.px(kTextLine);
}

void draw_words(const kit::Theme& theme, const state::Rect& area, const LessonParagraph& paragraph,
                state::Rgb ink) {
  const float line_height = theme.px(kTextLine);
  const float below_top = (line_height + kit::cap_height(theme, kit::Face::kReading)) / 2;
  for (const PlacedText& part : placed(theme, area.w, paragraph).texts) {
    const float top = area.y + static_cast<float>(part.line) * line_height;
    float x = area.x + part.x;
    if (part.style == state::TextStyle::kCode) {
      const state::Rect mark{x, top, part.width, line_height};
      kit::fill(mark.inset(0, theme.px(2)), kit::color(theme.colors().field), theme.px(3));
      x += theme.px(kCodeInTextPadding);
    }
    kit::text(theme, x, std::round(top + below_top), face_of(part.style), ink, part.text);
  }
}

void draw_code(const kit::Theme& theme, const state::Rect& area, const LessonParagraph& paragraph,
               std::string_view name, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  kit::fill(area, kit::color(p.field), theme.px(5));
  state::Rect rest = area.inset(theme.px(kCodePadding), theme.px(kCodePadding));
  for (const std::string_view line : code_lines(theme, rest.w, paragraph)) {
    const float baseline =
        (theme.px(kCodeLine) + kit::cap_height(theme, kit::Face::kMonoSmall)) / 2;
    const state::Rect row = rest.take_top(theme.px(kCodeLine));
    kit::text(theme, row.x, std::round(row.y + baseline), kit::Face::kMonoSmall, p.text, line);
  }
  const float width = std::min(kit::button_width(theme, kCopy), rest.w);
  const state::Rect copy{rest.right() - width, rest.y, width, theme.px(kCopyRow)};
  if (kit::button(theme, name, copy, kit::ButtonKind::kQuiet, kCopy)) {
    commands.push_back(state::CopyText{std::string(code_of(paragraph))});
  }
}

}  // namespace

float paragraphs_height(const kit::Theme& theme, float width,
                        const std::vector<LessonParagraph>& paragraphs) {
  float height = 0;
  for (const LessonParagraph& paragraph : paragraphs) {
    if (height > 0) height += theme.px(kBetweenParagraphs);
    height += paragraph_height(theme, width, paragraph);
  }
  return height;
}

float draw_paragraphs(const kit::Theme& theme, const state::Rect& area,
                      const std::vector<LessonParagraph>& paragraphs, state::Rgb ink,
                      std::string_view name, state::Commands& commands) {
  float y = area.y;
  for (std::size_t i = 0; i < paragraphs.size(); ++i) {
    const LessonParagraph& paragraph = paragraphs[i];
    if (y > area.y) y += theme.px(kBetweenParagraphs);
    state::Rect box{area.x, y, area.w, paragraph_height(theme, area.w, paragraph)};
    y = box.bottom();
    if (paragraph.kind == LessonParagraph::Kind::kCode) {
      draw_code(theme, box, paragraph, std::string(name) + "/copy " + std::to_string(i), commands);
      continue;
    }
    if (paragraph.kind == LessonParagraph::Kind::kBullet) {
      const state::Rect mark = box.take_left(theme.px(kBulletIndent));
      kit::shape(kit::Shape::kDot, mark.x + theme.px(4), mark.y + theme.px(kTextLine) / 2,
                 theme.px(5), kit::color(ink));
    }
    draw_words(theme, box, paragraph, ink);
  }
  return y - area.y;
}

}  // namespace shardlens::ui::lesson
