// ?: the keys. Interface thread, inside a frame.
#pragma once

#include <span>
#include <string_view>

#include "ui/kit/theme.h"

namespace shardlens::ui::window {

struct KeyHint {
  std::string_view keys, what;
};
std::span<const KeyHint> key_hints();          // of Tune
std::span<const KeyHint> inspect_key_hints();  // of Inspect
std::span<const KeyHint> compare_key_hints();  // of Compare

// Returns true when it was closed.
bool draw_help_overlay(const kit::Theme& theme, const state::Rect& window,
                       std::span<const KeyHint> hints);
// One line with the keys that a presenter needs.
void draw_key_line(const kit::Theme& theme, const state::Rect& rect);

}  // namespace shardlens::ui::window
