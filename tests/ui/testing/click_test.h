// What tests of clicks, drags and keys share: a window of a run that goes on, and the commands.
#pragma once

#include <gtest/gtest.h>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

class ClickTest : public ::testing::Test {
 protected:
  HeadlessWindow window_{1600, 1000};
  state::Snapshot snapshot_ = sample_snapshot();

  template <typename T>
  const T* command() {
    commands_ = window_.take_commands();
    return HeadlessWindow::find<T>(commands_);
  }
  // Of the first rank, in the middle of its lane.
  void click_collective() {
    window_.frame(snapshot_);
    const state::Rect plot = window_.probe().find("inspect/plot")->rect;
    const inspect::ShownRow& row = window_.view().workspace().timeline().layout().rows.at(2);
    window_.click_at(snapshot_, plot.x + plot.w * 0.6f, plot.y + row.y + row.height / 2);
  }
  state::Commands commands_;
};

}  // namespace shardlens::ui
