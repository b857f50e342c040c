// The tooltips of ui/widgets.h.
#include <algorithm>
#include <string>

#include "ui/draw_probe.h"
#include "ui/widgets.h"

namespace shardlens::ui {

namespace {

constexpr float kTooltipWidth = 320;

// Text by ImGui itself: a tooltip grows with what is put into it.
void wrapped(const Look& look, Face face, Rgb c, std::string_view text) {
  if (text.empty()) return;
  ImGui::PushFont(look.font(face));
  ImGui::PushStyleColor(ImGuiCol_Text, color(c));
  ImGui::PushTextWrapPos(look.px(kTooltipWidth));
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  if (look.probe != nullptr) {
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const Rect rect{low.x, low.y, high.x - low.x, high.y - low.y};
    look.probe->texts.push_back({std::string(text), rect, rect, look.probe->layer});
  }
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

}  // namespace

TooltipScope::TooltipScope(const Look& look) : look_(look) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(look.px(12), look.px(10)));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(look.px(8), look.px(4)));
  ImGui::BeginTooltip();
  if (look.probe != nullptr) ++look.probe->layer;
}

TooltipScope::~TooltipScope() {
  if (look_.probe != nullptr) --look_.probe->layer;
  ImGui::EndTooltip();
  ImGui::PopStyleVar(2);
}

void TooltipScope::title(std::string_view text) const {
  wrapped(look_, Face::kStrong, look_.colors().text, text);
}

void TooltipScope::row(const Rgb* swatch, std::string_view name, std::string_view value) const {
  const Palette& p = look_.colors();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = look_.px(18);
  const float name_x = swatch != nullptr ? look_.px(18) : 0;
  const float name_width = text_width(look_, Face::kBody, name);
  const float value_width = text_width(look_, Face::kMono, value);
  const float width = std::max(look_.px(252), name_x + name_width + look_.px(24) + value_width);
  if (swatch != nullptr) {
    const Rect box{at.x, at.y + (height - look_.px(10)) / 2, look_.px(10), look_.px(10)};
    fill(box, color(*swatch), look_.px(2));
    if (*swatch == p.idle) outline(box, color(p.idle_edge), look_.px(2));
  }
  text_in(look_, {at.x + name_x, at.y, name_width + 1, height}, Face::kBody, p.text_secondary,
          name);
  text_in(look_, {at.x, at.y, width, height}, Face::kMono, p.text, value, Align::kRight);
  ImGui::Dummy({width, height});
}

void TooltipScope::note(std::string_view text) const {
  wrapped(look_, Face::kSmall, look_.colors().text_muted, text);
}

void tooltip(const Look& look, std::string_view title, std::string_view body,
             std::string_view source) {
  const TooltipScope scope(look);
  scope.title(title);
  wrapped(look, Face::kBody, look.colors().text_secondary, body);
  scope.note(source);
}

void explain(const Look& look, const Rect& rect, std::string_view title, std::string_view body,
             std::string_view source) {
  if (hovers(rect)) tooltip(look, title, body, source);
}

}  // namespace shardlens::ui
