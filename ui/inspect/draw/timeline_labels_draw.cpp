#include <algorithm>
#include <cmath>
#include <string>

#include "trace/base/number_text.h"
#include "trace/timeline/words/row_catalogue.h"
#include "ui/inspect/draw/timeline_parts.h"
#include "ui/inspect/draw/timeline_row_draw.h"
#include "ui/inspect/timeline/item_facts.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::TimelineRank;
using trace::timeline::TimelineRow;

constexpr float kHeadingHeight = 18;

class LabelColumn {
 public:
  LabelColumn(const TimelineScene& scene, TimelineState& state)
      : scene_(scene), theme_(scene.theme()), state_(state) {}

  void add(const ShownRow& shown);

 private:
  state::Rect heading(const ShownRow& shown, state::Rect box);  // returns what is left of the box
  void rest_heading(const ShownRow& shown, state::Rect box);
  void row_label(const ShownRow& shown, const TimelineRow& row, state::Rect box);
  void fold_lanes(const ShownRow& shown, const TimelineRow& row);
  void explain_rank(const TimelineRank& rank) const;
  const TimelineRank& rank_of(const ShownRow& shown) const {
    return scene_.rows.ranks[static_cast<std::size_t>(shown.place)];
  }

  const TimelineScene& scene_;
  const kit::Theme& theme_;
  TimelineState& state_;
};

void LabelColumn::explain_rank(const TimelineRank& rank) const {
  std::string body = rank.device_name.empty() ? rank.device : rank.device_name;
  if (body != rank.device && !rank.device.empty()) body += " · " + rank.device;
  if (!rank.host.empty()) body += (body.empty() ? "" : " · ") + rank.host;
  if (const auto clock = clock_text(rank, scene_.rows.ranks.front()); !clock.empty()) {
    body += "\n" + clock;
  }
  kit::tooltip(theme_, "Rank " + std::to_string(rank.rank), body, "Click folds or unfolds it");
}

// Takes the room of the ribbon as well, which it has none of.
void LabelColumn::rest_heading(const ShownRow& shown, state::Rect box) {
  const state::Palette& p = theme_.colors();
  box.w = scene_.plot().right() - box.x;
  const kit::Hit hit = kit::hit_area(theme_, scene_.name + "/rest", box);
  const state::Rgb ink = hit.hovered ? p.accent_text : p.text_secondary;
  kit::shape(shown.unfolded ? kit::Shape::kUp : kit::Shape::kRight, box.x + theme_.px(4),
             box.center_y(), theme_.px(7), kit::color(ink));
  box.take_left(theme_.px(14));
  const std::string number = std::to_string(shown.ranks);
  kit::text_in(theme_, box, kit::Face::kBody, ink,
               shown.unfolded ? "Fold " + number + " ranks"
                              : "and " + number + " more ranks" + state_.folds.rest);
  if (hit.clicked) state_.folds.shows_rest = !shown.unfolded;
  if (hit.hovered) {
    kit::tooltip(
        theme_, "Many ranks",
        scene_.rows.is_one_step
            ? "Those that compute longest in this step come first: the others wait for them"
            : "Those that kept the others waiting longest come first, once that is counted",
        "Click shows or folds the rest");
  }
}

state::Rect LabelColumn::heading(const ShownRow& shown, state::Rect box) {
  const state::Palette& p = theme_.colors();
  const bool run = shown.heading == ShownRow::Heading::kRun;
  const TimelineRank* rank = run ? nullptr : &rank_of(shown);
  const std::string name = run ? "All ranks" : "Rank " + std::to_string(rank->rank);
  const float width = theme_.px(16) + kit::text_width(theme_, kit::Face::kStrong, name);
  const state::Rect area = box.take_left(std::min(width, box.w), theme_.px(8));
  const kit::Hit hit =
      kit::hit_area(theme_, scene_.name + "/" + (run ? "run" : name), area.inset(0, -1));
  const state::Rgb ink = hit.hovered ? p.accent_text : p.text;
  kit::shape(shown.unfolded ? kit::Shape::kDown : kit::Shape::kRight, area.x + theme_.px(4),
             area.center_y(), theme_.px(7), kit::color(hit.hovered ? p.accent_text : p.text_muted));
  state::Rect text = area;
  text.take_left(theme_.px(14));
  kit::text_in(theme_, text, kit::Face::kStrong, ink, name);
  if (hit.clicked && run) state_.folds.run = shown.unfolded;
  if (hit.clicked && !run) state_.folds.ranks[rank->rank] = !shown.unfolded;
  if (hit.hovered && run) {
    kit::tooltip(theme_, "All ranks", "Where the time of all ranks went, the mean over them",
                 "Click folds or unfolds them");
  } else if (hit.hovered) {
    explain_rank(*rank);
  }
  return box;
}

void LabelColumn::fold_lanes(const ShownRow& shown, const TimelineRow& row) {
  const std::pair<int, trace::timeline::RowKind> key{row.rank, row.kind};
  if (shown.lanes > 1) {
    if (state_.folds.lanes.erase(key) == 0) state_.folds.lanes.insert(key);
  } else if (shown.offers_levels) {
    if (state_.folds.levels.erase(row.id) == 0) state_.folds.levels.insert(row.id);
  }
}

void LabelColumn::row_label(const ShownRow& shown, const TimelineRow& row, state::Rect box) {
  const state::Palette& p = theme_.colors();
  std::string label =
      row.label.empty() ? std::string(trace::timeline::kind_name(row.kind)) : row.label;
  const std::string& unit = scene_.canvas.sizes.unit;
  if (row.kind == trace::timeline::RowKind::kReady && !unit.empty()) label += ", " + unit;
  if (shown.lanes > 1 && !shown.shows_lanes) label += " +" + std::to_string(shown.lanes - 1);
  const bool folds = shown.lanes > 1 || shown.offers_levels;
  if (scene_.rows.is_one_step && row.kind == trace::timeline::RowKind::kKernels) {
    state::Rect beside = box;
    const float width = kit::text_width(theme_, kit::Face::kSmall, label) + theme_.px(12);
    beside.w -= width;
    kit::note_in(theme_, beside, rank_of(shown).device);
  }
  const bool open = shown.lanes > 1 ? shown.shows_lanes : shown.shows_all_levels;
  const kit::Hit hit = kit::hit_area(theme_, scene_.name + "/row " + std::to_string(row.id), box);
  const bool loud = hit.hovered || state_.selected_row == row.id;
  state::Rect mark = box.take_right(theme_.px(12));
  if (folds) {
    kit::shape(open ? kit::Shape::kDown : kit::Shape::kLeft, mark.center_x() + theme_.px(1),
               mark.center_y(), theme_.px(6), kit::color(loud ? p.accent_text : p.text_muted));
  }
  kit::text_in(theme_, box, kit::Face::kSmall, loud ? p.accent_text : p.text_secondary, label,
               kit::Align::kRight);
  if (hit.clicked) {
    if (!scene_.rows.is_one_step) state_.selected_row = row.id;
    if (folds) fold_lanes(shown, row);
  }
  if (!hit.hovered) return;
  std::string body =
      row.count < 0 ? "Events are being counted" : trace::base::counted(row.count, "event");
  if (shown.lanes > 1) body += " · one of " + std::to_string(shown.lanes) + " rows of its kind";
  if (shown.offers_levels) body += " · " + std::to_string(row.levels) + " levels deep";
  kit::tooltip(theme_, label, body,
               folds                     ? "Click folds or unfolds"
               : scene_.rows.is_one_step ? ""
                                         : "Click selects the row for ← and →");
}

void LabelColumn::add(const ShownRow& shown) {
  const state::Rect& labels = scene_.labels;
  // Beside the middle of a low row, at the top of a high one.
  const float least = theme_.px(kHeadingHeight), most = least * 1.7f;
  const float height = shown.levels > 1 ? least : std::clamp(shown.height, least, most);
  state::Rect box{labels.x, scene_.plot().y + shown.y - state_.shown_scroll(), labels.w, height};
  if (shown.height < height) box.y -= std::round((height - shown.height) / 2);
  // A low row at the top is seen whole, though its name is higher than it is.
  const float highest = scene_.plot().y + theme_.px(kHalfWord);
  if (shown.y >= state_.shown_scroll()) box.y += std::max(0.0f, highest - box.center_y());
  if (!shows_words(theme_, box, scene_.plot())) return;
  if (shown.heading == ShownRow::Heading::kRest) return rest_heading(shown, box);
  if (shown.heading != ShownRow::Heading::kNone) {
    box = heading(shown, box);
    if (shown.place < 0 || !shown.unfolded) return;  // the ribbon has no other name
  } else {
    box.take_left(theme_.px(14));
  }
  if (shown.row >= 0) row_label(shown, scene_.row(shown.row), box);
}

// Between ranks, where one of them is unfolded.
void draw_separators(const TimelineScene& scene, const RowLayout& layout, float scroll) {
  const kit::Theme& theme = scene.theme();
  for (std::size_t i = 1; i < layout.rows.size(); ++i) {
    const ShownRow& row = layout.rows[i];
    if (row.heading != ShownRow::Heading::kRank) continue;
    const ShownRow& before = layout.rows[i - 1];
    if (!row.unfolded && before.heading == ShownRow::Heading::kRank && !before.unfolded) continue;
    const float gap = row.y - before.y - before.height;
    const float y = std::round(scene.plot().y + row.y - scroll - gap / 2);
    kit::line(scene.labels.x, y, scene.plot().right(), y, kit::color(theme.colors().panel_edge));
  }
}

}  // namespace

void draw_labels(const TimelineScene& scene, const RowLayout& layout, TimelineState& state) {
  const float scroll = state.shown_scroll();
  const state::Rect area = scene.rows_area();
  const kit::Clip clip(area);
  draw_separators(scene, layout, scroll);
  LabelColumn column(scene, state);
  for (const ShownRow& shown : layout.rows) {
    const float y = area.y + shown.y - scroll;
    if (y + shown.height <= area.y || y >= area.bottom()) continue;
    column.add(shown);
  }
}

}  // namespace shardlens::ui::inspect
