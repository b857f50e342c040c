// Commands of the palette that say the same in every view. Interface thread.
#pragma once

#include <vector>

#include "ui/state/commands.h"
#include "ui/state/snapshot.h"
#include "ui/window/command_palette.h"

namespace shardlens::ui::window {

// Of a command what sends it.
inline auto sender(state::Commands& commands) {
  return [&commands](state::Command command) {
    return [&commands, command] { commands.push_back(command); };
  };
}

void add_job_actions(std::vector<Action>& out, const state::Snapshot& snapshot,
                     state::Commands& commands);
void add_library_actions(std::vector<Action>& out, const state::Snapshot& snapshot,
                         state::Commands& commands);
void add_tuning_actions(std::vector<Action>& out, const state::Snapshot& snapshot,
                        state::Commands& commands);
void add_replay_actions(std::vector<Action>& out, const state::Snapshot& snapshot,
                        state::Commands& commands);

}  // namespace shardlens::ui::window
