// What the pieces of the timeline look like: colours by class, names of classes. Free of ImGui.
#pragma once

#include <cstddef>
#include <string_view>

#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/timeline_rows.h"
#include "ui/state/palette.h"

namespace shardlens::ui {

// The edge that tells a quiet fill from the panel; the fill itself where that is loud enough.
Rgb piece_edge(const Palette& palette, trace::TimeClass piece_class);
bool is_quiet(trace::TimeClass piece_class);  // host phases: a fill under its label
// Neighbours of one class by their names: a little lighter or darker, never another hue.
Rgb shade_by_name(const Palette& palette, Rgb fill, std::size_t name_hash);

std::string_view class_name(trace::TimeClass piece_class);  // "compute", "exposed communication"
std::string_view kind_name(trace::RowKind kind);            // "Kernels"

}  // namespace shardlens::ui
