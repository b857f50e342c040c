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
float run_width(const Look& look, const Snapshot& snapshot, bool brief) {
  if (!snapshot.run) return 0;
  const trace::RunInfo& info = snapshot.run->figures.info;
  return std::ceil(std::max(text_width(look, Face::kStrong, title_of_run(*snapshot.run)),
                            text_width(look, Face::kSmall, run_circumstances(info, brief))));
}

void draw_run(const Look& look, const Rect& box, const Snapshot& snapshot) {
  const Palette& p = look.colors();
  Rect rows = box;
  const Rect first = rows.take_top(box.h / 2);
  if (!snapshot.run) {
    text_in(look, first, Face::kStrong, p.text_secondary,
            snapshot.is_loading ? "Reading the runs…" : "No run yet");
    if (label_in(look, rows, Face::kSmall, p.text_muted,
                 "Start one, or replay one from the ledger") == 0) {
      text_in(look, rows, Face::kSmall, p.text_muted, "Start or replay one");
    }
    return;
  }
  const trace::RunInfo& info = snapshot.run->figures.info;
  const std::string title = title_of_run(*snapshot.run);
  text_in(look, first, Face::kStrong, p.text, title);
  if (label_in(look, rows, Face::kSmall, p.text_muted, run_circumstances(info)) == 0) {
    text_in(look, rows, Face::kSmall, p.text_muted, run_circumstances(info, true));
  }
  std::string details = run_circumstances(info) +
                        (trace::has_settings(info) ? " · " + info.settings.model : "") + "\n";
  for (const std::string& line : device_lines(snapshot.run->figures)) details += line + "\n";
  details += recorder_text(snapshot.run->figures.recorder);
  explain(look, box, title, details, info.folder);
}

void draw_progress(const Look& look, const Rect& box, const Snapshot& snapshot) {
  const Palette& p = look.colors();
  const ProgressText progress = progress_text(snapshot);
  if (progress.left.empty()) return;
  Rect rows = box;
  Rect bar_row = rows.take_top(box.h / 2);
  if (progress.fraction >= 0) {
    const Rect bar{bar_row.x, bar_row.center_y() - look.px(3), bar_row.w, look.px(6)};
    fill(bar, color(p.field_edge), look.px(3));
    fill({bar.x, bar.y, std::max(bar.h, bar.w * progress.fraction), bar.h}, color(p.accent),
         look.px(3));
  } else {
    const Rgb ink = progress.failed ? p.danger : p.text_secondary;
    Rect mark = bar_row.take_left(look.px(12), look.px(6));
    shape(progress.failed ? Shape::kCross : Shape::kCheck, mark.center_x(), mark.center_y(),
          look.px(11), color(progress.failed ? p.danger : p.good));
    text_in(look, bar_row, Face::kMedium, ink, progress.left);
    text_in(look, rows, Face::kSmall, p.text_muted, progress.right);
    explain(look, box, "How the run ended", progress.details);
    return;
  }
  const float left = text_width(look, Face::kSmall, progress.left) + look.px(8);
  Rect right = rows;
  right.take_left(left);
  label_in(look, right, Face::kSmall, p.text_muted, progress.right, Align::kRight);
  text_in(look, rows, Face::kSmall, p.text_muted, progress.left);
}

// What its words need; seconds left grow and shrink.
float progress_width(const Look& look, const Snapshot& snapshot) {
  const ProgressText progress = progress_text(snapshot);
  if (progress.fraction >= 0) {
    return std::ceil(text_width(look, Face::kSmall, progress.left)) + look.px(8 + 56);
  }
  return std::ceil(std::max(look.px(18) + text_width(look, Face::kMedium, progress.left),
                            text_width(look, Face::kSmall, progress.right)));
}

void draw_job_button(const Look& look, const Rect& box, const Snapshot& snapshot,
                     Commands& commands) {
  const JobPhase phase = snapshot.job.phase;
  if (phase == JobPhase::kStopping) {
    button(look, "top/stop", box, ButtonKind::kDanger, "Stopping…", false);
  } else if (phase != JobPhase::kNone) {
    if (button(look, "top/stop", box, ButtonKind::kDanger, "Stop")) commands.push_back(StopRun{});
  } else {
    const StartControls controls = start_controls(snapshot);
    const bool can = controls.kind == StartControls::Kind::kStart && controls.enabled;
    if (button(look, "top/start", box, ButtonKind::kPrimary, "Start", can)) {
      commands.push_back(StartRun{});
    }
  }
}

float headline_width(const Look& look, const Headline& h) {
  float value = text_width(look, Face::kMonoLarge, h.value);
  if (!h.unit.empty()) value += look.px(4) + text_width(look, Face::kSmall, h.unit);
  if (!h.note.empty()) value += look.px(6) + text_width(look, Face::kSmall, h.note);
  return std::max(value, text_width(look, Face::kSmall, h.label));
}

void draw_headline(const Look& look, const Rect& box, const Headline& h) {
  const Palette& p = look.colors();
  Rect rows = box;
  const Rect label = rows.take_top(box.h * 0.42f);
  text_in(look, label, Face::kSmall, p.text_muted, h.label);
  const float baseline =
      std::round(rows.y + rows.h * 0.5f + cap_height(look, Face::kMonoLarge) / 2);
  float x = rows.x + text(look, rows.x, baseline, Face::kMonoLarge, p.text, h.value);
  if (!h.unit.empty()) {
    x += look.px(4);
    x += text(look, x, baseline, Face::kSmall, p.text_secondary, h.unit);
  }
  if (!h.note.empty()) text(look, x + look.px(6), baseline, Face::kSmall, p.text_muted, h.note);
  explain(look, box, h.label, h.definition, h.source);
}

float headlines_width(const Look& look, const std::vector<Headline>& figures, float gap) {
  float width = 0;
  for (const Headline& headline : figures) width += headline_width(look, headline) + gap;
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
TopBarWidths top_bar_widths(const Look& look, const Snapshot& snapshot, float room, float unit) {
  const float least_run = look.px(std::clamp(unit * 0.165f, 150.0f, 290.0f));
  TopBarWidths out{.run = least_run,
                   .progress = look.px(std::clamp(unit * 0.125f, 110.0f, 220.0f)),
                   .headline_gap = look.px(28)};
  const std::vector<Headline> figures = headlines_of(snapshot);
  float spare = room - out.progress - headlines_width(look, figures, out.headline_gap);
  if (!snapshot.run || spare >= least_run) {
    out.run = std::clamp(run_width(look, snapshot, false), least_run, std::max(least_run, spare));
    return out;
  }
  out.progress = std::min(out.progress, progress_width(look, snapshot));
  out.headline_gap = look.px(18);
  spare = room - out.progress - headlines_width(look, figures, out.headline_gap);
  const float brief = std::min(run_width(look, snapshot, true), least_run);
  out.run = std::clamp(spare, brief, least_run);
  return out;
}

void draw_headlines(const Look& look, Rect box, float gap, const Snapshot& snapshot) {
  std::vector<Headline> figures = headlines_of(snapshot);
  if (headlines_width(look, figures, gap) - gap > box.w) {
    for (Headline& headline : figures) headline.note = headline.brief_note;
  }
  const auto leading = std::min<std::size_t>(figures.size(), 2);
  if (headlines_width(
          look, {figures.begin(), figures.begin() + static_cast<std::ptrdiff_t>(leading)}, gap) -
          gap >
      box.w) {
    // Step and exposed time matter more than what stands behind them.
    for (Headline& headline : figures) headline.note.clear();
  }
  for (const Headline& headline : figures) {
    const float width = headline_width(look, headline);
    if (width > box.w) break;  // the less important ones stand at the right
    draw_headline(look, box.take_left(width, gap), headline);
  }
}

void draw_tools(const Look& look, Rect box, TopBarResult& result) {
  const Palette& p = look.colors();
  const Rect help = box.take_right(look.px(28)).inset(0, (box.h - look.px(28)) / 2);
  const Hit hit = hit_area(look, "top/help", help);
  if (hit.hovered) fill(help, color(p.hover), look.px(6));
  text_in(look, help, Face::kStrong, hit.hovered ? p.text : p.text_secondary, "?", Align::kCenter);
  result.toggle_help = hit.clicked;
  if (hit.hovered) tooltip(look, "Keys", "Shows the keyboard shortcuts", "?");

  const Rect theme = box.take_right(look.px(28)).inset(0, (box.h - look.px(28)) / 2);
  const Hit theme_hit = hit_area(look, "top/theme", theme);
  if (theme_hit.hovered) fill(theme, color(p.hover), look.px(6));
  const ImVec2 center(theme.center_x(), theme.center_y());
  const ImU32 ink = color(theme_hit.hovered ? p.text : p.text_secondary);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddCircle(center, look.px(6), ink, 24, std::max(1.0f, look.px(1.3f)));
  list->PathArcTo(center, look.px(6), -1.5708f, 1.5708f, 16);
  list->PathFillConvex(ink);
  result.toggle_theme = theme_hit.clicked;
  if (theme_hit.hovered) tooltip(look, "Theme", "Changes between dark and light", "Ctrl+T");
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

void draw_workspace_tab(const Look& look, const Rect& box, const WorkspaceTab& tab, bool active,
                        bool small, TopBarResult& result) {
  const Palette& p = look.colors();
  const Hit hit = hit_area(look, std::string("top/") + tab.id, box);
  const float rounding = std::min(box.h / 2, look.px(14));
  if (active) fill(box, color(mix(p.panel, p.accent, 0.2)), rounding);
  if (hit.hovered && !active) fill(box, color(p.hover), rounding);
  const Face face = small ? Face::kSmall : active ? Face::kStrong : Face::kMedium;
  text_in(look, box, face, active || hit.hovered ? p.text : p.text_secondary, tab.label,
          Align::kCenter);
  if (hit.hovered) tooltip(look, tab.label, tab.explanation, tab.keys);
  if (hit.clicked) result.workspace = tab.id;
}

// Takes its room from `rest`.
void draw_workspaces(const Look& look, Rect& rest, bool stacked, std::string_view shown,
                     TopBarResult& result) {
  const Face face = stacked ? Face::kSmall : Face::kStrong;
  const float padding = look.px(stacked ? 8 : 12);
  float widest = 0;
  for (const WorkspaceTab& tab : kWorkspaces) {
    widest = std::max(widest, std::ceil(text_width(look, face, tab.label)));
  }
  Rect column = stacked ? rest.take_left(widest + 2 * padding, look.px(16)) : Rect{};
  for (const WorkspaceTab& tab : kWorkspaces) {
    Rect box;
    if (stacked) {
      box = column.take_top(column.h / static_cast<float>(&tab == &kWorkspaces.front() ? 2 : 1));
    } else {
      const float width = std::ceil(text_width(look, face, tab.label)) + 2 * padding;
      box = rest.take_left(width, look.px(4)).inset(0, std::round((rest.h - look.px(28)) / 2));
    }
    draw_workspace_tab(look, box, tab, shown == tab.id, stacked, result);
  }
  if (!stacked) rest.take_left(look.px(20));
}

}  // namespace

TopBarResult draw_top_bar(const Look& look, const Rect& rect, std::string_view workspace,
                          const Snapshot& snapshot, Commands& commands) {
  const Palette& p = look.colors();
  TopBarResult result;
  fill(rect, color(p.panel));
  line(rect.x, rect.bottom() - 1, rect.right(), rect.bottom() - 1, color(p.panel_edge));
  Rect rest = rect.inset(look.px(16), look.px(8));
  const float unit = rect.w / look.scale;
  const Rect brand = rest.take_left(text_width(look, Face::kTitle, "Shardlens"), look.px(24));
  text_in(look, brand, Face::kTitle, p.text, "Shardlens");
  draw_tools(look, rest.take_right(look.px(60), look.px(8)), result);
  draw_workspaces(look, rest, unit < kWidthForTabRow, workspace, result);

  const float job = look.px(snapshot.job.phase == JobPhase::kStopping ? 96 : 72);
  const float gaps = look.px(24 + 16 + 28);
  const TopBarWidths widths = top_bar_widths(look, snapshot, rest.w - job - gaps, unit);
  draw_run(look, rest.take_left(widths.run, look.px(24)), snapshot);
  draw_progress(look, rest.take_left(widths.progress, look.px(16)), snapshot);
  Rect action = rest.take_left(job, look.px(28));
  action = action.inset(0, (action.h - look.px(30)) / 2);
  draw_job_button(look, action, snapshot, commands);
  draw_headlines(look, rest, widths.headline_gap, snapshot);
  return result;
}

void draw_messages(const Look& look, const Rect& rect, const std::vector<Message>& lines) {
  const Palette& p = look.colors();
  Rect rows = rect;
  for (const Message& message : lines) {
    const Rect row = rows.take_top(look.px(kMessageHeight)).inset(0, look.px(1));
    fill(row, color(message.is_error ? p.danger_field : p.panel), look.px(6));
    outline(row, color(message.is_error ? p.danger : p.panel_edge), look.px(6));
    Rect inner = row.inset(look.px(12), 0);
    const Rect mark = inner.take_left(look.px(14), look.px(8));
    const Rgb ink = message.is_error ? p.on_danger : p.text_secondary;
    shape(message.is_answer ? Shape::kCheck : Shape::kWarning, mark.center_x(), mark.center_y(),
          look.px(12), color(ink));
    text_in(look, inner, Face::kBody, ink, message.text);
    explain(look, row,
            message.is_error    ? "What went wrong"
            : message.is_answer ? "What came of it"
                                : "About this run",
            message.text);
  }
}

}  // namespace shardlens::ui
