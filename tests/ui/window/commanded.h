// A user at the command palette. For tests.
#pragma once

#include <string_view>

#include "tests/ui/testing/headless_window.h"
#include "ui/kit/keys.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::window {

// Types into the command palette and takes its first entry.
inline state::Commands commanded(HeadlessWindow& window, const state::Snapshot& snapshot,
                                 std::string_view text) {
  window.frames(snapshot, 3);
  window.take_commands();
  window.press(snapshot, kit::Key::kK, true);
  window.frames(snapshot, 2);
  window.type(snapshot, text);
  window.frames(snapshot, 2);
  window.press(snapshot, kit::Key::kEnter);
  window.frames(snapshot, 2);
  return window.take_commands();
}

}  // namespace shardlens::ui::window
