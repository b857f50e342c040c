#include "ui/kit/keys.h"

#include <imgui.h>

namespace shardlens::ui::kit {

bool key_pressed(Key key, bool repeat) {
  return ImGui::IsKeyPressed(static_cast<int>(key), repeat);
}

bool enter_pressed() {
  return key_pressed(Key::kEnter, false) || key_pressed(Key::kPadEnter, false);
}

bool typed(unsigned character) {
  for (const ImWchar c : ImGui::GetIO().InputQueueCharacters) {
    if (c == character) return true;
  }
  return false;
}

}  // namespace shardlens::ui::kit
