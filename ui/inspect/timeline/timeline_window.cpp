#include "ui/inspect/timeline/timeline_window.h"

#include <algorithm>
#include <cmath>

namespace shardlens::ui::inspect {

namespace {

constexpr double kLeastSpan = 20;      // ns: a nanosecond, the clock's unit, is seen as one
constexpr double kSideMargin = 0.015;  // of the width, before the start and behind the end
// Times beyond are damage; half of the range keeps sums of two of them defined.
constexpr std::int64_t kFarthest = std::int64_t{1} << 62;

std::int64_t within_reach(std::int64_t time) { return std::clamp(time, -kFarthest, kFarthest); }

}  // namespace

double distance_ns(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return static_cast<double>(difference);
  return static_cast<double>(a) - static_cast<double>(b);
}

double TimeWindow::widest() const {
  return std::max(distance_ns(extent_end_, extent_start_), kLeastSpan) / (1 - 2 * kSideMargin);
}

void TimeWindow::set_extent(std::int64_t start_ns, std::int64_t end_ns, std::int64_t home_start_ns,
                            std::int64_t home_end_ns) {
  extent_start_ = within_reach(start_ns);
  extent_end_ = std::max(within_reach(end_ns), extent_start_ + 1);
  home_start_ = std::clamp(home_start_ns, extent_start_, extent_end_ - 1);
  home_end_ = std::clamp(home_end_ns, home_start_ + 1, extent_end_);
  if (fitted_) {
    fit();
  } else {
    clamp();
  }
}

void TimeWindow::fit() {
  fitted_ = true;
  span_ = std::max(distance_ns(home_end_, home_start_), kLeastSpan) / (1 - 2 * kSideMargin);
  start_ = home_start_;
  fraction_ = 0;
  move(-kSideMargin * span_);
}

void TimeWindow::move(double ns) {
  constexpr double kFarthestMove = 4e18;  // the sum with any start stays defined
  fraction_ += std::clamp(ns, -kFarthestMove, kFarthestMove);
  const double whole = std::floor(fraction_);
  start_ = within_reach(start_ + static_cast<std::int64_t>(whole));
  fraction_ -= whole;
}

void TimeWindow::clamp() {
  const double margin = kSideMargin * span_;
  const double before = distance_ns(extent_start_, start_) - fraction_ - margin;
  if (before > 0) return move(before);
  const double behind = distance_ns(start_, extent_end_) + fraction_ + span_ - margin;
  if (behind > 0) move(-std::min(behind, -before));
}

void TimeWindow::zoom(double at, double factor) {
  if (!(factor > 0) || !std::isfinite(factor)) return;
  const double span = std::clamp(span_ / factor, kLeastSpan, widest());
  if (span == span_) return;
  move(at * (span_ - span));
  span_ = span;
  fitted_ = false;
  if (is_whole()) return fit();
  clamp();
}

bool TimeWindow::is_whole() const {
  return span_ >= widest() && home_start_ == extent_start_ && home_end_ == extent_end_;
}

void TimeWindow::pan(double fraction_of_width) {
  if (is_whole() || !std::isfinite(fraction_of_width)) return;
  fitted_ = false;
  move(fraction_of_width * span_);
  clamp();
}

void TimeWindow::show(std::int64_t start_ns, std::int64_t end_ns, double around) {
  start_ns = within_reach(start_ns);
  end_ns = within_reach(end_ns);
  const auto margin =
      static_cast<std::int64_t>(around * std::max(0.0, distance_ns(end_ns, start_ns)));
  start_ns = within_reach(start_ns - margin);
  const double wanted = std::max(1.0, distance_ns(within_reach(end_ns + margin), start_ns));
  span_ = std::clamp(wanted, kLeastSpan, widest());
  start_ = start_ns;
  fraction_ = 0;
  if (span_ > wanted) move((wanted - span_) / 2);
  fitted_ = false;
  if (is_whole()) return fit();
  clamp();
}

void TimeWindow::center_on(std::int64_t time_ns) {
  if (is_whole()) return;
  fitted_ = false;
  start_ = within_reach(time_ns);
  fraction_ = 0;
  move(-span_ / 2);
  clamp();
}

void TimeWindow::reveal(std::int64_t start_ns, std::int64_t end_ns) {
  constexpr double kLeastShare = 1.0 / 300, kMostShare = 1.0 / 3, kRevealedShare = 1.0 / 12;
  const auto length = static_cast<double>(std::max<std::int64_t>(end_ns - start_ns, 1));
  const std::int64_t middle = start_ns + (end_ns - start_ns) / 2;
  const double share = length / span_ns();
  if (share < kLeastShare || share > kMostShare) {
    const auto half = static_cast<std::int64_t>(length / kRevealedShare / 2) + 1;
    show(middle - half, middle + half);
  }
  center_on(middle);
}

std::int64_t TimeWindow::time_at(double position) const {
  const double offset = std::floor(fraction_ + position * span_);
  constexpr auto kReach = static_cast<double>(kFarthest);
  return start_ + static_cast<std::int64_t>(std::clamp(offset, -kReach, kReach));
}

}  // namespace shardlens::ui::inspect
