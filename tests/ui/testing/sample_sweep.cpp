#include "tests/ui/testing/sample_sweep.h"

#include <string>
#include <vector>

namespace shardlens::ui {

namespace {

using state::SweepPoint;
using state::SweepStanding;

SweepPoint measured_point(std::vector<std::string> values, double step_ms, double memory_mib,
                          SweepStanding standing) {
  SweepPoint point;
  point.values = std::move(values);
  point.standing = standing;
  for (const double share : {0.99, 1.01}) {
    point.runs.push_back({"caps-" + point.values.front(), step_ms * share * 1e6});
  }
  point.step_ns = step_ms * 1e6;
  point.half_width_ns = step_ms * 0.015e6;
  point.exposed_ns = step_ms * 0.2e6;
  point.tokens_per_s = 2e6 / step_ms;
  point.peak_tensor_bytes = memory_mib * 1024 * 1024;
  point.prediction.step_ns = step_ms * 1.02e6;
  point.prediction.interval = {step_ms * 0.98e6, step_ms * 1.06e6};
  return point;
}

}  // namespace

state::ShownSweep sample_sweep() {
  state::ShownSweep sweep;
  sweep.name = "caps";
  sweep.phase = state::SweepPhase::kDone;
  sweep.varied = {trace::job::find_knob("bucket_cap_mb")};
  sweep.repeats = 2;
  sweep.points = {measured_point({"0.25"}, 302, 96, SweepStanding::kSlower),
                  measured_point({"0.5"}, 268, 97, SweepStanding::kSlower),
                  measured_point({"1"}, 251, 98, SweepStanding::kBest),
                  measured_point({"2"}, 253, 100, SweepStanding::kWithinNoise),
                  measured_point({"4"}, 281, 104, SweepStanding::kSlower),
                  measured_point({"25"}, 344, 120, SweepStanding::kStoppedEarly)};
  for (auto& point : sweep.points) {
    (void)trace::job::set_value(point.settings, "bucket_cap_mb", point.values.front());
    point.slower_by = *point.step_ns / 251e6 - 1;
  }
  for (const std::size_t i : {0, 1, 2}) sweep.points[i].is_on_front = true;
  sweep.points[0].prediction = {.reason = "the other points are predicted from a run of this one"};
  sweep.points[5].reason = "after 2 runs: 37 % slower than bucket_cap_mb=1";
  sweep.best = 2;
  sweep.why =
      "bucket_cap_mb=1 was fastest: 251.0 ± 3.8 ms per step, but 2 cannot be told from it "
      "beyond noise";
  sweep.runs_done = 12;
  sweep.seconds_left = 0;
  sweep.predicted_from = "caps, cap 0.25, run 1";
  sweep.banners = {"CPU run: shows how it works, not how fast a GPU is"};
  return sweep;
}

state::ShownSweep sample_grid_sweep() {
  state::ShownSweep sweep = sample_sweep();
  sweep.name = "grid";
  sweep.varied.push_back(trace::job::find_knob("overlap_comm"));
  sweep.points.clear();
  double step_ms = 240;
  for (const char* cap : {"1", "4", "25"}) {
    for (const char* overlap : {"false", "true"}) {
      sweep.points.push_back(
          measured_point({cap, overlap}, step_ms, 90 + step_ms / 10, SweepStanding::kSlower));
      step_ms += 17;
    }
  }
  std::size_t i = 0;
  for (const double cap : {1.0, 4.0, 25.0}) {
    for (const bool overlaps : {false, true}) {
      sweep.points[i].settings.bucket_cap_mb = cap;
      sweep.points[i++].settings.overlap_comm = overlaps;
    }
  }
  sweep.points[0].is_on_front = true;
  sweep.points[0].standing = SweepStanding::kBest;
  sweep.best = 0;
  sweep.why = "bucket_cap_mb=1, overlap_comm=false is fastest";
  SweepPoint& bad = sweep.points[2];
  bad = {{.standing = SweepStanding::kFailed, .reason = "out of memory"}, bad.settings, bad.values};
  SweepPoint& later = sweep.points[5];
  later = {{}, later.settings, later.values, {}, later.prediction};
  sweep.phase = state::SweepPhase::kUnfinished;
  sweep.runs_left = 2;
  return sweep;
}

std::shared_ptr<const state::SweepView> sweep_view(const state::ShownSweep& sweep) {
  auto view = std::make_shared<state::SweepView>();
  view->names = {sweep.name, "another one"};
  view->shown = std::make_shared<const state::ShownSweep>(sweep);
  return view;
}

state::SweepCard sample_card() {
  state::SweepCard card;
  card.draft.axes = {{"bucket_cap_mb", "1, 4, 25"}};
  card.is_checked = true;
  card.name = "sweep of bucket_cap_mb";
  card.points = 3;
  card.runs = 6;
  card.seconds = 84;
  card.expected_from = "run 4";
  return card;
}

std::shared_ptr<const state::SweepView> sweep_card_view(const state::SweepCard& card) {
  auto view = std::make_shared<state::SweepView>();
  view->card = std::make_shared<const state::SweepCard>(card);
  return view;
}

}  // namespace shardlens::ui
