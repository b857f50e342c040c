#include "trainer/rank/build_strategy.h"

#include <array>
#include <string_view>

#include "profiler/torch/torch_sources.h"
#include "trace/job/shape/strategy.h"
#include "trainer/model/build_model.h"
#include "trainer/strategy/ddp/data_parallel.h"
#include "trainer/strategy/fsdp/fully_sharded.h"
#include "trainer/strategy/zero/zero_redundancy.h"

namespace shardlens::trainer {

namespace {

struct Parts {
  const trace::Settings& settings;
  Model& model;
  Communicator& communicator;
  profiler::Recorder& recorder;
  int local_world_size;
  ParameterSource* source;
};

GradientCompression compression_of(const std::string& hook) {
  if (hook == "fp16_compress") return GradientCompression::kFp16;
  if (hook == "bf16_compress") return GradientCompression::kBf16;
  return GradientCompression::kNone;
}

DataParallelOptions data_parallel_options(const trace::Settings& settings) {
  DataParallelOptions options;
  options.bucket_cap_mb = settings.bucket_cap_mb;
  options.first_bucket_mb = settings.first_bucket_mb;
  options.gradient_as_bucket_view = settings.gradient_as_bucket_view;
  options.static_graph = settings.static_graph;
  options.find_unused_parameters = settings.find_unused_parameters;
  options.compression = compression_of(settings.communication_hook);
  options.overlap_comm = settings.overlap_comm;
  options.communication = settings.communication != "none";
  return options;
}

torch::ScalarType type_of(const std::string& setting, torch::ScalarType automatic) {
  if (setting == "fp32") return torch::kFloat32;
  if (setting == "bf16") return torch::kBFloat16;
  return setting == "fp16" ? torch::kFloat16 : automatic;
}

WrapPolicy wrap_policy_of(const std::string& setting) {
  if (setting == "size") return WrapPolicy::kSize;
  return setting == "whole_model" ? WrapPolicy::kWholeModel : WrapPolicy::kTransformerBlock;
}

BackwardPrefetch prefetch_of(const std::string& setting) {
  if (setting == "post") return BackwardPrefetch::kPost;
  return setting == "none" ? BackwardPrefetch::kNone : BackwardPrefetch::kPre;
}

FullyShardedOptions fully_sharded_options(const Parts& parts) {
  const trace::Settings& s = parts.settings;
  FullyShardedOptions options;
  options.wrap_policy = wrap_policy_of(s.wrap_policy);
  options.min_num_params = s.min_num_params;
  options.shard_group_size = static_cast<int>(
      trace::shard_group_size(s, parts.communicator.world_size(), parts.local_world_size));
  options.frees_after_forward = trace::strategy_traits(s.sharding_strategy).frees_after_forward;
  options.backward_prefetch = prefetch_of(s.backward_prefetch);
  options.forward_prefetch = s.forward_prefetch;
  options.limit_all_gathers = s.limit_all_gathers;
  options.separate_communicators = s.separate_communicators;
  options.sync_module_states = s.sync_module_states;
  options.cpu_offload = s.cpu_offload;
  options.high_priority_streams = trace::has_high_priority_streams(s);
  options.param_dtype = type_of(s.param_dtype, torch::kFloat32);
  options.reduce_dtype = type_of(s.reduce_dtype, options.param_dtype);
  if (s.buffer_dtype != "auto") options.buffer_dtype = type_of(s.buffer_dtype, torch::kFloat32);
  return options;
}

// The others get them when the replicas are made equal.
void let_first_rank_read(const Parts& parts) {
  if (parts.source == nullptr) return;
  const profiler::MemoryCategoryScope category(trace::MemoryCategory::kParameters);
  allocate_parameters(parts.model, *parts.source, parts.communicator.rank() == 0);
}

std::unique_ptr<Strategy> build_data_parallel(const Parts& parts) {
  let_first_rank_read(parts);
  return std::make_unique<DataParallel>(named_parameters_of(parts.model),
                                        named_buffers_of(parts.model), parts.communicator,
                                        parts.recorder, data_parallel_options(parts.settings));
}

std::unique_ptr<Strategy> build_zero_redundancy(const Parts& parts) {
  let_first_rank_read(parts);
  return std::make_unique<ZeroRedundancy>(named_parameters_of(parts.model),
                                          named_buffers_of(parts.model), parts.communicator,
                                          parts.recorder, data_parallel_options(parts.settings));
}

std::unique_ptr<Strategy> build_fully_sharded(const Parts& parts) {
  return std::make_unique<FullySharded>(parts.model, parts.communicator, parts.recorder,
                                        fully_sharded_options(parts), parts.source);
}

struct Builder {
  std::string_view strategy;
  std::unique_ptr<Strategy> (*build)(const Parts&);
};
constexpr std::array<Builder, 7> kBuilders{{
    {"ddp", build_data_parallel},
    {"zero1", build_zero_redundancy},
    {"no_shard", build_fully_sharded},
    {"shard_grad_op", build_fully_sharded},
    {"full_shard", build_fully_sharded},
    {"hybrid_shard", build_fully_sharded},
    {"hybrid_shard_zero2", build_fully_sharded},
}};

}  // namespace

std::unique_ptr<Strategy> build_strategy(const trace::Settings& settings, Model& model,
                                         Communicator& communicator, profiler::Recorder& recorder,
                                         int local_world_size, ParameterSource* source) {
  const Parts parts{settings, model, communicator, recorder, local_world_size, source};
  for (const Builder& builder : kBuilders) {
    if (builder.strategy == settings.sharding_strategy) return builder.build(parts);
  }
  TORCH_CHECK(false, "there is no sharding strategy ", settings.sharding_strategy);
}

}  // namespace shardlens::trainer
