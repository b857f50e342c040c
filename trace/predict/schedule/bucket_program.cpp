#include "trace/predict/schedule/bucket_program.h"

#include <algorithm>
#include <string>

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

void reduce(const BucketProgramPlan& plan, const std::vector<Bucket>& buckets, StepProgram& program,
            std::vector<Action>& actions) {
  const std::size_t first = program.calls.size();
  if (!plan.overlaps) actions.push_back({What::kCompute, Until::kEnd});
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const Bucket& bucket = buckets[i];
    if (plan.overlaps) actions.push_back({What::kCompute, Until::kGradient, bucket.last_gradient});
    actions.push_back({What::kLaunch, Until::kEnd, program.calls.size()});
    program.calls.push_back({.what = "bucket " + std::to_string(i),
                             .function = model::CollectiveFunction::kAllReduce,
                             .group = plan.ranks,
                             .bytes = plan.compresses ? bucket.bytes / 2 : bucket.bytes,
                             .tensors = bucket.tensors,
                             .is_reduction = true});
  }
  if (plan.overlaps) actions.push_back({What::kCompute, Until::kEnd});
  for (std::size_t call = first; call < program.calls.size(); ++call) {
    actions.push_back({What::kWait, Until::kEnd, call});
  }
}

}  // namespace

StepProgram bucket_program(const BucketProgramPlan& plan) {
  const std::vector<Bucket> buckets = buckets_of(plan);
  StepProgram program;
  for (std::size_t i = 0; i < plan.micro_batches; ++i) {
    MicroBatchProgram& micro_batch = program.micro_batches.emplace_back();
    micro_batch.like = recorded_like(i, plan.micro_batches, plan.recorded_micro_batches);
    if (plan.reduces_each || i + 1 == plan.micro_batches) {
      reduce(plan, buckets, program, micro_batch.actions);
    } else {
      // What a recorded one computed behind its last gradient was for its reduction: sums went back
      // from buckets into gradients.
      const std::size_t last = plan.gradient_bytes.size() - 1;
      micro_batch.actions.push_back({What::kCompute, Until::kGradient, last});
    }
  }
  return program;
}

}  // namespace shardlens::trace::predict
