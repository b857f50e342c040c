// The losses of several runs over each other, on one scale. Interface thread, inside a frame.
#pragma once

#include <cstddef>

#include "ui/kit/theme.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::compare {

bool has_losses(const state::ComparisonView& view);
// `chosen`: the run that stands out, beside the base.
void draw_loss_curves(const kit::Theme& theme, const state::Rect& rect,
                      const state::ComparisonView& view, std::size_t chosen);

}  // namespace shardlens::ui::compare
