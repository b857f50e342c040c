#include "ui/window/top_bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "trace/model/run_origin.h"
#include "ui/kit/widgets.h"
#include "ui/present/headline.h"
#include "ui/state/view_preferences.h"
#include "ui/tune/layout.h"

namespace shardlens::ui {

namespace {

std::string title_of_run(const RunView& run) {
  const trace::RunInfo& info = run.figures.info;
  return run.ordinal.empty() ? run_title(info) : run.ordinal + " · " + info.name;
}

// So that a long name takes what the figures leave.
float run_width(const Theme& theme, const Snapshot& snapshot, bool brief) {
  if (!snapshot.run) return 0;
  const trace::RunInfo& info = snapshot.run->figures.info;
  return std::ceil(std::max(text_width(theme, Face::kStrong, title_of_run(*snapshot.run)),
                            text_width(theme, Face::kSmall, run_circumstances(info, brief))));
}

void draw_run(const Theme& theme, const Rect& box, const Snapshot& snapshot) {
  const Palette& p = theme.colors();
  Rect rows = box;
  const Rect first = rows.take_top(box.h / 2);
  if (!snapshot.run) {
    text_in(theme, first, Face::kStrong, p.text_secondary,
            snapshot.is_loading ? "Reading the runs…" : "No run yet");
    if (label_in(theme, rows, Face::kSmall, p.text_muted,
                 "Start one, or replay one from the ledger") == 0) {
      text_in(theme, rows, Face::kSmall, p.text_muted, "Start or replay one");
    }
    return;
  }
  const trace::RunInfo& info = snapshot.run->figures.info;
  const std::string title = title_of_run(*snapshot.run);
  text_in(theme, first, Face::kStrong, p.text, title);
  if (label_in(theme, rows, Face::kSmall, p.text_muted, run_circumstances(info)) == 0) {
    text_in(theme, rows, Face::kSmall, p.text_muted, run_circumstances(info, true));
  }
  std::string details = run_circumstances(info) +
                        (trace::has_settings(info) ? " · " + info.settings.model : "") + "\n";
  for (const std::string& line : device_lines(snapshot.run->figures)) details += line + "\n";
  details += recorder_text(snapshot.run->figures.recorder);
  explain(theme, box, title, details, info.folder);
}

void draw_progress(const Theme& theme, const Rect& box, const Snapshot& snapshot) {
  const Palette& p = theme.colors();
  const ProgressText progress = progress_text(snapshot);
  if (progress.left.empty()) return;
  Rect rows = box;
  Rect bar_row = rows.take_top(box.h / 2);
  if (progress.fraction >= 0) {
    const Rect bar{bar_row.x, bar_row.center_y() - theme.px(3), bar_row.w, theme.px(6)};
    fill(bar, color(p.field_edge), theme.px(3));
    fill({bar.x, bar.y, std::max(bar.h, bar.w * progress.fraction), bar.h}, color(p.accent),
         theme.px(3));
  } else {
    const Rgb ink = progress.failed ? p.danger : p.text_secondary;
    Rect mark = bar_row.take_left(theme.px(12), theme.px(6));
    shape(progress.failed ? Shape::kCross : Shape::kCheck, mark.center_x(), mark.center_y(),
          theme.px(11), color(progress.failed ? p.danger : p.good));
    text_in(theme, bar_row, Face::kMedium, ink, progress.left);
    text_in(theme, rows, Face::kSmall, p.text_muted, progress.right);
    explain(theme, box, "How the run ended", progress.details);
    return;
  }
  const float left = text_width(theme, Face::kSmall, progress.left) + theme.px(8);
  Rect right = rows;
  right.take_left(left);
  label_in(theme, right, Face::kSmall, p.text_muted, progress.right, Align::kRight);
  text_in(theme, rows, Face::kSmall, p.text_muted, progress.left);
}

// What its words need; seconds left grow and shrink.
float progress_width(const Theme& theme, const Snapshot& snapshot) {
  const ProgressText progress = progress_text(snapshot);
  if (progress.fraction >= 0) {
    return std::ceil(text_width(theme, Face::kSmall, progress.left)) + theme.px(8 + 56);
  }
  return std::ceil(std::max(theme.px(18) + text_width(theme, Face::kMedium, progress.left),
                            text_width(theme, Face::kSmall, progress.right)));
}

void draw_job_button(const Theme& theme, const Rect& box, const Snapshot& snapshot,
                     Commands& commands) {
  const JobPhase phase = snapshot.job.phase;
  if (phase == JobPhase::kStopping) {
    button(theme, "top/stop", box, ButtonKind::kDanger, "Stopping…", false);
  } else if (phase != JobPhase::kNone) {
    if (button(theme, "top/stop", box, ButtonKind::kDanger, "Stop")) commands.push_back(StopRun{});
  } else {
    const StartControls controls = start_controls(snapshot);
    const bool can = controls.kind == StartControls::Kind::kStart && controls.enabled;
    if (button(theme, "top/start", box, ButtonKind::kPrimary, "Start", can)) {
      commands.push_back(StartRun{});
    }
  }
}

float headline_width(const Theme& theme, const Headline& h) {
  float value = text_width(theme, Face::kMonoLarge, h.value);
  if (!h.unit.empty()) value += theme.px(4) + text_width(theme, Face::kSmall, h.unit);
  if (!h.note.empty()) value += theme.px(6) + text_width(theme, Face::kSmall, h.note);
  return std::max(value, text_width(theme, Face::kSmall, h.label));
}

void draw_headline(const Theme& theme, const Rect& box, const Headline& h) {
  const Palette& p = theme.colors();
  Rect rows = box;
  const Rect label = rows.take_top(box.h * 0.42f);
  text_in(theme, label, Face::kSmall, p.text_muted, h.label);
  const float baseline =
      std::round(rows.y + rows.h * 0.5f + cap_height(theme, Face::kMonoLarge) / 2);
  float x = rows.x + text(theme, rows.x, baseline, Face::kMonoLarge, p.text, h.value);
  if (!h.unit.empty()) {
    x += theme.px(4);
    x += text(theme, x, baseline, Face::kSmall, p.text_secondary, h.unit);
  }
  if (!h.note.empty()) text(theme, x + theme.px(6), baseline, Face::kSmall, p.text_muted, h.note);
  explain(theme, box, h.label, h.definition, h.source);
}

float headlines_width(const Theme& theme, const std::vector<Headline>& figures, float gap) {
  float width = 0;
  for (const Headline& headline : figures) width += headline_width(theme, headline) + gap;
  return width;
}

std::vector<Headline> headlines_of(const Snapshot& snapshot) {
  return snapshot.run ? headlines(snapshot.run->figures) : std::vector<Headline>{};
}

struct TopBarWidths {
  float run = 0, progress = 0, headline_gap = 0;
};

// `room` is theirs and the headlines'. Where that is too little for all, each has what its words
// need.
TopBarWidths top_bar_widths(const Theme& theme, const Snapshot& snapshot, float room, float unit) {
  const float least_run = theme.px(std::clamp(unit * 0.165f, 150.0f, 290.0f));
  TopBarWidths out{.run = least_run,
                   .progress = theme.px(std::clamp(unit * 0.125f, 110.0f, 220.0f)),
                   .headline_gap = theme.px(28)};
  const std::vector<Headline> figures = headlines_of(snapshot);
  float spare = room - out.progress - headlines_width(theme, figures, out.headline_gap);
  if (!snapshot.run || spare >= least_run) {
    out.run = std::clamp(run_width(theme, snapshot, false), least_run, std::max(least_run, spare));
    return out;
  }
  out.progress = std::min(out.progress, progress_width(theme, snapshot));
  out.headline_gap = theme.px(18);
  spare = room - out.progress - headlines_width(theme, figures, out.headline_gap);
  const float brief = std::min(run_width(theme, snapshot, true), least_run);
  out.run = std::clamp(spare, brief, least_run);
  return out;
}

void draw_headlines(const Theme& theme, Rect box, float gap, const Snapshot& snapshot) {
  std::vector<Headline> figures = headlines_of(snapshot);
  if (headlines_width(theme, figures, gap) - gap > box.w) {
    for (Headline& headline : figures) headline.note = headline.brief_note;
  }
  const auto leading = std::min<std::size_t>(figures.size(), 2);
  if (headlines_width(
          theme, {figures.begin(), figures.begin() + static_cast<std::ptrdiff_t>(leading)}, gap) -
          gap >
      box.w) {
    // Step and exposed time matter more than what stands behind them.
    for (Headline& headline : figures) headline.note.clear();
  }
  for (const Headline& headline : figures) {
    const float width = headline_width(theme, headline);
    if (width > box.w) break;  // the less important ones stand at the right
    draw_headline(theme, box.take_left(width, gap), headline);
  }
}

void draw_tools(const Theme& theme, Rect box, TopBarResult& result) {
  const Palette& p = theme.colors();
  const Rect help = box.take_right(theme.px(28)).inset(0, (box.h - theme.px(28)) / 2);
  const Hit hit = hit_area(theme, "top/help", help);
  if (hit.hovered) fill(help, color(p.hover), theme.px(6));
  text_in(theme, help, Face::kStrong, hit.hovered ? p.text : p.text_secondary, "?", Align::kCenter);
  result.toggle_help = hit.clicked;
  if (hit.hovered) tooltip(theme, "Keys", "Shows the keyboard shortcuts", "?");

  const Rect theme_button = box.take_right(theme.px(28)).inset(0, (box.h - theme.px(28)) / 2);
  const Hit theme_hit = hit_area(theme, "top/theme", theme_button);
  if (theme_hit.hovered) fill(theme_button, color(p.hover), theme.px(6));
  const ImVec2 center(theme_button.center_x(), theme_button.center_y());
  const ImU32 ink = color(theme_hit.hovered ? p.text : p.text_secondary);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddCircle(center, theme.px(6), ink, 24, std::max(1.0f, theme.px(1.3f)));
  list->PathArcTo(center, theme.px(6), -1.5708f, 1.5708f, 16);
  list->PathFillConvex(ink);
  result.toggle_theme = theme_hit.clicked;
  if (theme_hit.hovered) tooltip(theme, "Theme", "Changes between dark and light", "Ctrl+T");
}

struct WorkspaceTab {
  const char* id;
  std::string_view label, explanation, keys;
};
constexpr std::array<WorkspaceTab, 2> kWorkspaces{
    WorkspaceTab{kTuneWorkspace, "Tune", "What did this knob do, what would that one do?",
                 "Ctrl+1"},
    WorkspaceTab{kInspectWorkspace, "Inspect", "Where did the time go?", "Ctrl+2"}};
constexpr float kWidthForTabRow = 1180;  // below it they lie one above the other

void draw_workspace_tab(const Theme& theme, const Rect& box, const WorkspaceTab& tab, bool active,
                        bool small, TopBarResult& result) {
  const Palette& p = theme.colors();
  const Hit hit = hit_area(theme, std::string("top/") + tab.id, box);
  const float rounding = std::min(box.h / 2, theme.px(14));
  if (active) fill(box, color(mix(p.panel, p.accent, 0.2)), rounding);
  if (hit.hovered && !active) fill(box, color(p.hover), rounding);
  const Face face = small ? Face::kSmall : active ? Face::kStrong : Face::kMedium;
  text_in(theme, box, face, active || hit.hovered ? p.text : p.text_secondary, tab.label,
          Align::kCenter);
  if (hit.hovered) tooltip(theme, tab.label, tab.explanation, tab.keys);
  if (hit.clicked) result.workspace = tab.id;
}

// Takes its room from `rest`.
void draw_workspaces(const Theme& theme, Rect& rest, bool stacked, std::string_view shown,
                     TopBarResult& result) {
  const Face face = stacked ? Face::kSmall : Face::kStrong;
  const float padding = theme.px(stacked ? 8 : 12);
  float widest = 0;
  for (const WorkspaceTab& tab : kWorkspaces) {
    widest = std::max(widest, std::ceil(text_width(theme, face, tab.label)));
  }
  Rect column = stacked ? rest.take_left(widest + 2 * padding, theme.px(16)) : Rect{};
  for (const WorkspaceTab& tab : kWorkspaces) {
    Rect box;
    if (stacked) {
      box = column.take_top(column.h / static_cast<float>(&tab == &kWorkspaces.front() ? 2 : 1));
    } else {
      const float width = std::ceil(text_width(theme, face, tab.label)) + 2 * padding;
      box = rest.take_left(width, theme.px(4)).inset(0, std::round((rest.h - theme.px(28)) / 2));
    }
    draw_workspace_tab(theme, box, tab, shown == tab.id, stacked, result);
  }
  if (!stacked) rest.take_left(theme.px(20));
}

}  // namespace

TopBarResult draw_top_bar(const Theme& theme, const Rect& rect, std::string_view workspace,
                          const Snapshot& snapshot, Commands& commands) {
  const Palette& p = theme.colors();
  TopBarResult result;
  fill(rect, color(p.panel));
  line(rect.x, rect.bottom() - 1, rect.right(), rect.bottom() - 1, color(p.panel_edge));
  Rect rest = rect.inset(theme.px(16), theme.px(8));
  const float unit = rect.w / theme.scale;
  const Rect brand = rest.take_left(text_width(theme, Face::kTitle, "Shardlens"), theme.px(24));
  text_in(theme, brand, Face::kTitle, p.text, "Shardlens");
  draw_tools(theme, rest.take_right(theme.px(60), theme.px(8)), result);
  draw_workspaces(theme, rest, unit < kWidthForTabRow, workspace, result);

  const float job = theme.px(snapshot.job.phase == JobPhase::kStopping ? 96 : 72);
  const float gaps = theme.px(24 + 16 + 28);
  const TopBarWidths widths = top_bar_widths(theme, snapshot, rest.w - job - gaps, unit);
  draw_run(theme, rest.take_left(widths.run, theme.px(24)), snapshot);
  draw_progress(theme, rest.take_left(widths.progress, theme.px(16)), snapshot);
  Rect action = rest.take_left(job, theme.px(28));
  action = action.inset(0, (action.h - theme.px(30)) / 2);
  draw_job_button(theme, action, snapshot, commands);
  draw_headlines(theme, rest, widths.headline_gap, snapshot);
  return result;
}

void draw_messages(const Theme& theme, const Rect& rect, const std::vector<Message>& lines) {
  const Palette& p = theme.colors();
  Rect rows = rect;
  for (const Message& message : lines) {
    const Rect row = rows.take_top(theme.px(kMessageHeight)).inset(0, theme.px(1));
    fill(row, color(message.is_error ? p.danger_field : p.panel), theme.px(6));
    outline(row, color(message.is_error ? p.danger : p.panel_edge), theme.px(6));
    Rect inner = row.inset(theme.px(12), 0);
    const Rect mark = inner.take_left(theme.px(14), theme.px(8));
    const Rgb ink = message.is_error ? p.on_danger : p.text_secondary;
    shape(message.is_answer ? Shape::kCheck : Shape::kWarning, mark.center_x(), mark.center_y(),
          theme.px(12), color(ink));
    text_in(theme, inner, Face::kBody, ink, message.text);
    explain(theme, row,
            message.is_error    ? "What went wrong"
            : message.is_answer ? "What came of it"
                                : "About this run",
            message.text);
  }
}

}  // namespace shardlens::ui
