// Texts and shapes on the current window's draw list. Interface thread, inside a frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ui/kit/theme.h"
#include "ui/present/axis.h"

namespace shardlens::ui::kit {

enum class Align : std::uint8_t { kLeft, kCenter, kRight };

ImU32 color(state::Rgb c, float alpha = 1);

// ---- text -------------------------------------------------------------------------------------

float text_width(const Theme& theme, Face face, std::string_view text);
// A name that fits the width: cut in the middle, as many begin alike and differ at their ends.
std::string fitting_name(const Theme& theme, Face face, std::string_view name, float width);
// Height of capitals above the baseline; texts of different faces share a baseline.
float cap_height(const Theme& theme, Face face);
// Draws at a baseline; returns the width.
float text(const Theme& theme, float x, float baseline, Face face, state::Rgb c,
           std::string_view text);
// Draws in a box, vertically centred on the capitals; cut with "…" where it is too long, left out
// where not even that fits. Returns the width drawn.
float text_in(const Theme& theme, const state::Rect& box, Face face, state::Rgb c,
              std::string_view text, Align align = Align::kLeft);
// As text_in(), but left out instead of cut. Returns the width drawn.
float label_in(const Theme& theme, const state::Rect& box, Face face, state::Rgb c,
               std::string_view text, Align align = Align::kLeft);
// As text_in(), small and grey: what stands beside the things that count.
float note_in(const Theme& theme, const state::Rect& box, std::string_view text,
              Align align = Align::kLeft);
// As text_in(), at one end of `row`, which loses its room and, if anything is drawn, `gap`.
void take_text(const Theme& theme, state::Rect& row, float gap, Face face, state::Rgb c,
               std::string_view text, Align align = Align::kLeft);
// In the middle of an area that has nothing to show: why, or what to do.
void empty_note(const Theme& theme, const state::Rect& area, std::string_view text);
// Broken at spaces, never within a number or before its percent sign.
std::vector<std::string_view> wrapped_lines(const Theme& theme, Face face, float width,
                                            std::string_view text);
// Height that text_wrapped() would use if the box were high enough; of so many lines at most.
float wrapped_height(const Theme& theme, Face face, float width, std::string_view text,
                     std::size_t most_lines = SIZE_MAX);
// Breaks at spaces; returns the height used. Draws nothing below `box`.
float text_wrapped(const Theme& theme, const state::Rect& box, Face face, state::Rgb c,
                   std::string_view text);
// The same at the top of `rest`, which loses the height used and `gap`.
void take_wrapped(const Theme& theme, state::Rect& rest, float gap, Face face, state::Rgb c,
                  std::string_view text);

// ---- shapes -----------------------------------------------------------------------------------

void fill(const state::Rect& rect, ImU32 c, float rounding = 0);
void outline(const state::Rect& rect, ImU32 c, float rounding = 0, float thickness = 1);
void bordered(const state::Rect& rect, ImU32 c, ImU32 edge, float rounding);  // both
void line(float x0, float y0, float x1, float y1, ImU32 c, float thickness = 1);
void dashed_line(const Theme& theme, float x0, float y0, float x1, float y1, ImU32 c);
void dashed_outline(const Theme& theme, const state::Rect& rect, ImU32 c);
// The square of a legend's entry: `size` wide, centred in height at the left of `row`, which loses
// it and `gap`. Where it lies.
state::Rect take_swatch(const Theme& theme, state::Rect& row, float size, float gap);
state::Rect swatch_in(const state::Rect& mark);  // as wide as it, centred in its height
// An entry of a legend that lies in a row: draws its name, takes its room from the left of `row`,
// and returns where its mark goes, `mark` wide at scale 1; empty where there is no room for it.
float legend_width(const Theme& theme, float mark, std::string_view name);  // without a gap
inline constexpr float kLegendGap = 12;
state::Rect legend_entry(const Theme& theme, state::Rect& row, float mark, std::string_view name,
                         state::Rgb ink);
void hatch(const Theme& theme, const state::Rect& rect, ImU32 c);

enum class Shape : std::uint8_t {
  kPlay,
  kPause,
  kStop,
  kUp,
  kDown,
  kRight,
  kLeft,
  kCheck,
  kDot,
  kCross,
  kRestart,
  kWarning,
  kPencil,
};
void shape(Shape kind, float center_x, float center_y, float size, ImU32 c);
void shape(Shape kind, const state::Rect& mark, float size, ImU32 c);  // in its middle

// ---- charts -----------------------------------------------------------------------------------

// Where shares of a chart's width and height, from its lower left corner, lie on screen.
struct Plot {
  state::Rect area;
  float x(float share) const { return area.x + share * area.w; }
  float y(float share) const { return area.bottom() - share * area.h; }
};

// A line across `area`, and its label left of it.
void tick_left(const Theme& theme, const state::Rect& area, float y, std::string_view label);
// A label of an axis around `x`, unless the one before ends behind `free_from`, which is then
// moved.
void axis_label(const Theme& theme, const state::Rect& axis, float x, std::string_view label,
                float& free_from);
// Lines down the plot, with labels below it that may stick out by `left` and `right`; those that
// would lie on the one before are left out.
void ticks_below(const Theme& theme, const Plot& plot, const std::vector<present::Tick>& ticks,
                 float left, float right);
// `cap`: from its ends to those of their cross lines; a dashed one has none.
void interval(const Theme& theme, ImVec2 from, ImVec2 to, ImVec2 cap, ImU32 c,
              bool is_dashed = false);

// ---- clipping ---------------------------------------------------------------------------------

class Clip {  // to `rect` until the end of the scope
 public:
  // `within`: also by what clips already; without it, a child may draw in its panel's header.
  explicit Clip(const state::Rect& rect, bool within = true);
  ~Clip();
  Clip(const Clip&) = delete;
  Clip& operator=(const Clip&) = delete;
};

}  // namespace shardlens::ui::kit
