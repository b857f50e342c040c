// What a sweep says of itself in words. Free of ImGui; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ui/state/sweep_view.h"

namespace shardlens::ui::present {

// Beside the best, in words of noise: "+3.1 % slower". `slower_by`: none: not known.
std::string standing_text(state::SweepStanding standing, const std::optional<double>& slower_by);
// "bucket_cap_mb=4, overlap_comm=false": where strategies vary, what the point's own obeys
std::string sweep_point_text(const state::ShownSweep& sweep, std::size_t point);
// The same in a chart: the values alone, "4 · false".
std::string sweep_point_label(const state::ShownSweep& sweep, std::size_t point);
// "251.0 ± 3.2 ms"; "" where it was not measured.
std::string sweep_step_text(const state::SweepPoint& point);
// "Running bucket_cap_mb=4: run 3 of 12, 2 min left", "Unfinished: 5 of 12 runs", …
std::string sweep_progress_text(const state::ShownSweep& sweep);
// 0..1 of its runs.
float sweep_progress(const state::ShownSweep& sweep);
// A sentence for each point that was stopped early or failed, and why.
std::vector<std::string> sweep_remarks(const state::ShownSweep& sweep);
// What other settings than those that vary `next` has, so that the winner may not win with them:
// "model, ranks"; "": none.
std::string other_settings(const state::ShownSweep& sweep, const trace::job::Settings& next);
// Whether `next` has the point's values already.
bool has_values_of(const state::ShownSweep& sweep, std::size_t point,
                   const trace::job::Settings& next);
// "12 runs, about 4 min, as run 4 took": what the card says before the start; of a search, how many
// points and how long at most.
std::string sweep_cost_text(const state::SweepCard& card);

}  // namespace shardlens::ui::present
