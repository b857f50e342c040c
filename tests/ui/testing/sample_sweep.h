// Sweeps as `app` would publish them, for tests and pictures: invented, but consistent figures.
#pragma once

#include <memory>

#include "ui/state/sweep_view.h"

namespace shardlens::ui {

// Six values of bucket_cap_mb: 0.25 … 25, the third best, the last stopped early, the first the
// source of predictions.
state::ShownSweep sample_sweep();
// bucket_cap_mb × overlap_comm: one combination failed, one was not run yet.
state::ShownSweep sample_grid_sweep();
std::shared_ptr<const state::SweepView> sweep_view(const state::ShownSweep& sweep);
// With the card open, checked.
std::shared_ptr<const state::SweepView> sweep_card_view(const state::SweepCard& card);
state::SweepCard sample_card();

}  // namespace shardlens::ui
