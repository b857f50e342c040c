// A sweep as the window shows it. Any thread.
#pragma once

#include "app/search/search_loop.h"
#include "app/sweep/sweep.h"
#include "app/sweep/sweep_prediction.h"
#include "ui/state/sweep_view.h"

namespace shardlens::app::session {

// All but whether it runs, and its banners.
ui::state::ShownSweep shown_sweep(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                                  const sweep::SweepPredictions& predictions);

// What only a search has: its own best and verdict, and why points were not run.
void show_search(const search::Standing& standing, ui::state::ShownSweep& shown);

}  // namespace shardlens::app::session
