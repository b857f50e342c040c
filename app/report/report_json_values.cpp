#include <cmath>

#include "app/report/report_json.h"
#include "trace/base/printable.h"

namespace shardlens::app::report {

Json number_or_null(double value) { return known(std::isfinite(value), value); }

Json ms(double ns) { return number_or_null(ns / 1e6); }

Json optional_ms(const std::optional<double>& ns) { return ns ? ms(*ns) : Json(nullptr); }

Json optional_number(const std::optional<double>& value, double factor) {
  return value ? number_or_null(*value * factor) : Json(nullptr);
}

Json optional_bytes(const std::optional<double>& bytes) {
  return bytes ? Json(std::llround(*bytes)) : Json(nullptr);
}

Json text_or_null(std::string_view text) { return known(!text.empty(), text); }

Json estimate_ms(const std::optional<double>& mean_ns,
                 const std::optional<trace::tuning::Interval>& interval) {
  return {{"mean", optional_ms(mean_ns)},
          {"low", interval ? ms(interval->low_ns) : Json(nullptr)},
          {"high", interval ? ms(interval->high_ns) : Json(nullptr)}};
}

Json estimate_ms_within(const std::optional<double>& mean_ns,
                        const std::optional<double>& half_width_ns) {
  if (!mean_ns || !half_width_ns) return estimate_ms(mean_ns, {});
  return estimate_ms(mean_ns,
                     trace::tuning::Interval{*mean_ns - *half_width_ns, *mean_ns + *half_width_ns});
}

Json estimate_percent(const std::optional<double>& mean, const std::optional<double>& low,
                      const std::optional<double>& high) {
  return {{"mean", optional_number(mean, 100)},
          {"low", optional_number(low, 100)},
          {"high", optional_number(high, 100)}};
}

std::string dump_json(const Json& json) {
  return trace::base::printable_json(json.dump(2, ' ', false, Json::error_handler_t::replace)) +
         "\n";
}

}  // namespace shardlens::app::report
