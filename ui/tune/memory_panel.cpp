#include "ui/tune/memory_panel.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/axis.h"
#include "ui/present/format.h"
#include "ui/present/headline.h"
#include "ui/present/memory_stack.h"

namespace shardlens::ui {

namespace {

constexpr std::size_t kMostInTooltip = 8;  // ranks, one below the other

// Sizes on one axis share its unit.
struct Unit {
  double divisor = 1024.0 * 1024;
  std::string_view name = "MiB";
};

Unit unit_for(double bytes) {
  if (bytes >= 1024.0 * 1024 * 1024) return {1024.0 * 1024 * 1024, "GiB"};
  if (bytes >= 1024.0 * 1024) return {};
  return {1024.0, "KiB"};
}

std::string in_unit(double bytes, const Unit& unit) {
  const double value = bytes / unit.divisor;
  return value == 0       ? "0"
         : value >= 99.95 ? format_integer(std::llround(value))
                          : format_number(value);
}

double axis_top(const MemoryStacks& stacks) { return stacks.top * 1.02; }

Rgb part_color(const Palette& p, trace::MemoryCategory category) {
  return p.memory[static_cast<std::size_t>(category)];
}

void draw_axis(const Theme& theme, const Rect& plot, const MemoryStacks& stacks, const Unit& unit,
               double top) {
  const Palette& p = theme.colors();
  const double step = nice_binary_step(stacks.top / unit.divisor,
                                       std::max(2, static_cast<int>(plot.h / theme.px(64))));
  for (double tick = 0; tick * unit.divisor <= top; tick += step) {
    const float y =
        std::round(plot.bottom() - static_cast<float>(tick * unit.divisor / top) * plot.h);
    line(plot.x, y, plot.right(), y, color(p.grid));
    text_in(theme, {plot.x - theme.px(44), y - theme.px(7), theme.px(38), theme.px(14)},
            Face::kMonoSmall, p.text_muted, format_plain(tick), Align::kRight);
  }
}

void label_part(const Theme& theme, const Rect& r, const MemoryPart& part, Rgb fill_color,
                const Unit& unit) {
  if (r.h < theme.px(15)) return;
  const Rgb ink = text_on(fill_color);
  const Rect inner = r.inset(theme.px(4), 0);
  const std::string value = in_unit(part.bytes, unit);
  const std::string name(memory_name(part.category));
  if (r.h >= theme.px(32) && text_width(theme, Face::kSmall, name) <= inner.w) {
    Rect lines = inner.inset(0, (inner.h - theme.px(28)) / 2);
    label_in(theme, lines.take_top(theme.px(14)), Face::kSmall, ink, name, Align::kCenter);
    label_in(theme, lines, Face::kMonoSmall, ink, value, Align::kCenter);
    return;
  }
  if (label_in(theme, inner, Face::kSmall, ink, name, Align::kCenter) > 0) return;
  label_in(theme, inner, Face::kMonoSmall, ink, value, Align::kCenter);
}

void draw_bar_tooltip(const Theme& theme, const MemoryBar& bar, const std::string& source) {
  const Palette& p = theme.colors();
  const TooltipScope scope(theme);
  scope.title("Rank " + std::to_string(bar.rank) + " at its peak");
  for (auto part = bar.parts.rbegin(); part != bar.parts.rend(); ++part) {
    const Rgb swatch = part_color(p, part->category);
    scope.row(&swatch, memory_name(part->category), format_bytes(part->bytes).text());
  }
  for (const auto category : bar.untold) {
    scope.row(nullptr, memory_name(category), part_text(bar, category));
  }
  scope.row(nullptr, "Peak", format_bytes(bar.peak).text());
  if (bar.now > 0) scope.row(nullptr, "PyTorch now (tick)", format_bytes(bar.now).text());
  if (bar.estimate > 0) scope.row(nullptr, "Estimate (dashed)", format_bytes(bar.estimate).text());
  scope.note("All categories at the moment of this rank's peak, so that they sum to it");
  scope.note(source);
}

void draw_bar(const Theme& theme, const Rect& column, const MemoryBar& bar, const Unit& unit,
              const MemoryStacks& stacks) {
  const Palette& p = theme.colors();
  const double top = axis_top(stacks);
  const auto y_of = [&](double bytes) {
    return std::round(column.bottom() - static_cast<float>(bytes / top) * column.h);
  };
  double sum = 0;
  for (const MemoryPart& part : bar.parts) {
    const float bottom = y_of(sum), part_top = y_of(sum + part.bytes);
    sum += part.bytes;
    const Rgb hue = part_color(p, part.category);
    const float gap = bottom - part_top >= 4 ? 1.0f : 0.0f;
    const Rect r{column.x, part_top + gap, column.w, bottom - part_top - gap};
    fill(r, color(hue));
    label_part(theme, r, part, hue, unit);
  }
  if (bar.now > 0) {
    const float y = y_of(bar.now);
    const float tick = std::min(theme.px(5), column.w * 0.18f);  // short of the next rank's
    const float thickness = std::max(2.0f, theme.px(2));
    line(column.x - tick, y, column.x, y, color(p.text), thickness);
    line(column.right(), y, column.right() + tick, y, color(p.text), thickness);
  }
  float label_y = y_of(bar.peak);
  if (bar.estimate > 0) {
    const float y = y_of(bar.estimate);
    const float apart = std::min(theme.px(3), std::floor(column.w * 0.15f));
    dashed_outline(theme, {column.x - apart, y, column.w + 2 * apart, column.bottom() - y},
                   color(p.changed));
    label_y = std::min(label_y, y);
  }
  text_in(theme,
          {column.x - theme.px(12), label_y - theme.px(18), column.w + theme.px(24), theme.px(14)},
          Face::kMonoSmall, p.text, in_unit(bar.peak, unit), Align::kCenter);
  if (hovers(column)) draw_bar_tooltip(theme, bar, stacks.source);
}

// Of those that have no bar of their own: from the lowest peak to the highest.
void draw_rest(const Theme& theme, const Rect& column, const MemoryFold& fold,
               const MemoryStacks& stacks) {
  const Palette& p = theme.colors();
  const double top = axis_top(stacks);
  const auto y_of = [&](double bytes) {
    return std::round(column.bottom() - static_cast<float>(bytes / top) * column.h);
  };
  const float least = y_of(fold.least), most = y_of(fold.most);
  fill({column.x, least, column.w, column.bottom() - least}, color(p.field), theme.px(2));
  fill({column.x, most, column.w, std::max(2.0f, least - most)}, color(p.idle_edge), theme.px(2));
  if (!hovers(column)) return;
  const TooltipScope scope(theme);
  scope.title(format_integer(static_cast<std::int64_t>(fold.rest)) + " more ranks");
  scope.row(nullptr, "Highest peak", format_bytes(fold.most).text());
  scope.row(nullptr, "Lowest peak", format_bytes(fold.least).text());
  scope.note("The highest peaks have bars of their own, the highest first");
}

void draw_bars(const Theme& theme, Rect area, const MemoryStacks& stacks) {
  const Palette& p = theme.colors();
  const Unit unit = unit_for(stacks.top);
  // A bar is at least as wide as the figure above it.
  const float least_pitch = text_width(theme, Face::kMonoSmall, "00.00") + theme.px(6);
  const float chart = area.w - theme.px(40);
  const auto room = static_cast<std::size_t>(std::max(1.0f, std::floor(chart / least_pitch)));
  const MemoryFold fold = folded_bars(stacks, room);
  if (fold.rest > 0) {
    text_in(theme, area.take_bottom(theme.px(18)), Face::kSmall, p.text_muted, rest_text(fold),
            Align::kRight);
  }
  Rect names = area.take_bottom(theme.px(18));
  area.take_top(theme.px(18));
  area.take_left(theme.px(40));
  draw_axis(theme, area, stacks, unit, axis_top(stacks));
  const std::size_t count = fold.shown.size() + (fold.rest > 0 ? 1 : 0);
  const float pitch = area.w / static_cast<float>(count);
  const float width = std::floor(std::clamp(pitch * 0.68f, theme.px(6), theme.px(112)));
  const bool full_names = pitch > text_width(theme, Face::kSmall, "rank 000") + theme.px(4);
  for (std::size_t i = 0; i < count; ++i) {
    const float center = area.x + pitch * (static_cast<float>(i) + 0.5f);
    const Rect column{std::floor(center - width / 2), area.y, width, area.h};
    std::string name = "more";
    if (i < fold.shown.size()) {
      const MemoryBar& bar = stacks.bars[fold.shown[i]];
      draw_bar(theme, column, bar, unit, stacks);
      name = (full_names ? "rank " : "") + std::to_string(bar.rank);
    } else {
      draw_rest(theme, column, fold, stacks);
    }
    text_in(theme, {center - pitch / 2, names.y, pitch, names.h}, Face::kSmall, p.text_secondary,
            name, Align::kCenter);
  }
}

float table_height(const Theme& theme, const MemoryStacks& stacks) {
  return theme.px(19) * static_cast<float>(stacks.categories.size() + 1) + theme.px(12);
}

// Categories peak at different times: gradients may be gone when activations are at their highest.
void explain_category(const Theme& theme, const Rect& row, trace::MemoryCategory category,
                      const MemoryStacks& stacks) {
  if (!hovers(row)) return;
  const TooltipScope scope(theme);
  scope.title(memory_name(category));
  scope.note(memory_definition(category));
  MemoryStacks own = stacks;
  for (MemoryBar& bar : own.bars) {
    bar.peak = bar.category_peaks[static_cast<std::size_t>(category)];
  }
  const MemoryFold fold = folded_bars(own, kMostInTooltip);
  for (const std::size_t i : fold.shown) {
    const MemoryBar& bar = own.bars[i];
    scope.row(nullptr, "Own peak on rank " + std::to_string(bar.rank),
              format_bytes(bar.peak).text());
  }
  if (fold.rest > 0) scope.note(rest_text(fold));
  scope.note(stacks.source);
}

void draw_table(const Theme& theme, Rect area, const MemoryStacks& stacks) {
  const Palette& p = theme.colors();
  const MemoryBar& bar = stacks.bars[stacks.largest];
  area.take_top(theme.px(6));
  Rect total = area.take_top(theme.px(19));
  text_in(theme, total, Face::kMedium, p.text, "Peak, rank " + std::to_string(bar.rank));
  text_in(theme, total, Face::kMono, p.text, format_bytes(bar.peak).text(), Align::kRight);
  // As in the bars: what is on top stands first.
  for (auto category = stacks.categories.rbegin(); category != stacks.categories.rend();
       ++category) {
    if (area.h < theme.px(18)) return;
    Rect row = area.take_top(theme.px(19));
    explain_category(theme, row, *category, stacks);
    const Rect mark = row.take_left(theme.px(10), theme.px(8));
    fill({mark.x, std::round(mark.center_y() - mark.w / 2), mark.w, mark.w},
         color(part_color(p, *category)), theme.px(2));
    const float width =
        text_in(theme, row, Face::kMono, p.text, part_text(bar, *category), Align::kRight);
    row.take_right(width, theme.px(8));
    text_in(theme, row, Face::kBody, p.text_secondary, memory_name(*category));
  }
}

void draw_estimate(const Theme& theme, const Rect& row, const MemoryBar& bar) {
  const std::string note = estimate_note(bar);
  if (note.empty()) return;
  Rect box = row;
  const Rect mark = box.take_left(theme.px(14), theme.px(6));
  const float y = std::round(mark.center_y());
  dashed_line(theme, mark.x, y, mark.right(), y, color(theme.colors().changed));
  text_in(theme, box, Face::kSmall, theme.colors().text_muted, note);
  explain(
      theme, row, "Estimate",
      "From the settings and the model's shape alone, as if every sequence were full; what lies "
      "outside PyTorch as measured at the peak",
      "Dashed outline around each bar");
}

bool draw_empty(const Theme& theme, const Rect& area, const Snapshot& snapshot,
                const MemoryStacks& stacks) {
  if (!stacks.bars.empty()) return false;
  const bool is_over =
      snapshot.run && snapshot.run->figures.info.status != trace::RunStatus::kRunning;
  const Rect box = area.inset(theme.px(16), 0);
  text_in(theme, box, Face::kSmall, theme.colors().text_muted,
          is_over ? "No memory was recorded" : "No memory recorded yet", Align::kCenter);
  return true;
}

MemoryStacks stacks_of(const Snapshot& snapshot) {
  if (!snapshot.run) return {};
  const bool goes_on = snapshot.run->is_live || snapshot.replay.active;
  MemoryStacks stacks = memory_stacks(snapshot.run->figures.ranks, goes_on);
  stacks.source = memory_source(snapshot.run->figures);
  return stacks;
}

}  // namespace

void draw_memory_panel(const Theme& theme, const Rect& rect, const Snapshot& snapshot) {
  const MemoryStacks stacks = stacks_of(snapshot);
  const std::string_view unit = stacks.bars.empty() ? "" : unit_for(stacks.top).name;
  const Panel panel(theme, "memory", rect, {.title = "Memory per rank", .note = unit});
  if (draw_empty(theme, panel.body, snapshot, stacks)) return;
  Rect rest = panel.body;
  draw_estimate(theme, rest.take_bottom(theme.px(24)), stacks.bars[stacks.largest]);
  const float table = table_height(theme, stacks);
  if (rest.h - table > theme.px(96)) draw_table(theme, rest.take_bottom(table), stacks);
  draw_bars(theme, rest, stacks);
}

void draw_memory_wide(const Theme& theme, const Rect& rect, const Snapshot& snapshot) {
  const MemoryStacks stacks = stacks_of(snapshot);
  if (draw_empty(theme, rect, snapshot, stacks)) return;
  Rect rest = rect;
  Rect side = rest.take_right(theme.px(260), theme.px(24));
  draw_estimate(theme, side.take_bottom(theme.px(24)), stacks.bars[stacks.largest]);
  draw_table(theme, side, stacks);
  draw_bars(theme, rest, stacks);
}

}  // namespace shardlens::ui
