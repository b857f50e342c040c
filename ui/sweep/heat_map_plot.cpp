#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ui/kit/widgets.h"
#include "ui/present/sweep/sweep_words.h"
#include "ui/sweep/sweep_plots.h"

namespace shardlens::ui::sweep {

namespace {

using present::HeatMap;

constexpr float kHeads = 40, kScale = 24, kCellGap = 2;
constexpr float kWidestRowHead = 150, kCellLine = 16, kLargeCellLine = 20, kLargeCell = 90;

// One neutral hue, the slower the stronger: it reads the same to every eye.
state::Rgb heat_color(const state::Palette& p, float shade) {
  return state::mix(p.field, p.text_secondary, 0.06 + 0.62 * shade);
}

void draw_cell(const kit::Theme& theme, const state::Rect& box, const HeatMap::Cell& cell,
               bool is_selected) {
  const state::Palette& p = theme.colors();
  const state::Rgb back = cell.shade ? heat_color(p, *cell.shade) : p.panel;
  kit::fill(box, kit::color(back), theme.px(3));
  state::Rgb ink = cell.shade ? state::text_on(back) : p.text_muted;
  if (cell.is_prediction) {
    kit::dashed_outline(theme, box.inset(1, 1), kit::color(p.changed));
    ink = p.changed;
  } else if (!cell.shade) {
    kit::outline(box, kit::color(p.panel_edge), theme.px(3));
    if (!cell.text.empty()) ink = p.danger;
  }
  const bool is_best = !cell.mark.empty();
  if (is_best || is_selected) {
    kit::outline(box, kit::color(is_best ? p.text : p.accent), theme.px(3), theme.px(2));
  }
  struct Line {
    kit::Face face;
    std::string text;
  };
  const bool is_large = std::min(box.h, box.w) > theme.px(kLargeCell);
  const kit::Face figures = is_large ? kit::Face::kMono : kit::Face::kMonoSmall;
  std::vector<Line> lines{{figures, cell.text}};
  if (!cell.interval.empty()) lines.push_back({figures, cell.interval});
  if (is_best) lines.push_back({is_large ? kit::Face::kStrong : kit::Face::kSmall, cell.mark});
  const float line_height = theme.px(is_large ? kLargeCellLine : kCellLine);
  const auto room = static_cast<std::size_t>(std::max(1.0f, box.h / line_height));
  if (lines.size() > room) lines.resize(room);
  const float height = line_height * static_cast<float>(lines.size());
  state::Rect text{box.x, std::round(box.center_y() - height / 2), box.w, height};
  text = text.inset(theme.px(4), 0);
  for (const Line& line : lines) {
    kit::text_in(theme, text.take_top(line_height), line.face, ink, line.text, kit::Align::kCenter);
  }
}

void draw_heat_scale(const kit::Theme& theme, state::Rect row, bool is_for_memory) {
  const state::Palette& p = theme.colors();
  const float best = kit::text_in(theme, row, kit::Face::kSmall, p.text_muted,
                                  is_for_memory ? "least memory" : "fastest");
  row.take_left(best, theme.px(8));
  constexpr int kSteps = 24;
  const float width = std::min(theme.px(120), row.w / 2);
  for (int i = 0; i < kSteps; ++i) {
    const float x = row.x + width * static_cast<float>(i) / kSteps;
    kit::fill({x, row.center_y() - theme.px(5), width / kSteps + 1, theme.px(10)},
              kit::color(heat_color(p, static_cast<float>(i) / (kSteps - 1))));
  }
  row.take_left(width, theme.px(8));
  kit::text_in(theme, row, kit::Face::kSmall, p.text_muted,
               is_for_memory ? "most memory" : "slowest");
}

struct HeatGrid {
  state::Rect area;
  float cell_w = 0, cell_h = 0;
  state::Rect cell(std::size_t row, std::size_t column, float gap) const {
    return {area.x + static_cast<float>(column) * cell_w, area.y + static_cast<float>(row) * cell_h,
            cell_w - gap, cell_h - gap};
  }
};

void draw_heads(const kit::Theme& theme, const HeatGrid& grid, const state::Rect& left,
                const PlotInput& input, const HeatMap& map) {
  const state::Palette& p = theme.colors();
  const float above = grid.area.y - theme.px(kHeads);
  kit::text_in(theme, {grid.area.x, above, grid.area.w, theme.px(16)}, kit::Face::kSmall,
               p.text_muted, present::axis_title(*input.sweep.varied[0]), kit::Align::kCenter);
  kit::text_in(theme, {left.x, above, left.w, theme.px(16)}, kit::Face::kSmall, p.text_muted,
               present::axis_title(*input.sweep.varied[1]));
  for (std::size_t i = 0; i < map.columns.size(); ++i) {
    const state::Rect cell = grid.cell(0, i, theme.px(kCellGap));
    kit::text_in(theme, {cell.x, above + theme.px(18), cell.w, theme.px(18)}, kit::Face::kMonoSmall,
                 p.text_secondary, map.columns[i], kit::Align::kCenter);
  }
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    const state::Rect cell = grid.cell(i, 0, theme.px(kCellGap));
    kit::text_in(theme, {left.x, cell.y, left.w - theme.px(8), cell.h}, kit::Face::kMonoSmall,
                 p.text_secondary, map.rows[i], kit::Align::kRight);
  }
}

float row_head_width(const kit::Theme& theme, const PlotInput& input, const HeatMap& map) {
  float widest =
      kit::text_width(theme, kit::Face::kSmall, present::axis_title(*input.sweep.varied[1]));
  for (const std::string& row : map.rows) {
    widest = std::max(widest, kit::text_width(theme, kit::Face::kMonoSmall, row));
  }
  return std::min(theme.px(kWidestRowHead), widest + theme.px(12));
}

}  // namespace

std::optional<std::size_t> draw_heat_map(const kit::Theme& theme, const state::Rect& rect,
                                         const PlotInput& input, const HeatMap& map) {
  state::Rect rest = rect;
  state::Rect scale = rest.take_bottom(theme.px(kScale));
  const state::Rect left = rest.take_left(row_head_width(theme, input, map));
  rest.take_top(theme.px(kHeads));
  if (rest.empty()) return std::nullopt;
  HeatGrid grid{rest};
  grid.cell_w = std::floor(rest.w / static_cast<float>(map.columns.size()));
  grid.cell_h = std::floor(rest.h / static_cast<float>(map.rows.size()));
  draw_heads(theme, grid, left, input, map);
  scale.y = grid.area.y + grid.cell_h * static_cast<float>(map.rows.size()) + theme.px(2);
  scale.take_left(left.w);
  draw_heat_scale(theme, scale, input.sweep.is_for_memory());
  std::optional<std::size_t> clicked;
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      const HeatMap::Cell& cell = map.at(row, column);
      const state::Rect box = grid.cell(row, column, theme.px(kCellGap));
      draw_cell(theme, box, cell, cell.point && cell.point == input.selected);
      if (!cell.point) continue;
      const kit::Hit hit = kit::hit_area(theme, "sweep/cell/" + std::to_string(*cell.point), box);
      if (hit.hovered) explain_point(theme, input.sweep, *cell.point);
      if (hit.clicked) clicked = cell.point;
    }
  }
  return clicked;
}

}  // namespace shardlens::ui::sweep
