#include "app/window/input_queue.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace shardlens::app::window {

namespace {

// Until what a shortcut opens has the keyboard.
constexpr int kFramesToOpen = 2;

bool is_modifier(int key) { return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER; }

// `told`: what GLFW said of the key that this frame sees; it may have been pressed elsewhere.
void update_modifiers(ImGuiIO& io, int told) {
  const auto down = [&](int left, int right, int flag) {
    return io.KeysDown[left] || io.KeysDown[right] || (told & flag) != 0;
  };
  io.KeyCtrl = down(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL, GLFW_MOD_CONTROL);
  io.KeyShift = down(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT, GLFW_MOD_SHIFT);
  io.KeyAlt = down(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT, GLFW_MOD_ALT);
  io.KeySuper = down(GLFW_KEY_LEFT_SUPER, GLFW_KEY_RIGHT_SUPER, GLFW_MOD_SUPER);
}

}  // namespace

// What one frame has been given: each returns false where only the next one can take it.
class InputQueue::Frame {
 public:
  Frame(ImGuiIO& io, std::array<bool, 5>& buttons) : io_(io), buttons_(buttons) {}

  bool take(const Character& typed) {
    io_.AddInputCharacter(typed.character);
    return true;
  }
  bool take(const Key& typed) {
    // A key has to be seen as down, and as up before it is down again.
    if (has_pressed_ || (typed.is_down && released_.contains(typed.key))) return false;
    io_.KeysDown[typed.key] = typed.is_down;
    if (!typed.is_down) released_.insert(typed.key);
    if (typed.is_down && !is_modifier(typed.key)) {
      has_pressed_ = has_key_ = true;
      modifiers_ = typed.modifiers;
    }
    return true;
  }
  bool take(const Button& clicked) {
    if (has_pressed_) return false;
    buttons_[static_cast<std::size_t>(clicked.button)] = clicked.is_down;
    io_.MousePos = {clicked.x, clicked.y};
    has_pressed_ = true;
    return true;
  }
  // Whether it sees a shortcut, which may open something.
  bool finish() {
    std::ranges::copy(buttons_, std::begin(io_.MouseDown));
    update_modifiers(io_, modifiers_);
    return has_key_ && io_.KeyCtrl;
  }

 private:
  ImGuiIO& io_;
  std::array<bool, 5>& buttons_;
  std::set<int> released_;
  bool has_pressed_ = false, has_key_ = false;
  int modifiers_ = 0;
};

int key_by_print(int place, const char* printed) {
  const bool is_one_sign = printed != nullptr && printed[0] > ' ' && printed[1] == '\0';
  const bool is_on_pad = place >= GLFW_KEY_KP_0 && place <= GLFW_KEY_KP_EQUAL;
  if (!is_one_sign || is_on_pad || place == GLFW_KEY_UNKNOWN) return place;
  const char sign = printed[0];
  const bool is_digit = place >= GLFW_KEY_0 && place <= GLFW_KEY_9;
  if (is_digit && sign != '-') return place;  // AZERTY has it there
  // What makes larger has the code of the key that has both in the US.
  if (sign == '+') return GLFW_KEY_EQUAL;
  // GLFW's codes of capitals and signs are those of ASCII, whatever the locale that it sets.
  return sign >= 'a' && sign <= 'z' ? sign - 'a' + 'A' : sign;
}

void InputQueue::add_key(int place, bool is_down, int modifiers, const char* printed) {
  int key = key_by_print(place, printed);
  if (is_down) {
    down_[place] = key;
  } else if (const auto went_down = down_.find(place); went_down != down_.end()) {
    key = went_down->second;
    down_.erase(went_down);
  }
  const auto known = static_cast<int>(std::size(ImGui::GetIO().KeysDown));
  if (key >= 0 && key < known) waiting_.emplace_back(Key{key, is_down, modifiers});
}

void InputQueue::add_character(unsigned character) { waiting_.emplace_back(Character{character}); }

void InputQueue::add_button(int button, bool is_down, double x, double y) {
  if (button < 0 || button >= static_cast<int>(buttons_.size())) return;
  waiting_.emplace_back(Button{button, is_down, static_cast<float>(x), static_cast<float>(y)});
}

void InputQueue::feed() {
  Frame frame(ImGui::GetIO(), buttons_);
  if (frames_to_wait_ > 0) {
    --frames_to_wait_;
    frame.finish();
    return;
  }
  const auto take = [&](const auto& input) { return frame.take(input); };
  while (!waiting_.empty() && std::visit(take, waiting_.front())) waiting_.pop_front();
  if (frame.finish()) frames_to_wait_ = kFramesToOpen;
}

}  // namespace shardlens::app::window
