#include "trace/timeline/pieces/piece_folder.h"

#include <algorithm>

namespace shardlens::trace::timeline {

namespace {

// Events of one level that overlap are drawn one by one only so far: of those that begin in a
// column, and of those that began before the window.
constexpr std::uint32_t kMostAlone = 1, kMostAloneBefore = 8;

Piece single_piece(const DrawnEvent& event) {
  Piece piece;
  piece.start_ns = event.time.start_ns;
  // Nothing that was recorded is without any extent on screen.
  piece.end_ns = std::max(event.time.end_ns, event.time.start_ns + 1);
  piece.name = event.name;
  piece.longest_ns = event.time.length();
  piece.level = static_cast<std::uint8_t>(event.level);
  piece.piece_class = event.piece_class;
  piece.latest_start_ns = event.latest_start_ns;
  piece.collective = event.collective;
  piece.ref = event.ref;
  return piece;
}

// A longer run would hide where its longest event is.
constexpr std::int64_t kMostColumns = 16;

// A run with the least and the greatest share of what was joined into it.
struct Run {
  float least = 1, most = 0;
};

double busy_ns(const Piece& piece) {
  return static_cast<double>(piece.busy) * static_cast<double>(piece.duration_ns());
}

bool can_join(const Piece& piece, PixelGrid grid) {
  return !piece.ref.exists() || piece.duration_ns() < grid.column_ns();
}

bool join(Piece& run, Run& shades, const Piece& next, PixelGrid grid) {
  if (run.level != next.level || run.piece_class != next.piece_class || !can_join(run, grid) ||
      !can_join(next, grid) || next.start_ns < run.start_ns ||
      next.start_ns - run.end_ns >= grid.column_ns() ||
      next.end_ns - run.start_ns > kMostColumns * grid.column_ns()) {
    return false;
  }
  const std::int64_t end_ns = std::max(run.end_ns, next.end_ns);
  const auto busy = static_cast<float>((busy_ns(run) + busy_ns(next)) /
                                       static_cast<double>(end_ns - run.start_ns));
  const float least = std::min(shades.least, next.busy), most = std::max(shades.most, next.busy);
  if (busy > 1 || most - busy >= kSameShade || busy - least >= kSameShade) return false;
  shades = {least, most};
  run.end_ns = end_ns;
  run.busy = busy;
  run.busiest = std::max(run.busiest, next.busiest);
  run.count += next.count;
  if (next.longest_ns > run.longest_ns) {
    run.longest_ns = next.longest_ns;
    run.name = next.name;
  }
  run.latest_start_ns = 0;
  run.collective = -1;
  run.ref = {};
  return true;
}

}  // namespace

void PieceFolder::Fold::add(const DrawnEvent& event) {
  const std::int64_t end_ns = std::max(event.time.end_ns, event.time.start_ns + 1);
  if (count == 0) {
    time = {event.time.start_ns, end_ns};
    covered_until_ns = event.time.start_ns;
    busy_ns = 0;
  }
  if (count == 0 || event.time.length() > longest.time.length()) longest = event;
  ++count;
  time.end_ns = std::max(time.end_ns, end_ns);
  const std::int64_t from_ns = std::max(event.time.start_ns, covered_until_ns);
  if (end_ns > from_ns) {
    busy_ns += end_ns - from_ns;
    covered_until_ns = end_ns;
  }
}

Piece PieceFolder::Fold::piece() const {
  Piece piece = single_piece(longest);
  if (count == 1) return piece;
  piece.start_ns = time.start_ns;
  piece.end_ns = time.end_ns;
  piece.count = count;
  piece.busy =
      static_cast<float>(static_cast<double>(busy_ns) / static_cast<double>(time.length()));
  piece.busiest = piece.busy;
  piece.latest_start_ns = 0;
  piece.collective = -1;
  piece.ref = {};
  return piece;
}

PieceFolder::PieceFolder(PixelGrid grid, base::Interval window, int levels)
    : grid_(grid),
      window_(grid.around(window)),
      levels_(static_cast<std::size_t>(std::clamp(levels, 1, 256))) {
  window_.start_ns -= grid.column_ns();
}

void PieceFolder::begin_column(Level& level, std::int64_t time_ns) const {
  end_column(level);
  level.drawn_alone = 0;
  if (time_ns < window_.start_ns) {
    level.column_start_ns = INT64_MIN;
    level.column_end_ns = window_.start_ns;
  } else {
    level.column_start_ns = grid_.start_of(grid_.column_at(time_ns));
    level.column_end_ns = grid_.start_of(grid_.column_at(time_ns) + 1);
  }
}

void PieceFolder::end_column(Level& level) {
  const auto first = static_cast<std::ptrdiff_t>(level.pieces.size() - level.drawn_alone);
  for (Fold* fold : {&level.shorter, &level.longer}) {
    if (fold->count > 0) level.pieces.push_back(fold->piece());
    fold->count = 0;
  }
  std::stable_sort(level.pieces.begin() + first, level.pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.start_ns < b.start_ns; });
}

void PieceFolder::add(const DrawnEvent& event) {
  if (!is_drawn_in(event.time, window_)) return;
  const auto depth =
      std::min<std::size_t>(static_cast<std::size_t>(std::max(event.level, 0)), levels_.size() - 1);
  Level& level = levels_[depth];
  if (event.time.start_ns < level.column_start_ns || event.time.start_ns >= level.column_end_ns) {
    begin_column(level, event.time.start_ns);
  }
  DrawnEvent own = event;
  own.level = static_cast<int>(depth);
  const bool is_before = level.column_start_ns == INT64_MIN;
  if (event.time.length() < grid_.column_ns()) {
    level.shorter.add(own);
  } else if (level.drawn_alone < (is_before ? kMostAloneBefore : kMostAlone)) {
    level.pieces.push_back(single_piece(own));
    ++level.drawn_alone;
  } else {
    level.longer.add(own);
  }
}

std::vector<Piece> PieceFolder::finish() {
  std::vector<Piece> pieces;
  for (Level& level : levels_) {
    end_column(level);
    // Reversed events may have come out of order.
    if (!std::ranges::is_sorted(level.pieces, {}, &Piece::start_ns)) {
      std::ranges::stable_sort(level.pieces, {}, &Piece::start_ns);
    }
    if (pieces.empty()) {
      pieces = std::move(level.pieces);
    } else {
      pieces.insert(pieces.end(), level.pieces.begin(), level.pieces.end());
    }
    level = {};
  }
  return pieces;
}

void join_pieces(std::vector<Piece>& pieces, PixelGrid grid) {
  if (pieces.empty()) return;
  std::size_t kept = 0;
  Run shades{pieces[0].busy, pieces[0].busy};
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (join(pieces[kept], shades, pieces[i], grid)) continue;
    pieces[++kept] = pieces[i];
    shades = {pieces[kept].busy, pieces[kept].busy};
  }
  pieces.resize(kept + 1);
}

}  // namespace shardlens::trace::timeline
