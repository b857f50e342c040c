#include "tests/trace/timeline/random_events.h"

#include <algorithm>

namespace shardlens::trace::timeline {

namespace {

// Calls visit(pixel, nanoseconds of it) for all pixels that the time touches.
template <typename Visit>
void visit_pixels(base::Interval time, std::int64_t start_ns, std::int64_t pixel_ns, int pixels,
                  Visit visit) {
  for (int i = 0; i < pixels; ++i) {
    const std::int64_t from = std::max(time.start_ns, start_ns + i * pixel_ns);
    const std::int64_t to = std::min(time.end_ns, start_ns + (i + 1) * pixel_ns);
    if (from < to) visit(static_cast<std::size_t>(i), to - from);
  }
}

Painting blank(int pixels) {
  return {std::vector<bool>(static_cast<std::size_t>(pixels)),
          std::vector<double>(static_cast<std::size_t>(pixels))};
}

}  // namespace

std::vector<DrawnEvent> random_events(std::mt19937_64& random, int count, std::int64_t longest_ns,
                                      bool overlap) {
  std::vector<DrawnEvent> events;
  std::int64_t time = 1'700'000'000'000'000'000;
  for (int i = 0; i < count; ++i) {
    // As real durations: of any order of magnitude.
    const auto any = [&](std::int64_t most) {
      const auto bits = random() % 60;
      return static_cast<std::int64_t>((random() >> bits) % static_cast<std::uint64_t>(most + 1));
    };
    DrawnEvent event;
    event.time = {time, time + any(longest_ns)};
    event.name = static_cast<std::uint32_t>(i + 1);
    event.ref = {EventTableKind::kKernel, 0, 7, static_cast<std::uint32_t>(i)};
    events.push_back(event);
    time = overlap ? time + any(longest_ns / 4) : event.time.end_ns + any(longest_ns);
  }
  return events;
}

Painting paint_events(const std::vector<DrawnEvent>& events, std::int64_t start_ns,
                      std::int64_t pixel_ns, int pixels) {
  Painting painting = blank(pixels);
  std::vector<base::Interval> times;
  for (const DrawnEvent& event : events) {
    times.push_back({event.time.start_ns, std::max(event.time.end_ns, event.time.start_ns + 1)});
  }
  for (const base::Interval& time : base::normalize(times)) {
    visit_pixels(time, start_ns, pixel_ns, pixels, [&](std::size_t pixel, std::int64_t ns) {
      painting.touched[pixel] = true;
      painting.covered[pixel] += static_cast<double>(ns) / static_cast<double>(pixel_ns);
    });
  }
  return painting;
}

Painting paint_pieces(const std::vector<Piece>& pieces, std::int64_t start_ns,
                      std::int64_t pixel_ns, int pixels) {
  Painting painting = blank(pixels);
  for (const Piece& piece : pieces) {
    visit_pixels({piece.start_ns, piece.end_ns}, start_ns, pixel_ns, pixels,
                 [&](std::size_t pixel, std::int64_t ns) {
                   painting.touched[pixel] = true;
                   painting.covered[pixel] += static_cast<double>(piece.busy) *
                                              static_cast<double>(ns) /
                                              static_cast<double>(pixel_ns);
                 });
  }
  return painting;
}

std::vector<Piece> fold_all(const std::vector<DrawnEvent>& events, PixelGrid grid,
                            base::Interval window, int levels) {
  PieceFolder folder(grid, window, levels);
  for (const DrawnEvent& event : events) folder.add(event);
  return folder.finish();
}

}  // namespace shardlens::trace::timeline
