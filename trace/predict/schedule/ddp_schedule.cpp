#include "trace/predict/schedule/ddp_schedule.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace shardlens::trace::predict {

namespace {

std::int64_t scaled(std::int64_t ns, double factor) {
  return std::llround(static_cast<double>(ns) * factor);
}

std::size_t recorded_like(std::size_t micro_batch, std::size_t planned, std::size_t recorded) {
  if (micro_batch + 1 == planned || recorded == 1) return recorded - 1;
  return std::min(micro_batch, recorded - 2);
}

// One rank's computation of one micro-batch that begins at another time.
class Computation {
 public:
  Computation(const MicroBatch& recorded, const DdpPlan& plan, double slowdown,
              std::int64_t start_ns)
      : recorded_(recorded), start_ns_(start_ns), work_(plan.work), slowdown_(slowdown) {
    const auto backward =
        static_cast<double>(recorded.gradient_ready_ns.back() - recorded.backward_start_ns);
    const double more = plan.more_forwards * static_cast<double>(recorded.forward_ns);
    stretch_ = backward > 0 ? std::max(0.0, 1 + more / backward) : 1;
  }

  std::int64_t ready_ns(std::size_t gradient) const {
    const std::int64_t first = recorded_.gradient_ready_ns.front();
    const std::int64_t until_backward = recorded_.backward_start_ns - recorded_.start_ns;
    return start_ns_ + scaled(until_backward, work_) +
           scaled(first - recorded_.backward_start_ns, work_ * stretch_) +
           scaled(recorded_.gradient_ready_ns[gradient] - first, work_ * stretch_ * slowdown_);
  }
  std::int64_t end_ns() const { return ready_ns(recorded_.gradient_ready_ns.size() - 1); }

 private:
  const MicroBatch& recorded_;
  std::int64_t start_ns_;
  double work_, slowdown_, stretch_ = 1;
};

class Scheduler {
 public:
  Scheduler(const RecordedStep& step, const DdpPlan& plan) : step_(step), plan_(plan) {
    for (const RankStep& rank : step.ranks) starts_.push_back(rank.start_ns);
  }

  void add(std::size_t like, bool is_reduced, double slowdown) {
    std::vector<Computation> ranks;
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      ranks.emplace_back(step_.ranks[i].micro_batches[like], plan_, slowdown, starts_[i]);
    }
    MicroBatchTime time{.like = like};
    if (is_reduced) {
      reduce(ranks, time);
      std::ranges::fill(starts_, time.end_ns);
    } else {
      for (std::size_t i = 0; i < ranks.size(); ++i) starts_[i] = ranks[i].end_ns();
      time.end_ns = std::ranges::max(starts_);
    }
    schedule.backward_end_ns = time.end_ns;
    schedule.micro_batches.push_back(time);
  }

  DdpSchedule schedule;

 private:
  void reduce(const std::vector<Computation>& ranks, MicroBatchTime& micro_batch) {
    const auto ready_ns = [&](const PlannedBucket& bucket) {
      std::int64_t latest = INT64_MIN;
      for (const Computation& rank : ranks) {
        latest = std::max(latest, rank.ready_ns(bucket.last_gradient));
      }
      return latest;
    };
    const std::int64_t last_ns = ready_ns(plan_.buckets.back());
    std::int64_t free_ns = INT64_MIN;
    for (const PlannedBucket& bucket : plan_.buckets) {
      BucketTime time{.bytes = bucket.bytes, .tensors = bucket.tensors, .computed_ns = last_ns};
      time.ready_ns = plan_.overlaps ? ready_ns(bucket) : last_ns;
      time.start_ns = std::max(time.ready_ns, free_ns);
      time.end_ns = free_ns = time.start_ns + bucket.transfer_ns;
      const std::int64_t works_until = std::min(time.start_ns + bucket.working_ns, last_ns);
      micro_batch.contended_ns += std::max<std::int64_t>(0, works_until - time.start_ns);
      schedule.buckets.push_back(time);
    }
    micro_batch.end_ns = std::max(last_ns, free_ns);
    schedule.exposed_ns += micro_batch.end_ns - last_ns;
  }

  const RecordedStep& step_;
  const DdpPlan& plan_;
  std::vector<std::int64_t> starts_;  // of the next micro-batch, by rank
};

}  // namespace

std::int64_t DdpSchedule::contended_ns() const {
  std::int64_t sum = 0;
  for (const MicroBatchTime& micro_batch : micro_batches) sum += micro_batch.contended_ns;
  return sum;
}

DdpSchedule schedule_ddp(const RecordedStep& step, const DdpPlan& plan,
                         const std::vector<double>& slowdowns) {
  if (plan.buckets.empty()) return {};
  Scheduler scheduler(step, plan);
  const std::size_t recorded = step.ranks.front().micro_batches.size();
  for (std::size_t i = 0; i < plan.micro_batches; ++i) {
    const bool is_reduced = plan.reduces_each || i + 1 == plan.micro_batches;
    scheduler.add(recorded_like(i, plan.micro_batches, recorded), is_reduced,
                  slowdowns.empty() ? 1 : slowdowns[i]);
  }
  return std::move(scheduler.schedule);
}

std::int64_t backward_ns(const RecordedStep& step, std::size_t micro_batch) {
  const auto& last = std::ranges::max(step.ranks, {}, [&](const RankStep& rank) {
    return rank.micro_batches[micro_batch].gradient_ready_ns.back();
  });
  const auto& ready = last.micro_batches[micro_batch].gradient_ready_ns;
  return ready.back() - ready.front();
}

}  // namespace shardlens::trace::predict
