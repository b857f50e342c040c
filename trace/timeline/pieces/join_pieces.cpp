#include "trace/timeline/pieces/join_pieces.h"

#include <algorithm>

namespace shardlens::trace::timeline {

namespace {

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
