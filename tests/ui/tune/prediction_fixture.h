// What tests of predictions share: a run on screen, and what a larger bucket cap would do to it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/probe_texts.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "trace/base/text.h"
#include "trace/job/settings/settings.h"
#include "trace/model/events.h"
#include "trace/predict/schedule/step_program.h"
#include "trace/tuning/knob_curve.h"
#include "trace/tuning/prediction.h"
#include "ui/kit/draw_probe.h"
#include "ui/present/tune/knob_chart.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::tune {

inline constexpr double kMs = 1e6;
inline constexpr std::int64_t kMib = 1 << 20;

inline const trace::job::Knob& cap_knob() { return *trace::job::find_knob("bucket_cap_mb"); }

// Two buckets of 10 and 30 ms: under computation from 40 ms on, and after it, which ends at 80 ms.
// The rank that ends last waits for the second.
// Then 20 ms as recorded, where the first was 5 ms shorter.
inline trace::tuning::PredictedStep two_buckets(std::int64_t index, std::int64_t start_ns) {
  const auto at = [&](double ms) { return start_ns + static_cast<std::int64_t>(ms * kMs); };
  trace::tuning::PredictedStep step;
  step.index = index;
  step.start_ns = start_ns;
  step.recorded_end_ns = at(125);
  step.end_ns = at(130);
  const auto bucket = [](const char* what, std::int64_t bytes, std::size_t tensors) {
    return trace::predict::PlannedCall{.what = what,
                                       .function = trace::model::CollectiveFunction::kAllReduce,
                                       .group = 2,
                                       .bytes = bytes,
                                       .tensors = tensors};
  };
  step.program.calls = {bucket("bucket 0", kMib, 3), bucket("bucket 1", 4 * kMib, 5)};
  step.schedule.start_ns = start_ns;
  step.schedule.backward_end_ns = step.schedule.end_ns = at(110);
  step.schedule.calls = {{0, at(40), at(40), at(50)}, {1, at(80), at(80), at(110)}};
  step.schedule.waits = {{at(80), at(110), 1}};
  return step;
}

// Five of 10 ms, of which the rank that ends last waits for 8 each: a sentence of many words.
inline trace::tuning::PredictedStep waits_of_all_kinds(std::int64_t index, std::int64_t start_ns) {
  trace::tuning::PredictedStep step = two_buckets(index, start_ns);
  step.program.calls.clear();
  step.schedule.calls.clear();
  step.schedule.waits.clear();
  std::int64_t at_ns = start_ns;
  for (const char* what : {"blocks.10 forward gather, prefetched", "blocks.11 backward gather",
                           "blocks.11 reduce", "gradient norm", "loss"}) {
    const std::size_t place = step.program.calls.size();
    step.program.calls.push_back({.what = what, .group = 2, .bytes = 12 * kMib});
    const std::int64_t end_ns = at_ns + static_cast<std::int64_t>(10 * kMs);
    step.schedule.calls.push_back({place, at_ns, at_ns, end_ns});
    step.schedule.waits.push_back({at_ns + static_cast<std::int64_t>(2 * kMs), end_ns, place});
    at_ns = end_ns + static_cast<std::int64_t>(10 * kMs);
  }
  return step;
}

class PredictionTest : public ::testing::Test {
 protected:
  PredictionTest() {
    snapshot_.knobs.next = snapshot_.run->figures.info.settings;
    snapshot_.knobs.next.bucket_cap_mb = 4;
    auto& prediction = view_.prediction.emplace();
    prediction.changes = {{&cap_knob(), "1", "4", false}};
    prediction.parts = 2;
    prediction.recorded_step_ns = 125 * kMs;
    prediction.step_ns = 130 * kMs;
    prediction.difference = trace::tuning::Interval{3 * kMs, 7 * kMs};
    for (int rank : {0, 1}) prediction.peaks.push_back({rank, 100 * kMib, 104 * kMib});
    const auto& run = *snapshot_.run;
    const auto shown = std::ranges::find(run.figures.steps, run.selected_step,
                                         &trace::analysis::StepFigures::index);
    view_.step = two_buckets(run.selected_step, shown->start_ns);
    view_.ordinal = "run 4";
    trace::tuning::KnobCurve curve{&cap_knob(), 125 * kMs};
    curve.points = {{"1", 1, 125 * kMs, std::nullopt, true},
                    {"2", 2, 120 * kMs, trace::tuning::Interval{-8 * kMs, -2 * kMs}, true},
                    {"4", 4, 130 * kMs, trace::tuning::Interval{3 * kMs, 7 * kMs}, true}};
    view_.curves = {curve};
  }
  void publish() {
    view_.measured = present::measured_runs(*snapshot_.ledger, snapshot_.knobs.next);
    snapshot_.prediction = std::make_shared<const state::PredictionView>(view_);
    ++snapshot_.version;
  }
  std::vector<std::string> texts() {
    publish();
    window_.frames(snapshot_, 3);
    return texts_in(window_.probe(), {0, 0, 1920, 1200});
  }
  // Under the predicted ribbon, of the last frame.
  std::vector<std::string> bound_lines() const {
    std::vector<std::string> lines;
    const auto& all = window_.probe().texts;
    auto at = std::ranges::find(all, "+5.00 ms in this step", &kit::DrawProbe::Text::text);
    if (at == all.end()) return lines;
    for (++at; at != all.end() && at->text != "Changed"; ++at) {
      lines.emplace_back(trace::base::trimmed(at->text));
    }
    return lines;
  }

  HeadlessWindow window_{1920, 1200};
  state::Snapshot snapshot_ = sample_snapshot({.live = false});
  state::PredictionView view_;
};

}  // namespace shardlens::ui::tune
