// What a sweep says of itself in words. Free of ImGui; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/present/format.h"
#include "ui/state/sweep_view.h"

namespace shardlens::ui::present {

// Beside the best, in words of noise: "+3.1 % slower". `slower_by`: none: not known.
std::string standing_text(state::SweepStanding standing, const std::optional<double>& slower_by,
                          std::string_view slower = "slower");
// That a search keeps its start, as further runs did not confirm the point of the lowest mean.
bool keeps_start(const state::ShownSweep& sweep);
// What the best is marked with: "best mean", or "start kept".
std::string best_mark(const state::ShownSweep& sweep);
// How a point stands beside it: the mark, or as standing_text().
std::string beside_best_text(const state::ShownSweep& sweep, const state::SweepPoint& point);
// Whether it says something of a point: where strategies vary, not what the point's own disobeys.
bool is_obeyed(const state::ShownSweep& sweep, std::size_t point, std::size_t knob);
// "bucket_cap_mb=4, overlap_comm=false": where strategies vary, what the point's own obeys
std::string sweep_point_text(const state::ShownSweep& sweep, std::size_t point);
// The same in a chart: those values alone, "4 · false".
std::string sweep_point_label(const state::ShownSweep& sweep, std::size_t point);
std::string axis_title(const trace::job::Knob& knob);  // "bucket_cap_mb (MiB)"
// A value that is a number; none: a word.
std::optional<double> number_in(const std::string& value);
// "251.0 ± 3.2 ms"; "" where it was not measured.
std::string sweep_step_text(const state::SweepPoint& point);
// "Running bucket_cap_mb=4: run 3 of 12, 2 min left", "Unfinished: 5 of 12 runs", …
std::string sweep_progress_text(const state::ShownSweep& sweep);
// 0..1 of its runs.
float sweep_progress(const state::ShownSweep& sweep);
// That a point, so called, was stopped early or failed, also but once, and why: a sentence each.
std::vector<std::string> point_remarks(const std::string& name, const state::PointFigures& point);
// Those of all points.
std::vector<std::string> sweep_remarks(const state::ShownSweep& sweep);
// Those in which `next` is not what the point was run with, as far as its strategy obeys them.
std::vector<const trace::job::Knob*> knobs_to_set(const state::ShownSweep& sweep, std::size_t point,
                                                  const trace::job::Settings& next);
// Those of the best point beside the ones that vary, so that it may not win with `next`:
// "model, ranks"; "": none.
std::string other_settings(const state::ShownSweep& sweep, const trace::job::Settings& next);
// What a point is judged by: time per step, or per token where points do different work, as a
// multiple of its step time; none: not known.
std::optional<double> cost_per_step_time(const state::ShownSweep& sweep,
                                         const state::SweepPoint& point);
// What a point is judged by, measured and predicted; empty where that is not known. One that failed
// is not judged, so that nothing was measured of it but runs.
state::PointCost point_cost(const state::ShownSweep& sweep, const state::SweepPoint& point);
// Such a cost as it is shown: a time, of a search for tokens "138.7 k tokens/s", or bytes.
Quantity search_quantity(const state::ShownSweep& sweep, double cost);
// What is predicted of the point; "": nothing.
std::string predicted_text(const state::ShownSweep& sweep, const state::SweepPoint& point);
// "12 runs, about 4 min, as run 4 took": what the card says before the start; of a search, how many
// points and how long at most.
std::string sweep_cost_text(const state::SweepCard& card);

}  // namespace shardlens::ui::present
