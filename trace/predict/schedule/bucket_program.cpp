#include "trace/predict/schedule/bucket_program.h"

#include <algorithm>
#include <string>
#include <utility>

namespace shardlens::trace::predict {

namespace {

using What = Action::What;

struct Bucket {
  std::int64_t bytes = 0;
  std::size_t tensors = 0, last_gradient = 0;
};

std::vector<Bucket> buckets_of(const BucketProgramPlan& plan) {
  std::vector<Bucket> buckets;
  for (const auto& gradients : plan_buckets(plan.gradient_bytes, plan.caps)) {
    Bucket bucket{.tensors = gradients.size(), .last_gradient = gradients.back()};
    for (const std::size_t gradient : gradients) bucket.bytes += plan.gradient_bytes[gradient];
    buckets.push_back(bucket);
  }
  return buckets;
}

// What ranks do in a micro-batch.
class BackwardWriter {
 public:
  // `share`: of what was recorded up to the last gradient that is computed.
  BackwardWriter(const BucketProgramPlan& plan, double share)
      : plan_(plan), share_(share), second_(plan.second_forwards.rbegin()) {}

  void compute_until_gradient(std::size_t gradient) {
    if (gradient < plan_.gradient_places.size()) {
      write_second_forwards_before(plan_.gradient_places[gradient]);
    }
    add({What::kCompute, Until::kGradient, gradient, share_});
  }
  void compute_until_end() {
    write_second_forwards_before(plan_.layers + 1);
    add({What::kCompute, Until::kEnd});
  }
  void add(const Action& action) { actions_.push_back(action); }

  std::vector<Action> take() { return std::move(actions_); }

 private:
  void write_second_forwards_before(std::size_t place) {
    for (; second_ != plan_.second_forwards.rend(); ++second_) {
      const std::size_t begin = plan_.layers - second_->end - 1;
      if (begin >= place) return;
      if (second_->was == second_->is) continue;
      add({What::kCompute, Until::kLayerBackward, begin, share_});
      if (second_->is) {
        add({What::kCompute, Until::kSecondForward, second_->end, plan_.second_forward.added,
             second_->first});
      } else {
        add({What::kCompute, Until::kLayerBackward, begin + 1, plan_.second_forward.left()});
      }
    }
  }

  const BucketProgramPlan& plan_;
  double share_;
  std::vector<SecondForward>::const_reverse_iterator second_;
  std::vector<Action> actions_;
};

void reduce(const BucketProgramPlan& plan, const std::vector<Bucket>& buckets, StepProgram& program,
            BackwardWriter& backward) {
  const std::size_t first = program.calls.size();
  if (!plan.overlaps) backward.compute_until_end();
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const Bucket& bucket = buckets[i];
    if (plan.overlaps) backward.compute_until_gradient(bucket.last_gradient);
    backward.add({What::kLaunch, Until::kEnd, program.calls.size()});
    program.calls.push_back({.what = "bucket " + std::to_string(i),
                             .function = model::CollectiveFunction::kAllReduce,
                             .group = plan.ranks,
                             .bytes = plan.compresses ? bucket.bytes / 2 : bucket.bytes,
                             .tensors = bucket.tensors,
                             .is_reduction = true});
  }
  if (plan.overlaps) backward.compute_until_end();
  for (std::size_t call = first; call < program.calls.size(); ++call) {
    backward.add({What::kWait, Until::kEnd, call});
  }
}

// A micro-batch that is reduced does more than one that is not, whichever of them was recorded.
double computed_share(const BucketProgramPlan& plan, bool is_reduced, bool was_reduced) {
  if (is_reduced == was_reduced) return 1;
  const double without = 1 - plan.reducing_share;
  return is_reduced ? 1 / without : without;
}

}  // namespace

StepProgram bucket_program(const BucketProgramPlan& plan) {
  const std::vector<Bucket> buckets = buckets_of(plan);
  StepProgram program;
  for (std::size_t i = 0; i < plan.micro_batches; ++i) {
    MicroBatchProgram& micro_batch = program.micro_batches.emplace_back();
    micro_batch.like = recorded_like(i, plan.micro_batches, plan.recorded_micro_batches);
    const bool is_reduced = plan.reduces_each || i + 1 == plan.micro_batches;
    const bool was_reduced =
        plan.recorded_reduces_each || micro_batch.like + 1 == plan.recorded_micro_batches;
    BackwardWriter backward(plan, computed_share(plan, is_reduced, was_reduced));
    if (is_reduced) {
      reduce(plan, buckets, program, backward);
    } else {
      // What a recorded one computed behind its last gradient was for its reduction: sums went back
      // from buckets into gradients.
      const std::size_t last = plan.gradient_bytes.size() - 1;
      backward.compute_until_gradient(last);
    }
    micro_batch.actions = backward.take();
  }
  return program;
}

std::vector<std::vector<std::size_t>> plan_buckets(std::span<const std::int64_t> gradient_bytes,
                                                   const BucketCaps& caps) {
  std::vector<std::vector<std::size_t>> plan;
  std::vector<std::size_t> bucket;
  std::int64_t size = 0, cap = caps.first_bytes;
  for (std::size_t i = 0; i < gradient_bytes.size(); ++i) {
    bucket.push_back(i);
    size += gradient_bytes[i];
    if (size < cap) continue;
    plan.push_back(std::exchange(bucket, {}));
    size = 0;
    cap = caps.bytes;
  }
  if (!bucket.empty()) plan.push_back(std::move(bucket));
  return plan;
}

std::optional<FittingCaps> fitting_caps(std::span<const std::int64_t> gradient_bytes,
                                        std::span<const std::size_t> buckets) {
  FittingCaps caps;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (buckets[i] == 0 || buckets[i] > gradient_bytes.size() - begin) return std::nullopt;
    CapRange& cap = i == 0 ? caps.first : caps.others;
    std::int64_t before = 0;  // its size before its last gradient came, at which it stayed open
    for (std::size_t g = begin; g + 1 < begin + buckets[i]; ++g) before += gradient_bytes[g];
    begin += buckets[i];
    cap.above_bytes = std::max(cap.above_bytes, before);
    // The last one is closed by the end, whatever its size.
    const bool is_last = i + 1 == buckets.size();
    if (!is_last) cap.up_to_bytes = std::min(cap.up_to_bytes, before + gradient_bytes[begin - 1]);
  }
  const bool is_whole = begin == gradient_bytes.size();
  if (!is_whole || caps.first.is_empty() || caps.others.is_empty()) return std::nullopt;
  return caps;
}

}  // namespace shardlens::trace::predict
