#include <algorithm>
#include <cmath>
#include <string>

#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/axis.h"
#include "ui/present/format.h"
#include "ui/present/headline.h"
#include "ui/present/memory_stack.h"
#include "ui/tune/panels.h"

namespace shardlens::ui::tune {

namespace {

constexpr std::size_t kMostInTooltip = 8;  // ranks, one below the other
constexpr float kLowestBars = 96;          // with names alone; what sums to a table leaves more
constexpr float kLowestBarsOverTable = 190;

std::string in_unit(double bytes, const present::SizeUnit& unit) {
  const double value = bytes / unit.bytes;
  return value == 0       ? "0"
         : value >= 99.95 ? present::format_integer(std::llround(value))
                          : present::format_number(value);
}

double axis_top(const present::MemoryStacks& stacks) { return stacks.top * 1.02; }

float y_of(const state::Rect& column, const present::MemoryStacks& stacks, double bytes) {
  return std::round(column.bottom() - static_cast<float>(bytes / axis_top(stacks)) * column.h);
}

void draw_axis(const kit::Theme& theme, const state::Rect& plot,
               const present::MemoryStacks& stacks, const present::SizeUnit& unit) {
  const double step = present::nice_binary_step(
      stacks.top / unit.bytes, std::max(2, static_cast<int>(plot.h / theme.px(64))));
  for (double tick = 0; tick * unit.bytes <= axis_top(stacks); tick += step) {
    kit::tick_left(theme, plot, y_of(plot, stacks, tick * unit.bytes), present::format_plain(tick));
  }
}

void label_part(const kit::Theme& theme, const state::Rect& r, const present::MemoryPart& part,
                state::Rgb fill_color, const present::SizeUnit& unit) {
  if (r.h < theme.px(15)) return;
  const state::Rgb ink = state::text_on(fill_color);
  const state::Rect inner = r.inset(theme.px(4), 0);
  const std::string value = in_unit(part.bytes, unit);
  const std::string name(present::memory_name(part.category));
  if (r.h >= theme.px(32) && kit::text_width(theme, kit::Face::kSmall, name) <= inner.w) {
    state::Rect lines = inner.inset(0, (inner.h - theme.px(28)) / 2);
    kit::label_in(theme, lines.take_top(theme.px(14)), kit::Face::kSmall, ink, name,
                  kit::Align::kCenter);
    kit::label_in(theme, lines, kit::Face::kMonoSmall, ink, value, kit::Align::kCenter);
    return;
  }
  if (kit::label_in(theme, inner, kit::Face::kSmall, ink, name, kit::Align::kCenter) > 0) return;
  kit::label_in(theme, inner, kit::Face::kMonoSmall, ink, value, kit::Align::kCenter);
}

// What the next run would take says more than what this one was estimated to.
double dashed_bytes(const present::MemoryBar& bar) {
  return bar.predicted > 0 ? bar.predicted : bar.estimate;
}

void draw_bar_tooltip(const kit::Theme& theme, const present::MemoryBar& bar,
                      const std::string& source) {
  const state::Palette& p = theme.colors();
  const kit::TooltipScope scope(theme);
  scope.title("Rank " + std::to_string(bar.rank) + " at its peak memory");
  for (auto part = bar.parts.rbegin(); part != bar.parts.rend(); ++part) {
    const state::Rgb swatch = state::memory_color(p, part->category);
    scope.row(&swatch, present::memory_name(part->category),
              present::format_bytes(part->bytes).text());
  }
  for (const auto category : bar.untold) {
    scope.row(present::memory_name(category), present::part_text(bar, category));
  }
  scope.row("Peak", present::format_bytes(bar.peak).text());
  if (bar.now > 0) scope.row("PyTorch now (tick)", present::format_bytes(bar.now).text());
  if (bar.estimate > 0)
    scope.row(bar.predicted > 0 ? "Estimate" : "Estimate (dashed)",
              present::format_bytes(bar.estimate).text());
  if (bar.predicted > 0) {
    scope.row("Predicted next (dashed)", present::format_bytes(bar.predicted).text());
  }
  scope.note("All categories at the moment of this rank's peak, so that they sum to it");
  scope.note(source);
}

void draw_bar(const kit::Theme& theme, const state::Rect& column, const present::MemoryBar& bar,
              const present::SizeUnit& unit, const present::MemoryStacks& stacks) {
  const state::Palette& p = theme.colors();
  double sum = 0;
  for (const present::MemoryPart& part : bar.parts) {
    const float bottom = y_of(column, stacks, sum),
                part_top = y_of(column, stacks, sum + part.bytes);
    sum += part.bytes;
    const state::Rgb hue = state::memory_color(p, part.category);
    const float gap = bottom - part_top >= 4 ? 1.0f : 0.0f;
    const state::Rect r{column.x, part_top + gap, column.w, bottom - part_top - gap};
    kit::fill(r, kit::color(hue));
    label_part(theme, r, part, hue, unit);
  }
  if (bar.now > 0) {
    const float y = y_of(column, stacks, bar.now);
    const float tick = std::min(theme.px(5), column.w * 0.18f);  // short of the next rank's
    const float thickness = std::max(2.0f, theme.px(2));
    kit::line(column.x - tick, y, column.x, y, kit::color(p.text), thickness);
    kit::line(column.right(), y, column.right() + tick, y, kit::color(p.text), thickness);
  }
  float label_y = y_of(column, stacks, bar.peak);
  if (const double dashed = dashed_bytes(bar); dashed > 0) {
    const float y = y_of(column, stacks, dashed);
    const float apart = std::min(theme.px(3), std::floor(column.w * 0.15f));
    kit::dashed_outline(theme, {column.x - apart, y, column.w + 2 * apart, column.bottom() - y},
                        kit::color(p.changed));
    label_y = std::min(label_y, y);
  }
  kit::text_in(
      theme,
      {column.x - theme.px(12), label_y - theme.px(18), column.w + theme.px(24), theme.px(14)},
      kit::Face::kMonoSmall, p.text, in_unit(bar.peak, unit), kit::Align::kCenter);
  if (kit::hovers(column)) draw_bar_tooltip(theme, bar, stacks.source);
}

// Of those that have no bar of their own: from the lowest peak to the highest.
void draw_rest(const kit::Theme& theme, const state::Rect& column, const present::MemoryFold& fold,
               const present::MemoryStacks& stacks) {
  const state::Palette& p = theme.colors();
  const float least = y_of(column, stacks, fold.least), most = y_of(column, stacks, fold.most);
  kit::fill({column.x, least, column.w, column.bottom() - least}, kit::color(p.field), theme.px(2));
  kit::fill({column.x, most, column.w, std::max(2.0f, least - most)}, kit::color(p.idle_edge),
            theme.px(2));
  if (!kit::hovers(column)) return;
  const kit::TooltipScope scope(theme);
  scope.title(present::format_integer(static_cast<std::int64_t>(fold.rest)) + " more ranks");
  scope.row("Highest peak", present::format_bytes(fold.most).text());
  scope.row("Lowest peak", present::format_bytes(fold.least).text());
  scope.note("The highest peaks have bars of their own, the highest first");
}

void draw_bars(const kit::Theme& theme, state::Rect area, const present::MemoryStacks& stacks) {
  const state::Palette& p = theme.colors();
  const present::SizeUnit unit = present::size_unit(stacks.top);
  // A bar is at least as wide as the figure above it.
  const float least_pitch = kit::text_width(theme, kit::Face::kMonoSmall, "00.00") + theme.px(6);
  const float chart = area.w - theme.px(40);
  const auto room = static_cast<std::size_t>(std::max(1.0f, std::floor(chart / least_pitch)));
  const present::MemoryFold fold = present::folded_bars(stacks, room);
  if (fold.rest > 0) {
    kit::note_in(theme, area.take_bottom(theme.px(18)), present::rest_text(fold),
                 kit::Align::kRight);
  }
  state::Rect names = area.take_bottom(theme.px(18));
  area.take_top(theme.px(18));
  area.take_left(theme.px(40));
  draw_axis(theme, area, stacks, unit);
  const std::size_t count = fold.shown.size() + (fold.rest > 0 ? 1 : 0);
  const float pitch = area.w / static_cast<float>(count);
  const float width = std::floor(std::clamp(pitch * 0.68f, theme.px(6), theme.px(112)));
  const bool full_names =
      pitch > kit::text_width(theme, kit::Face::kSmall, "rank 000") + theme.px(4);
  for (std::size_t i = 0; i < count; ++i) {
    const float center = area.x + pitch * (static_cast<float>(i) + 0.5f);
    const state::Rect column{std::floor(center - width / 2), area.y, width, area.h};
    std::string name = "more";
    if (i < fold.shown.size()) {
      const present::MemoryBar& bar = stacks.bars[fold.shown[i]];
      draw_bar(theme, column, bar, unit, stacks);
      name = (full_names ? "rank " : "") + std::to_string(bar.rank);
    } else {
      draw_rest(theme, column, fold, stacks);
    }
    kit::text_in(theme, {center - pitch / 2, names.y, pitch, names.h}, kit::Face::kSmall,
                 p.text_secondary, name, kit::Align::kCenter);
  }
}

float table_height(const kit::Theme& theme, const present::MemoryStacks& stacks) {
  return theme.px(19) * static_cast<float>(stacks.categories.size() + 1) + theme.px(12);
}

// Categories peak at different times: gradients may be gone when activations are at their highest.
void explain_category(const kit::Theme& theme, const state::Rect& row,
                      trace::model::MemoryCategory category, const present::MemoryStacks& stacks) {
  if (!kit::hovers(row)) return;
  const kit::TooltipScope scope(theme);
  scope.title(present::memory_name(category));
  scope.note(present::memory_definition(category));
  present::MemoryStacks own = stacks;
  for (present::MemoryBar& bar : own.bars) {
    bar.peak = bar.category_peaks[static_cast<std::size_t>(category)];
  }
  const present::MemoryFold fold = present::folded_bars(own, kMostInTooltip);
  for (const std::size_t i : fold.shown) {
    const present::MemoryBar& bar = own.bars[i];
    scope.row("Own peak on rank " + std::to_string(bar.rank),
              present::format_bytes(bar.peak).text());
  }
  if (fold.rest > 0) scope.note(present::rest_text(fold));
  scope.note(stacks.source);
}

void draw_table(const kit::Theme& theme, state::Rect area, const present::MemoryStacks& stacks) {
  const state::Palette& p = theme.colors();
  const present::MemoryBar& bar = stacks.bars[stacks.largest];
  area.take_top(theme.px(6));
  state::Rect total = area.take_top(theme.px(19));
  kit::text_in(theme, total, kit::Face::kMedium, p.text,
               "Peak memory, rank " + std::to_string(bar.rank));
  kit::text_in(theme, total, kit::Face::kMono, p.text, present::format_bytes(bar.peak).text(),
               kit::Align::kRight);
  // As in the bars: what is on top stands first.
  for (auto category = stacks.categories.rbegin(); category != stacks.categories.rend();
       ++category) {
    if (area.h < theme.px(18)) return;
    state::Rect row = area.take_top(theme.px(19));
    explain_category(theme, row, *category, stacks);
    kit::fill(kit::take_swatch(theme, row, 10, 8), kit::color(state::memory_color(p, *category)),
              theme.px(2));
    kit::take_text(theme, row, theme.px(8), kit::Face::kMono, p.text,
                   present::part_text(bar, *category), kit::Align::kRight);
    kit::text_in(theme, row, kit::Face::kBody, p.text_secondary, present::memory_name(*category));
  }
}

void draw_name(const kit::Theme& theme, state::Rect row, float mark_width,
               trace::model::MemoryCategory category, const present::MemoryStacks& stacks) {
  explain_category(theme, row, category, stacks);
  const state::Rect mark = row.take_left(mark_width);
  kit::fill({mark.x, std::round(mark.center_y() - theme.px(4)), theme.px(8), theme.px(8)},
            kit::color(state::memory_color(theme.colors(), category)), theme.px(2));
  kit::text_in(theme, row, kit::Face::kSmall, theme.colors().text_secondary,
               present::memory_name(category));
}

// In place of the table where that would leave the bars too low: names that flow like words, those
// of parts that can be seen. Returns their height; `draws`: into `area`, else that alone.
float flow_names(const kit::Theme& theme, const state::Rect& area,
                 const present::MemoryStacks& stacks, bool draws) {
  const float line = theme.px(17), mark = theme.px(13), above = theme.px(6);
  float x = 0, y = above;
  const auto& parts = stacks.bars[stacks.largest].parts;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const float width =
        mark + kit::text_width(theme, kit::Face::kSmall, present::memory_name(part->category));
    if (x > 0 && x + width > area.w) x = 0, y += line;
    if (draws) {
      draw_name(theme, {area.x + x, area.y + y, width, line}, mark, part->category, stacks);
    }
    x += width + theme.px(12);
  }
  return y + line;
}

void draw_estimate(const kit::Theme& theme, const state::Rect& row, const present::MemoryBar& bar) {
  const std::string predicted = present::predicted_note(bar);
  const std::string note = predicted.empty() ? present::estimate_note(bar) : predicted;
  if (note.empty()) return;
  state::Rect box = row;
  const state::Rect mark = box.take_left(theme.px(14), theme.px(6));
  const float y = std::round(mark.center_y());
  kit::dashed_line(theme, mark.x, y, mark.right(), y, kit::color(theme.colors().changed));
  kit::note_in(theme, box, note);
  if (!predicted.empty()) {
    return kit::explain(theme, row, "Predicted memory",
                        "As measured, and by how much the estimates for these settings and the "
                        "next ones differ",
                        "Dashed outline around each bar");
  }
  kit::explain(
      theme, row, "Estimate",
      "From the settings and the model's shape alone, as if every sequence were full; what lies "
      "outside PyTorch as measured at the peak",
      "Dashed outline around each bar");
}

bool has_ended(const state::Snapshot& snapshot) {
  return snapshot.run && snapshot.run->figures.info.status != trace::model::RunStatus::kRunning;
}

bool draw_empty(const kit::Theme& theme, const state::Rect& area, const state::Snapshot& snapshot,
                const present::MemoryStacks& stacks) {
  if (!stacks.bars.empty()) return false;
  const bool is_over = has_ended(snapshot);
  const state::Rect box = area.inset(theme.px(16), 0);
  kit::note_in(theme, box, is_over ? "No memory was recorded" : "No memory recorded yet",
               kit::Align::kCenter);
  return true;
}

present::MemoryStacks stacks_of(const state::Snapshot& snapshot) {
  if (!snapshot.run) return {};
  const bool goes_on = snapshot.run->is_live || snapshot.replay.active;
  present::MemoryStacks stacks = present::memory_stacks(snapshot.run->figures.ranks, goes_on);
  stacks.source = present::memory_source(snapshot.run->figures);
  if (snapshot.prediction && snapshot.prediction->prediction) {
    present::add_predicted(stacks, *snapshot.prediction->prediction);
  }
  return stacks;
}

}  // namespace

bool lacks_memory(const state::Snapshot& snapshot) {
  return has_ended(snapshot) && stacks_of(snapshot).bars.empty();
}

void draw_memory_panel(const kit::Theme& theme, const state::Rect& rect,
                       const state::Snapshot& snapshot) {
  const present::MemoryStacks stacks = stacks_of(snapshot);
  const std::string_view unit = stacks.bars.empty() ? "" : present::size_unit(stacks.top).name;
  const kit::Panel panel(theme, "memory", rect, {.title = "Memory per rank", .note = unit});
  if (draw_empty(theme, panel.body, snapshot, stacks)) return;
  state::Rect rest = panel.body;
  draw_estimate(theme, rest.take_bottom(theme.px(24)), stacks.bars[stacks.largest]);
  const float table = table_height(theme, stacks);
  if (rest.h - table > theme.px(kLowestBarsOverTable)) {
    draw_table(theme, rest.take_bottom(table), stacks);
  } else if (const float names = flow_names(theme, rest, stacks, false);
             rest.h - names > theme.px(kLowestBars)) {
    flow_names(theme, rest.take_bottom(names), stacks, true);
  }
  draw_bars(theme, rest, stacks);
}

void draw_memory_wide(const kit::Theme& theme, const state::Rect& rect,
                      const state::Snapshot& snapshot) {
  const present::MemoryStacks stacks = stacks_of(snapshot);
  if (draw_empty(theme, rect, snapshot, stacks)) return;
  state::Rect rest = rect;
  state::Rect side = rest.take_right(theme.px(260), theme.px(24));
  draw_estimate(theme, side.take_bottom(theme.px(24)), stacks.bars[stacks.largest]);
  draw_table(theme, side, stacks);
  draw_bars(theme, rest, stacks);
}

}  // namespace shardlens::ui::tune
