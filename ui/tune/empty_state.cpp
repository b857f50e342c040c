#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/job_text.h"
#include "ui/tune/panels.h"

namespace shardlens::ui::tune {

namespace {

struct Hint {
  std::string_view title, body;
};

constexpr std::array<Hint, 3> kFirstSteps{
    Hint{"Start a run", "The settings at the left train a small language model on this machine"},
    Hint{"Watch it", "Step times, memory and the overlap of communication move while it trains"},
    Hint{"Turn a knob", "Change the bucket cap, start again, and compare in the ledger"},
};

constexpr std::array<Hint, 3> kFirstStepsOfAViewer{
    Hint{"Open a run", "Drop its folder or its packed file here, or Ctrl+K: Open a run"},
    Hint{"Import a trace", "What PyTorch's profiler exported, one file per rank, becomes a run"},
    Hint{"Look around", "Every event is in Inspect (Ctrl+2), two runs side by side in Compare"},
};

const state::LedgerRow* recorded_run(const state::Snapshot& snapshot) {
  if (!snapshot.ledger) return nullptr;
  for (const state::LedgerRow& row : snapshot.ledger->rows) {
    if (row.summary.steps_executed > 0) return &row;
  }
  return nullptr;
}

void draw_hint(const kit::Theme& theme, state::Rect box, int number, const Hint& hint) {
  const state::Palette& p = theme.colors();
  state::Rect mark = box.take_left(theme.px(28), theme.px(14));
  const float radius = theme.px(13);
  ImGui::GetWindowDrawList()->AddCircle({mark.center_x(), mark.y + radius}, radius,
                                        kit::color(p.idle_edge), 32,
                                        std::max(1.0f, theme.px(1.2f)));
  kit::text_in(theme, {mark.center_x() - radius, mark.y, radius * 2, radius * 2},
               kit::Face::kStrong, p.text, std::to_string(number), kit::Align::kCenter);
  kit::text_in(theme, box.take_top(theme.px(22)), kit::Face::kStrong, p.text, hint.title);
  kit::text_wrapped(theme, box, kit::Face::kBody, p.text_secondary, hint.body);
}

void draw_buttons(const kit::Theme& theme, state::Rect row, const state::Snapshot& snapshot,
                  state::Commands& commands) {
  const present::StartControls controls = present::start_controls(snapshot);
  if (snapshot.job.phase != state::JobPhase::kNone) return;  // its first step comes in a moment
  using Kind = present::StartControls::Kind;
  if (controls.kind != Kind::kViewerOnly) {
    const std::string why_not = present::why_no_start(snapshot);
    const state::Rect box = row.take_left(theme.px(96), theme.px(8));
    if (kit::answering_button(theme, "empty/start", box, kit::ButtonKind::kPrimary, "Start",
                              why_not.empty())) {
      commands.push_back(state::StartRun{});
    }
    if (!why_not.empty()) kit::explain(theme, box, "Start", why_not);
  }
  const state::LedgerRow* recorded = recorded_run(snapshot);
  if (recorded == nullptr) return;
  const std::string label = "Replay " + recorded->name;
  const float width = std::min(row.w, kit::button_width(theme, label));
  if (kit::button(theme, "empty/replay", row.take_left(width), kit::ButtonKind::kQuiet, label)) {
    commands.push_back(state::StartReplay{recorded->folder});
  }
}

}  // namespace

void draw_empty_state(const kit::Theme& theme, const state::Rect& rect,
                      const state::Snapshot& snapshot, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  kit::panel_surface(theme, rect);
  const bool waiting = present::awaits_first_step(snapshot);
  const bool has_ended = snapshot.run && !waiting;
  // Who has runs knows the way.
  const bool is_told_how = !waiting || recorded_run(snapshot) == nullptr;
  const float hint_height = theme.px(60);
  const float wanted = theme.px(28 + 24 + 24 + 44) + (is_told_how ? hint_height * 3 : 0);
  const float width = std::min(theme.px(600), rect.w - theme.px(32));
  state::Rect box{rect.center_x() - width / 2,
                  std::max(rect.y + theme.px(8), rect.center_y() - wanted / 2), width,
                  std::min(wanted, rect.h - theme.px(16))};
  kit::text_in(theme, box.take_top(theme.px(28)), kit::Face::kTitle, p.text,
               waiting     ? "The ranks are starting…"
               : has_ended ? "No step was recorded"
                           : "Nothing to show yet");
  kit::text_in(theme, box.take_top(theme.px(24), theme.px(24)), kit::Face::kBody, p.text_secondary,
               waiting     ? "The first step appears in a moment"
               : has_ended ? "What the run holds is in Inspect (Ctrl+2)"
                           : "Three things to do here");
  state::Rect buttons = box.take_bottom(theme.px(34));
  int number = 1;
  for (const Hint& hint : present::only_views(snapshot) ? kFirstStepsOfAViewer : kFirstSteps) {
    if (!is_told_how || box.h < hint_height) break;
    draw_hint(theme, box.take_top(hint_height), number++, hint);
  }
  draw_buttons(theme, buttons, snapshot, commands);
}

}  // namespace shardlens::ui::tune
