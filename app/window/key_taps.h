// Lets a frame see keys that were pressed and released since the frame before: Dear ImGui 1.86 only
// knows what is down now, and a sleeping window may take both events at once. Main thread only.
#pragma once

#include <vector>

namespace shardlens::app::window {

class KeyTaps {
 public:
  // From GLFW's key callback. `modifiers` (GLFW_MOD_…) were down when the key was pressed; they may
  // be released before the next frame, too.
  void pressed(int key, int modifiers);
  // Around a frame: the first before ImGui::NewFrame(), the second after ImGui::Render().
  void begin_frame();
  void end_frame();

 private:
  std::vector<int> pressed_;  // since the last frame
  std::vector<int> held_;     // down for this frame only
};

}  // namespace shardlens::app::window
