#include "ui/inspect/toolbar/toolbar_instances.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/present/timeline_time_text.h"

namespace shardlens::ui {

namespace {

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

}  // namespace

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

}  // namespace shardlens::ui
