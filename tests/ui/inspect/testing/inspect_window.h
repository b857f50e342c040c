// A headless window that shows the Inspect workspace of a made-up run, and answers what it asks
// for as `app` would.
#pragma once

#include <memory>

#include "tests/ui/inspect/testing/sample_run.h"
#include "tests/ui/testing/headless_window.h"

namespace shardlens::ui::inspect {

class InspectWindow {
 public:
  InspectWindow(int width, int height, state::ViewPreferences preferences = {},
                const SampleRunOptions& options = {});

  // Frames until nothing is asked for any more; commands that are not answered are kept.
  void settle();
  void frame();

  HeadlessWindow& window() { return window_; }
  TimelineState& state() { return window_.view().inspect().timeline().state(); }
  const SampleRun& run() const { return run_; }
  const kit::DrawProbe& probe() const { return window_.probe(); }
  state::Snapshot& snapshot() { return snapshot_; }
  // Changes what is published.
  state::InspectView& change();
  // The last one that was asked for.
  const trace::timeline::PictureRequest& request() const { return request_; }
  state::Commands take_commands();
  template <typename T>
  std::vector<T> take() {
    std::vector<T> found;
    for (const state::Command& command : take_commands()) {
      if (const T* one = std::get_if<T>(&command)) found.push_back(*one);
    }
    return found;
  }

 private:
  void answer(const state::Command& command);

  SampleRun run_;
  HeadlessWindow window_;
  state::Snapshot snapshot_;
  std::shared_ptr<state::InspectView> view_;
  trace::timeline::PictureRequest request_;
  state::Commands commands_;
};

}  // namespace shardlens::ui::inspect
