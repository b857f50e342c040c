// Which stretch of time is on screen: zoom, pan, positions from times. Whole nanoseconds with a
// fraction apart, so that nothing is lost from hours down to single ones. Free of ImGui, any
// thread.
#pragma once

#include <cstdint>

namespace shardlens::ui::inspect {

// a − b without overflow, however damaged the times are.
double distance_ns(std::int64_t a, std::int64_t b);

// What is zoomed to is shown with so much of its length on either side.
inline constexpr double kAround = 0.1;

class TimeWindow {
 public:
  // All there is to see, and what a fitted window shows of it; a fitted one follows them.
  void set_extent(std::int64_t start_ns, std::int64_t end_ns) {
    set_extent(start_ns, end_ns, start_ns, end_ns);
  }
  void set_extent(std::int64_t start_ns, std::int64_t end_ns, std::int64_t home_start_ns,
                  std::int64_t home_end_ns);
  void fit();
  bool is_fitted() const { return fitted_; }

  // `at`: the point that stays where it is, as a fraction of the width. factor > 1 zooms in.
  void zoom(double at, double factor);
  void pan(double fraction_of_width);
  // `around`: so much of its length is shown on either side, too.
  void show(std::int64_t start_ns, std::int64_t end_ns, double around = 0);
  void center_on(std::int64_t time_ns);
  // An event, in the middle: at another zoom where it would be too narrow or too wide to see.
  void reveal(std::int64_t start_ns, std::int64_t end_ns);

  std::int64_t start_ns() const { return start_; }  // rounded down
  std::int64_t end_ns() const { return time_at(1) + 1; }
  double span_ns() const { return span_; }
  std::int64_t time_at(double position) const;  // 0 is the left border, 1 the right one
  double position(std::int64_t time_ns) const {
    return (distance_ns(time_ns, start_) - fraction_) / span_;
  }

  bool operator==(const TimeWindow&) const = default;

 private:
  void move(double ns);
  void clamp();
  double widest() const;
  bool is_whole() const;  // nothing is left beside it

  std::int64_t extent_start_ = 0, extent_end_ = 1'000'000;
  std::int64_t home_start_ = 0, home_end_ = 1'000'000;
  std::int64_t start_ = 0;
  double fraction_ = 0;  // of a nanosecond, behind start_
  double span_ = 1e6;
  bool fitted_ = true;
};

}  // namespace shardlens::ui::inspect
