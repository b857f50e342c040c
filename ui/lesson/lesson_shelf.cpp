#include "ui/lesson/lesson_shelf.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/number_text.h"
#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/lesson/text_draw.h"

namespace shardlens::ui::lesson {

namespace {

constexpr float kCardPadding = 8, kCardGap = 8, kWithinCard = 4, kPagesRow = 16, kReadMark = 12;

// What is typed is copied on its page: a card has one button, itself.
std::vector<state::LessonParagraph> words_about(const state::Lesson& lesson) {
  auto about = lesson.about;
  std::erase_if(about, [](const state::LessonParagraph& paragraph) {
    return paragraph.kind == state::LessonParagraph::Kind::kCode;
  });
  return about;
}

void draw_pages(const kit::Theme& theme, state::Rect row, std::size_t index, std::size_t pages,
                bool was_read) {
  const state::Palette& p = theme.colors();
  std::string words =
      "Lesson " + std::to_string(index + 1) + " · " + trace::base::counted(pages, "page");
  if (was_read) {
    const state::Rect mark = row.take_left(theme.px(kReadMark), theme.px(kWithinCard));
    kit::shape(kit::Shape::kCheck, mark.center_x(), mark.center_y(), theme.px(10),
               kit::color(p.good));
    words += ", read";
  }
  kit::text_in(theme, row, kit::Face::kSmall, p.text_muted, words);
}

// Takes its room from `rest`; true when it was clicked.
bool draw_card(const kit::Theme& theme, state::Rect& rest, const state::Lesson& lesson,
               std::size_t index, bool was_read, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const auto about = words_about(lesson);
  const float width = std::max(1.0f, rest.w - 2 * theme.px(kCardPadding));
  const float title = kit::wrapped_height(theme, kit::Face::kReadingStrong, width, lesson.title);
  const float words = paragraphs_height(theme, width, about);
  const float gap = theme.px(kWithinCard);
  const state::Rect card =
      rest.take_top(title + gap + words + gap + theme.px(kPagesRow) + 2 * theme.px(kCardPadding),
                    theme.px(kCardGap));
  const kit::Hit hit = kit::hit_area(theme, "lesson/open " + std::to_string(index + 1), card);
  kit::fill(card, kit::color(hit.hovered ? p.hover : p.field), theme.px(6));
  state::Rect inner{card.x + theme.px(kCardPadding), card.y + theme.px(kCardPadding), width,
                    card.h - 2 * theme.px(kCardPadding)};
  const state::Rect title_box = inner.take_top(title, gap);
  kit::text_wrapped(theme, title_box, kit::Face::kReadingStrong, p.text, lesson.title);
  draw_paragraphs(theme, inner.take_top(words, gap), about, p.text_secondary, "lesson", commands);
  draw_pages(theme, inner, index, lesson.pages.size(), was_read);
  return hit.clicked;
}

void draw_problems(const kit::Theme& theme, state::Rect& rest,
                   const std::vector<std::string>& problems) {
  const state::Palette& p = theme.colors();
  if (problems.empty()) return;
  rest.take_top(kit::text_wrapped(theme, rest, kit::Face::kStrong, p.text, "Could not be read"),
                theme.px(kWithinCard));
  for (const std::string& problem : problems) {
    rest.take_top(kit::text_wrapped(theme, rest, kit::Face::kBody, p.danger, problem),
                  theme.px(kWithinCard));
  }
}

}  // namespace

void draw_lesson_shelf(const kit::Theme& theme, const state::Rect& rect, LessonReader& reader,
                       state::Commands& commands) {
  const state::Palette& p = theme.colors();
  state::Rect area = rect.inset(theme.px(kit::kPanelPadding), 0);
  kit::text_in(theme, area.take_top(kit::panel_header_height(theme)), kit::Face::kStrong, p.text,
               "Lessons");
  area.take_bottom(theme.px(kCardGap));
  const kit::Panel panel(theme, "##lessons", area,
                         {.title = {}, .note = {}, .scrolls = true, .plain = true});
  state::Rect rest = panel.body;
  rest.w = std::max(1.0f, rest.w - theme.px(12));
  rest.h = 1e6f;
  const auto say = [&](std::string_view words) {
    rest.take_top(kit::text_wrapped(theme, rest, kit::Face::kBody, p.text_muted, words),
                  theme.px(kCardGap));
  };
  const state::LessonShelf* shelf = reader.shelf();
  if (shelf == nullptr) return say("Reading the lessons…");
  if (shelf->lessons.empty()) {
    say("There are no lessons here. Those that come with the program lie in its folder "
        "assets/lessons; your own are opened with shardlens learn FILE.");
  }
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < shelf->lessons.size(); ++i) {
    if (draw_card(theme, rest, shelf->lessons[i], i, reader.was_read(i), commands)) chosen = i;
  }
  draw_problems(theme, rest, shelf->problems);
  panel.content_height(rest.y - panel.body.y + theme.px(kCardGap));
  if (chosen) reader.open(*chosen);
}

}  // namespace shardlens::ui::lesson
