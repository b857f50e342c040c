#include "ui/tune/settings/knobs_panel.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/step_chart.h"
#include "ui/present/tune/prediction_text.h"
#include "ui/tune/settings/knob_row.h"

namespace shardlens::ui::tune {

namespace {

// All of it: what to do about a refusal is said at its end, and so is what is left out.
constexpr float kPredictionTitle = 18;
constexpr std::size_t kMostDetailLines = 9;

float prediction_card_height(const kit::Theme& theme, float width,
                             const present::PredictionNote& note) {
  return theme.px(kPredictionTitle) +
         kit::wrapped_height(theme, kit::Face::kSmall, width, note.detail, kMostDetailLines);
}

// Of the run that is predicted from. The ledger knows it of the baseline's job.
std::optional<double> apart_by_chance(const state::Snapshot& snapshot) {
  if (!snapshot.ledger) return std::nullopt;
  if (present::shown_of_baselines_job(*snapshot.ledger) == nullptr) return std::nullopt;
  return snapshot.ledger->apart;
}

void draw_prediction_card(const kit::Theme& theme, const state::Rect& rect,
                          const present::PredictionNote& note) {
  const state::Palette& p = theme.colors();
  state::Rect rest = rect;
  kit::text_in(theme, rest.take_top(theme.px(kPredictionTitle)), kit::Face::kMedium,
               note.is_refused ? p.text_muted : p.changed, note.title);
  kit::text_wrapped(theme, rest, kit::Face::kSmall, p.text_muted, note.detail);
  if (!kit::hovers(rect)) return;
  const kit::TooltipScope scope(theme);
  scope.title(note.title);
  if (note.is_refused) scope.note(note.detail);
  for (const auto& row : note.rows) scope.row(row.name, row.value);
  for (const auto& text : note.notes) scope.note(text);
}

void draw_group_heading(const kit::Theme& theme, const state::Rect& rect,
                        trace::job::KnobGroup group) {
  const state::Palette& p = theme.colors();
  state::Rect row = rect;
  row.take_top(theme.px(6));
  kit::take_text(theme, row, theme.px(10), kit::Face::kHeading, p.heading,
                 trace::job::to_string(group));
  kit::line(row.x, std::round(row.center_y()), row.right(), std::round(row.center_y()),
            kit::color(p.panel_edge));
}

bool draw_more(const kit::Theme& theme, const state::Rect& rect, const present::KnobRow& row) {
  const state::Palette& p = theme.colors();
  const std::string name = "more/" + std::string(trace::job::to_string(row.group));
  const std::string label =
      row.hidden > 0 ? std::to_string(row.hidden) + " more" : std::string("fewer");
  state::Rect box = rect;
  box.w = std::min(rect.w, kit::text_width(theme, kit::Face::kSmall, label) + theme.px(20));
  const kit::Hit hit = kit::hit_area(theme, name, box);
  const state::Rgb ink = hit.hovered ? p.text : p.accent_text;
  const state::Rect mark = box.take_left(theme.px(10), theme.px(5));
  kit::shape(row.hidden > 0 ? kit::Shape::kRight : kit::Shape::kUp, mark.x + theme.px(4),
             mark.center_y(), theme.px(7), kit::color(ink));
  kit::text_in(theme, box, kit::Face::kSmall, ink, label);
  return hit.clicked;
}

constexpr float kReset = 48;  // with its gap

float baseline_height(const kit::Theme& theme, float width, const state::Snapshot& snapshot) {
  const std::string summary = present::change_summary(snapshot.knobs);
  const float text =
      kit::wrapped_height(theme, kit::Face::kSmall, width - theme.px(kReset), summary);
  return std::max(theme.px(16), text);
}

void draw_baseline_row(const kit::Theme& theme, state::Rect rect, const state::Snapshot& snapshot,
                       state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const std::string summary = present::change_summary(snapshot.knobs);
  if (summary.empty()) {
    kit::note_in(theme, rect, present::unchanged_text(snapshot.knobs));
    return;
  }
  state::Rect reset = rect.take_right(theme.px(kReset));
  reset.h = theme.px(16);
  reset = reset.take_right(kit::text_width(theme, kit::Face::kSmall, "Reset"));
  if (kit::link(theme, "knobs/reset", reset, p.accent_text, "Reset")) {
    commands.push_back(state::ResetKnobs{});
  }
  kit::text_wrapped(theme, rect, kit::Face::kSmall, p.changed, summary);
  kit::explain(theme, rect, "Changed settings", summary);
}

}  // namespace

void KnobsPanel::reveal(std::string_view knob_name) {
  const trace::job::Knob* knob = trace::job::find_knob(knob_name);
  if (knob == nullptr) return;
  if (!knob->essential) unfolded_[static_cast<std::size_t>(knob->group)] = true;
  reveal_ = std::string(knob->name);
}

const present::KnobChart* KnobsPanel::chart_of(const state::Snapshot& snapshot,
                                               const present::KnobRow& row) {
  if (row.control != present::KnobControl::kSliderInput || row.knob == nullptr) return nullptr;
  if (charted_ != snapshot.version) charts_.clear();
  charted_ = snapshot.version;
  const auto [known, is_new] = charts_.try_emplace(row.knob);
  if (is_new) known->second = present::knob_chart(snapshot, *row.knob);
  return known->second ? &*known->second : nullptr;
}

KnobRowExtras KnobsPanel::extras_of(const state::Snapshot& snapshot, const present::KnobRow& row) {
  KnobRowExtras extras{.snapshot = snapshot, .chart = chart_of(snapshot, row)};
  const bool is_knob = row.kind == present::KnobRow::Kind::kKnob;
  if (is_knob) extras.hint = present::choice_hint(snapshot, *row.knob);
  const bool has_slider = is_knob && row.control == present::KnobControl::kSliderInput;
  if (has_slider) extras.no_curve = present::why_no_curve(snapshot, *row.knob);
  return extras;
}

void KnobsPanel::draw_rows(const kit::Theme& theme, const state::Rect& rect,
                           const state::Snapshot& snapshot, state::Commands& commands) {
  const kit::Panel panel(theme, "knob rows", rect, {.scrolls = true, .plain = true});
  const float padding = theme.px(kit::kPanelPadding);
  const float content = rect.w - 2 * padding;
  float y = panel.body.y;
  for (const present::KnobRow& row : present::knob_rows(snapshot.knobs, unfolded_)) {
    const bool bars = row.kind == present::KnobRow::Kind::kStrategies;
    const KnobRowExtras extras = extras_of(snapshot, row);
    const float height = bars ? strategy_bars_height(theme, snapshot.knobs)
                              : knob_row_height(theme, content, row, extras);
    const state::Rect box{rect.x + padding, y, content, height};
    y += box.h;
    if (row.knob != nullptr && row.knob->name == reveal_) {
      ImGui::SetScrollY(std::max(0.0f, box.y - panel.body.y - rect.h / 3));
      reveal_.clear();
    }
    // Fields outside of view cost more than they show.
    if (box.bottom() < rect.y - box.h || box.y > rect.bottom() + box.h) continue;
    switch (row.kind) {
      case present::KnobRow::Kind::kHeading:
        draw_group_heading(theme, box, row.group);
        break;
      case present::KnobRow::Kind::kKnob:
        draw_knob_row(theme, box, row, extras, commands);
        break;
      case present::KnobRow::Kind::kStrategies:
        draw_strategy_bars(theme, box, snapshot, commands);
        break;
      case present::KnobRow::Kind::kMore:
        if (draw_more(theme, box, row)) {
          bool& unfolded = unfolded_[static_cast<std::size_t>(row.group)];
          unfolded = !unfolded;
        }
        break;
    }
  }
  panel.content_height(y - panel.body.y + theme.px(8));
}

void KnobsPanel::draw(const kit::Theme& theme, const state::Rect& rect,
                      const state::Snapshot& snapshot, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  kit::panel_surface(theme, rect);
  state::Rect rest = rect;
  const float padding = theme.px(kit::kPanelPadding);
  const state::Rect title =
      rest.take_top(kit::panel_header_height(theme) - theme.px(4)).inset(padding, 0);
  kit::text_in(theme, title, kit::Face::kStrong, p.text, "Settings for the next run");
  const float summary_height = baseline_height(theme, rest.w - 2 * padding, snapshot);
  const state::Rect summary = rest.take_top(summary_height, theme.px(4)).inset(padding, 0);
  draw_baseline_row(theme, summary, snapshot, commands);
  const state::Rect foot = rest.take_bottom(start_area_height(theme, rect.w, snapshot));
  kit::line(foot.x + 1, foot.y, foot.right() - 1, foot.y, kit::color(p.panel_edge));
  if (const auto note =
          present::prediction_note(snapshot.prediction.get(), apart_by_chance(snapshot))) {
    const float width = rest.w - 2 * padding;
    state::Rect card = rest.take_bottom(prediction_card_height(theme, width, *note) + padding);
    kit::line(card.x + 1, card.y, card.right() - 1, card.y, kit::color(p.panel_edge));
    card.take_top(padding / 2);
    draw_prediction_card(theme, card.inset(padding, 0), *note);
  }
  draw_rows(theme, rest.inset(1, 0), snapshot, commands);
  draw_start_area(theme, foot.inset(padding, padding), snapshot, commands);
}

}  // namespace shardlens::ui::tune
