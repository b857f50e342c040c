#include "ui/tune/timeline/timeline_view.h"

#include <algorithm>

namespace shardlens::ui {

namespace {

constexpr double kMinimumSpan = 500;  // ns: shorter than any event worth seeing
constexpr double kMargin = 0.02;      // of the step, behind its end

}  // namespace

void TimelineView::set_extent(double end_ns) {
  extent_ = std::max(end_ns, kMinimumSpan);
  if (fitted_) {
    fit();
  } else {
    clamp();
  }
}

void TimelineView::fit() {
  fitted_ = true;
  start_ = 0;
  span_ = extent_ * (1 + kMargin);
}

void TimelineView::zoom(double at, double factor) {
  const double fixed = start_ + at * span_;
  const double widest = extent_ * (1 + kMargin);
  const double span = std::clamp(span_ / factor, kMinimumSpan, widest);
  start_ = fixed - at * span;
  span_ = span;
  fitted_ = false;
  if (span_ >= widest) fit();
  clamp();
}

void TimelineView::pan(double fraction_of_width) {
  if (fitted_) return;
  start_ += fraction_of_width * span_;
  clamp();
}

void TimelineView::show(double start_ns, double end_ns) {
  const double widest = extent_ * (1 + kMargin);
  span_ = std::clamp(end_ns - start_ns, kMinimumSpan, widest);
  start_ = start_ns;
  fitted_ = false;
  clamp();
}

void TimelineView::clamp() {
  const double widest = extent_ * (1 + kMargin);
  span_ = std::min(span_, widest);
  start_ = std::clamp(start_, 0.0, std::max(0.0, widest - span_));
}

}  // namespace shardlens::ui
