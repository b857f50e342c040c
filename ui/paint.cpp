#include "ui/paint.h"

#include <cfloat>
#include <cmath>
#include <cstring>
#include <string>

#include "ui/draw_probe.h"
#include "ui/format.h"

namespace shardlens::ui {

namespace {

ImDrawList* window_list() { return ImGui::GetWindowDrawList(); }

// Share of the font's height; Inter and JetBrains Mono both have capitals of 0.73 em.
constexpr float kCapHeightPerEm = 0.73f;

void note_text(const Look& look, const Rect& rect, std::string_view text) {
  if (look.probe == nullptr) return;
  const ImVec2 low = window_list()->GetClipRectMin(), high = window_list()->GetClipRectMax();
  look.probe->texts.push_back(
      {std::string(text), rect, {low.x, low.y, high.x - low.x, high.y - low.y}, look.probe->layer});
}

float centered_baseline(const Look& look, const Rect& box, Face face) {
  return std::round(box.center_y() + cap_height(look, face) / 2);
}

float aligned_x(const Rect& box, float width, Align align) {
  if (align == Align::kRight) return box.right() - width;
  return align == Align::kCenter ? box.center_x() - width / 2 : box.x;
}

float line_height_of(const ImFont& font) { return std::round(font.FontSize * 1.15f); }

// Where the first line of a wrapped text ends, and where the next one begins.
struct BrokenLine {
  const char* stop;
  const char* next;
};

BrokenLine break_line(const ImFont& font, const char* begin, const char* end, float width) {
  const char* next = font.CalcWordWrapPositionA(1, begin, end, width);
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

}  // namespace

ImU32 color(Rgb c, float alpha) {
  return IM_COL32(c.r, c.g, c.b, static_cast<int>(alpha * 255 + 0.5f));
}

float text_width(const Look& look, Face face, std::string_view text) {
  const ImFont* font = look.font(face);
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.data(), text.data() + text.size()).x;
}

float cap_height(const Look& look, Face face) {
  const bool mono = face >= Face::kMono;
  return look.font(face)->FontSize / (mono ? 1.32f : 1.2102f) * kCapHeightPerEm;
}

float text(const Look& look, float x, float baseline, Face face, Rgb c, std::string_view text) {
  if (text.empty()) return 0;
  ImFont* font = look.font(face);
  const float width = text_width(look, face, text);
  const float top = std::round(baseline - font->Ascent);
  window_list()->AddText(font, font->FontSize, {std::round(x), top}, color(c), text.data(),
                         text.data() + text.size());
  const float cap = cap_height(look, face);
  note_text(look, {std::round(x), baseline - cap, width, cap}, text);
  return width;
}

float text_in(const Look& look, const Rect& box, Face face, Rgb c, std::string_view content,
              Align align) {
  const std::string shown = elide(
      content, box.w + 0.5f, [&](std::string_view part) { return text_width(look, face, part); });
  if (shown.empty()) return 0;
  const float width = text_width(look, face, shown);
  return text(look, aligned_x(box, width, align), centered_baseline(look, box, face), face, c,
              shown);
}

float label_in(const Look& look, const Rect& box, Face face, Rgb c, std::string_view content,
               Align align) {
  const float width = text_width(look, face, content);
  if (width > box.w) return 0;
  return text(look, aligned_x(box, width, align), centered_baseline(look, box, face), face, c,
              content);
}

float wrapped_height(const Look& look, Face face, float width, std::string_view content) {
  const ImFont* font = look.font(face);
  int lines = 0;
  for (const char *at = content.data(), *end = at + content.size(); at < end; ++lines) {
    at = break_line(*font, at, end, width).next;
  }
  return line_height_of(*font) * static_cast<float>(lines);
}

float text_wrapped(const Look& look, const Rect& box, Face face, Rgb c, std::string_view content) {
  const ImFont* font = look.font(face);
  const float line_height = line_height_of(*font);
  float y = box.y;
  const char* cursor = content.data();
  const char* end = cursor + content.size();
  while (cursor < end && y + line_height <= box.bottom() + 0.5f) {
    const BrokenLine part = break_line(*font, cursor, end, box.w);
    const bool last_line = y + 2 * line_height > box.bottom() + 0.5f;
    const Rect row{box.x, y, box.w, line_height};
    const char* stop = last_line ? end : part.stop;
    text_in(look, row, face, c, {cursor, static_cast<std::size_t>(stop - cursor)});
    y += line_height;
    cursor = part.next;
  }
  return y - box.y;
}

Clip::Clip(const Rect& rect, bool within) {
  ImGui::PushClipRect({rect.x, rect.y}, {rect.right(), rect.bottom()}, within);
}
Clip::~Clip() { ImGui::PopClipRect(); }

}  // namespace shardlens::ui
