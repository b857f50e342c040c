// Which part of a step the timeline shows: zoom, pan, pixels from times. Free of ImGui.
#pragma once

#include <cstdint>

namespace shardlens::ui {

class TimelineView {
 public:
  // The step's length; a fitted view follows it.
  void set_extent(double end_ns);
  void fit();
  bool is_fitted() const { return fitted_; }

  // `at`: the point that stays where it is, as a fraction of the width. factor > 1 zooms in.
  void zoom(double at, double factor);
  void pan(double fraction_of_width);
  void show(double start_ns, double end_ns);

  double start_ns() const { return start_; }
  double end_ns() const { return start_ + span_; }
  double span_ns() const { return span_; }

  float x_from_time(double ns, float left, float width) const {
    return left + static_cast<float>((ns - start_) / span_ * static_cast<double>(width));
  }
  double time_from_x(float x, float left, float width) const {
    return start_ + static_cast<double>(x - left) / static_cast<double>(width) * span_;
  }

 private:
  void clamp();

  double extent_ = 1e6;
  double start_ = 0;
  double span_ = 1e6;
  bool fitted_ = true;
};

}  // namespace shardlens::ui
