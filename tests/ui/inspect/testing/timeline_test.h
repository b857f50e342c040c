// What the tests of the timeline share: a made-up run in a window, some steps of it in sight.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "tests/ui/inspect/testing/inspect_window.h"

namespace shardlens::ui::inspect {

class TimelineTest : public ::testing::Test {
 protected:
  // Of the reference rank; forgets the commands so far.
  void show_steps(int first, int last);
  void show(std::int64_t start_ns, std::int64_t end_ns);
  // A replay has come so far.
  void replay_until(std::int64_t now_ns);
  // As when a table asked for it.
  void publish(const trace::timeline::EventDetails& details, bool reveal);
  void publish(const trace::timeline::EventPlace& place, bool reveal);

  void press(kit::Key key);
  void drag(float x0, float y0, float x1, float y1);

  TimelineState& state() { return inspect_.state(); }
  const SampleRun& run() const { return inspect_.run(); }
  const state::Snapshot& snapshot() { return inspect_.snapshot(); }
  HeadlessWindow& window() { return inspect_.window(); }
  const RowLayout& layout() { return window().view().inspect().timeline().layout(); }
  state::Rect plot() const { return inspect_.probe().find("inspect/plot")->rect; }
  float x_of(std::int64_t time_ns);
  std::int64_t time_at(float x);
  // The screen's middle of the first level of a row.
  float y_of(int row);
  int row_of(int rank, std::string_view label) const;
  trace::timeline::EventPlace place_of(int row, int step, std::size_t index) const;

  InspectWindow inspect_{1600, 1000, {}, {.steps = 60}};
};

}  // namespace shardlens::ui::inspect
