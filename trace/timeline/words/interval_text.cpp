#include "trace/timeline/words/interval_text.h"

#include <algorithm>

#include "trace/base/words/quantity.h"

namespace shardlens::trace::timeline {

std::string spread_text(double mean, double half_width, const NumberText& show) {
  return half_width > mean ? "(0 to " + show(mean + half_width) + ")" : "± " + show(half_width);
}

NumberText in_unit(std::string_view unit) {
  return [unit](double ns) { return base::format_duration_in(ns, unit).value; };
}

std::string mean_duration_text(double mean_ns, const std::optional<double>& half_width_ns) {
  const std::string_view unit = base::duration_unit(mean_ns);
  const NumberText show = in_unit(unit);
  std::string text = show(mean_ns);
  if (half_width_ns) text += " " + spread_text(mean_ns, *half_width_ns, show);
  return text + " " + std::string(unit);
}

std::string duration_range_text(double low_ns, double high_ns) {
  const NumberText show = in_unit(base::duration_unit(high_ns));
  return show(std::max(low_ns, 0.0)) + " to " + base::format_duration(high_ns).text();
}

}  // namespace shardlens::trace::timeline
