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

// What a search has of its own: means, predictions, best and verdict, the order of its points, and
// why points were not run. What shown_sweep() says of rounds makes way.
void show_search(const sweep::SweepPlan& plan, const search::Standing& standing,
                 const sweep::SweepResults& results, ui::state::ShownSweep& shown);

}  // namespace shardlens::app::session
