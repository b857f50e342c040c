#include "trace/synthetic/synthetic_rank.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "trace/model/gpu_counter_names.h"

namespace shardlens::trace::synthetic {

namespace {

constexpr std::int64_t kMemorySampleNs = 50'000'000;
constexpr std::int64_t kDeviceBytes = 80LL << 30, kOutsideBytes = 1'400LL << 20;
constexpr std::int64_t kKernelGapNs = 900;
constexpr std::int64_t kTokensPerStep = 4096;
constexpr double kPeakFlops = 989e12;          // H100 SXM, bf16, dense: NVIDIA's data sheet
constexpr double kLinkBytesPerSecond = 450e9;  // its 18 links of NVLink 4, one way: likewise

constexpr std::int64_t kSampleNs = 200'000'000;
constexpr double kWattsAtMost = 700, kMegahertzAtMost = 1980, kMemoryMegahertz = 2619;
constexpr double kColdest = 41, kWarmest = 68, kHot = 87, kSecondsToWarm = 20;

model::Event event_of(std::int64_t start, std::int64_t end, model::StringId name,
                      std::uint32_t flags = 0, std::uint64_t correlation = 0,
                      std::int64_t value = 0) {
  return {start, end - start, name, flags, correlation, value};
}

}  // namespace

void SyntheticGpu::sample(const RankStepTimes& times, std::vector<model::CounterSample>& to) {
  if (first_ns_ == 0) first_ns_ = next_ns_ = times.start;
  for (; next_ns_ < times.end; next_ns_ += kSampleNs) sample_at(next_ns_, times.is_slow, to);
  // The one that tells of the heat may lie in a step that is over before the next sample.
  if (times.is_slow && to.empty()) sample_at(times.end - 1, true, to);
}

void SyntheticGpu::sample_at(std::int64_t time_ns, bool is_hot,
                             std::vector<model::CounterSample>& to) {
  const double seconds = static_cast<double>(time_ns - first_ns_) * 1e-9;
  const auto noise = [this](double most) { return most * (2 * random_.uniform() - 1); };
  double power = 641 + 22 * std::sin(seconds / 2.3 + rank_) + noise(30);
  if (is_hot) power = 540 + noise(15);
  const bool is_capped = power >= kWattsAtMost - 8;
  power = std::min(power, kWattsAtMost);
  const double clock = is_hot      ? 1380 + noise(30)
                       : is_capped ? 1740 + noise(30)
                                   : kMegahertzAtMost - 60 + noise(45);
  const double warmth = 1 - std::exp(-(seconds + 6) / kSecondsToWarm);
  const double degrees = is_hot ? kHot : kColdest + (kWarmest - kColdest) * warmth + noise(1);
  const auto limits =
      static_cast<double>((is_hot ? std::uint32_t{model::kLimitSoftwareThermal} : 0) |
                          (is_capped ? std::uint32_t{model::kLimitPowerCap} : 0));
  // In the order of kGpuCounters.
  const std::array<double, model::kGpuCounters.size()> values{std::round(97 + noise(2.4)),
                                                              std::round(power * 10) / 10,
                                                              std::round(clock / 15) * 15,
                                                              std::round(degrees),
                                                              std::round(46 + noise(6)),
                                                              kMemoryMegahertz,
                                                              61.3e9,
                                                              168e9 + noise(25e9),
                                                              168e9 + noise(25e9),
                                                              1.1e9 + noise(0.4e9),
                                                              0.7e9 + noise(0.3e9),
                                                              kWattsAtMost,
                                                              limits};
  for (std::size_t i = 0; i < values.size(); ++i) {
    to.push_back({rank_, shape_.counters[i], shape_.counter_units[i], time_ns, values[i]});
  }
}

SyntheticRank::SyntheticRank(const StepShape& shape, int rank, int ranks, std::uint64_t seed)
    : shape_(shape),
      rank_(rank),
      ranks_(ranks),
      random_(seed ^ (0x5851f42d4c957f2du * static_cast<std::uint64_t>(rank + 1))),
      gpu_(shape, rank, seed + 0x9e37u * static_cast<std::uint64_t>(rank + 1)) {
  for (const GradientBucket& bucket : shape.buckets) parameters_ += bucket.bytes / 4;
}

model::Batch SyntheticRank::definitions() const {
  model::Batch batch;
  for (std::size_t i = 0; i < shape_.strings.size(); ++i) {
    batch.strings.push_back({rank_, static_cast<model::StringId>(i + 1), shape_.strings[i]});
  }
  constexpr model::LaneKind kKinds[] = {
      model::LaneKind::kPhases,  model::LaneKind::kOperators,     model::LaneKind::kOperators,
      model::LaneKind::kCompute, model::LaneKind::kCommunication, model::LaneKind::kCopies};
  for (int lane = 0; lane < static_cast<int>(std::size(kKinds)); ++lane) {
    batch.lanes.push_back(
        {rank_, lane, kKinds[lane], shape_.lanes[static_cast<std::size_t>(lane)]});
  }
  model::ProcessGroup world{rank_, 0, shape_.world, shape_.nccl, {}};
  for (int rank = 0; rank < ranks_; ++rank) world.ranks.push_back(rank);
  batch.process_groups.push_back(std::move(world));
  for (std::size_t i = 0; i < shape_.buckets.size(); ++i) {
    const GradientBucket& of = shape_.buckets[i];
    model::Bucket bucket{rank_, 1, static_cast<int>(i), of.bytes, of.parameters, {}};
    const auto count = static_cast<std::int64_t>(of.parameters.size());
    bucket.parameter_bytes.assign(of.parameters.size(), of.bytes / count);
    batch.buckets.push_back(std::move(bucket));
  }
  model::RankInfo info;
  info.rank = info.local_rank = rank_;
  info.host = "synthetic";
  info.device = "cuda:" + std::to_string(rank_);
  info.device_name = "made-up GPU";
  info.sources = "made up by a generator";
  info.versions = "driver 580.95.05 for CUDA 13.0, NCCL 2.28.9";
  info.peak_flops = kPeakFlops;
  info.parameters = info.trained_parameters = parameters_;
  info.link = "NVLink 4, 18 links";
  info.link_bytes_per_second = kLinkBytesPerSecond;
  batch.rank_info = std::move(info);
  return batch;
}

std::vector<model::Event>& SyntheticRank::events(int lane, model::EventKind kind) {
  for (model::EventRun& run : batch_.events) {
    if (run.lane == lane && run.kind == kind) return run.events;
  }
  model::EventRun& run = batch_.events.emplace_back();
  run.rank = rank_;
  run.lane = lane;
  run.kind = kind;
  run.events.reserve(4096);
  return run.events;
}

model::Batch SyntheticRank::step(std::int64_t index, const RankStepTimes& times) {
  batch_ = {};
  // References into the list must stay true while it is filled.
  batch_.events.reserve(16);
  step_ = index;
  activation_bytes_ = peak_bytes_ = 0;
  add_copies(times);
  for (std::size_t i = 0; i < shape_.forward.size(); ++i) {
    add_stage(shape_.forward[i], times.forward[i], kMainLane);
  }
  const std::size_t last = shape_.forward.size() - 1;
  for (std::size_t i = 0; i < shape_.backward.size(); ++i) {
    add_stage(shape_.backward[i], times.backward[i], kAutogradLane);
    free_activations(shape_.forward[last - i], times.backward[i]);
  }
  add_collectives(times);
  add_stage(shape_.optimizer, times.optimizer, kMainLane);
  add_rows(times);
  add_cost(times);
  return std::move(batch_);
}

void SyntheticRank::add_stage(const ModelStage& stage, const StageTimes& times, int host_lane) {
  auto& kernels = events(kComputeLane, model::EventKind::kKernel);
  auto& launches = events(host_lane, model::EventKind::kLaunch);
  const std::size_t count = stage.calls.size();
  const std::size_t first = kernels.size();
  double shares = 0;
  kernels.resize(first + count);
  for (std::size_t i = 0; i < count; ++i) {
    const double share = stage.calls[i].share * random_.factor(0.12);
    kernels[first + i].duration_ns = static_cast<std::int64_t>(share * 1e6);
    shares += share;
  }
  const double ns_per_share =
      static_cast<double>(times.gpu_end - times.gpu_start) / std::max(shares, 1e-9);
  const std::int64_t slot = (times.host_end - times.host_start) / static_cast<std::int64_t>(count);
  std::int64_t host = times.host_start, gpu = times.gpu_start;
  double planned = 0;
  for (std::size_t i = 0; i < count; ++i, host += slot) {
    model::Event& kernel = kernels[first + i];
    planned += static_cast<double>(kernel.duration_ns) * 1e-6 * ns_per_share;
    add_call(stage.calls[i], host, slot, host_lane);
    const model::Event& launch = launches.back();
    const std::int64_t start = std::max(gpu, launch.end_ns() + 1'500);
    const std::int64_t end =
        std::max(times.gpu_start + static_cast<std::int64_t>(planned) - kKernelGapNs, start + 700);
    gpu = end + kKernelGapNs;
    kernel = event_of(start, end, stage.calls[i].kernel, model::kEventCompute, launch.correlation);
  }
}

// Outer operators begin before inner ones and end after them; the launch is in the innermost. All
// of it, with gaps that vary, within the time that the call has.
void SyntheticRank::add_call(const KernelCall& call, std::int64_t host_start, std::int64_t host_ns,
                             int host_lane) {
  auto& operators = events(host_lane, model::EventKind::kOperator);
  const std::uint64_t correlation = ++correlation_;
  std::uint64_t bits = random_.next();
  const auto vary = [&](std::int64_t most) {
    const auto part = static_cast<std::int64_t>(bits & 0xfff);
    bits >>= 12;
    return most * part >> 12;
  };
  std::int64_t start = host_start + vary(host_ns / 10);
  std::int64_t end = host_start + host_ns * 8 / 10 + vary(host_ns * 2 / 10);
  const std::int64_t inset = host_ns / 24 + vary(host_ns / 24);
  for (int depth = 0; depth < call.depth; ++depth) {
    const bool is_leaf = depth == call.depth - 1;
    const auto flags = static_cast<std::uint32_t>(depth) << model::kEventDepthShift |
                       (is_leaf ? model::kEventLeaf : std::uint32_t{0});
    operators.push_back(event_of(start, end, call.operators[static_cast<std::size_t>(depth)], flags,
                                 is_leaf ? correlation : 0));
    start += inset;
    end -= inset / 2;
  }
  const model::StringId inner = call.operators[static_cast<std::size_t>(call.depth - 1)];
  if (call.allocated_bytes > 0) {
    add_allocation(host_lane, start, inner, call.allocated_bytes);
    if (call.freed_at_once) add_allocation(host_lane, end, inner, -call.allocated_bytes);
  }
  const std::int64_t launch_ns =
      static_cast<std::int64_t>(static_cast<double>(end - start) * (0.4 + 0.3 * random_.uniform()));
  events(host_lane, model::EventKind::kLaunch)
      .push_back(event_of(start + inset / 4, start + inset / 4 + launch_ns, shape_.launch, 0,
                          correlation));
}

void SyntheticRank::add_allocation(int lane, std::int64_t time, model::StringId name,
                                   std::int64_t bytes) {
  events(lane, model::EventKind::kAllocation).push_back(event_of(time, time, name, 0, 0, bytes));
  activation_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, activation_bytes_);
}

// What forward kept is given back by the mirrored stage of backward, last first.
void SyntheticRank::free_activations(const ModelStage& stage, const StageTimes& times) {
  const auto count = static_cast<std::int64_t>(stage.calls.size());
  std::int64_t i = 0;
  for (auto call = stage.calls.rbegin(); call != stage.calls.rend(); ++call, ++i) {
    if (call->allocated_bytes == 0 || call->freed_at_once) continue;
    const std::int64_t time = times.host_start + (times.host_end - times.host_start) * i / count;
    const model::StringId name = call->operators[static_cast<std::size_t>(call->depth - 1)];
    add_allocation(kAutogradLane, time, name, -call->allocated_bytes);
  }
}

void SyntheticRank::add_copies(const RankStepTimes& times) {
  auto& copies = events(kCopyLane, model::EventKind::kCopy);
  std::int64_t time = times.data_end - 60'000;
  for (int i = 0; i < kSyntheticCopiesIn; ++i, time += 9'000) {
    copies.push_back(event_of(time, time + 6'000, shape_.copy_in, 0, 0, kTokensPerStep * 8));
  }
  for (const CollectiveTimes& one : times.collectives) {
    if (&one == &times.collectives.back()) break;
    copies.push_back(event_of(one.ready + 500, one.ready + 2'500, shape_.fill, 0, 0, 1 << 20));
  }
  copies.push_back(event_of(times.end - 20'000, times.end - 17'000, shape_.copy_out, 0, 0, 4));
  // The host waits for the gradients.
  events(kMainLane, model::EventKind::kLaunch)
      .push_back(event_of(times.backward.back().host_end + 8'000,
                          times.optimizer.host_start - 2'000, shape_.synchronize));
}

void SyntheticRank::add_collectives(const RankStepTimes& times) {
  for (std::size_t i = 0; i < times.collectives.size(); ++i) {
    const CollectiveTimes& at = times.collectives[i];
    const bool is_loss = i == shape_.buckets.size();
    model::Collective row;
    row.rank = rank_;
    row.lane = kNcclLane;
    row.step = step_;
    row.sequence = sequence_++;
    row.function = row.executed = model::CollectiveFunction::kAllReduce;
    row.tag_kind = is_loss ? model::TagKind::kNamed : model::TagKind::kBucket;
    row.tag_index = is_loss ? -1 : static_cast<int>(i);
    row.tag_name = is_loss ? shape_.loss : 0;
    row.phase = base::Phase::kBackward;
    row.data_type = shape_.float32;
    row.algorithm = shape_.ring;
    row.protocol = is_loss ? shape_.low_latency : shape_.simple;
    row.channels = is_loss ? 1 : 24;
    row.bytes = is_loss ? 4 : shape_.buckets[i].bytes;
    row.enqueued_ns = at.enqueued;
    row.start_ns = at.start;
    row.end_ns = at.end;
    batch_.collectives.push_back(row);
    const std::uint64_t correlation = ++correlation_;
    events(kAutogradLane, model::EventKind::kLaunch)
        .push_back(event_of(at.enqueued, at.enqueued + 3'000, shape_.launch, 0, correlation));
    events(kNcclLane, model::EventKind::kKernel)
        .push_back(event_of(at.start, at.end, shape_.all_reduce, 0, correlation));
    if (!is_loss) batch_.bucket_ready.push_back({rank_, step_, static_cast<int>(i), at.ready});
  }
}

void SyntheticRank::sample_memory(std::int64_t time, bool is_peak) {
  model::MemorySample sample;
  sample.rank = rank_;
  sample.time_ns = time;
  sample.step = step_;
  sample.is_peak = is_peak;
  const auto set = [&](model::MemoryCategory category, std::int64_t bytes) {
    sample.bytes[static_cast<std::size_t>(category)] = bytes;
  };
  set(model::MemoryCategory::kParameters, parameters_ * 4);
  set(model::MemoryCategory::kGradients, parameters_ * 4);
  set(model::MemoryCategory::kOptimizer, parameters_ * 8);
  set(model::MemoryCategory::kActivations, is_peak ? peak_bytes_ : peak_bytes_ / 2);
  set(model::MemoryCategory::kOutside, kOutsideBytes);
  if (is_peak) sample.highest = sample.bytes;
  sample.reserved_bytes = parameters_ * 16 + peak_bytes_;
  sample.device_used_bytes = sample.reserved_bytes + kOutsideBytes;
  sample.device_total_bytes = kDeviceBytes;
  batch_.memory.push_back(sample);
}

// As a recorder that takes half a percent of the job would tell.
void SyntheticRank::add_cost(const RankStepTimes& times) {
  const std::int64_t step_ns = times.end - times.start;
  cost_.rank = rank_;
  cost_.callback_ns += step_ns / 200;
  cost_.writer_ns += step_ns / 50;
  cost_.events += model::count_events(batch_) + std::ssize(batch_.collectives);
  batch_.cost = cost_;
}

void SyntheticRank::add_rows(const RankStepTimes& times) {
  const auto span = [&](base::Phase phase, std::int64_t start, std::int64_t end) {
    const model::StringId name = shape_.phases[static_cast<std::size_t>(phase)];
    batch_.spans.push_back({rank_, kPhaseLane, step_, phase, 0, name, start, end});
  };
  const std::int64_t backward = times.forward.back().host_end;
  const std::int64_t optimizer = times.optimizer.host_start;
  span(base::Phase::kData, times.start, times.data_end);
  span(base::Phase::kForward, times.data_end, backward);
  span(base::Phase::kBackward, backward, optimizer);
  span(base::Phase::kOptimizer, optimizer, times.end);
  sample_memory(times.forward.back().host_end, true);
  for (std::int64_t time = times.start; time < times.end; time += kMemorySampleNs) {
    sample_memory(time, false);
  }
  const double late = std::exp(-static_cast<double>(step_) / 400);
  gpu_.sample(times, batch_.counters);
  model::Step row;
  row.rank = rank_;
  row.index = step_;
  row.start_ns = times.start;
  row.end_ns = times.end;
  // Of all ranks together, hence the same on each.
  RandomNumbers noise(static_cast<std::uint64_t>(step_));
  row.loss = 2.9 + 7.9 * late + 0.05 * (noise.uniform() - 0.5);
  row.gradient_norm = 0.4 + 2 * late * noise.uniform();
  row.learning_rate = 3e-4;
  row.tokens = kTokensPerStep;
  row.samples = 2;
  row.model_flops = 6 * parameters_ * kTokensPerStep;
  row.full_detail = true;
  batch_.steps.push_back(row);
}

}  // namespace shardlens::trace::synthetic
