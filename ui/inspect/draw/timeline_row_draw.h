// One row of the timeline from its picture: pieces, ribbons, areas, ready marks. Interface thread,
// inside a frame.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/timeline_rows.h"
#include "ui/inspect/timeline/item_facts.h"
#include "ui/inspect/timeline/timeline_means.h"
#include "ui/inspect/timeline/timeline_window.h"
#include "ui/kit/theme.h"
#include "ui/present/format.h"

namespace shardlens::ui::inspect {

// How sizes stand on the boxes of ready rows: a bare number would read like the bucket's, so then
// the rows' names say its unit.
struct SizeForm {
  enum class Kind : std::uint8_t { kWithUnit, kNumber, kShortNumber, kNone };
  Kind kind = Kind::kNone;
  std::string unit;  // of bare numbers

  std::string text(const present::Quantity& size) const;
};

// What all rows of a frame share.
struct RowCanvas {
  const kit::Theme& theme;
  const TimeWindow& window;
  state::Rect plot;  // where rows are; labels stand left of it
  float mouse_x = 0, mouse_y = 0;
  bool mouse_inside = false;
  // By name of the picture: whether it is searched or picked; empty: nothing is.
  const std::vector<bool>* lit = nullptr;
  float dim = 1;              // how strong the others stay
  RowMeans* means = nullptr;  // of the picture that is drawn; null: nothing is smoothed
  bool is_fine = false;       // pictures have several pieces a pixel
  std::optional<trace::timeline::RowKind> lit_kind = {};  // only rows of it; none: all
  SizeForm sizes = {};

  // Cut off beyond the plot's sides, where floats would lose pixels.
  float x(std::int64_t view_time_ns) const;
};

// Whether words in the middle of `box` would be whole: half a word reads like a fault.
constexpr float kHalfWord = 6;  // at scale 1
inline bool shows_words(const kit::Theme& theme, const state::Rect& box, const state::Rect& plot) {
  const float half = theme.px(kHalfWord);
  return box.center_y() - half >= plot.y && box.center_y() + half <= plot.bottom();
}

// One row as it lies on screen.
struct RowPlace {
  state::Rect area;  // nothing is drawn beside it
  int row = -1;
  trace::timeline::RowKind kind = trace::timeline::RowKind::kRibbon;
  std::int64_t shift_ns = 0;  // what its own times are ahead of the window's
  int levels = 1;
  float level_height = 0;
  std::int64_t start_ns = 0, end_ns = 0;   // the part of the row that it shows, in its own time
  std::int64_t least_ns = 0, most_ns = 0;  // it shows nothing before and behind
  std::string unit;                        // of an area
  // Ribbons: each column is the mean over this long, so that steps which are narrower than a few
  // pixels do not flicker; and how strong what is not exposed is drawn.
  std::int64_t smooth_ns = 0;
  float quiet = 1;
};

std::optional<RowItem> draw_row(const RowCanvas& canvas, const RowPlace& place,
                                const trace::timeline::RowPicture& picture,
                                const std::vector<std::string>& names);

// Parts of it.
std::optional<RowItem> draw_pieces(const RowCanvas& canvas, const RowPlace& place,
                                   const trace::timeline::RowPicture& picture,
                                   const std::vector<std::string>& names);
// ▼ where the last gradient of a bucket or unit was ready; where there is room, under it what takes
// it over the link: a bucket's size, or a unit's name. A unit's gathers are hollow under ▶ for
// forward and ◀ for backward, those ahead of need fainter.
std::optional<RowItem> draw_ready(const RowCanvas& canvas, const RowPlace& place,
                                  const trace::timeline::RowPicture& picture,
                                  const std::vector<std::string>& names);
// One form for all such rows: the most that they have room for.
class SizeRoom {
 public:
  void add(const RowCanvas& canvas, const RowPlace& place,
           const trace::timeline::RowPicture& picture);
  SizeForm form() const;

 private:
  int all_ = 0, with_unit_ = 0, as_number_ = 0, short_ = 0;  // of the boxes in sight, with room
  std::set<std::string> units_;
};

// What RowPlace::smooth_ns should be where a step lasts so long; 0: it is wider than `narrow`
// pixels.
std::int64_t ribbon_smoothing(const TimeWindow& window, float width, std::int64_t step_ns,
                              float narrow = 10);

}  // namespace shardlens::ui::inspect
