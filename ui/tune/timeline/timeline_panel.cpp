#include "ui/tune/timeline/timeline_panel.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/tune/timeline/timeline_buckets.h"
#include "ui/tune/timeline/timeline_draw.h"

namespace shardlens::ui {

namespace {

constexpr float kLabelWidth = 152;
constexpr float kAxisHeight = 20;
constexpr float kHelpHeight = 20;

struct HelpEntry {
  enum class Mark { kFilled, kHollow, kShape } mark;
  Rgb hue;
  std::string_view label;
  Shape shape = Shape::kDown;
};

std::vector<HelpEntry> help_entries(const Palette& p, bool units) {
  using Mark = HelpEntry::Mark;
  std::vector<HelpEntry> entries{{Mark::kFilled, p.overlapped, "overlapped communication"},
                                 {Mark::kFilled, p.exposed, "exposed"},
                                 {Mark::kHollow, p.overlapped, "waiting for the last rank"}};
  if (!units) {
    entries.push_back({Mark::kShape, p.text_secondary, "a bucket's gradients are ready"});
    return entries;
  }
  entries.push_back({Mark::kShape, p.text_secondary, "a unit's gradients are ready"});
  entries.push_back({Mark::kShape, p.text_muted, "forward gather", Shape::kRight});
  entries.push_back(
      {Mark::kShape, p.text_muted, "backward gather; fainter: prefetched", Shape::kLeft});
  return entries;
}

void draw_help_line(const Theme& theme, Rect rect, bool units) {
  const Palette& p = theme.colors();
  for (const HelpEntry& entry : help_entries(p, units)) {
    const float width = theme.px(15) + text_width(theme, Face::kSmall, entry.label);
    if (width > rect.w) return;
    Rect box = rect.take_left(width, theme.px(16));
    const Rect mark = box.take_left(theme.px(9), theme.px(6));
    const Rect swatch{mark.x, std::round(mark.center_y() - mark.w / 2), mark.w, mark.w};
    if (entry.mark == HelpEntry::Mark::kShape) {
      shape(entry.shape, mark.center_x(), mark.center_y(), theme.px(7), color(entry.hue));
    } else if (entry.mark == HelpEntry::Mark::kFilled) {
      fill(swatch, color(entry.hue), theme.px(2));
    } else {
      fill(swatch, color(mix(p.panel, entry.hue, 0.22)), theme.px(2));
      outline(swatch, color(entry.hue), theme.px(2));
    }
    text_in(theme, box, Face::kSmall, p.text_muted, entry.label);
  }
}

std::string title_of(const Snapshot& snapshot, const trace::StepTimeline* shown) {
  if (!snapshot.run || snapshot.run->selected_step < 0) return "Timeline";
  const std::int64_t step = shown != nullptr ? shown->step : snapshot.run->selected_step;
  return "Timeline · step " + format_integer(step);
}

bool has_detail(const trace::StepTimeline& timeline) {
  return std::any_of(timeline.ranks.begin(), timeline.ranks.end(),
                     [](const trace::RankTimeline& rank) { return rank.breakdown.has_detail; });
}

std::string empty_text(const Snapshot& snapshot, bool without_detail) {
  if (snapshot.is_loading) return "Reading the run…";
  if (!snapshot.run) return "Press Start, or double-click a run below to replay it";
  const RunView& run = *snapshot.run;
  if (run.selected_step < 0) return "Waiting for the first step…";
  if (without_detail && !run.figures.info.command.empty()) {
    return "This step has no kernels; its ranges and phases are in Inspect (Ctrl+2)";
  }
  if (without_detail) {
    return "This step was recorded without detail; choose another, or set “Record” to every step";
  }
  return "Reading step " + format_integer(run.selected_step) + "…";
}

// Half a folded rank reads like a fault; an unfolded one may be higher than the plot.
bool is_visible(const RankRows& row, float top, const Rect& plot, float ribbon) {
  if (row.unfolded) return top + row.y <= plot.bottom() && top + row.y + row.height >= plot.y;
  return top + row.ribbon >= plot.y && top + row.ribbon + ribbon <= plot.bottom();
}

void draw_follow(const Theme& theme, Rect header, const Snapshot& snapshot, Commands& commands) {
  if (!snapshot.run || !(snapshot.run->is_live || snapshot.replay.active)) return;
  const bool follows = snapshot.run->follows_live;
  const std::string_view label = follows ? "Following" : "Follow latest";
  const float width = text_width(theme, Face::kSmall, label) + theme.px(26);
  if (width > header.w) return;
  const Rect box = header.take_left(width).inset(0, (header.h - theme.px(22)) / 2);
  const Palette& p = theme.colors();
  const Hit hit = hit_area(theme, "timeline/follow", box);
  fill(box, color(hit.hovered ? p.hover : p.field), box.h / 2);
  outline(box, color(p.field_edge), box.h / 2);
  shape(Shape::kDot, box.x + theme.px(10), box.center_y(), theme.px(6),
        color(follows ? p.good : p.idle_edge));
  text_in(theme, {box.x + theme.px(18), box.y, box.w - theme.px(20), box.h}, Face::kSmall,
          p.text_secondary, label);
  if (hit.hovered) {
    tooltip(theme, "Follow", "Always shows the latest step of a run that goes on", "Space");
  }
  if (hit.clicked) commands.push_back(SelectStep{follows ? snapshot.run->selected_step : -1});
}

}  // namespace

void TimelinePanel::clear() {
  run_.pinned.reset();
  run_.measured.reset();
  measuring_ = false;
}

void TimelinePanel::handle_mouse(const Theme& theme, const Rect& plot, float content_height) {
  const ImGuiIO& io = ImGui::GetIO();
  const Hit hit = mouse_area(theme, "timeline/plot", plot);
  const float lowest = std::max(0.0f, content_height - plot.h);
  if (hit.hovered && io.MouseWheel != 0) {
    if (io.KeyShift) {
      run_.scroll -= io.MouseWheel * theme.px(40);
    } else {
      run_.view.zoom(static_cast<double>((io.MousePos.x - plot.x) / plot.w),
                     std::pow(1.25, static_cast<double>(io.MouseWheel)));
    }
  }
  if (hit.pressed) {
    run_.dragged = false;
    if (measuring_) {
      const double at = run_.view.time_from_x(io.MousePos.x, plot.x, plot.w);
      run_.measured = Interval{at, at};
    }
  }
  if (hit.held && (io.MouseDelta.x != 0 || io.MouseDelta.y != 0)) {
    run_.dragged = true;
    if (measuring_ && run_.measured) {
      run_.measured->end_ns = run_.view.time_from_x(io.MousePos.x, plot.x, plot.w);
    } else {
      run_.view.pan(static_cast<double>(-io.MouseDelta.x / plot.w));
      run_.scroll -= io.MouseDelta.y;
    }
  }
  run_.scroll = std::clamp(run_.scroll, 0.0f, lowest);
  if (hit.clicked && !run_.dragged) run_.pinned = run_.hovered;
  if (hit.double_clicked) run_.view.fit();
}

void TimelinePanel::draw_measure(const Theme& theme, const Rect& plot) const {
  if (!run_.measured) return;
  const Palette& p = theme.colors();
  const double start = std::min(run_.measured->start_ns, run_.measured->end_ns);
  const double end = std::max(run_.measured->start_ns, run_.measured->end_ns);
  const float x0 = std::round(run_.view.x_from_time(start, plot.x, plot.w));
  const float x1 = std::round(run_.view.x_from_time(end, plot.x, plot.w));
  const Clip clip(plot);
  fill({x0, plot.y, x1 - x0, plot.h}, color(p.accent, 0.14f));
  line(x0, plot.y, x0, plot.bottom(), color(p.accent));
  line(x1, plot.y, x1, plot.bottom(), color(p.accent));
  const std::string label = format_duration(end - start).text();
  const float width = text_width(theme, Face::kMono, label) + theme.px(16);
  const Rect box{std::clamp((x0 + x1 - width) / 2, plot.x, plot.right() - width),
                 plot.bottom() - theme.px(26), width, theme.px(22)};
  fill(box, color(p.popup), theme.px(4));
  outline(box, color(p.accent), theme.px(4));
  text_in(theme, box, Face::kMono, p.text, label, Align::kCenter);
}

void TimelinePanel::draw_scroll(const Theme& theme, const Rect& plot, float content_height) const {
  if (content_height <= plot.h + 1) return;
  const float length = std::max(theme.px(16), plot.h * plot.h / content_height);
  const float at = run_.scroll / (content_height - plot.h) * (plot.h - length);
  fill({plot.right() + theme.px(4), plot.y + at, theme.px(3), length},
       color(theme.colors().idle_edge), theme.px(1.5f));
}

void TimelinePanel::mark_pinned(const TimelineCanvas& canvas, const RankRows& row,
                                float top) const {
  const Palette& p = canvas.theme.colors();
  const Clip clip(canvas.plot);
  const float x0 = std::floor(canvas.x(run_.pinned->start_ns));
  const float x1 = std::max(std::floor(canvas.x(run_.pinned->end_ns)), x0 + 2);
  const float bottom = top + row.ribbon + canvas.theme.px(canvas.heights.ribbon);
  outline({x0 - 1, top + row.y - 1, x1 - x0 + 1, bottom - top - row.y + 2}, color(p.text), 2);
}

void TimelinePanel::draw_content(const Theme& theme, const Rect& body,
                                 const trace::StepTimeline& timeline) {
  const Palette& p = theme.colors();
  Rect rest = body;
  Rect axis = rest.take_top(theme.px(kAxisHeight));
  const bool units = std::ranges::any_of(timeline.ranks, has_units);
  draw_help_line(theme, rest.take_bottom(theme.px(kHelpHeight)), units);
  Rect labels = rest.take_left(theme.px(kLabelWidth));
  axis.take_left(theme.px(kLabelWidth));
  run_.view.set_extent(static_cast<double>(timeline.end_ns));
  const TimelineRows rows = timeline_rows(timeline.ranks, rest.h, theme.scale, run_.wishes);

  handle_mouse(theme, rest, rows.height);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const TimelineCanvas canvas{
      theme,        run_.view,
      rows.heights, rest,
      labels,       mouse.x,
      mouse.y,      ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem)};
  draw_time_axis(
      canvas, axis,
      run_.view.span_ns() < 2e6 ? run_.view.span_ns() : static_cast<double>(timeline.end_ns));
  run_.hovered.reset();
  {
    const Clip clip({body.x - theme.px(4), rest.y, body.w + theme.px(8), rest.h});
    for (std::size_t i = 0; i < rows.ranks.size(); ++i) {
      const RankRows& row = rows.ranks[i];
      const float top = rest.y - run_.scroll;
      if (!is_visible(row, top, rest, theme.px(rows.heights.ribbon))) continue;
      if (i > 0 && (row.unfolded || rows.ranks[i - 1].unfolded)) {
        const float y = std::round(top + row.y - theme.px(rows.heights.rank_gap / 2));
        line(body.x, y, body.right(), y, color(p.grid));
      }
      if (auto item = draw_rank(canvas, row, top, timeline.ranks[row.index]))
        run_.hovered = std::move(item);
      if (run_.pinned && run_.pinned->rank == row.rank) mark_pinned(canvas, row, top);
      const float label_height = row.unfolded ? theme.px(rows.heights.phases) : row.height;
      const Hit fold = hit_area(theme, "timeline/rank " + std::to_string(row.rank),
                                {labels.x, top + row.y, labels.w, label_height});
      if (fold.clicked) run_.wishes.unfolded[row.rank] = !row.unfolded;
    }
  }
  if (rows.rest > 0)
    draw_rest(theme, {body.x, rest.y + rows.rest_y - run_.scroll, body.w, rows.rest_height}, rest,
              rows);
  draw_scroll(theme, rest, rows.height);
  draw_measure(theme, rest);
  if (run_.pinned && draw_item_card(theme, rest, *run_.pinned, timeline.step)) run_.pinned.reset();
  const bool has_card = run_.hovered && run_.pinned && same_item(*run_.hovered, *run_.pinned);
  if (run_.hovered && !has_card && !run_.dragged && !ImGui::IsAnyItemActive()) {
    draw_item_tooltip(theme, *run_.hovered, timeline.step);
  }
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) run_.dragged = false;
}

// What has no row of its own; a click shows all ranks, or folds them again.
void TimelinePanel::draw_rest(const Theme& theme, const Rect& row, const Rect& plot,
                              const TimelineRows& rows) {
  if (row.y + row.h > plot.bottom() || row.y < plot.y) return;
  const Palette& p = theme.colors();
  const Hit hit = hit_area(theme, "timeline/rest", row);
  const auto text = [](double ns) { return format_duration(ns).text(); };
  const std::string number = format_integer(static_cast<std::int64_t>(rows.rest));
  const std::string said = run_.wishes.all
                               ? "Fold " + number + " ranks"
                               : "and " + number + " more, which compute for " +
                                     text(rows.rest_least_ns) + " to " + text(rows.rest_most_ns);
  Rect box = row;
  const Rect mark = box.take_left(theme.px(8), theme.px(6));
  const Rgb ink = hit.hovered ? p.accent_text : p.text_secondary;
  shape(run_.wishes.all ? Shape::kUp : Shape::kRight, mark.center_x(), mark.center_y(), theme.px(7),
        color(ink));
  text_in(theme, box, Face::kBody, ink, said);
  if (hit.hovered) {
    tooltip(theme, "Many ranks",
            "Those that compute longest in this step come first: the others wait for them",
            "Click shows or folds the rest");
  }
  if (hit.clicked) run_.wishes.all = !run_.wishes.all;
}

void TimelinePanel::choose_timeline(const Snapshot& snapshot) {
  const std::string run = snapshot.run ? snapshot.run->figures.info.folder : "";
  if (run != run_.folder) {
    run_ = {};
    run_.folder = run;
  }
  const std::int64_t step = run_.shown ? run_.shown->step : -1;
  if (snapshot.run && snapshot.run->timeline) run_.shown = snapshot.run->timeline;
  if ((run_.shown ? run_.shown->step : -1) != step) run_.pinned.reset();
}

void TimelinePanel::draw(const Theme& theme, const Rect& rect, const Snapshot& snapshot,
                         Commands& commands) {
  choose_timeline(snapshot);
  const bool current =
      snapshot.run && snapshot.run->selected_step >= 0 && run_.shown && !run_.shown->ranks.empty();
  const std::string title = title_of(snapshot, current ? run_.shown.get() : nullptr);
  const std::string_view note = measuring_ ? "drag to measure · Esc ends"
                                           : "scroll to zoom · drag to pan · M measure · F fit";
  Rect header;
  {
    const Panel panel(theme, "timeline", rect, {.title = title, .note = note});
    header = panel.header;
    if (current && has_detail(*run_.shown)) {
      draw_content(theme, panel.body, *run_.shown);
    } else {
      text_in(theme, panel.body, Face::kBody, theme.colors().text_muted,
              empty_text(snapshot, current), Align::kCenter);
    }
  }
  draw_follow(theme, header, snapshot, commands);
}

}  // namespace shardlens::ui
