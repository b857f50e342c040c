// What is predicted of the settings for the next run, above the start button. Interface thread,
// inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/present/tune/prediction_text.h"

namespace shardlens::ui::tune {

float prediction_card_height(const kit::Theme& theme, float width,
                             const present::PredictionNote& note);
void draw_prediction_card(const kit::Theme& theme, const state::Rect& rect,
                          const present::PredictionNote& note);

}  // namespace shardlens::ui::tune
