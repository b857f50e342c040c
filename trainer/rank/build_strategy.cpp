#include "trainer/rank/build_strategy.h"

#include "profiler/pytorch/torch_sources.h"
#include "trace/job/shape/strategy.h"
#include "trainer/model/build_model.h"
#include "trainer/strategy/ddp/data_parallel.h"
#include "trainer/strategy/fsdp/fully_sharded.h"
#include "trainer/strategy/zero/zero_redundancy.h"

namespace shardlens::trainer::rank {

namespace {

struct Parts {
  const trace::job::Settings& settings;
  model::Model& model;
  comm::Communicator& communicator;
  profiler::recorder::Recorder& recorder;
  int local_world_size;
  model::ParameterSource* source;
  const std::function<void()>& after_reading;
};

torch::ScalarType type_of(trace::job::DataType setting, torch::ScalarType automatic) {
  switch (setting) {
    case trace::job::DataType::kAuto:
      return automatic;
    case trace::job::DataType::kFp32:
      return torch::kFloat32;
    case trace::job::DataType::kBf16:
      return torch::kBFloat16;
    case trace::job::DataType::kFp16:
      return torch::kFloat16;
  }
  return automatic;
}

strategy::FullyShardedOptions fully_sharded_options(const Parts& parts) {
  const trace::job::Settings& s = parts.settings;
  strategy::FullyShardedOptions options;
  options.wrap_policy = s.wrap_policy;
  options.min_num_params = s.min_num_params;
  options.shard_group_size = static_cast<int>(
      trace::job::shard_group_size(s, parts.communicator.world_size(), parts.local_world_size));
  options.schedule = trace::job::unit_schedule_options(s);
  options.limit_all_gathers = s.limit_all_gathers;
  options.separate_communicators = s.separate_communicators;
  options.sync_module_states = s.sync_module_states;
  options.cpu_offload = s.cpu_offload;
  options.high_priority_streams = trace::job::has_high_priority_streams(s);
  options.param_dtype = type_of(s.param_dtype, torch::kFloat32);
  options.reduce_dtype = type_of(s.reduce_dtype, options.param_dtype);
  if (s.buffer_dtype != trace::job::DataType::kAuto)
    options.buffer_dtype = type_of(s.buffer_dtype, torch::kFloat32);
  return options;
}

// The others get them when the replicas are made equal.
void let_first_rank_read(const Parts& parts) {
  if (parts.source == nullptr) return;
  const profiler::memory::MemoryCategoryScope category(trace::model::MemoryCategory::kParameters);
  model::allocate_parameters(parts.model, *parts.source, parts.communicator.rank() == 0);
  if (parts.after_reading) parts.after_reading();
}

template <typename Replicated>
std::unique_ptr<strategy::Strategy> build_replicated(const Parts& parts) {
  let_first_rank_read(parts);
  return std::make_unique<Replicated>(tensor::named_parameters_of(parts.model),
                                      tensor::named_buffers_of(parts.model), parts.communicator,
                                      parts.recorder, parts.settings);
}

std::unique_ptr<strategy::Strategy> build_fully_sharded(const Parts& parts) {
  auto sharded = std::make_unique<strategy::FullySharded>(
      parts.model, parts.communicator, parts.recorder, fully_sharded_options(parts), parts.source);
  if (parts.source != nullptr && parts.after_reading) parts.after_reading();
  return sharded;
}

}  // namespace

std::unique_ptr<strategy::Strategy> build_strategy(
    const trace::job::Settings& settings, model::Model& model, comm::Communicator& communicator,
    profiler::recorder::Recorder& recorder, int local_world_size, model::ParameterSource* source,
    const std::function<void()>& after_reading) {
  const Parts parts{settings,         model,  communicator, recorder,
                    local_world_size, source, after_reading};
  switch (settings.sharding_strategy) {
    case trace::job::Strategy::kDdp:
      return build_replicated<strategy::DataParallel>(parts);
    case trace::job::Strategy::kZero1:
      return build_replicated<strategy::ZeroRedundancy>(parts);
    case trace::job::Strategy::kNoShard:
    case trace::job::Strategy::kShardGradOp:
    case trace::job::Strategy::kFullShard:
    case trace::job::Strategy::kHybridShard:
    case trace::job::Strategy::kHybridShardZero2:
      return build_fully_sharded(parts);
  }
  TORCH_CHECK(false, "there is no such sharding strategy");
}

}  // namespace shardlens::trainer::rank
