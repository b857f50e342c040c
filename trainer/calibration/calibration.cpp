#include "trainer/calibration/calibration.h"

#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <limits>

namespace shardlens::trainer::calibration {

using std::chrono::nanoseconds;
using trace::model::CollectiveFunction;

namespace {

constexpr std::int64_t kValueBytes = sizeof(float);

std::size_t group_count(int ranks, int shard_group_size) {
  return shard_group_size > 1 && shard_group_size < ranks ? 3 : 1;
}

}  // namespace

Calibration::Calibration(comm::Communicator& world, profiler::recorder::Recorder& recorder,
                         const CalibrationOptions& options, const std::atomic<int>& stop_signal)
    : world_(world),
      recorder_(recorder),
      options_(options),
      stop_signal_(stop_signal),
      plan_(group_count(world.world_size(), options.shard_group_size), options.largest_bytes,
            options.time, options.seed) {
  connect_groups(options.shard_group_size);
  const std::int64_t largest = size_ladder(options.largest_bytes).back() / kValueBytes;
  whole_ = torch::zeros({largest + world.world_size()}, torch::device(world.device()));
  part_ = torch::zeros({largest / 2 + 1}, torch::device(world.device()));
}

// Those of FullySharded.
void Calibration::connect_groups(int shard_group_size) {
  groups_.push_back(&world_);
  const int ranks = world_.world_size(), size = shard_group_size;
  if (group_count(ranks, size) == 1) return;
  TORCH_CHECK(ranks % size == 0, "shard_group_size ", size, " does not divide ", ranks, " ranks");
  std::vector<int> shard, replicas;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank / size == world_.rank() / size) shard.push_back(rank);
    if (rank % size == world_.rank() % size) replicas.push_back(rank);
  }
  for (const auto& [name, members] :
       {std::pair("shard", shard), std::pair("replicate", replicas)}) {
    groups_.push_back(own_groups_.emplace_back(world_.create_group(name, members)).get());
  }
}

bool Calibration::run(const std::function<void(std::int64_t steps)>& on_round) {
  const auto begin = Clock::now();
  recorder_.begin_step(0);
  find_what_fits();
  end_step();
  on_round(1);
  for (std::int64_t round = kFirstMeasuredStep;; ++round) {
    recorder_.begin_step(round);
    measure(plan_.round(round));
    end_step();
    on_round(round + 1);
    const bool is_over = Clock::now() - begin >= options_.time;
    const auto said = agree({is_over ? 1 : 0, stop_signal_ != 0 ? 1 : 0});
    if (said[1] != 0) return true;
    if (said[0] != 0 && round >= kLeastRounds) return false;
  }
}

void Calibration::find_what_fits() {
  bool is_first = true;
  for (auto calls = plan_.next_size(); !calls.empty(); calls = plan_.next_size()) {
    // The first of each kind connects whom it needs.
    if (is_first) measure(calls);
    is_first = false;
    std::vector<nanoseconds> times = slowest_times(calls);
    std::vector<MeasuredCall> doubted;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (plan_.is_long(times[i])) doubted.push_back(calls[i]);
    }
    if (!doubted.empty()) {
      const std::vector<nanoseconds> again = slowest_times(doubted);
      for (std::size_t i = 0, next = 0; i < calls.size(); ++i) {
        if (plan_.is_long(times[i])) times[i] = std::min(times[i], again[next++]);
      }
    }
    plan_.took(times);
  }
}

std::vector<nanoseconds> Calibration::slowest_times(const std::vector<MeasuredCall>& calls) {
  std::vector<std::int64_t> own;
  for (const MeasuredCall& call : calls) own.push_back(measure(call).count());
  std::vector<nanoseconds> slowest;
  for (const std::int64_t time : agree(own)) slowest.emplace_back(time);
  return slowest;
}

void Calibration::measure(const std::vector<MeasuredCall>& calls) {
  for (const MeasuredCall& call : calls) measure(call);
}

nanoseconds Calibration::measure(const MeasuredCall& call) {
  world_.barrier(comm::named_tag("alignment"));
  const auto start = Clock::now();
  launch(call)->wait();
  if (world_.device().is_cuda()) c10::cuda::getCurrentCUDAStream().synchronize();
  recorder_.progress();
  return Clock::now() - start;
}

c10::intrusive_ptr<c10d::Work> Calibration::launch(const MeasuredCall& call) {
  comm::Communicator& group = *groups_[call.group];
  const std::int64_t values = std::max<std::int64_t>(1, call.bytes / kValueBytes);
  // Gathers and scatters move the same number of values from or to each rank.
  const std::int64_t share = std::max<std::int64_t>(1, values / group.world_size());
  const torch::Tensor all = whole_.narrow(0, 0, share * group.world_size());
  switch (call.function) {
    case CollectiveFunction::kAllGather:
      return group.all_gather(all, part_.narrow(0, 0, share), comm::named_tag("calibration"));
    case CollectiveFunction::kReduceScatter:
      return group.reduce_scatter(part_.narrow(0, 0, share), all, comm::named_tag("calibration"));
    case CollectiveFunction::kBroadcast:
      return group.broadcast(whole_.narrow(0, 0, values), 0, comm::named_tag("calibration"));
    default:
      return group.all_reduce(whole_.narrow(0, 0, values), comm::named_tag("calibration"));
  }
}

std::vector<std::int64_t> Calibration::agree(const std::vector<std::int64_t>& values) {
  const torch::Tensor shared = torch::tensor(values, torch::kLong).to(world_.device());
  world_.all_reduce(shared, comm::named_tag("agreement"), c10d::ReduceOp::MAX)->wait();
  const torch::Tensor result = shared.cpu();
  const auto* const first = result.const_data_ptr<std::int64_t>();
  return {first, first + result.numel()};
}

// Nothing is trained, so that nothing is known of a loss.
void Calibration::end_step() {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  recorder_.end_step({.loss = kUnknown, .gradient_norm = kUnknown, .learning_rate = kUnknown});
}

}  // namespace shardlens::trainer::calibration
