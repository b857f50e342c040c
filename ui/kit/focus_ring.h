// The control that has the keyboard: Tab and Shift+Tab go from one to the next, arrows to the one
// beside (← and → move a slider instead), Enter is its click, the menu key or Shift+F10 its
// right-click, Esc and the mouse let go of it. Dear ImGui 1.86 steps through fields of text only.
// Interface thread, inside a frame.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ui/state/geometry.h"

struct ImGuiWindow;

namespace shardlens::ui::kit {

struct Theme;

class FocusRing {
 public:
  // Before anything is drawn: obeys keys. `keys`: the keyboard is not something else's.
  void begin_frame(bool keys);
  // Each control, in the order in which they are drawn, under a name of its own.
  struct Visit {
    bool entered = false;    // since this frame
    bool activated = false;  // by Enter
    bool asks_menu = false;
    bool left = false;  // in this frame: a field gives up its value
    int slid = 0;       // by ← −1, by → 1
  };
  Visit visit(std::string_view name, const state::Rect& rect, bool slides = false);
  // A field of text got the keyboard by another way: Tab goes on from there.
  void note_field(std::string_view name) { name_ = name; }
  // Behind everything: draws the ring.
  void end_frame(const Theme& theme);

  bool is_visible() const { return visible_; }
  const std::string& name() const { return name_; }
  bool is_on(std::string_view name) const { return visible_ && name_ == name; }
  // In this frame a key was the ring's, and nobody else's.
  bool took_key() const { return took_key_; }
  // Where the control is that has the keyboard; null: none that is drawn has it.
  const state::Rect* rect() const;
  // Each overlay, within its window, in the order in which they are drawn; true for the one on top
  // of all.
  bool enter_overlay();

 private:
  struct Control {
    std::string name;
    state::Rect rect;
    const ImGuiWindow* root = nullptr;  // pop-ups and overlays keep the keyboard to themselves
    bool slides = false;
  };
  enum class Way : std::uint8_t { kLeft, kRight, kUp, kDown };

  void step(int direction);
  void move(Way way);
  void enter(const Control& control);
  void leave_popup();
  const Control* find_current(const std::vector<const Control*>& controls) const;
  // Of `controls`, of one frame, the window that has the keyboard.
  static const ImGuiWindow* top_of(const std::vector<Control>& controls,
                                   const ImGuiWindow* overlay);
  // Those that can be reached: of what lies on top.
  std::vector<const Control*> reachable() const;

  std::vector<Control> controls_;  // of this frame so far
  std::vector<Control> before_;    // of the last one
  std::string name_, left_;
  std::string below_;  // what had it before something lay on top
  Visit now_;          // of what has it, in this frame
  bool visible_ = false, took_key_ = false;
  int overlays_ = 0, overlays_before_ = 0;  // of this frame so far, of the last one
  const ImGuiWindow *overlay_ = nullptr, *overlay_before_ = nullptr;  // the last of them
};

}  // namespace shardlens::ui::kit
