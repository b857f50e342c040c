#include "ui/tune/empty_state.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "ui/kit/widgets.h"
#include "ui/present/job_text.h"

namespace shardlens::ui {

namespace {

struct Hint {
  std::string_view title, body;
};

constexpr std::array<Hint, 3> kFirstSteps{
    Hint{"Start a run", "The settings at the left train a small language model on this machine"},
    Hint{"Watch it", "Step times, memory and the overlap of communication move while it trains"},
    Hint{"Turn a knob", "Change the bucket cap, start again, and compare in the ledger"},
};

const LedgerRow* recorded_run(const Snapshot& snapshot) {
  if (!snapshot.ledger) return nullptr;
  for (const LedgerRow& row : snapshot.ledger->rows) {
    if (row.summary.steps_executed > 0) return &row;
  }
  return nullptr;
}

void draw_hint(const Look& look, Rect box, int number, const Hint& hint) {
  const Palette& p = look.colors();
  Rect mark = box.take_left(look.px(28), look.px(14));
  const float radius = look.px(13);
  ImGui::GetWindowDrawList()->AddCircle({mark.center_x(), mark.y + radius}, radius,
                                        color(p.idle_edge), 32, std::max(1.0f, look.px(1.2f)));
  text_in(look, {mark.center_x() - radius, mark.y, radius * 2, radius * 2}, Face::kStrong, p.text,
          std::to_string(number), Align::kCenter);
  text_in(look, box.take_top(look.px(22)), Face::kStrong, p.text, hint.title);
  text_wrapped(look, box, Face::kBody, p.text_secondary, hint.body);
}

void draw_buttons(const Look& look, Rect row, const Snapshot& snapshot, Commands& commands) {
  const StartControls controls = start_controls(snapshot);
  if (snapshot.job.phase == JobPhase::kNone) {
    const bool can = controls.kind == StartControls::Kind::kStart && controls.enabled;
    if (button(look, "empty/start", row.take_left(look.px(96), look.px(8)), ButtonKind::kPrimary,
               "Start", can)) {
      commands.push_back(StartRun{});
    }
  }
  const LedgerRow* recorded = recorded_run(snapshot);
  if (recorded == nullptr) return;
  const std::string label = "Replay " + recorded->name;
  const float width = std::min(row.w, button_width(look, label));
  if (button(look, "empty/replay", row.take_left(width), ButtonKind::kQuiet, label)) {
    commands.push_back(StartReplay{recorded->folder});
  }
}

}  // namespace

void draw_empty_state(const Look& look, const Rect& rect, const Snapshot& snapshot,
                      Commands& commands) {
  const Palette& p = look.colors();
  fill(rect, color(p.panel), look.px(6));
  outline(rect, color(p.panel_edge), look.px(6));
  const bool waiting = snapshot.job.phase != JobPhase::kNone;
  // Who has runs knows the way.
  const bool is_told_how = !waiting || recorded_run(snapshot) == nullptr;
  const float hint_height = look.px(60);
  const float wanted = look.px(28 + 24 + 24 + 44) + (is_told_how ? hint_height * 3 : 0);
  const float width = std::min(look.px(600), rect.w - look.px(32));
  Rect box{rect.center_x() - width / 2, std::max(rect.y + look.px(8), rect.center_y() - wanted / 2),
           width, std::min(wanted, rect.h - look.px(16))};
  text_in(look, box.take_top(look.px(28)), Face::kTitle, p.text,
          waiting ? "The ranks are starting…" : "Nothing to show yet");
  text_in(look, box.take_top(look.px(24), look.px(24)), Face::kBody, p.text_secondary,
          waiting ? "The first step appears in a moment" : "Three things to do here");
  Rect buttons = box.take_bottom(look.px(34));
  int number = 1;
  for (const Hint& hint : kFirstSteps) {
    if (!is_told_how || box.h < hint_height) break;
    draw_hint(look, box.take_top(hint_height), number++, hint);
  }
  draw_buttons(look, buttons, snapshot, commands);
}

}  // namespace shardlens::ui
