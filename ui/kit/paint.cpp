#include "ui/kit/paint.h"

#include <algorithm>
#include <cctype>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <string>

#include "ui/kit/draw_probe.h"
#include "ui/present/format.h"

namespace shardlens::ui::kit {

namespace {

ImDrawList* list() { return ImGui::GetWindowDrawList(); }

// Share of the font's height; Inter and JetBrains Mono both have capitals of 0.73 em.
constexpr float kCapHeightPerEm = 0.73f;

void note_text(const Theme& theme, const state::Rect& rect, std::string_view text) {
  if (theme.probe == nullptr) return;
  const ImVec2 low = list()->GetClipRectMin(), high = list()->GetClipRectMax();
  theme.probe->texts.push_back({std::string(text),
                                rect,
                                {low.x, low.y, high.x - low.x, high.y - low.y},
                                theme.probe->layer});
}

float centered_baseline(const Theme& theme, const state::Rect& box, Face face) {
  return std::round(box.center_y() + cap_height(theme, face) / 2);
}

float aligned_x(const state::Rect& box, float width, Align align) {
  if (align == Align::kRight) return box.right() - width;
  return align == Align::kCenter ? box.center_x() - width / 2 : box.x;
}

float line_height_of(const ImFont& font) { return std::round(font.FontSize * 1.15f); }

// Where the first line of a wrapped text ends, and where the next one begins.
struct BrokenLine {
  const char* stop;
  const char* next;
};

// Dear ImGui breaks behind points and commas, also those of a number, and before its percent sign.
const char* not_in_a_number(const char* begin, const char* at, const char* end) {
  const bool is_percent = end - at > 1 && at[0] == ' ' && at[1] == '%';
  const bool is_digit = at != end && std::isdigit(static_cast<unsigned char>(*at)) != 0;
  if (!is_percent && !is_digit) return at;
  const char* word = at;
  while (word > begin && word[-1] != ' ') --word;
  return word > begin ? word : at;
}

BrokenLine break_line(const ImFont& font, const char* begin, const char* end, float width) {
  const char* next = font.CalcWordWrapPositionA(1, begin, end, width);
  next = not_in_a_number(begin, next, end);
  if (next == begin) ++next;
  const char* stop = next;
  if (const auto* newline =
          static_cast<const char*>(memchr(begin, '\n', static_cast<std::size_t>(next - begin)))) {
    stop = newline;
    next = newline + 1;
  }
  while (next < end && *next == ' ') ++next;
  return {stop, next};
}

void triangle(float ax, float ay, float bx, float by, float cx, float cy, ImU32 c) {
  list()->AddTriangleFilled({ax, ay}, {bx, by}, {cx, cy}, c);
}

void restart(float x, float y, float r, ImU32 c) {
  list()->PathArcTo({x, y}, r * 0.8f, -0.9f, 4.2f, 16);
  list()->PathStroke(c, 0, r * 0.28f);
  const float tip_x = x + r * 0.8f * std::cos(-0.9f), tip_y = y + r * 0.8f * std::sin(-0.9f);
  triangle(tip_x - r * 0.55f, tip_y - r * 0.1f, tip_x + r * 0.35f, tip_y - r * 0.45f,
           tip_x + r * 0.15f, tip_y + r * 0.5f, c);
}

void polyline(std::initializer_list<ImVec2> points, ImU32 c, float thickness) {
  for (const ImVec2& point : points) list()->PathLineTo(point);
  list()->PathStroke(c, 0, thickness);
}

void warning(float x, float y, float r, ImU32 c) {
  list()->AddTriangle({x, y - r * 0.9f}, {x + r, y + r * 0.8f}, {x - r, y + r * 0.8f}, c,
                      r * 0.22f);
  list()->AddLine({x, y - r * 0.25f}, {x, y + r * 0.25f}, c, r * 0.22f);
  list()->AddCircleFilled({x, y + r * 0.52f}, r * 0.13f, c);
}

void pencil(float x, float y, float r, ImU32 c) {
  const auto at = [&](float along, float across) {
    return ImVec2{x + r * (along - across), y - r * (along + across)};
  };
  list()->AddQuadFilled(at(-0.35f, -0.2f), at(0.75f, -0.2f), at(0.75f, 0.2f), at(-0.35f, 0.2f), c);
  list()->AddTriangleFilled(at(-0.45f, 0.2f), at(-0.45f, -0.2f), at(-0.85f, 0), c);
}

}  // namespace

ImU32 color(state::Rgb c, float alpha) {
  return IM_COL32(c.r, c.g, c.b, static_cast<int>(alpha * 255 + 0.5f));
}

float text_width(const Theme& theme, Face face, std::string_view text) {
  if (text.empty()) return 0;  // ImGui measures what no end is given of
  const ImFont* font = theme.font(face);
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.data(), text.data() + text.size()).x;
}

std::string fitting_name(const Theme& theme, Face face, std::string_view name, float width) {
  return present::elide_middle(
      name, width, [&](std::string_view part) { return text_width(theme, face, part); });
}

float cap_height(const Theme& theme, Face face) {
  const bool mono = face >= Face::kMono;
  return theme.font(face)->FontSize / (mono ? 1.32f : 1.2102f) * kCapHeightPerEm;
}

float text(const Theme& theme, float x, float baseline, Face face, state::Rgb c,
           std::string_view text) {
  if (text.empty()) return 0;
  ImFont* font = theme.font(face);
  const float width = text_width(theme, face, text);
  const float top = std::round(baseline - font->Ascent);
  list()->AddText(font, font->FontSize, {std::round(x), top}, color(c), text.data(),
                  text.data() + text.size());
  const float cap = cap_height(theme, face);
  note_text(theme, {std::round(x), baseline - cap, width, cap}, text);
  return width;
}

float text_in(const Theme& theme, const state::Rect& box, Face face, state::Rgb c,
              std::string_view content, Align align) {
  const std::string shown = present::elide(
      content, box.w + 0.5f, [&](std::string_view part) { return text_width(theme, face, part); });
  if (shown.empty()) return 0;
  const float width = text_width(theme, face, shown);
  return text(theme, aligned_x(box, width, align), centered_baseline(theme, box, face), face, c,
              shown);
}

float label_in(const Theme& theme, const state::Rect& box, Face face, state::Rgb c,
               std::string_view content, Align align) {
  const float width = text_width(theme, face, content);
  if (width > box.w) return 0;
  return text(theme, aligned_x(box, width, align), centered_baseline(theme, box, face), face, c,
              content);
}

float note_in(const Theme& theme, const state::Rect& box, std::string_view text, Align align) {
  return text_in(theme, box, Face::kSmall, theme.colors().text_muted, text, align);
}

void take_text(const Theme& theme, state::Rect& row, float gap, Face face, state::Rgb c,
               std::string_view content, Align align) {
  const float width = text_in(theme, row, face, c, content, align);
  if (width <= 0) return;
  align == Align::kRight ? row.take_right(width, gap) : row.take_left(width, gap);
}

void empty_note(const Theme& theme, const state::Rect& area, std::string_view text) {
  const auto lines = wrapped_lines(theme, Face::kBody, area.w, text);
  const float height = wrapped_height(theme, Face::kBody, area.w, text);
  const state::Rgb ink = theme.colors().text_muted;
  if (lines.size() < 2 || height > area.h) {
    return (void)text_in(theme, area, Face::kBody, ink, text, Align::kCenter);
  }
  state::Rect rest{area.x, std::round(area.center_y() - height / 2), area.w, height};
  const float line_height = height / static_cast<float>(lines.size());
  for (const std::string_view line : lines) {
    text_in(theme, rest.take_top(line_height), Face::kBody, ink, line, Align::kCenter);
  }
}

std::vector<std::string_view> wrapped_lines(const Theme& theme, Face face, float width,
                                            std::string_view text) {
  const ImFont* font = theme.font(face);
  std::vector<std::string_view> lines;
  for (const char *at = text.data(), *end = at + text.size(); at < end;) {
    const BrokenLine line = break_line(*font, at, end, width);
    lines.emplace_back(at, static_cast<std::size_t>(line.stop - at));
    at = line.next;
  }
  return lines;
}

float wrapped_height(const Theme& theme, Face face, float width, std::string_view content,
                     std::size_t most_lines) {
  const auto lines = std::min(wrapped_lines(theme, face, width, content).size(), most_lines);
  return line_height_of(*theme.font(face)) * static_cast<float>(lines);
}

float text_wrapped(const Theme& theme, const state::Rect& box, Face face, state::Rgb c,
                   std::string_view content) {
  const ImFont* font = theme.font(face);
  const float line_height = line_height_of(*font);
  float y = box.y;
  const char* cursor = content.data();
  const char* end = cursor + content.size();
  while (cursor < end && y + line_height <= box.bottom() + 0.5f) {
    const BrokenLine part = break_line(*font, cursor, end, box.w);
    const bool last_line = y + 2 * line_height > box.bottom() + 0.5f;
    const state::Rect row{box.x, y, box.w, line_height};
    const char* stop = last_line ? end : part.stop;
    text_in(theme, row, face, c, {cursor, static_cast<std::size_t>(stop - cursor)});
    y += line_height;
    cursor = part.next;
  }
  return y - box.y;
}

void take_wrapped(const Theme& theme, state::Rect& rest, float gap, Face face, state::Rgb c,
                  std::string_view content) {
  rest.take_top(text_wrapped(theme, rest, face, c, content), gap);
}

void tick_left(const Theme& theme, const state::Rect& area, float y, std::string_view label) {
  const float at = std::round(y);
  line(area.x, at, area.right(), at, color(theme.colors().grid));
  text_in(theme, {area.x - theme.px(86), at - theme.px(8), theme.px(80), theme.px(16)},
          Face::kMonoSmall, theme.colors().text_muted, label, Align::kRight);
}

void axis_label(const Theme& theme, const state::Rect& axis, float x, std::string_view label,
                float& free_from) {
  const float width = text_width(theme, Face::kMonoSmall, label);
  const float left = std::clamp(x - width / 2, axis.x, std::max(axis.x, axis.right() - width));
  if (left < free_from) return;
  text_in(theme, {left, axis.y, width + 1, axis.h}, Face::kMonoSmall, theme.colors().text_muted,
          label);
  free_from = left + width + theme.px(8);
}

void ticks_below(const Theme& theme, const Plot& plot, const std::vector<present::Tick>& ticks,
                 float left, float right) {
  float free_from = plot.area.x - left;
  for (const present::Tick& tick : ticks) {
    const float x = std::round(plot.x(tick.at));
    line(x, plot.area.y, x, plot.area.bottom(), color(theme.colors().grid));
    const float width = text_width(theme, Face::kMonoSmall, tick.label);
    const state::Rect box{x - width / 2, plot.area.bottom() + theme.px(4), width, theme.px(14)};
    if (box.x < free_from || box.right() > plot.area.right() + right) continue;
    text_in(theme, box, Face::kMonoSmall, theme.colors().text_muted, tick.label);
    free_from = box.right() + theme.px(8);
  }
}

void interval(const Theme& theme, ImVec2 from, ImVec2 to, ImVec2 cap, ImU32 c, bool is_dashed) {
  if (is_dashed) return dashed_line(theme, from.x, from.y, to.x, to.y, c);
  const float width = theme.px(1.4f);
  line(from.x, from.y, to.x, to.y, c, width);
  for (const ImVec2 end : {from, to}) {
    line(end.x - cap.x, end.y - cap.y, end.x + cap.x, end.y + cap.y, c, width);
  }
}

Clip::Clip(const state::Rect& rect, bool within) {
  ImGui::PushClipRect({rect.x, rect.y}, {rect.right(), rect.bottom()}, within);
}
Clip::~Clip() { ImGui::PopClipRect(); }

void fill(const state::Rect& rect, ImU32 c, float rounding) {
  if (rect.empty()) return;
  list()->AddRectFilled({rect.x, rect.y}, {rect.right(), rect.bottom()}, c, rounding);
}

void outline(const state::Rect& rect, ImU32 c, float rounding, float thickness) {
  if (rect.empty()) return;
  list()->AddRect({rect.x, rect.y}, {rect.right(), rect.bottom()}, c, rounding, 0, thickness);
}

void bordered(const state::Rect& rect, ImU32 c, ImU32 edge, float rounding) {
  fill(rect, c, rounding);
  outline(rect, edge, rounding);
}

void line(float x0, float y0, float x1, float y1, ImU32 c, float thickness) {
  if (x0 == x1) {  // crisp: exactly `thickness` pixels
    list()->AddRectFilled({x0, std::min(y0, y1)}, {x0 + thickness, std::max(y0, y1)}, c);
  } else if (y0 == y1) {
    list()->AddRectFilled({std::min(x0, x1), y0}, {std::max(x0, x1), y0 + thickness}, c);
  } else {
    list()->AddLine({x0, y0}, {x1, y1}, c, thickness);
  }
}

void dashed_line(const Theme& theme, float x0, float y0, float x1, float y1, ImU32 c) {
  const float length = std::hypot(x1 - x0, y1 - y0);
  if (!(length > 0)) return;
  const float dash = theme.px(5), gap = theme.px(3), thickness = std::max(1.0f, theme.px(1));
  const float ux = (x1 - x0) / length, uy = (y1 - y0) / length;
  for (float at = 0; at < length; at += dash + gap) {
    const float end = std::min(at + dash, length);
    line(std::round(x0 + ux * at), std::round(y0 + uy * at), std::round(x0 + ux * end),
         std::round(y0 + uy * end), c, thickness);
  }
}

void dashed_outline(const Theme& theme, const state::Rect& r, ImU32 c) {
  dashed_line(theme, r.x, r.y, r.right(), r.y, c);
  dashed_line(theme, r.x, r.bottom(), r.right(), r.bottom(), c);
  dashed_line(theme, r.x, r.y, r.x, r.bottom(), c);
  dashed_line(theme, r.right(), r.y, r.right(), r.bottom(), c);
}

state::Rect take_swatch(const Theme& theme, state::Rect& row, float size, float gap) {
  return swatch_in(row.take_left(theme.px(size), theme.px(gap)));
}

state::Rect swatch_in(const state::Rect& mark) {
  return {mark.x, std::round(mark.center_y() - mark.w / 2), mark.w, mark.w};
}

static constexpr float kLegendNameGap = 6;

float legend_width(const Theme& theme, float mark, std::string_view name) {
  // Rounded up, or the name is cut for a part of a pixel.
  const float words = std::ceil(text_width(theme, Face::kSmall, name)) + 1;
  return theme.px(mark) + theme.px(kLegendNameGap) + words;
}

state::Rect legend_entry(const Theme& theme, state::Rect& row, float mark, std::string_view name,
                         state::Rgb ink) {
  const float width = legend_width(theme, mark, name);
  if (width > row.w) return {};
  state::Rect box = row.take_left(width, theme.px(kLegendGap));
  const state::Rect place = box.take_left(theme.px(mark), theme.px(kLegendNameGap));
  text_in(theme, box, Face::kSmall, ink, name);
  return place;
}

void hatch(const Theme& theme, const state::Rect& rect, ImU32 c) {
  if (rect.empty()) return;
  const Clip clip(rect);
  const float gap = std::max(4.0f, theme.px(5));
  // At most what a screen is wide, however far the view is zoomed in.
  const float start = std::max(rect.x, 0.0f) - rect.h;
  const float end = std::min(rect.right(), ImGui::GetIO().DisplaySize.x);
  for (float x = start; x < end; x += gap) {
    list()->AddLine({x, rect.bottom()}, {x + rect.h, rect.y}, c, std::max(1.0f, theme.px(1.2f)));
  }
}

void shape(Shape kind, const state::Rect& mark, float size, ImU32 c) {
  shape(kind, mark.center_x(), mark.center_y(), size, c);
}

void shape(Shape kind, float x, float y, float size, ImU32 c) {
  const float r = size / 2;
  switch (kind) {
    case Shape::kPlay:
      return triangle(x - r * 0.7f, y - r, x + r, y, x - r * 0.7f, y + r, c);
    case Shape::kPause:
      fill({x - r * 0.8f, y - r, r * 0.55f, size}, c, r * 0.15f);
      return fill({x + r * 0.25f, y - r, r * 0.55f, size}, c, r * 0.15f);
    case Shape::kStop:
      return fill({x - r * 0.8f, y - r * 0.8f, r * 1.6f, r * 1.6f}, c, r * 0.2f);
    case Shape::kUp:
      return triangle(x, y - r * 0.7f, x + r, y + r * 0.7f, x - r, y + r * 0.7f, c);
    case Shape::kDown:
      return triangle(x - r, y - r * 0.7f, x + r, y - r * 0.7f, x, y + r * 0.7f, c);
    case Shape::kRight:
      return triangle(x - r * 0.6f, y - r, x + r * 0.8f, y, x - r * 0.6f, y + r, c);
    case Shape::kLeft:
      return triangle(x + r * 0.6f, y - r, x - r * 0.8f, y, x + r * 0.6f, y + r, c);
    case Shape::kCheck:
      return polyline(
          {{x - r * 0.75f, y}, {x - r * 0.2f, y + r * 0.55f}, {x + r * 0.8f, y - r * 0.6f}}, c,
          size * 0.17f);
    case Shape::kDot:
      list()->AddCircleFilled({x, y}, r, c, 16);
      return;
    case Shape::kCross:
      line(x - r * 0.7f, y - r * 0.7f, x + r * 0.7f, y + r * 0.7f, c, size * 0.15f);
      return line(x - r * 0.7f, y + r * 0.7f, x + r * 0.7f, y - r * 0.7f, c, size * 0.15f);
    case Shape::kRestart:
      return restart(x, y, r, c);
    case Shape::kWarning:
      return warning(x, y, r, c);
    case Shape::kPencil:
      return pencil(x, y, r, c);
  }
}

}  // namespace shardlens::ui::kit
