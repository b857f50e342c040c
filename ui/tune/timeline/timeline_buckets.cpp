#include "ui/tune/timeline/timeline_buckets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>

#include "ui/kit/paint.h"
#include "ui/present/format.h"

namespace shardlens::ui {

namespace {

using trace::CollectiveBar;
using trace::RankTimeline;
using trace::ReadyMark;
using trace::TimeClass;

bool under_mouse(const TimelineCanvas& c, const Rect& r) {
  return c.mouse_inside && r.contains(c.mouse_x, c.mouse_y) &&
         c.plot.contains(c.mouse_x, c.mouse_y);
}

bool visible(const TimelineCanvas& c, double start, double end) {
  return end >= c.view.start_ns() && start <= c.view.end_ns();
}

Rect span_rect(const TimelineCanvas& c, double start, double end, float y, float h) {
  const float x0 = std::max(std::floor(c.x(start)), c.plot.x - 1);
  const float x1 = std::min(std::max(std::floor(c.x(end)), x0 + 1), c.plot.right() + 1);
  return {x0, y, x1 - x0, h};
}

TimelineItem collective_item(const RankTimeline& rank, const CollectiveBar& bar) {
  TimelineItem item;
  item.kind = TimelineItem::Kind::kCollective;
  item.rank = rank.rank;
  item.collective = bar;
  item.start_ns = static_cast<double>(bar.start_ns);
  item.end_ns = static_cast<double>(bar.end_ns);
  return item;
}

void label_collective(const TimelineCanvas& c, const Rect& r, const CollectiveBar& bar, Rgb under) {
  const Rgb ink = text_on(under);
  const BarLabel label = collective_label(bar);
  for (const std::string& text : {label.full, label.brief}) {
    if (label_in(c.theme, r.inset(c.theme.px(3), 0), Face::kSmall, ink, text, Align::kCenter) > 0) {
      return;
    }
  }
}

Rgb main_color(const Palette& p, const CollectiveBar& bar) {
  return bar.exposed_ns > bar.overlapped_ns ? p.exposed : p.overlapped;
}

const CollectiveBar* reduction_of(const RankTimeline& rank, const ReadyMark& mark) {
  const auto bars = reductions_of(rank, mark);
  return bars.empty() ? nullptr : bars.front();
}

// "blocks.3" of "blocks.3 forward gather".
std::string unit_of(const CollectiveBar& bar) {
  return bar.unit ? bar.unit->name : bar.label.substr(0, bar.label.find(' '));
}

// "blocks.3", "3": the longest that fits.
void label_unit(const TimelineCanvas& c, const Rect& r, const std::string& unit, Rgb ink) {
  const auto dot = unit.find('.');
  const std::string number = dot == std::string::npos ? std::string() : unit.substr(dot + 1);
  for (const std::string& label : {unit, number}) {
    if (label.empty()) continue;
    if (label_in(c.theme, r.inset(c.theme.px(3), 0), Face::kSmall, ink, label, Align::kCenter) >
        0) {
      return;
    }
  }
}

void draw_gather(const TimelineCanvas& c, const CollectiveBar& bar, float y) {
  const Palette& p = c.theme.colors();
  const float top = y + c.theme.px(10), height = c.theme.px(c.heights.buckets) - c.theme.px(10);
  Rect r =
      span_rect(c, static_cast<double>(bar.start_ns), static_cast<double>(bar.end_ns), top, height);
  if (r.w >= 4) r.w -= 1;
  const float strength = is_prefetched(bar) ? 0.55f : 1.0f;
  outline(r, color(p.text_muted, strength), 2);
  if (r.h >= c.theme.px(12)) label_unit(c, r, unit_of(bar), p.text_muted);
  shape(is_backward(bar) ? Shape::kLeft : Shape::kRight, r.x + r.w / 2, y + c.theme.px(4),
        c.theme.px(6), color(p.text_muted, strength));
}

// Where no wait is known none is drawn.
std::int64_t waited_until_ns(const CollectiveBar& bar) {
  return std::clamp(bar.waits_until_ns.value_or(bar.start_ns), bar.start_ns,
                    std::max(bar.start_ns, bar.end_ns));
}

void draw_waiting(const TimelineCanvas& c, const CollectiveBar& bar, float y, float height) {
  const Palette& p = c.theme.colors();
  const auto start = static_cast<double>(bar.start_ns);
  const auto until = static_cast<double>(waited_until_ns(bar));
  if (until <= start) return;
  const Rect r = span_rect(c, start, until, y, height);
  if (r.w < 2) return;
  const Rgb hue = main_color(p, bar);
  fill(r, color(mix(p.panel, hue, 0.22)));
  hatch(c.theme, r, color(hue, 0.55f));
  outline(r, color(hue), 0);
}

// Sizes on the bars of a row, all in one form: the most that they have room for. A bare number
// would read like the bucket's, so then the row's name says the unit.
enum class SizeLabel : std::uint8_t { kWithUnit, kNumber, kNone };

std::string size_text(const ReadyMark& mark, SizeLabel label) {
  const Quantity size = format_bytes(static_cast<double>(mark.bytes));
  return label == SizeLabel::kWithUnit ? size.text() : size.value;
}

SizeLabel size_label(const TimelineCanvas& c, const RankTimeline& rank) {
  std::array<int, 2> fitting{};
  int all = 0;
  std::set<std::string> units;
  for (const ReadyMark& mark : rank.ready) {
    const CollectiveBar* bar = reduction_of(rank, mark);
    if (bar == nullptr) continue;
    const auto start = static_cast<double>(bar->start_ns), end = static_cast<double>(bar->end_ns);
    if (!visible(c, start, end)) continue;
    ++all;
    units.insert(format_bytes(static_cast<double>(mark.bytes)).unit);
    const float room = span_rect(c, start, end, 0, 1).w - c.theme.px(5);
    for (const auto label : {SizeLabel::kWithUnit, SizeLabel::kNumber}) {
      const float width = text_width(c.theme, Face::kSmall, size_text(mark, label));
      fitting[static_cast<std::size_t>(label)] += width <= room ? 1 : 0;
    }
  }
  // Hardly any bar stays empty beside others that say their unit.
  const bool with_unit = 2 * fitting[0] > all;
  const bool number = units.size() == 1 && 2 * fitting[1] > all;
  if (with_unit && (!number || 10 * fitting[0] >= 9 * fitting[1])) return SizeLabel::kWithUnit;
  return number ? SizeLabel::kNumber : SizeLabel::kNone;
}

void draw_bucket_bar(const TimelineCanvas& c, const ReadyMark& mark, const CollectiveBar& bar,
                     float y, float limit, SizeLabel size) {
  const Palette& p = c.theme.colors();
  const float top = y + c.theme.px(10), height = c.theme.px(c.heights.buckets) - c.theme.px(10);
  Rect r =
      span_rect(c, static_cast<double>(bar.start_ns), static_cast<double>(bar.end_ns), top, height);
  if (r.w >= 4) r.w -= 1;
  fill(r, color(p.field), 2);
  outline(r, color(p.idle_edge), 2);
  if (r.h < c.theme.px(12)) return;  // compressed rows: the size stands in the tooltip
  if (mark.kind == trace::TagKind::kUnit) return label_unit(c, r, mark.name, p.text_secondary);
  if (!mark.note.empty()) {
    // Beyond the bar where there is room: the reason matters more than the border.
    const float width = text_width(c.theme, Face::kSmall, mark.note) + c.theme.px(8);
    const Rect wide{r.x, r.y, std::max(r.w, width), r.h};
    if (wide.right() <= limit) {
      fill(wide.inset(1, 1), color(p.field), 2);
      label_in(c.theme, wide.inset(c.theme.px(4), 0), Face::kSmall, p.text_secondary, mark.note);
      return;
    }
  }
  if (size == SizeLabel::kNone) return;
  label_in(c.theme, r.inset(c.theme.px(2), 0), Face::kSmall, p.text_secondary,
           size_text(mark, size), Align::kCenter);
}

// The pieces of collectives of one group; of all without one.
std::vector<trace::Bar> lane_bars(const RankTimeline& rank, std::optional<int> group) {
  if (!group) return rank.communication;
  std::vector<trace::Bar> bars;
  for (const trace::Bar& bar : rank.communication) {
    const auto index = static_cast<std::size_t>(bar.collective);
    if (index < rank.collectives.size() && rank.collectives[index].event.process_group == *group) {
      bars.push_back(bar);
    }
  }
  return bars;
}

std::optional<TimelineItem> draw_lane(const TimelineCanvas& c, float y, const RankTimeline& rank,
                                      std::optional<int> group) {
  const Palette& p = c.theme.colors();
  const float height = c.theme.px(c.heights.communication);
  std::optional<TimelineItem> hovered;
  for (const PixelBar& bar : pixel_bars(lane_bars(rank, group), c.view, c.plot.x, c.plot.w)) {
    const float x0 = std::floor(bar.x0), x1 = std::max(std::floor(bar.x1), x0 + 1);
    fill({x0, y, x1 - x0, height}, color(time_color(p, bar.bar_class)));
  }
  for (const CollectiveBar& bar : rank.collectives) {
    if (group && bar.event.process_group != *group) continue;
    const auto start = static_cast<double>(bar.start_ns), end = static_cast<double>(bar.end_ns);
    if (!visible(c, start, end)) continue;
    const Rect r = span_rect(c, start, end, y, height);
    draw_waiting(c, bar, y, height);
    if (r.w >= 3) line(r.right() - 1, y, r.right() - 1, y + height, color(p.panel));
    const auto moves_from = static_cast<double>(waited_until_ns(bar));
    label_collective(c, span_rect(c, moves_from, end, y, height), bar, main_color(p, bar));
    if (under_mouse(c, r)) hovered = collective_item(rank, bar);
  }
  return hovered;
}

std::optional<TimelineItem> draw_ready_mark(const TimelineCanvas& c, int rank,
                                            const ReadyMark& mark, float y) {
  const float x = std::round(c.x(static_cast<double>(mark.time_ns)));
  shape(Shape::kDown, x, y + c.theme.px(4), c.theme.px(7), color(c.theme.colors().text_secondary));
  const Rect area{x - c.theme.px(5), y, c.theme.px(10), c.theme.px(c.heights.buckets)};
  if (!under_mouse(c, area)) return std::nullopt;
  TimelineItem item;
  item.kind = TimelineItem::Kind::kReady;
  item.rank = rank;
  item.ready = mark;
  item.start_ns = item.end_ns = static_cast<double>(mark.time_ns);
  return item;
}

}  // namespace

std::vector<const CollectiveBar*> reductions_of(const RankTimeline& rank, const ReadyMark& mark) {
  std::vector<const CollectiveBar*> bars;
  for (const CollectiveBar& bar : rank.collectives) {
    const bool is_own = bar.event.tag_kind == mark.kind && bar.event.tag_index == mark.index;
    if (!is_own || is_gather(bar) || bar.end_ns < mark.time_ns) continue;
    // Over the same ranks again: of the next micro-batch.
    if (!bars.empty() && bar.event.process_group == bars.front()->event.process_group) break;
    bars.push_back(&bar);
    if (bars.size() == 2) break;
  }
  return bars;
}

bool has_units(const RankTimeline& rank) {
  return std::any_of(rank.collectives.begin(), rank.collectives.end(),
                     [](const auto& bar) { return bar.event.tag_kind == trace::TagKind::kUnit; });
}

std::string bucket_row_name(const TimelineCanvas& c, const RankTimeline& rank) {
  if (has_units(rank)) return "Units";
  if (rank.ready.empty() || size_label(c, rank) != SizeLabel::kNumber) return "Buckets";
  return "Buckets, " + format_bytes(static_cast<double>(rank.ready.front().bytes)).unit;
}

std::optional<TimelineItem> draw_communication(const TimelineCanvas& c, float y,
                                               const RankTimeline& rank) {
  if (rank.lanes.size() <= 1) return draw_lane(c, y, rank, std::nullopt);
  std::optional<TimelineItem> hovered;
  for (const trace::CommunicationLane& lane : rank.lanes) {
    if (auto item = draw_lane(c, y, rank, lane.group)) hovered = std::move(item);
    y += c.theme.px(c.heights.communication) + c.theme.px(c.heights.lane_gap);
  }
  return hovered;
}

std::optional<TimelineItem> draw_buckets(const TimelineCanvas& c, float y,
                                         const RankTimeline& rank) {
  std::optional<TimelineItem> hovered;
  std::vector<ReadyMark> marks = rank.ready;
  std::sort(marks.begin(), marks.end(),
            [](const ReadyMark& a, const ReadyMark& b) { return a.time_ns < b.time_ns; });
  for (const CollectiveBar& bar : rank.collectives) {
    if (!is_gather(bar)) continue;
    const auto start = static_cast<double>(bar.start_ns), end = static_cast<double>(bar.end_ns);
    if (!visible(c, start, end)) continue;
    draw_gather(c, bar, y);
    const Rect area = span_rect(c, start, end, y, c.theme.px(c.heights.buckets));
    if (under_mouse(c, area)) hovered = collective_item(rank, bar);
  }
  const SizeLabel size = size_label(c, rank);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const ReadyMark& mark = marks[i];
    for (const CollectiveBar* bar : reductions_of(rank, mark)) {
      if (!visible(c, static_cast<double>(bar->start_ns), static_cast<double>(bar->end_ns)))
        continue;
      float limit = c.plot.right();
      if (i + 1 < marks.size()) {
        const auto* next = reduction_of(rank, marks[i + 1]);
        if (next != nullptr) limit = c.x(static_cast<double>(next->start_ns));
      }
      draw_bucket_bar(c, mark, *bar, y, std::min(limit, c.plot.right()), size);
    }
    if (auto item = draw_ready_mark(c, rank.rank, mark, y)) hovered = std::move(item);
  }
  return hovered;
}

}  // namespace shardlens::ui
