// What a recorded run tells of its steps under DistributedDataParallel, as far as a prediction
// needs it: when each gradient was ready, when backward and the step ended, what transfers took.
// Fed with what a reader polls. One owner.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/model/batch.h"
#include "trace/model/strings.h"
#include "trace/predict/schedule/transfer_costs.h"

namespace shardlens::trace::predict {

struct RankStep {  // absolute times
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t backward_end_ns = 0;             // of the host's phase, the last micro-batch's
  std::vector<std::int64_t> gradient_ready_ns;  // in the order in which they came
};

struct RecordedStep {
  std::int64_t index = 0;
  std::vector<RankStep> ranks;
};

class RecordedSteps {
 public:
  void learn(const model::Batch& batch);

  // Bytes of the gradients that are reduced, in the order in which they come: the order of the plan
  // that PyTorch makes after the first step.
  std::vector<std::int64_t> gradient_bytes() const;
  std::vector<std::int64_t> bucket_bytes() const;  // of that plan, in the order of reduction
  // Of the buckets' all-reduces, by the bytes that were moved.
  TransferCosts costs() const;
  // The steps of which each of `ranks` ranks told everything, from `first_step` on.
  std::vector<RecordedStep> steps(int ranks, std::int64_t first_step) const;

 private:
  struct Call {
    std::int64_t ranks = 0, latest_start_ns = 0, end_ns = 0, bytes = 0;
  };
  struct Key {
    int group = 0;
    std::int64_t sequence = 0;
    auto operator<=>(const Key&) const = default;
  };

  bool is_gradient(int rank, model::StringId name);

  model::StringTable strings_;
  std::map<std::pair<int, model::StringId>, bool> is_gradient_;
  std::map<int, model::Bucket> buckets_;  // of rank 0's last plan, by place
  int plan_ = -1;
  std::map<std::pair<int, std::int64_t>, model::Step> steps_;       // by rank and step
  std::map<int, std::vector<std::int64_t>> gradients_, backwards_;  // ends, by rank
  std::map<Key, Call> calls_;
};

}  // namespace shardlens::trace::predict
