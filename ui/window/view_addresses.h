// Addresses of what Tune and Compare show, and the way back in Tune; Inspect has its own. Free of
// ImGui; interface thread only.
#pragma once

#include <optional>

#include "ui/state/commands.h"
#include "ui/state/snapshot.h"
#include "ui/state/view_address.h"

namespace shardlens::ui::window {

state::ViewAddress tune_address(const state::Snapshot& snapshot);  // of the run on screen
state::ViewAddress compared_address(const state::ComparisonView& view);

// What an address asks for of a run in Tune: its step and settings.
class TuneWish {
 public:
  // `takes_settings`: the next run's settings become those of this run, also where the address
  // changes none of them.
  void ask(const state::ViewAddress& address, bool takes_settings);
  void drop() { address_.reset(); }
  // Once the run is on screen.
  void fulfil(const state::Snapshot& snapshot, state::Commands& commands);

 private:
  std::optional<state::ViewAddress> address_;
  bool takes_settings_ = false;
};

}  // namespace shardlens::ui::window
