// What collectives cost, as it is known beside a run's own steps. A value; any thread.
#pragma once

#include "trace/predict/costs/collective_costs.h"

namespace shardlens::trace::tuning {

struct KnownCosts {
  predict::CollectiveCosts beside{};   // for sizes and functions that the run did not have
  predict::CollectiveCosts instead{};  // for the next settings also where the run has them
  // The run does not tell its link, and `beside` may have been measured over another one.
  bool is_link_untold = false;
};

}  // namespace shardlens::trace::tuning
