#include "ui/lesson/lesson_page.h"

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

constexpr float kAgainRow = 24, kTurnRow = 32, kPageGap = 8;
constexpr float kPageDot = 8, kPageDotRoom = 16;
constexpr float kScrollBarRoom = 12;
constexpr float kLinkMargin = 9;
constexpr float kAnyHeight = 1e6f;  // what does not fit is scrolled to

// Takes its room from `rest`.
void draw_question(const kit::Theme& theme, state::Rect& rest, LessonReader& reader,
                   state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const state::LessonPage& page = *reader.page();
  if (page.question.empty()) return;
  const float y = rest.take_top(theme.px(kPageGap), theme.px(kPageGap)).bottom();
  kit::line(rest.x, y, rest.right(), y, kit::color(p.panel_edge));
  rest.take_top(kit::text_wrapped(theme, rest, kit::Face::kReadingStrong, p.text, page.question),
                theme.px(kPageGap));
  const char* label = reader.shows_answer() ? "Hide answer" : "Show answer";
  const state::Rect row = rest.take_top(theme.px(28), theme.px(kPageGap));
  const state::Rect box{row.x, row.y, std::min(kit::button_width(theme, label), row.w), row.h};
  const bool is_pressed = kit::button(theme, "lesson/answer", box, kit::ButtonKind::kQuiet, label);
  if (reader.shows_answer()) {
    rest.take_top(
        draw_paragraphs(theme, rest, page.answer, p.text_secondary, "lesson/answer", commands));
  }
  if (is_pressed) reader.show_answer(!reader.shows_answer());
}

void draw_page_text(const kit::Theme& theme, const state::Rect& area, LessonReader& reader,
                    state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const state::LessonPage& page = *reader.page();
  // Each page begins at its top, and keeps where it was scrolled to.
  const std::string id = "##lesson " + std::to_string(reader.lesson_index()) + " " +
                         std::to_string(reader.page_index());
  const kit::Panel panel(theme, id.c_str(), area, {.scrolls = true, .plain = true});
  state::Rect rest = panel.body;
  rest.w = std::max(1.0f, rest.w - theme.px(kScrollBarRoom));
  rest.h = kAnyHeight;
  rest.take_top(
      kit::text_wrapped(theme, rest, kit::Face::kSmall, p.text_muted, reader.lesson()->title),
      theme.px(4));
  rest.take_top(kit::text_wrapped(theme, rest, kit::Face::kTitle, p.text, page.title),
                theme.px(kPageGap));
  rest.take_top(draw_paragraphs(theme, rest, page.text, p.text, "lesson", commands));
  draw_question(theme, rest, reader, commands);
  panel.content_height(rest.y - panel.body.y + theme.px(kPageGap));
}

// Each a way to its page, where there is room for all.
void draw_page_dots(const kit::Theme& theme, const state::Rect& area, LessonReader& reader) {
  const std::size_t pages = reader.lesson()->pages.size(), shown = reader.page_index();
  const float width = theme.px(kPageDotRoom) * static_cast<float>(pages);
  if (pages < 2 || width > area.w) return;
  state::Rect rest{area.center_x() - width / 2, area.y, width, area.h};
  for (std::size_t i = 0; i < pages; ++i) {
    const state::Rect box =
        rest.take_left(theme.px(kPageDotRoom)).inset(0, (area.h - theme.px(kPageDotRoom)) / 2);
    const kit::Hit hit = kit::hit_area(theme, "lesson/page " + std::to_string(i + 1), box);
    const state::Palette& p = theme.colors();
    const state::Rgb ink = i == shown ? p.accent : hit.hovered ? p.text : p.text_muted;
    kit::shape(kit::Shape::kDot, box.center_x(), box.center_y(),
               theme.px(i == shown ? kPageDot : kPageDot - 2), kit::color(ink));
    if (hit.hovered) kit::tooltip(theme, reader.lesson()->pages[i].title, "");
    if (hit.clicked) reader.turn_to(i);
  }
}

// A button without a frame: its label begins where the text above and below does.
bool draw_link(const kit::Theme& theme, std::string_view name, const state::Rect& row,
               const char* label) {
  const float words = kit::text_width(theme, kit::Face::kMedium, label);
  const float margin = theme.px(kLinkMargin);
  const state::Rect box{row.x - margin, row.y, words + 2 * margin, row.h};
  return kit::button(theme, name, box, kit::ButtonKind::kGhost, label);
}

void draw_turns(const kit::Theme& theme, state::Rect row, LessonReader& reader) {
  const char* on = !reader.is_last_page()     ? "Next ›"
                   : reader.has_next_lesson() ? "Next lesson ›"
                                              : "All lessons";
  const float on_width =
      std::min(kit::button_width(theme, on, kit::ButtonKind::kPrimary), row.w / 2);
  const state::Rect back =
      row.take_left(std::min(kit::button_width(theme, "‹ Back"), row.w / 2), theme.px(kPageGap));
  const state::Rect next = row.take_right(on_width, theme.px(kPageGap));
  const bool goes_back = kit::button(theme, "lesson/back", back, kit::ButtonKind::kQuiet, "‹ Back");
  kit::explain(theme, back, "The page before", "Before the first one are all lessons", "PageUp");
  draw_page_dots(theme, row, reader);
  const bool goes_on = kit::button(theme, "lesson/next", next, kit::ButtonKind::kPrimary, on);
  kit::explain(theme, next, "On", "Also by a presenter's remote control", "PageDown");
  if (goes_back) return reader.go_back();
  if (goes_on) reader.go_on();
}

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

void draw_lesson_page(const kit::Theme& theme, const state::Rect& rect, LessonReader& reader,
                      state::Commands& commands) {
  const state::Palette& p = theme.colors();
  state::Rect rest = rect.inset(theme.px(kit::kPanelPadding), 0);
  state::Rect header = rest.take_top(kit::panel_header_height(theme), theme.px(4));
  const std::string count = std::to_string(reader.page_index() + 1) + " / " +
                            std::to_string(reader.lesson()->pages.size());
  const float width =
      kit::label_in(theme, header, kit::Face::kMonoSmall, p.text_muted, count, kit::Align::kRight);
  header.take_right(width, theme.px(kPageGap));
  const bool goes_to_shelf =
      draw_link(theme, "lesson/all", header.inset(0, theme.px(4)), "‹ Lessons");

  rest.take_bottom(theme.px(kPageGap));
  const state::Rect turns = rest.take_bottom(theme.px(kTurnRow), theme.px(kPageGap));
  const state::Rect again = rest.take_bottom(theme.px(kAgainRow), theme.px(kPageGap));
  draw_page_text(theme, rest, reader, commands);
  if (reader.has_view() && draw_link(theme, "lesson/again", again, "Show this view again")) {
    reader.show_view_again();
  }
  if (goes_to_shelf) return reader.go_to_shelf();
  draw_turns(theme, turns, reader);
}

void draw_lesson_shelf(const kit::Theme& theme, const state::Rect& rect, LessonReader& reader,
                       state::Commands& commands) {
  const state::Palette& p = theme.colors();
  state::Rect area = rect.inset(theme.px(kit::kPanelPadding), 0);
  kit::text_in(theme, area.take_top(kit::panel_header_height(theme)), kit::Face::kStrong, p.text,
               "Lessons");
  area.take_bottom(theme.px(kCardGap));
  const kit::Panel panel(theme, "##lessons", area, {.scrolls = true, .plain = true});
  state::Rect rest = panel.body;
  rest.w = std::max(1.0f, rest.w - theme.px(kScrollBarRoom));
  rest.h = kAnyHeight;
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
