#include "ui/inspect/toolbar/toolbar_names.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ui/kit/draw_probe.h"
#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/present/timeline_time_text.h"

namespace shardlens::ui {

namespace {

constexpr std::size_t kMostListed = 12;
constexpr float kNameRow = 26, kNameListWidth = 560;

std::string_view table_name(trace::EventTableKind table) {
  switch (table) {
    case trace::EventTableKind::kOperator:
      return "operator";
    case trace::EventTableKind::kKernel:
      return "kernel";
    case trace::EventTableKind::kLaunch:
      return "launch";
    case trace::EventTableKind::kCopy:
      return "copy";
    case trace::EventTableKind::kAllocation:
      return "allocation";
    case trace::EventTableKind::kSpan:
      return "phase";
    case trace::EventTableKind::kCollective:
      return "collective";
    case trace::EventTableKind::kNone:
      break;
  }
  return "";
}

// Above everything else of the workspace, beside the field's keyboard focus.
class NamesWindow {
 public:
  NamesWindow(const Theme& theme, const Rect& box) : theme_(theme) {
    ImGui::SetNextWindowPos({box.x, box.y});
    ImGui::SetNextWindowSize({box.w, box.h});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, color(theme.colors().popup));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1.0f);
    ImGui::Begin("##found names", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing);
    if (theme.probe != nullptr) theme.probe->layer += 5;
  }
  ~NamesWindow() {
    if (theme_.probe != nullptr) theme_.probe->layer -= 5;
    ImGui::End();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
  }
  NamesWindow(const NamesWindow&) = delete;
  NamesWindow& operator=(const NamesWindow&) = delete;

 private:
  const Theme& theme_;
};

bool draw_name(const Theme& theme, const Rect& row, std::size_t index, const trace::NameHit& hit) {
  const Palette& p = theme.colors();
  const Hit mouse = hit_area(theme, "inspect/found " + std::to_string(index), row);
  if (mouse.hovered) fill(row, color(p.hover), theme.px(4));
  Rect inner = row.inset(theme.px(6), 0);
  const std::string count = format_integer(hit.count) + " × · " + length_text(hit.total_ns);
  const float width = std::ceil(text_width(theme, Face::kMonoSmall, count));
  text_in(theme, inner.take_right(width, theme.px(10)), Face::kMonoSmall, p.text_secondary, count,
          Align::kRight);
  const float kind = std::ceil(text_width(theme, Face::kSmall, "collective"));
  text_in(theme, inner.take_right(kind, theme.px(10)), Face::kSmall, p.text_muted,
          table_name(hit.table), Align::kRight);
  text_in(theme, inner, Face::kMono, p.text, hit.name);
  return mouse.clicked;
}

constexpr float kInstanceRow = 22, kInstanceTitle = 24;
constexpr std::size_t kInstancesInSight = 12;

std::string title_of(const trace::NameHits& hits) {
  const auto listed = static_cast<std::int64_t>(hits.instances.size());
  if (listed >= hits.count) return "All, by time";
  return "The first " + format_integer(listed) + " of " + format_integer(hits.count) + ", by time";
}

bool draw_instance(const Theme& theme, const Rect& row, std::size_t index,
                   const trace::HitInstance& instance, std::int64_t origin_ns) {
  const Palette& p = theme.colors();
  const Hit mouse = hit_area(theme, "inspect/instance " + std::to_string(index), row);
  if (mouse.hovered) fill(row, color(p.hover), theme.px(4));
  Rect rest = row.inset(theme.px(6), 0);
  const trace::EventPlace& place = instance.place;
  text_in(theme, rest.take_left(theme.px(72)), Face::kSmall, p.text,
          "rank " + std::to_string(place.ref.rank));
  text_in(theme, rest.take_left(theme.px(110)), Face::kSmall, p.text,
          instance.step < 0 ? "outside of steps" : "step " + format_integer(instance.step));
  const std::string length = length_text(std::max<std::int64_t>(0, place.end_ns - place.start_ns));
  text_in(theme, rest.take_right(theme.px(90), theme.px(10)), Face::kMonoSmall, p.text, length,
          Align::kRight);
  text_in(theme, rest, Face::kMonoSmall, p.text_muted,
          "at " + length_text(place.start_ns - origin_ns), Align::kRight);
  return mouse.clicked;
}

float instances_height(const Theme& theme, const trace::NameHits& hits) {
  if (hits.instances.empty()) return 0;
  const std::size_t rows = std::min(hits.instances.size(), kInstancesInSight);
  return theme.px(kInstanceTitle) + theme.px(kInstanceRow) * static_cast<float>(rows);
}

std::optional<std::size_t> draw_instances(const Theme& theme, const Rect& rect,
                                          const trace::NameHits& hits, std::int64_t origin_ns) {
  Rect list = rect;
  text_in(theme, list.take_top(theme.px(kInstanceTitle)).inset(theme.px(6), 0), Face::kSmall,
          theme.colors().text_muted, title_of(hits));
  const Panel panel(theme, "found instances", list,
                    {.title = {}, .note = {}, .scrolls = true, .plain = true});
  const float height = theme.px(kInstanceRow);
  const float content = height * static_cast<float>(hits.instances.size());
  const float bar = content > list.h + 1 ? theme.px(8) : 0;
  std::optional<std::size_t> clicked;
  const auto first =
      static_cast<std::size_t>(std::max(0.0f, std::floor((list.y - panel.body.y) / height)));
  for (std::size_t i = first; i < hits.instances.size(); ++i) {
    const Rect row{list.x, panel.body.y + height * static_cast<float>(i), list.w - bar, height};
    if (row.y >= list.bottom()) break;
    if (draw_instance(theme, row, i, hits.instances[i], origin_ns)) clicked = i;
  }
  panel.content_height(content);
  return clicked;
}

}  // namespace

FoundNames draw_found_names(const Theme& theme, const Rect& field, const trace::NameHits& hits,
                            std::int64_t origin_ns) {
  const Palette& p = theme.colors();
  const std::size_t rows = hits.problem.empty() ? std::min(hits.names.size(), kMostListed) : 0;
  const float room = ImGui::GetIO().DisplaySize.x - field.x - theme.px(8);
  const float width = std::min(theme.px(kNameListWidth), room);
  float height =
      theme.px(12) + theme.px(kNameRow) * static_cast<float>(std::max<std::size_t>(rows, 1));
  if (!hits.problem.empty()) {
    height = theme.px(16) + wrapped_height(theme, Face::kSmall, width - theme.px(20), hits.problem);
  }
  const float instances = instances_height(theme, hits);
  const Rect box{field.x, field.bottom() + theme.px(4), width, height + instances};
  const NamesWindow window(theme, box);
  FoundNames found;
  found.hovered = ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem |
                                         ImGuiHoveredFlags_ChildWindows);
  Rect rest = box.inset(theme.px(6), theme.px(6));
  if (!hits.problem.empty()) {
    text_wrapped(theme, rest.inset(theme.px(4), 0), Face::kSmall, p.danger, hits.problem);
  } else if (rows == 0) {
    text_in(theme, rest.inset(theme.px(6), 0), Face::kSmall, p.text_muted, "No name matches");
  }
  for (std::size_t i = 0; i < rows; ++i) {
    if (draw_name(theme, rest.take_top(theme.px(kNameRow)), i, hits.names[i])) found.chosen = i;
  }
  if (instances > 0) found.instance = draw_instances(theme, rest, hits, origin_ns);
  return found;
}

}  // namespace shardlens::ui
