// From the events of a row to the pieces that are drawn: events of at least a pixel one by one,
// shorter ones folded by pixel, and those that look the same joined. At most a few pieces per pixel
// and level, however many events there are. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/timeline/pieces/pixel_grid.h"
#include "trace/timeline/values/drawn_event.h"

namespace shardlens::trace::timeline {

class PieceFolder {
 public:
  PieceFolder(PixelGrid grid, base::Interval window, int levels);

  // What was wanted in whole columns, and one more before it, whose short events may reach into it.
  base::Interval window() const { return window_; }

  // In order of start within a level; what cannot be seen in the window is passed over.
  void add(const DrawnEvent& event);
  // By level, then by start. `name` of a piece is its event's, of a fold the longest's.
  std::vector<Piece> finish();

 private:
  // Short events that begin in one column, or long ones that overlap each other there.
  struct Fold {
    DrawnEvent longest;
    base::Interval time;  // of all of them
    std::uint32_t count = 0;
    std::int64_t busy_ns = 0, covered_until_ns = 0;

    void add(const DrawnEvent& event);
    Piece piece() const;
  };
  struct Level {
    std::int64_t column_start_ns = INT64_MIN, column_end_ns = INT64_MIN;
    std::uint32_t drawn_alone = 0;
    Fold shorter, longer;
    std::vector<Piece> pieces;
  };
  void begin_column(Level& level, std::int64_t time_ns) const;
  static void end_column(Level& level);

  PixelGrid grid_;
  base::Interval window_;
  std::vector<Level> levels_;
};

// Of the busy share: two pieces look the same up to here.
inline constexpr float kSameShade = 1.0F / 16;

// `pieces` by level, then start. Joins neighbours shorter than a few columns of `grid` whose class
// is the same, which lie less than a column apart and whose busy share differs by less than
// kSameShade from that of the whole. Events of at least a column stay as they are.
void join_pieces(std::vector<Piece>& pieces, PixelGrid grid);

}  // namespace shardlens::trace::timeline
