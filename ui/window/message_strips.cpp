#include "ui/window/message_strips.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "trace/base/text.h"
#include "ui/kit/widgets.h"

namespace shardlens::ui::window {

namespace {

constexpr float kLeastHeight = 28, kAround = 10, kStripPadding = 12, kStripMark = 14,
                kBehindMark = 8;
constexpr std::string_view kBetweenNotes = "   ·   ";

float words_width(const kit::Theme& theme, float strip_width) {
  return strip_width - theme.px(2 * kStripPadding + kStripMark + kBehindMark);
}

// As many notes on each as it has room for; one that is longer than a line is wrapped.
std::vector<std::string> lines_of(const kit::Theme& theme, float width,
                                  const std::vector<std::string>& notes) {
  std::vector<std::string> lines;
  for (const std::string& note : notes) {
    const std::string longer =
        lines.empty() ? note : lines.back() + std::string(kBetweenNotes) + note;
    if (!lines.empty() && kit::text_width(theme, kit::Face::kBody, longer) <= width) {
      lines.back() = longer;
    } else {
      lines.push_back(note);
    }
  }
  return lines;
}

float words_height(const kit::Theme& theme, float width, const std::vector<std::string>& lines) {
  float height = 0;
  for (const std::string& line : lines) {
    height += kit::wrapped_height(theme, kit::Face::kBody, width, line);
  }
  return height;
}

float strip_height(const kit::Theme& theme, float words) {
  return std::ceil(std::max(theme.px(kLeastHeight), words + theme.px(kAround)));
}

void draw_message(const kit::Theme& theme, const state::Rect& row, const present::Message& message,
                  const std::vector<std::string>& lines, float words) {
  const state::Palette& p = theme.colors();
  kit::fill(row, kit::color(message.is_error ? p.danger_field : p.panel), theme.px(6));
  kit::outline(row, kit::color(message.is_error ? p.danger : p.panel_edge), theme.px(6));
  state::Rect inner = row.inset(theme.px(kStripPadding), (row.h - words) / 2);
  const state::Rect mark = inner.take_left(theme.px(kStripMark), theme.px(kBehindMark));
  const state::Rgb ink = message.is_error ? p.on_danger : p.text_secondary;
  kit::shape(message.is_answer ? kit::Shape::kCheck : kit::Shape::kWarning, mark.center_x(),
             row.center_y(), theme.px(12), kit::color(ink));
  for (const std::string& line : lines) {
    inner.take_top(kit::text_wrapped(theme, inner, kit::Face::kBody, ink, line));
  }
}

}  // namespace

float messages_height(const kit::Theme& theme, float width,
                      const std::vector<present::Message>& messages) {
  const float room = words_width(theme, width);
  float height = 0;
  for (const present::Message& message : messages) {
    const auto lines = lines_of(theme, room, message.notes);
    height += strip_height(theme, words_height(theme, room, lines));
  }
  return height;
}

void draw_messages(const kit::Theme& theme, const state::Rect& rect,
                   const std::vector<present::Message>& messages) {
  const float room = words_width(theme, rect.w);
  state::Rect rows = rect;
  for (const present::Message& message : messages) {
    const auto lines = lines_of(theme, room, message.notes);
    const float words = words_height(theme, room, lines);
    const state::Rect row = rows.take_top(strip_height(theme, words)).inset(0, theme.px(1));
    draw_message(theme, row, message, lines, words);
    kit::explain(theme, row,
                 message.is_error    ? "What went wrong"
                 : message.is_answer ? "What came of it"
                                     : "About this run",
                 trace::base::joined(message.notes, "\n"));
  }
}

}  // namespace shardlens::ui::window
