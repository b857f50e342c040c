#include "ui/window/top_bar.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "trace/model/run_info.h"
#include "ui/kit/widgets.h"
#include "ui/present/job_text.h"

namespace shardlens::ui::window {

namespace {

std::string title_of_run(const state::RunView& run) {
  const trace::model::RunInfo& info = run.figures.info;
  return run.ordinal.empty() ? present::run_title(info) : run.ordinal + " · " + info.name;
}

// So that a long name takes what the figures leave.
float run_width(const kit::Theme& theme, const state::Snapshot& snapshot, bool brief) {
  if (!snapshot.run) return 0;
  const trace::model::RunInfo& info = snapshot.run->figures.info;
  return std::ceil(
      std::max(kit::text_width(theme, kit::Face::kStrong, title_of_run(*snapshot.run)),
               kit::text_width(theme, kit::Face::kSmall, present::run_circumstances(info, brief))));
}

void draw_run(const kit::Theme& theme, const state::Rect& box, const state::Snapshot& snapshot) {
  const state::Palette& p = theme.colors();
  state::Rect rows = box;
  const state::Rect first = rows.take_top(box.h / 2);
  if (!snapshot.run) {
    kit::text_in(theme, first, kit::Face::kStrong, p.text_secondary,
                 snapshot.is_loading ? "Reading the runs…" : "No run yet");
    const std::string verb = present::only_views(snapshot) ? "Open" : "Start";
    if (kit::label_in(theme, rows, kit::Face::kSmall, p.text_muted,
                      verb + " one, or replay one from the ledger") == 0) {
      kit::text_in(theme, rows, kit::Face::kSmall, p.text_muted, verb + " or replay one");
    }
    return;
  }
  const trace::model::RunInfo& info = snapshot.run->figures.info;
  const std::string title = title_of_run(*snapshot.run);
  kit::text_in(theme, first, kit::Face::kStrong, p.text,
               kit::fitting_name(theme, kit::Face::kStrong, title, first.w));
  if (kit::label_in(theme, rows, kit::Face::kSmall, p.text_muted,
                    present::run_circumstances(info)) == 0) {
    kit::text_in(theme, rows, kit::Face::kSmall, p.text_muted,
                 present::run_circumstances(info, true));
  }
  std::string details = present::run_circumstances(info) +
                        (trace::model::has_settings(info) ? " · " + info.settings.model : "") +
                        "\n";
  for (const std::string& line : present::device_lines(snapshot.run->figures))
    details += line + "\n";
  details += present::recorder_text(snapshot.run->figures.recorder);
  kit::explain(theme, box, title, details, info.folder);
}

constexpr float kMark = 12, kMarkGap = 6;  // of how a run ended, or that it goes on

// Offers the way back to the job, while another run is on screen.
void offer_job(const kit::Theme& theme, const state::Rect& box, const state::Snapshot& snapshot,
               state::Commands& commands) {
  const std::string& folder = snapshot.job.folder;
  const bool is_beside =
      snapshot.run && !folder.empty() && snapshot.run->figures.info.folder != folder;
  if (!is_beside) return;
  const kit::Hit hit = kit::hit_area(theme, "top/job", box);
  if (hit.hovered) {
    kit::fill(box, kit::color(theme.colors().hover), theme.px(6));
    kit::tooltip(theme, "Show the run that goes on",
                 "In Tune and in Inspect. Those that start after it follow", snapshot.job.run_name);
  }
  if (hit.clicked) commands.push_back(state::ShowRun{folder});
}

void draw_progress(const kit::Theme& theme, const state::Rect& box, const state::Snapshot& snapshot,
                   state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const present::ProgressText progress = present::progress_text(snapshot);
  if (progress.left.empty()) return;
  offer_job(theme, box, snapshot, commands);
  state::Rect rows = box;
  state::Rect bar_row = rows.take_top(box.h / 2);
  if (progress.fraction >= 0) {
    const state::Rect bar{bar_row.x, bar_row.center_y() - theme.px(3), bar_row.w, theme.px(6)};
    kit::fill(bar, kit::color(p.field_edge), theme.px(3));
    kit::fill({bar.x, bar.y, std::max(bar.h, bar.w * progress.fraction), bar.h},
              kit::color(p.accent), theme.px(3));
  } else {
    const bool has_ended = !progress.details.empty();
    const state::Rgb ink = progress.failed ? p.danger : p.text_secondary;
    state::Rect mark = bar_row.take_left(theme.px(kMark), theme.px(kMarkGap));
    const kit::Shape shape = !has_ended        ? kit::Shape::kDot
                             : progress.failed ? kit::Shape::kCross
                                               : kit::Shape::kCheck;
    const state::Rgb color = !has_ended ? p.accent : progress.failed ? p.danger : p.good;
    kit::shape(shape, mark.center_x(), mark.center_y(), theme.px(has_ended ? 11 : 7),
               kit::color(color));
    kit::text_in(theme, bar_row, kit::Face::kMedium, ink, progress.left);
    kit::text_in(theme, rows, kit::Face::kSmall, p.text_muted, progress.right);
    if (has_ended) kit::explain(theme, box, "How the run ended", progress.details);
    return;
  }
  const float left = kit::text_width(theme, kit::Face::kSmall, progress.left) + theme.px(8);
  state::Rect right = rows;
  right.take_left(left);
  kit::label_in(theme, right, kit::Face::kSmall, p.text_muted, progress.right, kit::Align::kRight);
  kit::text_in(theme, rows, kit::Face::kSmall, p.text_muted, progress.left);
}

// What its words need; seconds left grow and shrink.
float progress_width(const kit::Theme& theme, const state::Snapshot& snapshot) {
  const present::ProgressText progress = present::progress_text(snapshot);
  if (progress.fraction >= 0) {
    return std::ceil(kit::text_width(theme, kit::Face::kSmall, progress.left)) + theme.px(8 + 56);
  }
  return std::ceil(std::max(theme.px(kMark) + theme.px(kMarkGap) +
                                kit::text_width(theme, kit::Face::kMedium, progress.left),
                            kit::text_width(theme, kit::Face::kSmall, progress.right)));
}

constexpr std::string_view kLongestJobLabel = "Stop now";

float job_button_width(const kit::Theme& theme) {
  return std::ceil(kit::button_width(theme, kLongestJobLabel, kit::ButtonKind::kDanger));
}

// Pressed by a click that is the second of a double click: on Stop, which had the same place.
bool is_double_click() {
  return ImGui::IsMouseReleased(ImGuiMouseButton_Left) &&
         ImGui::GetIO().MouseClickedLastCount[ImGuiMouseButton_Left] > 1;
}

void draw_job_button(const kit::Theme& theme, const state::Rect& box,
                     const state::Snapshot& snapshot, state::Commands& commands) {
  const state::JobPhase phase = snapshot.job.phase;
  if (phase == state::JobPhase::kStopping) {
    if (kit::button(theme, "top/stop", box, kit::ButtonKind::kDanger, kLongestJobLabel) &&
        !is_double_click())
      commands.push_back(state::StopRun{.at_once = true});
    if (kit::hovers(box)) {
      kit::tooltip(
          theme, "Stop now",
          "Ranks leave after the next step whose loss is read (loss_every), and save first "
          "if they were asked to. This ends them at once: what they have not saved is lost.");
    }
  } else if (phase != state::JobPhase::kNone) {
    if (kit::button(theme, "top/stop", box, kit::ButtonKind::kDanger, "Stop"))
      commands.push_back(state::StopRun{});
  } else {
    const std::string why_not = present::why_no_start(snapshot);
    if (kit::answering_button(theme, "top/start", box, kit::ButtonKind::kPrimary, "Start",
                              why_not.empty())) {
      commands.push_back(state::StartRun{});
    }
    if (!why_not.empty()) kit::explain(theme, box, "Start", why_not);
  }
}

float headline_width(const kit::Theme& theme, const present::Headline& h) {
  float value = kit::text_width(theme, kit::Face::kMonoLarge, h.value);
  if (!h.unit.empty()) value += theme.px(4) + kit::text_width(theme, kit::Face::kSmall, h.unit);
  if (!h.note.empty()) value += theme.px(6) + kit::text_width(theme, kit::Face::kSmall, h.note);
  return std::max(value, kit::text_width(theme, kit::Face::kSmall, h.label));
}

void draw_headline(const kit::Theme& theme, const state::Rect& box, const present::Headline& h) {
  const state::Palette& p = theme.colors();
  state::Rect rows = box;
  const state::Rect label = rows.take_top(box.h * 0.42f);
  kit::text_in(theme, label, kit::Face::kSmall, p.text_muted, h.label);
  const float baseline =
      std::round(rows.y + rows.h * 0.5f + kit::cap_height(theme, kit::Face::kMonoLarge) / 2);
  float x = rows.x + kit::text(theme, rows.x, baseline, kit::Face::kMonoLarge, p.text, h.value);
  if (!h.unit.empty()) {
    x += theme.px(4);
    x += kit::text(theme, x, baseline, kit::Face::kSmall, p.text_secondary, h.unit);
  }
  if (!h.note.empty())
    kit::text(theme, x + theme.px(6), baseline, kit::Face::kSmall, p.text_muted, h.note);
  kit::explain(theme, box, h.label, h.definition, h.source);
}

float headlines_width(const kit::Theme& theme, const std::vector<present::Headline>& figures,
                      float gap) {
  float width = 0;
  for (const present::Headline& headline : figures) width += headline_width(theme, headline) + gap;
  return width;
}

struct TopBarWidths {
  float run = 0, progress = 0, headline_gap = 0;
};

// `room` is theirs and the headlines'. Where that is too little for all, each has what its words
// need.
TopBarWidths top_bar_widths(const kit::Theme& theme, const TopBarInput& input, float room,
                            float unit) {
  const state::Snapshot& snapshot = input.snapshot;
  const float least_run = theme.px(std::clamp(unit * 0.165f, 150.0f, 290.0f));
  TopBarWidths out{.run = least_run,
                   .progress = theme.px(std::clamp(unit * 0.125f, 110.0f, 220.0f)),
                   .headline_gap = theme.px(28)};
  float spare = room - out.progress - headlines_width(theme, input.figures, out.headline_gap);
  if (!snapshot.run || spare >= least_run) {
    out.run = std::clamp(run_width(theme, snapshot, false), least_run, std::max(least_run, spare));
    return out;
  }
  out.progress = std::min(out.progress, progress_width(theme, snapshot));
  out.headline_gap = theme.px(18);
  spare = room - out.progress - headlines_width(theme, input.figures, out.headline_gap);
  const float brief = std::min(run_width(theme, snapshot, true), least_run);
  out.run = std::clamp(spare, brief, least_run);
  return out;
}

void draw_headlines(const kit::Theme& theme, state::Rect box, float gap,
                    std::vector<present::Headline> figures) {
  const auto is_too_much = [&] { return headlines_width(theme, figures, gap) - gap > box.w; };
  if (is_too_much()) {
    for (present::Headline& headline : figures) headline.note = headline.brief_note;
  }
  if (is_too_much()) std::erase_if(figures, [](const auto& each) { return each.goes_first; });
  if (is_too_much()) {  // other figures matter more than what stands behind one
    for (present::Headline& headline : figures) headline.note.clear();
  }
  for (const present::Headline& headline : figures) {
    const float width = headline_width(theme, headline);
    if (width > box.w) break;  // the less important ones stand at the right
    draw_headline(theme, box.take_left(width, gap), headline);
  }
}

void draw_tools(const kit::Theme& theme, state::Rect box, TopBarResult& result) {
  const state::Palette& p = theme.colors();
  const state::Rect help = box.take_right(theme.px(28)).inset(0, (box.h - theme.px(28)) / 2);
  const kit::Hit hit = kit::hit_area(theme, "top/help", help);
  if (hit.hovered) kit::fill(help, kit::color(p.hover), theme.px(6));
  kit::text_in(theme, help, kit::Face::kStrong, hit.hovered ? p.text : p.text_secondary, "?",
               kit::Align::kCenter);
  result.toggle_help = hit.clicked;
  if (hit.hovered) kit::tooltip(theme, "Keys", "Shows the keyboard shortcuts", "?");
  if (theme.present) return;  // it is light

  const state::Rect theme_button =
      box.take_right(theme.px(28)).inset(0, (box.h - theme.px(28)) / 2);
  const kit::Hit theme_hit = kit::hit_area(theme, "top/theme", theme_button);
  if (theme_hit.hovered) kit::fill(theme_button, kit::color(p.hover), theme.px(6));
  const ImVec2 center(theme_button.center_x(), theme_button.center_y());
  const ImU32 ink = kit::color(theme_hit.hovered ? p.text : p.text_secondary);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddCircle(center, theme.px(6), ink, 24, std::max(1.0f, theme.px(1.3f)));
  list->PathArcTo(center, theme.px(6), -1.5708f, 1.5708f, 16);
  list->PathFillConvex(ink);
  result.toggle_theme = theme_hit.clicked;
  if (theme_hit.hovered) kit::tooltip(theme, "Theme", "Changes between dark and light", "Ctrl+T");
}

// Below it they are small, and two lie one above the other: figures need the room.
constexpr float kWidthForTabRow = 1400;

void draw_workspace_tab(const kit::Theme& theme, const state::Rect& box, const WorkspaceTab& tab,
                        bool active, bool small, TopBarResult& result) {
  const state::Palette& p = theme.colors();
  const kit::Hit hit = kit::hit_area(theme, std::string("top/") + tab.id, box);
  const float rounding = std::min(box.h / 2, theme.px(14));
  if (active) kit::fill(box, kit::color(state::mix(p.panel, p.accent, 0.2)), rounding);
  if (hit.hovered && !active) kit::fill(box, kit::color(p.hover), rounding);
  const kit::Face face = small    ? kit::Face::kSmall
                         : active ? kit::Face::kStrong
                                  : kit::Face::kMedium;
  kit::text_in(theme, box, face, active || hit.hovered ? p.text : p.text_secondary, tab.label,
               kit::Align::kCenter);
  if (hit.hovered) kit::tooltip(theme, tab.label, tab.explanation, tab.keys);
  if (hit.clicked) result.workspace = tab.id;
}

// Takes its room from `rest`.
void draw_workspaces(const kit::Theme& theme, state::Rect& rest, float unit, std::string_view shown,
                     TopBarResult& result) {
  const bool small = unit < kWidthForTabRow;
  const kit::Face face = small ? kit::Face::kSmall : kit::Face::kStrong;
  const float padding = theme.px(small ? 8 : 12);
  float widest = 0;
  for (const WorkspaceTab& tab : kWorkspaces) {
    widest = std::max(widest, std::ceil(kit::text_width(theme, face, tab.label)));
  }
  state::Rect column;
  for (std::size_t i = 0; i < std::size(kWorkspaces); ++i) {
    const WorkspaceTab& tab = kWorkspaces[i];
    state::Rect box;
    if (small) {  // two in a column
      if (i % 2 == 0) column = rest.take_left(widest + 2 * padding, theme.px(4));
      box = column.take_top(i % 2 == 0 ? column.h / 2 : column.h);
    } else {
      const float width = std::ceil(kit::text_width(theme, face, tab.label)) + 2 * padding;
      box = rest.take_left(width, theme.px(4)).inset(0, std::round((rest.h - theme.px(28)) / 2));
    }
    draw_workspace_tab(theme, box, tab, shown == tab.id, small, result);
  }
  rest.take_left(theme.px(small ? 12 : 20));
}

}  // namespace

const std::vector<present::Headline>& TopBarFigures::of(
    const std::shared_ptr<const state::RunView>& run) {
  if (run == run_) return figures_;
  run_ = run;
  figures_ = run ? present::headlines(run->figures) : std::vector<present::Headline>{};
  return figures_;
}

TopBarResult draw_top_bar(const kit::Theme& theme, const state::Rect& rect,
                          const TopBarInput& input, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const state::Snapshot& snapshot = input.snapshot;
  TopBarResult result;
  kit::fill(rect, kit::color(p.panel));
  kit::line(rect.x, rect.bottom() - 1, rect.right(), rect.bottom() - 1, kit::color(p.panel_edge));
  state::Rect rest = rect.inset(theme.px(16), theme.px(8));
  const float unit = rect.w / theme.scale;
  const state::Rect brand =
      rest.take_left(kit::text_width(theme, kit::Face::kTitle, "Shardlens"), theme.px(24));
  kit::text_in(theme, brand, kit::Face::kTitle, p.text, "Shardlens");
  draw_tools(theme, rest.take_right(theme.px(60), theme.px(8)), result);
  draw_workspaces(theme, rest, unit, input.workspace, result);

  // Before what comes and goes: its place does not change.
  const state::Rect action = rest.take_left(job_button_width(theme), theme.px(20));
  draw_job_button(theme, action.inset(0, (action.h - theme.px(30)) / 2), snapshot, commands);
  const float gaps = theme.px(24 + 28);
  const TopBarWidths widths = top_bar_widths(theme, input, rest.w - gaps, unit);
  draw_run(theme, rest.take_left(widths.run, theme.px(24)), snapshot);
  draw_progress(theme, rest.take_left(widths.progress, theme.px(28)), snapshot, commands);
  draw_headlines(theme, rest, widths.headline_gap, input.figures);
  return result;
}

}  // namespace shardlens::ui::window
