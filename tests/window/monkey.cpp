#include "tests/window/monkey.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace shardlens::window_test {

namespace {

using Kind = Action::Kind;

// GLFW calls letters, digits and signs by their character.
constexpr std::array kKeys{"Escape",     "Escape",   "Enter",  "Tab",    "Shift+Tab", "Space",
                           "Left",       "Right",    "Up",     "Down",   "Home",      "End",
                           "PageUp",     "PageDown", "W",      "A",      "S",         "D",
                           "F",          "M",        "B",      "B",      "P",         "[",
                           "]",          "Delete",   "Back",   "Ctrl+1", "Ctrl+2",    "Ctrl+4",
                           "PageDown",   "Ctrl+F",   "Ctrl+K", "Ctrl+B", "Ctrl+T",    "Ctrl+A",
                           "Ctrl+C",     "Ctrl+V",   "Ctrl+Z", "Ctrl+X", "Ctrl+Tab",  "Ctrl+=",
                           "Ctrl+-",     "Ctrl+0",   "F11",    "Tab",    "Tab",       "Shift+Enter",
                           "Shift+Down", "Ctrl+Down"};
constexpr std::array kCommands{"Fit the timeline",
                               "Replay this run",
                               "Leave the replay",
                               "Stop the run",
                               "theme",
                               "scale",
                               "Show: Stragglers",
                               "Show: Memory",
                               "Show: SQL",
                               "Show: Steps",
                               "Show: Recording",
                               "Show: Log",
                               "Show: Kernels",
                               "steps=30",
                               "ranks=2",
                               "ranks=3",
                               "bucket_cap_mb=4",
                               "device=cpu",
                               "Plan",
                               "Copy this view",
                               "Steps one above",
                               "Timeline by",
                               "Align ranks",
                               "Export",
                               "Export this run",
                               "Cancel all queued",
                               "Follow the",
                               "Reset settings",
                               "Show the log",
                               "Show the ledger",
                               "Present",
                               "Zoom to",
                               "Measure",
                               "Pause",
                               "Play",
                               "Workspace: Tune",
                               "Workspace: Learn",
                               "Next page",
                               "Show this page's view",
                               "Find names",
                               "Normal scale",
                               "nothing of it",
                               "Open run eight"};
constexpr std::array kTyped{"nccl",
                            "gemm.*",
                            "(",
                            "aten::",
                            "all",
                            "select * from kernel",
                            "a name, or a note",
                            "12",
                            "-1",
                            "1e99",
                            "slow lab",
                            "0123456789012345678901234567890123456789012345678901234567890123"};
constexpr std::array kSizes{std::pair{1280, 800}, std::pair{1600, 1000}, std::pair{1000, 700},
                            std::pair{640, 480},  std::pair{1280, 720},  std::pair{320, 240}};

int key_code(std::string_view name) {
  constexpr std::array kNamed{std::pair{std::string_view("Escape"), GLFW_KEY_ESCAPE},
                              std::pair{std::string_view("Enter"), GLFW_KEY_ENTER},
                              std::pair{std::string_view("Tab"), GLFW_KEY_TAB},
                              std::pair{std::string_view("Space"), GLFW_KEY_SPACE},
                              std::pair{std::string_view("Left"), GLFW_KEY_LEFT},
                              std::pair{std::string_view("Right"), GLFW_KEY_RIGHT},
                              std::pair{std::string_view("Up"), GLFW_KEY_UP},
                              std::pair{std::string_view("Down"), GLFW_KEY_DOWN},
                              std::pair{std::string_view("Home"), GLFW_KEY_HOME},
                              std::pair{std::string_view("End"), GLFW_KEY_END},
                              std::pair{std::string_view("PageUp"), GLFW_KEY_PAGE_UP},
                              std::pair{std::string_view("PageDown"), GLFW_KEY_PAGE_DOWN},
                              std::pair{std::string_view("Delete"), GLFW_KEY_DELETE},
                              std::pair{std::string_view("Back"), GLFW_KEY_BACKSPACE},
                              std::pair{std::string_view("F11"), GLFW_KEY_F11},
                              std::pair{std::string_view("Ctrl"), GLFW_KEY_LEFT_CONTROL},
                              std::pair{std::string_view("Shift"), GLFW_KEY_LEFT_SHIFT}};
  for (const auto& [known, code] : kNamed) {
    if (known == name) return code;
  }
  return static_cast<unsigned char>(name.front());
}

Action frames(int count) { return {.kind = Kind::kFrames, .code = count, .text = {}}; }

std::string described(const Action& action) {
  const std::string place = std::to_string(action.x) + "," + std::to_string(action.y);
  switch (action.kind) {
    case Kind::kMove:
      return "move " + place;
    case Kind::kPress:
      return "press " + std::to_string(action.code);
    case Kind::kRelease:
      return "release " + std::to_string(action.code);
    case Kind::kKeyDown:
      return "key " + std::to_string(action.code);
    case Kind::kKeyUp:
      return "up " + std::to_string(action.code);
    case Kind::kType:
      return "type '" + action.text + "'";
    case Kind::kWheel:
      return "wheel " + place;
    case Kind::kDrop:
      return "drop " + action.text;
    case Kind::kResize:
      return "resize " + place;
    case Kind::kClose:
      return "close";
    case Kind::kFrames:
      return "wait " + std::to_string(action.code);
  }
  return "";
}

}  // namespace

std::string describe(const Trick& trick) {
  std::string text;
  for (const Action& action : trick) text += (text.empty() ? "" : "; ") + described(action);
  return text;
}

Monkey::Monkey(std::uint64_t seed, std::vector<std::string> files)
    : random_(seed), files_(std::move(files)) {}

// Not by a distribution of the library, each of which draws in its own way.
int Monkey::number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

// One in three near where it was: menus and pop-ups open there. One in two on a control. As many
// numbers are drawn whatever there is, so that what follows is the same.
Action Monkey::to_somewhere(const std::vector<Control>& controls) {
  const int way = number(100), across = number(width_), down = number(height_);
  const int near_x = number(120) - 60, near_y = number(120) - 60;
  const auto chosen = random_();
  if (way < 50 && !controls.empty()) {
    const auto& rect = controls[chosen % controls.size()].rect;
    x_ =
        static_cast<int>(rect.x + rect.w * static_cast<float>(across) / static_cast<float>(width_));
    y_ = static_cast<int>(rect.y + rect.h * static_cast<float>(down) / static_cast<float>(height_));
  } else if (way < 80) {
    x_ += near_x;
    y_ += near_y;
  } else {
    x_ = across;
    y_ = down;
  }
  x_ = std::clamp(x_, 0, width_ - 1);
  y_ = std::clamp(y_, 0, height_ - 1);
  return {.kind = Kind::kMove, .x = x_, .y = y_, .text = {}};
}

Action Monkey::to_control(const std::vector<Control>& controls, std::string_view begins) {
  std::vector<const Control*> found;
  for (const Control& control : controls) {
    if (control.name.starts_with(begins)) found.push_back(&control);
  }
  const auto chosen = random_();
  if (!found.empty()) {
    const auto& rect = found[chosen % found.size()]->rect;
    x_ = std::clamp(static_cast<int>(rect.center_x()), 0, width_ - 1);
    y_ = std::clamp(static_cast<int>(rect.center_y()), 0, height_ - 1);
  }
  return {.kind = Kind::kMove, .x = x_, .y = y_, .text = {}};
}

void Monkey::click(Trick& trick, int button, int times) {
  for (int i = 0; i < times; ++i) {
    trick.push_back({.kind = Kind::kPress, .code = button, .text = {}});
    trick.push_back({.kind = Kind::kRelease, .code = button, .text = {}});
  }
}

void Monkey::key(Trick& trick, std::string_view name) {
  std::vector<int> codes;
  for (auto plus = name.find('+'); plus != name.npos && plus > 0; plus = name.find('+')) {
    codes.push_back(key_code(name.substr(0, plus)));
    name.remove_prefix(plus + 1);
  }
  codes.push_back(key_code(name));
  const bool is_typed = codes.size() == 1 && name.size() == 1;
  for (const int code : codes) trick.push_back({.kind = Kind::kKeyDown, .code = code, .text = {}});
  if (is_typed) {
    const auto small = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
    trick.push_back({.kind = Kind::kType, .text = std::string(1, small)});
  }
  for (auto code = codes.rbegin(); code != codes.rend(); ++code) {
    trick.push_back({.kind = Kind::kKeyUp, .code = *code, .text = {}});
  }
}

void Monkey::drag(Trick& trick, const std::vector<Control>& controls) {
  constexpr std::array kButtons{0, 0, 0, 1, 2};
  constexpr std::array kHeld{0, 0, GLFW_KEY_LEFT_SHIFT, GLFW_KEY_LEFT_CONTROL};
  const int button = pick(kButtons), held = pick(kHeld);
  if (held != 0) trick.push_back({.kind = Kind::kKeyDown, .code = held, .text = {}});
  trick.push_back({.kind = Kind::kPress, .code = button, .text = {}});
  for (int moves = 1 + number(4); moves > 0; --moves) trick.push_back(to_somewhere(controls));
  trick.push_back({.kind = Kind::kRelease, .code = button, .text = {}});
  if (held != 0) trick.push_back({.kind = Kind::kKeyUp, .code = held, .text = {}});
}

void Monkey::command(Trick& trick, std::string_view text) {
  key(trick, "Escape");
  key(trick, "Ctrl+K");
  trick.push_back({.kind = Kind::kType, .text = std::string(text)});
  trick.push_back(frames(2));
  key(trick, "Enter");
}

void Monkey::switch_run(Trick& trick, const std::vector<Control>& controls) {
  key(trick, "Escape");
  key(trick, "Ctrl+1");
  trick.push_back(frames(1 + number(20)));
  trick.push_back(to_control(controls, "ledger//"));
  click(trick, 0, chance(30) ? 2 : 1);
  trick.push_back(frames(1 + number(20)));
  key(trick, "Ctrl+2");
}

void Monkey::resize(Trick& trick) {
  const auto& size = pick(kSizes);
  width_ = size.first;
  height_ = size.second;
  trick.push_back({.kind = Kind::kResize, .x = width_, .y = height_, .text = {}});
}

// Answers now and then where it is asked first, and clicks the cross again otherwise.
void Monkey::quit(Trick& trick) {
  if (chance(50)) {
    command(trick, "Quit");
  } else {
    trick.push_back({.kind = Kind::kClose, .text = {}});
  }
  trick.push_back(frames(2));
  if (chance(50)) {
    key(trick, chance(70) ? "Enter" : "Escape");
  } else {
    trick.push_back({.kind = Kind::kClose, .text = {}});
  }
}

Trick Monkey::next(const std::vector<Control>& controls) {
  constexpr std::array kButtons{0, 0, 0, 0, 0, 0, 1, 2};
  Trick trick;
  const int choose = number(1000);
  trick.push_back(to_somewhere(controls));
  if (choose < 400) {
    click(trick, pick(kButtons));
  } else if (choose < 450) {
    click(trick, 0, 2);
  } else if (choose < 550) {
    drag(trick, controls);
  } else if (choose < 760) {
    for (int keys = 1 + number(3); keys > 0; --keys) key(trick, pick(kKeys));
  } else if (choose < 850) {
    const int x = chance(20) ? number(9) - 4 : 0, y = number(13) - 6;
    trick.push_back({.kind = Kind::kWheel, .x = x, .y = y, .text = {}});
  } else if (choose < 900) {
    switch_run(trick, controls);
  } else if (choose < 945) {
    command(trick, pick(kCommands));
  } else if (choose < 970) {
    trick.push_back({.kind = Kind::kType, .text = pick(kTyped)});
  } else if (choose < 980) {
    trick.push_back({.kind = Kind::kDrop, .text = pick(files_)});
  } else if (choose < 990) {
    resize(trick);
  } else if (choose < 998) {
    key(trick, "Escape");
    key(trick, "Ctrl+Enter");  // a live run
  } else {
    quit(trick);
  }
  return trick;
}

}  // namespace shardlens::window_test
