// What is never negative with its 95 % interval, as it is read: intervals end at 0, though by
// Student's t the half width of a few runs may exceed their mean. Any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace shardlens::trace::timeline {

// A number without its unit, which all of one text have in common.
using NumberText = std::function<std::string(double)>;

// What stands behind the mean: "± 12.5"; "(0 to 104.6)" where ± would go below 0.
std::string spread_text(double mean, double half_width, const NumberText& show);
NumberText in_unit(std::string_view unit);  // of durations in ns
// "251.0 ± 3.2 ms"; without its interval where that is not known.
std::string mean_duration_text(double mean_ns, const std::optional<double>& half_width_ns);
// "186.2 to 310.7 ms", in the unit of the end.
std::string duration_range_text(double low_ns, double high_ns);

}  // namespace shardlens::trace::timeline
