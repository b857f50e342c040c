// PyTorch's fully sharded data parallelism for C++ (no_shard, shard_grad_op, full_shard and the
// hybrid forms): each unit's parameters are gathered for its forward and backward, its gradients
// reduced as soon as they are there. The training thread; hooks run on autograd's threads.
#pragma once

#include <torch/types.h>

#include <memory>
#include <optional>
#include <vector>

#include "profiler/recorder/recorder.h"
#include "trace/job/settings/choices.h"
#include "trace/job/units/unit_schedule.h"
#include "trainer/comm/communicator.h"
#include "trainer/model/model.h"
#include "trainer/strategy/fsdp/gradient_reducer.h"
#include "trainer/strategy/fsdp/shard_streams.h"
#include "trainer/strategy/fsdp/sharded_unit.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::strategy {

struct FullyShardedOptions {
  trace::job::WrapPolicy wrap_policy = trace::job::WrapPolicy::kTransformerBlock;
  std::int64_t min_num_params = 100'000'000;
  int shard_group_size = 1;  // divides the number of ranks; 1: no_shard
  trace::job::UnitScheduleOptions schedule;
  bool limit_all_gathers = false;
  bool separate_communicators = false;
  bool sync_module_states = false;
  bool cpu_offload = false;
  bool high_priority_streams = true;  // of gathers and reductions, on a GPU
  torch::ScalarType param_dtype = torch::kFloat32;
  torch::ScalarType reduce_dtype = torch::kFloat32;
  std::optional<torch::ScalarType> buffer_dtype;  // of floating-point buffers; none: as they are
};

class FullySharded final : public Strategy, private trace::job::UnitActions {
 public:
  // Steps in around the forward of the model's layers; the model's parameters have no memory
  // outside of a step. The model and the communicator outlive it. Parameters without memory get
  // their values from `source`, each rank reading what it keeps.
  FullySharded(model::Model& model, comm::Communicator& world,
               profiler::recorder::Recorder& recorder, const FullyShardedOptions& options,
               model::ParameterSource* source = nullptr);
  ~FullySharded() override;
  FullySharded(const FullySharded&) = delete;
  FullySharded& operator=(const FullySharded&) = delete;

  void set_require_sync(bool require_sync) override;
  void before_forward() override;
  void before_backward(const torch::Tensor& loss) override;
  void after_backward() override;
  void before_evaluation() override { before_forward(); }
  void after_evaluation() override;

  std::string current_unit() const override;
  std::span<const LocalParameter> local_parameters() const override { return local_; }
  torch::Tensor sum_over_shards(torch::Tensor local) override;
  void update(const Optimize& optimize) override;
  void zero_gradients() override;

 private:
  void connect_groups();
  void share_initial_values(model::Model& model);
  void cast_buffers(model::Model& model) const;
  void build_units(model::Model& model, model::ParameterSource* source);
  void report_units();

  torch::Tensor run_forward(ShardedUnit& unit, const torch::Tensor& input,
                            const model::Layer::Forward& inner);
  ShardedUnit& at(int unit) { return *units_[static_cast<std::size_t>(unit)]; }
  void gather(int unit, bool ahead) override;
  void wait(int unit) override;
  void free(int unit) override;
  void reduce(int unit) override;
  void accumulate(int unit) override;
  // Of all trained parameters, in the order of the units.
  std::vector<float> take_used();
  void drop_unused(const float* used_by);

  FullyShardedOptions options_;
  comm::Communicator& world_;
  profiler::recorder::Recorder& recorder_;
  std::vector<std::unique_ptr<comm::Communicator>> groups_;
  comm::Communicator* shard_group_ = nullptr;
  comm::Communicator* replicas_ = nullptr;
  comm::Communicator* gather_group_ = nullptr;

  ShardStreams streams_;
  RetiredUnit retired_;
  GatherLimiter limiter_;
  std::optional<GradientReducer> reducer_;
  std::vector<std::unique_ptr<ShardedUnit>> units_;  // the root first
  std::optional<trace::job::UnitSchedule> schedule_;
  std::vector<LocalParameter> local_;
  torch::Tensor all_used_;  // what sum_over_shards() says if this rank used every parameter

  int current_unit_ = -1;  // whose forward or backward is under way
};

}  // namespace shardlens::trainer::strategy
