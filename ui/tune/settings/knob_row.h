// One knob: label, its setting's name in grey, the control, and what is predicted of it. Interface
// thread, inside a frame.
#pragma once

#include <optional>
#include <string>

#include "ui/kit/theme.h"
#include "ui/present/tune/knob_chart.h"
#include "ui/present/tune/knob_rows.h"
#include "ui/state/commands.h"

namespace shardlens::ui::tune {

// What is predicted of a knob.
struct KnobRowExtras {
  const state::Snapshot& snapshot;
  const present::KnobChart* chart = nullptr;  // behind its slider; null: there is none
  std::optional<present::ChoiceHint> hint{};  // a better value
  std::string no_curve{};                     // why its slider has none; "": it has, or no slider
};

float knob_row_height(const kit::Theme& theme, float width, const present::KnobRow& row,
                      const KnobRowExtras& extras);
void draw_knob_row(const kit::Theme& theme, const state::Rect& rect, const present::KnobRow& row,
                   const KnobRowExtras& extras, state::Commands& commands);

// The predicted curve of step time over a slider's range. `rect`: as wide as the slider below it,
// so that positions agree. A click on the best value, or on a measured run's, sets the knob.
float knob_chart_height(const kit::Theme& theme);
void draw_knob_chart(const kit::Theme& theme, const state::Rect& rect, const present::KnobRow& row,
                     const present::KnobChart& chart, state::Commands& commands);

// Under the strategy knob: what each strategy would need and take, one row each, before the run. A
// click chooses.
float strategy_bars_height(const kit::Theme& theme, const state::KnobDraft& draft);
void draw_strategy_bars(const kit::Theme& theme, const state::Rect& rect,
                        const state::Snapshot& snapshot, state::Commands& commands);

}  // namespace shardlens::ui::tune
