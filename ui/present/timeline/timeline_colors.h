// What the pieces of the timeline look like: colours by class, names of classes. Free of ImGui.
#pragma once

#include <cstddef>
#include <string_view>

#include "trace/timeline/values/picture.h"
#include "ui/state/palette.h"

namespace shardlens::ui::present {

// The edge that tells a quiet fill from the panel; the fill itself where that is loud enough.
state::Rgb piece_edge(const state::Palette& palette, trace::base::TimeClass piece_class);
bool is_quiet(trace::base::TimeClass piece_class);  // host phases: a fill under its label
// Neighbours of one class by their names: a little lighter or darker, never another hue.
state::Rgb shade_by_name(const state::Palette& palette, state::Rgb fill, std::size_t name_hash);

std::string_view class_name(
    trace::base::TimeClass piece_class);  // "compute", "exposed communication"

}  // namespace shardlens::ui::present
