// What axes show: their range, and round numbers in it. Free of ImGui; any thread.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace shardlens::ui::present {

// 1, 2 or 5 times a power of ten, so that at most `count` steps cover `span`.
double nice_step(double span, int count);
// Multiples of the nice step within [low, high].
std::vector<double> nice_ticks(double low, double high, int count);
// A power of two, so that at most `count` steps cover `span`: for sizes in binary units.
double nice_binary_step(double span, int count);

// In which sizes are shown on an axis that reaches to `most` bytes.
struct SizeUnit {
  double bytes = 0;
  std::string_view name;
};
SizeUnit size_unit(double most);

// The range of the values that a chart shows, with a margin around it.
class ValueScale {
 public:
  // `least_range`: of the values' middle, so that noise does not look like a mountain; `margin`: of
  // the range, at each end.
  ValueScale(double least_range, double margin) : least_range_(least_range), margin_(margin) {}

  void add(double value);
  bool is_empty() const { return low_ > high_; }
  // Once all are added. The range begins no lower than 0.
  void settle();
  double low() const { return low_; }
  double high() const { return high_; }
  // Its share of the range: 0 at the low end.
  float of(double value) const { return static_cast<float>((value - low_) / (high_ - low_)); }

 private:
  double least_range_, margin_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

struct Tick {
  float at = 0;  // share of the range
  std::string label;
};
std::string round_time_text(double ns);  // "5 ms", where a figure would be "5.00 ms"
// Round times and sizes within the range, `count` at most.
std::vector<Tick> time_ticks(const ValueScale& ns, int count);
std::vector<Tick> size_ticks(const ValueScale& bytes, int count);

}  // namespace shardlens::ui::present
