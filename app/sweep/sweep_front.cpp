#include "app/sweep/sweep_front.h"

#include <algorithm>

#include "trace/analysis/run/comparison.h"

namespace shardlens::app::sweep {
namespace {

class Rivals {
 public:
  Rivals(const trace::analysis::RoundNoise& noise, double claims)
      : noise_(noise), width_(noise.width_of_one_round(claims)) {}

  bool beats(const FrontPoint& winner, const FrontPoint& loser) const {
    const double larger = std::max(winner.peak_bytes, loser.peak_bytes);
    const bool is_same =
        trace::analysis::is_same_memory(winner.peak_bytes, loser.peak_bytes, larger);
    if (!is_same && winner.peak_bytes > loser.peak_bytes) return false;
    const bool is_less = !is_same;
    if (is_less && *noise_.level(winner.point) < *noise_.level(loser.point)) return true;
    return width_ && noise_.is_beyond(loser.point, winner.point, *width_);
  }

 private:
  const trace::analysis::RoundNoise& noise_;
  std::optional<double> width_;
};

}  // namespace

std::vector<bool> front_of(const std::vector<FrontPoint>& points,
                           const trace::analysis::RoundNoise& noise, double claims) {
  const Rivals rivals(noise, claims);
  std::vector<bool> front;
  for (const FrontPoint& point : points) {
    front.push_back(std::ranges::none_of(
        points, [&](const FrontPoint& other) { return rivals.beats(other, point); }));
  }
  return front;
}

}  // namespace shardlens::app::sweep
