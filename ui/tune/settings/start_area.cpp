// The foot of the knobs panel: what Start does is written on it, or how the trainer's set-up goes.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/job_text.h"
#include "ui/tune/settings/knobs_panel.h"

namespace shardlens::ui::tune {

namespace {

using Kind = present::StartControls::Kind;

void draw_setup(const kit::Theme& theme, state::Rect box, const state::Snapshot& snapshot,
                const present::StartControls& controls) {
  const state::Palette& p = theme.colors();
  kit::text_in(theme, box.take_top(theme.px(20)), kit::Face::kStrong, p.text, controls.label);
  if (controls.kind == Kind::kInstalling) {
    state::Rect bar = box.take_top(theme.px(16));
    bar = bar.inset(0, theme.px(5));
    kit::fill(bar, kit::color(p.field_edge), theme.px(3));
    const double fraction = snapshot.trainer.fraction;
    if (fraction >= 0) {
      kit::fill({bar.x, bar.y, bar.w * static_cast<float>(std::min(fraction, 1.0)), bar.h},
                kit::color(p.accent), theme.px(3));
    } else {
      kit::hatch(theme, bar, kit::color(p.accent));
    }
  }
  kit::text_wrapped(theme, box, kit::Face::kSmall, p.text_muted, controls.detail);
}

void draw_setup_failed(const kit::Theme& theme, state::Rect box,
                       const present::StartControls& controls, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  if (kit::button(theme, "start/retry", box.take_top(theme.px(36), theme.px(8)),
                  kit::ButtonKind::kQuiet, controls.label)) {
    commands.push_back(state::RetryTrainerSetup{});
  }
  kit::text_wrapped(theme, box, kit::Face::kSmall, p.danger, controls.detail);
}

constexpr float kQueueRow = 24;
constexpr std::size_t kQueueRows = 4;  // more are scrolled to

// More runs than can be seen at once are counted above them.
bool counts_queue(const state::Snapshot& snapshot) {
  return snapshot.job.queued.size() > kQueueRows;
}

float queue_height(const kit::Theme& theme, const state::Snapshot& snapshot) {
  const auto rows = std::min(snapshot.job.queued.size(), kQueueRows) +
                    std::size_t{counts_queue(snapshot) ? 1U : 0U};
  return rows == 0 ? 0 : theme.px(kQueueRow) * static_cast<float>(rows) + theme.px(8);
}

void draw_queue_head(const kit::Theme& theme, state::Rect row, const state::Snapshot& snapshot,
                     state::Commands& commands) {
  constexpr std::string_view kCancelAll = "Cancel all";
  const float width = kit::text_width(theme, kit::Face::kSmall, kCancelAll) + theme.px(12);
  const state::Rect cancel = row.take_right(width, theme.px(4));
  if (kit::button(theme, "queue/cancel all", cancel.inset(0, theme.px(1)), kit::ButtonKind::kGhost,
                  kCancelAll)) {
    commands.push_back(state::CancelQueued{});
  }
  kit::note_in(theme, row, std::to_string(snapshot.job.queued.size()) + " runs are queued");
}

// What starts one after another when the job that runs ends.
void draw_queue(const kit::Theme& theme, const state::Rect& box, const state::Snapshot& snapshot,
                state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const kit::Panel panel(theme, "queue", box, {.scrolls = true, .plain = true});
  const auto& queued = snapshot.job.queued;
  const std::vector<std::string> names = present::queued_names(snapshot.job);
  for (std::size_t i = 0; i < queued.size(); ++i) {
    state::Rect row{box.x, panel.body.y + theme.px(kQueueRow) * static_cast<float>(i),
                    box.w - theme.px(6), theme.px(kQueueRow)};
    const std::string name = "queue/" + std::to_string(queued[i].id);
    if (kit::icon_button(theme, name + "/remove", row.take_right(theme.px(22)),
                         kit::Shape::kCross)) {
      commands.push_back(state::CancelQueued{queued[i].id});
    }
    const state::Rect earlier = row.take_right(theme.px(22), theme.px(4));
    if (i > 0 && kit::icon_button(theme, name + "/earlier", earlier, kit::Shape::kUp)) {
      commands.push_back(state::MoveQueued{queued[i].id, -1});
    }
    kit::text_in(theme, row, kit::Face::kSmall, p.text_secondary,
                 (i == 0 ? "Next: " : "Then: ") + names[i]);
    kit::explain(theme, row, queued[i].name, "Starts when the runs before it have ended");
  }
  panel.content_height(theme.px(kQueueRow) * static_cast<float>(queued.size()));
}

std::string main_label(const present::StartControls& controls) {
  if (controls.detail.empty()) return controls.label;
  return controls.label + " · " + controls.detail;
}

struct CardButton {
  std::string_view name, label, title, explanation;
  bool searches;
};
// Right of Start, from the right.
constexpr std::array<CardButton, 2> kBesideStart{
    {{"start/search", "Search…", "Search",
      "Runs these settings, predicts strategies and their knobs from that run, tries what may win "
      "beyond noise, the most promising first, and says how sure the gain is",
      true},
     {"start/sweep", "Sweep…", "Sweep",
      "Tries many values of one or more settings, each several times in random order, and says "
      "which is best beyond noise",
      false}}};

// With their gaps.
float beside_start_width(const kit::Theme& theme) {
  float width = 0;
  for (const CardButton& button : kBesideStart) {
    width += kit::button_width(theme, button.label) + theme.px(8);
  }
  return width;
}

// Take their room from the right of `row`.
void draw_beside_start(const kit::Theme& theme, state::Rect& row, state::Commands& commands) {
  for (const CardButton& button : kBesideStart) {
    const state::Rect box = row.take_right(kit::button_width(theme, button.label), theme.px(8));
    if (kit::button(theme, button.name, box, kit::ButtonKind::kQuiet, button.label)) {
      commands.push_back(state::OpenSweepCard{.knob = {}, .searches = button.searches});
    }
    kit::explain(theme, box, button.title, button.explanation);
  }
}

// A long name stands under the button instead of being cut on it.
bool name_fits(const kit::Theme& theme, const present::StartControls& controls, float width) {
  return kit::text_width(theme, kit::Face::kStrong, main_label(controls)) <= width - theme.px(16);
}

// Of the name under the button, with the gap below: a line or two.
float name_height(const kit::Theme& theme, const present::StartControls& controls, float width) {
  return theme.px(8) + kit::wrapped_height(theme, kit::Face::kSmall, width, controls.detail, 2);
}

}  // namespace

float start_area_height(const kit::Theme& theme, float width, const state::Snapshot& snapshot) {
  const present::StartControls controls = present::start_controls(snapshot);
  const float padding = 2 * theme.px(kit::kPanelPadding);
  switch (controls.kind) {
    case Kind::kInstalling:
      return padding + theme.px(20 + 16 + 34);
    case Kind::kInstallFailed:
      return padding + theme.px(36 + 8 + 64);
    case Kind::kViewerOnly:
      return padding + theme.px(20 + 34);
    case Kind::kStart:
    case Kind::kQueue:
      break;
  }
  float height = padding + theme.px(36) + queue_height(theme, snapshot);
  if (!name_fits(theme, controls, width - padding - beside_start_width(theme))) {
    height += name_height(theme, controls, width - padding);
  }
  if (!controls.stop_and_start.empty()) height += theme.px(8 + 30);
  return height;
}

void draw_start_area(const kit::Theme& theme, const state::Rect& rect,
                     const state::Snapshot& snapshot, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const present::StartControls controls = present::start_controls(snapshot);
  state::Rect rest = rect;
  switch (controls.kind) {
    case Kind::kInstalling:
    case Kind::kViewerOnly:
      return draw_setup(theme, rest, snapshot, controls);
    case Kind::kInstallFailed:
      return draw_setup_failed(theme, rest, controls, commands);
    case Kind::kStart:
    case Kind::kQueue:
      break;
  }
  if (const float queue = queue_height(theme, snapshot); queue > 0) {
    state::Rect rows = rest.take_top(queue);
    rows.h -= theme.px(8);
    if (counts_queue(snapshot)) {
      draw_queue_head(theme, rows.take_top(theme.px(kQueueRow)), snapshot, commands);
    }
    draw_queue(theme, rows, snapshot, commands);
    ImGui::SetCursorScreenPos({rest.x, rest.y});
  }
  const bool fits = name_fits(theme, controls, rect.w - beside_start_width(theme));
  state::Rect main = rest.take_top(theme.px(36), fits ? theme.px(8) : 0);
  draw_beside_start(theme, main, commands);
  if (!fits) {
    state::Rect name = rest.take_top(name_height(theme, controls, rect.w), theme.px(8));
    name.take_top(theme.px(5));
    kit::text_wrapped(theme, name, kit::Face::kSmall, p.text_secondary, controls.detail);
  }
  if (kit::button(theme, "start/main", main, kit::ButtonKind::kPrimary,
                  fits ? main_label(controls) : controls.label, controls.enabled)) {
    commands.push_back(state::StartRun{});
  }
  kit::explain(
      theme, main, main_label(controls),
      controls.enabled ? "Starts with the settings above" : present::why_no_start(snapshot),
      "Ctrl+Enter");
  if (controls.stop_and_start.empty()) return;
  if (kit::button(theme, "start/stop_and_start", rest.take_top(theme.px(30)),
                  kit::ButtonKind::kQuiet, controls.stop_and_start, controls.enabled)) {
    commands.push_back(state::StartRun{.stop_current = true});
  }
}

}  // namespace shardlens::ui::tune
