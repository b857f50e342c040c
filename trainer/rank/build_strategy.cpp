#include "trainer/rank/build_strategy.h"

#include "profiler/pytorch/torch_sources.h"
#include "trace/job/shape/strategy.h"
#include "trainer/model/build_model.h"
#include "trainer/strategy/ddp/data_parallel.h"
#include "trainer/strategy/fsdp/fully_sharded.h"
#include "trainer/strategy/zero/zero_redundancy.h"

namespace shardlens::trainer::rank {

namespace {

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

strategy::FullyShardedOptions fully_sharded_options(const trace::job::Settings& s, int world_size,
                                                    int local_world_size) {
  strategy::FullyShardedOptions options;
  options.wrap_policy = s.wrap_policy;
  options.min_num_params = s.min_num_params;
  options.shard_group_size =
      static_cast<int>(trace::job::shard_group_size(s, world_size, local_world_size));
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

}  // namespace

std::unique_ptr<strategy::Strategy> build_strategy(
    const trace::job::Settings& settings, model::Model& model, comm::Communicator& communicator,
    profiler::recorder::Recorder& recorder, int local_world_size, model::ParameterSource* source,
    const std::function<void()>& after_reading) {
  const auto& traits = trace::job::strategy_traits(settings.sharding_strategy);
  if (traits.has_units) {
    auto sharded = std::make_unique<strategy::FullySharded>(
        model, communicator, recorder,
        fully_sharded_options(settings, communicator.world_size(), local_world_size), source);
    if (source != nullptr && after_reading) after_reading();
    return sharded;
  }
  if (source != nullptr) {
    // The others get them when the replicas are made equal.
    const profiler::memory::MemoryCategoryScope category(trace::model::MemoryCategory::kParameters);
    model::allocate_parameters(model, *source, communicator.rank() == 0);
    if (after_reading) after_reading();
  }
  const auto parameters = tensor::named_parameters_of(model);
  const auto buffers = tensor::named_buffers_of(model);
  if (traits.shards_optimizer) {
    return std::make_unique<strategy::ZeroRedundancy>(parameters, buffers, communicator, recorder,
                                                      settings);
  }
  return std::make_unique<strategy::DataParallel>(parameters, buffers, communicator, recorder,
                                                  settings);
}

}  // namespace shardlens::trainer::rank
