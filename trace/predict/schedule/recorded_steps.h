// What a recorded run tells of its steps under DistributedDataParallel, as far as a prediction
// needs it: when each gradient was ready, when backward and the step ended, what transfers took.
// Fed with what a reader polls. One owner.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/model/batch.h"
#include "trace/model/strings.h"
#include "trace/predict/schedule/transfer_costs.h"

namespace shardlens::trace::predict {

struct MicroBatch {             // absolute times
  std::int64_t start_ns = 0;    // of the step, or where the micro-batch before it ended
  std::int64_t forward_ns = 0;  // how long its forward took
  std::int64_t backward_start_ns = 0, backward_end_ns = 0;
  std::vector<std::int64_t> gradient_ready_ns;  // in the order in which they came
};

struct RankStep {  // absolute times
  std::int64_t start_ns = 0, end_ns = 0;
  std::vector<MicroBatch> micro_batches;  // as many on all ranks
};

struct RecordedStep {
  std::int64_t index = 0;
  std::vector<RankStep> ranks;
};

class RecordedSteps {
 public:
  static constexpr std::size_t kMostSteps = 64;

  // Of a run of `ranks` ranks, from `first_step` on.
  RecordedSteps(int ranks, std::int64_t first_step) : ranks_(ranks), first_step_(first_step) {}

  // Nothing any more once that is enough.
  void learn(const model::Batch& batch);
  // It has as many steps as it takes, or will never have them.
  bool is_enough() const { return is_enough_; }

  // Bytes of the gradients that are reduced, in the order in which they come: the order of the plan
  // that PyTorch makes after the first step.
  std::vector<std::int64_t> gradient_bytes() const;
  std::vector<std::int64_t> bucket_bytes() const;  // of that plan, in the order of reduction
  // Of the buckets' all-reduces, by the bytes that were moved.
  TransferCosts costs() const;
  // The first kMostSteps of which each rank told everything.
  std::vector<RecordedStep> steps() const;

 private:
  struct Call {
    std::int64_t ranks = 0, latest_start_ns = 0, end_ns = 0, bytes = 0;
  };
  struct Phases {
    std::vector<base::Interval> forward, backward;
  };
  struct Key {
    int group = 0;
    std::int64_t sequence = 0;
    auto operator<=>(const Key&) const = default;
  };

  bool is_gradient(int rank, model::StringId name);
  void see_if_enough();

  int ranks_ = 1;
  std::int64_t first_step_ = 0;
  bool is_enough_ = false;
  std::size_t look_again_ = kMostSteps;  // once that many steps were told of
  model::StringTable strings_;
  std::map<std::pair<int, model::StringId>, bool> is_gradient_;
  std::map<int, model::Bucket> buckets_;  // of rank 0's last plan, by place
  int plan_ = -1;
  std::map<std::pair<int, std::int64_t>, model::Step> steps_;  // by rank and step
  std::map<int, std::vector<std::int64_t>> gradients_;         // ends, by rank
  std::map<int, Phases> phases_;                               // by rank
  std::map<Key, Call> calls_;
};

}  // namespace shardlens::trace::predict
