// ?: the keys. Interface thread, inside a frame.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ui/kit/theme.h"

namespace shardlens::ui::window {

struct KeyHint {
  std::string_view keys, what;
};
// Of a workspace; `learns`: it stands beside a lesson.
std::vector<KeyHint> key_hints(std::string_view workspace, bool learns);

// Returns true when it was closed.
bool draw_help_overlay(const kit::Theme& theme, const state::Rect& window,
                       std::span<const KeyHint> hints);
// One line with the keys that a presenter needs.
void draw_key_line(const kit::Theme& theme, const state::Rect& rect, bool learns);

}  // namespace shardlens::ui::window
