// What is typed and clicked, in its order: a frame is given as much of it as it can tell apart.
// Dear ImGui 1.86 only knows what is down when a frame begins; of what comes between two frames, as
// while the machine is busy, it would lose keys, take one key's Ctrl for another's, and drop the
// letters for a field that a shortcut has yet to open. Main thread only.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <variant>

namespace shardlens::app::window {

// GLFW calls a key by what a US keyboard has at its place; the interface, and its list of keys, by
// what stands on it: `printed`, as glfwGetKeyName() tells it; null: nothing that is typed. With
// AZERTY the key beside L is M, and no semicolon. What has no sign of ASCII, as a letter of a
// Cyrillic keyboard, is the key of its place; so are the keypad, and digits, which many layouts
// type with Shift.
int key_by_print(int place, const char* printed);

class InputQueue {
 public:
  // From GLFW's callbacks; `modifiers` (GLFW_MOD_…) were down with the key, the pointer at x, y.
  void add_key(int place, bool is_down, int modifiers, const char* printed = nullptr);
  void add_character(unsigned character);
  void add_button(int button, bool is_down, double x, double y);
  // Between what the backend does for a frame and ImGui::NewFrame(): what this frame is to see.
  void feed();
  bool is_empty() const { return waiting_.empty(); }

 private:
  struct Key {
    int key;
    bool is_down;
    int modifiers;
  };
  struct Character {
    unsigned character;
  };
  struct Button {
    int button;
    bool is_down;
    float x, y;
  };
  class Frame;

  std::deque<std::variant<Key, Character, Button>> waiting_;
  // By place, as which key it went down: the layout may be another when it is let go.
  std::map<int, int> down_;
  std::array<bool, 5> buttons_{};
  int frames_to_wait_ = 0;
};

}  // namespace shardlens::app::window
