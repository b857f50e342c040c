// The colours of both themes, free of ImGui so that contrast and distances are tested. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trace/base/time_partition.h"
#include "trace/model/events.h"

namespace shardlens::ui::state {

enum class ThemeKind : std::uint8_t { kDark, kLight };

struct Rgb {
  std::uint8_t r = 0, g = 0, b = 0;
  bool operator==(const Rgb&) const = default;
};

constexpr Rgb rgb(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8),
          static_cast<std::uint8_t>(hex)};
}

struct Palette {
  // Surfaces, from behind to front.
  Rgb window, panel, panel_edge, field, field_edge, hover, popup, grid, row_selected;
  // Text on window, panel, field and popup.
  Rgb text, text_secondary, text_muted, heading;
  // What can be pressed, and states.
  Rgb accent, accent_text, primary, primary_hover, on_primary, danger, danger_field, on_danger,
      good;
  // Where time goes; one meaning each, everywhere.
  Rgb compute, overlapped, exposed, optimizer, idle, idle_edge, copy;
  // Host phases: quiet fills under their labels, with an edge that carries the contrast.
  Rgb phase_fill, phase_edge, phase_optimizer_fill, phase_optimizer_edge;
  // A changed knob or a prediction, and nothing else.
  Rgb changed;
  // Memory: one quiet scale, in the order of trace::MemoryCategory; any two of them can be told
  // apart with every kind of colour vision.
  Rgb memory[trace::model::kMemoryCategoryCount];
};

inline const Rgb& memory_color(const Palette& palette, trace::model::MemoryCategory category) {
  return palette.memory[static_cast<std::size_t>(category)];
}

const Palette& palette(ThemeKind kind);

// How loud a text is.
enum class Tone : std::uint8_t { kText, kSecondary, kMuted, kDanger };
Rgb tone_color(const Palette& palette, Tone tone);

// The fill of what is drawn of a timeline.
Rgb time_color(const Palette& palette, trace::base::TimeClass time_class);
// The edge that tells a quiet fill from the panel; the fill itself where that is loud enough.
Rgb piece_edge(const Palette& palette, trace::base::TimeClass piece_class);
bool is_quiet(trace::base::TimeClass piece_class);  // host phases: a fill under its label
// Neighbours of one class by their names: a little lighter or darker, never another hue.
Rgb shade_by_name(const Palette& palette, Rgb fill, std::size_t name_hash);

std::string_view class_name(
    trace::base::TimeClass piece_class);  // "compute", "exposed communication"

// Relative luminance and contrast ratio of WCAG 2.1.
double relative_luminance(Rgb color);
double contrast_ratio(Rgb a, Rgb b);

// Near-black or near-white, whichever reads better on `background`.
Rgb text_on(Rgb background);

// `amount` of `over` on top of `under`.
Rgb mix(Rgb under, Rgb over, double amount);

}  // namespace shardlens::ui::state
