// What the reduction of a bucket takes, on the run's own link or another one. Any thread.
#pragma once

#include <optional>

#include "trace/job/settings/settings.h"
#include "trace/predict/schedule/transfer_costs.h"

namespace shardlens::trace::tuning {

class ReductionCosts {
 public:
  // `recorded`: the settings that `costs` were measured with, between `ranks` ranks.
  ReductionCosts(const job::Settings& recorded, int ranks, predict::TransferCosts costs);

  struct Cost {
    predict::TransferCosts::Cost transfer;
    double working_ns = 0;  // of it, that takes cores from computation
  };
  // With other settings; none: sizes too far from those that were measured.
  std::optional<Cost> of(const job::Settings& next, double gradient_bytes) const;

 private:
  job::Settings recorded_;
  int ranks_ = 1;
  predict::TransferCosts costs_;
};

}  // namespace shardlens::trace::tuning
