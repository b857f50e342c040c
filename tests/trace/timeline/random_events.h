// Made-up events of one row, and a naive painting of them: what folding is compared with.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "trace/timeline/pieces/piece_folder.h"
#include "trace/timeline/values/drawn_event.h"

namespace shardlens::trace::timeline {

// By start. `overlap`: they may begin in each other. Lengths from 0 to `longest_ns`, gaps likewise.
std::vector<DrawnEvent> random_events(std::mt19937_64& random, int count, std::int64_t longest_ns,
                                      bool overlap);

// Pixels from start_ns on: which are touched, and how much of each is covered.
struct Painting {
  std::vector<bool> touched;
  std::vector<double> covered;  // 0 to 1
};
Painting paint_events(const std::vector<DrawnEvent>& events, std::int64_t start_ns,
                      std::int64_t pixel_ns, int pixels);
Painting paint_pieces(const std::vector<Piece>& pieces, std::int64_t start_ns,
                      std::int64_t pixel_ns, int pixels);

std::vector<Piece> fold_all(const std::vector<DrawnEvent>& events, PixelGrid grid,
                            base::Interval window, int levels = 1);

}  // namespace shardlens::trace::timeline
