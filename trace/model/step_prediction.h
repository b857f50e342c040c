// What was predicted of a run's step time before it ran. Plain values, any thread.
#pragma once

#include <optional>
#include <string>

namespace shardlens::trace::model {

struct StepPrediction {
  double step_ns = 0;                     // mean of the measured steps
  std::optional<double> low_ns, high_ns;  // 95 %; not known: no value
  std::string from;                       // the name that the run had which it was made from

  bool operator==(const StepPrediction&) const = default;
};

}  // namespace shardlens::trace::model
