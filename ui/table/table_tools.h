// What stands above and over tables: a filter, a choice of a few words, buttons that copy and save,
// a row's menu. Interface thread, inside a frame.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"

namespace shardlens::ui::table {

inline constexpr float kToolsHeight = 34;

// Follows every letter. `hint` stands there while it is empty.
void filter_field(const kit::Theme& theme, std::string_view name, const state::Rect& rect,
                  std::string& text, std::string_view hint, bool takes_keyboard = false);

// Words side by side of which one is chosen; true when another one was. Takes its room from the
// left of `area`.
bool choice_strip(const kit::Theme& theme, std::string_view name, state::Rect& area,
                  std::span<const std::string_view> choices, std::size_t& chosen);

// A small quiet button at the right end of `area`, which loses its room.
bool tool_button(const kit::Theme& theme, std::string_view name, state::Rect& area,
                 std::string_view label);

// One line of a pop-up menu, which closes with a click on it; true then.
bool menu_entry(const kit::Theme& theme, std::string_view name, std::string_view label,
                float width);

// The pop-up `id`, once ImGui::OpenPopup(id) was called; the entry that was picked. `title`: which
// row it is of, since it lies over the rows.
std::optional<std::size_t> row_menu(const kit::Theme& theme, const char* id, std::string_view name,
                                    std::string_view title,
                                    std::span<const std::string_view> entries);

// "ddp_resnet50_kernels.csv": a run's name and what it is, without what a file name cannot hold.
std::string export_file_name(std::string_view run_folder, std::string_view what,
                             std::string_view extension);

// "Copy" and "Save CSV" at the right end of `area`, which loses their room. `csv` is asked for
// when one is pressed.
void table_buttons(const kit::Theme& theme, const std::string& name, state::Rect& area,
                   const std::string& file_name, const std::function<std::string()>& csv,
                   state::Commands& commands);

}  // namespace shardlens::ui::table
