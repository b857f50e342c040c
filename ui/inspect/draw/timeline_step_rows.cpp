#include <algorithm>
#include <cmath>

#include "trace/timeline/words/row_catalogue.h"
#include "ui/inspect/draw/timeline_parts.h"
#include "ui/kit/paint.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/present/timeline/timeline_time_text.h"

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::RowKind;
using trace::timeline::StepBorder;
using trace::timeline::TimelineRow;

constexpr float kStepRibbon = 14, kStepLane = 16, kStepRowGap = 3, kStepGap = 12;

std::vector<const TimelineRow*> rows_of_step(const TimelineScene& scene, int rank,
                                             const RowFilter& filter) {
  std::vector<const TimelineRow*> rows;
  for (const TimelineRow& row : scene.rows.rows) {
    if (row.rank != rank) continue;
    const bool lane = row.kind == RowKind::kKernels || row.kind == RowKind::kCommunication;
    if (row.kind == RowKind::kRibbon || (lane && filter.shows(row.kind))) rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, {}, [](const TimelineRow* row) {
    return row->kind == RowKind::kRibbon ? 0 : row->kind == RowKind::kCommunication ? 1 : 2;
  });
  return rows;
}

float step_row_height(const kit::Theme& theme, const TimelineRow& row) {
  return theme.px(row.kind == RowKind::kRibbon ? kStepRibbon : kStepLane);
}

RowPlace step_place(const TimelineScene& scene, const TimelineRow& row, const StepBorder& step,
                    float y) {
  const state::Rect& plot = scene.plot();
  RowPlace place;
  const float left = std::max(plot.x, std::floor(scene.canvas.x(0)));
  const std::int64_t known_ns = std::min(step.end_ns, scene.known_until_ns);
  const float right = std::min(plot.right(), std::floor(scene.canvas.x(known_ns - step.start_ns)));
  place.level_height = step_row_height(scene.theme(), row);
  place.area = {left, y, std::max(0.0f, right - left), place.level_height};
  place.row = row.id;
  place.kind = row.kind;
  place.shift_ns = step.start_ns;
  place.least_ns = step.start_ns;
  place.most_ns = step.end_ns;
  place.start_ns = std::max(step.start_ns, scene.canvas.window.start_ns() + step.start_ns);
  place.end_ns = std::min(step.end_ns, scene.canvas.window.end_ns() + step.start_ns);
  return place;
}

}  // namespace

float place_step_rows(TimelineScene& scene, int rank, const RowFilter& filter, float scroll) {
  const kit::Theme& theme = scene.theme();
  const auto rows = rows_of_step(scene, rank, filter);
  const auto steps = begun_before(scene.borders.of(rank), scene.known_until_ns);
  if (rows.empty() || steps.empty()) return 0;
  float block = theme.px(kStepGap);
  for (const TimelineRow* row : rows) block += step_row_height(theme, *row) + theme.px(kStepRowGap);
  const state::Rect& plot = scene.plot();
  const auto first = static_cast<std::size_t>(std::max(0.0f, std::floor(scroll / block)));
  for (std::size_t i = first; i < steps.size(); ++i) {
    float y =
        std::round(plot.y + static_cast<float>(static_cast<double>(i) * static_cast<double>(block) -
                                               static_cast<double>(scroll)));
    if (y >= plot.bottom()) break;
    for (const TimelineRow* row : rows) {
      const RowPlace place = step_place(scene, *row, steps[i], y);
      y += place.area.h + theme.px(kStepRowGap);
      if (place.end_ns > place.start_ns && place.area.w > 0) scene.places.push_back(place);
    }
  }
  return block * static_cast<float>(steps.size());
}

void draw_step_labels(const TimelineScene& scene) {
  const kit::Theme& theme = scene.theme();
  const state::Palette& p = theme.colors();
  const kit::Clip clip(scene.rows_area());
  std::int64_t before = -1;
  for (const RowPlace& place : scene.places) {
    const TimelineRow& row = scene.row(place.row);
    const StepBorder* step = scene.borders.at(row.rank, place.shift_ns);
    if (step == nullptr) continue;
    const state::Rect back{place.area.x, place.area.y, place.area.w, place.area.h};
    kit::fill(back, kit::color(p.field, 0.5f));
    state::Rect box{scene.labels.x, place.area.y, scene.labels.w - theme.px(12), place.area.h};
    if (place.shift_ns == before) {
      box.take_left(theme.px(14));
      kit::note_in(
          theme, box,
          row.label.empty() ? trace::timeline::kind_name(row.kind) : std::string_view(row.label),
          kit::Align::kRight);
      continue;
    }
    before = place.shift_ns;
    const bool longest = scene.borders.longest(row.rank, scene.known_until_ns) == step;
    const std::string name = "Step " + present::format_integer(step->step);
    kit::take_text(theme, box, theme.px(8), kit::Face::kStrong, p.text, name);
    const bool ended = step->end_ns <= scene.known_until_ns;
    const std::string length = ended ? present::length_text(step->length_ns()) : "running";
    if (longest) {
      const state::Rect mark = box.take_right(theme.px(10), theme.px(6));
      kit::shape(kit::Shape::kUp, mark, theme.px(7), kit::color(p.danger));
      kit::explain(theme, mark, "The longest step", "Of all steps of this rank");
    }
    kit::text_in(theme, box, kit::Face::kMonoSmall, longest ? p.danger : p.text_secondary, length,
                 kit::Align::kRight);
  }
}

}  // namespace shardlens::ui::inspect
