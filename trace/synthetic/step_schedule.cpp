#include "trace/synthetic/step_schedule.h"

#include <algorithm>

namespace shardlens::trace::synthetic {

namespace {

constexpr std::int64_t kDataNs = 700'000;
constexpr std::int64_t kLaunchToKernelNs = 150'000;
constexpr std::int64_t kLossNs = 35'000;
constexpr std::int64_t kSynchronizeNs = 60'000;
// What makes a run worth looking at: a slow rank now and then, a stall of the data, a slow link.
constexpr std::int64_t kSlowRankEvery = 10, kStallEvery = 50, kSlowLinkEvery = 37;
constexpr std::int64_t kStallNs = 40'000'000;

std::int64_t scaled(std::int64_t ns, double factor) {
  return static_cast<std::int64_t>(static_cast<double>(ns) * factor);
}

}  // namespace

StepSchedule::StepSchedule(const StepShape& shape, int ranks, std::uint64_t seed,
                           std::int64_t start_ns)
    : shape_(shape), random_(seed), start_ns_(start_ns), times_(static_cast<std::size_t>(ranks)) {}

bool StepSchedule::is_slow(int rank) const {
  const bool is_last = rank == static_cast<int>(times_.size()) - 1;
  return is_last && step_ % kSlowRankEvery == kSlowRankEvery - 1;
}

void StepSchedule::run_stages(int rank) {
  RankStepTimes& times = times_[static_cast<std::size_t>(rank)];
  times.start = step_ == 0 ? start_ns_ : times.end + 20'000;
  times.data_end = times.start + scaled(kDataNs, random_.factor(0.3));
  if (rank == 0 && step_ % kStallEvery == 7) times.data_end += kStallNs;
  times.is_slow = is_slow(rank);
  const double speed = (times.is_slow ? 1.08 : 1) * (1 + 0.01 * random_.uniform());
  std::int64_t host = times.data_end, gpu = host;
  const auto run = [&](const std::vector<ModelStage>& stages, std::vector<StageTimes>& all) {
    all.resize(stages.size());
    for (std::size_t i = 0; i < stages.size(); ++i) {
      all[i].host_start = host;
      all[i].host_end = host += scaled(stages[i].host_ns, random_.factor(0.1));
      all[i].gpu_start = std::max(gpu, all[i].host_start + kLaunchToKernelNs);
      all[i].gpu_end = gpu =
          all[i].gpu_start + scaled(stages[i].gpu_ns, speed * random_.factor(0.02));
    }
  };
  run(shape_.forward, times.forward);
  run(shape_.backward, times.backward);
}

void StepSchedule::run_collectives() {
  const std::size_t buckets = shape_.buckets.size();
  const double link = step_ % kSlowLinkEvery == 20 ? 1.8 : 1;
  std::int64_t previous_end = 0;
  for (RankStepTimes& times : times_) times.collectives.resize(buckets + 1);
  for (std::size_t i = 0; i <= buckets; ++i) {
    const bool is_loss = i == buckets;
    std::int64_t latest = 0;
    for (RankStepTimes& times : times_) {
      const std::size_t after = is_loss ? times.backward.size() - 1 : shape_.buckets[i].after_stage;
      CollectiveTimes& one = times.collectives[i];
      one.ready = times.backward[after].gpu_end;
      one.enqueued = times.backward[after].host_end - (is_loss ? 0 : 6'000);
      one.start = std::max({one.ready, one.enqueued, previous_end}) + 4'000;
      latest = std::max(latest, one.start);
    }
    const std::int64_t transfer = is_loss ? kLossNs : shape_.buckets[i].transfer_ns;
    const std::int64_t end = latest + scaled(transfer, link * random_.factor(0.05));
    for (RankStepTimes& times : times_) {
      times.collectives[i].end = end + static_cast<std::int64_t>(random_.next() % 2'000);
    }
    previous_end = end + 2'000;
  }
}

void StepSchedule::run_optimizer(int rank) {
  RankStepTimes& times = times_[static_cast<std::size_t>(rank)];
  StageTimes& stage = times.optimizer;
  // The norm of the gradients has to be known before: the host waits for it.
  stage.host_start = std::max({times.backward.back().host_end, times.backward.back().gpu_end,
                               times.collectives.back().end}) +
                     12'000;
  stage.host_end = stage.host_start + scaled(shape_.optimizer.host_ns, random_.factor(0.1));
  stage.gpu_start = stage.host_start + 25'000;
  stage.gpu_end = stage.gpu_start + scaled(shape_.optimizer.gpu_ns, random_.factor(0.02));
  times.end = std::max(stage.gpu_end, stage.host_end) + kSynchronizeNs;
}

void StepSchedule::advance() {
  ++step_;
  const int ranks = static_cast<int>(times_.size());
  for (int rank = 0; rank < ranks; ++rank) run_stages(rank);
  run_collectives();
  for (int rank = 0; rank < ranks; ++rank) run_optimizer(rank);
}

}  // namespace shardlens::trace::synthetic
